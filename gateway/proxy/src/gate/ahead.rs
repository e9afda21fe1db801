//! What the gate keeps of requests that were handed to workers ahead of time, and the clock that takes them back.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use sluice_scheduler::{Event, RequestId, WorkerId};

use super::Gate;
use crate::respond::answer::Times;
use crate::upstream::{Ahead as Stage, Exchange, Slots};

/// See the module's text.
#[derive(Default)]
pub(super) struct Ahead {
    pub(super) handed_total: Cell<u64>,
    taken_back_total: Cell<u64>,
    is_watched: Cell<bool>,
}

impl Gate {
    /// Sees to it that what one worker was handed is taken back in time while another is free. The sweep of all other time-outs
    /// is far too coarse for that.
    pub(super) fn watch_handed(self: &Rc<Self>) {
        if self.ahead.is_watched.get() {
            return;
        }
        let Some(due) = self.scheduler.borrow().take_back_due() else { return };
        self.ahead.is_watched.set(true);
        let gate = Rc::clone(self);
        let wait = Duration::from_micros(due.since_us(self.now()));
        tokio::task::spawn_local(async move {
            tokio::time::sleep(wait).await;
            gate.ahead.is_watched.set(false);
            gate.step(Event::Tick);
        });
    }

    /// The worker's preload has opened the pipe beside its socket.
    pub fn takes_ahead(self: &Rc<Self>, worker: WorkerId) {
        if self.slots_of(worker).is_some_and(|slots| slots.open_pipe().is_ok()) {
            self.step(Event::TakesAhead { worker, takes: true });
        }
    }

    /// The worker's app puts back state of its process after each request.
    pub fn holds_one(self: &Rc<Self>, worker: WorkerId) {
        self.step(Event::HoldsOne { worker });
    }

    /// Takes back what the worker has not begun. What it has begun is told later, as this is within a step.
    pub(super) fn take_back(self: &Rc<Self>, worker: WorkerId) {
        let Some(slots) = self.slots_of(worker) else { return };
        self.withdraw(worker, &slots.take_unseen());
        for request in self.handed_to(worker) {
            self.step_later(Event::Begun { worker, request });
        }
    }

    /// The exchange will be begun by the worker only if it takes its number out of the pipe first.
    pub(super) fn hand(&self, slots: &Slots, exchange: &Exchange) {
        let number = self.ahead.handed_total.get() + 1;
        if slots.hand(number) {
            self.ahead.handed_total.set(number);
            exchange.ahead.set(Stage::Handed);
            exchange.handed_as.set(number);
        }
    }

    /// The app will never see what this worker was handed by these numbers. Their tasks bring them back to the queue.
    pub(crate) fn withdraw(&self, worker: WorkerId, numbers: &[u64]) {
        if numbers.is_empty() {
            return;
        }
        for exchange in self.exchanges.borrow().values() {
            if numbers.contains(&exchange.handed_as.get()) && exchange.answer.worker.get() == Some(worker) {
                self.ahead.taken_back_total.set(self.ahead.taken_back_total.get() + 1);
                exchange.is_withdrawn.set(true);
                exchange.withdrawn.set();
            }
        }
    }

    /// None stands before the request in its worker any more.
    pub(super) fn begins(&self, at: Instant, request: RequestId) {
        let Some(exchange) = self.exchange(request) else { return };
        exchange.begin(at);
        let answer = &exchange.answer;
        answer.times.update(|times| Times { dispatched: Some(at), ..times });
        self.tell_dispatched(at, answer);
    }

    fn slots_of(&self, worker: WorkerId) -> Option<Rc<Slots>> {
        self.slots.borrow().get(&worker).cloned()
    }

    fn exchange(&self, request: RequestId) -> Option<Rc<Exchange>> {
        self.exchanges.borrow().get(&request).cloned()
    }

    /// What the worker was handed and has not begun, as far as the scheduler knows, without what was taken back.
    fn handed_to(&self, worker: WorkerId) -> Vec<RequestId> {
        let exchanges = self.exchanges.borrow();
        let is_handed = |exchange: &Exchange| {
            exchange.ahead.get() == Stage::Handed
                && !exchange.is_withdrawn.get()
                && exchange.answer.worker.get() == Some(worker)
        };
        exchanges.iter().filter(|(_, exchange)| is_handed(exchange)).map(|(request, _)| *request).collect()
    }

    /// Requests that workers were handed ahead of time.
    pub fn handed_total(&self) -> u64 {
        self.ahead.handed_total.get()
    }

    /// Those of them that were taken back, unseen by the app.
    pub fn taken_back_total(&self) -> u64 {
        self.ahead.taken_back_total.get()
    }
}
