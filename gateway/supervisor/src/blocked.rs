//! Looks into workers whose event loop does not turn, and which may serve on: through Node's own inspector, which they close
//! at the next turn.

use std::rc::Rc;
use std::time::Duration;

use tokio::task::spawn_local;
use tokio::time::Instant;

use crate::forensics::{self, Besides, Look, Patience, Subject, Why};
use crate::process::Process;

/// Time limits of a profile, beside its own duration. Nobody waits for the process, which may starve on a busy machine.
const PATIENCE: Patience = Patience {
    address: Duration::from_secs(5),
    step: Duration::from_secs(3),
    profile: Duration::ZERO,
    total: Duration::from_secs(10),
    mapping: Duration::ZERO,
};

/// Looks into the process `pid` of a worker.
pub(crate) async fn inspect(process: &Process, pid: u32, patience: Patience, besides: Besides) -> (Look, Subject) {
    let subject = process.subject(pid);
    let look = forensics::look(&subject, process.inspector.clone(), patience, besides).await;
    // Also if it came too late: the inspector opens at the next turn of the event loop.
    process.say(r#"{"type":"close-inspector"}"#);
    if matches!(look.stack(&subject), Err(Why::NotInspectable)) {
        process.filling.is_open.set(false);
    }
    (look, subject)
}

/// CPU profile of a worker over `duration`, as the JSON of a `.cpuprofile` file with places in the code that ran.
///
/// # Errors
///
/// If the inspector cannot be opened, or if others could learn how to use it.
pub(crate) async fn profile(process: &Rc<Process>, pid: u32, duration: Duration) -> Result<Vec<u8>, Why> {
    if !process.app.hides_inspector() {
        return Err(Why::NotInspectable);
    }
    process.filling.begin(Instant::now());
    let process = Rc::clone(process);
    // The command may be cancelled, and the look has to end what it has begun.
    let looked = spawn_local(async move {
        let patience = Patience { profile: duration, total: duration * 2 + PATIENCE.total, ..PATIENCE };
        let (look, subject) = inspect(&process, pid, patience, Besides::CpuProfile).await;
        process.filling.end(None);
        look.examine(&subject, patience).await.profile.map(|profile| profile.json)
    });
    looked.await.unwrap_or(Err(Why::Gone))
}
