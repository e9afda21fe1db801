//! Bytes of a log line: numbers, times and escaped text, appended to a buffer that is used again for the next line.
//!
//! Written by hand because it stands on every request: nothing here allocates beyond the buffer. It must not know which
//! fields a line has.

use std::net::{IpAddr, Ipv4Addr};

use crate::window::microseconds;

/// Escape of each byte in a JSON string: 0 for none, else the character after the backslash (`u` for six characters).
static ESCAPES: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = b'u';
        byte += 1;
    }
    table[0x7f] = b'u';
    table[b'\n' as usize] = b'n';
    table[b'\r' as usize] = b'r';
    table[b'\t' as usize] = b't';
    table[b'"' as usize] = b'"';
    table[b'\\' as usize] = b'\\';
    table
};

const HEX: &[u8; 16] = b"0123456789abcdef";

/// Writes the inside of a JSON string (RFC 8259 §7). DEL is escaped too, for readers in a terminal.
pub(crate) fn escaped(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    let mut plain_from = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        let escape = ESCAPES[usize::from(byte)];
        if escape == 0 {
            continue;
        }
        out.extend_from_slice(&bytes[plain_from..at]);
        plain_from = at + 1;
        if escape == b'u' {
            out.extend_from_slice(b"\\u00");
            out.push(HEX[usize::from(byte >> 4)]);
            out.push(HEX[usize::from(byte & 15)]);
        } else {
            out.extend_from_slice(&[b'\\', escape]);
        }
    }
    out.extend_from_slice(&bytes[plain_from..]);
}

