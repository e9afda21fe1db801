//! How a reload ended, with what the worker that it failed at has to say.

use std::rc::Rc;
use std::time::Duration;

use sluice_catalog::refusals::{GivenUp, WarmUpError};
use sluice_scheduler::{AbandonReason, WorkerId};
use tokio::time::Instant;

use crate::Supervisor;
use crate::process::Process;

/// How often is looked whether a dead worker's output has been read to its end.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// How long those last words are waited for.
const LAST_WORDS_MAX: Duration = Duration::from_secs(2);

/// A reload that is over.
pub struct ReloadEnd {
    /// The generation that it was for.
    pub generation: u64,
    /// Why it was given up, if it was.
    pub abandoned: Option<Abandoned>,
}

/// Why a generation was given up.
pub struct Abandoned {
    /// As the scheduler says it.
    pub reason: AbandonReason,
    /// Whose process could not even be started, and why.
    never_ran: Option<String>,
    process: Option<Rc<Process>>,
    warm_up: Option<WarmUpError>,
}

impl Abandoned {
    pub(crate) fn new(supervisor: &Supervisor, reason: AbandonReason) -> Self {
        let worker = worker(reason);
        let process = worker.and_then(|worker| supervisor.processes.borrow().get(&worker).cloned());
        let failure = supervisor.last_failure.borrow();
        let never_ran = failure.as_ref().filter(|(failed, ..)| process.is_none() && Some(*failed) == worker);
        Abandoned {
            reason,
            never_ran: never_ran.map(|(_, _, text)| text.clone()),
            process,
            warm_up: worker.and_then(|worker| supervisor.gate.warm_up_failure(worker)),
        }
    }

    /// Why, and the end of what the worker wrote to stderr. Waits a moment for a dead worker's last words.
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
        AbandonReason::Superseded | AbandonReason::Stopping => None,
    }
}
