//! The world around the scheduler: clients, processes, generations of an app and an operator, none of which can be
//! relied on.
//!
//! It reports to the scheduler what the gateway would report, in an order in which the gateway could learn of it. It
//! judges nothing; that is the model's part.

mod processes;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use sluice_scheduler::{Action, Event, Home, Need, Order, RequestId, Scheduler, Time, WorkerId};

use crate::model::Model;
use crate::plan::{Plan, recycle_requests_max};
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
    /// The worker has not ended the second, which seemed finished, and gives the first back.
    GivenBack(WorkerId, RequestId, RequestId),
    /// The worker begins what it was handed, and the gateway does not know yet.
    BeginsEarly(WorkerId, RequestId),
    /// The gateway has taken back what the worker was handed, or could not.
    TakenBack(WorkerId, RequestId),
    HasBegun(WorkerId, RequestId),
    /// What was handed to a worker that has died comes back unseen.
    ComesBack(RequestId, Time),
    Scales(u32),
    Stops,
    NeedlessTick,
    Closes(WorkerId),
    GrowsHeavy(WorkerId),
    Sticks(WorkerId),
    StandsStill(WorkerId),
    Waits(WorkerId),
    Crowds(WorkerId),
    Turns(WorkerId),
    Examined(WorkerId),
    /// The next request of its warm-up, of which so many are left.
    Warms(WorkerId, u64),
    Retries(RequestId, Time),
    Reloads,
    Reconfigures,
}

/// What is wrong with a generation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Defect {
    None,
    Exits,
    Hangs,
    FailsWarmUp,
    /// One in three of its workers exits instead of listening.
    ExitsSometimes,
}

/// One line of what happened.
pub struct EventLine {
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
    defects: BTreeMap<u64, Defect>,
    generation_of: BTreeMap<WorkerId, u64>,
    /// Workers whose warm-up goes on when their request has ended, and how many requests are left.
    warming: BTreeMap<WorkerId, u64>,
    /// Requests that are not to be tried again: answered, left, the gateway's own, or tried again before.
    settled: BTreeSet<RequestId>,
    needs: BTreeMap<RequestId, Need>,
    next_generation: u64,
    last_finished: BTreeMap<WorkerId, RequestId>,
    /// What workers were handed and have not begun, and what they have begun before the gateway knew.
    handed: BTreeSet<(WorkerId, RequestId)>,
    begun_early: BTreeSet<(WorkerId, RequestId)>,
    /// What the gateway has taken back and the scheduler does not know of.
    taken: BTreeSet<(WorkerId, RequestId)>,
    pub history: Vec<EventLine>,
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
            defects: BTreeMap::new(),
            generation_of: BTreeMap::new(),
            warming: BTreeMap::new(),
            settled: BTreeSet::new(),
            needs: BTreeMap::new(),
            next_generation: 1,
            last_finished: BTreeMap::new(),
            handed: BTreeSet::new(),
            begun_early: BTreeSet::new(),
            taken: BTreeSet::new(),
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
        self.learn();
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

    /// Most days begin with what the days before have shown.
    fn learn(&mut self) {
        let known = self.rng.between(0, 6);
        let waits = self.rng.pick(&[0, 0, 1, 5, 20]);
        for round in 0..60 {
            for (need, cost_us) in self.plan.kinds.iter().take(usize::try_from(known).expect("few")) {
                self.scheduler.costs_mut().arrived(Time(0), need.class);
                let measured = Event::Measured { class: need.class, cost_us: cost_us + round };
                self.scheduler.step(Time(0), measured, &mut Vec::new());
                if waits > 0 {
                    self.scheduler.costs_mut().served_alone(need.class, (waits + 1) * cost_us);
                }
            }
        }
    }

    /// Mostly of a kind that is planned, now and then of one that nobody has seen.
    fn need(&mut self) -> Need {
        let need = if self.rng.percent(5) { Need::default() } else { self.rng.pick(&self.plan.kinds).0 };
        let home = if self.rng.percent(self.plan.sticky_percent) { self.home() } else { Home::Any };
        Need { home, ..need }
    }

    /// A worker that was started at some time, whatever has become of it. Most sessions are in the latest.
    fn home(&mut self) -> Home {
        let Some((latest, _)) = self.generation_of.last_key_value() else { return Home::New };
        let oldest = if self.rng.percent(20) { 1 } else { latest.0.saturating_sub(4).max(1) };
        let worker = self.rng.between(oldest, latest.0);
        if self.rng.percent(15) { Home::New } else { Home::At(WorkerId(worker)) }
    }

