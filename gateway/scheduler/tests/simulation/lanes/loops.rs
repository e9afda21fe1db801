//! Apps that wait: cores, workers that are event loops, and the fronts that the scheduler is held against.
//!
//! A request computes, waits, computes again. A worker runs what is ready in order, one after the other, and never leaves what
//! it has begun; what waits needs no worker to run. Cores are shared between the workers by weight, as in `toy`.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use super::toy::{Outcome, rates};
use crate::rng::Rng;

/// Weights of nice 2 and of `SCHED_IDLE` in the Linux scheduler.
pub const WEIGHT_SHORT: f64 = 655.0;
pub const WEIGHT_LONG: f64 = 3.0;
/// CPU time in which an app takes in a request and asks for its data.
const BEGIN_MS: f64 = 0.2;

/// One kind of request: its part of the arrivals, and by turns how long it waits and computes, in milliseconds.
#[derive(Clone, Copy)]
pub struct Kind {
    pub share: f64,
    pub phases: &'static [(f64, f64)],
}

impl Kind {
    /// Its own CPU time.
    pub fn cost_ms(&self) -> f64 {
        self.phases.iter().map(|(_, compute_ms)| compute_ms).sum::<f64>() + BEGIN_MS
    }
}

/// Who asks.
#[derive(Clone, Copy)]
pub enum Clients {
    /// Offered CPU time per core, whatever becomes of it.
    Open(f64),
    /// So many, each of whom asks again at once.
    Closed(u32),
}

pub struct Day {
    pub cores: usize,
    pub workers: usize,
    pub kinds: Vec<Kind>,
    pub clients: Clients,
    pub requests: u64,
    pub seed: u64,
}

#[derive(Clone, Copy)]
struct Run {
    request: u64,
    left_ms: f64,
}

/// A worker's event loop.
#[derive(Default)]
pub struct Loop {
    weight: f64,
    ready: VecDeque<Run>,
    /// Requests that it holds.
    pub held: Vec<u64>,
    /// CPU time that it had, and time in which it wanted any.
    pub worked_ms: f64,
    pub wanted_ms: f64,
}

impl Loop {
    /// Nothing is to be computed.
    pub fn sleeps(&self) -> bool {
        self.ready.is_empty()
    }
}

#[derive(Clone, Copy)]
pub struct Request {
    pub kind: usize,
    pub arrived_ms: f64,
    phase: usize,
}

/// The end of a wait.
struct Timer {
    at_ms: f64,
    worker: u64,
    request: u64,
}

impl Ord for Timer {
    fn cmp(&self, other: &Self) -> Ordering {
        other.at_ms.total_cmp(&self.at_ms).then(other.request.cmp(&self.request))
    }
}

impl PartialOrd for Timer {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Timer {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Timer {}

pub struct Machine {
    pub now_ms: f64,
    pub loops: BTreeMap<u64, Loop>,
    pub requests: BTreeMap<u64, Request>,
    pub outcomes: Vec<Outcome>,
    kinds: Vec<Kind>,
    timers: BinaryHeap<Timer>,
}

impl Machine {
    pub fn start(&mut self, worker: u64, weight: f64) {
        self.loops.insert(worker, Loop { weight, ..Loop::default() });
    }

    pub fn stop(&mut self, worker: u64) {
        self.loops.remove(&worker);
    }

    pub fn give(&mut self, worker: u64, request: u64) {
        let Request { kind, arrived_ms, .. } = self.requests[&request];
        self.outcomes[kind].waits_ms.push(self.now_ms - arrived_ms);
        let w = self.loops.get_mut(&worker).expect("was started");
        w.held.push(request);
        w.ready.push_back(Run { request, left_ms: BEGIN_MS });
    }

    pub fn refuse(&mut self, request: u64) {
        let Request { kind, .. } = self.requests.remove(&request).expect("arrived");
        self.outcomes[kind].shed += 1;
    }

    fn rates(&self, cores: usize) -> Vec<f64> {
        let weights: Vec<f64> = self.loops.values().map(|w| if w.sleeps() { 0.0 } else { w.weight }).collect();
        rates(cores, &weights)
    }

