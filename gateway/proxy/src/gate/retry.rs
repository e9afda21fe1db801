//! What becomes of a request whose worker has died: a second worker, or an honest error (I5). And of one that workers die
//! with: quarantine, by the rules of [`crate::admit::quarantine`].
//!
//! The scheduler says which requests a dead worker held. The task that carries a request out owns it, so that task brings
//! it here, exactly once, when it has read what the worker still sent.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use sluice_catalog::config::Config;
use sluice_catalog::errors::Code;
use sluice_message::Method;
use sluice_scheduler::{Event, Need, RequestId, Time};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::{Gate, to_usize};
use crate::admit::quarantine::{BODY_BYTES_MAX, Death, Keys, Mode, Quarantine, Subject};
use crate::receive::body::Body;
use crate::upstream::{EXIT_TIMEOUT, Given, Job};

/// How often the table is looked through for what is over.
const EXPIRE_PERIOD: Duration = Duration::from_secs(1);

/// What the worker and the client have had of a request when its worker died.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    /// A byte of the request was written to the worker.
    pub(crate) sent: bool,
    /// A byte of an answer came.
    pub(crate) heard: bool,
    /// The worker is known not to have read what was sent: it died of something else. Not known on every system.
    pub(crate) unread: bool,
}

impl Seen {
    pub(crate) const NOTHING: Self = Seen { sent: false, heard: false, unread: false };

    /// The worker knows nothing of the request, though it may live.
    pub(crate) fn is_unnoticed(self) -> bool {
        !self.heard && (!self.sent || self.unread)
    }
}

/// Why a worker died, as far as the gateway itself had to do with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The gateway did nothing to it.
    Own,
    /// It was killed because its event loop did not turn.
    Stuck,
    /// The gateway ended it for something that is not this request's doing.
    Gateway,
}

/// What the scheduler says of a request when its worker has died.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Orphan {
    pub(crate) arrived: Time,
    /// Whether the worker held other requests too.
    pub(crate) shared: bool,
    /// It was seen to wait.
    pub(crate) is_parked: bool,
}

/// The counts and the table behind this room.
pub(crate) struct Retries {
    pub(super) keys: Keys,
    pub(super) table: RefCell<Quarantine>,
    /// Woken when a request has ended that others like it waited for.
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

    /// Lets go of what is over, now and then, so that looking costs nothing again.
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

    /// `None` when the body cannot be read back: such a request is like no other.
    pub(super) async fn subject(&self, method: &Method, target: &str, head: &[u8], body: &Body) -> Option<Subject> {
        let beginning = body.beginning(BODY_BYTES_MAX).read().await.ok()?;
        Some(self.keys.subject(method.as_str(), target, head, &beginning, body.len()))
    }
}

/// What the rules say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// It waits again in its old place.
    Again,
    Fail(Code),
}

/// I5: a request is sent again only if its method is safe, no byte of an answer was heard, and it was not sent again
/// before. One that no worker has seen a byte of was not sent at all. Who was alone in a worker that got stuck made it so.
/// `held` says what becomes of those in quarantine.
fn fate(method: &Method, seen: Seen, cause: Cause, shared: bool, was_retried: bool, held: Option<Mode>) -> Fate {
    let is_held = held == Some(Mode::Refused) || held.is_some() && seen.sent;
    let is_guilty = cause == Cause::Stuck && !shared;
    if is_held && !was_retried && !seen.heard && (!seen.sent || method.is_safe()) && !is_guilty {
        // It would have got another worker, and that is what it must not get.
        return Fate::Fail(Code::RequestQuarantined);
    }
    if !seen.sent {
        return Fate::Again;
    }
    if method.is_safe() && !seen.heard && !was_retried && !is_guilty {
        return Fate::Again;
    }
    Fate::Fail(if cause == Cause::Stuck { Code::WorkerStuck } else { Code::WorkerDied })
}

impl Gate {
    /// The worker has died while it held this request. Its task is told only after a while: until then it may read what
    /// the worker wrote last, and afterwards it must not wait for a connection that something else keeps open.
    pub(super) fn orphan(&self, request: RequestId, orphan: Orphan) {
        let Some(exchange) = self.requests.held(request) else { return };
        exchange.orphaned.set(Some(orphan));
        tokio::task::spawn_local(async move {
            tokio::time::sleep(EXIT_TIMEOUT).await;
            exchange.died.set();
        });
    }

