//! How a reload ended, with what the worker that it failed at has to say.

use std::rc::Rc;
use std::time::{Duration, Instant};

use sluice_scheduler::{AbandonReason, WorkerId};

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
    warm_up: Option<String>,
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

    /// The reason in words, and the end of what the worker wrote to stderr. Waits a moment for a dead worker's last words.
    pub async fn tell(&self) -> (String, String) {
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

    fn why(&self) -> String {
        match self.reason {
            AbandonReason::Superseded => "a later reload was asked for".to_owned(),
            AbandonReason::Stopping => "the gateway leaves".to_owned(),
            AbandonReason::WarmUpFailed { worker } => {
                let why = self.warm_up.as_deref().unwrap_or("a request failed");
                format!("the warm-up of worker {} failed: {why}", worker.0)
            }
            AbandonReason::StartTimeout { worker } => {
                let listens = self.process.as_ref().is_some_and(|process| process.listens.get());
                let missing = if listens { "say `ready` (workers.wait_ready)" } else { "listen" };
                format!("worker {} did not {missing} within workers.start_timeout_ms", worker.0)
            }
            AbandonReason::Exited { worker } => {
                let exited = match (&self.never_ran, &self.process) {
                    (Some(why), _) => why.clone(),
                    (None, Some(process)) => {
                        let ended_as = process.ended_as.borrow();
                        let ended_as = ended_as.as_deref().unwrap_or("unknown");
                        format!("worker {} exited before it took requests: {ended_as}", worker.0)
                    }
                    (None, None) => format!("worker {} exited before it took requests", worker.0),
                };
                let warm_up = self.warm_up.as_ref().map(|why| format!("; its warm-up failed: {why}"));
                exited + &warm_up.unwrap_or_default()
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
