//! Evaluates a request's conditions and its range for a file or a cached page (RFC 9110 §13 and §14). Pure; time is
//! passed in.

use std::time::{Duration, SystemTime};

use sluice_message::Fields;

/// Part of the file or page that is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Whole,
    /// Bytes from the first offset up to, not including, the second.
    Part(u64, u64),
    NotModified,
    /// A condition of `If-Match` or `If-Unmodified-Since` does not hold.
    Failed,
    Unsatisfiable,
}

impl Verdict {
    pub(crate) fn status(self) -> u16 {
        match self {
            Self::Whole => 200,
            Self::Part(..) => 206,
            Self::NotModified => 304,
            Self::Failed => 412,
            Self::Unsatisfiable => 416,
        }
    }

    /// Range of bytes that the answer carries, of a file of `len` bytes.
    pub(crate) fn bytes(self, len: u64) -> Option<(u64, u64)> {
        match self {
            Self::Whole => Some((0, len)),
            Self::Part(from, end) => Some((from, end)),
            _ => None,
        }
    }
}

/// Conditions of a request, copied from its head, so that another thread can evaluate them.
#[derive(Default)]
pub(crate) struct Conditions {
    if_match: Option<Vec<u8>>,
    if_none_match: Option<Vec<u8>>,
    if_modified_since: Option<SystemTime>,
    if_unmodified_since: Option<SystemTime>,
    range: Option<Vec<u8>>,
    if_range: Option<Vec<u8>>,
}

impl Conditions {
    pub(crate) fn of(fields: &Fields, is_head: bool) -> Self {
        // A range is for GET only (RFC 9110 §14.2); several of them, or several `If-Range`, are too odd to be followed.
        let only = |name| {
            let mut values = fields.get_all(name).filter(|_| !is_head);
            values.next().filter(|_| values.next().is_none()).map(<[u8]>::to_vec)
        };
        Conditions {
            if_match: list(fields, "if-match"),
            if_none_match: list(fields, "if-none-match"),
            if_modified_since: fields.get("if-modified-since").and_then(date),
            if_unmodified_since: fields.get("if-unmodified-since").and_then(date),
            range: only("range").filter(|_| !fields.contains("if-range") || only("if-range").is_some()),
            if_range: only("if-range"),
        }
    }

    /// Evaluates the conditions in the order of RFC 9110 §13.2.2.
    pub(crate) fn verdict(&self, etag: &str, modified: Option<SystemTime>, len: u64, now: SystemTime) -> Verdict {
        let modified = modified.map(whole_seconds);
        let is_unchanged_since = |since| modified.is_some_and(|modified| modified <= since);
        match (&self.if_match, self.if_unmodified_since) {
            (Some(tags), _) if !lists(tags, etag, Comparison::Strong) => return Verdict::Failed,
            (None, Some(since)) if modified.is_some() && !is_unchanged_since(since) => return Verdict::Failed,
            _ => {}
        }
        match (&self.if_none_match, self.if_modified_since) {
            (Some(tags), _) if lists(tags, etag, Comparison::Weak) => return Verdict::NotModified,
            (None, Some(since)) if is_unchanged_since(since) => return Verdict::NotModified,
            _ => {}
        }
        match &self.range {
            Some(range) if self.range_is_meant_for(etag, modified, now) => part(range, len),
            _ => Verdict::Whole,
        }
    }

    /// Whether the range that the client wants is of this very file (RFC 9110 §13.1.5).
    fn range_is_meant_for(&self, etag: &str, modified: Option<SystemTime>, now: SystemTime) -> bool {
        let Some(if_range) = &self.if_range else { return true };
        if if_range.ends_with(b"\"") {
            return if_range == etag.as_bytes();
        }
        // A date says nothing of a file that may have changed twice within its second.
        let is_settled = |modified: SystemTime| now.duration_since(modified).is_ok_and(|age| age.as_secs() >= 1);
        modified.is_some_and(|modified| date(if_range) == Some(modified) && is_settled(modified))
    }
}

fn list(fields: &Fields, name: &str) -> Option<Vec<u8>> {
    let mut values = fields.get_all(name).peekable();
    values.peek()?;
    Some(values.collect::<Vec<_>>().join(b", ".as_slice()))
}

fn date(value: &[u8]) -> Option<SystemTime> {
    std::str::from_utf8(value).ok().and_then(|text| httpdate::parse_http_date(text).ok())
}

/// Time without fractions of a second, as dates in HTTP have none.
fn whole_seconds(at: SystemTime) -> SystemTime {
    let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    SystemTime::UNIX_EPOCH + Duration::from_secs(since.as_secs())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Strong,
    Weak,
}

