//! What the gate keeps of requests that were handed to workers ahead of time, and the clock that takes them back.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use sluice_scheduler::{Event, RequestId, WorkerId};
use tokio::time::Instant;

use super::Gate;
use crate::respond::answer::Times;
use crate::upstream::{Ahead as Stage, InFlight, Slots};

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
    pub(super) fn watch_handed(&self) {
        if self.ahead.is_watched.get() {
            return;
        }
        let Some(due) = self.scheduler.borrow().take_back_due() else { return };
        self.ahead.is_watched.set(true);
        let gate = self.rc();
        let wait = Duration::from_micros(due.since_us(self.now()));
        tokio::task::spawn_local(async move {
            tokio::time::sleep(wait).await;
            gate.ahead.is_watched.set(false);
            gate.tell(Event::Tick);
        });
    }

    /// Takes back what the worker has not begun, and says what it has.
    pub(super) fn take_back(&self, worker: WorkerId) {
        let Some(slots) = self.slots_of(worker) else { return };
        self.withdraw(worker, &slots.take_unseen());
        for exchange in self.handed_to(worker) {
            if !exchange.has_begun() && !exchange.is_withdrawn.get() {
                self.tell(Event::Begun { worker, request: exchange.request });
            }
        }
    }

    /// The exchange will be begun by the worker only if it takes its number out of the pipe first.
    pub(super) fn hand(&self, slots: &Slots, exchange: &InFlight) {
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
        for exchange in self.handed_to(worker) {
            if numbers.contains(&exchange.handed_as.get()) {
                self.ahead.taken_back_total.set(self.ahead.taken_back_total.get() + 1);
                exchange.is_withdrawn.set(true);
                exchange.withdrawn.set();
            }
        }
    }

    /// None stands before the request in its worker any more.
    pub(super) fn begins(&self, at: Instant, request: RequestId) {
        let Some(exchange) = self.requests.held(request) else { return };
        exchange.begin(at);
        let answer = &exchange.answer;
        answer.times.update(|times| Times { dispatched: Some(at), ..times });
        self.tell_dispatched(at, answer);
    }

    pub(super) fn slots_of(&self, worker: WorkerId) -> Option<Rc<Slots>> {
        self.slots.borrow().get(&worker).cloned()
    }

    /// What the worker was handed.
    fn handed_to(&self, worker: WorkerId) -> Vec<Rc<InFlight>> {
        self.slots_of(worker).map(|slots| slots.held(|exchange| exchange.ahead.get() != Stage::No)).unwrap_or_default()
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