    fn plan_day(&mut self) {
        for _ in 0..self.plan.scalings {
            let (at, workers) = (self.rng.between(0, self.plan.day_us), self.rng.count(0, 6));
            self.at(Time(at), Coming::Scales(workers));
        }
        for _ in 0..self.plan.reloads {
            let at = self.rng.between(0, self.plan.day_us);
            self.at(Time(at), Coming::Reloads);
        }
        for _ in 0..self.plan.reconfigurations {
            let at = self.rng.between(0, self.plan.day_us);
            self.at(Time(at), Coming::Reconfigures);
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
        self.history.push(EventLine { now: self.now, event, actions: actions.clone() });
        self.model.follow(self.now, event, &actions, &self.scheduler)?;
        for action in actions {
            self.carry_out(action);
        }
        Ok(())
    }

    #[allow(clippy::too_many_lines)] // A few for each thing that can happen.
    fn happen(&mut self, coming: Coming) -> Result<(), String> {
        match coming {
            Coming::Arrival => self.burst(),
            Coming::ClientLeaves(request) => {
                self.settled.insert(request);
                self.tell(Event::Left { request })
            }
            Coming::Listens(worker) => match self.processes.get(&worker) {
                Some(false) => {
                    if self.rng.percent(self.plan.mortal_percent) {
                        let fate = if self.rng.percent(70) { Coming::Dies(worker) } else { Coming::FaultSeen(worker) };
                        self.soon(self.plan.life_us, fate);
                    }
                    if self.rng.percent(self.plan.closes_percent) {
                        self.soon(self.plan.life_us, Coming::Closes(worker));
                    }
                    if self.rng.percent(self.plan.overweight_percent) {
                        self.soon(self.plan.life_us, Coming::GrowsHeavy(worker));
                    }
                    self.tell(Event::Listening { worker })?;
                    self.tell(Event::TakesAhead { worker, takes: self.plan.limits.ahead_max > 0 })
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
                Some(false) => {
                    self.settled.insert(request);
                    self.last_finished.insert(worker, request);
                    self.tell(Event::Finished { worker, request })?;
                    if self.rng.percent(50) {
                        let (need, cost_us) = self.rng.pick(&self.plan.kinds);
                        self.tell(Event::Measured { class: need.class, cost_us })?;
                    }
                    self.go_on_warming(worker)
                }
                _ => self.late(Event::Finished { worker, request }),
            },
            Coming::Detaches(worker, request) if self.processes.get(&worker) == Some(&false) => {
                self.streams.insert((worker, request));
                self.soon(self.plan.service_us * 3, Coming::StreamEnds(worker, request));
                self.settled.insert(request);
                self.tell(Event::Detached { worker, request })?;
                self.go_on_warming(worker)
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
            Coming::GivenBack(worker, request, by) if self.processes.get(&worker) == Some(&false) => {
                self.soon(self.plan.service_us, Coming::Finishes(worker, by));
                self.tell(Event::Occupied { worker, request, by })
            }
            Coming::GivenBack(worker, request, by) => self.late(Event::Occupied { worker, request, by }),
            Coming::BeginsEarly(worker, request) => {
                if self.processes.get(&worker) == Some(&false) && self.handed.remove(&(worker, request)) {
                    self.begun_early.insert((worker, request));
                    self.serve(worker, request);
                }
                Ok(())
            }
            // Not if its worker's exit came first.
            Coming::TakenBack(worker, request) if self.taken.remove(&(worker, request)) => {
                self.tell(Event::Undelivered { worker, request })
            }
            Coming::TakenBack(..) => Ok(()),
            Coming::HasBegun(worker, request) => self.tell(Event::Begun { worker, request }),
            Coming::ComesBack(request, arrived) => {
                if self.settled.contains(&request) {
                    return Ok(());
                }
                let need = self.needs.get(&request).copied().unwrap_or_default();
                self.tell(Event::Retried { request, arrived, need })
            }
            Coming::Scales(workers) => self.tell(Event::Scaled { workers }),
            Coming::Stops => self.tell(Event::Stopping),
            Coming::NeedlessTick => self.tell(Event::Tick),
            Coming::Closes(worker) => self.tell(Event::Closing { worker }),
            Coming::GrowsHeavy(worker) => self.tell(Event::Overweight { worker }),
            Coming::Waits(worker) => self.tell(Event::Waits { worker }),
            Coming::Crowds(worker) => self.tell(Event::Crowded { worker, by: 1 }),
            Coming::StandsStill(worker) => self.tell(Event::Overdue { worker }),
            Coming::Turns(worker) => self.tell(Event::Turned { worker }),
            Coming::Sticks(worker) => self.tell(Event::Stuck { worker }),
            Coming::Examined(worker) => self.tell(Event::Examined { worker }),
            Coming::Warms(worker, left) => self.warm(worker, left),
            Coming::Retries(request, arrived) => {
                if self.settled.insert(request) {
                    let need = self.needs.get(&request).copied().unwrap_or_default();
                    return self.tell(Event::Retried { request, arrived, need });
                }
                Ok(())
            }
            Coming::Reloads => self.reload(),
            Coming::Reconfigures => self.reconfigure(),
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
            let need = self.need();
            self.needs.insert(request, need);
            self.tell(Event::Arrived { request, need })?;
        }
        if self.arrivals_left > 0 {
            self.soon(self.plan.burst_gap_us, Coming::Arrival);
        }
        Ok(())
    }

    fn reload(&mut self) -> Result<(), String> {
        self.next_generation += 1;
        let defect = if self.rng.percent(self.plan.broken_percent) {
            self.rng.pick(&[Defect::Exits, Defect::Hangs, Defect::FailsWarmUp, Defect::ExitsSometimes])
        } else {
            Defect::None
        };
        self.defects.insert(self.next_generation, defect);
        if self.rng.percent(30) {
            self.soon(self.plan.boot_us, Coming::Reloads);
        }
        self.tell(Event::ReloadAsked { generation: self.next_generation })
    }

    /// The gateway has other limits from one moment to the next, and then goes on.
    fn reconfigure(&mut self) -> Result<(), String> {
        let limits = &mut self.plan.limits;
        limits.warm_up = self.rng.percent(50);
        limits.order = self.rng.pick(&[limits.order, limits.order, Order::Fifo, Order::Shortest]);
        limits.lanes &= self.rng.percent(50);
        limits.reload_at_once = self.rng.pick(&[0, 1, 3]);
        limits.recycle_requests_max = recycle_requests_max(&mut self.rng);
        limits.stop_timeout_ms = self.rng.pick(&[1, 20, 200]);
        self.scheduler.set_limits(limits.clone());
        self.model.set_limits(limits);
        self.tell(Event::Tick)
    }

    /// What was on its way when the worker died is reported late, or never.
    fn late(&mut self, event: Event) -> Result<(), String> {
        if self.rng.percent(50) { self.tell(event) } else { Ok(()) }
    }
}
