//! Lines of events: JSON for machines, text for people.
//!
//! The only module that knows the fields of a line. It must not know where lines go.

mod access;
mod brief;
mod fields;
mod text;

use sluice_catalog::config::LogFields;
use sluice_catalog::logfields::LineKind;

pub(crate) use brief::brief;
pub(crate) use fields::Names;
pub(crate) use text::{sentence, text};

use access::json_access;
use fields::Fields;

use crate::app_text::AppText;
use crate::encode::Timestamp;
use crate::event::{Event, HeldRequest, Level, RunTime, Stream, StuckPlace};

/// The version of the Elastic Common Schema whose names are used.
const ECS_VERSION: &str = "8.11.0";

/// Maximum size of a target in the log, bytes.
const TARGET_BYTES_MAX: usize = 2048;
/// Maximum size of any other text from a client, bytes.
const FIELD_BYTES_MAX: usize = 512;
/// Maximum size of a line of the app, or of the end of its stderr, bytes.
const APP_BYTES_MAX: usize = 16 * 1024;

/// Fields that every event has.
pub(crate) struct Head {
    pub(crate) name: &'static str,
    pub(crate) level: Level,
    pub(crate) kind: LineKind,
    pub(crate) worker: Option<u64>,
}

pub(crate) fn head(event: &Event<'_>) -> Head {
    let (name, level, worker) = match *event {
        Event::Access(ref record) => {
            return Head { name: "access", level: Level::Info, kind: LineKind::Access, worker: record.worker };
        }
        Event::AppLine { worker, said, .. } => {
            return Head { name: "app", level: said.level, kind: LineKind::App, worker: Some(worker) };
        }
        Event::WorkerStarted { worker, .. } => ("worker_started", Level::Info, Some(worker)),
        Event::WorkerReady { worker, .. } => ("worker_ready", Level::Info, Some(worker)),
        Event::WorkerExited { worker, expected, .. } => {
            ("worker_exited", if expected { Level::Info } else { Level::Error }, Some(worker))
        }
        Event::WorkerOverdue { worker, .. } => ("worker_overdue", Level::Warn, Some(worker)),
        Event::WorkerStuck { worker, .. } => ("worker_stuck", Level::Error, Some(worker)),
        Event::WorkerBlocked { worker, .. } => ("worker_blocked", Level::Error, Some(worker)),
        Event::WorkerBackoff { worker, .. } => ("worker_backoff", Level::Warn, Some(worker)),
        Event::WorkerStartFailed { worker, .. } => ("worker_start_failed", Level::Error, Some(worker)),
        Event::WorkerRecycled { worker, .. } => ("worker_recycled", Level::Info, Some(worker)),
        Event::ReloadStarted { .. } => ("reload_started", Level::Info, None),
        Event::ReloadFinished { .. } => ("reload_finished", Level::Info, None),
        Event::ReloadAbandoned { superseded, .. } => {
            ("reload_abandoned", if superseded { Level::Info } else { Level::Error }, None)
        }
        Event::ReloadRefused { .. } => ("reload_refused", Level::Error, None),
        Event::ReloadCompared { .. } => ("reload_compared", Level::Info, None),
        Event::Listening { .. } => ("listening", Level::Info, None),
        Event::Draining { .. } => ("draining", Level::Info, None),
        Event::Stopped => ("stopped", Level::Info, None),
        Event::TaskLost { .. } => ("task_lost", Level::Error, None),
        Event::Scaled { .. } => ("scaled", Level::Info, None),
        Event::DialChanged { .. } => ("dial_changed", Level::Info, None),
        Event::OverlapSeen { worker, .. } => ("overlap_seen", Level::Error, Some(worker)),
        Event::LongRun { worker, .. } => ("long_run", Level::Warn, Some(worker)),
        Event::AlarmRaised { .. } => ("alarm_raised", Level::Warn, None),
        Event::AlarmCleared { .. } => ("alarm_cleared", Level::Info, None),
        Event::Quarantined { .. } => ("request_quarantined", Level::Warn, None),
        Event::Note { level, .. } => ("note", level, None),
    };
    Head { name, level, kind: LineKind::Gateway, worker }
}

/// Writes one JSON object, without a line feed. Fields are those of [`sluice_catalog::logfields`], in their order.
pub(crate) fn json(out: &mut Vec<u8>, stamp: &mut Timestamp, unix_ms: u64, event: &Event<'_>, names: &Names) {
    let head = head(event);
    let mut fields = Fields::of(out, names, head.name);
    let begin = fields.out.len();
    fields.whole(b",\"time\":", std::str::from_utf8(stamp.format(unix_ms)).unwrap_or_default());
    fields.out[begin] = b'{';
    fields.whole(b",\"level\":", head.level.as_str());
    fields.whole(b",\"event\":", head.name);
    json_conventions(&mut fields, event, head.level, names.fields);
    if let Event::Access(record) = event {
        json_access(&mut fields, record, names.fields);
    } else {
        if let Some(worker) = head.worker {
            fields.number(b",\"worker\":", worker);
        }
        json_rest(&mut fields, event, names.fields);
    }
    fields.out.push(b'}');
}

