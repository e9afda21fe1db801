//! What the scheduler promises, kept apart from how it keeps it.
//!
//! The model sees the same events, follows every action, and says which promise an action or its absence breaks. It
//! must not ask the scheduler what to believe; it only compares.

use std::collections::BTreeMap;

use sluice_scheduler::{Action, Event, KillReason, Limits, Refusal, RequestId, Scheduler, Time, WorkerId};

use crate::workers::{Due, Workers};

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    Finished,
    Refused(&'static str),
    Orphaned,
    Left,
    Detached,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Queued { returned: bool },
    Held(WorkerId),
    Ended(End),
}

/// What was so when a request arrived.
#[derive(Clone, Copy)]
struct Admission {
    request: RequestId,
    queue_length: usize,
    is_free: bool,
    predicted_wait_ms: Option<u64>,
}

pub struct Model {
    limits: Limits,
    tick_us: u64,
    now: Time,
    fates: BTreeMap<RequestId, (Time, Fate)>,
    queue: BTreeMap<RequestId, Time>,
    pub workers: Workers,
    admission: Option<Admission>,
    /// Requests that a worker held when it died in this step.
    orphans: Vec<RequestId>,
    /// A stream that was opened in this step and is one too many.
    surplus_stream: Option<RequestId>,
    /// Actions and ends by name, to see that a simulation reaches everything.
    pub seen: BTreeMap<String, u64>,
}

macro_rules! promise {
    ($holds:expr, $($broken:tt)+) => {
        if !$holds {
            return Err(format!($($broken)+));
        }
    };
}
pub(crate) use promise;

impl Model {
    pub fn new(limits: Limits, tick_us: u64) -> Model {
        Model {
            workers: Workers::new(limits.clone()),
            limits,
            tick_us,
            now: Time(0),
            fates: BTreeMap::new(),
            queue: BTreeMap::new(),
            admission: None,
            orphans: Vec::new(),
            surplus_stream: None,
            seen: BTreeMap::new(),
        }
    }

    /// Notes what the event meets.
    pub fn before(&mut self, scheduler: &Scheduler, event: Event) {
        self.admission = match event {
            Event::Arrived { request } => Some(Admission {
                request,
                queue_length: self.queue.len(),
                is_free: self.queue.is_empty() && self.workers.has_free_slot(),
                predicted_wait_ms: scheduler.predicted_wait_ms(),
            }),
            _ => None,
        };
    }

    /// Takes in a step and its actions; an error says which promise is broken.
    pub fn follow(&mut self, now: Time, event: Event, actions: &[Action], scheduler: &Scheduler) -> Result<(), String> {
        promise!(now >= self.now, "time runs backwards");
        self.now = now;
        self.take_event(event);
        for action in actions {
            self.take_action(event, *action)?;
        }
        self.check_requests(scheduler)?;
        self.workers.check(now, scheduler)?;
        self.check_deadline(scheduler)
    }

    fn take_event(&mut self, event: Event) {
        match event {
            Event::Arrived { request } => {
                self.fates.insert(request, (self.now, Fate::Queued { returned: false }));
                self.queue.insert(request, self.now);
            }
            Event::Left { request } if self.queue.remove(&request).is_some() => self.end(request, End::Left),
            Event::Finished { worker, request } if self.workers.release(worker, request) => {
                self.end(request, End::Finished);
            }
            Event::Detached { worker, request } if self.workers.release(worker, request) => {
                self.workers.open_stream(worker);
                self.surplus_stream = self.workers.has_too_many_streams(worker).then_some(request);
                self.end(request, End::Detached);
            }
            Event::Undelivered { worker, request } if self.workers.release(worker, request) => {
                if let Some((arrived, fate)) = self.fates.get_mut(&request) {
                    *fate = Fate::Queued { returned: true };
                    self.queue.insert(request, *arrived);
                }
            }
            Event::Exited { worker } => self.orphans = self.workers.exit(self.now, worker),
            other => self.workers.take_event(self.now, other),
        }
    }

    fn take_action(&mut self, event: Event, action: Action) -> Result<(), String> {
        let name = format!("{action:?}");
        self.note(name.split([' ', '{']).next().unwrap_or_default());
        match action {
            Action::Dispatch { request, worker } => {
                self.is_next(request)?;
                let arrived = self.queue.remove(&request).unwrap_or_default();
                let due = arrived.plus_ms(self.limits.queue_wait_ms_max);
                promise!(due > self.now, "I6: {request:?} was dispatched after its deadline");
                self.workers.hold(worker, request)?;
                self.set(request, Fate::Held(worker));
            }
            Action::Refuse { request, reason, retry_after_s } => {
                promise!((1..=60).contains(&retry_after_s), "retry after {retry_after_s} s");
                self.may_refuse(request, reason)?;
                self.queue.remove(&request);
                let reason = match reason {
                    Refusal::Full => "full",
                    Refusal::Predicted => "predicted",
                    Refusal::Deadline => "deadline",
                    Refusal::Stopping => "stopping",
                };
                self.end(request, End::Refused(reason));
            }
            Action::Orphaned { request, worker } => {
                promise!(event == Event::Exited { worker }, "I3: {request:?} orphaned by a worker that lives");
                let at = self.orphans.iter().position(|orphan| *orphan == request);
                let Some(at) = at else { return Err(format!("I3: {request:?} orphaned, {worker:?} did not hold it")) };
                self.orphans.swap_remove(at);
                self.end(request, End::Orphaned);
            }
            Action::CloseStream { request, worker } => {
                promise!(event == Event::Detached { worker, request }, "a stream closed that was not just opened");
                promise!(self.surplus_stream.take() == Some(request), "a stream closed within the limit");
            }
            Action::Start { worker, instance } => self.workers.start(self.now, worker, instance)?,
            Action::Stop { worker } => self.workers.stop(self.now, worker)?,
            Action::Kill { worker, reason } => {
                self.note(if reason == KillReason::StartTimeout { "start timeout" } else { "stop timeout" });
                self.workers.kill(self.now, worker, reason)?;
            }
            Action::BackOff { instance, delay_ms, .. } => self.workers.back_off(self.now, instance, delay_ms)?,
            Action::GiveUp => self.workers.give_up()?,
        }
        Ok(())
    }

