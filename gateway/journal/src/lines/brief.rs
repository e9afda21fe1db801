//! Lines for a developer of an app: the app's output unchanged, requests in a few words, and only those lines of the gateway
//! that concern the app. `sluice logs` has the rest.

use sluice_catalog::errors::Code;
use sluice_catalog::logfields::LineKind;

use super::text::{Words, say};
use super::{FIELD_BYTES_MAX, TARGET_BYTES_MAX, head};
use crate::event::{AccessRecord, Event, Level};

/// One line without its line feed; empty where the event needs none.
pub(crate) fn brief(out: &mut Vec<u8>, event: &Event<'_>) {
    match event {
        // Colours and all: its own terminal would show the same.
        Event::AppLine { said, .. } => out.extend_from_slice(said.text.as_bytes()),
        // The page about the app's end asks once a second whether it is back, and what the app wrote last is to stay in sight.
        Event::Access(record) if record.error == Some(Code::AppDown) && record.method == "HEAD" => {}
        Event::Access(record) => access(&mut Words(out), record),
        // Of its end a note tells, and what it wrote has been shown.
        Event::WorkerStarted { .. } | Event::WorkerExited { .. } | Event::Draining { .. } | Event::Stopped => {}
        Event::WorkerStartFailed { code, .. } if *code != Code::AppNotStarted => {}
        Event::WorkerReady { after_ms, .. } => {
            Words(out).put("sluice: the app is ready after ").number(*after_ms).put(" ms");
        }
        _ => {
            let mut words = Words(out);
            let head = head(event);
            debug_assert!(head.kind == LineKind::Gateway);
            words.put(match head.level {
                Level::Debug | Level::Info => "sluice: ",
                Level::Warn => "sluice: warning: ",
                Level::Error => "sluice: error: ",
            });
            say(&mut words, event);
        }
    }
}

fn access(words: &mut Words<'_>, record: &AccessRecord<'_>) {
    if record.status == 0 {
        words.put("---");
    } else {
        words.number(u64::from(record.status));
    }
    words.put(" ").safe(record.method, FIELD_BYTES_MAX).put(" ").safe(record.target, TARGET_BYTES_MAX);
    if let Some(ms) = record.service_ms {
        words.put("  ").maybe_milliseconds(Some(ms));
    }
    if let Some(code) = record.error {
        words.put("  ").put(code.entry().code);
    }
}
