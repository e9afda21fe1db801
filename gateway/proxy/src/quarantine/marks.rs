//! The marks of a request: its host, its headers and its body, as hashes. They distinguish requests for the same page, and name the header
//! by which two kinds of request differ.
//!
//! Pure. Values are kept as keyed hashes only, so that nothing private can be read back; names of headers are shown.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher as _};

/// Maximum number of distinguished headers. All further ones count as one mark.
const MARKS_MAX: usize = 64;
/// Maximum stored length of a header's name, characters.
const NAME_CHARS_MAX: usize = 64;
/// The mark of a request's body; no header can be named so.
pub(crate) const BODY: &str = "(body)";
const FURTHER: &str = "(further headers)";

/// Headers that differ between requests by design, or that the gateway writes itself.
const PASSING: [&str; 16] = [
    "connection",
    "content-length",
    "forwarded",
    "x-real-ip",
    "x-request-id",
    "x-correlation-id",
    "traceparent",
    "tracestate",
    "baggage",
    "sentry-trace",
    "x-amzn-trace-id",
    "x-cloud-trace-context",
    "cf-ray",
    "cf-connecting-ip",
    "true-client-ip",
    "date",
];
const PASSING_STARTS: [&str; 3] = ["x-forwarded-", "x-sluice-", "x-b3-"];

/// Names with the hash of the value, or `None` if only the name is common to several requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks(BTreeMap<Box<str>, Option<u64>>);

impl Marks {
    /// Reads the marks from a head that the gateway wrote. `body` is the hash of the body, if there is one.
    pub(crate) fn of(head: &[u8], body: Option<u64>, keys: &impl BuildHasher) -> Self {
        let mut marks = BTreeMap::new();
        let lines = head.split(|byte| *byte == b'\n').skip(1);
        for line in lines {
            let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
            let name = String::from_utf8_lossy(&line[..colon]).to_ascii_lowercase();
            if is_passing(&name) {
                continue;
            }
            let kept: String = name.chars().take(NAME_CHARS_MAX).collect();
            let is_known = marks.contains_key(&*kept);
            let key: Box<str> = if is_known || marks.len() < MARKS_MAX { kept.into() } else { FURTHER.into() };
            let mut hasher = keys.build_hasher();
            hasher.write_u64(marks.get(&key).copied().flatten().unwrap_or(0));
            hasher.write_usize(name.len());
            hasher.write(name.as_bytes());
            hasher.write(&line[colon + 1..]);
            marks.insert(key, Some(hasher.finish()));
        }
        if body.is_some() {
            marks.insert(BODY.into(), body);
        }
        Marks(marks)
    }

    /// Hashes all marks together.
    pub(crate) fn hash(&self, hasher: &mut impl std::hash::Hasher) {
        for (name, value) in &self.0 {
            hasher.write_usize(name.len());
            hasher.write(name.as_bytes());
            hasher.write_u64(value.unwrap_or(0));
        }
    }

    /// Keeps the marks that both have; where the values differ, only the name.
    pub(crate) fn keep_common(&mut self, other: &Marks) {
        self.0.retain(|name, value| match other.0.get(name) {
            None => false,
            Some(same) if same == value => true,
            Some(_) => {
                *value = None;
                true
            }
        });
    }

    /// Removes the marks of an answered request: workers do not die with those.
    pub(crate) fn clear_of(&mut self, answered: &Marks) {
        self.0.retain(|name, value| match answered.0.get(name) {
            None => true,
            Some(other) => value.is_some() && other != value,
        });
    }

    /// Removes marks that are only a name, if requests with that name were answered.
    pub(crate) fn clear_of_names(&mut self, names: &Marks) {
        self.0.retain(|name, value| value.is_some() || !names.0.contains_key(name));
    }

    /// Adds the names of another's marks, up to a bound.
    pub(crate) fn add_names(&mut self, other: &Marks) {
        for name in other.0.keys() {
            if self.0.len() < 2 * MARKS_MAX && !self.0.contains_key(name) {
                self.0.insert(name.clone(), None);
            }
        }
    }

    /// Whether a request has all of these marks.
    pub(crate) fn are_in(&self, request: &Marks) -> bool {
        self.0.iter().all(|(name, value)| request.0.get(name).is_some_and(|other| value.is_none() || other == value))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn has_body(&self) -> bool {
        self.0.contains_key(BODY)
    }

    /// Names of the marks, for people.
    pub(crate) fn names(&self) -> Vec<String> {
        self.0.keys().map(ToString::to_string).collect()
    }
}

fn is_passing(name: &str) -> bool {
    name.is_empty() || PASSING.contains(&name) || PASSING_STARTS.iter().any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use std::hash::RandomState;

    use super::*;

    fn marks(keys: &RandomState, headers: &str) -> Marks {
        Marks::of(format!("GET /page HTTP/1.1\r\nHost: shop\r\n{headers}\r\n").as_bytes(), None, keys)
    }

    #[test]
    fn headers_that_change_with_each_request_are_no_marks() {
        let keys = RandomState::new();
        let plain = marks(&keys, "Accept: */*\r\n");
        let noise = "X-Request-Id: 1\r\nX-Forwarded-For: 1.2.3.4\r\nTraceparent: 00-1\r\nX-Sluice-Request: id=4\r\n";
        assert_eq!(marks(&keys, &format!("{noise}accept: */*\r\n")), plain);
        assert_eq!(plain.names(), ["accept", "host"]);
        assert_ne!(marks(&keys, "Accept: text/html\r\n"), plain);
        assert_ne!(marks(&keys, "Accept: */*\r\nAccept: */*\r\n"), plain, "twice is not once");
    }

    #[test]
    fn the_mark_that_killers_share_and_others_lack_is_found() {
        let keys = RandomState::new();
        let mut common = marks(&keys, "Accept: a\r\nX-Evil: 1\r\n");
        common.keep_common(&marks(&keys, "Accept: b\r\nX-Evil: 2\r\nOther: c\r\n"));
        assert_eq!(common.names(), ["accept", "host", "x-evil"]);
        common.clear_of(&marks(&keys, "Accept: c\r\nCookie: d\r\n"));
        assert_eq!(common.names(), ["x-evil"]);
        assert!(common.are_in(&marks(&keys, "X-Evil: 3\r\n")) && !common.are_in(&marks(&keys, "Accept: a\r\n")));
        common.clear_of(&marks(&keys, "X-Evil: 4\r\n"));
        assert!(common.is_empty());
    }

    #[test]
    fn marks_are_bounded_and_further_headers_still_tell() {
        let keys = RandomState::new();
        let many = |last: &str| {
            let lines = (0..200).map(|at| format!("H{at}: {at}\r\n")).collect::<Vec<_>>().concat();
            marks(&keys, &format!("{lines}Last: {last}\r\n"))
        };
        assert_eq!(many("a").0.len(), MARKS_MAX + 1);
        assert_ne!(many("a"), many("b"));
        let long = marks(&keys, &format!("{}: 1\r\n", "n".repeat(5000)));
        assert!(long.names().iter().all(|name| name.len() <= NAME_CHARS_MAX));
    }
}
