//! The latest events as marks, which the dashboard draws on its time axis.
//!
//! Requests and lines of the app are left out, because there are too many. This module must not know its readers.

use std::collections::VecDeque;
use std::fmt::Write as _;

use sluice_catalog::dashboard::{Mark, MarkKind, MarkLevel};

use crate::encode::bounded;
use crate::event::{Event, Level};
use crate::lines::{head, sentence};

/// Maximum number of marks of each kind: workers that come and go must not evict a crash.
const MARKS_MAX: usize = 100;
/// Maximum size of a mark's text, and of its detail, bytes.
const TEXT_BYTES_MAX: usize = 2048;

#[derive(Default)]
pub(crate) struct Marks {
    /// Number of the latest; 0 before the first.
    last: u64,
    marks: VecDeque<Mark>,
}

impl Marks {
    pub(crate) fn mark(&mut self, unix_ms: u64, event: &Event<'_>) {
        let Some(kind) = kind(event) else { return };
        let head = head(event);
        let (text, detail) = words(event);
        self.last += 1;
        let alike = || self.marks.iter().enumerate().filter(|(_, mark)| mark.kind == kind).map(|(at, _)| at);
        if alike().count() == MARKS_MAX
            && let Some(oldest) = alike().next()
        {
            self.marks.remove(oldest);
        }
        self.marks.push_back(Mark {
            id: self.last,
            at_ms: unix_ms,
            kind,
            event: head.name.to_owned(),
            level: match head.level {
                Level::Debug | Level::Info => MarkLevel::Info,
                Level::Warn => MarkLevel::Warn,
                Level::Error => MarkLevel::Error,
            },
            worker: head.worker,
            text: bounded(&text, TEXT_BYTES_MAX).to_owned(),
            detail: detail.map(|detail| bounded(&detail, TEXT_BYTES_MAX).to_owned()),
        });
    }

    pub(crate) fn since(&self, id: u64) -> Vec<Mark> {
        self.marks.iter().skip_while(|mark| mark.id <= id).cloned().collect()
    }
}

fn kind(event: &Event<'_>) -> Option<MarkKind> {
    Some(match event {
        Event::Access(_) | Event::AppLine { .. } => return None,
        Event::ReloadStarted { .. }
        | Event::ReloadFinished { .. }
        | Event::ReloadAbandoned { .. }
        | Event::ReloadRefused { .. }
        | Event::ReloadCompared { .. }
        | Event::DialChanged { .. } => MarkKind::Deploy,
        Event::WorkerExited { expected: false, .. }
        | Event::WorkerStartFailed { .. }
        | Event::WorkerBackoff { .. }
        | Event::TaskLost { .. } => MarkKind::Crash,
        Event::WorkerOverdue { .. } | Event::WorkerStuck { .. } | Event::WorkerBlocked { .. } => MarkKind::Stuck,
        Event::Quarantined { .. } => MarkKind::Quarantine,
        Event::AlarmRaised { .. } | Event::AlarmCleared { .. } | Event::OverlapSeen { .. } => MarkKind::Alarm,
        Event::WorkerStarted { .. }
        | Event::WorkerReady { .. }
        | Event::WorkerExited { .. }
        | Event::WorkerRecycled { .. }
        | Event::Scaled { .. } => MarkKind::Worker,
        _ => MarkKind::Note,
    })
}

/// The event in a sentence, and details with several lines, if any.
fn words(event: &Event<'_>) -> (String, Option<String>) {
    match *event {
        Event::WorkerStuck { silent_ms, place: Ok(place), request, profile, .. } => {
            let function = if place.function.is_empty() { "(anonymous)" } else { place.function };
            let mut text =
                format!("is stuck in {function} at {}:{}, silent for {silent_ms} ms", place.file, place.line);
            if let Some(held) = request {
                let _ = write!(text, "; request {}: {} {}", held.request_id, held.method, held.target);
            }
            let mut detail = place.stack.replace(" < ", "\n");
            if let Some(profile) = profile {
                let _ = write!(detail, "\nprofile {profile}");
            }
            (text, Some(detail))
        }
        _ => match sentence(event).split_once('\n') {
            Some((first, rest)) => (first.to_owned(), Some(rest.to_owned())),
            None => (sentence(event), None),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{ExitReason, HeldRequest, StuckPlace};

    #[test]
    fn marks_are_bounded_and_can_be_asked_for_from_any_on() {
        let mut marks = Marks::default();
        for from in 0..1000 {
            marks.mark(u64::from(from), &Event::Scaled { from, to: from + 1 });
        }
        assert_eq!(marks.since(0).len(), MARKS_MAX);
        let latest: Vec<u64> = marks.since(998).iter().map(|mark| mark.id).collect();
        assert_eq!(latest, [999, 1000]);
        assert_eq!(marks.since(1000), []);
        let long = "ö".repeat(5000);
        marks.mark(0, &Event::Note { level: Level::Warn, text: &long });
        assert!(marks.since(1000)[0].text.len() <= TEXT_BYTES_MAX);
    }

    #[test]
    fn workers_that_come_and_go_do_not_evict_a_crash() {
        let mut marks = Marks::default();
        marks.mark(0, &Event::WorkerBackoff { worker: 1, delay_ms: 5 });
        for _ in 0..1000 {
            marks.mark(1, &Event::WorkerReady { worker: 2, after_ms: 5 });
        }
        let kept = marks.since(0);
        assert_eq!((kept.len(), kept[0].kind), (MARKS_MAX + 1, MarkKind::Crash));
    }

    #[test]
    fn stuck_worker_is_told_with_its_place_and_its_stack_line_by_line() {
        let mut marks = Marks::default();
        let place = StuckPlace {
            function: "spin",
            file: "app.js",
            line: 7,
            column: 3,
            stack: "spin (app.js:7:3) < serve (app.js:1:1)",
        };
        let stuck = Event::WorkerStuck {
            worker: 3,
            silent_ms: 9,
            cpu_ms: None,
            place: Ok(place),
            hottest: None,
            request: None,
            profile: None,
        };
        marks.mark(1, &stuck);
        let mark = marks.since(0).remove(0);
        assert_eq!((mark.kind, mark.level, mark.worker), (MarkKind::Stuck, MarkLevel::Error, Some(3)));
        assert_eq!(mark.text, "is stuck in spin at app.js:7, silent for 9 ms");
        assert_eq!(mark.detail.as_deref(), Some("spin (app.js:7:3)\nserve (app.js:1:1)"));
    }

    #[test]
    fn worker_that_was_asked_to_leave_has_not_crashed() {
        let mut marks = Marks::default();
        for expected in [true, false] {
            marks.mark(
                0,
                &Event::WorkerExited {
                    worker: 1,
                    status: "exit code 1",
                    reason: ExitReason::Exited,
                    expected,
                    exception: Some("TypeError: boom"),
                    held: 1,
                    request: Some(HeldRequest { request_id: "r1", method: "GET", target: "/a" }),
                    class: Some("GET /a"),
                    place: None,
                    evidence: None,
                },
            );
        }
        let text = "exited: exit code 1: TypeError: boom; request r1: GET /a (class GET /a)";
        assert_eq!(marks.since(1)[0].text, text);
        let kinds: Vec<MarkKind> = marks.since(0).iter().map(|mark| mark.kind).collect();
        assert_eq!(kinds, [MarkKind::Worker, MarkKind::Crash]);
    }
}