/// Writes the fields that the conventions require of every line, other than renamed ones.
fn json_conventions(fields: &mut Fields<'_>, event: &Event<'_>, level: Level, names: LogFields) {
    let body: &[u8] = match names {
        LogFields::Sluice => return,
        LogFields::Otel => {
            fields.number(b",\"severity_number\":", level.severity_number());
            b",\"body\":"
        }
        LogFields::Ecs => {
            fields.whole(b",\"ecs.version\":", ECS_VERSION);
            b",\"message\":"
        }
    };
    // An app's line is the body itself.
    if !matches!(event, Event::AppLine { .. }) {
        fields.text(body, &sentence(event), APP_BYTES_MAX);
    }
}

fn json_rest(fields: &mut Fields<'_>, event: &Event<'_>, names: LogFields) {
    match *event {
        Event::Access(_) | Event::Stopped => {}
        Event::WorkerStarted { pid, generation, lane, .. } => {
            fields.number(b",\"pid\":", u64::from(pid));
            fields.number(b",\"generation\":", generation);
            fields.text(b",\"lane\":", lane.as_str(), FIELD_BYTES_MAX);
        }
        Event::WorkerReady { after_ms, .. } => fields.number(b",\"after_ms\":", after_ms),
        Event::WorkerExited { .. } => json_exit(fields, event),
        Event::WorkerStuck { silent_ms, cpu_ms, place, hottest, request, profile, .. } => {
            fields.number(b",\"silent_ms\":", silent_ms);
            fields.number_or_null(b",\"cpu_ms\":", cpu_ms);
            json_place(fields, place);
            fields.text_or_null(b",\"hottest\":", hottest, APP_BYTES_MAX);
            fields.text_or_null(b",\"why\":", place.err(), FIELD_BYTES_MAX);
            json_held(fields, request);
            fields.text_or_null(b",\"profile\":", profile, APP_BYTES_MAX);
        }
        Event::WorkerOverdue { silent_ms, request, .. } => {
            fields.number(b",\"silent_ms\":", silent_ms);
            json_held(fields, request);
        }
        Event::WorkerBlocked { silent_ms, waits_in, request, .. } => {
            fields.number(b",\"silent_ms\":", silent_ms);
            fields.text(b",\"waits_in\":", waits_in, FIELD_BYTES_MAX);
            json_held(fields, request);
        }
        Event::WorkerBackoff { delay_ms, .. } => fields.number(b",\"delay_ms\":", delay_ms),
        Event::WorkerStartFailed { code, stderr_tail, .. } => {
            let entry = code.entry();
            fields.text(b",\"code\":", entry.code, FIELD_BYTES_MAX);
            fields.text(b",\"text\":", entry.operator(), APP_BYTES_MAX);
            fields.text(b",\"stderr\":", end(stderr_tail), APP_BYTES_MAX);
        }
        Event::WorkerRecycled { reason, .. } => {
            fields.text(b",\"reason\":", reason.as_str(), FIELD_BYTES_MAX);
        }
        Event::ReloadStarted { generation, by } => {
            fields.number(b",\"generation\":", generation);
            fields.text(b",\"by\":", by, FIELD_BYTES_MAX);
        }
        Event::ReloadFinished { generation, after_ms } => {
            fields.number(b",\"generation\":", generation);
            fields.number(b",\"after_ms\":", after_ms);
        }
        Event::ReloadAbandoned { generation, reason, superseded, stderr_tail } => {
            fields.number(b",\"generation\":", generation);
            fields.text(b",\"reason\":", reason, APP_BYTES_MAX);
            fields.raw(b",\"superseded\":", if superseded { "true" } else { "false" });
            fields.text(b",\"stderr\":", end(stderr_tail), APP_BYTES_MAX);
        }
        Event::ReloadRefused { reason } => fields.text(b",\"reason\":", reason, APP_BYTES_MAX),
        Event::ReloadCompared { generation, state, reason, requests, requests_present } => {
            fields.number(b",\"generation\":", generation);
            fields.text(b",\"state\":", state, FIELD_BYTES_MAX);
            fields.text(b",\"reason\":", reason, APP_BYTES_MAX);
            json_requests(fields, requests, requests_present);
        }
        Event::AppLine { stream, said, .. } => json_app(fields, stream, said, names),
        Event::Listening { url } => fields.text(b",\"url\":", url, FIELD_BYTES_MAX),
        Event::Draining { reason } => fields.text(b",\"reason\":", reason, FIELD_BYTES_MAX),
        Event::TaskLost { task, place } => {
            fields.text(b",\"task\":", task, FIELD_BYTES_MAX);
            fields.text(b",\"place\":", place, FIELD_BYTES_MAX);
        }
        Event::Scaled { from, to } => {
            fields.number(b",\"from\":", u64::from(from));
            fields.number(b",\"to\":", u64::from(to));
        }
        Event::DialChanged { shares } => fields.text(b",\"shares\":", shares, APP_BYTES_MAX),
        Event::OverlapSeen { count, .. } => fields.number(b",\"count\":", count),
        Event::LongRun { .. } => json_long_run(fields, event),
        Event::AlarmRaised { alarm, class, text } => {
            fields.text(b",\"alarm\":", alarm.as_str(), FIELD_BYTES_MAX);
            fields.text_or_null(b",\"class\":", class, FIELD_BYTES_MAX);
            fields.text(b",\"text\":", text, APP_BYTES_MAX);
        }
        Event::AlarmCleared { alarm, class, after_ms } => {
            fields.text(b",\"alarm\":", alarm.as_str(), FIELD_BYTES_MAX);
            fields.text_or_null(b",\"class\":", class, FIELD_BYTES_MAX);
            fields.number(b",\"after_ms\":", after_ms);
        }
        Event::Quarantined { request_id, text } => {
            fields.text(b",\"request_id\":", request_id, FIELD_BYTES_MAX);
            fields.text(b",\"text\":", text, APP_BYTES_MAX);
        }
        Event::Note { text, .. } => fields.text(b",\"text\":", text, APP_BYTES_MAX),
    }
}