/// Whether a list of entity tags contains this one. The rest after a malformed tag is ignored.
fn lists(mut tags: &[u8], etag: &str, comparison: Comparison) -> bool {
    if tags.trim_ascii() == b"*" {
        return true;
    }
    loop {
        tags = tags.trim_ascii_start();
        if let Some(rest) = tags.strip_prefix(b",") {
            tags = rest;
            continue;
        }
        let (is_weak, rest) = tags.strip_prefix(b"W/").map_or((false, tags), |rest| (true, rest));
        let Some(end) = rest.strip_prefix(b"\"").and_then(|rest| rest.iter().position(|byte| *byte == b'"')) else {
            return false;
        };
        let (tag, rest) = rest.split_at(end + 2);
        let same = match comparison {
            Comparison::Weak => tag == etag.strip_prefix("W/").unwrap_or(etag).as_bytes(),
            Comparison::Strong => tag == etag.as_bytes() && !is_weak,
        };
        if same {
            return true;
        }
        tags = rest;
    }
}

/// Verdict on one range of bytes. Other forms of `Range` are ignored, which RFC 9110 §14.2 allows.
fn part(range: &[u8], len: u64) -> Verdict {
    let Some((unit, ranges)) = range.split_at_checked(6) else { return Verdict::Whole };
    let mut ends = ranges.trim_ascii().split(|byte| *byte == b'-').map(number);
    let (first, last, further) = (ends.next(), ends.next(), ends.next());
    if !unit.eq_ignore_ascii_case(b"bytes=") || further.is_some() {
        return Verdict::Whole;
    }
    let (from, end) = match (first, last) {
        (Some(Number::Is(first)), Some(Number::Is(last))) if first <= last => (first, last.saturating_add(1).min(len)),
        (Some(Number::Is(first)), Some(Number::Empty)) => (first, len),
        (Some(Number::Empty), Some(Number::Is(suffix))) => (len.saturating_sub(suffix), len),
        _ => return Verdict::Whole,
    };
    if from < end { Verdict::Part(from, end) } else { Verdict::Unsatisfiable }
}

enum Number {
    Is(u64),
    Empty,
    Malformed,
}

