//! Lines for people.

use sluice_catalog::logfields::LineKind;
use sluice_catalog::snapshot::Lane;

use super::{APP_BYTES_MAX, FIELD_BYTES_MAX, TARGET_BYTES_MAX, end, head};
use crate::encode::{Timestamp, bounded, harmless, milliseconds, number};
use crate::event::{AccessRecord, Event, HeldRequest, Level, RunTime, Stream};

/// One line for people, without its line feed; the end of an app's stderr may make it several. The time of day is UTC.
pub(crate) fn text(out: &mut Vec<u8>, stamp: &mut Timestamp, unix_ms: u64, event: &Event<'_>) {
    out.extend_from_slice(&stamp.format(unix_ms)[11..]);
    out.push(b' ');
    let mut words = Words(out);
    let head = head(event);
    if head.kind == LineKind::Gateway {
        words.put(match head.level {
            Level::Debug | Level::Info => "sluice: ",
            Level::Warn => "sluice: warning: ",
            Level::Error => "sluice: error: ",
        });
        if let Some(worker) = head.worker {
            words.put("worker ").number(worker).put(" ");
        }
    }
    say(&mut words, event);
}

/// The event in words, without its time, severity and worker.
pub(crate) fn sentence(event: &Event<'_>) -> String {
    let mut out = Vec::new();
    say(&mut Words(&mut out), event);
    String::from_utf8_lossy(&out).into_owned()
}

pub(super) fn say(words: &mut Words<'_>, event: &Event<'_>) {
    match *event {
        Event::Access(ref record) => text_access(words, record),
        Event::WorkerStarted { pid, generation, lane, .. } => {
            words.put("started, pid ").number(u64::from(pid)).put(", generation ").number(generation);
            if lane == Lane::Long {
                words.put(", for long requests");
            }
        }
        Event::WorkerReady { after_ms, .. } => {
            words.put("ready after ").number(after_ms).put(" ms");
        }
        Event::WorkerExited { .. } => text_exit(words, event),
        Event::WorkerStuck { silent_ms, cpu_ms, place, request, profile, .. } => {
            words.put("is stuck, silent for ").number(silent_ms).put(" ms");
            if let Some(cpu_ms) = cpu_ms {
                words.put(", CPU time ").number(cpu_ms).put(" ms");
            }
            words.put(": ");
            match place {
                Ok(place) => words.safe(place.stack, APP_BYTES_MAX),
                Err(why) => words.put("its position in the code is unknown: ").safe(why, FIELD_BYTES_MAX),
            };
            text_held(words, request);
            if let Some(profile) = profile {
                words.put("; profile ").safe(profile, APP_BYTES_MAX);
            }
            words.put("; the gateway kills it");
        }
        Event::WorkerOverdue { silent_ms, request, .. } => {
            words.put("is overdue, silent for ").number(silent_ms).put(" ms");
            text_held(words, request);
        }
        Event::WorkerBlocked { silent_ms, waits_in, request, .. } => {
            words.put("is blocked, silent for ").number(silent_ms).put(" ms: ").safe(waits_in, FIELD_BYTES_MAX);
            text_held(words, request);
            words.put("; the gateway kills it");
        }
        Event::WorkerBackoff { delay_ms, .. } => {
            words.put("restarts in ").number(delay_ms).put(" ms");
        }
        Event::WorkerStartFailed { code, stderr_tail, .. } => {
            let entry = code.entry();
            words.put("did not start. ").put(entry.code).put(": ").put(entry.operator());
            let tail = end(stderr_tail).trim_end_matches('\n');
            if !tail.is_empty() {
                words.put("\nThe end of its stderr:\n");
                harmless(words.0, tail, true);
            }
        }
        Event::WorkerRecycled { .. }
        | Event::ReloadStarted { .. }
        | Event::ReloadFinished { .. }
        | Event::ReloadAbandoned { .. }
        | Event::ReloadRefused { .. }
        | Event::ReloadCompared { .. } => text_reload(words, event),
        Event::AppLine { worker, stream, said } => {
            let mark = if stream == Stream::Stderr { " ! " } else { " | " };
            words.put("w").number(worker).put(mark);
            harmless(words.0, bounded(said.text, APP_BYTES_MAX), true);
            if said.text.len() > APP_BYTES_MAX {
                words.put("…");
            }
        }
        Event::Listening { url } => {
            words.put("listening on ").safe(url, FIELD_BYTES_MAX);
        }
        Event::Draining { reason } => {
            words.put("stopping (").safe(reason, FIELD_BYTES_MAX).put("): finishing accepted requests");
        }
        Event::Stopped => {
            words.put("stopped");
        }
        Event::TaskLost { task, place } => text_lost(words, task, place),
        Event::Scaled { from, to } => {
            words.put("workers wanted: ").number(u64::from(to)).put(", were ").number(u64::from(from));
        }
        Event::DialChanged { shares } => {
            words.put("shares of visitors who get server rendering: ").safe(shares, APP_BYTES_MAX);
        }
        Event::OverlapSeen { count, .. } => {
            words.put("had more requests at once than allowed, ").number(count).put(" times");
        }
        Event::LongRun { .. } => text_long_run(words, event),
        Event::AlarmRaised { .. } | Event::AlarmCleared { .. } => text_alarm(words, event),
        Event::Quarantined { text, .. } | Event::Note { text, .. } => {
            words.safe(text, APP_BYTES_MAX);
        }
    }
}

