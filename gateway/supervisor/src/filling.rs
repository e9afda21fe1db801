//! Workers whose memory grows while their event loop does not turn: one request may be about to fill the heap. V8 ends such
//! a process without a stack, so its stack is taken before, through Node's own inspector, while the process runs.
//!
//! A worker that survives closes its inspector again.

use std::rc::Rc;
use std::time::Duration;

use tokio::time::Instant;

use crate::blocked::inspect;
use crate::forensics::{Besides, Frame, Patience};
use crate::process::Process;
use crate::process::filling::Found;
use crate::{sample, stuck};

/// Silence from which a worker's memory is compared with its last report; signs of life are a quarter of a second apart.
pub(crate) const SILENCE: Duration = Duration::from_millis(300);
/// Time limits of a look. Near its limit V8 spends most of the time in collections, and answers between them;
/// the scheduler may have lowered its priority besides. Waiting costs the process nothing, and its exit ends the look.
const PATIENCE: Patience = Patience {
    address: Duration::from_secs(20),
    step: Duration::from_secs(15),
    profile: Duration::ZERO,
    total: Duration::from_secs(40),
    mapping: Duration::from_secs(1),
};

/// Looks into a silent worker if it has grown much since its last report. Its inspector is not open. One that most likely
/// survives is looked into only where nobody else learns how to use the inspector.
pub(crate) fn judge(process: &Rc<Process>, now: Instant) {
    let pid = process.serving_pid();
    if sample::resident_bytes(pid).is_some_and(|resident| process.filling.is_due(resident, now))
        && process.app.hides_inspector()
    {
        process.filling.begin(now);
        tokio::task::spawn_local(look(Rc::clone(process), pid));
    }
}

async fn look(process: Rc<Process>, pid: u32) {
    let heard = process.last_heard.get();
    let besides = if process.profiled.borrow().is_some() { Besides::HeapProfile } else { Besides::Nothing };
    let Some((mut look, subject)) = inspect(&process, pid, PATIENCE, besides).await else {
        return process.filling.end(None);
    };
    let heap_profile = look.take_heap_profile();
    let place = look.stack(&subject).ok().and_then(|frames| place_in(&frames));
    let is_same_run = process.last_heard.get() == heard;
    process.filling.end(is_same_run.then_some(Found { place, heap_profile, look: Some((look, subject)) }));
}

/// Waits for the look that is under way when the process has exited, and maps its place to the source. Most workers serve
/// on, and while one fills its heap memory is short, so no reader of source maps starts before.
pub(crate) async fn conclude(process: &Process) {
    process.filling.has_ended().await;
    if let Some((look, subject)) = process.filling.take_look() {
        let stack = look.examine(&subject, PATIENCE).await.stack;
        if let Some(place) = stack.ok().and_then(|frames| place_in(&frames)) {
            process.filling.mapped(place);
        }
    }
}

fn place_in(frames: &[Frame]) -> Option<String> {
    stuck::named(frames).map(ToString::to_string)
}
