//! Requests handed to workers ahead: their clock, which takes them back, and their begin.

use std::time::Duration;

use sluice_scheduler::{Event, RequestId, WorkerId};
use tokio::time::Instant;

use super::dispatch::Dispatch;
use sluice_wire::respond::answer::Times;

impl Dispatch {
    /// Takes requests back in time that one worker was handed ahead while another is free. The sweep of all other timeouts is far too
    /// coarse for that.
    pub(super) fn watch_handed(&self) {
        if self.watches_handed.get() {
            return;
        }
        let Some(due) = self.scheduler.read(sluice_scheduler::Scheduler::take_back_due) else { return };
        self.watches_handed.set(true);
        let dispatch = self.rc();
        let wait = Duration::from_micros(due.since_us(self.scheduler.now()));
        tokio::task::spawn_local(async move {
            tokio::time::sleep(wait).await;
            dispatch.watches_handed.set(false);
            dispatch.tell(Event::Tick);
        });
    }

    /// Takes requests back that the worker has not begun, and records those that it has.
    pub(super) fn take_back(&self, worker: WorkerId) {
        let Some(slots) = self.slots.of(worker) else { return };
        self.slots.withdraw(worker, &slots.take_unseen());
        for request in self.slots.handed_to(worker) {
            if !request.has_begun() && !request.is_queued() {
                self.tell(Event::Begun { worker, request: request.request });
            }
        }
    }

    /// Begins a request that is first in its worker now.
    pub(super) fn begins(&self, at: Instant, request: RequestId) {
        let Some(request) = self.requests.held(request) else { return };
        request.begin(at);
        request.answer.facts.times.update(|times| Times { dispatched: Some(at), ..times });
        self.tell_dispatched(at, &request);
    }
}
