//! A line of the log for people: columns for requests, words for the rest. It must not know which lines are shown.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use serde_json::{Map, Value};

/// Fields of an app's JSON line that stand in columns of their own, or say nothing new.
const PLACED: [&str; 9] = ["level", "severity", "time", "timestamp", "msg", "message", "v", "pid", "hostname"];

/// Paints words, where that is wanted.
#[derive(Clone, Copy)]
pub(super) struct Painter {
    pub(super) has_colours: bool,
}

/// The line for people, without its line feed.
pub(super) fn line(line: &Value, painter: Painter) -> String {
    let mut out = String::new();
    let time = line["time"].as_str().and_then(|time| time.get(11..23)).unwrap_or_default();
    painter.put(&mut out, DIM, time);
    out.push(' ');
    match line["event"].as_str().unwrap_or_default() {
        "access" => access(&mut out, line, painter),
        "app" => app(&mut out, line, painter),
        event => gateway(&mut out, event, line, painter),
    }
    out
}

const PLAIN: Style = Style::new();
const DIM: Style = Style::new().dimmed();
const GOOD: Style = AnsiColor::Green.on_default();
const NOTE: Style = AnsiColor::Cyan.on_default();
const WARN: Style = AnsiColor::Yellow.on_default();
const BAD: Style = AnsiColor::Red.on_default().bold();

impl Painter {
    /// Appends the text, painted, without anything that could move a cursor.
    fn put(self, out: &mut String, style: Style, text: &str) {
        let is_styled = self.has_colours && style != PLAIN;
        // Writing to a String cannot fail.
        if is_styled {
            let _ = write!(out, "{style}");
        }
        out.extend(text.chars().map(|character| match character {
            '\n' | '\t' => character,
            character if character.is_control() => '?',
            character => character,
        }));
        if is_styled {
            let _ = write!(out, "{style:#}");
        }
    }
}

/// Status, method, host and target, then where it was and how long it took.
fn access(out: &mut String, line: &Value, painter: Painter) {
    let status = line["status"].as_u64().unwrap_or_default();
    let style = match status {
        500.. => BAD,
        400.. | 0 => WARN,
        300.. => NOTE,
        _ => GOOD,
    };
    let shown = if status == 0 { "---".to_owned() } else { status.to_string() };
    painter.put(out, style, &shown);
    let text = |name: &str| line[name].as_str().unwrap_or_default();
    let method = if text("method").is_empty() { "-" } else { text("method") };
    painter.put(out, PLAIN, &format!(" {method:<4} {:>9}", milliseconds(&line["total_ms"])));
    let worker = line["worker"].as_u64().map_or_else(String::new, |worker| format!("w{worker}"));
    painter.put(out, DIM, &format!(" {worker:<5}"));
    painter.put(
        out,
        PLAIN,
        &format!(" {}{}", text("host"), if text("target").is_empty() { "-" } else { text("target") }),
    );
    let mut after = |style: Style, word: String| {
        out.push_str("  ");
        painter.put(out, style, &word);
    };
    for (name, field) in
        [("queue", "queue_ms"), ("unserved", "unserved_ms"), ("service", "service_ms"), ("cpu", "cpu_ms")]
    {
        if line[field].is_number() {
            after(DIM, format!("{name} {}", milliseconds(&line[field])));
        }
    }
    if line["tries"].as_u64().is_some_and(|tries| tries > 1) {
        after(WARN, format!("tries {}", line["tries"]));
    }
    if !matches!(text("cache"), "" | "bypass" | "miss") {
        after(NOTE, format!("cache {}", text("cache")));
    }
    if !matches!(text("outcome"), "answered" | "edge") {
        after(style, text("outcome").to_owned());
    }
    if !text("error").is_empty() {
        after(style, text("error").to_owned());
    }
    for (name, value) in line["headers"].as_object().into_iter().flatten() {
        after(DIM, format!("{name}: {}", plain(value)));
    }
}

/// Writes a line of the app. JSON is shown as its message and the rest of its fields.
fn app(out: &mut String, line: &Value, painter: Painter) {
    let is_error_stream = line["stream"] == "stderr";
    let worker = line["worker"].as_u64().map_or_else(String::new, |worker| format!("w{worker}"));
    painter.put(out, DIM, &format!("{worker} {} ", if is_error_stream { '!' } else { '|' }));
    let (name, style) = match line["level"].as_str().unwrap_or_default() {
        "error" => ("error ", BAD),
        "warn" => ("warn ", WARN),
        "debug" => ("debug ", DIM),
        _ => ("", PLAIN),
    };
    let Some(fields) = line["json"].as_object() else {
        return painter.put(out, style, line["line"].as_str().unwrap_or_default());
    };
    painter.put(out, style, name);
    painter.put(out, style, &message(fields));
    for (name, value) in fields.iter().filter(|(name, _)| !PLACED.contains(&name.as_str())) {
        // A stack is read line by line, as the app would have written it.
        if let Some(stack) = value["stack"].as_str() {
            painter.put(out, style, &format!("\n{stack}"));
        } else {
            painter.put(out, DIM, &format!("  {name}={}", plain(value)));
        }
    }
}