fn text_lost(words: &mut Words<'_>, task: &str, place: &str) {
    words.put("a fault in the gateway stopped its task `").put(task).put("`, at ").safe(place, FIELD_BYTES_MAX);
    words.put(": the gateway exits");
}

fn text_exit(words: &mut Words<'_>, event: &Event<'_>) {
    let Event::WorkerExited { status, expected, exception, held, request, class, place, evidence, .. } = *event else {
        return;
    };
    words.put(if expected { "exited as requested: " } else { "exited: " }).safe(status, FIELD_BYTES_MAX);
    if let Some(exception) = exception {
        words.put(": ").safe(exception, FIELD_BYTES_MAX);
    }
    if let Some(place) = place {
        words.put(", in ").safe(place, FIELD_BYTES_MAX);
    }
    text_held(words, request);
    if let Some(class) = class {
        words.put(" (class ").safe(class, FIELD_BYTES_MAX).put(")");
    }
    if request.is_none() && !expected && held > 1 {
        words.put("; with one of ").number(held).put(" requests");
    }
    if let Some(evidence) = evidence {
        words.put("; ").safe(evidence, APP_BYTES_MAX);
    }
}

fn text_long_run(words: &mut Words<'_>, event: &Event<'_>) {
    let Event::LongRun { ms, collected_ms, cpu_ms, spent, place, request, .. } = *event else { return };
    words.put("ran for ").maybe_milliseconds(Some(ms)).put(" without a break");
    if collected_ms.is_some() {
        words.put(", of which the garbage collector took ").maybe_milliseconds(collected_ms);
    }
    if let Some(place) = place {
        words.put(", in ").safe(place, FIELD_BYTES_MAX);
    }
    if cpu_ms.is_some() {
        words.put("; CPU time ").maybe_milliseconds(cpu_ms);
    }
    match spent {
        Some(RunTime::Starved) => words.put(" (starved: other processes had the CPU)"),
        Some(RunTime::Waiting) => words.put(" (it waited in a synchronous call)"),
        Some(RunTime::Computing) | None => words,
    };
    text_held(words, request);
}

