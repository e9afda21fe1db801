//! What an event looks like as a line: JSON for machines, text for people.
//!
//! The one place that knows the fields of a line. It must not know where lines go.

use sluice_catalog::logfields::LineKind;

use crate::encode::{Timestamp, address, bounded, escaped, harmless, milliseconds, number};
use crate::event::{AccessRecord, Event, Level, Stream};

/// The most of a target that the log keeps.
const TARGET_BYTES_MAX: usize = 2048;
/// The most of any other text that a client chose.
const FIELD_BYTES_MAX: usize = 512;
/// The most of a line that the app wrote, or of the end of its stderr.
const APP_BYTES_MAX: usize = 16 * 1024;

/// What is said of every event, whatever else is.
struct Head {
    name: &'static str,
    level: Level,
    kind: LineKind,
    worker: Option<u64>,
}

fn head(event: &Event<'_>) -> Head {
    let (name, level, worker) = match *event {
        Event::Access(ref record) => {
            return Head { name: "access", level: Level::Info, kind: LineKind::Access, worker: record.worker };
        }
        Event::AppLine { worker, .. } => {
            return Head { name: "app", level: Level::Info, kind: LineKind::App, worker: Some(worker) };
        }
        Event::WorkerStarted { worker, .. } => ("worker_started", Level::Info, Some(worker)),
        Event::WorkerReady { worker, .. } => ("worker_ready", Level::Info, Some(worker)),
        Event::WorkerExited { worker, expected, .. } => {
            ("worker_exited", if expected { Level::Info } else { Level::Warn }, Some(worker))
        }
        Event::WorkerBackoff { worker, .. } => ("worker_backoff", Level::Warn, Some(worker)),
        Event::WorkerStartFailed { worker, .. } => ("worker_start_failed", Level::Error, Some(worker)),
        Event::Listening { .. } => ("listening", Level::Info, None),
        Event::Draining { .. } => ("draining", Level::Info, None),
        Event::Stopped => ("stopped", Level::Info, None),
        Event::Scaled { .. } => ("scaled", Level::Info, None),
        Event::OverlapSeen { worker, .. } => ("overlap_seen", Level::Error, Some(worker)),
        Event::Note { level, .. } => ("note", level, None),
    };
    Head { name, level, kind: LineKind::Gateway, worker }
}

pub(crate) fn about(event: &Event<'_>) -> (LineKind, Option<u64>) {
    let head = head(event);
    (head.kind, head.worker)
}

/// One JSON object, without a line feed. The fields are those of [`sluice_catalog::logfields`], in their order.
pub(crate) fn json(out: &mut Vec<u8>, stamp: &mut Timestamp, unix_ms: u64, event: &Event<'_>) {
    let head = head(event);
    out.extend_from_slice(b"{\"time\":\"");
    out.extend_from_slice(stamp.format(unix_ms));
    out.extend_from_slice(b"\",\"level\":\"");
    out.extend_from_slice(head.level.as_str().as_bytes());
    out.extend_from_slice(b"\",\"event\":\"");
    out.extend_from_slice(head.name.as_bytes());
    out.push(b'"');
    let mut fields = Fields(out);
    if let Event::Access(record) = event {
        json_access(&mut fields, record);
    } else {
        if let Some(worker) = head.worker {
            fields.number(b",\"worker\":", worker);
        }
        json_rest(&mut fields, event);
    }
    out.push(b'}');
}

