//! What the scheduler promises, kept apart from how it keeps it.
//!
//! The model sees the same events, follows every action, and says which promise an action or its absence breaks. It
//! must not ask the scheduler what to believe; it only compares.

mod checks;
mod order;

use std::collections::BTreeMap;

use order::WaitingRequest;
use sluice_scheduler::{Action, Event, Home, Lane, Limits, Need, Order, Refusal, RequestId, Scheduler, Time, WorkerId};

use crate::places::Due;
use crate::workers::{SlotRequest, Worker, Workers};

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    Finished,
    Refused(&'static str),
    Orphaned,
    Left,
    Detached,
    /// The gateway's own, which a worker never saw.
    Unwarmed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Queued { returned: bool },
    Held(WorkerId),
    Ended(End),
}

struct Request {
    arrived: Time,
    need: Need,
    fate: Fate,
    /// Times that a worker got it and may have seen it.
    given: u32,
    retried: bool,
    /// Its worker died before it had begun it.
    unseen: bool,
}

/// What was so when a request arrived.
#[derive(Clone, Copy)]
struct Admission {
    request: RequestId,
    queue_length: usize,
    side_length: usize,
    home_length: usize,
    has_two_sides: bool,
    is_free: bool,
    predicted_wait_ms: Option<u64>,
}