    /// Lets time pass until something is computed or `until_ms`. Returns the CPU time that was spent.
    fn pass(&mut self, cores: usize, until_ms: f64) -> f64 {
        let rates = self.rates(cores);
        let left = |(w, rate): (&Loop, &f64)| w.ready.front().map_or(f64::INFINITY, |run| run.left_ms / rate);
        let computed_ms = self.loops.values().zip(&rates).map(left).fold(f64::INFINITY, f64::min);
        let timer_ms = self.timers.peek().map_or(f64::INFINITY, |timer| timer.at_ms);
        let step_ms = computed_ms.min(until_ms.min(timer_ms) - self.now_ms).max(0.0);
        self.now_ms += step_ms;
        for (w, rate) in self.loops.values_mut().zip(&rates) {
            let Some(run) = w.ready.front_mut() else { continue };
            run.left_ms -= rate * step_ms;
            w.worked_ms += rate * step_ms;
            w.wanted_ms += step_ms;
        }
        rates.iter().sum::<f64>() * step_ms
    }

    /// Requests that have ended by now; others go on to their next wait, or from it.
    fn turn(&mut self) -> Vec<(u64, u64)> {
        let mut finished = Vec::new();
        for (worker, w) in &mut self.loops {
            let Some(run) = w.ready.front().copied().filter(|run| run.left_ms < 1e-9) else { continue };
            w.ready.pop_front();
            let request = self.requests.get_mut(&run.request).expect("is held");
            if let Some((wait_ms, _)) = self.kinds[request.kind].phases.get(request.phase) {
                self.timers.push(Timer { at_ms: self.now_ms + wait_ms, worker: *worker, request: run.request });
            } else {
                w.held.retain(|held| *held != run.request);
                finished.push((*worker, run.request));
            }
        }
        while let Some(timer) = self.timers.pop() {
            if timer.at_ms > self.now_ms {
                self.timers.push(timer);
                break;
            }
            let request = self.requests.get_mut(&timer.request).expect("is held");
            let (_, left_ms) = self.kinds[request.kind].phases[request.phase];
            request.phase += 1;
            let w = self.loops.get_mut(&timer.worker).expect("holds it");
            w.ready.push_back(Run { request: timer.request, left_ms });
        }
        finished
    }
}

/// Who gives requests to workers.
pub trait Front {
    fn begin(&mut self, machine: &mut Machine);
    fn arrive(&mut self, machine: &mut Machine, request: u64);
    fn finish(&mut self, machine: &mut Machine, worker: u64, request: u64, of: Request);
    /// When it wants to be asked again.
    fn due_ms(&self) -> f64 {
        f64::INFINITY
    }
    fn look(&mut self, _machine: &mut Machine) {}
}

/// What came of a day.
pub struct DayResult {
    pub outcomes: Vec<Outcome>,
    /// Part of the CPU time that was used.
    pub used: f64,
    pub per_second: f64,
}

impl DayResult {
    pub fn latency_ms(&self, kind: usize, q: f64) -> f64 {
        Outcome::quantile(&self.outcomes[kind].latencies_ms, q)
    }

