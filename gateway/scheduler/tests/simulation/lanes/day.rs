//! A day of the scheduler itself on such cores: every process does what it should, costs are reported when they are known.

use std::collections::BTreeMap;

use sluice_scheduler::{Action, ClassId, Event, Lane, Limits, Need, RequestId, Scheduler, Time, WorkerId};

use super::toy::{Day, Outcome, WEIGHT_LONG, WEIGHT_SHORT, rates};
use crate::rng::Rng;

struct Busy {
    request: RequestId,
    left_ms: f64,
}

/// Whose class a request is of.
pub trait Classify {
    /// The class of a request of this kind, which arrives now.
    fn arrived(&mut self, scheduler: &mut Scheduler, request: RequestId, kind: usize) -> ClassId;
    /// The request has ended: the class that it has cost.
    fn ended(&mut self, scheduler: &mut Scheduler, request: RequestId, kind: usize, cost_us: u64) -> Option<ClassId>;
}

/// Each kind is known to be a class.
pub struct ByKind;

impl Classify for ByKind {
    fn arrived(&mut self, _: &mut Scheduler, _: RequestId, kind: usize) -> ClassId {
        ClassId(u16::try_from(kind + 1).expect("few"))
    }

    fn ended(&mut self, scheduler: &mut Scheduler, request: RequestId, kind: usize, _: u64) -> Option<ClassId> {
        Some(self.arrived(scheduler, request, kind))
    }
}

struct Machine<C> {
    scheduler: Scheduler,
    classes: C,
    workers: BTreeMap<WorkerId, (Lane, Option<Busy>)>,
    /// Kind and arrival of each request.
    requests: BTreeMap<RequestId, (usize, f64)>,
    outcomes: Vec<Outcome>,
    now_ms: f64,
}

impl<C: Classify> Machine<C> {
    fn tell(&mut self, day: &Day, event: Event) {
        let mut actions = Vec::new();
        let now = Time((self.now_ms * 1000.0).round() as u64);
        self.scheduler.step(now, event, &mut actions);
        for action in actions {
            match action {
                Action::Start { worker, lane, .. } => {
                    self.workers.insert(worker, (lane, None));
                    self.tell(day, Event::Listening { worker });
                }
                Action::Dispatch { request, worker } => {
                    let (kind, arrived) = self.requests[&request];
                    self.outcomes[kind].waits_ms.push(self.now_ms - arrived);
                    let left_ms = day.kinds[kind].cost_ms;
                    self.workers.get_mut(&worker).expect("was started").1 = Some(Busy { request, left_ms });
                }
                Action::Refuse { request, .. } => {
                    let (kind, _) = self.requests.remove(&request).expect("arrived");
                    self.outcomes[kind].shed += 1;
                }
                // Of the long lane, which is not needed any more; it holds nothing.
                Action::Stop { worker } => {
                    self.workers.remove(&worker);
                    self.tell(day, Event::Exited { worker });
                }
                other => panic!("{other:?}"),
            }
        }
    }

    /// CPU time per unit of time for each worker, in their order.
    fn rates(&self, day: &Day) -> Vec<f64> {
        let weight = |(lane, busy): &(Lane, Option<Busy>)| match (busy, lane) {
            (None, _) => 0.0,
            (Some(_), Lane::Short) => WEIGHT_SHORT,
            (Some(_), Lane::Long) => WEIGHT_LONG,
        };
        rates(day.cores, &self.workers.values().map(weight).collect::<Vec<_>>())
    }

    /// Lets time pass; returns the CPU time that was spent and who has finished.
    fn pass(&mut self, step_ms: f64, rates: &[f64]) -> (f64, Option<(WorkerId, RequestId)>) {
        self.now_ms += step_ms;
        let mut finished = None;
        for ((worker, (_, busy)), rate) in self.workers.iter_mut().zip(rates) {
            let Some(held) = busy else { continue };
            held.left_ms -= rate * step_ms;
            if held.left_ms < 1e-9 && finished.is_none() {
                finished = Some((*worker, held.request));
                *busy = None;
            }
        }
        (rates.iter().sum::<f64>() * step_ms, finished)
    }

