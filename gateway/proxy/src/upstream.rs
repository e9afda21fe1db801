//! A worker's slots: HTTP/1.1 on its unix socket, one connection a slot, one request at a time on it.
//!
//! Only code in here says that a slot is free, and only because the worker said so: by finishing its response, by ending
//! it, or by dying (I1). It must not know clients; what it reads goes into an [`Answer`].

mod exchange;
mod wire;

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

use sluice_catalog::errors::Code;
use sluice_http1::Method;
use sluice_journal::{Event as Happening, Level};
use sluice_scheduler::{RequestId, WorkerId};

use crate::answer::Answer;
use crate::gate::Gate;
use crate::signal::Signal;
use crate::spool::Body;

pub(crate) use exchange::{Ended, Fault};
use wire::Wire;

/// How long a worker that broke off a response may take to report its end or to exit.
const CONFIRM_TIMEOUT: Duration = Duration::from_secs(2);
/// The same for a worker without the preload, which can only be seen to exit.
const EXIT_TIMEOUT: Duration = Duration::from_millis(200);

/// A whole request, ready for a worker.
pub(crate) struct Job {
    pub(crate) request: RequestId,
    /// Its head, written afresh.
    pub(crate) head: Vec<u8>,
    pub(crate) body: Body,
    pub(crate) method: Method,
    /// It asks for another protocol.
    pub(crate) is_upgrade: bool,
    pub(crate) request_id: Rc<str>,
    pub(crate) class: Rc<str>,
    pub(crate) answer: Rc<Answer>,
}

/// A request in a slot, as the sweep for time-outs sees it.
pub(crate) struct Exchange {
    pub(crate) answer: Rc<Answer>,
    pub(crate) last_heard: Cell<Instant>,
    unwanted_since: Cell<Option<Instant>>,
    /// Set when nobody waits any more and the worker has had its time: the connection is closed.
    pub(crate) cut: Signal,
    pub(crate) is_detached: Cell<bool>,
    request_id: Rc<str>,
    class: Rc<str>,
    pub(crate) started: Instant,
}

impl Exchange {
    pub(crate) fn new(job: &Job) -> Self {
        let now = Instant::now();
        Exchange {
            answer: Rc::clone(&job.answer),
            last_heard: Cell::new(now),
            unwanted_since: Cell::new(None),
            cut: Signal::default(),
            is_detached: Cell::new(false),
            request_id: Rc::clone(&job.request_id),
            class: Rc::clone(&job.class),
            started: now,
        }
    }

    /// A silent worker's client is answered; a worker that goes on for nobody is cut off. Neither frees the slot.
    pub(crate) fn check(&self, now: Instant, silence_max: Duration, abandoned_max: Duration) {
        if self.is_detached.get() {
            return;
        }
        if self.answer.is_wanted() {
            if now.saturating_duration_since(self.last_heard.get()) >= silence_max {
                self.answer.fail(Code::WorkerTimeout);
            }
            return;
        }
        match self.unwanted_since.get() {
            None => self.unwanted_since.set(Some(now)),
            Some(since) if now.saturating_duration_since(since) >= abandoned_max => self.cut.set(),
            Some(_) => {}
        }
    }

    /// Request id, class, milliseconds since it was given to the worker.
    pub(crate) fn describe(&self) -> (String, String, u64) {
        let for_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        (self.request_id.to_string(), self.class.to_string(), for_ms)
    }
}

/// The slots of one worker.
pub(crate) struct Slots {
    gate: Weak<Gate>,
    worker: WorkerId,
    socket: PathBuf,
    /// The preload is in it: it never closes an idle connection, and reports the end and the cost of each request.
    pub(crate) reports: bool,
    pub(crate) finished_total: Cell<u64>,
    slots: RefCell<Vec<Rc<Slot>>>,
    closed: Cell<bool>,
    confirming: RefCell<Vec<(RequestId, Rc<Signal>)>>,
}

