//! Requests that crash workers: accepted, accepted alone, held back, or answered without a worker, by the rules of
//! [`crate::quarantine`]. It also shows them to the operator.

use std::cell::Cell;
use std::rc::{Rc, Weak};
use std::time::Duration;

use sluice_catalog::config::Config;
use sluice_catalog::errors::Code;
use sluice_catalog::snapshot::QuarantinedRequest;
use sluice_dispatch::{ByteEvidence, Cause};
use sluice_journal::Event as Happening;
use sluice_message::Method;
use sluice_scheduler::Event;
use tokio::time::Instant;

use super::dispatch::Dispatch;
use crate::quarantine::deaths::{Deaths, Pass};
use crate::quarantine::{self, Admission, BODY_BYTES_MAX, Death, Fingerprint, Mode};
use crate::upstream::{Orphan, WorkerRequest};
use sluice_wire::receive::body::Body;

/// Requests that are answered without a worker, or tried alone, because workers died with them.
pub struct QuarantineWard {
    /// Reference to itself, for tasks that outlast a call.
    me: Weak<QuarantineWard>,
    deaths: Rc<Deaths>,
    dispatch: Rc<Dispatch>,
    refused_total: Cell<u64>,
}

impl QuarantineWard {
    pub(super) fn new(dispatch: &Rc<Dispatch>) -> Rc<Self> {
        Rc::new_cyclic(|me| QuarantineWard {
            me: Weak::clone(me),
            deaths: Rc::new(Deaths::new(&dispatch.road.config())),
            dispatch: Rc::clone(dispatch),
            refused_total: Cell::new(0),
        })
    }

    pub(super) fn set_limits(&self, config: &Config) {
        self.deaths.set_limits(config);
    }

    /// Removes expired entries from time to time.
    pub(super) fn expire(&self, now: Instant) {
        self.deaths.expire(now);
    }

    /// Lets a request through, or not (`None`). It costs nothing while no worker has died with a request. `head` is made only if a worker
    /// has died with a request for the same page.
    pub(crate) async fn admit(
        &self,
        method: &Method,
        target: &str,
        body: &Body,
        head: impl FnOnce() -> Vec<u8>,
    ) -> Option<Pass> {
        if !self.deaths.concerns(method, target) {
            return Some(Pass::default());
        }
        let beginning = body.beginning(BODY_BYTES_MAX);
        let Some(subject) = self.deaths.subject(method, target, &head(), beginning, body.bytes()).await else {
            return Some(Pass::default());
        };
        let patience = tokio::time::sleep(Duration::from_millis(self.dispatch.road.config().queue.wait_ms_max));
        tokio::pin!(patience);
        loop {
            let over = self.deaths.probe_over.notified();
            let admission = self.deaths.table.borrow_mut().admit(Instant::now(), &subject);
            match admission {
                Admission::Free => return Some(Pass::default()),
                Admission::Alone => return Some(Pass::alone()),
                Admission::Probe(print) => return Some(Pass::probe(&self.deaths, print)),
                Admission::Refuse => break,
                Admission::Wait => {}
            }
            tokio::select! {
                () = over => {}
                () = &mut patience => break,
            }
        }
        self.count_refused();
        None
    }

    fn tell_quarantined(&self, job: &WorkerRequest, print: Fingerprint) {
        let target: String = self.dispatch.road.observer.shown(job.target()).chars().take(200).collect();
        let told_by = self.deaths.table.borrow().told_by(print);
        let told_by =
            if told_by.is_empty() { String::new() } else { format!(", recognised by {}", told_by.join(", ")) };
        let text = format!(
            "request {} ({} {target}{told_by}) crashed a second worker; Sluice rejects it for {} s (quarantine.ttl_ms). `sluice quarantine --release {}` releases it",
            job.id(),
            job.message.method.as_str(),
            self.dispatch.road.config().quarantine.ttl_ms / 1000,
            quarantine::id(print)
        );
        self.dispatch.road.observer.emit(Happening::Quarantined { request_id: job.id(), text: &text });
    }