fn json_exit(fields: &mut Fields<'_>, event: &Event<'_>) {
    let Event::WorkerExited { status, reason, expected, exception, held, request, class, place, evidence, .. } = *event
    else {
        return;
    };
    fields.text(b",\"status\":", status, FIELD_BYTES_MAX);
    fields.text(b",\"reason\":", reason.as_str(), FIELD_BYTES_MAX);
    fields.raw(b",\"expected\":", if expected { "true" } else { "false" });
    fields.text_or_null(b",\"exception\":", exception, FIELD_BYTES_MAX);
    fields.number(b",\"held\":", held);
    fields.text_or_null(b",\"class\":", class, FIELD_BYTES_MAX);
    json_held(fields, request);
    fields.text_or_null(b",\"place\":", place, TARGET_BYTES_MAX);
    fields.text_or_null(b",\"evidence\":", evidence, APP_BYTES_MAX);
}

/// Numbers of requests of a version on trial and of the present one.
fn json_requests(fields: &mut Fields<'_>, of_trial: u64, of_present: u64) {
    fields.number(b",\"requests\":", of_trial);
    fields.number(b",\"requests_present\":", of_present);
}

fn json_app(fields: &mut Fields<'_>, stream: Stream, said: AppText<'_>, names: LogFields) {
    fields.text(b",\"stream\":", stream.as_str(), FIELD_BYTES_MAX);
    // Cut, it would be no JSON any more.
    if !said.is_json || said.text.len() > APP_BYTES_MAX {
        fields.text(b",\"line\":", said.text, APP_BYTES_MAX);
        return fields.null(b",\"json\":");
    }
    match said.message.filter(|_| names != LogFields::Sluice) {
        Some(message) => fields.raw(b",\"line\":", message),
        None => fields.null(b",\"line\":"),
    }
    fields.raw(b",\"json\":", said.text);
}

fn json_long_run(fields: &mut Fields<'_>, event: &Event<'_>) {
    let Event::LongRun { ms, collected_ms, cpu_ms, queued_ms, spent, place, request, class, .. } = *event else {
        return;
    };
    fields.milliseconds(b",\"run_ms\":", Some(ms));
    fields.milliseconds(b",\"collected_ms\":", collected_ms);
    fields.milliseconds(b",\"cpu_ms\":", cpu_ms);
    fields.milliseconds(b",\"queued_ms\":", queued_ms);
    fields.text_or_null(b",\"spent\":", spent.map(RunTime::as_str), FIELD_BYTES_MAX);
    fields.text_or_null(b",\"place\":", place, TARGET_BYTES_MAX);
    fields.text_or_null(b",\"class\":", class, FIELD_BYTES_MAX);
    json_held(fields, request);
}

fn json_place(fields: &mut Fields<'_>, place: Result<StuckPlace<'_>, &str>) {
    if let Ok(StuckPlace { function, file, line, column, stack }) = place {
        fields.text(b",\"function\":", function, FIELD_BYTES_MAX);
        fields.text(b",\"file\":", file, TARGET_BYTES_MAX);
        fields.number(b",\"line\":", u64::from(line));
        fields.number(b",\"column\":", u64::from(column));
        fields.text(b",\"stack\":", stack, APP_BYTES_MAX);
    } else {
        for key in [&b",\"function\":"[..], b",\"file\":", b",\"line\":", b",\"column\":", b",\"stack\":"] {
            fields.null(key);
        }
    }
}

fn json_held(fields: &mut Fields<'_>, request: Option<HeldRequest<'_>>) {
    fields.text_or_null(b",\"request_id\":", request.map(|held| held.request_id), FIELD_BYTES_MAX);
    fields.text_or_null(b",\"method\":", request.map(|held| held.method), FIELD_BYTES_MAX);
    fields.text_or_null(b",\"target\":", request.map(|held| held.target), TARGET_BYTES_MAX);
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