    /// First come, first served, whether dispatched or refused for waiting; and nothing is decided twice.
    fn is_next(&self, request: RequestId) -> Result<(), String> {
        let next = self.queue.first_key_value().map(|(next, _)| *next);
        promise!(
            self.queue.contains_key(&request),
            "I3/I5: {request:?} was decided and does not wait: {:?}",
            self.fates.get(&request)
        );
        promise!(next == Some(request), "order: {request:?} came before {next:?}");
        Ok(())
    }

    fn may_refuse(&self, request: RequestId, reason: Refusal) -> Result<(), String> {
        promise!(self.queue.contains_key(&request), "I3: {request:?} was refused and does not wait");
        let admission = self.admission.filter(|admission| admission.request == request);
        let limits = &self.limits;
        match (reason, admission) {
            (Refusal::Stopping, _) => promise!(self.workers.stopping, "{request:?} refused as stopping while serving"),
            (Refusal::Deadline, _) => {
                self.is_next(request)?;
                let (arrived, fate) = self.fates[&request];
                let due = arrived.plus_ms(limits.queue_wait_ms_max);
                promise!(due <= self.now, "{request:?} was refused before its deadline");
                let is_late = self.now.0 >= due.0 + self.tick_us && fate == Fate::Queued { returned: false };
                promise!(!is_late, "I6: {request:?} was refused {} µs late", self.now.0 - due.0);
            }
            (_, None) => return Err(format!("I3: {request:?} was admitted and then refused as {reason:?}")),
            (_, Some(admission)) if admission.is_free => {
                return Err(format!("{request:?} was refused as {reason:?} though a worker was free"));
            }
            (Refusal::Full, Some(admission)) => {
                promise!(
                    admission.queue_length >= limits.queue_length_max,
                    "{request:?} refused: full, which it is not"
                );
            }
            (Refusal::Predicted, Some(admission)) => {
                let wait_ms = admission.predicted_wait_ms.unwrap_or(0);
                promise!(
                    wait_ms > limits.queue_wait_ms_max,
                    "{request:?} refused: a wait of {wait_ms} ms was predicted"
                );
            }
        }
        Ok(())
    }

    fn check_requests(&self, scheduler: &Scheduler) -> Result<(), String> {
        promise!(self.orphans.is_empty(), "I3: {:?} died with their worker and nobody was told", self.orphans);
        promise!(self.surplus_stream.is_none(), "I6: {:?} is a stream too many", self.surplus_stream);
        if let Some((request, arrived)) = self.queue.first_key_value() {
            let due = arrived.plus_ms(self.limits.queue_wait_ms_max);
            promise!(due > self.now, "I6: {request:?} waits beyond its deadline");
            promise!(!self.workers.has_free_slot(), "work conservation: {request:?} waits while a slot is free");
            promise!(!self.workers.stopping, "I3: {request:?} waits for a worker that will never come");
        }
        if let Some(admission) = self.admission
            && self.queue.contains_key(&admission.request)
        {
            promise!(admission.queue_length < self.limits.queue_length_max, "I6: the queue grew beyond its length");
            let wait_ms = admission.predicted_wait_ms.unwrap_or(0);
            promise!(wait_ms <= self.limits.queue_wait_ms_max, "admitted with a predicted wait of {wait_ms} ms");
        }
        let oldest = self.queue.first_key_value().map(|(_, arrived)| *arrived);
        promise!(scheduler.queue_length() == self.queue.len(), "queue length is {}", scheduler.queue_length());
        promise!(scheduler.oldest_arrival() == oldest, "the oldest is {:?}", scheduler.oldest_arrival());
        Ok(())
    }

    /// The scheduler wakes exactly when something is due, and nothing that was due is left undone.
    fn check_deadline(&self, scheduler: &Scheduler) -> Result<(), String> {
        let oldest = self.queue.values().next().map(|arrived| arrived.plus_ms(self.limits.queue_wait_ms_max));
        let expected = [oldest, self.workers.next_deadline()].into_iter().flatten().min();
        let told = scheduler.next_deadline();
        promise!(told == expected, "I6: next deadline {told:?}, but something is due {expected:?}");
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
        for (request, (_, fate)) in &self.fates {
            promise!(matches!(fate, Fate::Ended(_)), "I3: {request:?} never ended: {fate:?}");
        }
        promise!(scheduler.is_stopped(), "the gateway cannot leave: {:?}", scheduler.workers().collect::<Vec<_>>());
        promise!(self.workers.due == Due::Nothing, "something was left undone");
        Ok(())
    }

    fn end(&mut self, request: RequestId, end: End) {
        self.note(&format!("{end:?}"));
        self.set(request, Fate::Ended(end));
    }

    fn set(&mut self, request: RequestId, to: Fate) {
        if let Some((_, fate)) = self.fates.get_mut(&request) {
            *fate = to;
        }
    }

    fn note(&mut self, what: &str) {
        match self.seen.get_mut(what) {
            Some(count) => *count += 1,
            None => {
                self.seen.insert(what.to_owned(), 1);
            }
        }
    }
}
