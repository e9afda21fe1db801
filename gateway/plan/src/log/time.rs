//! Dates of access logs, as microseconds since 1970.

use time::{Date, Month, OffsetDateTime};

/// Microseconds of a second.
pub(super) const SECOND_US: i64 = 1_000_000;
const MONTHS: [&[u8]; 12] =
    [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];

/// A whole number of at most 18 digits and nothing else.
pub(super) fn number(text: &[u8]) -> Option<i64> {
    let is_number = !text.is_empty() && text.len() <= 18 && text.iter().all(u8::is_ascii_digit);
    is_number.then(|| text.iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0')))
}

/// Seconds with a fraction, as in `0.005`, in microseconds.
pub(super) fn seconds(text: &[u8]) -> Option<i64> {
    let point = text.iter().position(|byte| *byte == b'.')?;
    let (whole, fraction) = (number(&text[..point])?, &text[point + 1..]);
    whole.checked_mul(SECOND_US)?.checked_add(fraction_us(fraction)?)
}

fn fraction_us(digits: &[u8]) -> Option<i64> {
    let six = &digits[..digits.len().min(6)];
    number(digits)?;
    Some(number(six)? * 10_i64.pow(6 - u32::try_from(six.len()).ok()?))
}

/// Seconds from 1970 to the begin of this date.
fn day_s(year: i64, month: i64, day: i64) -> Option<i64> {
    let month = Month::try_from(u8::try_from(month).ok()?).ok()?;
    let year = i32::try_from(year).ok().filter(|year| (1970..=9999).contains(year))?;
    let date = Date::from_calendar_date(year, month, u8::try_from(day).ok()?).ok()?;
    Some(date.midnight().assume_utc().unix_timestamp())
}

/// `2026-11-28 20:55:04`, of microseconds since 1970, UTC.
pub(crate) fn text(us: u64) -> String {
    let seconds = i64::try_from(us / SECOND_US.unsigned_abs()).unwrap_or(i64::MAX);
    let Ok(moment) = OffsetDateTime::from_unix_timestamp(seconds) else { return "after the year 9999".into() };
    let (year, month, day) = moment.to_calendar_date();
    let (hour, minute, second) = moment.to_hms();
    format!("{year}-{:02}-{day:02} {hour:02}:{minute:02}:{second:02}", u8::from(month))
}

/// `hh:mm:ss`.
fn time_of_day(text: &[u8]) -> Option<i64> {
    let at = |from: usize| number(text.get(from..from + 2)?);
    let is_time = text.len() == 8 && text[2] == b':' && text[5] == b':';
    let [hours, minutes, seconds] = [at(0)?, at(3)?, at(6)?];
    (is_time && hours < 24 && minutes < 60 && seconds <= 60).then_some(hours * 3600 + minutes * 60 + seconds)
}

/// `+0130`, `+01:30` or `Z`, in seconds.
fn zone(text: &[u8]) -> Option<i64> {
    let (sign, hours, minutes) = match text {
        [b'Z'] => return Some(0),
        [sign, h1, h2, b':', m1, m2] | [sign, h1, h2, m1, m2] => (sign, [*h1, *h2], [*m1, *m2]),
        _ => return None,
    };
    let seconds = number(&hours)? * 3600 + number(&minutes)? * 60;
    match sign {
        b'+' => Some(seconds),
        b'-' => Some(-seconds),
        _ => None,
    }
}

/// `28/Nov/2026:20:55:04 +0000`, or with milliseconds and without a zone, as `HAProxy` writes it.
pub(super) fn common(text: &[u8]) -> Option<i64> {
    let date = text.get(..20)?;
    let month = MONTHS.iter().position(|name| *name == &date[3..6])? + 1;
    let is_date = date[2] == b'/' && date[6] == b'/' && date[11] == b':';
    let day_s = day_s(number(&date[7..11])?, i64::try_from(month).ok()?, number(&date[..2])?).filter(|_| is_date)?;
    let seconds = day_s + time_of_day(&date[12..])?;
    match &text[20..] {
        [b' ', rest @ ..] => Some((seconds - zone(rest)?) * SECOND_US),
        [b'.', rest @ ..] => Some(seconds * SECOND_US + fraction_us(rest)?),
        _ => None,
    }
}

/// `2026-11-28T20:55:04.123Z`, with or without a fraction, with any zone.
pub(super) fn iso(text: &[u8]) -> Option<i64> {
    let date = text.get(..19)?;
    let is_date = date[4] == b'-' && date[7] == b'-' && date[10] == b'T';
    let day_s = day_s(number(&date[..4])?, number(&date[5..7])?, number(&date[8..10])?).filter(|_| is_date)?;
    let seconds = day_s + time_of_day(&date[11..])?;
    let rest = &text[19..];
    let zone_at = rest.iter().position(|byte| matches!(byte, b'Z' | b'+' | b'-'))?;
    let fraction_us = match &rest[..zone_at] {
        [] => 0,
        [b'.', digits @ ..] => fraction_us(digits)?,
        _ => return None,
    };
    Some((seconds - zone(&rest[zone_at..])?) * SECOND_US + fraction_us)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOMENT: i64 = 1_795_899_304 * SECOND_US;

    #[test]
    fn dates_of_every_log_are_the_same_moment() {
        assert_eq!(common(b"28/Nov/2026:20:55:04 +0000"), Some(MOMENT));
        assert_eq!(common(b"28/Nov/2026:22:25:04 +0130"), Some(MOMENT));
        assert_eq!(common(b"28/Nov/2026:20:55:04.250"), Some(MOMENT + 250_000));
        assert_eq!(iso(b"2026-11-28T20:55:04.250Z"), Some(MOMENT + 250_000));
        assert_eq!(iso(b"2026-11-28T15:55:04-05:00"), Some(MOMENT));
        assert_eq!(common(b"29/Feb/2024:00:00:00 +0000"), Some(1_709_164_800 * SECOND_US));
        assert_eq!(seconds(b"1795899304.250"), Some(MOMENT + 250_000));
    }

    #[test]
    fn a_date_is_written_as_it_was_read() {
        for date in ["1970-01-01 00:00:00", "2000-02-29 23:59:59", "2026-03-01 00:00:01", "2026-11-28 20:55:04"] {
            let us = iso(format!("{}Z", date.replace(' ', "T")).as_bytes()).and_then(|us| u64::try_from(us).ok());
            assert_eq!(us.map(text).as_deref(), Some(date));
        }
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "",
            "28/Nov/2026",
            "28/Foo/2026:20:55:04 +0000",
            "28/Nov/2026:24:55:04 +0000",
            "28/Nov/2026:20:55:04 0000",
            "00/Nov/2026:20:55:04 +0000",
            "31/Feb/2026:20:55:04 +0000",
            "28/Nov/1969:20:55:04 +0000",
            "28/Nov/2026:20:55:04.",
        ] {
            assert_eq!(common(text.as_bytes()), None, "{text}");
        }
        for text in ["", "2026-11-28", "2026-13-28T20:55:04Z", "2026-11-28T20:55:04", "2026-11-28T20:55:04.xZ"] {
            assert_eq!(iso(text.as_bytes()), None, "{text}");
        }
        for text in ["", "1", ".5", "1.", "-1.0", "99999999999999999999.0", "1.0x"] {
            assert_eq!(seconds(text.as_bytes()), None, "{text}");
        }
    }
}
