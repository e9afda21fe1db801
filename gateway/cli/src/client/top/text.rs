//! Figures and names as short as a narrow terminal needs them: at most five characters and the unit. Pure.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Text for unknown values.
pub(in crate::client) const UNKNOWN: &str = "-";

/// Columns that the text takes on a terminal.
pub(in crate::client) fn width(text: &str) -> usize {
    text.width()
}

/// Text of clients and apps, so that nothing of it moves a cursor or turns the direction of what follows.
pub(in crate::client) fn harmless(text: &str) -> String {
    let is_harmful = |letter: char| {
        letter.is_control()
            || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
    };
    text.chars().map(|letter| if is_harmful(letter) { '?' } else { letter }).collect()
}

/// The text within so many columns. What is left out is in the middle, as the end of a path says more than its middle.
pub(in crate::client) fn cut_middle(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let Some(room) = columns.checked_sub(1) else { return String::new() };
    let tail_room = room / 2;
    let head = fitting(text.chars(), room - tail_room);
    let tail: String = fitting(text.chars().rev(), tail_room).chars().rev().collect();
    format!("{head}…{tail}")
}

/// The text within so many columns, cut at its end.
pub(in crate::client) fn cut_end(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    match columns.checked_sub(1) {
        Some(room) => fitting(text.chars(), room) + "…",
        None => String::new(),
    }
}

fn fitting(letters: impl Iterator<Item = char>, columns: usize) -> String {
    let mut used = 0;
    letters
        .take_while(|letter| {
            used += letter.width().unwrap_or(0);
            used <= columns
        })
        .collect()
}

/// Lines of at most so many columns, broken at spaces where there are any.
pub(in crate::client) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let mut word = word.to_owned();
        let line = lines.last_mut().map_or(0, |line| width(line));
        let gap = usize::from(line > 0);
        if line > 0 && line + gap + width(&word) > columns {
            lines.push(String::new());
        }
        while width(&word) > columns {
            let head = fitting(word.chars(), columns);
            // A letter that is wider than the line.
            if head.is_empty() {
                break;
            }
            word = word[head.len()..].to_owned();
            match lines.last_mut() {
                Some(line) if line.is_empty() => line.push_str(&head),
                _ => lines.push(head),
            }
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(&word);
        }
    }
    lines
}

/// `250ms`, `3.5s`, `42s`, `12m`, `30h`, `12d`.
pub(in crate::client) fn span(seconds: f64) -> String {
    match seconds.max(0.0) {
        s if s < 0.9995 => format!("{:.0}ms", s * 1000.0),
        s if s < 9.95 => format!("{s:.1}s"),
        s if s < 100.0 => format!("{s:.0}s"),
        s if s < 6000.0 => format!("{:.0}m", s / 60.0),
        s if s < 172_800.0 => format!("{:.0}h", s / 3600.0),
        s => format!("{:.0}d", s / 86_400.0),
    }
}

/// A time in milliseconds, with the digits that matter: `0.25ms`, `4.0ms`, `90ms`, `1.2s`.
pub(in crate::client) fn millis(ms: Option<f64>) -> String {
    match ms {
        None => UNKNOWN.to_owned(),
        Some(ms) if ms < 0.995 => format!("{:.2}ms", ms.max(0.0)),
        Some(ms) if ms < 9.95 => format!("{ms:.1}ms"),
        Some(ms) => span(ms / 1000.0),
    }
}

/// `104MiB`, `1.2GiB`.
#[allow(clippy::cast_precision_loss, reason = "shown with two digits")]
pub(in crate::client) fn bytes(count: u64) -> String {
    let count = count as f64;
    let units = [("B", 1.0), ("KiB", 1024.0), ("MiB", 1_048_576.0), ("GiB", 1_073_741_824.0)];
    let (unit, size) =
        units.into_iter().find(|(_, size)| count < size * 1000.0).unwrap_or(("TiB", 1_099_511_627_776.0));
    let value = count / size;
    if value < 9.95 && unit != "B" { format!("{value:.1}{unit}") } else { format!("{value:.0}{unit}") }
}

