//! A worker's slots: HTTP/1.1 on its unix socket, one connection a slot, one request at a time on it.
//!
//! Only code in here says that a slot is free, and only because the worker said so: by finishing its response, by ending
//! it, or by dying (I1). It must not know clients; what it reads goes into an [`crate::respond::answer::Answer`].

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::rc::{Rc, Weak};
use std::time::Instant;

use sluice_journal::{Event as Happening, Level};
use sluice_scheduler::{RequestId, WorkerId};

use super::exchange::{self, Ended, Fault};
use super::handed::Pipe;
use super::mailbox::{Idle, Slot};
use super::wire::Wire;
use super::{Exchange, Job};
use crate::gate::{Cause, Gate, Seen};
use crate::signal::Signal;

/// Requests of a worker whose response was read and whose end is not reported yet; more are forgotten, oldest first.
const UNREPORTED_MAX: usize = 1024;

/// The slots of one worker.
pub(crate) struct Slots {
    pub(super) gate: Weak<Gate>,
    pub(super) worker: WorkerId,
    pub(super) socket: PathBuf,
    /// For requests that it gets ahead of time.
    pub(super) pipe: RefCell<Option<Pipe>>,
    /// Those of them that it died with and the app had not seen.
    pub(super) unseen: RefCell<Vec<u64>>,
    /// Heads of answers carry the tokens of their requests.
    pub(super) marks: bool,
    /// The app writes to connections itself, so that each may carry one request only.
    pub(crate) is_raw: Cell<bool>,
    pub(crate) finished_total: Cell<u64>,
    slots: RefCell<Vec<Rc<Slot>>>,
    pub(super) closed: Cell<bool>,
    pub(super) confirming: RefCell<Vec<(RequestId, Rc<Signal>)>>,
    /// Whose response was read whole, while the report of the end is still to come.
    pub(super) unreported: RefCell<VecDeque<RequestId>>,
    /// Counts up when the worker listens afresh; connections from before lead nowhere.
    era: Cell<u32>,
    /// The process that serves has gone, or the gateway has given the worker up.
    pub(crate) is_dying: Cell<bool>,
    /// Whose doing its death is, should it die now.
    pub(super) cause: Cell<Cause>,
}

impl Slots {
    pub(crate) fn new(gate: Weak<Gate>, worker: WorkerId, socket: PathBuf, marks: bool) -> Rc<Self> {
        Rc::new(Slots {
            gate,
            worker,
            socket,
            pipe: RefCell::default(),
            unseen: RefCell::default(),
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
        slot.held.set(Some(job.request));
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
        if slots.len() >= self.connections_max(concurrency)
            && let Some(gate) = self.gate.upgrade()
        {
            // Counted where requests really go out, apart from the scheduler's own account. It is a bug if it happens.
            gate.journal.emit(Happening::OverlapSeen { worker: self.worker.0, count: 1 });
        }
        let slot = Rc::new(Slot::default());
        slots.push(Rc::clone(&slot));
        self.start_slot(&slot);
        slot
    }

    /// The worker is gone: its slots go with it.
    pub(crate) fn close(&self) {
        self.closed.set(true);
        self.note_unseen();
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
    pub(super) async fn serve_slot(self: Rc<Self>, slot: Rc<Slot>) {
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
                Ok(Ended::Waits) => {
                    self.wait_outside(gate, slot, wire, job, exchange);
                    return None;
                }
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
                    self.take_back(gate, slot, job, &exchange, by).await;
                    return None;
                }
                Err(Fault::Withdrawn) => {
                    drop(wire);
                    slot.is_busy.set(false);
                    self.give_back(gate, job, &exchange).await;
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

    /// The app waits with its answer: the slot is free, and the answer is read outside of it.
    fn wait_outside(self: &Rc<Self>, gate: &Rc<Gate>, slot: &Slot, wire: Wire, job: Job, exchange: Rc<Exchange>) {
        slot.is_busy.set(false);
        slot.carried.set(None);
        self.finished_total.set(self.finished_total.get() + 1);
        job.answer.times.update(|times| crate::respond::answer::Times { finished: Some(Instant::now()), ..times });
        job.answer.is_stream.set(true);
        job.answer.last_moved.set(Instant::now());
        gate.detached(self.worker, job.request);
        let (slots, gate) = (Rc::clone(self), Rc::clone(gate));
        tokio::task::spawn_local(async move {
            if exchange::run_waiting(&gate, wire, &job, &exchange, slots.marks).await {
                job.answer.fail(slots.stream_broke_by(job.request).await);
            }
            gate.stream_ended(slots.worker, job.request);
        });
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
        job.answer.times.update(|times| crate::respond::answer::Times { finished: Some(Instant::now()), ..times });
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
            Ended::Stream { head } => {
                job.answer.is_stream.set(true);
                gate.detached(self.worker, job.request);
                let (slots, gate, request) = (Rc::clone(self), Rc::clone(gate), job.request);
                let answer = Rc::clone(&job.answer);
                let exchange = Rc::clone(exchange);
                tokio::task::spawn_local(async move {
                    if exchange::run_stream(&gate, wire, &answer, &exchange, head).await {
                        answer.fail(slots.stream_broke_by(request).await);
                    }
                    gate.stream_ended(slots.worker, request);
                });
                None
            }
            // Taken before it comes here, and no upgrade is told to be a poll.
            Ended::Waits => {
                gate.finished(self.worker, job.request);
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

    pub(super) fn note(&self, gate: &Gate, job: &Job, what: &str) {
        let text = format!("request {} at worker {} {what}", job.request_id, self.worker.0);
        gate.journal.emit(Happening::Note { level: Level::Warn, text: &text });
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
