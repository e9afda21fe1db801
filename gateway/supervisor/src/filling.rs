//! Workers whose memory grows while their event loop does not turn: one request may be about to fill the heap. V8 ends such
//! a process without a stack, so its stack is taken before, through Node's own inspector, while the process runs.
//!
//! A worker that survives closes its inspector again.

use std::rc::Rc;
use std::time::Duration;

use tokio::time::Instant;

use crate::forensics::{self, Besides, Patience, Why};
use crate::process::Process;
use crate::process::filling::Found;
use crate::{sample, stuck};

/// Silence from which a worker's memory is compared with its last report; signs of life are a quarter of a second apart.
pub(crate) const SILENCE: Duration = Duration::from_millis(300);
/// Time limits of a look. Near its limit V8 spends most of the time in collections, and answers between them;
/// the scheduler may have lowered its priority besides. Waiting costs the process nothing.
const PATIENCE: Patience = Patience {
    address: Duration::from_secs(5),
    step: Duration::from_secs(3),
    profile: Duration::ZERO,
    total: Duration::from_secs(8),
    mapping: Duration::from_secs(1),
};

/// Looks into a silent worker if it has grown much since its last report. Its inspector is not open.
pub(crate) fn judge(process: &Rc<Process>, now: Instant) {
    let pid = process.listener_pid.get().unwrap_or(process.pid);
    if sample::resident_bytes(pid).is_some_and(|resident| process.filling.is_due(resident, now)) {
        process.filling.begin(now);
        tokio::task::spawn_local(look(Rc::clone(process), pid));
    }
}

async fn look(process: Rc<Process>, pid: u32) {
    let heard = process.last_heard.get();
    let subject = process.subject(pid);
    let besides = if process.profiled.borrow().is_some() { Besides::HeapProfile } else { Besides::Nothing };
    let mut look = forensics::look(&subject, process.inspector.clone(), PATIENCE, besides).await;
    // Also if it came too late: it opens at the next turn of the event loop.
    process.say(r#"{"type":"close-inspector"}"#);
    let heap_profile = look.take_heap_profile();
    let examination = look.examine(&subject, PATIENCE).await;
    if matches!(examination.stack, Err(Why::NotInspectable)) {
        process.filling.is_open.set(false);
    }
    let place = examination.stack.as_deref().ok().and_then(stuck::named).map(ToString::to_string);
    let is_same_run = process.last_heard.get() == heard;
    process.filling.end(is_same_run.then_some(Found { place, heap_profile }));
}
