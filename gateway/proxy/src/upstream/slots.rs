//! A worker's slots: HTTP/1.1 on its unix socket, one connection a slot, one request at a time on it.
//!
//! Only code in here says that a slot is free, and only because the worker said so: by finishing its response, by ending
//! it, or by dying (I1). It must not know clients; what it reads goes into an [`crate::answer::Answer`].

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

use sluice_catalog::errors::Code;
use sluice_journal::{Event as Happening, Level};
use sluice_scheduler::{RequestId, WorkerId};

use super::exchange::{self, Ended, Fault};
use super::mailbox::{Idle, Slot};
use super::wire::Wire;
use super::{Exchange, Job};
use crate::gate::{Cause, Gate, Seen};
use crate::signal::Signal;

/// How long an app's hooks may take after a request before its end is reported all the same: `SETTLE_MS_MAX` of the preload.
const HOOKS_MAX: Duration = Duration::from_secs(5);
/// How long a worker that broke off a response may take to report its end.
const CONFIRM_TIMEOUT: Duration = Duration::from_secs(2).saturating_add(HOOKS_MAX);
/// How long the exit of a worker may take to be known after its connection has closed.
pub(crate) const EXIT_TIMEOUT: Duration = Duration::from_millis(200);
/// The same for one whose process is known to have gone, while npm or a shell above it has not.
const DYING_TIMEOUT: Duration = Duration::from_secs(2);
/// How long an app may take to end a response whose connection the gateway has closed.
const CUT_TIMEOUT: Duration = Duration::from_secs(5).saturating_add(HOOKS_MAX);
/// Requests of a worker whose response was read and whose end is not reported yet; more are forgotten, oldest first.
const UNREPORTED_MAX: usize = 1024;

/// The slots of one worker.
pub(crate) struct Slots {
    gate: Weak<Gate>,
    pub(super) worker: WorkerId,
    pub(super) socket: PathBuf,
    /// Heads of answers carry the tokens of their requests.
    pub(super) marks: bool,
    /// The app writes to connections itself, so that each may carry one request only.
    pub(crate) is_raw: Cell<bool>,
    pub(crate) finished_total: Cell<u64>,
    slots: RefCell<Vec<Rc<Slot>>>,
    closed: Cell<bool>,
    confirming: RefCell<Vec<(RequestId, Rc<Signal>)>>,
    /// Whose response was read whole, while the report of the end is still to come.
    unreported: RefCell<VecDeque<RequestId>>,
    /// Counts up when the worker listens afresh; connections from before lead nowhere.
    era: Cell<u32>,
    /// The process that serves has gone, or the gateway has given the worker up.
    pub(crate) is_dying: Cell<bool>,
    /// Whose doing its death is, should it die now.
    cause: Cell<Cause>,
}

