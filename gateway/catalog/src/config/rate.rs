//! Form of a rate limit: `50/s`, `5/min burst 20`, and the path that it is for. This module must not know how requests are
//! counted.

/// Maximum number of requests per unit of time, and of a burst.
const COUNT_MAX: u64 = 1_000_000;
/// Maximum number of paths with their own limit. Each request is compared with all of them.
pub(super) const LIMITS_MAX: usize = 256;

const UNITS: [(&str, u64); 3] = [("s", 1), ("min", 60), ("h", 3600)];

/// Number of requests per period, and the number that may come at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Requests in a period, at least 1.
    pub count: u64,
    /// The period, seconds.
    pub period_s: u64,
    /// Requests that may come at once, at least 1.
    pub burst: u64,
}

/// The text is no rate. Says what is allowed, as a part of a sentence that follows "must be".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a count from 1 to {COUNT_MAX} and one of {}, optionally with a burst from 1 to {COUNT_MAX} after it, like \
     \"50/s\" or \
     \"5/min burst 20\"",
    UNITS.map(|(unit, _)| format!("/{unit}")).join(", ")
)]
pub struct NotARate;

impl Rate {
    /// Reads `COUNT/UNIT` or `COUNT/UNIT burst COUNT`. Without a burst it is what the rate gives in a second, at least 1.
    ///
    /// # Errors
    /// If it is written otherwise.
    pub fn parse(text: &str) -> Result<Self, NotARate> {
        Self::read(text).ok_or(NotARate)
    }

    fn read(text: &str) -> Option<Self> {
        let mut words = text.split_ascii_whitespace();
        let (written, unit) = words.next()?.split_once('/')?;
        let count = counted(written)?;
        let (_, period_s) = UNITS.into_iter().find(|(name, _)| *name == unit)?;
        let burst = match words.next() {
            None => (count / period_s).max(1),
            Some("burst") => counted(words.next()?)?,
            Some(_) => return None,
        };
        words.next().is_none().then_some(Rate { count, period_s, burst })
    }
}

/// Digits alone: the standard parser would take a sign.
fn counted(text: &str) -> Option<u64> {
    let count = text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())??;
    (1..=COUNT_MAX).contains(&count).then_some(count)
}

/// Fault of a limit's path, as a part of a sentence that follows "must". A path has only one form, so that no two limits are
/// for the same path.
pub(super) fn path_fault(path: &str) -> Option<&'static str> {
    let Some(rest) = path.strip_prefix('/') else { return Some("start with '/'") };
    if path.contains(['?', '#']) {
        return Some("be a path alone, without '?' or '#'");
    }
    if path.contains(['%', '\\']) || path.chars().any(char::is_control) {
        return Some("be unencoded, without '%', '\\' and control characters");
    }
    if rest.ends_with('/') {
        return Some("not end with '/'; it includes all paths below anyway");
    }
    if !rest.is_empty() && rest.split('/').any(|segment| matches!(segment, "" | "." | "..")) {
        return Some("be unencoded, without '//', '.' and '..'");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_with_and_without_a_burst() {
        for (text, count, period_s, burst) in [
            ("50/s", 50, 1, 50),
            ("5/min burst 20", 5, 60, 20),
            ("5/min", 5, 60, 1),
            ("120/min", 120, 60, 2),
            ("1000/h", 1000, 3600, 1),
            ("  1/s   burst\t1 ", 1, 1, 1),
            ("1000000/s burst 1000000", 1_000_000, 1, 1_000_000),
        ] {
            assert_eq!(Rate::parse(text), Ok(Rate { count, period_s, burst }), "{text}");
        }
    }

    #[test]
    fn anything_else_is_answered_with_what_is_allowed() {
        for text in [
            "",
            "50",
            "/s",
            "0/s",
            "-1/s",
            "+1/s",
            "1.5/s",
            "1000001/s",
            "99999999999999999999999/s",
            "5/m",
            "5/ s",
            "5 /s",
            "5/sec",
            "5/day",
            "5/min 20",
            "5/min burst",
            "5/min burst 0",
            "5/min burst 1000001",
            "5/min burst 20 x",
            "5/min Burst 20",
            "٥/s",
        ] {
            assert!(Rate::parse(text).is_err_and(|error| error.to_string().contains("5/min burst 20")), "{text}");
        }
    }

    #[test]
    fn paths_can_be_written_in_one_way_only() {
        for path in ["/", "/login", "/a/b.c/..d", "/café", "/my page", "/a:b@c"] {
            assert_eq!(path_fault(path), None, "{path}");
        }
        for path in ["", "login", "//", "/a//b", "/a/", "/./a", "/a/..", "/.", "/a?b", "/a#b", "/%61", "/a\\b", "/a\nb"]
        {
            assert!(path_fault(path).is_some(), "{path}");
        }
    }
}
