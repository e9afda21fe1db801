//! Names of fields in the words of OpenTelemetry's semantic conventions and of the Elastic Common Schema (`log.fields`).
//!
//! A field without a counterpart there is called `sluice.` and its own name. It must not know how lines are written.

use crate::config::LogFields;

/// A field of one event, or of every event where that is empty, with its names elsewhere; an empty one is the fallback.
#[derive(Debug)]
pub struct Names {
    /// The event that the row is for; empty for all others.
    pub event: &'static str,
    /// Name in the reference.
    pub field: &'static str,
    /// Name in OpenTelemetry.
    pub otel: &'static str,
    /// Name in the Elastic Common Schema.
    pub ecs: &'static str,
}

const fn names(event: &'static str, field: &'static str, otel: &'static str, ecs: &'static str) -> Names {
    Names { event, field, otel, ecs }
}

/// Every field that has a counterpart. Rows for one event stand before those for all.
pub static NAMES: &[Names] = &[
    names("access", "host", "server.address", "url.domain"),
    names("access", "status", "http.response.status_code", "http.response.status_code"),
    names("access", "error", "error.type", "error.code"),
    names("access", "bytes_in", "http.request.body.size", "http.request.body.bytes"),
    names("access", "bytes_out", "http.response.body.size", "http.response.body.bytes"),
    names("access", "peer", "client.address", "client.ip"),
    names("access", "trace_id", "trace_id", "trace.id"),
    names("app", "line", "body", "message"),
    names("app", "stream", "log.iostream", ""),
    names("worker_stuck", "function", "code.function.name", "log.origin.function"),
    names("worker_stuck", "file", "code.file.path", "log.origin.file.name"),
    names("worker_stuck", "line", "code.line.number", "log.origin.file.line"),
    names("worker_stuck", "column", "code.column.number", ""),
    names("worker_stuck", "stack", "code.stacktrace", "error.stack_trace"),
    names("worker_start_failed", "code", "error.type", "error.code"),
    names("worker_start_failed", "text", "", "error.message"),
    names("worker_start_failed", "stderr", "exception.stacktrace", "error.stack_trace"),
    names("reload_abandoned", "stderr", "exception.stacktrace", "error.stack_trace"),
    names("", "time", "timestamp", "@timestamp"),
    names("", "level", "severity_text", "log.level"),
    names("", "event", "event.name", "event.action"),
    names("", "request_id", "", "http.request.id"),
    names("", "method", "http.request.method", "http.request.method"),
    names("", "target", "url.original", "url.original"),
    names("", "pid", "process.pid", "process.pid"),
];

/// The name of a field in the lines of this event.
#[must_use]
pub fn name(fields: LogFields, event: &str, field: &str) -> String {
    let row = NAMES.iter().find(|row| row.field == field && (row.event == event || row.event.is_empty()));
    let other = match fields {
        LogFields::Sluice => return field.to_owned(),
        LogFields::Otel => row.map_or("", |row| row.otel),
        LogFields::Ecs => row.map_or("", |row| row.ecs),
    };
    if other.is_empty() { format!("sluice.{field}") } else { other.to_owned() }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::logfields::{COMMON, LINES};

    #[test]
    fn every_row_is_for_a_field_that_a_line_has() {
        for row in NAMES {
            let is_of = |line: &&crate::logfields::Line| {
                (row.event.is_empty() || line.event == row.event)
                    && COMMON.iter().chain(line.fields).any(|field| field.name == row.field)
            };
            assert!(LINES.iter().any(|line| is_of(&line)), "{row:?}");
        }
    }

    #[test]
    fn no_line_has_a_name_twice_whatever_the_names() {
        for fields in [LogFields::Sluice, LogFields::Otel, LogFields::Ecs] {
            for line in LINES {
                let all: Vec<_> =
                    COMMON.iter().chain(line.fields).map(|field| name(fields, line.event, field.name)).collect();
                assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "{all:?}");
            }
        }
    }
}
