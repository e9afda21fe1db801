//! Looks into workers whose event loop does not turn, and which may serve on: through Node's own inspector, which they close
//! at the next turn.

use std::rc::Rc;
use std::time::Duration;

use tokio::task::spawn_local;
use tokio::time::{Instant, sleep};

use crate::forensics::{self, Besides, Inspector, Look, Patience, Subject, Why};
use crate::process::Process;

/// Time limits of a profile, beside its own duration. The process may have a lowered priority on a busy machine.
const PATIENCE: Patience = Patience {
    address: Duration::from_secs(15),
    step: Duration::from_secs(8),
    profile: Duration::ZERO,
    total: Duration::from_secs(25),
    mapping: Duration::ZERO,
};
const TURN_EVERY: Duration = Duration::from_millis(50);

/// Looks into the process `pid` of a worker. `None` if its event loop turned before the inspector was open.
pub(crate) async fn inspect(
    process: &Process,
    pid: u32,
    patience: Patience,
    besides: Besides,
) -> Option<(Look, Subject)> {
    let subject = process.subject(pid);
    let look = tokio::select! {
        look = forensics::look(&subject, process.inspector.clone(), patience, besides) => Some(look),
        () = turns_unopened(process) => None,
    };
    // Also if it came too late: the inspector opens at the next turn of the event loop.
    process.say(r#"{"type":"close-inspector"}"#);
    let look = look?;
    if matches!(look.stack(&subject), Err(Why::NotInspectable)) {
        process.filling.is_open.set(false);
    }
    Some((look, subject))
}

/// Waits until the worker speaks while its inspector is not open. A look would stop a worker that serves.
async fn turns_unopened(process: &Process) {
    let spoke = process.spoke.get();
    while process.spoke.get() == spoke || matches!(*process.inspector.borrow(), Inspector::Listening(_)) {
        sleep(TURN_EVERY).await;
    }
}

/// CPU profile of a worker over `duration`, as the JSON of a `.cpuprofile` file with places in the code that ran. It
/// ends at its time if the command is cancelled.
///
/// # Errors
///
/// If the inspector cannot be opened, is not the gateway's to open, or would be open to others.
pub(crate) async fn profile(process: &Rc<Process>, pid: u32, duration: Duration) -> Result<Vec<u8>, Why> {
    if !process.app.hides_inspector() || process.filling.memory.get().is_closed || process.is_inspected() {
        return Err(Why::NotOurs);
    }
    process.filling.opens(Instant::now());
    let process = Rc::clone(process);
    let looked = spawn_local(async move {
        let patience = Patience { profile: duration, total: duration * 2 + PATIENCE.total, ..PATIENCE };
        let (look, subject) = inspect(&process, pid, patience, Besides::CpuProfile).await.ok_or(Why::Turned)?;
        look.examine(&subject, patience).await.profile.map(|profile| profile.json)
    });
    looked.await.unwrap_or(Err(Why::Gone))
}
