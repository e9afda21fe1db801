//! Workers that end unexpectedly, as an operator sees them.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt::Write as _;

use sluice_catalog::snapshot::CrashSnapshot;

use crate::context::unix_ms;

/// Maximum number of remembered crashes.
const CRASHES_MAX: usize = 5;

/// The latest crashes, and their total.
#[derive(Default)]
pub struct Crashes(RefCell<CrashHistory>);

#[derive(Default)]
struct CrashHistory {
    /// The latest first.
    latest: VecDeque<CrashSnapshot>,
    total: u64,
    /// Text about the latest crash, if it came after the last check for alarms.
    unjudged: Option<String>,
}

impl Crashes {
    /// Records that a worker ended unexpectedly at this moment.
    pub fn crashed(&self, crash: CrashSnapshot) {
        let known = &mut *self.0.borrow_mut();
        known.total += 1;
        known.unjudged = Some(text(&crash, known.total));
        known.latest.push_front(CrashSnapshot { at_unix_ms: unix_ms(), ..crash });
        known.latest.truncate(CRASHES_MAX);
    }

    /// The latest crashes, the latest first.
    pub fn latest(&self) -> Vec<CrashSnapshot> {
        self.0.borrow().latest.iter().cloned().collect()
    }

    pub(crate) fn take_unjudged(&self) -> Option<String> {
        self.0.borrow_mut().unjudged.take()
    }
}

fn text(crash: &CrashSnapshot, total: u64) -> String {
    let CrashSnapshot { worker, status, exception, held, request, method, path, class, place, .. } = crash;
    let mut text = format!("worker {worker} exited unexpectedly ({status})");
    // Writing to a String cannot fail.
    if let Some(exception) = exception {
        let _ = write!(text, ": {exception}");
    }
    if let Some(place) = place {
        let _ = write!(text, ", in {place}");
    }
    let word = |word: &Option<String>| word.clone().unwrap_or_default();
    let _ = match request {
        Some(request) => {
            write!(text, "; with request {request}, {} {} of class {}", word(method), word(path), word(class))
        }
        None if *held > 1 => write!(text, "; with one of the {held} requests that it held"),
        None => Ok(()),
    };
    let _ =
        write!(text, ". `sluice logs --kind app --worker {worker}` shows its output. Unexpected exits so far: {total}");
    text
}
