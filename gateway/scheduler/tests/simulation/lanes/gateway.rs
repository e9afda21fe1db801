//! The scheduler before workers that are event loops, and the looks at them from outside by which it learns whether they wait
//! (`gateway/supervisor/src/waits.rs`, in a few lines).

use std::collections::BTreeMap;

use sluice_scheduler::{
    Action, ClassId, Event, Lane, Limits, Need, RequestId, Scheduler, Time, WorkerId, WorkerState, WorkerView,
};

use super::loops::{Front, Machine, Request, WEIGHT_LONG, WEIGHT_SHORT};

pub struct Gateway {
    pub scheduler: Scheduler,
    /// By kind, as they are reported.
    costs_ms: Vec<f64>,
    workers: u32,
    looks: bool,
    next_look_ms: f64,
    seen: BTreeMap<WorkerId, LaneSample>,
    given_ms: BTreeMap<WorkerId, f64>,
    pub lanes_of: BTreeMap<u64, Lane>,
    /// Most requests that a worker held.
    pub held_max: usize,
    /// How many of each kind each lane was given.
    pub given: BTreeMap<(Lane, usize), u64>,
}

#[derive(Clone, Copy, Default)]
struct LaneSample {
    asleep_at_ms: Option<f64>,
    held: usize,
    granted: Option<f64>,
    judged: Option<(f64, f64)>,
    was_queued: bool,
    crowded: u32,
}

fn class(kind: usize) -> ClassId {
    ClassId(u16::try_from(kind + 1).expect("few"))
}

impl Gateway {
    pub fn new(limits: Limits, costs_ms: Vec<f64>, workers: usize, looks: bool) -> Self {
        Gateway {
            scheduler: Scheduler::new(limits),
            costs_ms,
            workers: u32::try_from(workers).expect("few"),
            looks,
            next_look_ms: 1.0,
            seen: BTreeMap::new(),
            given_ms: BTreeMap::new(),
            lanes_of: BTreeMap::new(),
            held_max: 0,
            given: BTreeMap::new(),
        }
    }

    fn tell(&mut self, machine: &mut Machine, event: Event) {
        let mut actions = Vec::new();
        let now = Time((machine.now_ms * 1000.0).round() as u64);
        self.scheduler.step(now, event, &mut actions);
        for action in actions {
            match action {
                Action::Start { worker, lane, .. } => {
                    machine.start(worker.0, if lane == Lane::Short { WEIGHT_SHORT } else { WEIGHT_LONG });
                    self.lanes_of.insert(worker.0, lane);
                    self.tell(machine, Event::Listening { worker });
                }
                Action::Dispatch { request, worker } => {
                    let kind = machine.requests[&request.0].kind;
                    *self.given.entry((self.lanes_of[&worker.0], kind)).or_default() += 1;
                    machine.give(worker.0, request.0);
                    self.given_ms.insert(worker, machine.now_ms);
                    self.held_max = self.held_max.max(machine.loops[&worker.0].held.len());
                }
                Action::Refuse { request, .. } => machine.refuse(request.0),
                Action::Stop { worker } => {
                    machine.stop(worker.0);
                    self.tell(machine, Event::Exited { worker });
                }
                other => panic!("{other:?}"),
            }
        }
    }

