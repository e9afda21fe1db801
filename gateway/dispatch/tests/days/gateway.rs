//! The gateway: the real scheduler, and what carries its actions out, as `gateway/proxy/src/gate` does.

use sluice_dispatch::{Ahead, Cause, Event as ExchangeEvent, Phase};
use sluice_scheduler::{Action, Event, KillReason, RequestId, WorkerId};

use crate::day::{Day, Happening, Todo};

/// What the gateway knows of one worker.
pub struct Slots {
    pub idle: Vec<u64>,
    pub is_dying: bool,
    pub cause: Cause,
}

impl Day {
    pub fn tell_scheduler(&mut self, event: Event) {
        self.events.push_back(event);
        if std::mem::replace(&mut self.is_stepping, true) {
            return;
        }
        while let Some(event) = self.events.pop_front() {
            let mut actions = Vec::new();
            self.scheduler.step(self.now, event, &mut actions);
            self.note(|| format!("  scheduler {event:?} → {actions:?}"));
            for action in actions {
                self.carry_out(action);
            }
        }
        self.is_stepping = false;
    }

    /// Tells an exchange. Its task carries out what follows.
    pub fn tell(&mut self, number: RequestId, event: ExchangeEvent) {
        let Some(request) = self.requests.get_mut(&number) else { return };
        let mut actions = sluice_dispatch::Actions::new();
        let before = request.exchange.phase();
        request.exchange.on(self.now, event, &mut actions);
        let after = request.exchange.phase();
        self.note(|| format!("  request {} {before:?} {event:?} → {after:?} {actions:?}", number.0));
        self.todo.extend(actions.into_iter().map(|action| (number, Todo::Act(action))));
    }

    fn carry_out(&mut self, action: Action) {
        match action {
            Action::Dispatch { request, worker } => self.dispatch(request, worker, false),
            Action::Hand { request, worker } => self.dispatch(request, worker, true),
            Action::Begins { request, .. } => self.tell(request, ExchangeEvent::Begun),
            Action::TakeBack { worker } => self.take_back(worker),
            Action::Refuse { request, .. } => {
                self.tell(request, ExchangeEvent::Unwanted);
                self.is_answered(request, "a request is refused");
            }
            Action::Orphaned { request, arrived, is_shared, .. } => {
                if let Some(request) = self.requests.get_mut(&request) {
                    request.orphaned = Some((arrived, is_shared));
                }
            }
            Action::Start { worker, .. } => {
                self.process(worker);
                let boot_us = self.rng.between(10_000, 80_000);
                self.after(boot_us, Happening::Boots(worker));
            }
            Action::Stop { worker } => self.after(500, Happening::Stops(worker)),
            Action::Kill { worker, reason } => {
                if reason == KillReason::Stuck {
                    self.reached.insert("a worker is killed for its loop");
                }
                self.ends_for(worker, if reason == KillReason::Stuck { Cause::Stuck } else { Cause::Gateway });
                self.kills(worker);
            }
            Action::Examine { worker } => {
                self.ends_for(worker, Cause::Stuck);
                self.after(100_000, Happening::Examined(worker));
            }
            _ => {}
        }
    }

    fn kills(&mut self, worker: WorkerId) {
        if self.process(worker).is_alive {
            self.dies(worker);
        } else if !self.process(worker).is_listening {
            // It has not come up yet.
            self.process(worker).is_listening = true;
            self.after(500, Happening::ExitKnown(worker));
        }
    }

    fn ends_for(&mut self, worker: WorkerId, cause: Cause) {
        if let Some(slots) = self.slots.get_mut(&worker).filter(|slots| slots.cause != Cause::Stuck) {
            slots.cause = cause;
        }
    }

    fn dispatch(&mut self, number: RequestId, worker: WorkerId, is_ahead: bool) {
        let is_queued = self.requests.get(&number).is_some_and(|request| request.exchange.phase() == Phase::Queued);
        if !is_queued {
            // There is nothing to give to the worker, and its slot must not stay taken.
            return self.tell_scheduler(Event::Finished { worker, request: number });
        }
        let is_ahead = is_ahead && self.slots.contains_key(&worker) && self.hand(number, worker);
        let reused = if self.slots.contains_key(&worker) { self.take_idle(worker) } else { None };
        let is_dying = self.slots.get(&worker).is_some_and(|slots| slots.is_dying);
        let Some(request) = self.requests.get_mut(&number) else { return };
        request.worker = Some(worker);
        request.has_lease = true;
        request.conn = reused;
        self.tell(number, ExchangeEvent::Assigned { is_ahead, is_reused: reused.is_some() });
        if is_dying {
            self.tell(number, ExchangeEvent::Dying);
        }
    }

    fn hand(&mut self, number: RequestId, worker: WorkerId) -> bool {
        self.handed_total += 1;
        let handed_as = self.handed_total;
        self.process(worker).pipe.push_back(handed_as);
        if let Some(request) = self.requests.get_mut(&number) {
            request.handed_as = handed_as;
        }
        self.reached.insert("a request is handed ahead");
        true
    }