    /// Decides about a request whose worker is known to have exited. The slot went with the worker.
    pub(crate) async fn bury(&self, given: Given, seen: Seen, cause: Cause) {
        let Given { lease, job, exchange } = given;
        lease.end();
        let unknown = Orphan { arrived: self.now(), shared: false, is_parked: false };
        let orphan = exchange.orphaned.get().unwrap_or(unknown);
        let (held, deaths) = self.count_death(&job, seen, cause, orphan).await;
        let was_retried = job.answer.was_retried.get();
        match fate(&job.method, seen, cause, orphan.shared, was_retried, held) {
            Fate::Again => {
                let mut job = job;
                // Should this one be what its worker died with, it shall not end others' requests with the next.
                // Of many that only waited none is, before a second worker has died with one like it: each would have to wait until a
                // worker is empty.
                let waited = orphan.is_parked && orphan.shared && deaths <= 1;
                let is_suspect = seen.sent && !waited;
                job.class.need = Need { alone: job.class.need.alone || is_suspect, ..job.class.need };
                let (request, need) = (job.request, job.class.need);
                let was_sent = seen.sent && job.answer.is_wanted();
                job.answer.was_retried.set(was_retried || was_sent);
                if self.put_back(job) {
                    self.deaths.retried_total.set(self.deaths.retried_total.get() + u64::from(was_sent));
                    self.tell(Event::Retried { request, arrived: orphan.arrived, need });
                }
            }
            Fate::Fail(code) => {
                self.requests.answered(job.request, Instant::now());
                if code == Code::RequestQuarantined && job.answer.is_wanted() {
                    self.count_quarantine_refused();
                }
                job.answer.fail(code);
            }
        }
    }

    /// Returns what is done with such a request if it is in quarantine now, and the workers that are counted to have died with it.
    async fn count_death(&self, job: &Job, seen: Seen, cause: Cause, orphan: Orphan) -> (Option<Mode>, u32) {
        let target = job.target();
        let counts = seen.sent && !seen.unread && cause != Cause::Gateway;
        if !counts && !self.deaths.concerns(&job.method, target) {
            return (None, 0);
        }
        // The time of dispatch is that of this try; it is read before anything is awaited.
        let dispatched = job.answer.times.get().dispatched.unwrap_or_else(Instant::now);
        let Some(subject) = self.deaths.subject(&job.method, target, &job.head, &job.body).await else {
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

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Seen = Seen::NOTHING;
    const SENT: Seen = Seen { sent: true, heard: false, unread: false };
    const HEARD: Seen = Seen { sent: true, heard: true, unread: false };

    fn get(seen: Seen, cause: Cause, was_retried: bool, held: Option<Mode>) -> Fate {
        fate(&Method::Get, seen, cause, false, was_retried, held)
    }

    #[test]
    fn i5_a_safe_request_without_a_byte_of_an_answer_gets_one_more_worker() {
        assert_eq!(get(SENT, Cause::Own, false, None), Fate::Again);
        assert_eq!(get(SENT, Cause::Gateway, false, None), Fate::Again);
        assert_eq!(get(SENT, Cause::Own, true, None), Fate::Fail(Code::WorkerDied));
        assert_eq!(get(HEARD, Cause::Own, false, None), Fate::Fail(Code::WorkerDied));
        assert_eq!(get(SENT, Cause::Stuck, false, None), Fate::Fail(Code::WorkerStuck));
    }

    #[test]
    fn i5_neighbours_of_a_loop_get_one_more_worker_like_those_of_a_crash() {
        let neighbour = |method: &Method, seen, was_retried| fate(method, seen, Cause::Stuck, true, was_retried, None);
        assert_eq!(neighbour(&Method::Get, SENT, false), Fate::Again);
        assert_eq!(neighbour(&Method::Get, SENT, true), Fate::Fail(Code::WorkerStuck));
        assert_eq!(neighbour(&Method::Get, HEARD, false), Fate::Fail(Code::WorkerStuck));
        assert_eq!(neighbour(&Method::Post, SENT, false), Fate::Fail(Code::WorkerStuck));
    }

    #[test]
    fn i5_an_unsafe_request_gets_another_worker_only_if_none_saw_it() {
        for method in [Method::Post, Method::Put, Method::Delete, Method::Patch] {
            assert_eq!(fate(&method, SENT, Cause::Own, false, false, None), Fate::Fail(Code::WorkerDied));
            assert_eq!(fate(&method, NOTHING, Cause::Own, false, false, None), Fate::Again);
            assert_eq!(fate(&method, NOTHING, Cause::Stuck, false, true, None), Fate::Again);
        }
        for method in [Method::Head, Method::Options] {
            assert_eq!(fate(&method, SENT, Cause::Own, false, false, None), Fate::Again);
        }
    }

    #[test]
    fn a_request_in_quarantine_gets_no_further_worker() {
        assert_eq!(get(SENT, Cause::Own, false, Some(Mode::Refused)), Fate::Fail(Code::RequestQuarantined));
        assert_eq!(get(NOTHING, Cause::Own, false, Some(Mode::Refused)), Fate::Fail(Code::RequestQuarantined));
        assert_eq!(get(SENT, Cause::Own, true, Some(Mode::Refused)), Fate::Fail(Code::WorkerDied));
        assert_eq!(get(HEARD, Cause::Own, false, Some(Mode::Refused)), Fate::Fail(Code::WorkerDied));
        assert_eq!(get(SENT, Cause::Own, false, Some(Mode::Probed)), Fate::Fail(Code::RequestQuarantined));
        assert_eq!(get(NOTHING, Cause::Own, false, Some(Mode::Probed)), Fate::Again, "no worker has seen it");
    }
}