    fn look_at_workers(&mut self, machine: &mut Machine) {
        let is_looked_at =
            |view: &WorkerView| view.state == WorkerState::Ready && (view.in_service > 0 || view.has_more_room);
        let mut busy: Vec<WorkerView> = self.scheduler.workers().filter(is_looked_at).collect();
        let period_ms = if busy.iter().all(|view| view.has_more_room) { 5.0 } else { 1.0 };
        self.next_look_ms = machine.now_ms + period_ms;
        busy.sort_by_key(|view| (view.in_service, view.worker));
        for view in busy {
            let w = &machine.loops[&view.worker.0];
            let (cpu_ms, wanted_ms, sleeps) = (w.worked_ms, w.wanted_ms, w.sleeps());
            let is_queued = self.scheduler.queue_length() > 0;
            let is_there = self.given_ms.get(&view.worker).is_some_and(|at| machine.now_ms - at >= 3.0);
            let seen = self.seen.entry(view.worker).or_default();
            let was = *seen;
            let has_run = seen.granted.is_none_or(|at| cpu_ms > at);
            seen.asleep_at_ms = (sleeps && is_there).then_some(cpu_ms);
            seen.held = view.in_service;
            let is_still = seen.asleep_at_ms.is_some() && was.asleep_at_ms == seen.asleep_at_ms;
            let waits = is_still && was.held == view.in_service && has_run && view.in_service > 0;
            if waits {
                (seen.granted, seen.asleep_at_ms) = (Some(cpu_ms), None);
            }
            let mut more = usize::from(waits && is_queued);
            let mut fewer = 0;
            if view.has_more_room {
                seen.was_queued |= is_queued;
                let (since_ms, wanted_before_ms) = *seen.judged.get_or_insert((machine.now_ms, wanted_ms));
                let elapsed_ms = machine.now_ms - since_ms;
                let asleep_ms = elapsed_ms - (wanted_ms - wanted_before_ms);
                let is_crowded = elapsed_ms >= 200.0 && asleep_ms <= elapsed_ms * 0.005;
                let is_needless = !seen.was_queued && elapsed_ms >= 200.0;
                let asleep_min = [(40.0, 0.15), (200.0, 0.05), (1000.0, 0.015)];
                let sleeps_enough =
                    |(after_ms, part): &(f64, f64)| elapsed_ms >= *after_ms && asleep_ms >= elapsed_ms * part;
                let has_time = is_queued && has_run && asleep_min.iter().any(sleeps_enough);
                if is_crowded || is_needless || has_time || elapsed_ms >= 1000.0 {
                    (seen.judged, seen.was_queued) = (Some((machine.now_ms, wanted_ms)), false);
                    if is_crowded || is_needless {
                        fewer = 1 << seen.crowded.min(16);
                        seen.crowded += 1;
                        more = 0;
                    } else {
                        seen.crowded = 0;
                        if has_time {
                            seen.granted = Some(cpu_ms);
                            more = ((view.in_service as f64 * asleep_ms / elapsed_ms) as usize).max(1);
                        }
                    }
                }
            } else {
                (seen.judged, seen.crowded) = (None, 0);
            }
            if fewer > 0 {
                self.tell(machine, Event::Crowded { worker: view.worker, by: fewer });
            }
            for _ in 0..more {
                self.tell(machine, Event::Waits { worker: view.worker });
            }
        }
    }
}

impl Front for Gateway {
    fn begin(&mut self, machine: &mut Machine) {
        self.tell(machine, Event::Scaled { workers: self.workers });
    }

    fn arrive(&mut self, machine: &mut Machine, request: u64) {
        let need = Need { class: class(machine.requests[&request].kind), ..Need::default() };
        self.tell(machine, Event::Arrived { request: RequestId(request), need });
    }

    fn finish(&mut self, machine: &mut Machine, worker: u64, request: u64, of: Request) {
        self.tell(machine, Event::Finished { worker: WorkerId(worker), request: RequestId(request) });
        let cost_us = (self.costs_ms[of.kind] * 1000.0) as u64;
        self.tell(machine, Event::Measured { class: class(of.kind), cost_us });
    }

    fn due_ms(&self) -> f64 {
        let is_looked_at = |view: WorkerView| view.has_more_room && view.state == WorkerState::Ready;
        let looks = self.looks && (self.scheduler.queue_length() > 0 || self.scheduler.workers().any(is_looked_at));
        let look_ms = if looks { self.next_look_ms } else { f64::INFINITY };
        self.scheduler.next_deadline().map_or(look_ms, |due| look_ms.min(due.0 as f64 / 1000.0))
    }

    fn look(&mut self, machine: &mut Machine) {
        if self.looks && machine.now_ms >= self.next_look_ms {
            self.look_at_workers(machine);
        }
        self.tell(machine, Event::Tick);
    }
}