/// One slot's mailbox; its task takes jobs out of it.
#[derive(Default)]
struct Slot {
    job: RefCell<Option<(Job, Rc<Exchange>)>>,
    is_busy: Cell<bool>,
    changed: Signal,
}

impl Slots {
    pub(crate) fn new(gate: Weak<Gate>, worker: WorkerId, socket: PathBuf, reports: bool) -> Rc<Self> {
        Rc::new(Slots {
            gate,
            worker,
            socket,
            reports,
            finished_total: Cell::new(0),
            slots: RefCell::default(),
            closed: Cell::new(false),
            confirming: RefCell::default(),
        })
    }

    /// Gives a request to a free slot. The scheduler has made sure that there is one.
    pub(crate) fn give(self: &Rc<Self>, job: Job, exchange: Rc<Exchange>, concurrency: u32) {
        let slot = self.free_slot(concurrency);
        slot.is_busy.set(true);
        *slot.job.borrow_mut() = Some((job, exchange));
        slot.changed.set();
    }

    fn free_slot(self: &Rc<Self>, concurrency: u32) -> Rc<Slot> {
        let mut slots = self.slots.borrow_mut();
        if let Some(slot) = slots.iter().find(|slot| !slot.is_busy.get()) {
            return Rc::clone(slot);
        }
        debug_assert!(slots.len() < concurrency as usize, "a slot was given twice");
        let slot = Rc::new(Slot::default());
        slots.push(Rc::clone(&slot));
        tokio::task::spawn_local(Rc::clone(self).serve_slot(Rc::clone(&slot)));
        slot
    }

    /// The worker is gone: its slots go with it.
    pub(crate) fn close(&self) {
        self.closed.set(true);
        for slot in self.slots.borrow().iter() {
            slot.changed.set();
        }
        for (_, signal) in self.confirming.borrow().iter() {
            signal.set();
        }
    }

    /// The worker itself says that it is done with the request.
    pub(crate) fn confirm(&self, request: RequestId) {
        for (waiting, signal) in self.confirming.borrow().iter() {
            if *waiting == request {
                signal.set();
            }
        }
    }

    /// A slot's life: wait for a job while watching the idle connection, carry it out, say that the slot is free.
    async fn serve_slot(self: Rc<Self>, slot: Rc<Slot>) {
        let mut wire: Option<Wire> = None;
        while !self.closed.get() {
            let job = slot.job.borrow_mut().take();
            let Some((job, exchange)) = job else {
                if slot.wait(wire.as_mut()).await == Idle::Disturbed {
                    // Closed, or it sent what nobody asked for: either way it carries no further request.
                    wire = None;
                }
                continue;
            };
            let Some(gate) = self.gate.upgrade() else { return };
            wire = self.carry_out(&gate, &slot, wire, job, exchange).await;
        }
    }

    async fn carry_out(
        self: &Rc<Self>,
        gate: &Rc<Gate>,
        slot: &Rc<Slot>,
        idle: Option<Wire>,
        job: Job,
        exchange: Rc<Exchange>,
    ) -> Option<Wire> {
        let request = job.request;
        // A worker may close an idle connection at the moment a request is written to it. Nobody can tell then whether it
        // saw the request; so one that may not be repeated goes on a new connection, unless the worker never closes them.
        let mut reused = idle.filter(|_| job.method.is_safe() || self.reports);
        loop {
            let is_reused = reused.is_some();
            let wire = match reused.take() {
                Some(wire) => Ok(wire),
                None => Wire::connect(&self.socket).await,
            };
            let Ok(mut wire) = wire else {
                slot.is_busy.set(false);
                gate.undelivered(self.worker, job);
                return None;
            };
            match exchange::run(gate, &mut wire, &job, &exchange).await {
                Ok(ended) => return self.conclude(gate, slot, wire, &job, &exchange, ended),
                Err(Fault::Closed { heard: false, .. }) if is_reused && job.method.is_safe() && !self.closed.get() => {}
                Err(Fault::Closed { sent: false, heard: false }) if is_reused && !self.closed.get() => {}
                Err(fault) => {
                    drop(wire);
                    self.conclude_fault(gate, slot, &job, fault).await;
                    slot.is_busy.set(false);
                    gate.finished(self.worker, request);
                    return None;
                }
            }
        }
    }

