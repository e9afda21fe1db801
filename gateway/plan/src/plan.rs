//! The plan: which replays are made, and what is answered from them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde::Serialize;
use sluice_sketch::Times;

use crate::arrivals::{Knows, Stretch, ratio};
use crate::replay::{Balancer, Outcome, Replayed, Setup, replay};

/// Percentiles of every table.
pub const PERCENTILES: [u64; 3] = [50, 95, 99];
/// Maximum share of refused requests at which a target counts as met.
pub(crate) const REFUSED_MAX: f64 = 0.001;
/// Maximum number of shown classes. The others are one.
const CLASSES_MAX: usize = 20;
/// Default maximum number of workers to try.
const WORKERS_MAX: usize = 64;

/// A target: this percentile of all requests takes at most so long.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Target {
    /// 50, 95 or 99.
    pub percentile: u64,
    /// Milliseconds.
    pub ms: f64,
}

/// Question to the plan.
#[derive(Clone, Debug)]
pub struct Question {
    /// Fewest and most workers; from 1 to twice those that the CPU time keeps busy if not given.
    pub workers: Option<(usize, usize)>,
    /// Traffic in thousandths of the log's.
    pub traffic: Vec<u64>,
    /// Target.
    pub target: Option<Target>,
    /// Fleets: instances and workers of each.
    pub fleets: Vec<(usize, usize)>,
    /// Seed of chance.
    pub seed: u64,
    /// Replays that are made at once.
    pub threads: usize,
}

/// Latencies in milliseconds, in the order of [`PERCENTILES`], and the share of refused requests from 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Latency {
    /// Latencies; `None` if no request was served.
    pub ms: Option<[f64; 3]>,
    /// Refused requests.
    pub refused: f64,
}

/// One class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassRow {
    /// Name.
    pub class: String,
    /// Requests of the class in the log's stretch.
    pub requests: u64,
    /// Share of the CPU time of all, from 0 to 1.
    pub cpu_share: f64,
    /// Median of the time in the worker, milliseconds.
    pub median_ms: f64,
    /// Queue wait and service time that the log measured; `None` if it does not tell.
    pub measured: Option<Latency>,
}

/// One replay of one instance.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Workers.
    pub workers: usize,
    /// Whether lanes are on.
    pub lanes: bool,
    /// Traffic as a multiple of the log's.
    pub traffic: f64,
    /// CPU time that is asked for, as a share of what the workers have. From 1 on there is no replay.
    pub load: f64,
    /// All requests; `None` if the load is 1 or more.
    pub all: Option<Latency>,
    /// Latencies by class, in the order of [`Plan::classes`].
    pub classes: Vec<Latency>,
}

/// One replay of a fleet, at the log's own traffic and with lanes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FleetRow {
    /// Instances.
    pub instances: usize,
    /// Workers of each.
    pub workers: usize,
    /// The balancer.
    pub balancer: &'static str,
    /// Load, as for [`Row`].
    pub load: f64,
    /// All requests, as for [`Row`].
    pub all: Option<Latency>,
}

/// Answer to a target at one traffic, lanes on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// Traffic as a multiple of the log's.
    pub traffic: f64,
    /// Fewest workers that meet the target; `None` if none of those tried do.
    pub workers: Option<usize>,
    /// Fewest workers that meet it with one of them lost: one more.
    pub workers_one_lost: Option<usize>,
    /// Latency with these workers.
    pub with: Option<Latency>,
    /// Latency with one worker less: the last one buys the difference.
    pub without_last: Option<Latency>,
}

/// Everything that is known.
#[derive(Clone, Debug, Serialize)]
pub struct Plan {
    /// Arrival of the first replayed request, microseconds since 1970.
    pub began_us: u64,
    /// Arrival of the last one.
    pub ended_us: u64,
    /// Time from the first to the last without gaps of more than 10 minutes, seconds.
    pub span_s: f64,
    /// Requests that are replayed.
    pub requests: usize,
    /// Requests per second.
    pub per_second: f64,
    /// Mean number of workers that the requests' CPU time keeps busy.
    pub busy_workers: f64,
    /// Facts that the log tells.
    pub knows: Knows,
    /// Queue wait and service time of all requests that the log measured.
    pub measured: Option<Latency>,
    /// Classes, those with the most CPU time first.
    pub classes: Vec<ClassRow>,
    /// Replays of one instance.
    pub rows: Vec<Row>,
    /// Replays of fleets.
    pub fleets: Vec<FleetRow>,
    /// The target.
    pub target: Option<Target>,
    /// Answers to the target, by traffic.
    pub answers: Vec<Answer>,
}

