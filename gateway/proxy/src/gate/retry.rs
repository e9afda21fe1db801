//! Fate of a request whose worker has died: a second worker, or an honest error (I5). A request that workers die with goes to quarantine,
//! by the rules of [`crate::quarantine`].
//!
//! The scheduler says which requests a dead worker held. The task that carries a request out owns it, so that task brings
//! it here, exactly once, when it has read what the worker still sent.

use std::cell::Cell;
use std::rc::Rc;

use sluice_catalog::errors::Code;
use sluice_dispatch::{ByteEvidence, Cause, Judgement, QuarantineRule};
use sluice_scheduler::Event;
use tokio::time::Instant;

use super::dispatch::Dispatch;
use super::quarantined::QuarantineWard;
use crate::quarantine::Mode;
use crate::upstream::{Lease, Orphan, WorkerRequest};

/// Requests whose worker has died, and the number of those that got a second one.
pub struct Retries {
    dispatch: Rc<Dispatch>,
    quarantine: Rc<QuarantineWard>,
    total: Cell<u64>,
}

impl Retries {
    pub(super) fn new(dispatch: &Rc<Dispatch>, quarantine: &Rc<QuarantineWard>) -> Self {
        Retries { dispatch: Rc::clone(dispatch), quarantine: Rc::clone(quarantine), total: Cell::new(0) }
    }

    /// Facts that the rules of I5 need about a request whose worker has exited.
    pub(super) async fn judge(&self, request: &WorkerRequest, seen: ByteEvidence, cause: Cause) -> Judgement {
        let orphan = self.orphan_of(request);
        let (held, deaths) = self.quarantine.count_death(request, seen, cause, orphan).await;
        Judgement {
            is_safe: request.message.method.is_safe(),
            was_shared: orphan.shared,
            was_parked: orphan.is_parked,
            held: held.map(|mode| if mode == Mode::Refused { QuarantineRule::Refused } else { QuarantineRule::Probed }),
            deaths,
        }
    }

    fn orphan_of(&self, request: &WorkerRequest) -> Orphan {
        let unknown = Orphan { arrived: self.dispatch.scheduler.now(), shared: false, is_parked: false };
        request.orphaned.get().unwrap_or(unknown)
    }

    /// Puts the request back into its old place in the queue. Its slot went with its worker.
    pub(super) fn retry(&self, lease: Lease, retried: &Rc<WorkerRequest>, was_sent: bool, is_suspect: bool) {
        lease.end();
        let orphan = self.orphan_of(retried);
        // Should this one be what its worker died with, it shall not end others' requests with the next.
        let need = retried.need.get().suspected(is_suspect);
        retried.need.set(need);
        retried.answer.facts.was_retried.set(retried.answer.facts.was_retried.get() || was_sent);
        if self.dispatch.put_back(retried) {
            self.total.set(self.total.get() + u64::from(was_sent));
            self.dispatch.tell(Event::Retried { request: retried.request, arrived: orphan.arrived, need });
        }
    }

    /// Ends a request whose slot went with its worker.
    pub(super) fn bury(&self, lease: Lease, request: &Rc<WorkerRequest>) {
        lease.end();
        drop(request.take_pass());
        if request.answer.failure() == Some(Code::RequestQuarantined) {
            self.quarantine.count_refused();
        }
        self.dispatch.requests.answered(request.request, Instant::now());
    }

    /// Requests that were given to a second worker.
    pub fn total(&self) -> u64 {
        self.total.get()
    }
}
