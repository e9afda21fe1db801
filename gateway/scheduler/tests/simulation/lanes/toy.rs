//! Cores, workers and policies in a few lines, told apart from the scheduler on purpose: to choose its policy by, and to
//! hold it against afterwards.
//!
//! The cores are shared as the kernel shares them between threads of different weight: every busy worker gets CPU time
//! in proportion to its weight, none more than one core, and what one cannot use goes to the others.

use std::collections::VecDeque;

use crate::rng::Rng;

/// Weights of nice 2 and nice 19 in the Linux scheduler.
pub const WEIGHT_SHORT: f64 = 655.0;
pub const WEIGHT_LONG: f64 = 15.0;

/// CPU time before which no request is lowered.
const LOWER_MS_MIN: f64 = 50.0;

/// One kind of request: how often it comes (shares add up to 1), what CPU time it takes, and what its class is thought to.
#[derive(Clone, Copy)]
pub struct Kind {
    pub share: f64,
    pub cost_ms: f64,
    pub expected_ms: f64,
}

impl Kind {
    pub fn known(share: f64, cost_ms: f64) -> Kind {
        Kind { share, cost_ms, expected_ms: cost_ms }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    Fifo,
    Shortest,
}

/// What may be chosen.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    pub order: Order,
    /// Times the predicted FIFO wait after which a request goes first; 0 never.
    pub ageing: f64,
    /// And so many times its own cost.
    pub ageing_costs: f64,
    /// Workers of the long lane; 0 for no lanes.
    pub long_workers: usize,
    /// A long request takes the long lane's worker before one of the short lane.
    pub long_lane_first: bool,
    /// A long request may take a worker of the short lane if so many others there are free.
    pub spare_short: usize,
    /// Long ones hold at most the workers of the short lane that short ones do not need on average; the margin added to
    /// that need. Negative for no such rule.
    pub need_margin: f64,
    /// One that has waited for too long may take the last.
    pub overdue_takes_last: bool,
    /// The longest predicted wait that is admitted.
    pub wait_ms_max: f64,
    /// Whether a short request's wait is predicted from short ones alone.
    pub predict_by_kind: bool,
    /// A request in the short lane that has used so many times the CPU time that was expected of it, and [`LOWER_MS_MIN`],
    /// goes on with the long lane's priority; 0 never.
    pub lower_after: f64,
}

pub const FIFO: Policy = Policy {
    order: Order::Fifo,
    ageing: 0.0,
    ageing_costs: 4.0,
    long_workers: 0,
    long_lane_first: true,
    spare_short: 1,
    need_margin: -1.0,
    overdue_takes_last: true,
    wait_ms_max: 10_000.0,
    predict_by_kind: false,
    lower_after: 0.0,
};

pub const SHORTEST: Policy = Policy { order: Order::Shortest, predict_by_kind: true, ..FIFO };
pub const LANES: Policy = Policy { ageing: 3.0, long_workers: 1, ..SHORTEST };

pub struct Day {
    pub cores: usize,
    pub short_workers: usize,
    pub kinds: Vec<Kind>,
    /// What costs at least that is long.
    pub cut_ms: f64,
    /// Offered CPU time per core.
    pub load: f64,
    pub requests: usize,
    pub seed: u64,
}

/// Of one kind, in milliseconds.
#[derive(Default, Clone)]
pub struct Outcome {
    pub latencies_ms: Vec<f64>,
    pub waits_ms: Vec<f64>,
    pub shed: usize,
}

impl Outcome {
    pub fn quantile(values: &[f64], q: f64) -> f64 {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = (q * (sorted.len() as f64 - 1.0)).round().max(0.0) as usize;
        sorted.get(at).copied().unwrap_or(f64::NAN)
    }
}

#[derive(Clone, Copy)]
struct Request {
    kind: usize,
    arrived: f64,
    overdue: f64,
}

struct Worker {
    is_long: bool,
    /// The request and the CPU time that it still needs.
    busy: Option<(Request, f64)>,
}

/// CPU time per unit of time that each busy worker gets.
pub fn rates(cores: usize, weights: &[f64]) -> Vec<f64> {
    let mut rates = vec![0.0; weights.len()];
    let mut left = cores as f64;
    let mut open: Vec<usize> = (0..weights.len()).filter(|at| weights[*at] > 0.0).collect();
    loop {
        let sum: f64 = open.iter().map(|at| weights[*at]).sum();
        let full: Vec<usize> = open.iter().copied().filter(|at| weights[*at] / sum * left >= 1.0).collect();
        if full.is_empty() {
            for at in open {
                rates[at] = weights[at] / sum * left;
            }
            return rates;
        }
        for at in &full {
            rates[*at] = 1.0;
        }
        left -= full.len() as f64;
        open.retain(|at| !full.contains(at));
    }
}

