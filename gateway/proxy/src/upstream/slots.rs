//! A worker's slots: HTTP/1.1 on its unix socket, one connection a slot, one request at a time on it.
//!
//! Only code in here says that a slot is free, and only because the worker said so: by finishing its response, by ending
//! it, or by dying (I1). It must not know clients; what it reads goes into an [`crate::respond::answer::Answer`].

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::rc::{Rc, Weak};

use sluice_journal::{Event as Happening, Level};
use sluice_scheduler::WorkerId;
use tokio::time::Instant;

use super::exchange::{self, Ended, Fault};
use super::given::Counter;
use super::handed::{Delivery, Pipe};
use super::mailbox::Slot;
use super::wire::Wire;
use super::{Given, InFlight, Job, Lease, StreamLease};
use crate::gate::{Cause, Gate, Seen};
use crate::respond::answer::{Answer, Times};

/// The slots of one worker.
pub(crate) struct Slots {
    pub(super) gate: Weak<Gate>,
    pub(super) worker: WorkerId,
    pub(super) socket: PathBuf,
    /// For requests that it gets ahead of time.
    pub(super) pipe: RefCell<Option<Pipe>>,
    /// Of what it is given while it is in a loop that lets others in.
    pub(super) counter: RefCell<Option<Counter>>,
    /// Heads of answers carry the tokens of their requests.
    pub(super) marks: bool,
    /// The app writes to connections itself, so that each may carry one request only.
    pub(crate) is_raw: Cell<bool>,
    pub(crate) finished_total: Cell<u64>,
    slots: RefCell<Vec<Rc<Slot>>>,
    pub(super) closed: Cell<bool>,
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
            counter: RefCell::default(),
            marks,
            is_raw: Cell::new(false),
            finished_total: Cell::new(0),
            slots: RefCell::default(),
            closed: Cell::new(false),
            era: Cell::new(0),
            is_dying: Cell::new(false),
            cause: Cell::new(Cause::Own),
        })
    }

    /// Gives a request to a free slot. The scheduler has made sure that there is one.
    pub(crate) fn give(self: &Rc<Self>, given: Given, concurrency: u32) {
        let slot = self.free_slot(concurrency);
        slot.holds.replace(Some(Rc::clone(&given.exchange)));
        slot.given.replace(Some(given));
        slot.changed.set();
        self.note_given();
    }

    /// What is in the slots, of what is meant.
    pub(crate) fn held(&self, is_meant: impl Fn(&InFlight) -> bool) -> Vec<Rc<InFlight>> {
        let slots = self.slots.borrow();
        let held = slots.iter().filter_map(|slot| slot.holds.borrow().clone());
        held.filter(|exchange| is_meant(exchange)).collect()
    }

    fn free_slot(self: &Rc<Self>, concurrency: u32) -> Rc<Slot> {
        let mut slots = self.slots.borrow_mut();
        // Late bytes of a request that is answered and not ended then meet a connection that nobody uses.
        let is_clean = |slot: &Slot| slot.carried.borrow().as_ref().is_some_and(|last| last.is_confirmed.get());
        let free = || slots.iter().filter(|slot| slot.holds.borrow().is_none());
        if let Some(slot) = free().find(|slot| is_clean(slot)).or_else(|| free().next()) {
            return Rc::clone(slot);
        }
        if slots.len() >= self.connections_max(concurrency)
            && let Some(gate) = self.gate.upgrade()
        {
            // Counted where requests really go out, apart from the scheduler's own account. It is a bug if it happens.
            gate.observer.emit(Happening::OverlapSeen { worker: self.worker.0, count: 1 });
        }
        let slot = Rc::new(Slot::default());
        slots.push(Rc::clone(&slot));
        tokio::task::spawn_local(Rc::clone(self).serve_slot(Rc::clone(&slot)));
        slot
    }

    /// The worker is gone: its slots go with it. Returns the numbers of what it was handed and the app has not seen.
    pub(crate) fn close(&self) -> Vec<u64> {
        self.closed.set(true);
        for slot in self.slots.borrow().iter() {
            slot.changed.set();
        }
        self.take_unseen()
    }

    /// The gateway is about to end the worker. That it was stuck outlasts whatever follows from it.
    pub(crate) fn ends_for(&self, cause: Cause) {
        if self.cause.get() != Cause::Stuck {
            self.cause.set(cause);
        }
    }

    /// Why it ends, as far as the gateway has to do with it.
    pub(crate) fn cause(&self) -> Cause {
        self.cause.get()
    }

    /// The worker listens with another server now.
    pub(crate) fn renew(&self) {
        self.era.set(self.era.get() + 1);
        for slot in self.slots.borrow().iter() {
            slot.changed.set();
        }
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
            let given = slot.given.take();
            let Some(given) = given else {
                if slot.wait(&mut wire).await {
                    // Closed, or it sent what nobody asked for: either way it carries no further request.
                    wire = None;
                    slot.carried.replace(None);
                }
                continue;
            };
            let Some(gate) = self.gate.upgrade() else { return };
            wire = self.carry_out(&gate, &slot, wire, given).await;
        }
        // Given in the moment of the worker's death.
        if let (Some(given), Some(gate)) = (slot.given.take(), self.gate.upgrade()) {
            gate.bury(given, Seen::NOTHING, self.cause.get()).await;
        }
    }

    async fn carry_out(
        self: &Rc<Self>,
        gate: &Rc<Gate>,
        slot: &Rc<Slot>,
        idle: Option<Wire>,
        given: Given,
    ) -> Option<Wire> {
        let mut idle = idle.filter(|_| !self.is_raw.get());
        if given.job.is_upgrade {
            return self.carry_upgrade(gate, slot, idle, given).await;
        }
        loop {
            let is_reused = idle.is_some();
            let mut wire = idle.take();
            if wire.is_none() {
                wire = tokio::select! {
                    wire = Wire::connect(&self.socket) => wire.ok(),
                    () = given.exchange.died.wait() => None,
                };
            }
            let Some(mut wire) = wire else {
                self.give_back(gate, slot, given, Delivery::Failed).await;
                return None;
            };
            let fault = match exchange::run(gate, &mut wire, &given.job, &given.exchange, self.marks).await {
                Ok(Ended::Waits) => {
                    self.wait_outside(gate, slot, wire, given);
                    return None;
                }
                Ok(ended) => {
                    return self.conclude(gate, slot, wire, given, ended);
                }
                // The connection had been closed while it was idle: not a byte was sent, or the kernel says that none was read.
                Err(Fault::Closed(seen)) if is_reused && self.is_unnoticed(seen) && !self.closed.get() => continue,
                Err(Fault::Busy { by }) if !self.closed.get() => {
                    self.take_back(gate, slot, given, by).await;
                    return None;
                }
                Err(Fault::Withdrawn) => {
                    drop(wire);
                    self.give_back(gate, slot, given, Delivery::Unseen).await;
                    return None;
                }
                Err(Fault::Unsent) => {
                    slot.free();
                    gate.finished(given.lease);
                    return Some(wire);
                }
                Err(fault) => fault,
            };
            drop(wire);
            self.conclude_broken(gate, slot, given, fault).await;
            return None;
        }
    }

    /// Whether the worker can know nothing of the request. Another runtime than Node may have read a part of it.
    fn is_unnoticed(&self, seen: Seen) -> bool {
        seen.is_unnoticed() && (self.marks || !seen.sent)
    }

    /// The request has left its slot, which is free: the response goes on as a stream. How long it lives is no measure of the
    /// worker.
    pub(super) fn detach(&self, gate: &Gate, slot: &Slot, lease: Lease, answer: &Answer) -> StreamLease {
        slot.free();
        self.finished_total.set(self.finished_total.get() + 1);
        let now = Instant::now();
        answer.times.update(|times| Times { finished: Some(now), ..times });
        answer.is_stream.set(true);
        gate.detached(lease)
    }

    /// The app waits with its answer: the slot is free, and the answer is read outside of it.
    fn wait_outside(self: &Rc<Self>, gate: &Rc<Gate>, slot: &Slot, wire: Wire, given: Given) {
        let Given { lease, job, exchange } = given;
        slot.carried.replace(None);
        job.answer.last_moved.set(Instant::now());
        let stream = self.detach(gate, slot, lease, &job.answer);
        let (slots, gate) = (Rc::clone(self), Rc::clone(gate));
        tokio::task::spawn_local(async move {
            if exchange::run_waiting(&gate, wire, &job, &exchange, slots.marks).await {
                job.answer.fail(slots.stream_broke(&exchange).await);
            }
            drop(stream);
        });
    }

    /// The worker finished its response, or turned it into a stream.
    pub(super) fn conclude(
        self: &Rc<Self>,
        gate: &Rc<Gate>,
        slot: &Slot,
        wire: Wire,
        given: Given,
        ended: Ended,
    ) -> Option<Wire> {
        let Given { lease, job, exchange } = given;
        match ended {
            Ended::Whole { reusable } => {
                self.finished_total.set(self.finished_total.get() + 1);
                job.answer.times.update(|times| Times { finished: Some(Instant::now()), ..times });
                let may_carry_more = self.marks || gate.config().workers.keep_alive_without_preload;
                let kept = (reusable && may_carry_more && !self.is_raw.get()).then_some(wire);
                // Before the slot is free, as the next request may be given to it within that call.
                slot.carried.replace(kept.as_ref().map(|_| exchange));
                slot.free();
                gate.finished(lease);
                gate.proven(job);
                kept
            }
            Ended::Stream { head } => {
                let stream = self.detach(gate, slot, lease, &job.answer);
                let (slots, gate, answer) = (Rc::clone(self), Rc::clone(gate), Rc::clone(&job.answer));
                tokio::task::spawn_local(async move {
                    if exchange::run_stream(&gate, wire, &answer, &exchange, head).await {
                        answer.fail(slots.stream_broke(&exchange).await);
                    }
                    drop(stream);
                });
                None
            }
            // Taken before it comes here, and no upgrade is told to be a poll.
            Ended::Waits => {
                slot.free();
                gate.finished(lease);
                None
            }
            Ended::Upgraded { head } => {
                let stream = self.detach(gate, slot, lease, &job.answer);
                job.answer.begin(head);
                job.answer.upgrade(wire.into_upgraded(stream));
                None
            }
        }
    }

    pub(super) fn note(&self, gate: &Gate, job: &Job, what: &str) {
        let text = format!("request {} at worker {} {what}", job.request_id, self.worker.0);
        gate.observer.emit(Happening::Note { level: Level::Warn, text: &text });
    }
}