    pub fn mean_ms(&self) -> f64 {
        let all = || self.outcomes.iter().flat_map(|outcome| &outcome.latencies_ms);
        all().sum::<f64>() / all().count() as f64
    }
}

/// Lives the day. The first tenth is not counted, in which costs are learnt.
pub fn live(day: &Day, front: &mut impl Front) -> DayResult {
    live_from(day.requests / 10, day, front)
}

/// Lives the day, of which everything counts.
#[allow(dead_code)] // The tests'.
pub fn live_all(day: &Day, front: &mut impl Front) -> DayResult {
    live_from(0, day, front)
}

fn live_from(first: u64, day: &Day, front: &mut impl Front) -> DayResult {
    let mut rng = Rng::new(day.seed);
    let mean_ms: f64 = day.kinds.iter().map(|kind| kind.share * kind.cost_ms()).sum();
    let gap_ms = |rng: &mut Rng| match day.clients {
        Clients::Open(load) => -(1.0 - rng.unit()).ln() * mean_ms / load / day.cores as f64,
        Clients::Closed(_) => f64::INFINITY,
    };
    let mut machine = Machine {
        now_ms: 0.0,
        loops: BTreeMap::new(),
        requests: BTreeMap::new(),
        outcomes: vec![Outcome::default(); day.kinds.len()],
        kinds: day.kinds.clone(),
        timers: BinaryHeap::new(),
    };
    front.begin(&mut machine);
    let (mut worked_ms, mut began_ms, mut arrivals) = (0.0, 0.0, 0);
    let mut asking = if let Clients::Closed(clients) = day.clients { clients } else { 0 };
    let mut next_ms = gap_ms(&mut rng);
    while arrivals < day.requests {
        while asking > 0 || machine.now_ms >= next_ms {
            if asking > 0 {
                asking -= 1;
            } else {
                next_ms = machine.now_ms + gap_ms(&mut rng);
            }
            arrivals += 1;
            let kind = kind_of(day, &mut rng);
            machine.requests.insert(arrivals, Request { kind, arrived_ms: machine.now_ms, phase: 0 });
            front.arrive(&mut machine, arrivals);
        }
        if began_ms == 0.0 && first > 0 && arrivals >= first {
            (worked_ms, began_ms) = (0.0, machine.now_ms);
            machine.outcomes.fill(Outcome::default());
        }
        worked_ms += machine.pass(day.cores, next_ms.min(front.due_ms()));
        for (worker, request) in machine.turn() {
            let of = machine.requests.remove(&request).expect("was held");
            machine.outcomes[of.kind].latencies_ms.push(machine.now_ms - of.arrived_ms);
            asking += u32::from(matches!(day.clients, Clients::Closed(_)));
            front.finish(&mut machine, worker, request, of);
        }
        if machine.now_ms >= front.due_ms() {
            front.look(&mut machine);
        }
    }
    let elapsed_ms = machine.now_ms - began_ms;
    let finished: usize = machine.outcomes.iter().map(|outcome| outcome.latencies_ms.len()).sum();
    DayResult {
        used: worked_ms / elapsed_ms / day.cores as f64,
        per_second: finished as f64 * 1000.0 / elapsed_ms,
        outcomes: machine.outcomes,
    }
}

fn kind_of(day: &Day, rng: &mut Rng) -> usize {
    let mut of = rng.unit();
    let found = day.kinds.iter().position(|kind| {
        of -= kind.share;
        of < 0.0
    });
    found.unwrap_or(0)
}

/// Which worker a front without a queue gives a request to.
#[derive(Clone, Copy)]
pub enum Rule {
    /// `node:cluster`.
    InTurn,
    /// `least_conn` of nginx, `leastconn` of `HAProxy`.
    LeastHeld,
    /// The kinds apart: those up to the number in the first workers, the others in as many more, of low priority.
    #[allow(dead_code)] // The example's.
    ByHand(usize),
}

/// A front without a queue.
pub struct Unlimited {
    pub rule: Rule,
    pub workers: u64,
    turns: [u64; 2],
}

impl Unlimited {
    pub fn new(rule: Rule, workers: usize) -> Self {
        Unlimited { rule, workers: workers as u64, turns: [0; 2] }
    }
}

impl Front for Unlimited {
    fn begin(&mut self, machine: &mut Machine) {
        let low = if matches!(self.rule, Rule::ByHand(_)) { self.workers } else { 0 };
        (0..self.workers).for_each(|worker| machine.start(worker, WEIGHT_SHORT));
        (0..low).for_each(|worker| machine.start(self.workers + worker, WEIGHT_LONG));
    }

    fn arrive(&mut self, machine: &mut Machine, request: u64) {
        let side = match self.rule {
            Rule::ByHand(kinds) => usize::from(machine.requests[&request].kind >= kinds),
            _ => 0,
        };
        self.turns[side] += 1;
        let in_turn = side as u64 * self.workers + self.turns[side] % self.workers;
        let least = machine.loops.iter().min_by_key(|(_, w)| w.held.len()).map_or(0, |(worker, _)| *worker);
        let worker = if matches!(self.rule, Rule::LeastHeld) { least } else { in_turn };
        machine.give(worker, request);
    }

    fn finish(&mut self, _machine: &mut Machine, _worker: u64, _request: u64, _of: Request) {}
}
