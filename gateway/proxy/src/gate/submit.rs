//! Takes requests down the ladder, on their arrival and when the queue turns them away later.

use sluice_catalog::errors::Code;
use sluice_journal::Step;
use sluice_scheduler::{Event, Refusal, RequestId};
use tokio::time::Instant;

use super::Gate;
use crate::admit::ladder::Arrival;
use crate::upstream::Job;

impl Gate {
    /// A whole request for a worker: gives it the best that can be had. What becomes of it shows in the job's answer.
    pub(crate) fn submit(&self, at: Instant, mut job: Box<Job>) {
        job.class.need.ahead = job.may_go_ahead();
        let arrival = self.arrival(at, &job);
        let step = arrival.step();
        job.answer.arrival.set(Some(arrival));
        job.answer.step.set(Some(step));
        match step {
            Step::Render => {
                let (request, need) = (job.request, job.class.need);
                self.requests.queue(job);
                self.tell_at(at, Event::Arrived { request, need });
            }
            Step::Stale | Step::Shell | Step::Refuse => turn_away(&job, Code::QueueOverBudget, arrival.retry_after_s()),
        }
    }

    /// Whether a worker has this connection to the gateway, by its port.
    pub(crate) fn is_own_call(&self, port: u16) -> bool {
        self.own_calls.borrow().has(port)
    }

    fn arrival(&self, at: Instant, job: &Job) -> Arrival {
        let budget_ms = Some(self.active.borrow().config.queue.budget_ms).filter(|budget_ms| *budget_ms > 0);
        let budget_ms = job.class.budget_ms.map(u64::from).or(budget_ms);
        // Predicted only where it decides anything here; the queue has limits of its own.
        let wait_ms = budget_ms.and_then(|_| self.scheduler.borrow().predicted_wait_ms_of(job.class.need));
        Arrival { at, wait_ms, budget_ms }
    }

    /// The queue turns a request away, at its arrival or later.
    pub(super) fn refuse(&self, request: RequestId, reason: Refusal, retry_after_s: u32) {
        let Some(job) = self.requests.take_queued(request) else { return };
        let code = match reason {
            Refusal::Full => Code::QueueFull,
            Refusal::Predicted => Code::QueueWaitPredicted,
            Refusal::Deadline => Code::QueueDeadline,
            Refusal::Stopping => Code::Draining,
            Refusal::Down => Code::AppDown,
        };
        turn_away(&job, code, retry_after_s);
    }
}

fn turn_away(job: &Job, code: Code, retry_after_s: u32) {
    job.answer.step.set(Some(Step::Refuse));
    job.answer.retry_after_s.set(Some(retry_after_s));
    job.answer.fail(code);
}