    /// The worker finished its response, or turned it into a stream.
    fn conclude(
        self: &Rc<Self>,
        gate: &Rc<Gate>,
        slot: &Slot,
        wire: Wire,
        job: &Job,
        exchange: &Rc<Exchange>,
        ended: Ended,
    ) -> Option<Wire> {
        slot.is_busy.set(false);
        self.finished_total.set(self.finished_total.get() + 1);
        match ended {
            Ended::Whole { reusable } => {
                job.answer.times.update(|times| crate::answer::Times { finished: Some(Instant::now()), ..times });
                gate.finished(self.worker, job.request);
                reusable.then_some(wire)
            }
            Ended::Stream { head, framing } => {
                exchange.is_detached.set(true);
                gate.detached(self.worker, job.request);
                let (gate, worker, request) = (Rc::clone(gate), self.worker, job.request);
                let answer = Rc::clone(&job.answer);
                let exchange = Rc::clone(exchange);
                tokio::task::spawn_local(async move {
                    exchange::run_stream(&gate, wire, &answer, &exchange, head, framing).await;
                    gate.stream_ended(worker, request);
                });
                None
            }
            Ended::Upgraded { head } => {
                exchange.is_detached.set(true);
                gate.detached(self.worker, job.request);
                job.answer.begin(head);
                job.answer.upgrade(wire.into_upgraded());
                None
            }
        }
    }

    /// The response broke. The client is answered; the slot waits until the worker itself has ended the request or died.
    async fn conclude_fault(&self, gate: &Rc<Gate>, slot: &Slot, job: &Job, fault: Fault) {
        if let Fault::Malformed(detail) = fault {
            job.answer.fail(Code::WorkerAnswerMalformed);
            let text = format!(
                "worker {} answered request {} with {detail}; the client got 502",
                self.worker.0, job.request_id
            );
            gate.journal.emit(Happening::Note { level: Level::Warn, text: &text });
        }
        let confirmed = self.confirmed_end(job.request).await;
        if let Fault::Closed { .. } | Fault::Cut = fault {
            job.answer.fail(if self.closed.get() { Code::WorkerDied } else { Code::WorkerAnswerTruncated });
        }
        if !confirmed && !self.closed.get() && self.reports {
            // It neither ended the request nor died: its slot can never be trusted again.
            let text = format!("worker {} does not end request {}; it is replaced", self.worker.0, job.request_id);
            gate.journal.emit(Happening::Note { level: Level::Warn, text: &text });
            gate.faulted(self.worker);
            while !self.closed.get() {
                slot.changed.wait().await;
            }
        }
    }

    /// Whether the worker reported the end of the request, or exited, within the time for that.
    async fn confirmed_end(&self, request: RequestId) -> bool {
        if self.closed.get() {
            return true;
        }
        let signal = Rc::new(Signal::default());
        self.confirming.borrow_mut().push((request, Rc::clone(&signal)));
        let confirmed = tokio::time::timeout(if self.reports { CONFIRM_TIMEOUT } else { EXIT_TIMEOUT }, signal.wait())
            .await
            .is_ok();
        self.confirming.borrow_mut().retain(|(waiting, _)| *waiting != request);
        confirmed
    }
}

#[derive(PartialEq, Eq)]
enum Idle {
    Woken,
    Disturbed,
}

impl Slot {
    /// Waits for a job, or until the idle connection is disturbed.
    async fn wait(&self, wire: Option<&mut Wire>) -> Idle {
        let Some(wire) = wire else {
            self.changed.wait().await;
            return Idle::Woken;
        };
        std::future::poll_fn(|cx| {
            if self.changed.poll(cx).is_ready() {
                return std::task::Poll::Ready(Idle::Woken);
            }
            wire.poll_disturbed(cx).map(|()| Idle::Disturbed)
        })
        .await
    }
}