fn json_rest(fields: &mut Fields<'_>, event: &Event<'_>) {
    match *event {
        Event::Access(_) | Event::Stopped => {}
        Event::WorkerStarted { pid, .. } => fields.number(b",\"pid\":", u64::from(pid)),
        Event::WorkerReady { after_ms, .. } => fields.number(b",\"after_ms\":", after_ms),
        Event::WorkerExited { status, expected, .. } => {
            fields.text(b",\"status\":", status, FIELD_BYTES_MAX);
            fields.0.extend_from_slice(if expected { b",\"expected\":true" } else { b",\"expected\":false" });
        }
        Event::WorkerBackoff { delay_ms, .. } => fields.number(b",\"delay_ms\":", delay_ms),
        Event::WorkerStartFailed { code, stderr_tail, .. } => {
            let entry = code.entry();
            fields.text(b",\"code\":", entry.code, FIELD_BYTES_MAX);
            fields.text(b",\"text\":", entry.operator, APP_BYTES_MAX);
            fields.text(b",\"stderr\":", end(stderr_tail), APP_BYTES_MAX);
        }
        Event::AppLine { stream, line, .. } => {
            fields.text(b",\"stream\":", stream.as_str(), FIELD_BYTES_MAX);
            fields.text(b",\"line\":", line, APP_BYTES_MAX);
        }
        Event::Listening { url } => fields.text(b",\"url\":", url, FIELD_BYTES_MAX),
        Event::Draining { reason } => fields.text(b",\"reason\":", reason, FIELD_BYTES_MAX),
        Event::Scaled { from, to } => {
            fields.number(b",\"from\":", u64::from(from));
            fields.number(b",\"to\":", u64::from(to));
        }
        Event::OverlapSeen { count, .. } => fields.number(b",\"count\":", count),
        Event::Note { text, .. } => fields.text(b",\"text\":", text, APP_BYTES_MAX),
    }
}

fn json_access(fields: &mut Fields<'_>, record: &AccessRecord<'_>) {
    fields.text(b",\"request_id\":", record.request_id, FIELD_BYTES_MAX);
    fields.text(b",\"method\":", record.method, FIELD_BYTES_MAX);
    fields.text(b",\"target\":", record.target, TARGET_BYTES_MAX);
    fields.text(b",\"host\":", record.host, FIELD_BYTES_MAX);
    fields.text(b",\"class\":", record.class, FIELD_BYTES_MAX);
    match record.worker {
        Some(worker) => fields.number(b",\"worker\":", worker),
        None => fields.null(b",\"worker\":"),
    }
    fields.number(b",\"status\":", u64::from(record.status));
    match record.error {
        Some(code) => fields.text(b",\"error\":", code.entry().code, FIELD_BYTES_MAX),
        None => fields.null(b",\"error\":"),
    }
    fields.number(b",\"bytes_in\":", record.bytes_in);
    fields.number(b",\"bytes_out\":", record.bytes_out);
    fields.milliseconds(b",\"receive_ms\":", Some(record.receive_ms));
    fields.milliseconds(b",\"queue_ms\":", record.queue_ms);
    fields.milliseconds(b",\"service_ms\":", record.service_ms);
    fields.milliseconds(b",\"total_ms\":", Some(record.total_ms));
    fields.milliseconds(b",\"cpu_ms\":", record.cpu_ms);
    fields.text(b",\"outcome\":", record.outcome.as_str(), FIELD_BYTES_MAX);
    fields.0.extend_from_slice(b",\"peer\":\"");
    address(fields.0, record.peer);
    fields.0.push(b'"');
}

/// Appends fields of an object. Each key comes with its comma, quotes and colon, so that it is one copy.
struct Fields<'a>(&'a mut Vec<u8>);

impl Fields<'_> {
    fn text(&mut self, key: &[u8], text: &str, bytes_max: usize) {
        self.0.extend_from_slice(key);
        self.0.push(b'"');
        let kept = bounded(text, bytes_max);
        escaped(self.0, kept);
        if kept.len() < text.len() {
            self.0.extend_from_slice("…".as_bytes());
        }
        self.0.push(b'"');
    }

    fn number(&mut self, key: &[u8], value: u64) {
        self.0.extend_from_slice(key);
        number(self.0, value);
    }

    fn milliseconds(&mut self, key: &[u8], value_ms: Option<f64>) {
        let Some(value_ms) = value_ms else { return self.null(key) };
        self.0.extend_from_slice(key);
        milliseconds(self.0, value_ms);
    }

    fn null(&mut self, key: &[u8]) {
        self.0.extend_from_slice(key);
        self.0.extend_from_slice(b"null");
    }
}