    fn finish(&mut self, day: &Day, worker: WorkerId, request: RequestId) {
        let (kind, arrived) = self.requests.remove(&request).expect("arrived");
        self.outcomes[kind].latencies_ms.push(self.now_ms - arrived);
        self.tell(day, Event::Finished { worker, request });
        let cost_us = (day.kinds[kind].cost_ms * 1000.0) as u64;
        if let Some(class) = self.classes.ended(&mut self.scheduler, request, kind, cost_us) {
            self.tell(day, Event::Measured { class, cost_us });
        }
    }
}

/// Lives the day: the outcome by kind, and the part of the CPU time that was used. The first tenth is not counted, in
/// which the costs are learnt.
pub fn live(day: &Day, limits: Limits) -> (Vec<Outcome>, f64) {
    live_from(day.load, day, limits)
}

/// The same, where the first tenth has a load of its own.
pub fn live_from(load: f64, day: &Day, limits: Limits) -> (Vec<Outcome>, f64) {
    run(load, day, limits, ByKind)
}

/// The same with classes of somebody else.
pub fn run(first_load: f64, day: &Day, limits: Limits, classes: impl Classify) -> (Vec<Outcome>, f64) {
    let mut rng = Rng::new(day.seed);
    let mean_ms: f64 = day.kinds.iter().map(|kind| kind.share * kind.cost_ms).sum();
    let mut gap_ms = mean_ms / first_load / day.cores as f64;
    let mut machine = Machine {
        scheduler: Scheduler::new(limits),
        classes,
        workers: BTreeMap::new(),
        requests: BTreeMap::new(),
        outcomes: vec![Outcome::default(); day.kinds.len()],
        now_ms: 0.0,
    };
    machine.tell(day, Event::Scaled { workers: u32::try_from(day.short_workers).expect("few") });
    let (mut worked_ms, mut began_ms, mut arrivals) = (0.0, 0.0, 0);
    let mut next_ms = -(1.0 - rng.unit()).ln() * gap_ms;
    while arrivals < day.requests {
        let rates = machine.rates(day);
        let left = |((_, busy), rate): (&(Lane, Option<Busy>), &f64)| {
            busy.as_ref().map_or(f64::INFINITY, |busy| (busy.left_ms / rate).max(0.0))
        };
        let ends_ms = machine.workers.values().zip(&rates).map(left).fold(f64::INFINITY, f64::min);
        let due = machine.scheduler.next_deadline().map_or(f64::INFINITY, |due| due.0 as f64 / 1000.0);
        let step_ms = ends_ms.min(next_ms - machine.now_ms).min((due - machine.now_ms).max(0.0));
        let (worked, finished) = machine.pass(step_ms, &rates);
        worked_ms += worked;
        if let Some((worker, request)) = finished {
            machine.finish(day, worker, request);
        } else if machine.now_ms >= next_ms {
            arrivals += 1;
            next_ms = machine.now_ms - (1.0 - rng.unit()).ln() * gap_ms;
            arrive(&mut machine, day, arrivals as u64, &mut rng);
        } else {
            machine.now_ms = machine.now_ms.max(due);
            machine.tell(day, Event::Tick);
        }
        if arrivals == day.requests / 10 && began_ms == 0.0 {
            (worked_ms, began_ms) = (0.0, machine.now_ms);
            machine.outcomes.fill(Outcome::default());
            gap_ms = mean_ms / day.load / day.cores as f64;
        }
    }
    let used = worked_ms / (machine.now_ms - began_ms) / day.cores as f64;
    (machine.outcomes, used)
}

fn arrive(machine: &mut Machine<impl Classify>, day: &Day, number: u64, rng: &mut Rng) {
    let mut of = rng.unit();
    let found = day.kinds.iter().position(|kind| {
        of -= kind.share;
        of < 0.0
    });
    let (kind, request) = (found.unwrap_or(0), RequestId(number));
    machine.requests.insert(request, (kind, machine.now_ms));
    let class = machine.classes.arrived(&mut machine.scheduler, request, kind);
    machine.tell(day, Event::Arrived { request, need: Need { class, ..Need::default() } });
}