/// `0.03/s`, `1.2/s`, `123/s`, `12.3k/s`.
pub(in crate::client) fn rate(per_second: f64) -> String {
    match per_second.max(0.0) {
        r if r < 0.005 => "0/s".to_owned(),
        r if r < 0.995 => format!("{r:.2}/s"),
        r if r < 9.95 => format!("{r:.1}/s"),
        r if r < 10_000.0 => format!("{r:.0}/s"),
        r => format!("{:.1}k/s", r / 1000.0),
    }
}

/// `99999`, `123k`, `1.2M`.
#[allow(clippy::cast_precision_loss, reason = "shown with three digits")]
pub(in crate::client) fn count(number: u64) -> String {
    match number {
        0..100_000 => number.to_string(),
        100_000..1_000_000 => format!("{}k", number / 1000),
        1_000_000..100_000_000 => format!("{:.1}M", number as f64 / 1e6),
        _ => format!("{:.0}M", number as f64 / 1e6),
    }
}

/// A share of 0 to 1, or more where several cores count: `0%`, `102%`.
pub(in crate::client) fn percent(share: f64) -> String {
    format!("{:.0}%", share * 100.0)
}

/// CPU time in cores: `0.08`, `2.4`, `12`.
pub(in crate::client) fn cores(cores: f64) -> String {
    match cores {
        c if c < 0.995 => format!("{:.2}", c.max(0.0)),
        c if c < 9.95 => format!("{c:.1}"),
        c => format!("{c:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_keep_their_unit_and_their_digits_in_six_columns() {
        let spans = [0.0, 0.25, 0.9999, 3.54, 42.0, 99.9, 725.0, 3600.0 * 30.0, 86_400.0 * 12.0];
        assert_eq!(spans.map(span), ["0ms", "250ms", "1.0s", "3.5s", "42s", "100s", "12m", "30h", "12d"]);
        let times = [Some(0.25), Some(0.999), Some(4.0), Some(89.6), Some(1250.0), None];
        assert_eq!(times.map(millis), ["0.25ms", "1.0ms", "4.0ms", "90ms", "1.2s", "-"]);
        assert_eq!([0, 1000, 104_857_600, 1_288_490_188].map(bytes), ["0B", "1.0KiB", "100MiB", "1.2GiB"]);
        assert_eq!([0.0, 0.03, 1.24, 123.4, 12_345.0].map(rate), ["0/s", "0.03/s", "1.2/s", "123/s", "12.3k/s"]);
        assert_eq!([7, 99_999, 123_456, 1_250_000, 250_000_000].map(count), ["7", "99999", "123k", "1.2M", "250M"]);
        assert_eq!([0.083, 2.41, 12.3].map(cores), ["0.08", "2.4", "12"]);
    }

    #[test]
    fn names_lose_their_middle_and_never_a_half_of_a_wide_letter() {
        assert_eq!(cut_middle("GET /shop/product/:id", 11), "GET /…t/:id");
        assert_eq!(cut_middle("日本語のページ", 8), "日本…ジ");
        assert_eq!(cut_middle("short", 5), "short");
        assert_eq!(cut_middle("short", 1), "…");
        assert_eq!(cut_middle("short", 0), "");
        assert_eq!(cut_end("shortened", 6), "short…");
        for columns in 0..20 {
            assert!(width(&cut_middle("a日b本c語d", columns)) <= columns);
        }
    }

    #[test]
    fn lines_are_wrapped_at_spaces_and_long_words_where_they_must() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("abcdefghij kl", 4), ["abcd", "efgh", "ij", "kl"]);
        assert_eq!(wrapped("a abcdefgh", 4), ["a", "abcd", "efgh"]);
        assert_eq!(wrapped("", 4), [""]);
    }

    #[test]
    fn nothing_of_a_client_turns_the_line_around() {
        assert_eq!(harmless("a\u{1b}[2J\u{202e}b\u{200b}é"), "a?[2J?b?é");
    }
}
