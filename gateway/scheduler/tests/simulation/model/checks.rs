//! The promises themselves, as far as they are about requests and about time.

use sluice_scheduler::{Event, Refusal, RequestId, Scheduler, Time};

use super::{Fate, Model, Request, promise};

/// Requests that must have finished before any is refused for how long others take.
const FINISHED_MIN: u64 = 8;

impl Model {
    /// I3: whoever is replaced serves until another does. Only what happens to a worker itself takes it away.
    pub(super) fn check_capacity(&self, event: Event, dropped: u32) -> Result<(), String> {
        let lost = self.ready_before.saturating_sub(self.workers.ready());
        let allowed = match event {
            Event::Exited { .. } | Event::Closing { .. } | Event::Faulted { .. } | Event::Stuck { .. } => 1 + dropped,
            Event::Scaled { .. } | Event::Stopping => u32::MAX,
            _ => dropped,
        };
        promise!(lost <= allowed, "I3: {lost} of {} workers stopped serving at {event:?}", self.ready_before);
        Ok(())
    }

    /// Nothing is decided twice.
    pub(super) fn is_undecided(&self, request: RequestId) -> Result<(), String> {
        promise!(
            self.queue.contains_key(&request),
            "I3/I5: {request:?} was decided and does not wait: {:?}",
            self.requests.get(&request).map(|known| known.fate)
        );
        Ok(())
    }

    pub(super) fn may_refuse(&self, request: RequestId, reason: Refusal) -> Result<(), String> {
        promise!(self.queue.contains_key(&request), "I3: {request:?} was refused and does not wait");
        let admission = self.admission.filter(|admission| admission.request == request);
        let limits = &self.limits;
        match (reason, admission) {
            (Refusal::Stopping, _) => {
                promise!(self.workers.stopping(), "{request:?} refused as stopping while serving");
            }
            (Refusal::Deadline, _) => {
                self.is_undecided(request)?;
                let Request { fate, .. } = self.requests[&request];
                let due = self.due(&self.queue[&request]);
                promise!(due <= self.now, "{request:?} was refused before its deadline");
                let is_late = self.now.0 >= due.0 + self.tick_us && fate == Fate::Queued { returned: false };
                promise!(!is_late, "I6: {request:?} was refused {} µs late", self.now.0 - due.0);
            }
            (Refusal::Down, _) => return Err(format!("{request:?} was refused as if the app were being developed")),
            (_, None) => return Err(format!("I3: {request:?} was admitted and then refused as {reason:?}")),
            (_, Some(admission)) if admission.is_free => {
                return Err(format!("{request:?} was refused as {reason:?} though a worker was free"));
            }
            (Refusal::Full, Some(admission)) => {
                let (max, kept) = (limits.queue_length_max, limits.queue_length_max / 4);
                let is_full = match self.home_of(self.requests[&request].need) {
                    Some(_) => admission.home_length >= (max / self.ready_before.max(1) as usize).max(1),
                    None => admission.has_two_sides && admission.side_length >= max - kept,
                };
                let is_full = is_full || admission.queue_length >= max;
                promise!(is_full, "{request:?} refused: full, which it is not");
            }
            (Refusal::Predicted, Some(admission)) => {
                let few = self.finished < FINISHED_MIN;
                promise!(!few, "{request:?} was refused by what {} requests took", self.finished);
                let wait_ms = admission.predicted_wait_ms.unwrap_or(0);
                // What it costs itself comes out of its deadline.
                let deadline_ms = self.requests[&request].need.deadline_ms.map_or(u64::MAX, u64::from);
                let wait_ms_max = limits.queue_wait_ms_max.min(deadline_ms);
                let may = wait_ms > wait_ms_max || deadline_ms < u64::MAX;
                promise!(may, "{request:?} refused: a wait of {wait_ms} ms was predicted");
            }
        }
        Ok(())
    }

    pub(super) fn check_requests(&self, scheduler: &Scheduler) -> Result<(), String> {
        promise!(self.orphans.is_empty(), "I3: {:?} died with their worker and nobody was told", self.orphans);
        promise!(self.surplus_stream.is_none(), "I6: {:?} is a stream too many", self.surplus_stream);
        self.check_conservation(scheduler)?;
        if let Some((request, queued)) = self.queue.iter().min_by_key(|(_, queued)| self.due(queued)) {
            promise!(self.due(queued) > self.now, "I6: {request:?} waits beyond its deadline");
            promise!(!self.workers.stopping(), "I3: {request:?} waits for a worker that will never come");
        }
        if let Some(admission) = self.admission
            && self.queue.contains_key(&admission.request)
        {
            promise!(admission.queue_length < self.limits.queue_length_max, "I6: the queue grew beyond its length");
            let wait_ms = admission.predicted_wait_ms.unwrap_or(0);
            promise!(wait_ms <= self.limits.queue_wait_ms_max, "admitted with a predicted wait of {wait_ms} ms");
        }
        let oldest = self.queue.first_key_value().map(|(_, queued)| queued.arrived);
        promise!(scheduler.queue_length() == self.queue.len(), "queue length is {}", scheduler.queue_length());
        promise!(scheduler.oldest_arrival() == oldest, "the oldest is {:?}", scheduler.oldest_arrival());
        Ok(())
    }

    /// The scheduler wakes exactly when something is due, and nothing that was due is left undone.
    pub(super) fn check_deadline(&self, scheduler: &Scheduler) -> Result<(), String> {
        let first = self.queue.values().map(|queued| self.due(queued)).min();
        let (latest, earliest) = self.workers.next_deadline(self.now);
        let expected = [first, latest, self.workers.handed_late()].into_iter().flatten().min();
        // Nothing takes minutes but letting a worker of the long lane go.
        let told = scheduler.next_deadline().filter(|told| *told < self.now.plus_ms(200_000));
        let is_early =
            told < expected.or(Some(Time(u64::MAX))) && told.is_some() && earliest.is_some() && told >= earliest;
        promise!(told == expected || is_early, "I6: next deadline {told:?}, but something is due {expected:?}");
        Ok(())
    }

    /// A tick that was due has done what was due, so that the caller does not spin.
    pub fn check_that_time_went_on(&self, scheduler: &Scheduler) -> Result<(), String> {
        let next = scheduler.next_deadline();
        // A stop time-out of nothing is due in the step after the stop, at the same instant.
        let is_over = next.is_none_or(|next| next > self.now || self.limits.stop_timeout_ms == 0);
        promise!(is_over, "livelock: a tick at {:?} left {next:?} due", self.now);
        Ok(())
    }

    /// Every request that arrived has ended, and nobody is left.
    pub fn check_end_of_day(&self, scheduler: &Scheduler) -> Result<(), String> {
        for (request, Request { fate, .. }) in &self.requests {
            promise!(matches!(fate, Fate::Ended(_)), "I3: {request:?} never ended: {fate:?}");
        }
        promise!(scheduler.is_stopped(), "the gateway cannot leave: {:?}", scheduler.workers().collect::<Vec<_>>());
        promise!(scheduler.reload_progress().is_none(), "a reload never ended");
        Ok(())
    }
}