fn message(fields: &Map<String, Value>) -> String {
    let words = ["msg", "message"].iter().find_map(|name| fields.get(*name));
    words.map(plain).unwrap_or_default()
}

/// Writes a line of the gateway: the sentence that the line has, else the name of the event and its fields.
fn gateway(out: &mut String, event: &str, line: &Value, painter: Painter) {
    let style = match line["level"].as_str().unwrap_or_default() {
        "error" => BAD,
        "warn" => WARN,
        _ => NOTE,
    };
    painter.put(out, style, event);
    for (name, value) in line.as_object().into_iter().flatten() {
        let is_said = matches!(name.as_str(), "time" | "level" | "event") || value.is_null();
        let is_long = value.as_str().is_some_and(|text| text.contains('\n'));
        match name.as_str() {
            _ if is_said => {}
            "text" => painter.put(out, PLAIN, &format!("  {}", plain(value))),
            _ if is_long => painter.put(out, PLAIN, &format!("\n{}", plain(value).trim_end())),
            _ => painter.put(out, DIM, &format!("  {name}={}", plain(value))),
        }
    }
}

/// A string without its quotes, and anything else as JSON.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn milliseconds(value: &Value) -> String {
    let Some(value_ms) = value.as_f64() else { return String::new() };
    match value_ms {
        1_000.0.. => format!("{:.2} s", value_ms / 1_000.0),
        100.0.. => format!("{value_ms:.0} ms"),
        _ => format!("{value_ms:.1} ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(json: &str) -> String {
        line(&serde_json::from_str(json).unwrap(), Painter { has_colours: false })
    }

    #[test]
    fn a_request_is_in_columns() {
        let json = r#"{"time":"2026-11-24T10:00:00.125Z","level":"info","event":"access","method":"GET","target":"/a?b=1","host":"shop.example","class":"GET /a","worker":3,"tries":2,"cache":"miss","status":502,"error":"SLU-WORKER-DIED","total_ms":1234.5,"queue_ms":1.25,"service_ms":null,"cpu_ms":null,"unserved_ms":null,"outcome":"worker_died","headers":{"user-agent":"curl/8"}}"#;
        assert_eq!(
            shown(json),
            "10:00:00.125 502 GET     1.23 s w3    shop.example/a?b=1  queue 1.2 ms  tries 2  worker_died  SLU-WORKER-DIED  user-agent: curl/8"
        );
    }

    #[test]
    fn json_of_the_app_is_its_message_and_its_other_fields() {
        let json = r#"{"time":"2026-11-24T10:00:00.125Z","level":"error","event":"app","worker":3,"stream":"stdout","line":null,"json":{"level":50,"time":1,"pid":7,"hostname":"a","msg":"no stock","order":{"id":7},"err":{"type":"Error","stack":"Error: no\n    at f"}}}"#;
        assert_eq!(shown(json), "10:00:00.125 w3 | error no stock\nError: no\n    at f  order={\"id\":7}");
        let json = r#"{"time":"2026-11-24T10:00:00.125Z","level":"warn","event":"app","worker":3,"stream":"stderr","line":"old\n  x","json":null}"#;
        assert_eq!(shown(json), "10:00:00.125 w3 ! old\n  x");
    }

    #[test]
    fn what_the_gateway_did_is_named_with_its_fields() {
        let json = r#"{"time":"2026-11-24T10:00:00.125Z","level":"warn","event":"alarm_raised","alarm":"long_run","class":null,"text":"it ran long"}"#;
        assert_eq!(shown(json), "10:00:00.125 alarm_raised  alarm=long_run  it ran long");
    }

    #[test]
    fn colours_are_only_where_they_are_wanted_and_no_text_moves_the_cursor() {
        let json = r#"{"time":"2026-11-24T10:00:00.125Z","event":"app","line":"a\u001b[2Jb","worker":1}"#;
        assert!(shown(json).ends_with("a?[2Jb") && !shown(json).contains('\u{1b}'));
        let painted = line(&serde_json::from_str(json).unwrap(), Painter { has_colours: true });
        assert!(painted.contains('\u{1b}') && painted.ends_with("a?[2Jb"));
    }
}