struct World<'a> {
    day: &'a Day,
    policy: Policy,
    workers: Vec<Worker>,
    queues: Vec<VecDeque<Request>>,
    /// Short requests that hold a worker or wait for one, on average over the last seconds.
    short_need: f64,
}

impl World<'_> {
    fn is_long(&self, kind: usize) -> bool {
        self.day.kinds[kind].expected_ms >= self.day.cut_ms
    }

    /// Queued CPU time, of these kinds.
    fn queued_ms(&self, counts: impl Fn(usize) -> bool) -> f64 {
        let kinds = 0..self.queues.len();
        kinds.filter(|k| counts(*k)).map(|k| self.queues[k].len() as f64 * self.day.kinds[k].expected_ms).sum()
    }

    fn long_in_short(&self) -> usize {
        let is_held = |w: &&Worker| !w.is_long && w.busy.is_some_and(|(r, _)| self.is_long(r.kind));
        self.workers.iter().filter(is_held).count()
    }

    /// Short requests in the system, as far as the short lane could serve them.
    fn short_now(&self) -> f64 {
        let held = self.workers.iter().filter(|w| w.busy.is_some_and(|(r, _)| !self.is_long(r.kind))).count();
        let queued: usize = (0..self.queues.len()).filter(|k| !self.is_long(*k)).map(|k| self.queues[k].len()).sum();
        (held + queued).min(self.day.short_workers) as f64
    }

    fn free(&self, is_long: bool) -> Vec<usize> {
        let is_free = |w: &Worker| w.is_long == is_long && w.busy.is_none();
        (0..self.workers.len()).filter(|at| is_free(&self.workers[*at])).collect()
    }

    /// A worker for a request of this kind, if there is one that it may have.
    fn worker_for(&self, kind: usize, is_overdue: bool) -> Option<usize> {
        let (short, mut long) = (self.free(false), self.free(true));
        if self.policy.long_workers == 0 || !self.is_long(kind) {
            return short.first().copied();
        }
        let takes_last = is_overdue && self.policy.overdue_takes_last;
        let needed = (self.short_need + self.policy.need_margin).ceil();
        let mut has_room = true;
        if self.policy.need_margin >= 0.0 {
            has_room = (self.long_in_short() as f64) < self.day.short_workers as f64 - needed;
            if needed < 2.0 {
                // The second one of the long lane is for when short ones need most of the short lane.
                long.retain(|at| *at == self.day.short_workers);
                has_room = true;
            }
        }
        let may_have_short = has_room && short.len() > self.policy.spare_short || takes_last && !short.is_empty();
        let of_short = short.first().copied().filter(|_| may_have_short);
        let of_long = long.first().copied();
        if self.policy.long_lane_first { of_long.or(of_short) } else { of_short.or(of_long) }
    }

    fn dispatch(&mut self, now: f64, outcomes: &mut [Outcome]) {
        loop {
            let heads = (0..self.queues.len()).filter_map(|k| self.queues[k].front().copied());
            let mut heads: Vec<(f64, f64, Request, bool)> = heads
                .map(|r| {
                    let is_overdue = self.policy.ageing > 0.0 && r.overdue <= now;
                    let key = match self.policy.order {
                        Order::Fifo => 0.0,
                        Order::Shortest if is_overdue => -1.0,
                        Order::Shortest => self.day.kinds[r.kind].expected_ms,
                    };
                    (key, r.arrived, r, is_overdue)
                })
                .collect();
            heads.sort_by(|a, b| (a.0, a.1).partial_cmp(&(b.0, b.1)).expect("numbers"));
            let next = heads.into_iter().find_map(|(_, _, r, late)| Some((r, self.worker_for(r.kind, late)?)));
            let Some((request, worker)) = next else { return };
            self.queues[request.kind].pop_front();
            outcomes[request.kind].waits_ms.push(now - request.arrived);
            self.workers[worker].busy = Some((request, self.day.kinds[request.kind].cost_ms));
        }
    }

    /// CPU time until the worker's request is lowered, if it will be; none is left when it has been.
    fn until_lowered_ms(&self, w: &Worker) -> Option<f64> {
        let (request, left) = w.busy.filter(|(r, _)| !w.is_long && !self.is_long(r.kind))?;
        let kind = &self.day.kinds[request.kind];
        let after_ms = (self.policy.lower_after * kind.expected_ms).max(LOWER_MS_MIN);
        (self.policy.lower_after > 0.0).then(|| (after_ms - (kind.cost_ms - left)).max(0.0))
    }

    fn rates(&self) -> Vec<f64> {
        let weight = |w: &Worker| match (w.busy, w.is_long) {
            (None, _) => 0.0,
            (Some(_), true) => WEIGHT_LONG,
            (Some(_), false) if self.until_lowered_ms(w).is_some_and(|left| left < 1e-9) => WEIGHT_LONG,
            (Some(_), false) => WEIGHT_SHORT,
        };
        rates(self.day.cores, &self.workers.iter().map(weight).collect::<Vec<_>>())
    }
}

