//! Requests handed to workers ahead, as the gate counts them, and the clock that takes them back.

use std::rc::Rc;
use std::time::Duration;

use sluice_dispatch::{Ahead, Event as ExchangeEvent};
use sluice_scheduler::{Event, RequestId, WorkerId};
use tokio::time::Instant;

use super::Gate;
use crate::upstream::{Slots, WorkerRequest};
use sluice_wire::respond::answer::Times;

impl Gate {
    /// Takes requests back in time that one worker was handed ahead while another is free. The sweep of all other timeouts is far too
    /// coarse for that.
    pub(super) fn watch_handed(&self) {
        if self.service.watches_handed.get() {
            return;
        }
        let Some(due) = self.scheduler.borrow().take_back_due() else { return };
        self.service.watches_handed.set(true);
        let gate = self.rc();
        let wait = Duration::from_micros(due.since_us(self.now()));
        tokio::task::spawn_local(async move {
            tokio::time::sleep(wait).await;
            gate.service.watches_handed.set(false);
            gate.tell(Event::Tick);
        });
    }

    /// Takes requests back that the worker has not begun, and records those that it has.
    pub(super) fn take_back(&self, worker: WorkerId) {
        let Some(slots) = self.slots_of(worker) else { return };
        self.withdraw(worker, &slots.take_unseen());
        for request in self.handed_to(worker) {
            if !request.has_begun() && !request.is_queued() {
                self.tell(Event::Begun { worker, request: request.request });
            }
        }
    }

    /// Hands a request ahead: the worker begins it only if it takes its number out of the pipe first. Returns whether the number is in
    /// there.
    pub(super) fn hand(&self, slots: &Slots, request: &WorkerRequest) -> bool {
        let number = self.service.handed_total.get() + 1;
        let is_handed = slots.hand(number);
        if is_handed {
            self.service.handed_total.set(number);
            request.handed_as.set(number);
        }
        is_handed
    }

    /// Takes back the requests with these numbers, which the app will never see. Their tasks bring them back to the queue.
    pub(crate) fn withdraw(&self, worker: WorkerId, numbers: &[u64]) {
        if numbers.is_empty() {
            return;
        }
        for request in self.handed_to(worker) {
            if numbers.contains(&request.handed_as.get()) {
                self.service.taken_back_total.set(self.service.taken_back_total.get() + 1);
                request.tell(ExchangeEvent::Withdrawn);
            }
        }
    }

    /// Begins a request that is first in its worker now.
    pub(super) fn begins(&self, at: Instant, request: RequestId) {
        let Some(request) = self.requests.held(request) else { return };
        request.begin(at);
        request.answer.times.update(|times| Times { dispatched: Some(at), ..times });
        self.tell_dispatched(at, &request);
    }

    pub(super) fn slots_of(&self, worker: WorkerId) -> Option<Rc<Slots>> {
        self.slots.borrow().get(&worker).cloned()
    }

    /// Requests that the worker was handed ahead.
    fn handed_to(&self, worker: WorkerId) -> Vec<Rc<WorkerRequest>> {
        self.slots_of(worker).map(|slots| slots.held(|request| request.ahead() != Ahead::No)).unwrap_or_default()
    }

    /// Requests that workers were handed ahead of time.
    pub fn handed_total(&self) -> u64 {
        self.service.handed_total.get()
    }

    /// Requests that were handed ahead and taken back before the app saw them.
    pub fn taken_back_total(&self) -> u64 {
        self.service.taken_back_total.get()
    }
}
