//! One replay: traffic, a balancer, instances. Every request ends, served or refused.

use sluice_sketch::Times;

use crate::arrivals::Stretch;
use crate::instance::Instance;
use crate::traffic::Traffic;
use fastrand::Rng;

/// Time between two reports of an instance's load to its balancer, as an agent makes them, microseconds.
const REPORT_US: f64 = 1_000_000.0;

/// Rule by which a balancer chooses the instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Balancer {
    /// One after the other.
    RoundRobin,
    /// The one with the fewest requests.
    LeastConnections,
    /// The one with fewer requests of two that chance picks.
    TwoChoices,
    /// Weighted turns. Each instance reports its weight once a second: the shorter the predicted wait, the more requests
    /// it gets.
    AgentWeights,
}

impl Balancer {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::RoundRobin, Self::LeastConnections, Self::TwoChoices, Self::AgentWeights];

    /// Name for readers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RoundRobin => "round robin",
            Self::LeastConnections => "least connections",
            Self::TwoChoices => "two random choices",
            Self::AgentWeights => "agent weights",
        }
    }
}

/// Setup of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Workers of each instance, each with a core of its own.
    pub workers: usize,
    /// Instances behind the balancer.
    pub instances: usize,
    /// Rule of the balancer.
    pub balancer: Balancer,
    /// Whether long requests get a lane of their own.
    pub lanes: bool,
    /// Traffic in thousandths of the log's.
    pub traffic: u64,
    /// Seed of chance.
    pub seed: u64,
}

/// Requests of one class, or of all.
#[derive(Clone, Default)]
pub struct Outcome {
    /// Latencies of served requests: queue wait and service time.
    pub times: Times,
    /// Refused requests.
    pub refused: u64,
}

impl Outcome {
    fn take(&mut self, latency_us: Option<u64>) {
        match latency_us {
            Some(us) => self.times.record(us),
            None => self.refused += 1,
        }
    }

    /// All requests.
    pub fn total(&self) -> u64 {
        self.times.total() + self.refused
    }
}

/// Result of a replay, without its first tenth, in which the scheduler warms up.
pub struct Replayed {
    /// All requests.
    pub all: Outcome,
    /// Classes, in the columns that [`replay`] was asked for.
    pub classes: Vec<Outcome>,
    /// Requests of the whole replay, with those of the warm-up.
    pub requests: u64,
    /// Ends of requests of the whole replay.
    pub ended: u64,
    /// CPU time of the workers in the whole replay, microseconds.
    pub worked_us: f64,
}

struct Router {
    balancer: Balancer,
    rng: Rng,
    turn: usize,
    weights: Vec<f64>,
    /// Turns that each instance is owed.
    owed: Vec<f64>,
    next_report_us: f64,
}

impl Router {
    fn choose(&mut self, now_us: f64, instances: &[Instance]) -> usize {
        let count = instances.len();
        if count == 1 {
            return 0;
        }
        match self.balancer {
            Balancer::RoundRobin => {
                self.turn += 1;
                (self.turn - 1) % count
            }
            Balancer::LeastConnections => {
                // Where several have the fewest, in turn.
                self.turn += 1;
                let nth = |at: usize| (self.turn + at) % count;
                (0..count).map(nth).min_by_key(|at| instances[*at].in_flight()).unwrap_or(0)
            }
            Balancer::TwoChoices => {
                let mut pick = |below: usize| self.rng.usize(..below.max(1));
                let one = pick(count);
                let other = (one + 1 + pick(count - 1)) % count;
                if instances[other].in_flight() < instances[one].in_flight() { other } else { one }
            }
            Balancer::AgentWeights => {
                if now_us >= self.next_report_us {
                    self.next_report_us = now_us + REPORT_US;
                    self.weights = instances.iter().map(|instance| instance.load(now_us).weight()).collect();
                }
                let sum: f64 = self.weights.iter().sum();
                self.owed.iter_mut().zip(&self.weights).for_each(|(owed, weight)| *owed += weight);
                let first = (0..count).max_by(|one, other| self.owed[*one].total_cmp(&self.owed[*other])).unwrap_or(0);
                self.owed[first] -= sum;
                first
            }
        }
    }
}

/// Replays the stretch. `columns` gives each class its place in [`Replayed::classes`].
#[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
pub fn replay(stretch: &Stretch, setup: &Setup, columns: &[usize]) -> Replayed {
    let waits = stretch.has_waits();
    let one = |_| Instance::new(setup.workers, setup.lanes, &stretch.requests, waits);
    let mut instances: Vec<Instance> = (0..setup.instances).map(one).collect();
    let mut next_us: Vec<f64> = instances.iter().map(Instance::next_us).collect();
    let mut router = Router {
        balancer: setup.balancer,
        rng: Rng::with_seed(setup.seed),
        turn: 0,
        weights: vec![100.0; setup.instances],
        owed: vec![0.0; setup.instances],
        next_report_us: 0.0,
    };
    let mut traffic = Traffic::new(stretch, setup.traffic, setup.seed).peekable();
    let width = columns.iter().max().map_or(0, |most| most + 1);
    let mut replayed = Replayed {
        all: Outcome::default(),
        classes: vec![Outcome::default(); width],
        requests: 0,
        ended: 0,
        worked_us: 0.0,
    };
    let warm_us = stretch.span_us() / 10;
    while traffic.peek().is_some() || replayed.ended < replayed.requests {
        let (first, at_us) = next_us
            .iter()
            .copied()
            .enumerate()
            .fold((0, f64::INFINITY), |least, it| if it.1 < least.1 { it } else { least });
        let at = match traffic.next_if(|(arrival_us, _)| *arrival_us as f64 <= at_us) {
            Some((arrival_us, request)) => {
                let at = router.choose(arrival_us as f64, &instances);
                replayed.requests += 1;
                instances[at].arrive(arrival_us as f64, request, arrival_us >= warm_us);
                at
            }
            None if at_us.is_finite() => {
                instances[first].turn();
                first
            }
            None => break,
        };
        next_us[at] = instances[at].next_us();
        for end in instances[at].take_ends() {
            replayed.ended += 1;
            if end.counts {
                replayed.all.take(end.latency_us);
                if let Some(of) = columns.get(usize::from(end.class)).and_then(|at| replayed.classes.get_mut(*at)) {
                    of.take(end.latency_us);
                }
            }
        }
    }
    replayed.worked_us = instances.iter().map(Instance::worked_us).sum();
    replayed
}