impl Latency {
    fn of(outcome: &Outcome) -> Self {
        let us = Times::percentiles(&[&outcome.times].into_iter(), PERCENTILES);
        Self { ms: us.map(|us| us.map(|us| us / 1_000.0)), refused: ratio(outcome.refused, outcome.total()) }
    }

    fn meets(&self, target: Target) -> bool {
        let place = PERCENTILES.iter().position(|percentile| *percentile == target.percentile);
        let ms = self.ms.zip(place).map(|(ms, place)| ms[place]);
        ms.is_some_and(|ms| ms <= target.ms) && self.refused <= REFUSED_MAX
    }
}

/// Classes with the most CPU time, and for each class of the log its place among them.
fn classes(stretch: &Stretch) -> (Vec<ClassRow>, Vec<usize>) {
    let mut sums = vec![(0_u64, 0_u64); stretch.names.len().max(1)];
    for it in &stretch.requests {
        let (count, cpu_us) = &mut sums[usize::from(it.class())];
        (*count, *cpu_us) = (*count + 1, *cpu_us + u64::from(it.cpu_us()));
    }
    let total: u64 = sums.iter().map(|(_, cpu_us)| cpu_us).sum();
    let mut order: Vec<usize> = (1..sums.len()).filter(|at| sums[*at].0 > 0).collect();
    order.sort_by_key(|at| (std::cmp::Reverse(sums[*at].1), *at));
    order.truncate(CLASSES_MAX);
    let mut columns = vec![order.len(); sums.len()];
    for (place, at) in order.iter().enumerate() {
        columns[*at] = place;
    }
    let mut rows: Vec<ClassRow> = order.iter().map(|at| row(&stretch.names[*at], sums[*at], total)).collect();
    let rest = sums.iter().zip(&columns).filter(|(_, column)| **column == order.len());
    let rest = rest.fold((0, 0), |sum, (it, _)| (sum.0 + it.0, sum.1 + it.1));
    rows.push(row(crate::arrivals::OTHERS, rest, total));
    let mut times = vec![Times::default(); rows.len()];
    stretch.requests.iter().for_each(|it| times[columns[usize::from(it.class())]].record(it.service_us()));
    for (row, times) in rows.iter_mut().zip(&times) {
        row.median_ms = Times::percentiles(&[times].into_iter(), [50]).map_or(0.0, |[us]| us / 1_000.0);
    }
    (rows, columns)
}

fn row(name: &str, (requests, cpu_us): (u64, u64), total: u64) -> ClassRow {
    ClassRow { class: name.to_owned(), requests, cpu_share: ratio(cpu_us, total), median_ms: 0.0, measured: None }
}

/// Measured latencies of the same requests that a replay counts.
fn measured(stretch: &Stretch, columns: &[usize], rows: &mut [ClassRow]) -> Option<Latency> {
    let mut all = Outcome::default();
    let mut by_class = vec![Outcome::default(); rows.len()];
    let warm_us = stretch.span_us() / 10;
    for it in stretch.requests.iter().filter(|it| it.at_us() >= warm_us) {
        if let Some(us) = it.measured_us() {
            all.times.record(us);
            by_class[columns[usize::from(it.class())]].times.record(us);
        }
    }
    for (row, of) in rows.iter_mut().zip(&by_class) {
        row.measured = (of.total() > 0).then(|| Latency::of(of));
    }
    (all.total() > 0).then(|| Latency::of(&all))
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "small")]
fn worker_range(question: &Question, busy: f64) -> (usize, usize) {
    let times = |traffic: Option<&u64>| busy * traffic.map_or(1.0, |it| *it as f64 / 1_000.0);
    let enough = times(question.traffic.iter().max()).max(busy * 2.0).ceil() as usize + 2;
    let (fewest, most) = question.workers.unwrap_or((1, enough.clamp(2, WORKERS_MAX)));
    // The fewest that meet a target are only known when fewer were tried, down to those with too much work.
    let overloaded = (times(question.traffic.iter().min()) as usize).max(1);
    (if question.target.is_some() { fewest.min(overloaded) } else { fewest }, most)
}

