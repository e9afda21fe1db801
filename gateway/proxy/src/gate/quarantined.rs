//! Requests that workers die with: let through, let through alone, held back, or answered without a worker, by the rules of
//! [`crate::quarantine`]. It also shows them to the operator.

use std::rc::Rc;
use std::time::Duration;

use sluice_catalog::errors::Code;
use sluice_catalog::snapshot::QuarantinedRequest;
use sluice_journal::Event as Happening;
use sluice_message::Method;
use sluice_scheduler::Event;
use tokio::time::Instant;

use super::Gate;
use crate::quarantine::{self, Admission, BODY_BYTES_MAX, Fingerprint, Mode};
use crate::upstream::WorkerRequest;
use sluice_wire::receive::body::Body;

/// Permission of a request to enter the queue.
#[derive(Default)]
pub(crate) struct Pass {
    /// The request gets a worker to itself, so that its death takes no other request with it.
    pub(crate) alone: bool,
    /// Probe that ends with the request.
    _probe: Option<Probe>,
}

/// The one request of its kind that is tried at the moment. Requests that wait for it continue when it has ended, with whatever result.
struct Probe {
    gate: Rc<Gate>,
    print: Fingerprint,
}

impl Drop for Probe {
    fn drop(&mut self) {
        self.gate.deaths.table.borrow_mut().probe_over(self.print);
        self.gate.deaths.probe_over.notify_waiters();
    }
}

impl Gate {
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
        let patience = tokio::time::sleep(Duration::from_millis(self.config().queue.wait_ms_max));
        tokio::pin!(patience);
        loop {
            let over = self.deaths.probe_over.notified();
            let admission = self.deaths.table.borrow_mut().admit(Instant::now(), &subject);
            match admission {
                Admission::Free => return Some(Pass::default()),
                Admission::Alone => return Some(Pass { alone: true, _probe: None }),
                Admission::Probe(print) => {
                    return Some(Pass { alone: true, _probe: Some(Probe { gate: self.rc(), print }) });
                }
                Admission::Refuse => break,
                Admission::Wait => {}
            }
            tokio::select! {
                () = over => {}
                () = &mut patience => break,
            }
        }
        self.count_quarantine_refused();
        None
    }

    pub(super) fn tell_quarantined(&self, job: &WorkerRequest, print: Fingerprint) {
        let target: String = self.observer.shown(job.target()).chars().take(200).collect();
        let told_by = self.deaths.table.borrow().told_by(print);
        let told_by = if told_by.is_empty() { String::new() } else { format!(", told by {}", told_by.join(", ")) };
        let text = format!(
            "request {} ({} {target}{told_by}) has ended a second worker: for {} s it is answered without one (quarantine.ttl_ms); `sluice quarantine --release {}` lets it through",
            job.id(),
            job.method.as_str(),
            self.config().quarantine.ttl_ms / 1000,
            quarantine::id(print)
        );
        self.observer.emit(Happening::Quarantined { request_id: job.id(), text: &text });
    }

    /// Refuses queued requests that are in quarantine from now on.
    pub(super) async fn refuse_queued(&self, route: u64) {
        let is_like = |job: &WorkerRequest| self.deaths.keys.route(job.method.as_str(), job.target()) == route;
        let beginning =
            |job: &Rc<WorkerRequest>| is_like(job).then(|| (job.request, job.body.borrow().beginning(BODY_BYTES_MAX)));
        let alike = self.requests.all_queued(beginning);
        for (request, beginning) in alike {
            let Ok(beginning) = beginning.read().await else { continue };
            let is_refused = self.requests.queued(request).map(|job| {
                let (method, len) = (job.method.as_str(), job.body.borrow().bytes());
                let subject = self.deaths.keys.subject(method, job.target(), &job.head, &beginning, len);
                self.deaths.table.borrow().mode(Instant::now(), &subject) == Some(Mode::Refused)
            });
            let job = if is_refused == Some(true) { self.requests.take_queued(request) } else { None };
            if let Some(job) = job {
                self.count_quarantine_refused();
                job.answer.fail(Code::RequestQuarantined);
                self.tell(Event::Left { request });
            }
        }
    }

    /// Records that a worker has answered the request, so that it is not one that workers die with.
    pub(crate) fn proven(&self, job: &Rc<WorkerRequest>) {
        let (pass, body) = (job.take_pass(), job.body.take());
        let route = self.deaths.keys.route(job.method.as_str(), job.target());
        {
            let mut table = self.deaths.table.borrow_mut();
            if body.bytes() == 0 {
                table.note_answered(job.answer.times.get().finished.unwrap_or_else(Instant::now), route);
            }
            // Nearly always.
            if !table.concerns(|| route) {
                return;
            }
        }
        let (gate, job) = (self.rc(), Rc::clone(job));
        tokio::task::spawn_local(async move {
            // Others like it wait until it is known how it ended.
            let _pass = pass;
            let beginning = body.beginning(BODY_BYTES_MAX);
            let subject = gate.deaths.subject(&job.method, job.target(), &job.head, beginning, body.bytes()).await;
            let Some(subject) = subject else { return };
            let is_known = gate.deaths.table.borrow_mut().answered(Instant::now(), &subject);
            if is_known {
                gate.refuse_queued(route).await;
            }
        });
    }

    pub(super) fn count_quarantine_refused(&self) {
        self.deaths.refused_total.set(self.deaths.refused_total.get() + 1);
    }

    // What an operator sees and says.

    /// Requests in quarantine.
    pub fn quarantined(&self) -> Vec<QuarantinedRequest> {
        self.deaths.table.borrow().list(Instant::now())
    }

    /// Number of requests in quarantine.
    pub fn quarantined_count(&self) -> u64 {
        self.deaths.table.borrow().len(Instant::now()) as u64
    }

    /// Text for the operator while requests are in quarantine.
    pub(super) fn quarantine_text(&self) -> Option<String> {
        let count = self.quarantined_count();
        let (requests, are) = if count == 1 { ("request", "is") } else { ("requests", "are") };
        (count > 0).then(|| {
            format!(
                "{count} {requests} that workers died with {are} answered without a worker, with status 500, {} times so far. \
                 `sluice quarantine` lists them; mend the app, then `sluice quarantine --release all`",
                self.quarantine_refused_total()
            )
        })
    }

    /// Releases the request with this id, or `all`. Returns the number of released requests.
    pub fn release_quarantined(&self, which: &str) -> u64 {
        self.deaths.table.borrow_mut().release(Instant::now(), which) as u64
    }

    /// Forgets every request that a worker died with, because another version of the app serves.
    pub(super) fn forget_deaths(&self) {
        self.deaths.table.borrow_mut().forget();
    }

    /// Requests that were answered without a worker because of quarantine.
    pub fn quarantine_refused_total(&self) -> u64 {
        self.deaths.refused_total.get()
    }
}
