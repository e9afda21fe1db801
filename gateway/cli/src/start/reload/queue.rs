//! Access of clients to the task that reloads, and what status shows of the latest reload.

use std::cell::RefCell;
use std::sync::Arc;

use sluice_admin::Progress;
use sluice_admin::protocol::{TrialAction, TrialWish};
use sluice_catalog::refusals::{ReloadError, TrialError};
use sluice_catalog::snapshot::{ReloadSnapshot, TrialSnapshot};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

/// Maximum number of reloads that wait to be read.
const REQUESTS_MAX: usize = 64;
/// Maximum number of lines that wait for a client that does not read. Further ones are left out.
const LINES_MAX: usize = 64;

/// Request for a reload.
pub(super) struct Request {
    pub(super) by: &'static str,
    pub(super) trial: Option<TrialWish>,
    pub(super) progress: mpsc::Sender<Progress>,
}

/// Requests to the task that reloads.
pub(super) enum Asked {
    Reload(Request),
    Decide(Decision),
}

/// A person's decision about the version that was on trial when it was made.
pub(super) struct Decision {
    pub(super) action: TrialAction,
    pub(super) generation: u64,
    pub(super) reply: oneshot::Sender<Result<Option<TrialSnapshot>, TrialError>>,
}

/// The way to the task that reloads.
pub struct Reloads {
    requests: mpsc::Sender<Asked>,
    view: RefCell<Option<View>>,
}

/// Part of status on reloads.
struct View {
    asked: Instant,
    snapshot: ReloadSnapshot,
}

impl Reloads {
    pub fn snapshot(&self) -> Option<ReloadSnapshot> {
        let view = self.view.borrow();
        view.as_ref().map(|view| ReloadSnapshot { age_s: view.asked.elapsed().as_secs_f64(), ..view.snapshot.clone() })
    }

    /// Asks for a reload. How it goes comes through the receiver, which nobody has to keep.
    pub fn ask(&self, by: &'static str, trial: Option<TrialWish>) -> mpsc::Receiver<Progress> {
        let (progress, receiver) = mpsc::channel(LINES_MAX);
        let asked = Asked::Reload(Request { by, trial, progress: progress.clone() });
        if let Err(error) = self.requests.try_send(asked) {
            let why = match error {
                TrySendError::Full(_) => ReloadError::TooMany,
                TrySendError::Closed(_) => ReloadError::Leaving,
            };
            let _ = progress.try_send(Progress::Ended(Err(Arc::new(why))));
        }
        receiver
    }

    /// The latest trial, after the decision about it. The receiver gets an error if there is nothing to decide.
    pub fn decide(&self, action: Option<TrialAction>) -> oneshot::Receiver<Result<Option<TrialSnapshot>, TrialError>> {
        let (reply, receiver) = oneshot::channel();
        let trial = self.trial();
        let Some(action) = action else {
            let _ = reply.send(Ok(trial));
            return receiver;
        };
        match trial.filter(|trial| trial.state.is_open()).map(|trial| trial.generation) {
            Some(generation) => {
                // A full queue drops the reply, which says so.
                let _ = self.requests.try_send(Asked::Decide(Decision { action, generation, reply }));
            }
            None => _ = reply.send(Err(TrialError::None)),
        }
        receiver
    }

    /// The latest trial as it is shown.
    pub(super) fn trial(&self) -> Option<TrialSnapshot> {
        self.view.borrow().as_ref().and_then(|view| view.snapshot.trial.clone())
    }

    /// A reload has begun.
    pub(super) fn show(&self, snapshot: ReloadSnapshot) {
        *self.view.borrow_mut() = Some(View { asked: Instant::now(), snapshot });
    }

    pub(super) fn update(&self, change: impl FnOnce(&mut ReloadSnapshot)) {
        if let Some(view) = &mut *self.view.borrow_mut() {
            change(&mut view.snapshot);
        }
    }
}

/// Requests that have been asked for and not been looked at.
pub struct ReloadQueue(mpsc::Receiver<Asked>);

impl ReloadQueue {
    pub(super) async fn next(&mut self) -> Option<Asked> {
        self.0.recv().await
    }
}

pub fn channel() -> (Reloads, ReloadQueue) {
    let (requests, receiver) = mpsc::channel(REQUESTS_MAX);
    (Reloads { requests, view: RefCell::default() }, ReloadQueue(receiver))
}