/// Runs `jobs` on so many threads, and returns their results in order.
fn run_all<T: Send>(count: usize, threads: usize, job: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= count {
                return done;
            }
            done.push((at, job(at)));
        }
    };
    let mut all: Vec<(usize, T)> = thread::scope(|scope| {
        let running: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
        let ended =
            running.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        ended.flatten().collect()
    });
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, result)| result).collect()
}

/// Makes every replay that the question needs, and answers it.
#[allow(clippy::cast_precision_loss, reason = "small, or far below 2^53")]
pub fn plan(stretch: &Stretch, question: &Question) -> Plan {
    let (mut class_rows, columns) = classes(stretch);
    let measured = measured(stretch, &columns, &mut class_rows);
    let busy = stretch.busy_workers();
    let (fewest, most) = worker_range(question, busy);
    let one = Setup {
        workers: 1,
        instances: 1,
        balancer: Balancer::RoundRobin,
        lanes: true,
        traffic: 1_000,
        seed: question.seed,
    };
    let mut setups = Vec::new();
    for workers in fewest..=most {
        for lanes in [true, false] {
            setups.extend(question.traffic.iter().map(|traffic| Setup { workers, lanes, traffic: *traffic, ..one }));
        }
    }
    let singles = setups.len();
    for (instances, workers) in &question.fleets {
        let fleet = Setup { workers: *workers, instances: *instances, ..one };
        setups.extend(Balancer::ALL.map(|balancer| Setup { balancer, ..fleet }));
    }
    let load = |setup: &Setup| busy * setup.traffic as f64 / 1_000.0 / (setup.workers * setup.instances) as f64;
    let replayed: Vec<Option<Replayed>> = run_all(setups.len(), question.threads, |at| {
        (load(&setups[at]) < 1.0).then(|| replay(stretch, &setups[at], &columns))
    });
    let latency = |at: usize| replayed[at].as_ref().map(|it| Latency::of(&it.all));
    let rows: Vec<Row> = (0..singles)
        .map(|at| Row {
            workers: setups[at].workers,
            lanes: setups[at].lanes,
            traffic: setups[at].traffic as f64 / 1_000.0,
            load: load(&setups[at]),
            all: latency(at),
            classes: replayed[at].iter().flat_map(|it| it.classes.iter().map(Latency::of)).collect(),
        })
        .collect();
    let fleets = (singles..setups.len()).map(|at| FleetRow {
        instances: setups[at].instances,
        workers: setups[at].workers,
        balancer: setups[at].balancer.name(),
        load: load(&setups[at]),
        all: latency(at),
    });
    let traffic = question.traffic.iter().map(|it| *it as f64 / 1_000.0);
    let answers = question.target.map(|target| traffic.map(|traffic| answer(&rows, traffic, target)).collect());
    Plan {
        began_us: stretch.began_us,
        ended_us: stretch.ended_us,
        span_s: stretch.span_us() as f64 / 1e6,
        requests: stretch.len(),
        per_second: stretch.len() as f64 / (stretch.span_us() as f64 / 1e6),
        busy_workers: busy,
        knows: stretch.knows,
        measured,
        classes: class_rows,
        fleets: fleets.collect(),
        target: question.target,
        answers: answers.unwrap_or_default(),
        rows,
    }
}

impl Plan {
    /// The replay of so many workers at this traffic.
    pub fn row(&self, workers: usize, lanes: bool, traffic: f64) -> Option<&Row> {
        find(&self.rows, workers, lanes, traffic)
    }
}

#[allow(clippy::float_cmp, reason = "it is the same number")]
fn find(rows: &[Row], workers: usize, lanes: bool, traffic: f64) -> Option<&Row> {
    rows.iter().find(|row| row.workers == workers && row.lanes == lanes && row.traffic == traffic)
}

fn answer(rows: &[Row], traffic: f64, target: Target) -> Answer {
    let latency = |workers: usize| find(rows, workers, true, traffic).and_then(|row| row.all.clone());
    let meets = |workers: usize| latency(workers).is_some_and(|latency| latency.meets(target));
    let workers = rows.iter().map(|row| row.workers).find(|workers| meets(*workers));
    Answer {
        traffic,
        workers,
        workers_one_lost: workers.map(|workers| workers + 1),
        with: workers.and_then(latency),
        without_last: workers.and_then(|workers| latency(workers - 1)),
    }
}