/// Decimal number; one that is too large for 64 bits is larger than any file.
fn number(text: &[u8]) -> Number {
    if text.is_empty() {
        return Number::Empty;
    }
    let digit = |byte: &u8| byte.is_ascii_digit().then(|| u64::from(byte - b'0'));
    let sum = text.iter().try_fold(0_u64, |sum, byte| Some(sum.saturating_mul(10).saturating_add(digit(byte)?)));
    sum.map_or(Number::Malformed, Number::Is)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TAG: &str = "\"5-1f.0\"";
    const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
    const LATER: &str = "Sun, 06 Nov 1994 08:49:38 GMT";
    const EARLIER: &str = "Sun, 06 Nov 1994 08:49:36 GMT";

    /// The verdict on a file of 100 bytes, changed half a second after `DATE`, and asked for long after.
    fn verdict(lines: &[(&str, &str)]) -> Verdict {
        let head = lines.iter().fold(String::new(), |head, (name, value)| format!("{head}{name}: {value}\r\n"));
        let text = format!("GET / HTTP/1.1\r\nHost: a\r\n{head}\r\n");
        let limits = sluice_http1::HeadLimits::default();
        let Ok(sluice_http1::Parse::Complete { received, .. }) = sluice_http1::parse_request(text.as_bytes(), &limits)
        else {
            panic!("{text}")
        };
        let modified = httpdate::parse_http_date(DATE).unwrap() + Duration::from_millis(500);
        let now = modified + Duration::from_secs(1000);
        Conditions::of(&received.head.fields, false).verdict(TAG, Some(modified), 100, now)
    }

    #[test]
    fn nothing_asked_is_the_whole_file() {
        assert_eq!(verdict(&[]), Verdict::Whole);
    }

    #[test]
    fn tags_outweigh_dates() {
        let weak = format!("W/{TAG}");
        let list = format!("\"x,y\" ,, {weak}");
        for known in [TAG, "*", &weak, &list] {
            assert_eq!(verdict(&[("If-None-Match", known)]), Verdict::NotModified, "{known}");
            assert_eq!(verdict(&[("If-None-Match", known), ("If-Modified-Since", EARLIER)]), Verdict::NotModified);
        }
        for other in ["\"x\"", "5-1f.0", "", "\"", "W/", "\"5-1f.0", "x, \"5-1f.0\""] {
            assert_eq!(verdict(&[("If-None-Match", other)]), Verdict::Whole, "{other}");
            assert_eq!(verdict(&[("If-None-Match", other), ("If-Modified-Since", LATER)]), Verdict::Whole, "{other}");
        }
        assert_eq!(verdict(&[("If-None-Match", "\"x\""), ("If-None-Match", TAG)]), Verdict::NotModified);
    }

    #[test]
    fn dates_are_compared_by_the_second() {
        for (since, expected) in [
            (DATE, Verdict::NotModified),
            (LATER, Verdict::NotModified),
            (EARLIER, Verdict::Whole),
            ("soon", Verdict::Whole),
        ] {
            assert_eq!(verdict(&[("If-Modified-Since", since)]), expected, "{since}");
        }
        for (since, expected) in
            [(DATE, Verdict::Whole), (LATER, Verdict::Whole), (EARLIER, Verdict::Failed), ("soon", Verdict::Whole)]
        {
            assert_eq!(verdict(&[("If-Unmodified-Since", since)]), expected, "{since}");
        }
    }

    #[test]
    fn if_match_compares_strongly() {
        for (tags, expected) in [
            (TAG, Verdict::Whole),
            ("*", Verdict::Whole),
            ("W/\"5-1f.0\"", Verdict::Failed),
            ("\"x\"", Verdict::Failed),
        ] {
            assert_eq!(verdict(&[("If-Match", tags)]), expected, "{tags}");
        }
    }

    #[test]
    fn one_range_is_a_part_and_anything_else_the_whole() {
        for (range, expected) in [
            ("bytes=0-0", Verdict::Part(0, 1)),
            ("Bytes=10-19", Verdict::Part(10, 20)),
            ("bytes= 10-19 ", Verdict::Part(10, 20)),
            ("bytes=90-", Verdict::Part(90, 100)),
            ("bytes=90-100000000000000000000000000", Verdict::Part(90, 100)),
            ("bytes=-10", Verdict::Part(90, 100)),
            ("bytes=-1000", Verdict::Part(0, 100)),
            ("bytes=0-18446744073709551615", Verdict::Part(0, 100)),
            ("bytes=100-", Verdict::Unsatisfiable),
            ("bytes=100-200", Verdict::Unsatisfiable),
            ("bytes=100000000000000000000000000-", Verdict::Unsatisfiable),
            ("bytes=-0", Verdict::Unsatisfiable),
            ("bytes=0-1,3-4", Verdict::Whole),
            ("bytes=0-1,", Verdict::Whole),
            ("bytes=5-4", Verdict::Whole),
            ("bytes=-", Verdict::Whole),
            ("bytes=", Verdict::Whole),
            ("bytes", Verdict::Whole),
            ("bytes=a-b", Verdict::Whole),
            ("bytes=+1-2", Verdict::Whole),
            ("bytes=1-2-3", Verdict::Whole),
            ("bytes=--1", Verdict::Whole),
            ("bytes=0x0-5", Verdict::Whole),
            ("lines=0-5", Verdict::Whole),
            ("", Verdict::Whole),
        ] {
            assert_eq!(verdict(&[("Range", range)]), expected, "{range}");
        }
        assert_eq!(verdict(&[("Range", "bytes=0-1"), ("Range", "bytes=3-4")]), Verdict::Whole);
        assert_eq!(part(b"bytes=0-", 0), Verdict::Unsatisfiable);
        assert_eq!(part(b"bytes=-5", 0), Verdict::Unsatisfiable);
    }

    #[test]
    fn range_of_another_version_is_the_whole_file() {
        let with = |if_range: &str| verdict(&[("Range", "bytes=0-9"), ("If-Range", if_range)]);
        for same in [TAG, DATE] {
            assert_eq!(with(same), Verdict::Part(0, 10), "{same}");
        }
        for other in ["W/\"5-1f.0\"", "\"x\"", "", LATER, EARLIER, "\"x\", \"5-1f.0\"", "*"] {
            assert_eq!(with(other), Verdict::Whole, "{other}");
        }
        assert_eq!(verdict(&[("If-None-Match", TAG), ("Range", "bytes=0-9")]), Verdict::NotModified);
        let conditions = Conditions {
            range: Some(b"bytes=0-9".to_vec()),
            if_range: Some(DATE.as_bytes().to_vec()),
            ..Conditions::default()
        };
        let modified = httpdate::parse_http_date(DATE).unwrap();
        assert_eq!(conditions.verdict(TAG, Some(modified), 100, modified), Verdict::Whole, "changed this very second");
        assert_eq!(conditions.verdict(TAG, None, 100, modified), Verdict::Whole);
    }

    proptest! {
        #[test]
        fn part_is_always_inside_the_file(range in "bytes=[-0-9, ]{0,24}|\\PC{0,30}", len in 0..200_u64) {
            match part(range.as_bytes(), len) {
                Verdict::Part(from, end) => prop_assert!(from < end && end <= len),
                Verdict::Whole | Verdict::Unsatisfiable => {}
                other => prop_assert!(false, "{range:?} gave {other:?}"),
            }
        }

        #[test]
        fn well_formed_range_is_what_slices_say(first in 0..120_usize, last in 0..120_usize) {
            let file: Vec<usize> = (0..100).collect();
            let expected: Vec<usize> = file.iter().copied().filter(|at| (first..=last).contains(at)).collect();
            match part(format!("bytes={first}-{last}").as_bytes(), 100) {
                Verdict::Part(from, end) => {
                    let end = usize::try_from(end).unwrap();
                    prop_assert_eq!(&file[usize::try_from(from).unwrap()..end], expected.as_slice());
                }
                Verdict::Whole => prop_assert!(last < first),
                _ => prop_assert!(first >= 100 && expected.is_empty()),
            }
        }

        #[test]
        fn no_list_of_tags_makes_it_panic(tags in "[W/\", x*]{0,20}|\\PC{0,30}") {
            lists(tags.as_bytes(), TAG, Comparison::Weak);
        }
    }
}
