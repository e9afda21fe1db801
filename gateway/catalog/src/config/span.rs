//! Form of a time whose unit is free: `45s`, `30m`, `2h`, `7d`.

use super::duration::{TimeUnit, parse_ms};

/// Longest allowed time, one year, seconds.
const SECONDS_MAX: u64 = 31_536_000;

/// A time in whole seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Number of seconds, 1 to 31,536,000.
    pub seconds: u64,
}

/// The text is no time. Says what is allowed, as a part of a sentence that follows "must be".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a whole number from 1 with s, m, h or d, like \"60s\", a year at most")]
pub struct NotASpan;

impl Span {
    /// Reads a whole number and its unit.
    ///
    /// # Errors
    /// If it is written otherwise.
    pub fn parse(text: &str) -> Result<Self, NotASpan> {
        Self::read(text).ok_or(NotASpan)
    }

    fn read(text: &str) -> Option<Self> {
        let seconds = TimeUnit::Seconds.count(parse_ms(text).ok()?)?;
        (1..=SECONDS_MAX).contains(&seconds).then_some(Span { seconds })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_number_with_its_unit() {
        for (text, seconds) in [
            ("60s", Some(60)),
            ("2m", Some(120)),
            ("1d", Some(86_400)),
            ("0s", None),
            ("s", None),
            ("1", None),
            ("+1s", None),
            ("1.5h", None),
            ("99999d", None),
        ] {
            assert_eq!(Span::parse(text).ok().map(|span| span.seconds), seconds, "{text}");
        }
    }
}