/// One line for people, without its line feed; the end of an app's stderr may make it several. The time of day is UTC.
pub(crate) fn text(out: &mut Vec<u8>, stamp: &mut Timestamp, unix_ms: u64, event: &Event<'_>) {
    out.extend_from_slice(&stamp.format(unix_ms)[11..]);
    out.push(b' ');
    let mut words = Words(out);
    let head = head(event);
    if head.kind == LineKind::Gateway {
        words.put(match head.level {
            Level::Info => "sluice: ",
            Level::Warn => "sluice: warning: ",
            Level::Error => "sluice: error: ",
        });
        if let Some(worker) = head.worker {
            words.put("worker ").number(worker).put(" ");
        }
    }
    match *event {
        Event::Access(ref record) => text_access(&mut words, record),
        Event::WorkerStarted { pid, .. } => {
            words.put("started, pid ").number(u64::from(pid));
        }
        Event::WorkerReady { after_ms, .. } => {
            words.put("ready after ").number(after_ms).put(" ms");
        }
        Event::WorkerExited { status, expected, .. } => {
            words.put(if expected { "left as asked: " } else { "exited: " }).safe(status, FIELD_BYTES_MAX);
        }
        Event::WorkerBackoff { delay_ms, .. } => {
            words.put("is started again in ").number(delay_ms).put(" ms");
        }
        Event::WorkerStartFailed { code, stderr_tail, .. } => {
            let entry = code.entry();
            words.put("did not start. ").put(entry.code).put(": ").put(entry.operator);
            let tail = end(stderr_tail).trim_end_matches('\n');
            if !tail.is_empty() {
                words.put("\nThe end of its stderr:\n");
                harmless(words.0, tail, true);
            }
        }
        Event::AppLine { worker, stream, line } => {
            let mark = if stream == Stream::Stderr { " ! " } else { " | " };
            words.put("w").number(worker).put(mark).safe(line, APP_BYTES_MAX);
        }
        Event::Listening { url } => {
            words.put("listening on ").safe(url, FIELD_BYTES_MAX);
        }
        Event::Draining { reason } => {
            words.put("leaving (").safe(reason, FIELD_BYTES_MAX).put("): finishing what was accepted");
        }
        Event::Stopped => {
            words.put("stopped");
        }
        Event::Scaled { from, to } => {
            words.put("workers wanted: ").number(u64::from(to)).put(", were ").number(u64::from(from));
        }
        Event::OverlapSeen { count, .. } => {
            words.put("held more requests at once than it may, times: ").number(count);
        }
        Event::Note { text, .. } => {
            words.safe(text, APP_BYTES_MAX);
        }
    }
}

fn text_access(words: &mut Words<'_>, record: &AccessRecord<'_>) {
    if record.status == 0 {
        words.put("---");
    } else {
        words.number(u64::from(record.status));
    }
    let method = if record.method.is_empty() { "-" } else { record.method };
    let target = if record.target.is_empty() { "-" } else { record.target };
    words
        .put(" ")
        .safe(method, FIELD_BYTES_MAX)
        .put(" ")
        .safe(record.host, FIELD_BYTES_MAX)
        .safe(target, TARGET_BYTES_MAX);
    if let Some(worker) = record.worker {
        words.put("  w").number(worker);
    }
    for (name, value_ms) in
        [("  queue ", record.queue_ms), ("  service ", record.service_ms), ("  cpu ", record.cpu_ms)]
    {
        if let Some(value_ms) = value_ms {
            words.put(name);
            milliseconds(words.0, value_ms);
            words.put(" ms");
        }
    }
    words.put("  ").number(record.bytes_out).put(" B  ").put(record.outcome.as_str());
    if let Some(code) = record.error {
        words.put("  ").put(code.entry().code);
    }
}

struct Words<'a>(&'a mut Vec<u8>);

impl Words<'_> {
    /// Text of our own.
    fn put(&mut self, text: &str) -> &mut Self {
        self.0.extend_from_slice(text.as_bytes());
        self
    }

    fn number(&mut self, value: u64) -> &mut Self {
        number(self.0, value);
        self
    }

    /// Text of somebody else.
    fn safe(&mut self, text: &str, bytes_max: usize) -> &mut Self {
        let kept = bounded(text, bytes_max);
        harmless(self.0, kept, false);
        if kept.len() < text.len() {
            self.put("…");
        }
        self
    }
}

/// The last bytes rather than the first: the reason of a failure stands at the end.
fn end(text: &str) -> &str {
    let mut from = text.len().saturating_sub(APP_BYTES_MAX);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    &text[from..]
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
