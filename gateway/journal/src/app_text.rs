//! Output of the app: one record, its severity, and whether it is a JSON object that may stand in a line unchanged.
//!
//! This module must not know where records come from or go.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::event::{Level, Stream};

/// Maximum nesting of brackets in a JSON line; readers of JSON commonly accept 100 and more.
const DEPTH_MAX: usize = 64;
/// Beginning of V8's line about what ends its process.
const FATAL: &str = "FATAL ERROR:";

/// One record of the app's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AppText<'a> {
    /// Text that the app wrote, without the last line feed.
    pub text: &'a str,
    /// Severity of the record.
    pub level: Level,
    /// Whether the text is one JSON object on one line.
    pub is_json: bool,
    /// The object's message, as a JSON string with its quotes.
    pub message: Option<&'a str>,
}

/// Fields that are read from a line of pino, winston, bunyan and similar loggers.
#[derive(Deserialize)]
struct LoggerFields<'a> {
    level: Option<Value>,
    severity: Option<Value>,
    #[serde(borrow)]
    msg: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
}

impl<'a> AppText<'a> {
    /// Reads what the app wrote to this stream.
    pub fn read(stream: Stream, text: &'a str) -> Self {
        if let Some(logged) = object(text) {
            let said = logged.level.as_ref().and_then(level).or_else(|| logged.severity.as_ref().and_then(level));
            let words = [logged.msg, logged.message];
            let message = words.into_iter().flatten().map(RawValue::get).find(|message| message.starts_with('"'));
            let level = said.unwrap_or(match stream {
                Stream::Stdout => Level::Info,
                Stream::Stderr => Level::Warn,
            });
            return AppText { text, level, is_json: true, message };
        }
        let level = match stream {
            Stream::Stdout => Level::Info,
            Stream::Stderr if has_stack(text) || text.starts_with(FATAL) => Level::Error,
            Stream::Stderr => Level::Warn,
        };
        AppText { text, level, is_json: false, message: None }
    }
}

/// The object, where the text is one and has nothing in it that would end a line or move a cursor.
fn object(text: &str) -> Option<LoggerFields<'_>> {
    let is_shaped = text.starts_with('{') && text.ends_with('}');
    let is_plain = || !text.bytes().any(|byte| byte < 0x20 || byte == 0x7f);
    if is_shaped && is_plain() && !is_deep(text) { serde_json::from_str(text).ok() } else { None }
}

/// Whether the nesting of brackets exceeds [`DEPTH_MAX`]. Brackets in strings count too, which affects only strings with very
/// many.
fn is_deep(text: &str) -> bool {
    let mut depth = 0_usize;
    text.bytes().any(|byte| {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > DEPTH_MAX
    })
}

/// Level of a number or word. Numbers follow pino and bunyan: 20 debug, 30 info, 40 warn, 50 error; a number in between counts
/// as the lower level.
fn level(said: &Value) -> Option<Level> {
    match said {
        Value::Number(number) => Some(match number.as_f64()? {
            number if number < 30.0 => Level::Debug,
            number if number < 40.0 => Level::Info,
            number if number < 50.0 => Level::Warn,
            _ => Level::Error,
        }),
        Value::String(word) => Some(match word.to_ascii_lowercase().as_str() {
            "trace" | "silly" | "debug" | "verbose" => Level::Debug,
            "info" | "http" | "notice" | "log" | "default" => Level::Info,
            "warn" | "warning" => Level::Warn,
            "error" | "err" | "fatal" | "crit" | "critical" | "alert" | "emerg" | "emergency" | "panic" => Level::Error,
            _ => return None,
        }),
        _ => None,
    }
}

/// Whether a frame of a stack of Node.js is among the lines.
fn has_stack(text: &str) -> bool {
    text.lines().skip(1).any(|line| line.trim_start().starts_with("at ") && line.starts_with([' ', '\t']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(stream: Stream, text: &str) -> (Level, bool) {
        let read = AppText::read(stream, text);
        (read.level, read.is_json)
    }

    #[test]
    fn json_lines_say_their_level_by_number_or_word() {
        for (text, level) in [
            (r#"{"level":10}"#, Level::Debug),
            (r#"{"level":30,"time":1,"msg":"hello"}"#, Level::Info),
            (r#"{"level":35}"#, Level::Info),
            (r#"{"level":40}"#, Level::Warn),
            (r#"{"level":60,"msg":"gone"}"#, Level::Error),
            (r#"{"message":"slow","level":"warn"}"#, Level::Warn),
            (r#"{"severity":"CRITICAL"}"#, Level::Error),
            (r#"{"level":"strange","severity":"DEBUG"}"#, Level::Debug),
            (r#"{"level":"strange"}"#, Level::Info),
            (r#"{"a":{"level":50}}"#, Level::Info),
        ] {
            assert_eq!(read(Stream::Stdout, text), (level, true), "{text}");
        }
        assert_eq!(read(Stream::Stderr, r#"{"a":1}"#), (Level::Warn, true));
    }

    #[test]
    fn anything_but_one_object_on_one_line_is_text() {
        for text in [
            "",
            "{",
            "{}x",
            "[1]",
            "{\"a\":1}{\"b\":2}",
            "{\"a\":\n1}",
            "{\"a\":\t1}",
            "{\"a\":\"\u{7f}\"}",
            "{'a':1}",
            "{ a: 1 }",
        ] {
            assert_eq!(read(Stream::Stdout, text), (Level::Info, false), "{text:?}");
        }
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(5_000), "]".repeat(5_000));
        assert_eq!(read(Stream::Stdout, &deep), (Level::Info, false));
    }

    #[test]
    fn standard_error_is_a_warning_and_with_a_stack_an_error() {
        assert_eq!(read(Stream::Stderr, "(node:7) Warning: old"), (Level::Warn, false));
        assert_eq!(read(Stream::Stderr, "Error: no\n    at f (/app/a.js:1:2)"), (Level::Error, false));
        assert_eq!(read(Stream::Stderr, "look at this"), (Level::Warn, false));
        let full = "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory";
        assert_eq!(read(Stream::Stderr, full), (Level::Error, false));
    }

    #[test]
    fn the_message_is_a_string_of_the_object_itself() {
        let message = |text| AppText::read(Stream::Stdout, text).message;
        assert_eq!(message(r#"{"a":{"msg":"no"},"msg":"a \"b\""}"#), Some(r#""a \"b\"""#));
        assert_eq!(message(r#"{"msg":{"a":1},"message":"yes"}"#), Some(r#""yes""#));
        assert_eq!(message(r#"{"msg":7}"#), None);
    }
}
