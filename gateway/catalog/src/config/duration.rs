//! Form of a time: a whole number of a key's own unit, or a string with a unit, like `"500ms"`, `"3s"`, `"2m"`, `"1h"` or
//! `"7d"`.
//!
//! The only parser of times, for config keys, routes and flags. It must not know which key it reads.

/// Units from the longest to the shortest, each in milliseconds.
const UNITS: [(&str, u64); 5] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// Pattern that the JSON Schema has for a time.
pub(crate) const PATTERN: &str = "^[0-9]+(ms|s|m|h|d)$";

/// The text is no time. Names the units, as a part of a sentence that follows "must be".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a whole number with a unit (ms, s, m, h or d), like \"500ms\" or \"3s\"")]
pub struct NotADuration;

/// Unit of a key that holds a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Milliseconds.
    Milliseconds,
    /// Seconds.
    Seconds,
}

impl TimeUnit {
    /// The unit that is called so in the table of keys.
    pub(super) const fn named(name: &str) -> Option<Self> {
        match name.as_bytes() {
            b"milliseconds" => Some(Self::Milliseconds),
            b"seconds" => Some(Self::Seconds),
            _ => None,
        }
    }

    /// Name of the unit.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Milliseconds => "milliseconds",
            Self::Seconds => "seconds",
        }
    }

    const fn in_ms(self) -> u64 {
        match self {
            Self::Milliseconds => 1,
            Self::Seconds => 1_000,
        }
    }

    /// A time with its unit, as a whole number of this one; `None` for fractions such as `500ms` in seconds.
    pub(super) fn count(self, time_ms: u64) -> Option<u64> {
        time_ms.is_multiple_of(self.in_ms()).then_some(time_ms / self.in_ms())
    }

    /// A number of this unit as a time with a unit.
    pub fn written(self, count: u64) -> String {
        written(count.saturating_mul(self.in_ms()))
    }
}

/// Reads a whole number and its unit, as milliseconds.
///
/// # Errors
/// If the text is written otherwise, or the time has no room in 64 bits.
pub fn parse_ms(text: &str) -> Result<u64, NotADuration> {
    let digits = text.trim_end_matches(|character: char| !character.is_ascii_digit());
    let (_, unit_ms) = UNITS.into_iter().find(|(unit, _)| *unit == &text[digits.len()..]).ok_or(NotADuration)?;
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(NotADuration);
    }
    digits.parse::<u64>().ok().and_then(|count| count.checked_mul(unit_ms)).ok_or(NotADuration)
}

/// The shortest text that [`parse_ms`] reads as this time: the longest unit of which it is a whole number.
pub fn written(time_ms: u64) -> String {
    let fits = |(_, unit_ms): &(&str, u64)| time_ms > 0 && time_ms.is_multiple_of(*unit_ms);
    let (unit, unit_ms) = UNITS.into_iter().find(fits).unwrap_or(("ms", 1));
    format!("{}{unit}", time_ms / unit_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_whole_number_and_a_unit() {
        for (text, time_ms) in [
            ("500ms", 500),
            ("3s", 3_000),
            ("0s", 0),
            ("007m", 420_000),
            ("2h", 7_200_000),
            ("7d", 604_800_000),
            ("18446744073709551615ms", u64::MAX),
        ] {
            assert_eq!(parse_ms(text), Ok(time_ms), "{text}");
        }
        for text in [
            "",
            "s",
            "3",
            "+3s",
            "-3s",
            "1.5s",
            "3 s",
            " 3s",
            "3s ",
            "3S",
            "3sec",
            "1h30m",
            "٣s",
            "1e3ms",
            "99999999999999999999s",
            "18446744073709551615s",
        ] {
            assert_eq!(parse_ms(text), Err(NotADuration), "{text}");
        }
    }

    #[test]
    fn a_unit_holds_whole_numbers_alone() {
        assert_eq!(TimeUnit::Seconds.count(1_500), None);
        assert_eq!(TimeUnit::Seconds.count(60_000), Some(60));
        assert_eq!(
            (TimeUnit::Seconds.written(90), TimeUnit::Milliseconds.written(0)),
            ("90s".to_owned(), "0ms".to_owned())
        );
    }
}
