//! The end of a reload, with the output of the worker that made it fail.

use std::rc::Rc;
use std::time::Duration;

use sluice_catalog::refusals::{GivenUp, WarmUpError};
use sluice_scheduler::{AbandonReason, WorkerId};
use tokio::time::Instant;

use crate::Supervisor;
use crate::process::Process;

/// Time between two checks whether a dead worker's output was read to its end.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Maximum wait for the last output of a failed worker.
const LAST_WORDS_MAX: Duration = Duration::from_secs(2);

/// A reload that is over.
pub struct ReloadEnd {
    /// Generation of the reload.
    pub generation: u64,
    /// Reason for which it was abandoned, if it was.
    pub abandoned: Option<ReloadFault>,
}

/// Reason for which a generation was abandoned.
pub struct ReloadFault {
    /// The scheduler's reason.
    pub reason: AbandonReason,
    /// Error if the worker's process could not be started.
    never_ran: Option<String>,
    process: Option<Rc<Process>>,
    warm_up: Option<WarmUpError>,
}

impl ReloadFault {
    pub(crate) fn new(supervisor: &Supervisor, reason: AbandonReason) -> Self {
        let worker = worker(reason);
        let process = worker.and_then(|worker| supervisor.processes.borrow().get(&worker).cloned());
        let failure = supervisor.last_failure.borrow();
        let never_ran = failure.as_ref().filter(|(failed, ..)| process.is_none() && Some(*failed) == worker);
        ReloadFault {
            reason,
            never_ran: never_ran.map(|(_, _, text)| text.clone()),
            process,
            warm_up: worker.and_then(|worker| supervisor.gate.workers().warm_up_failure(worker)),
        }
    }

    /// Returns the reason, and the end of the worker's stderr. Waits up to 2 s for the output of a dead
    /// worker.
    pub async fn tell(&self) -> (GivenUp, String) {
        if let Some(process) = &self.process
            && let AbandonReason::Exited { .. } = self.reason
        {
            let deadline = Instant::now() + LAST_WORDS_MAX;
            while process.ended_as.borrow().is_none() && Instant::now() < deadline {
                tokio::time::sleep(LOOK_EVERY).await;
            }
        }
        let stderr = self.process.as_ref().map(|process| process.tail.borrow().text()).unwrap_or_default();
        (self.why(), stderr)
    }

    fn why(&self) -> GivenUp {
        let warm_up = self.warm_up.clone();
        match self.reason {
            AbandonReason::Superseded => GivenUp::Superseded,
            AbandonReason::TurnedBack => GivenUp::TurnedBack,
            AbandonReason::Stopping => GivenUp::Leaving,
            AbandonReason::WarmUpFailed { worker } => GivenUp::WarmUp { worker: worker.0, why: warm_up },
            AbandonReason::StartTimeout { worker } => {
                let listens = self.process.as_ref().is_some_and(|process| process.listens.get());
                if listens { GivenUp::NotReady(worker.0) } else { GivenUp::NotListening(worker.0) }
            }
            AbandonReason::Exited { worker } => {
                if let Some(words) = self.never_ran.clone() {
                    return GivenUp::NeverRan { words, warm_up };
                }
                let ended_as = |process: &Rc<Process>| process.ended_as.borrow().clone();
                let status =
                    self.process.as_ref().map(|process| ended_as(process).unwrap_or_else(|| "unknown".to_owned()));
                GivenUp::Exited { worker: worker.0, status, warm_up }
            }
        }
    }
}

fn worker(reason: AbandonReason) -> Option<WorkerId> {
    match reason {
        AbandonReason::Exited { worker }
        | AbandonReason::StartTimeout { worker }
        | AbandonReason::WarmUpFailed { worker } => Some(worker),
        AbandonReason::Superseded | AbandonReason::TurnedBack | AbandonReason::Stopping => None,
    }
}