/// Writes text for a terminal: control characters become `?`, because a client could move the cursor of the log's reader with
/// them. Line feeds stay if `lines` is true.
pub(crate) fn harmless(out: &mut Vec<u8>, text: &str, lines: bool) {
    for character in text.chars() {
        match character {
            '\t' => out.push(b'\t'),
            '\n' if lines => out.push(b'\n'),
            control if control.is_control() => out.push(b'?'),
            character => out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}

/// The longest beginning of `text` that has at most `bytes_max` bytes and ends between characters.
pub(crate) fn bounded(text: &str, bytes_max: usize) -> &str {
    if text.len() <= bytes_max {
        return text;
    }
    let mut end = bytes_max;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

pub(crate) fn number(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// All 32 digits of a number, as ids are written.
pub(crate) fn hex(out: &mut Vec<u8>, value: u128) {
    out.extend(
        value.to_be_bytes().into_iter().flat_map(|byte| [byte >> 4, byte & 15]).map(|digit| HEX[usize::from(digit)]),
    );
}

/// Milliseconds with up to three decimals, as no clock here is finer than that.
pub(crate) fn milliseconds(out: &mut Vec<u8>, value_ms: f64) {
    let whole_us = microseconds(value_ms);
    number(out, whole_us / 1000);
    let rest = whole_us % 1000;
    if rest != 0 {
        let decimals = [b'.', digit(rest / 100), digit(rest / 10), digit(rest)];
        let keep = if rest.is_multiple_of(100) {
            2
        } else if rest.is_multiple_of(10) {
            3
        } else {
            4
        };
        out.extend_from_slice(&decimals[..keep]);
    }
}

pub(crate) fn address(out: &mut Vec<u8>, address: IpAddr) {
    match address.to_canonical() {
        IpAddr::V4(v4) => v4_address(out, v4),
        IpAddr::V6(v6) => {
            use std::io::Write;
            // Writing to a Vec cannot fail.
            let _ = write!(out, "{v6}");
        }
    }
}

fn v4_address(out: &mut Vec<u8>, address: Ipv4Addr) {
    for (index, octet) in address.octets().into_iter().enumerate() {
        if index > 0 {
            out.push(b'.');
        }
        number(out, u64::from(octet));
    }
}

#[allow(clippy::cast_possible_truncation, reason = "a remainder of ten is a digit")]
fn digit(value: u64) -> u8 {
    b'0' + (value % 10) as u8
}

/// Unix time as `2026-11-20T18:56:02.123Z` (RFC 3339). Remembers the last second, as most lines are of the same one.
pub(crate) struct Timestamp {
    second: u64,
    text: [u8; 24],
}

impl Timestamp {
    pub(crate) fn new() -> Self {
        Self { second: 0, text: *b"1970-01-01T00:00:00.000Z" }
    }

    pub(crate) fn format(&mut self, unix_ms: u64) -> &[u8; 24] {
        // The year 9999 ends here; RFC 3339 knows no later one.
        let unix_ms = unix_ms.min(253_402_300_799_999);
        let second = unix_ms / 1000;
        if second != self.second {
            self.second = second;
            let (year, month, day) = date(second / 86_400);
            let of_day = second % 86_400;
            self.put::<4>(0, year);
            self.put::<2>(5, month);
            self.put::<2>(8, day);
            self.put::<2>(11, of_day / 3600);
            self.put::<2>(14, of_day / 60 % 60);
            self.put::<2>(17, of_day % 60);
        }
        self.put::<3>(20, unix_ms % 1000);
        &self.text
    }

    fn put<const DIGITS: usize>(&mut self, at: usize, mut value: u64) {
        for index in (at..at + DIGITS).rev() {
            self.text[index] = digit(value);
            value /= 10;
        }
    }
}

/// A point in time as log lines have it: `2026-11-20T20:04:11.512Z`.
pub fn timestamp(unix_ms: u64) -> String {
    String::from_utf8_lossy(Timestamp::new().format(unix_ms)).into_owned()
}

/// Year, month and day of a day since 1970-01-01, in the Gregorian calendar. Years here begin in March, so that the leap
/// day is the last of its year; 400 years are 146,097 days.
fn date(days_since_1970: u64) -> (u64, u64, u64) {
    let days = days_since_1970 + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl Fn(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_character_survives_as_json() {
        let mut text: String = (0..0x300).filter_map(char::from_u32).collect();
        text.push_str("\u{2028}é漢🦀\"\\</script>");
        let json = written(|out| {
            out.push(b'"');
            escaped(out, &text);
            out.push(b'"');
        });
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        assert!(json.bytes().all(|byte| byte >= 0x20 && byte != 0x7f));
    }

    #[test]
    fn text_for_a_terminal_moves_no_cursor() {
        let text = written(|out| harmless(out, "a\x1b[2J\u{9b}b\r\nc\td", false));
        assert_eq!(text, "a?[2J?b??c\td");
        assert_eq!(written(|out| harmless(out, "a\nb", true)), "a\nb");
    }

    #[test]
    fn numbers_are_written_as_they_are() {
        for value in [0, 7, 10, 99, 100, 1_234_567_890, u64::MAX] {
            assert_eq!(written(|out| number(out, value)), value.to_string());
        }
        for (value, text) in [
            (0.0, "0"),
            (12.0, "12"),
            (0.5, "0.5"),
            (3.25, "3.25"),
            (1.007, "1.007"),
            (1.0004, "1"),
            (-3.0, "0"),
            (f64::NAN, "0"),
        ] {
            assert_eq!(written(|out| milliseconds(out, value)), text);
        }
    }

    #[test]
    fn addresses_are_written_as_rust_writes_them() {
        for text in ["192.0.2.1", "255.255.255.255", "0.0.0.0", "2001:db8::1", "::1"] {
            assert_eq!(written(|out| address(out, text.parse().unwrap())), text);
        }
        assert_eq!(written(|out| address(out, "::ffff:192.0.2.7".parse().unwrap())), "192.0.2.7");
    }

    #[test]
    fn times_are_right_on_the_days_that_calendars_get_wrong() {
        let mut stamp = Timestamp::new();
        for (unix_ms, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_800_000, "2000-03-01T00:00:00.000Z"),
            (1_709_251_199_001, "2024-02-29T23:59:59.001Z"),
            (1_767_225_599_500, "2025-12-31T23:59:59.500Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (u64::MAX, "9999-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(std::str::from_utf8(stamp.format(unix_ms)).unwrap(), text);
        }
    }

    #[test]
    fn text_is_cut_between_characters() {
        assert_eq!(bounded("aé漢", 2), "a");
        assert_eq!(bounded("aé漢", 3), "aé");
        assert_eq!(bounded("aé漢", 100), "aé漢");
    }
}