pub struct Model {
    limits: Limits,
    tick_us: u64,
    now: Time,
    requests: BTreeMap<RequestId, Request>,
    queue: BTreeMap<RequestId, WaitingRequest>,
    pub workers: Workers,
    admission: Option<Admission>,
    /// Requests of clients that workers have finished, those that were detached not counted.
    finished: u64,
    /// Requests that a worker held when it died in this step.
    orphans: Vec<RequestId>,
    /// A stream that was opened in this step and is one too many.
    surplus_stream: Option<RequestId>,
    /// Workers that took requests before this step.
    ready_before: u32,
    /// Whether those that take requests from now on have been found in this step.
    has_turned: bool,
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
            requests: BTreeMap::new(),
            queue: BTreeMap::new(),
            admission: None,
            finished: 0,
            orphans: Vec::new(),
            surplus_stream: None,
            ready_before: 0,
            has_turned: false,
            seen: BTreeMap::new(),
        }
    }

    pub fn set_limits(&mut self, limits: &Limits) {
        if self.limits.order == Order::Fifo && limits.order == Order::Shortest && limits.ageing > 0 {
            self.queue.values_mut().for_each(WaitingRequest::grow_old);
        }
        self.workers.set_limits(limits);
        self.limits = limits.clone();
    }

    /// Notes what the event meets.
    pub fn before(&mut self, scheduler: &Scheduler, event: Event) {
        (self.ready_before, self.has_turned) = (self.workers.ready(), false);
        self.admission = match event {
            Event::Arrived { request, need } => Some(Admission {
                request,
                queue_length: self.queue.len(),
                side_length: self.waiting_of(self.side(need, scheduler), scheduler),
                home_length: self.waiting_at(self.settled(need).home),
                has_two_sides: self.limits.order == Order::Shortest && scheduler.costs().cut_us().is_some(),
                is_free: self.goes_at_once(need, scheduler),
                predicted_wait_ms: scheduler.predicted_wait_ms_of(need),
            }),
            _ => None,
        };
    }

    /// Takes in a step and its actions; an error says which promise is broken.
    pub fn follow(&mut self, now: Time, event: Event, actions: &[Action], scheduler: &Scheduler) -> Result<(), String> {
        promise!(now >= self.now, "time runs backwards");
        self.now = now;
        self.workers.places.lowered.clear();
        self.take_event(event, scheduler)?;
        // The long lane is closed before anything else and grows after it: a reload may end before it has a place more.
        let mut grows = scheduler.long_wanted() > self.workers.long_wanted();
        let dropped = if grows { 0 } else { self.scale_long(scheduler)? };
        for action in actions {
            if grows && matches!(action, Action::Start { lane: Lane::Long, .. }) {
                self.turn();
                self.scale_long(scheduler)?;
                grows = false;
            }
            self.take_action(event, *action, scheduler)?;
        }
        self.turn();
        if grows {
            self.scale_long(scheduler)?;
        }
        self.workers.check_grant(event, self.wants_nobody(event, scheduler))?;
        self.check_capacity(event, dropped)?;
        let oldest = self.queue.first_key_value().map(|(_, queued)| queued.arrived);
        self.workers.wait_for_queue(now, self.queue.len(), oldest);
        for what in std::mem::take(&mut self.workers.places.reached) {
            self.note(what);
        }
        self.check_requests(scheduler)?;
        self.workers.check(now, scheduler)?;
        self.check_deadline(scheduler)
    }

    fn take_event(&mut self, event: Event, scheduler: &Scheduler) -> Result<(), String> {
        match event {
            Event::Arrived { request, need } => {
                if matches!(need.home, Home::At(_)) {
                    self.note(if self.home_of(need).is_some() { "came home" } else { "came to a home that is gone" });
                }
                let fate = Fate::Queued { returned: false };
                self.requests.insert(
                    request,
                    Request { arrived: self.now, need, fate, given: 0, retried: false, unseen: false },
                );
                self.join(request, WaitingRequest::new(self.now, need, false, scheduler));
            }
            Event::Left { request } if self.queue.remove(&request).is_some() => self.end(request, End::Left),
            Event::Finished { worker, request } => {
                self.workers.turn_again(self.now, worker);
                if let Some(SlotRequest { is_own, .. }) = self.workers.release(worker, request) {
                    self.finished += u64::from(!is_own);
                    self.count_finished(worker, is_own);
                    self.end(request, End::Finished);
                }
            }
            Event::Detached { worker, request } => {
                if let Some(SlotRequest { is_own, .. }) = self.workers.release(worker, request) {
                    self.count_finished(worker, is_own);
                    self.workers.open_stream(worker);
                    self.surplus_stream = self.workers.has_too_many_streams(worker).then_some(request);
                    self.end(request, End::Detached);
                }
            }
            Event::Undelivered { worker, request } => {
                if let Some(SlotRequest { is_own, .. }) = self.workers.release(worker, request) {
                    self.put_back(request, is_own, scheduler);
                }
            }
            Event::Occupied { worker, request, by } => {
                if let Some(held) = self.workers.release(worker, request) {
                    self.workers.hold_on(worker, SlotRequest { request: by, ..held });
                    self.note("Occupied");
                    self.put_back(request, held.is_own, scheduler);
                }
            }
            Event::Retried { request, arrived, need } => {
                self.note("Retried");
                let Some(old) = self.requests.get_mut(&request) else { return Err(format!("{request:?} never was")) };
                promise!(old.fate == Fate::Ended(End::Orphaned), "I5: {request:?} is tried again: {:?}", old.fate);
                let was_unseen = std::mem::take(&mut old.unseen);
                let may_be = (was_unseen || !old.retried) && old.arrived == arrived;
                promise!(may_be, "I5: {request:?} is tried twice, or as another");
                old.retried |= !was_unseen;
                old.fate = Fate::Queued { returned: true };
                self.join(request, WaitingRequest::new(arrived, need, true, scheduler));
            }
            Event::WarmingWith { request, worker } => {
                self.note("WarmingWith");
                let fate = Fate::Held(worker);
                let need = Need::default();
                self.requests.insert(
                    request,
                    Request { arrived: self.now, need, fate, given: 1, retried: false, unseen: false },
                );
                self.workers.take_event(self.now, event);
            }
            Event::Exited { worker } => {
                let dead = self.workers.live.get(&worker);
                for (SlotRequest { request, .. }, _) in dead.map(|w| w.handed.clone()).unwrap_or_default() {
                    self.note("died with what it was handed");
                    if let Some(old) = self.requests.get_mut(&request) {
                        (old.unseen, old.given) = (true, old.given - 1);
                    }
                }
                self.orphans = self.workers.exit(self.now, worker);
            }
            other => self.workers.take_event(self.now, other),
        }
        Ok(())
    }

    /// No worker has seen it.
    fn put_back(&mut self, request: RequestId, own: bool, scheduler: &Scheduler) {
        if own {
            return self.end(request, End::Unwarmed);
        }
        if let Some(old) = self.requests.get_mut(&request) {
            old.fate = Fate::Queued { returned: true };
            old.given -= 1;
            let queued = WaitingRequest::new(old.arrived, old.need, true, scheduler);
            self.join(request, queued);
        }
    }

    fn count_finished(&mut self, worker: WorkerId, own: bool) {
        if !own {
            self.workers.count_finished(worker);
        }
    }

    /// Who takes requests is settled once a step: after what was refused, before anything is started or given away.
    fn turn(&mut self) {
        if !self.has_turned {
            self.has_turned = true;
            self.workers.turn(self.now, !self.queue.is_empty());
        }
    }

    #[allow(clippy::too_many_lines)] // A few for each action.
    fn take_action(&mut self, event: Event, action: Action, scheduler: &Scheduler) -> Result<(), String> {
        let name = format!("{action:?}");
        self.note(name.split([' ', '{']).next().unwrap_or_default());
        match action {
            Action::Dispatch { request, worker } | Action::Hand { request, worker } => {
                // One that comes back is offered to those that serve before anybody else is called.
                let is_back = self.queue.get(&request).is_some_and(|queued| queued.is_back);
                if !is_back || !self.workers.live.get(&worker).is_some_and(Worker::serves) {
                    self.turn();
                }
                self.check_choice(request, worker, scheduler)?;
                let need = self.queue.get(&request).map(|queued| self.settled(queued.need)).unwrap_or_default();
                if need.home != self.queue.get(&request).map(|queued| queued.need.home).unwrap_or_default() {
                    self.note("left home");
                }
                let due = self.queue.remove(&request).map_or(Time(0), |queued| self.due(&queued));
                // One that comes back may have spent its time with a worker; a free one takes it all the same, in that step.
                let is_back = matches!(
                    event,
                    Event::Undelivered { request: back, .. }
                        | Event::Occupied { request: back, .. }
                        | Event::Retried { request: back, .. } if back == request
                );
                promise!(due > self.now || is_back, "I6: {request:?} was dispatched after its deadline");
                let side = if self.limits.order == Order::Shortest && scheduler.costs().is_long(need.class) {
                    Lane::Long
                } else {
                    Lane::Short
                };
                let part = scheduler.part_of(need.class);
                let held = SlotRequest { request, is_own: false, side, part };
                if matches!(action, Action::Hand { .. }) {
                    let is_cheap = scheduler.costs().high_us(need.class).is_some_and(|us| us <= 2_000);
                    promise!(need.ahead && is_cheap, "{request:?} was handed and is not cheap: {need:?}");
                    self.workers.hand(self.now, worker, held)?;
                } else {
                    self.workers.hold(worker, held)?;
                }
                if let Some(given) = self.requests.get_mut(&request) {
                    (given.fate, given.need) = (Fate::Held(worker), need);
                    given.given += 1;
                    promise!(given.given <= 1 + u32::from(given.retried), "I5: {request:?} was given too often");
                }
            }
            Action::Begins { request, worker } => {
                let is_told = matches!(event, Event::Begun { .. } | Event::Waits { .. });
                self.workers.begin(worker, request, is_told)?;
            }
            Action::TakeBack { worker } => {
                // Of a class whose costs are known the service time may not be.
                self.workers.ask_back(self.now, worker, !self.queue.is_empty())?;
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
                    Refusal::Down => "down",
                };
                self.end(request, End::Refused(reason));
            }
            Action::Orphaned { request, worker, arrived, .. } => {
                promise!(event == Event::Exited { worker }, "I3: {request:?} orphaned by a worker that lives");
                let at = self.orphans.iter().position(|orphan| *orphan == request);
                let Some(at) = at else { return Err(format!("I3: {request:?} orphaned, {worker:?} did not hold it")) };
                self.orphans.swap_remove(at);
                let known = self.requests.get(&request).filter(|known| known.fate == Fate::Held(worker));
                let is_old = known.is_none_or(|known| known.arrived == arrived);
                promise!(is_old, "{request:?} is said to have arrived at {arrived:?}");
                self.end(request, End::Orphaned);
            }
            Action::CloseStream { request, worker } => {
                promise!(event == Event::Detached { worker, request }, "a stream closed that was not just opened");
                promise!(self.surplus_stream.take() == Some(request), "a stream closed within the limit");
            }
            Action::Kill { worker, reason } => {
                self.note(&format!("{reason:?}"));
                self.workers.kill(self.now, worker, reason)?;
            }
            Action::BackOff { worker, instance, delay_ms } => {
                self.workers.back_off(self.now, worker, instance, delay_ms)?;
            }
            Action::Hold { worker } => return Err(format!("{worker:?} held as if the app were being developed")),
            Action::Bloated { .. } => self.note("bloated"),
            Action::GiveUp => self.workers.say(Due::GiveUp)?,
            Action::Examine { worker } => self.workers.say(Due::Examine(worker))?,
            Action::ReloadAbandoned { generation, reason } => {
                let name = format!("{reason:?}");
                self.note(&format!("abandoned: {}", name.split([' ', '{']).next().unwrap_or_default()));
                self.workers.say(Due::Abandoned { generation, reason })?;
            }
            Action::Lower { worker } => {
                self.turn();
                self.workers.lower(worker)?;
            }
            Action::Raise { worker } => self.workers.say(Due::Raise(worker))?,
            Action::Start { worker, .. } => {
                self.take_later_action(action)?;
                if let Some(aside_us) = scheduler.aside_us(worker) {
                    self.workers.boots_aside(worker, aside_us)?;
                }
            }
            Action::Stop { .. } | Action::WarmUp { .. } | Action::Recycling { .. } | Action::Reloaded { .. } => {
                self.take_later_action(action)?;
            }
        }
        Ok(())
    }

    /// What is done once it is settled who takes requests.
    fn take_later_action(&mut self, action: Action) -> Result<(), String> {
        self.turn();
        match action {
            Action::Start { worker, instance, generation, lane } => {
                self.workers.start(self.now, worker, (instance, lane), generation)
            }
            Action::Stop { worker } => self.workers.stop(self.now, worker),
            Action::WarmUp { worker } => self.workers.warm_up(worker),
            Action::Recycling { worker, reason } => {
                self.note(&format!("recycled: {reason:?}"));
                self.workers.recycle(self.now, worker, reason)
            }
            Action::Reloaded { generation } => self.workers.say(Due::Reloaded(generation)),
            other => Err(format!("{other:?} is none of these")),
        }
    }

    fn scale_long(&mut self, scheduler: &Scheduler) -> Result<u32, String> {
        let (may_be, is_mixed) = (self.may_have_lanes(), self.is_mixed(scheduler));
        self.workers.scale_long(scheduler.long_wanted(), may_be, is_mixed)
    }

    fn end(&mut self, request: RequestId, end: End) {
        self.note(&format!("{end:?}"));
        self.set(request, Fate::Ended(end));
    }

    fn set(&mut self, request: RequestId, to: Fate) {
        if let Some(request) = self.requests.get_mut(&request) {
            request.fate = to;
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