/// Lives the day by this policy: the outcome by kind, and the CPU time spent per core and unit of time.
pub fn live(day: &Day, policy: Policy) -> (Vec<Outcome>, f64) {
    let mut rng = Rng::new(day.seed);
    let mean_ms: f64 = day.kinds.iter().map(|kind| kind.share * kind.cost_ms).sum();
    let gap_ms = mean_ms / day.load / day.cores as f64;
    let exponential = |rng: &mut Rng| -(1.0 - rng.unit()).ln() * gap_ms;
    let workers = (0..day.short_workers + policy.long_workers)
        .map(|at| Worker { is_long: at >= day.short_workers, busy: None })
        .collect();
    let mut world = World { day, policy, workers, queues: vec![VecDeque::new(); day.kinds.len()], short_need: 0.0 };
    let mut outcomes = vec![Outcome::default(); day.kinds.len()];
    let (mut now, mut arrivals, mut worked_ms, mut began) = (0.0, 0, 0.0, 0.0);
    let mut next = exponential(&mut rng);
    while arrivals < day.requests {
        let rates = world.rates();
        let left = |(w, rate): (&Worker, &f64)| {
            let lowered = world.until_lowered_ms(w).filter(|left| *left >= 1e-9).unwrap_or(f64::INFINITY);
            w.busy.map_or(f64::INFINITY, |(_, left)| left.min(lowered) / rate)
        };
        let ends = world.workers.iter().zip(&rates).map(left).fold(f64::INFINITY, f64::min);
        let step = ends.min(next - now);
        now += step;
        let weight = 1.0 - (-step / 2000.0_f64).exp();
        world.short_need += (world.short_now() - world.short_need) * weight;
        for (w, rate) in world.workers.iter_mut().zip(&rates) {
            worked_ms += rate * step;
            if let Some((request, left)) = &mut w.busy {
                *left -= rate * step;
                if *left < 1e-9 {
                    outcomes[request.kind].latencies_ms.push(now - request.arrived);
                    w.busy = None;
                }
            }
        }
        if now >= next {
            arrivals += 1;
            next = now + exponential(&mut rng);
            arrive(&mut world, now, &mut rng, &mut outcomes);
            if arrivals == day.requests / 10 {
                // The first tenth is not counted.
                (worked_ms, began) = (0.0, now);
                outcomes.fill(Outcome::default());
            }
        }
        world.dispatch(now, &mut outcomes);
    }
    (outcomes, worked_ms / (now - began) / day.cores as f64)
}

fn arrive(world: &mut World, now: f64, rng: &mut Rng, outcomes: &mut [Outcome]) {
    let mut of = rng.unit();
    let found = world.day.kinds.iter().position(|kind| {
        of -= kind.share;
        of < 0.0
    });
    let kind = found.unwrap_or(0);
    let slots = world.day.short_workers as f64;
    let fifo_wait_ms = world.queued_ms(|_| true) / slots;
    let is_long = world.is_long(kind);
    let wait_ms = if world.policy.predict_by_kind {
        world.queued_ms(|other| world.is_long(other) == is_long) / slots
    } else {
        fifo_wait_ms
    };
    if wait_ms > world.policy.wait_ms_max {
        outcomes[kind].shed += 1;
        return;
    }
    let expected_ms = world.day.kinds[kind].expected_ms;
    let overdue = now + world.policy.ageing * fifo_wait_ms + world.policy.ageing_costs * expected_ms;
    world.queues[kind].push_back(Request { kind, arrived: now, overdue });
}
