//! Takes requests down the ladder, on their arrival and when the queue refuses them later.

use std::rc::Rc;

use sluice_catalog::errors::Code;
use sluice_journal::Step;
use sluice_scheduler::{Event, Need, Refusal, RequestId};
use tokio::time::Instant;

use super::dispatch::Dispatch;
use crate::ladder::Arrival;
use crate::upstream::WorkerRequest;
use sluice_wire::respond::answer::Answer;

impl Dispatch {
    /// Submits a complete request for a worker, and gives it the best available step. The result shows in its answer.
    pub(crate) fn submit(&self, at: Instant, request: &Rc<WorkerRequest>) {
        let need = Need { ahead: request.may_go_ahead(), ..request.need.get() };
        request.need.set(need);
        let arrival = self.arrival(at, request);
        let (answer, step) = (&request.answer, arrival.step());
        request.times.arrived.set(Some(arrival.at));
        answer.facts.step.set(Some(step));
        match step {
            Step::Render => {
                self.requests.add(request);
                self.tell_at(at, Event::Arrived { request: request.request, need });
            }
            Step::Stale | Step::Shell | Step::Refuse => {
                turn_away(answer, Code::QueueOverBudget, arrival.retry_after_s());
            }
        }
    }

    fn arrival(&self, at: Instant, request: &WorkerRequest) -> Arrival {
        let budget_ms = Some(self.road.config().queue.budget_ms).filter(|budget_ms| *budget_ms > 0);
        let budget_ms = request.class.budget_ms.map(u64::from).or(budget_ms);
        // Predicted only where it decides anything here; the queue has limits of its own.
        let wait_ms =
            budget_ms.and_then(|_| self.scheduler.read(|scheduler| scheduler.predicted_wait_ms_of(request.need.get())));
        Arrival { at, wait_ms, budget_ms }
    }

    /// Ends a request whose client has gone. Returns whether it was still queued, so that no worker will ever see it.
    pub(crate) fn leave(&self, request: RequestId) -> bool {
        let was_queued = self.requests.take_queued(request).is_some();
        if was_queued {
            self.tell(Event::Left { request });
        }
        was_queued
    }

    pub(crate) fn is_queued(&self, request: RequestId) -> bool {
        self.requests.queued(request).is_some()
    }

    /// Refuses a request for the queue, at its arrival or later.
    pub(super) fn refuse(&self, request: RequestId, reason: Refusal, retry_after_s: u32) {
        let Some(request) = self.requests.take_queued(request) else { return };
        let code = match reason {
            Refusal::Full => Code::QueueFull,
            Refusal::Predicted => Code::QueueWaitPredicted,
            Refusal::Deadline => Code::QueueDeadline,
            Refusal::Stopping => Code::Draining,
            Refusal::Down => Code::AppDown,
        };
        turn_away(&request.answer, code, retry_after_s);
    }
}

fn turn_away(answer: &Answer, code: Code, retry_after_s: u32) {
    answer.facts.step.set(Some(Step::Refuse));
    answer.facts.retry_after_s.set(Some(retry_after_s));
    answer.fail(code);
}