    /// A connection that nothing came on since its last answer.
    fn take_idle(&mut self, worker: WorkerId) -> Option<u64> {
        while let Some(conn) = self.slots.get_mut(&worker)?.idle.pop() {
            if !self.conns.get(&conn)?.is_dirty {
                return Some(conn);
            }
            self.drop_conn(conn);
        }
        None
    }

    pub fn take_back(&mut self, worker: WorkerId) {
        self.withdraw(worker);
        for number in self.handed_to(worker) {
            let Some(request) = self.requests.get(&number) else { continue };
            if request.exchange.ahead() == Ahead::Handed && request.exchange.phase() != Phase::Queued {
                self.tell_scheduler(Event::Begun { worker, request: number });
            }
        }
    }

    /// Takes all numbers out of the worker's pipe: their requests are the gateway's again.
    pub fn withdraw(&mut self, worker: WorkerId) {
        let numbers: Vec<u64> = self.process(worker).pipe.drain(..).collect();
        for number in self.handed_to(worker) {
            if self.requests.get(&number).is_some_and(|request| numbers.contains(&request.handed_as)) {
                self.reached.insert("a handed request is taken back");
                self.tell(number, ExchangeEvent::Withdrawn);
            }
        }
    }

    fn handed_to(&self, worker: WorkerId) -> Vec<RequestId> {
        self.at_worker(worker).filter(|number| self.requests[number].exchange.ahead() != Ahead::No).collect()
    }

    fn at_worker(&self, worker: WorkerId) -> impl Iterator<Item = RequestId> {
        self.requests
            .iter()
            .filter(move |(_, request)| request.worker == Some(worker) && (request.has_lease || request.has_stream))
            .map(|(number, _)| *number)
    }

    pub fn listening(&mut self, worker: WorkerId) {
        let slots = Slots { idle: Vec::new(), is_dying: false, cause: Cause::Own };
        self.slots.insert(worker, slots);
        self.tell_scheduler(Event::Listening { worker });
        if self.plan.limits.ahead_max > 0 {
            self.tell_scheduler(Event::TakesAhead { worker, takes: true });
        }
    }

    pub fn give_up_worker(&mut self, worker: WorkerId) {
        self.ends_for(worker, Cause::Gateway);
        let is_news = self.slots.get_mut(&worker).is_some_and(|slots| !std::mem::replace(&mut slots.is_dying, true));
        if is_news {
            self.reached.insert("a worker is given up");
            for number in self.at_worker(worker).collect::<Vec<_>>() {
                self.tell(number, ExchangeEvent::Dying);
            }
        }
        self.tell_scheduler(Event::Faulted { worker });
    }

    pub fn exited(&mut self, worker: WorkerId) {
        self.reached.insert("a worker exits");
        let cause = self.cause_of(worker);
        let unseen: Vec<u64> = match self.slots.remove(&worker) {
            Some(slots) => {
                for conn in slots.idle {
                    self.drop_conn(conn);
                }
                self.process(worker).pipe.drain(..).collect()
            }
            None => Vec::new(),
        };
        for number in self.at_worker(worker).collect::<Vec<_>>() {
            let Some(request) = self.requests.get(&number) else { continue };
            let is_unseen = request.exchange.ahead() != Ahead::No && unseen.contains(&request.handed_as);
            self.tell(number, ExchangeEvent::Exited { is_unseen, cause });
        }
        self.tell_scheduler(Event::Exited { worker });
    }

    pub fn seen_stuck(&mut self, worker: WorkerId) {
        if self.process(worker).is_alive {
            self.tell_scheduler(Event::Stuck { worker });
        }
    }

    /// A line of the worker says that a request has ended.
    pub fn reported(&mut self, worker: WorkerId, number: RequestId) {
        let is_its = self.requests.get(&number).is_some_and(|request| request.worker == Some(worker));
        if !is_its {
            return;
        }
        self.tell(number, ExchangeEvent::Reported);
        let plan = self.plan_of(number);
        self.tell_scheduler(Event::Measured { class: plan.need.class, cost_us: plan.cost_us });
    }

    pub fn busy(&mut self, worker: WorkerId, number: RequestId, by: RequestId) {
        let is_open = self.is_unreported(worker, by);
        let is_held = self
            .requests
            .get(&number)
            .is_some_and(|request| request.worker == Some(worker) && (request.has_lease || request.has_stream));
        if is_held {
            self.tell(number, ExchangeEvent::Busy { by, is_open });
        }
    }

    /// Whether this worker has answered the request and may still work on it.
    pub fn is_unreported(&self, worker: WorkerId, number: RequestId) -> bool {
        self.requests.get(&number).is_some_and(|request| {
            let is_answered = request.exchange.phase() == Phase::Ended && !request.has_lease;
            is_answered && request.worker == Some(worker) && !request.exchange.is_reported()
        })
    }
}