fn text_alarm(words: &mut Words<'_>, event: &Event<'_>) {
    let (Event::AlarmRaised { alarm, class, .. } | Event::AlarmCleared { alarm, class, .. }) = *event else { return };
    words.put("alarm ").put(alarm.as_str());
    if let Some(class) = class {
        words.put(" of ").safe(class, FIELD_BYTES_MAX);
    }
    match *event {
        Event::AlarmRaised { text, .. } => words.put(": ").safe(text, APP_BYTES_MAX),
        Event::AlarmCleared { after_ms, .. } => words.put(" cleared after ").number(after_ms / 1000).put(" s"),
        _ => words,
    };
}

fn text_reload(words: &mut Words<'_>, event: &Event<'_>) {
    match *event {
        Event::WorkerRecycled { reason, .. } => {
            words.put("gets a successor: ").put(reason.as_str());
        }
        Event::ReloadStarted { generation, by } => {
            words.put("reload to generation ").number(generation).put(" (").safe(by, FIELD_BYTES_MAX).put(")");
        }
        Event::ReloadFinished { generation, after_ms } => {
            words.put("generation ").number(generation).put(" has taken over after ").number(after_ms).put(" ms");
        }
        Event::ReloadAbandoned { generation, reason, stderr_tail, .. } => {
            words.put("generation ").number(generation).put(" is abandoned: ").safe(reason, APP_BYTES_MAX);
            let tail = end(stderr_tail).trim_end_matches('\n');
            if !tail.is_empty() {
                words.put("\nThe end of its stderr:\n");
                harmless(words.0, tail, true);
            }
        }
        Event::ReloadRefused { reason } => {
            words.put("no reload: ").safe(reason, APP_BYTES_MAX);
        }
        Event::ReloadCompared { generation, state, reason, requests, requests_present } => {
            words.put("trial of generation ").number(generation).put(" ").safe(state, FIELD_BYTES_MAX).put(": ");
            words.safe(reason, APP_BYTES_MAX).put(" (").number(requests).put(" requests, ").number(requests_present);
            words.put(" of the current version)");
        }
        _ => {}
    }
}

fn text_held(words: &mut Words<'_>, request: Option<HeldRequest<'_>>) {
    if let Some(HeldRequest { request_id, method, target }) = request {
        words.put("; request ").safe(request_id, FIELD_BYTES_MAX).put(": ").safe(method, FIELD_BYTES_MAX);
        words.put(" ").safe(target, TARGET_BYTES_MAX);
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
    if let Some(upstream) = record.upstream {
        words.put("  ").safe(upstream.name, FIELD_BYTES_MAX).put(" ").safe(upstream.target, FIELD_BYTES_MAX);
        if upstream.tries > 1 {
            words.put("  tries ").number(u64::from(upstream.tries));
        }
        words.put("  upstream ");
        milliseconds(words.0, upstream.ms);
        words.put(" ms");
    }
    if record.tries > 1 {
        words.put("  tries ").number(u64::from(record.tries));
    }
    for (name, value_ms) in [
        ("  queue ", record.queue_ms),
        ("  unserved ", record.unserved_ms),
        ("  service ", record.service_ms),
        ("  cpu ", record.cpu_ms),
        ("  handler ", record.handler_ms),
    ] {
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

pub(super) struct Words<'a>(pub(super) &'a mut Vec<u8>);

impl Words<'_> {
    /// Text of our own.
    pub(super) fn put(&mut self, text: &str) -> &mut Self {
        self.0.extend_from_slice(text.as_bytes());
        self
    }

    pub(super) fn number(&mut self, value: u64) -> &mut Self {
        number(self.0, value);
        self
    }

    pub(super) fn maybe_milliseconds(&mut self, value_ms: Option<f64>) -> &mut Self {
        let Some(value_ms) = value_ms else { return self.put("unknown") };
        milliseconds(self.0, value_ms);
        self.put(" ms")
    }

    /// Writes text from a client or an app, without control characters and cut to `bytes_max`.
    pub(super) fn safe(&mut self, text: &str, bytes_max: usize) -> &mut Self {
        let kept = bounded(text, bytes_max);
        harmless(self.0, kept, false);
        if kept.len() < text.len() {
            self.put("…");
        }
        self
    }
}
