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

/// How long a worker that broke off a response may take to report its end.
const CONFIRM_TIMEOUT: Duration = Duration::from_secs(2);
/// How long the exit of a worker may take to be known after its connection has closed.
const EXIT_TIMEOUT: Duration = Duration::from_millis(200);
/// How long an app may take to end a response whose connection the gateway has closed.
const CUT_TIMEOUT: Duration = Duration::from_secs(5);

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

/// How long is waited for what, from the config.
pub(crate) struct Patience {
    /// For a worker that sends nothing.
    pub(crate) silence_max: Duration,
    /// For a worker whose response nobody waits for.
    pub(crate) abandoned_max: Duration,
    /// For a stream that carries nothing.
    pub(crate) idle_max: Option<Duration>,
}

/// A request in a slot, as the sweep for time-outs sees it.
pub(crate) struct Exchange {
    pub(crate) answer: Rc<Answer>,
    pub(crate) last_heard: Cell<Instant>,
    unwanted_since: Cell<Option<Instant>>,
    /// The worker has reported the end of the request.
    pub(crate) is_confirmed: Cell<bool>,
    /// Set when nobody waits any more and the worker has had its time: the connection is closed.
    pub(crate) cut: Signal,
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
            is_confirmed: Cell::new(false),
            cut: Signal::default(),
            request_id: Rc::clone(&job.request_id),
            class: Rc::clone(&job.class),
            started: now,
        }
    }

    /// A silent worker's client is answered; a worker that goes on for nobody is cut off. Neither frees the slot.
    pub(crate) fn check(&self, now: Instant, patience: &Patience) {
        let Patience { silence_max, abandoned_max, idle_max } = *patience;
        if self.answer.is_stream.get() {
            if idle_max.is_some_and(|max| now.saturating_duration_since(self.answer.last_moved.get()) >= max) {
                self.answer.closing.set();
            }
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
    pub(crate) finished_total: Cell<u64>,
    slots: RefCell<Vec<Rc<Slot>>>,
    closed: Cell<bool>,
    confirming: RefCell<Vec<(RequestId, Rc<Signal>)>>,
    /// Counts up when the worker listens afresh; connections from before lead nowhere.
    era: Cell<u32>,
}

/// One slot's mailbox; its task takes jobs out of it.
#[derive(Default)]
struct Slot {
    job: RefCell<Option<(Job, Rc<Exchange>)>>,
    is_busy: Cell<bool>,
    changed: Signal,
}

impl Slots {
    pub(crate) fn new(gate: Weak<Gate>, worker: WorkerId, socket: PathBuf) -> Rc<Self> {
        Rc::new(Slots {
            gate,
            worker,
            socket,
            finished_total: Cell::new(0),
            slots: RefCell::default(),
            closed: Cell::new(false),
            confirming: RefCell::default(),
            era: Cell::new(0),
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
        if slots.len() >= concurrency as usize
            && let Some(gate) = self.gate.upgrade()
        {
            // Counted where requests really go out, apart from the scheduler's own account. It is a bug if it happens.
            gate.journal.emit(Happening::OverlapSeen { worker: self.worker.0, count: 1 });
        }
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

    /// The worker listens with another server now.
    pub(crate) fn renew(&self) {
        self.era.set(self.era.get() + 1);
        for slot in self.slots.borrow().iter() {
            slot.changed.set();
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

    /// The worker itself says that it holds nothing.
    pub(crate) fn confirm_all(&self) {
        for (_, signal) in self.confirming.borrow().iter() {
            signal.set();
        }
    }

    /// A slot's life: wait for a job while watching the idle connection, carry it out, say that the slot is free.
    async fn serve_slot(self: Rc<Self>, slot: Rc<Slot>) {
        let mut wire: Option<Wire> = None;
        let mut era = self.era.get();
        while !self.closed.get() {
            if era != self.era.get() {
                era = self.era.get();
                wire = None;
            }
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
        let mut idle = idle;
        let request = job.request;
        loop {
            let is_reused = idle.is_some();
            let wire = match idle.take() {
                Some(wire) => Ok(wire),
                None => Wire::connect(&self.socket).await,
            };
            let Ok(mut wire) = wire else {
                // Of this request the worker has not seen a byte, so it can go to another.
                slot.is_busy.set(false);
                gate.undelivered(self.worker, job);
                return None;
            };
            match exchange::run(gate, &mut wire, &job, &exchange).await {
                Ok(ended) => return self.conclude(gate, slot, wire, &job, &exchange, ended),
                // The connection had been closed while it was idle; again, not a byte was seen.
                Err(Fault::Closed { sent: false, heard: false }) if is_reused && !self.closed.get() => {}
                Err(fault) => {
                    drop(wire);
                    self.conclude_fault(gate, slot, &job, &exchange, fault).await;
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
                job.answer.is_stream.set(true);
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
                job.answer.is_stream.set(true);
                gate.detached(self.worker, job.request);
                job.answer.begin(head);
                let guard = StreamGuard { gate: Rc::clone(gate), worker: self.worker, request: job.request };
                job.answer.upgrade(wire.into_upgraded(guard));
                None
            }
        }
    }

    /// The response broke. The client is answered; the slot waits until the worker itself has ended the request or died.
    async fn conclude_fault(&self, gate: &Rc<Gate>, slot: &Slot, job: &Job, exchange: &Exchange, fault: Fault) {
        let confirmed = match fault {
            Fault::Malformed(detail) => {
                job.answer.fail(Code::WorkerAnswerMalformed);
                self.note(gate, job, &format!("was answered with {detail}; the client got 502 if it had nothing yet"));
                self.confirmed_end(exchange, job.request, CONFIRM_TIMEOUT).await
            }
            Fault::Closed { .. } => {
                // A dying worker's connections close a moment before its exit is known.
                let confirmed = self.confirmed_end(exchange, job.request, EXIT_TIMEOUT).await;
                job.answer.fail(if self.closed.get() { Code::WorkerDied } else { Code::WorkerAnswerTruncated });
                confirmed || self.confirmed_end(exchange, job.request, CONFIRM_TIMEOUT).await
            }
            Fault::Cut => self.confirmed_end(exchange, job.request, CUT_TIMEOUT).await,
        };
        if !confirmed && !self.closed.get() {
            // It neither ended the request nor died: its slot can never be trusted again.
            self.note(gate, job, "is not ended by its worker, which is replaced");
            gate.faulted(self.worker);
            while !self.closed.get() {
                slot.changed.wait().await;
            }
        }
    }

    fn note(&self, gate: &Gate, job: &Job, what: &str) {
        let text = format!("request {} at worker {} {what}", job.request_id, self.worker.0);
        gate.journal.emit(Happening::Note { level: Level::Warn, text: &text });
    }

    /// Whether the worker reported the end of the request, or exited, within the time for that. A report that came while
    /// nobody waited is remembered for this.
    async fn confirmed_end(&self, exchange: &Exchange, request: RequestId, timeout: Duration) -> bool {
        if self.closed.get() || exchange.is_confirmed.get() {
            return true;
        }
        let signal = Rc::new(Signal::default());
        self.confirming.borrow_mut().push((request, Rc::clone(&signal)));
        let confirmed = tokio::time::timeout(timeout, signal.wait()).await.is_ok();
        self.confirming.borrow_mut().retain(|(waiting, _)| *waiting != request);
        confirmed
    }
}

/// An upgraded connection in the stream count; it leaves with the connection, whichever way that ends.
pub(crate) struct StreamGuard {
    gate: Rc<Gate>,
    worker: WorkerId,
    request: RequestId,
}

impl Drop for StreamGuard {
    fn drop(&mut self) {
        self.gate.stream_ended(self.worker, self.request);
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