impl Slots {
    pub(crate) fn new(gate: Weak<Gate>, worker: WorkerId, socket: PathBuf, marks: bool) -> Rc<Self> {
        Rc::new(Slots {
            gate,
            worker,
            socket,
            marks,
            is_raw: Cell::new(false),
            finished_total: Cell::new(0),
            slots: RefCell::default(),
            closed: Cell::new(false),
            confirming: RefCell::default(),
            unreported: RefCell::default(),
            era: Cell::new(0),
            is_dying: Cell::new(false),
            cause: Cell::new(Cause::Own),
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
        // Late bytes of a request that is answered and not ended then meet a connection that nobody uses.
        let unreported = self.unreported.borrow();
        let is_clean = |slot: &Slot| slot.carried.get().is_some_and(|request| !unreported.contains(&request));
        let free = || slots.iter().filter(|slot| !slot.is_busy.get());
        if let Some(slot) = free().find(|slot| is_clean(slot)).or_else(|| free().next()) {
            return Rc::clone(slot);
        }
        drop(unreported);
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

    /// The gateway is about to end the worker. That it was stuck outlasts whatever follows from it.
    pub(crate) fn ends_for(&self, cause: Cause) {
        if self.cause.get() != Cause::Stuck {
            self.cause.set(cause);
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
        let mut unreported = self.unreported.borrow_mut();
        if let Some(at) = unreported.iter().position(|ended| *ended == request) {
            unreported.remove(at);
        }
        for (waiting, signal) in self.confirming.borrow().iter() {
            if *waiting == request {
                signal.set();
            }
        }
    }

    /// The worker itself says that it holds nothing.
    pub(crate) fn confirm_all(&self) {
        self.unreported.borrow_mut().clear();
        for (_, signal) in self.confirming.borrow().iter() {
            signal.set();
        }
    }

    fn expect_report(&self, request: RequestId) {
        let mut unreported = self.unreported.borrow_mut();
        if unreported.len() == UNREPORTED_MAX {
            unreported.pop_front();
        }
        unreported.push_back(request);
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
                    slot.carried.set(None);
                }
                continue;
            };
            let Some(gate) = self.gate.upgrade() else { return };
            wire = self.carry_out(&gate, &slot, wire, job, exchange).await;
        }
        // Given in the moment of the worker's death.
        let job = slot.job.borrow_mut().take();
        if let (Some((job, exchange)), Some(gate)) = (job, self.gate.upgrade()) {
            gate.bury(job, &exchange, Seen::NOTHING, self.cause.get()).await;
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
        let mut idle = idle.filter(|_| !self.is_raw.get());
        if job.is_upgrade {
            return self.carry_upgrade(gate, slot, idle, job, exchange).await;
        }
        loop {
            let is_reused = idle.is_some();
            let mut wire = idle.take();
            if wire.is_none() {
                wire = tokio::select! {
                    wire = Wire::connect(&self.socket) => wire.ok(),
                    () = exchange.died.wait() => None,
                };
            }
            let Some(mut wire) = wire else {
                self.undelivered(gate, slot, job, &exchange).await;
                return None;
            };
            let fault = match exchange::run(gate, &mut wire, &job, &exchange, self.marks).await {
                Ok(ended) => {
                    let is_whole = matches!(ended, Ended::Whole { .. });
                    let wire = self.conclude(gate, slot, wire, &job, &exchange, ended);
                    if is_whole {
                        gate.proven(job);
                    }
                    return wire;
                }
                // The connection had been closed while it was idle; again, not a byte was seen.
                Err(Fault::Closed(Seen { sent: false, heard: false, .. })) if is_reused && !self.closed.get() => {
                    continue;
                }
                Err(Fault::Busy { by }) if !self.closed.get() => {
                    self.take_back(gate, slot, job, by).await;
                    return None;
                }
                Err(Fault::Unsent) => {
                    slot.is_busy.set(false);
                    gate.finished(self.worker, job.request);
                    return Some(wire);
                }
                Err(fault) => fault,
            };
            drop(wire);
            self.conclude_broken(gate, slot, job, &exchange, fault).await;
            return None;
        }
    }

    /// Of this request the worker has not seen a byte, so it can go to another.
    pub(super) async fn undelivered(&self, gate: &Rc<Gate>, slot: &Slot, job: Job, exchange: &Rc<Exchange>) {
        slot.is_busy.set(false);
        if self.closed.get() {
            gate.bury(job, exchange, Seen::NOTHING, self.cause.get()).await;
        } else {
            gate.undelivered(self.worker, job);
        }
    }

    /// The exchange broke, and its connection is closed: waits until the slot is free, or its worker gone.
    pub(super) async fn conclude_broken(
        &self,
        gate: &Rc<Gate>,
        slot: &Slot,
        job: Job,
        exchange: &Rc<Exchange>,
        fault: Fault,
    ) {
        let mut fault = fault;
        if matches!(fault, Fault::Left) {
            job.answer.leave();
            // It may have waited for another request in the worker when its client left.
            if !self.ended_for_nobody(exchange, job.request).await {
                fault = exchange.busy_with.get().map_or(Fault::Cut, |by| Fault::Busy { by });
            }
        }
        if let Fault::Busy { by } = fault
            && !self.closed.get()
        {
            return self.take_back(gate, slot, job, by).await;
        }
        let seen = match fault {
            Fault::Closed(seen) => seen,
            // The preload said that the app has not seen it.
            Fault::Busy { .. } | Fault::Unsent => Seen::NOTHING,
            Fault::Malformed(_) | Fault::Foreign | Fault::Short | Fault::Cut | Fault::Left => {
                Seen { sent: true, heard: true, unread: false }
            }
        };
        self.conclude_fault(gate, slot, &job, exchange, fault).await;
        slot.is_busy.set(false);
        if self.closed.get() {
            gate.bury(job, exchange, seen, self.cause.get()).await;
        } else {
            gate.finished(self.worker, job.request);
        }
    }

    /// The app has seen that the client left, and may compute on. Whether it ended the request, or its worker exited,
    /// before its time was over or it turned out that it never had the request.
    async fn ended_for_nobody(&self, exchange: &Exchange, request: RequestId) -> bool {
        if exchange.is_confirmed.get() {
            return true;
        }
        tokio::select! {
            confirmed = self.reported(request, Duration::MAX) => confirmed,
            () = exchange.cut.wait() => false,
        }
    }

    /// The app goes on with another request, so the slot is not free, although that one's response was read whole. The
    /// job goes back to the queue, where another worker may take it, and the slot waits for the other's end. So does the
    /// connection, which the app would else see closed under its response. How often one job comes back is bounded by
    /// its time in the queue.
    async fn take_back(&self, gate: &Rc<Gate>, slot: &Slot, job: Job, by: RequestId) {
        if !self.unreported.borrow().contains(&by) {
            // It has ended meanwhile, or this worker never had it: nothing is left to wait for.
            slot.is_busy.set(false);
            return gate.returned(self.worker, job);
        }
        let held = gate.occupied(self.worker, job, by);
        let patience = Duration::from_millis(gate.config().response.abandoned_timeout_ms);
        if !self.reported(by, patience).await {
            self.give_up(gate, slot, &format!("request number {} is answered but not ended", by.0)).await;
        }
        slot.is_busy.set(false);
        gate.finished(self.worker, held);
    }

    /// The worker finished its response, or turned it into a stream.
    pub(super) fn conclude(
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
        // For a stream too: it holds the slot no longer, and how long it lives is no measure of the worker.
        job.answer.times.update(|times| crate::answer::Times { finished: Some(Instant::now()), ..times });
        match ended {
            Ended::Whole { reusable } => {
                if !exchange.is_confirmed.get() {
                    self.expect_report(job.request);
                }
                let may_carry_more = self.marks || gate.config().workers.keep_alive_without_preload;
                let kept = (reusable && may_carry_more && !self.is_raw.get()).then_some(wire);
                // Before the slot is free, as the next request may be given to it within that call.
                slot.carried.set(kept.as_ref().map(|_| job.request));
                gate.finished(self.worker, job.request);
                kept
            }
            Ended::Stream { head, framing } => {
                job.answer.is_stream.set(true);
                gate.detached(self.worker, job.request);
                let (slots, gate, request) = (Rc::clone(self), Rc::clone(gate), job.request);
                let answer = Rc::clone(&job.answer);
                let exchange = Rc::clone(exchange);
                tokio::task::spawn_local(async move {
                    if exchange::run_stream(&gate, wire, &answer, &exchange, head, framing).await {
                        answer.fail(slots.stream_broke_by(request).await);
                    }
                    gate.stream_ended(slots.worker, request);
                });
                None
            }
            Ended::Upgraded { head } => {
                job.answer.is_stream.set(true);
                gate.detached(self.worker, job.request);
                job.answer.begin(head);
                let guard = StreamGuard::new(Rc::clone(gate), self.worker, job.request);
                job.answer.upgrade(wire.into_upgraded(guard));
                None
            }
        }
    }

    /// Whether a stream ended because its worker died, or the worker ended it and goes on. A dying worker's connections close
    /// a moment before its exit is known.
    pub(super) async fn stream_broke_by(&self, request: RequestId) -> Code {
        self.reported(request, EXIT_TIMEOUT).await;
        let has_died = self.closed.get() || self.is_dying.get();
        if has_died { Code::WorkerDied } else { Code::WorkerAnswerTruncated }
    }

    /// The response broke. The client is answered, unless the worker is known to have died; the slot waits until the worker
    /// itself has ended the request or died.
    async fn conclude_fault(&self, gate: &Rc<Gate>, slot: &Slot, job: &Job, exchange: &Exchange, fault: Fault) {
        let confirmed = match fault {
            Fault::Malformed(detail) => {
                job.answer.fail(Code::WorkerAnswerMalformed);
                self.note(gate, job, &format!("was answered with {detail}; the client got 502 if it had nothing yet"));
                self.confirmed_end(exchange, job.request, CONFIRM_TIMEOUT).await
            }
            Fault::Foreign => {
                job.answer.fail(Code::WorkerAnswerMalformed);
                let what = "met bytes that are not its answer on a connection that an earlier request has used; the client got \
                            502, and nothing of them";
                self.note(gate, job, what);
                self.confirmed_end(exchange, job.request, CONFIRM_TIMEOUT).await
            }
            Fault::Short => {
                job.answer.fail(Code::WorkerAnswerTruncated);
                self.note(gate, job, "was ended by the app before as many bytes as its Content-Length announced");
                true
            }
            Fault::Closed(_) => {
                // A dying worker's connections close a moment before its exit is known.
                let mut confirmed = self.confirmed_end(exchange, job.request, EXIT_TIMEOUT).await;
                if !confirmed && self.is_dying.get() {
                    confirmed = self.confirmed_end(exchange, job.request, DYING_TIMEOUT).await;
                }
                if !self.closed.get() {
                    job.answer.fail(Code::WorkerAnswerTruncated);
                }
                confirmed || self.confirmed_end(exchange, job.request, CONFIRM_TIMEOUT).await
            }
            Fault::Left | Fault::Unsent => true,
            Fault::Cut | Fault::Busy { .. } => self.confirmed_end(exchange, job.request, CUT_TIMEOUT).await,
        };
        if !confirmed {
            self.give_up(gate, slot, &format!("request {} is not ended", job.request_id)).await;
        }
    }

    /// It neither ended the request nor died: its slot can never be trusted again.
    async fn give_up(&self, gate: &Rc<Gate>, slot: &Slot, why: &str) {
        if self.closed.get() {
            return;
        }
        let text = format!("{why} by worker {}, which is replaced", self.worker.0);
        gate.journal.emit(Happening::Note { level: Level::Warn, text: &text });
        self.ends_for(Cause::Gateway);
        gate.faulted(self.worker);
        while !self.closed.get() {
            slot.changed.wait().await;
        }
    }

    pub(super) fn note(&self, gate: &Gate, job: &Job, what: &str) {
        let text = format!("request {} at worker {} {what}", job.request_id, self.worker.0);
        gate.journal.emit(Happening::Note { level: Level::Warn, text: &text });
    }

    /// Whether the worker has reported the end of the request, or does so or exits within the time for that.
    async fn confirmed_end(&self, exchange: &Exchange, request: RequestId, timeout: Duration) -> bool {
        exchange.is_confirmed.get() || self.reported(request, timeout).await
    }

    /// Whether the worker reports the end of the request, or exits, within the time for that.
    async fn reported(&self, request: RequestId, timeout: Duration) -> bool {
        if self.closed.get() {
            return true;
        }
        let waiting = Confirming { slots: self, signal: Rc::default(), request };
        self.confirming.borrow_mut().push((request, Rc::clone(&waiting.signal)));
        tokio::time::timeout(timeout, waiting.signal.wait()).await.is_ok()
    }
}

/// Waits for a request's end to be reported; does not outlast its waiting.
struct Confirming<'s> {
    slots: &'s Slots,
    signal: Rc<Signal>,
    request: RequestId,
}

impl Drop for Confirming<'_> {
    fn drop(&mut self) {
        self.slots.confirming.borrow_mut().retain(|(waiting, _)| *waiting != self.request);
    }
}

/// An upgraded connection in the stream count; it leaves with the connection, whichever way that ends.
pub(crate) struct StreamGuard {
    gate: Rc<Gate>,
    worker: WorkerId,
    request: RequestId,
}

impl StreamGuard {
    pub(super) fn new(gate: Rc<Gate>, worker: WorkerId, request: RequestId) -> Self {
        StreamGuard { gate, worker, request }
    }
}

impl Drop for StreamGuard {
    fn drop(&mut self) {
        self.gate.stream_ended(self.worker, self.request);
    }
}