    /// Refuses queued requests that are in quarantine from now on.
    async fn refuse_queued(&self, route: u64) {
        let is_like = |job: &WorkerRequest| self.deaths.keys.route(job.message.method.as_str(), job.target()) == route;
        let beginning = |job: &Rc<WorkerRequest>| {
            is_like(job).then(|| (job.request, job.message.body.borrow().beginning(BODY_BYTES_MAX)))
        };
        let alike = self.dispatch.requests.all_queued(beginning);
        for (request, beginning) in alike {
            let Ok(beginning) = beginning.read().await else { continue };
            let is_refused = self.dispatch.requests.queued(request).map(|job| {
                let (method, len) = (job.message.method.as_str(), job.message.body.borrow().bytes());
                let subject = self.deaths.keys.subject(method, job.target(), &job.message.head, &beginning, len);
                self.deaths.table.borrow().mode(Instant::now(), &subject) == Some(Mode::Refused)
            });
            let job = if is_refused == Some(true) { self.dispatch.requests.take_queued(request) } else { None };
            if let Some(job) = job {
                self.count_refused();
                job.answer.fail(Code::RequestQuarantined);
                self.dispatch.tell(Event::Left { request });
            }
        }
    }

    /// Records that a worker has answered the request, so that it is not one that workers die with.
    pub(crate) fn proven(&self, job: &Rc<WorkerRequest>) {
        let (pass, body) = (job.take_pass(), job.message.body.take());
        let route = self.deaths.keys.route(job.message.method.as_str(), job.target());
        {
            let mut table = self.deaths.table.borrow_mut();
            if body.bytes() == 0 {
                table.note_answered(job.answer.facts.times.get().finished.unwrap_or_else(Instant::now), route);
            }
            // Nearly always.
            if !table.concerns(|| route) {
                return;
            }
        }
        let ward = self.me.upgrade().expect("whoever calls it holds it");
        let job = Rc::clone(job);
        tokio::task::spawn_local(async move {
            // Others like it wait until it is known how it ended.
            let _pass = pass;
            let beginning = body.beginning(BODY_BYTES_MAX);
            let subject = ward
                .deaths
                .subject(&job.message.method, job.target(), &job.message.head, beginning, body.bytes())
                .await;
            let Some(subject) = subject else { return };
            let is_known = ward.deaths.table.borrow_mut().answered(Instant::now(), &subject);
            if is_known {
                ward.refuse_queued(route).await;
            }
        });
    }

    /// Counts the death of a worker with this request. Returns the mode of the request if it is in quarantine now, and the number of
    /// workers that died with it.
    pub(super) async fn count_death(
        &self,
        job: &WorkerRequest,
        seen: ByteEvidence,
        cause: Cause,
        orphan: Orphan,
    ) -> (Option<Mode>, u32) {
        let target = job.target();
        let counts = seen.sent && !seen.unread && cause != Cause::Gateway;
        if !counts && !self.deaths.concerns(&job.message.method, target) {
            return (None, 0);
        }
        // The time of dispatch is that of this try; it is read before anything is awaited.
        let dispatched = job.answer.facts.times.get().dispatched.unwrap_or_else(Instant::now);
        let beginning = job.message.body.borrow().beginning(BODY_BYTES_MAX);
        let body_len = job.message.body.borrow().bytes();
        let Some(subject) =
            self.deaths.subject(&job.message.method, target, &job.message.head, beginning, body_len).await
        else {
            return (None, 0);
        };
        let now = Instant::now();
        if counts {
            let death = Death {
                method: job.message.method.as_str(),
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

    pub(super) fn count_refused(&self) {
        self.refused_total.set(self.refused_total.get() + 1);
    }

    // What an operator sees and says.

    /// Requests in quarantine.
    pub fn list(&self) -> Vec<QuarantinedRequest> {
        self.deaths.table.borrow().list(Instant::now())
    }

    /// Number of requests in quarantine.
    pub fn count(&self) -> u64 {
        self.deaths.table.borrow().len(Instant::now()) as u64
    }

    /// Text for the operator while requests are in quarantine.
    pub(super) fn alarm_text(&self) -> Option<String> {
        let count = self.count();
        let requests = if count == 1 { "request" } else { "requests" };
        (count > 0).then(|| {
            format!(
                "Sluice rejects {count} {requests} that crashed workers (status 500, {} times so far). \
                 `sluice quarantine` lists them; fix the app, then `sluice quarantine --release all`",
                self.refused_total()
            )
        })
    }

    /// Releases the request with this id, or `all`. Returns the number of released requests.
    pub fn release(&self, which: &str) -> u64 {
        self.deaths.table.borrow_mut().release(Instant::now(), which) as u64
    }

    /// Forgets every request that a worker died with, because another version of the app serves.
    pub(super) fn forget(&self) {
        self.deaths.table.borrow_mut().forget();
    }

    /// Requests that were answered without a worker because of quarantine.
    pub fn refused_total(&self) -> u64 {
        self.refused_total.get()
    }
}
