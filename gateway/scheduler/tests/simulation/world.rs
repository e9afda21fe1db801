//! The world around the scheduler: clients, processes and an operator, none of which can be relied on.
//!
//! It reports to the scheduler what the gateway would report, in an order in which the gateway could learn of it. It
//! judges nothing; that is the model's part.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use sluice_scheduler::{Action, Event, RequestId, Scheduler, Time, WorkerId};

use crate::model::Model;
use crate::plan::Plan;
use crate::rng::Rng;

/// Steps after which a day that has not ended never will.
const STEPS_MAX: usize = 20_000;

/// Something that will happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Coming {
    Arrival,
    ClientLeaves(RequestId),
    Listens(WorkerId),
    /// The process ends; that the gateway learns of it comes later.
    Dies(WorkerId),
    ExitSeen(WorkerId),
    Finishes(WorkerId, RequestId),
    Detaches(WorkerId, RequestId),
    StreamEnds(WorkerId, RequestId),
    FaultSeen(WorkerId),
    DeliveryFails(WorkerId, RequestId),
    Scales(u32),
    Stops,
    NeedlessTick,
}

/// One line of what happened.
pub struct Line {
    pub now: Time,
    pub event: Event,
    pub actions: Vec<Action>,
}

pub struct World {
    plan: Plan,
    rng: Rng,
    now: Time,
    scheduler: Scheduler,
    pub model: Model,
    coming: BinaryHeap<Reverse<(Time, u64, Coming)>>,
    next_entry: u64,
    next_request: u64,
    arrivals_left: u64,
    /// Processes whose exit was not reported yet, and whether they have died all the same.
    processes: BTreeMap<WorkerId, bool>,
    streams: BTreeSet<(WorkerId, RequestId)>,
    pub history: Vec<Line>,
}

impl World {
    pub fn new(seed: u64) -> World {
        let mut rng = Rng::new(seed);
        let plan = Plan::random(&mut rng);
        World {
            now: Time(0),
            scheduler: Scheduler::new(plan.limits.clone()),
            model: Model::new(plan.limits.clone(), plan.tick_us),
            coming: BinaryHeap::new(),
            next_entry: 0,
            next_request: 0,
            arrivals_left: plan.arrivals,
            processes: BTreeMap::new(),
            streams: BTreeSet::new(),
            history: Vec::new(),
            rng,
            plan,
        }
    }

    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Lives the day from its first worker to its last. An error says which promise was broken.
    pub fn live(&mut self) -> Result<(), String> {
        self.plan_day();
        self.tell(Event::Scaled { workers: self.plan.workers })?;
        while self.history.len() < STEPS_MAX {
            let next = self.coming.peek().map(|Reverse((at, ..))| *at);
            let tick = self.scheduler.next_deadline().map(|due| self.tick_after(due));
            match (next, tick) {
                (next, Some(tick)) if next.is_none_or(|next| tick <= next) => {
                    self.now = tick.max(self.now);
                    self.tell(Event::Tick)?;
                    self.model.check_that_time_went_on(&self.scheduler)?;
                }
                (Some(_), _) => {
                    let Some(Reverse((at, _, coming))) = self.coming.pop() else { break };
                    self.now = at.max(self.now);
                    self.happen(coming)?;
                }
                (None, _) => return self.model.check_end_of_day(&self.scheduler),
            }
        }
        Err(format!("the day did not end within {STEPS_MAX} steps"))
    }

    fn plan_day(&mut self) {
        for _ in 0..self.plan.scalings {
            let (at, workers) = (self.rng.between(0, self.plan.day_us), self.rng.count(0, 6));
            self.at(Time(at), Coming::Scales(workers));
        }
        for _ in 0..3 {
            let at = self.rng.between(0, self.plan.day_us);
            self.at(Time(at), Coming::NeedlessTick);
        }
        self.at(Time(self.plan.day_us), Coming::Stops);
        self.soon(self.plan.burst_gap_us, Coming::Arrival);
    }

    /// Ticks are coarse: the first one at or after `due`.
    fn tick_after(&self, due: Time) -> Time {
        Time(due.0.div_ceil(self.plan.tick_us) * self.plan.tick_us)
    }

    fn at(&mut self, at: Time, coming: Coming) {
        let at = Time(at.0.div_ceil(self.plan.grain_us) * self.plan.grain_us);
        self.next_entry += 1;
        self.coming.push(Reverse((at, self.next_entry, coming)));
    }

    /// After a time of this mean.
    fn soon(&mut self, mean_us: u64, coming: Coming) {
        let after_us = self.rng.exponential(mean_us);
        self.at(Time(self.now.0 + after_us), coming);
    }

    fn tell(&mut self, event: Event) -> Result<(), String> {
        let mut actions = Vec::new();
        self.model.before(&self.scheduler, event);
        self.scheduler.step(self.now, event, &mut actions);
        self.history.push(Line { now: self.now, event, actions: actions.clone() });
        self.model.follow(self.now, event, &actions, &self.scheduler)?;
        for action in actions {
            self.carry_out(action);
        }
        Ok(())
    }

