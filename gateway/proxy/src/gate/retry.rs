//! Fate of a request whose worker has died: a second worker, or an honest error (I5). A request that workers die with goes to quarantine,
//! by the rules of [`crate::quarantine`].
//!
//! The scheduler says which requests a dead worker held. The task that carries a request out owns it, so that task brings
//! it here, exactly once, when it has read what the worker still sent.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use sluice_catalog::config::Config;
use sluice_catalog::errors::Code;
use sluice_dispatch::{ByteEvidence, Cause, Judgement, QuarantineRule};
use sluice_message::Method;
use sluice_scheduler::{Event, RequestId, Time};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::Gate;
use crate::quarantine::{BODY_BYTES_MAX, Death, Keys, Mode, Quarantine, Subject};
use crate::upstream::{Lease, WorkerRequest};
use sluice_wire::ids::to_usize;
use sluice_wire::receive::body::Beginning;

/// Pause between two searches of the table for expired entries.
const EXPIRE_PERIOD: Duration = Duration::from_secs(1);

/// Facts from the scheduler about a request whose worker has died.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Orphan {
    pub(crate) arrived: Time,
    /// Whether the worker held other requests too.
    pub(crate) shared: bool,
    /// The request was seen to wait for I/O.
    pub(crate) is_parked: bool,
}

/// Quarantine table, and the counters of retries and refusals.
pub(crate) struct Retries {
    pub(super) keys: Keys,
    pub(super) table: RefCell<Quarantine>,
    /// Wakes requests that waited for one like them, when that has ended.
    pub(super) probe_over: Notify,
    retried_total: Cell<u64>,
    pub(super) refused_total: Cell<u64>,
    expired: Cell<Option<Instant>>,
}

fn quarantine_limits(config: &Config) -> (Duration, usize) {
    (Duration::from_millis(config.quarantine.ttl_ms), to_usize(config.bounds.quarantine_entries_max))
}

impl Retries {
    pub(super) fn new(config: &Config) -> Self {
        let (ttl, entries_max) = quarantine_limits(config);
        let table = Quarantine::new(ttl, entries_max);
        Retries {
            keys: Keys::default(),
            table: RefCell::new(table),
            probe_over: Notify::new(),
            retried_total: Cell::new(0),
            refused_total: Cell::new(0),
            expired: Cell::new(None),
        }
    }

    pub(super) fn set_limits(&self, config: &Config) {
        let (ttl, entries_max) = quarantine_limits(config);
        self.table.borrow_mut().set_limits(ttl, entries_max);
    }

    /// Removes expired entries from time to time, so that lookups cost nothing again.
    pub(super) fn expire(&self, now: Instant) {
        if self.expired.get().is_none_or(|expired| now.saturating_duration_since(expired) >= EXPIRE_PERIOD) {
            self.expired.set(Some(now));
            self.table.borrow_mut().expire(now);
        }
    }

    /// Whether the table knows anything with this method and target.
    pub(super) fn concerns(&self, method: &Method, target: &str) -> bool {
        self.table.borrow().concerns(|| self.keys.route(method.as_str(), target))
    }

    /// Fingerprint and marks of a request. `None` if the body cannot be read back: such a request is like no other.
    pub(super) async fn subject(
        &self,
        method: &Method,
        target: &str,
        head: &[u8],
        beginning: Beginning,
        body_len: u64,
    ) -> Option<Subject> {
        let beginning = beginning.read().await.ok()?;
        Some(self.keys.subject(method.as_str(), target, head, &beginning, body_len))
    }
}

impl Gate {
    /// Records that the worker has died while it held this request.
    pub(super) fn orphan(&self, request: RequestId, orphan: Orphan) {
        if let Some(request) = self.requests.exchange(request) {
            request.orphaned.set(Some(orphan));
        }
    }

    /// Facts that the rules of I5 need about a request whose worker has exited.
    pub(crate) async fn judge(&self, request: &WorkerRequest, seen: ByteEvidence, cause: Cause) -> Judgement {
        let orphan = self.orphan_of(request);
        let (held, deaths) = self.count_death(request, seen, cause, orphan).await;
        Judgement {
            is_safe: request.method.is_safe(),
            was_shared: orphan.shared,
            was_parked: orphan.is_parked,
            held: held.map(|mode| if mode == Mode::Refused { QuarantineRule::Refused } else { QuarantineRule::Probed }),
            deaths,
        }
    }

    fn orphan_of(&self, request: &WorkerRequest) -> Orphan {
        let unknown = Orphan { arrived: self.now(), shared: false, is_parked: false };
        request.orphaned.get().unwrap_or(unknown)
    }

    /// Puts the request back into its old place in the queue. Its slot went with its worker.
    pub(crate) fn retry(&self, lease: Lease, retried: &Rc<WorkerRequest>, was_sent: bool, is_suspect: bool) {
        lease.end();
        let orphan = self.orphan_of(retried);
        // Should this one be what its worker died with, it shall not end others' requests with the next.
        let need = retried.need.get().suspected(is_suspect);
        retried.need.set(need);
        retried.answer.was_retried.set(retried.answer.was_retried.get() || was_sent);
        if self.put_back(retried) {
            self.deaths.retried_total.set(self.deaths.retried_total.get() + u64::from(was_sent));
            self.tell(Event::Retried { request: retried.request, arrived: orphan.arrived, need });
        }
    }

    /// Ends a request whose slot went with its worker.
    pub(crate) fn bury(&self, lease: Lease, request: &Rc<WorkerRequest>) {
        lease.end();
        drop(request.take_pass());
        if request.answer.failure() == Some(Code::RequestQuarantined) {
            self.count_quarantine_refused();
        }
        self.requests.answered(request.request, Instant::now());
    }

    /// Counts the death of a worker with this request. Returns the mode of the request if it is in quarantine now, and the number of
    /// workers that died with it.
    async fn count_death(
        &self,
        job: &WorkerRequest,
        seen: ByteEvidence,
        cause: Cause,
        orphan: Orphan,
    ) -> (Option<Mode>, u32) {
        let target = job.target();
        let counts = seen.sent && !seen.unread && cause != Cause::Gateway;
        if !counts && !self.deaths.concerns(&job.method, target) {
            return (None, 0);
        }
        // The time of dispatch is that of this try; it is read before anything is awaited.
        let dispatched = job.answer.times.get().dispatched.unwrap_or_else(Instant::now);
        let beginning = job.body.borrow().beginning(BODY_BYTES_MAX);
        let body_len = job.body.borrow().bytes();
        let Some(subject) = self.deaths.subject(&job.method, target, &job.head, beginning, body_len).await else {
            return (None, 0);
        };
        let now = Instant::now();
        if counts {
            let death = Death {
                method: job.method.as_str(),
                target,
                request: job.request.0,
                dispatched,
                shared: orphan.shared,
            };
            let convicted = self.deaths.table.borrow_mut().died(now, &subject, &death);
            for print in &convicted {
                self.tell_quarantined(job, *print);
            }
            if !convicted.is_empty() {
                self.refuse_queued(subject.print.route).await;
            }
        }
        let table = self.deaths.table.borrow();
        (table.mode(now, &subject), table.deaths_with(&subject.print))
    }

    /// Requests that were given to a second worker.
    pub fn retried_total(&self) -> u64 {
        self.deaths.retried_total.get()
    }
}