    fn happen(&mut self, coming: Coming) -> Result<(), String> {
        match coming {
            Coming::Arrival => self.burst(),
            Coming::ClientLeaves(request) => self.tell(Event::Left { request }),
            Coming::Listens(worker) => match self.processes.get(&worker) {
                Some(false) => {
                    if self.rng.percent(self.plan.mortal_percent) {
                        let fate = if self.rng.percent(70) { Coming::Dies(worker) } else { Coming::FaultSeen(worker) };
                        self.soon(self.plan.life_us, fate);
                    }
                    self.tell(Event::Listening { worker })
                }
                _ => self.late(Event::Listening { worker }),
            },
            Coming::Dies(worker) => {
                if let Some(dead) = self.processes.get_mut(&worker) {
                    *dead = true;
                    self.soon(1_000, Coming::ExitSeen(worker));
                    if self.rng.percent(30) {
                        return self.tell(Event::Faulted { worker });
                    }
                }
                Ok(())
            }
            Coming::ExitSeen(worker) => match self.processes.remove(&worker) {
                Some(_) => self.tell(Event::Exited { worker }),
                None => self.late(Event::Exited { worker }),
            },
            Coming::Finishes(worker, request) => match self.processes.get(&worker) {
                Some(false) => self.tell(Event::Finished { worker, request }),
                _ => self.late(Event::Finished { worker, request }),
            },
            Coming::Detaches(worker, request) if self.processes.get(&worker) == Some(&false) => {
                self.streams.insert((worker, request));
                self.soon(self.plan.service_us * 3, Coming::StreamEnds(worker, request));
                self.tell(Event::Detached { worker, request })
            }
            Coming::Detaches(worker, request) => self.late(Event::Detached { worker, request }),
            Coming::StreamEnds(worker, request) => {
                if self.streams.remove(&(worker, request)) {
                    self.tell(Event::StreamEnded { worker })
                } else {
                    Ok(())
                }
            }
            Coming::FaultSeen(worker) => self.tell(Event::Faulted { worker }),
            Coming::DeliveryFails(worker, request) => self.delivery_fails(worker, request),
            Coming::Scales(workers) => self.tell(Event::Scaled { workers }),
            Coming::Stops => self.tell(Event::Stopping),
            Coming::NeedlessTick => self.tell(Event::Tick),
        }
    }

    fn burst(&mut self) -> Result<(), String> {
        let size = self.rng.between(1, self.plan.burst_max).min(self.arrivals_left);
        self.arrivals_left -= size;
        for _ in 0..size {
            self.next_request += 1;
            let request = RequestId(self.next_request);
            if self.rng.percent(self.plan.impatient_percent) {
                self.soon(self.plan.patience_us, Coming::ClientLeaves(request));
            }
            self.tell(Event::Arrived { request })?;
        }
        if self.arrivals_left > 0 {
            self.soon(self.plan.burst_gap_us, Coming::Arrival);
        }
        Ok(())
    }

    /// The gateway reports the two in one go. Which comes first must not matter, nor whether the exit came before both.
    fn delivery_fails(&mut self, worker: WorkerId, request: RequestId) -> Result<(), String> {
        if !self.processes.contains_key(&worker) {
            return self.late(Event::Undelivered { worker, request });
        }
        if self.rng.percent(60) {
            self.tell(Event::Faulted { worker })?;
            self.tell(Event::Undelivered { worker, request })
        } else {
            self.tell(Event::Undelivered { worker, request })?;
            self.tell(Event::Faulted { worker })
        }
    }

    /// What was on its way when the worker died is reported late, or never.
    fn late(&mut self, event: Event) -> Result<(), String> {
        if self.rng.percent(50) { self.tell(event) } else { Ok(()) }
    }

    fn carry_out(&mut self, action: Action) {
        match action {
            Action::Start { worker, .. } => {
                self.processes.insert(worker, false);
                if self.rng.percent(self.plan.boot_fails_percent) {
                    self.soon(self.plan.boot_us / 2, Coming::Dies(worker));
                } else if !self.rng.percent(self.plan.boot_hangs_percent) {
                    self.soon(self.plan.boot_us, Coming::Listens(worker));
                }
            }
            Action::Dispatch { request, worker } => self.serve(worker, request),
            Action::Stop { worker } => {
                let usual_us = self.plan.limits.stop_timeout_ms * 300 + 100;
                let slow = self.rng.percent(self.plan.slow_stop_percent);
                self.soon(if slow { usual_us * 100 } else { usual_us }, Coming::Dies(worker));
            }
            Action::Kill { worker, .. } => self.soon(2_000, Coming::Dies(worker)),
            Action::CloseStream { request, worker } => self.soon(500, Coming::StreamEnds(worker, request)),
            Action::Refuse { .. } | Action::Orphaned { .. } | Action::BackOff { .. } | Action::GiveUp => {}
        }
    }

    fn serve(&mut self, worker: WorkerId, request: RequestId) {
        let is_dead = self.processes.get(&worker).copied().unwrap_or(true);
        if is_dead || self.rng.percent(self.plan.undeliverable_percent) {
            self.soon(200, Coming::DeliveryFails(worker, request));
        } else if self.rng.percent(self.plan.dies_serving_percent) {
            self.soon(self.plan.service_us, Coming::Dies(worker));
        } else if self.rng.percent(self.plan.hangs_percent) {
            self.soon(self.plan.service_us * 5, Coming::FaultSeen(worker));
        } else if self.rng.percent(self.plan.detaches_percent) {
            self.soon(self.plan.service_us, Coming::Detaches(worker, request));
        } else {
            self.soon(self.plan.service_us, Coming::Finishes(worker, request));
        }
    }
}
