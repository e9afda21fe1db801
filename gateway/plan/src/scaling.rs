//! A fleet that an autoscaler makes larger and smaller while it serves a log: pods that take time to start, metrics that come late.

use fastrand::Rng;
use sluice_sketch::Times;

use crate::arrivals::{Request, Stretch};
use crate::autoscaler::{Autoscaler, Controller, Seen};
use crate::instance::Instance;
use crate::traffic::Traffic;

/// Time between two scrapes of a pod's metrics, and between two syncs of the autoscaler, microseconds.
const INTERVAL_US: f64 = 15_000_000.0;
/// Time by which a sync follows a scrape.
const BEHIND_US: f64 = 7_500_000.0;
/// Scrapes that the mean of the predicted wait is made of: a minute.
const SAMPLES: usize = 4;

/// Fleet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fleet {
    /// Workers of each pod, each with a core of its own.
    pub workers: usize,
    /// Time from the decision to add a pod until it takes requests, seconds.
    pub start_s: f64,
    /// Pods at the beginning; at least the autoscaler's fewest.
    pub first: usize,
    /// Traffic in thousandths of the log's.
    pub traffic: u64,
    /// Wait in the queue from which a request counts as late, milliseconds.
    pub late_ms: u64,
    /// Seed of chance.
    pub seed: u64,
}

/// Result of a simulation.
#[derive(Clone, Default)]
pub struct Scaled {
    /// Queue waits of served requests.
    pub waits: Times,
    /// Requests.
    pub requests: u64,
    /// Served requests that had waited for too long.
    pub late: u64,
    /// Refused requests.
    pub refused: u64,
    /// Time of the last one that was refused, or ended late, seconds from the first request.
    pub late_until_s: f64,
    /// Number of pods from a time on, seconds from the first request: those wanted, which start or serve.
    pub steps: Vec<(f64, usize)>,
    /// Time of all pods from their start to their end, seconds.
    pub pod_s: f64,
}

impl Scaled {
    /// Most pods at once.
    pub fn most(&self) -> usize {
        self.steps.iter().map(|(_, pods)| *pods).max().unwrap_or(0)
    }

    /// Changes of direction: pods that are added after others had left, or that leave after others had been added.
    pub fn turns(&self) -> usize {
        let ups: Vec<bool> = self.steps.windows(2).map(|pair| pair[1].1 > pair[0].1).collect();
        ups.windows(2).filter(|pair| pair[0] != pair[1]).count()
    }
}

struct Pod {
    instance: Option<Instance>,
    /// Time of the instance's next event, microseconds.
    next_us: f64,
    since_us: f64,
    ready_us: f64,
    is_leaving: bool,
    /// Predicted waits of the latest scrapes, milliseconds; `None` where the metric had no value.
    waits_ms: Vec<Option<f64>>,
    /// CPU time at the latest two scrapes, microseconds.
    worked_us: Vec<f64>,
}

struct Run<'a> {
    fleet: &'a Fleet,
    has_waits: bool,
    pods: Vec<Pod>,
    rng: Rng,
    result: Scaled,
}

#[allow(clippy::cast_precision_loss, reason = "few")]
fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_usize), |sum, value| (sum.0 + value, sum.1 + 1));
    (count > 0).then(|| sum / count as f64)
}

impl Run<'_> {
    /// Adds a pod. Its scheduler knows nothing of the classes' costs unless it is there from the beginning.
    fn add(&mut self, now_us: f64, sample: Option<&[Request]>) {
        let ready_us = if sample.is_some() { now_us } else { now_us + self.fleet.start_s * 1e6 };
        let instance = sample.map(|sample| Instance::new(self.fleet.workers, true, sample, self.has_waits));
        self.pods.push(Pod {
            next_us: instance.as_ref().map_or(f64::INFINITY, Instance::next_us),
            instance,
            since_us: now_us,
            ready_us,
            is_leaving: false,
            waits_ms: Vec::new(),
            worked_us: Vec::new(),
        });
    }

    fn begin(&mut self, at: usize) {
        let pod = &mut self.pods[at];
        let mut instance = Instance::new(self.fleet.workers, true, &[], self.has_waits);
        instance.wake(pod.ready_us);
        pod.next_us = instance.next_us();
        pod.instance = Some(instance);
    }

    fn staying(&self) -> impl Iterator<Item = &Pod> {
        self.pods.iter().filter(|pod| !pod.is_leaving)
    }

    fn scrape(&mut self) {
        for pod in &mut self.pods {
            let Some(instance) = &pod.instance else { continue };
            pod.waits_ms.push(instance.shown_wait_ms());
            pod.worked_us.push(instance.worked_us());
            let surplus = (pod.waits_ms.len().saturating_sub(SAMPLES), pod.worked_us.len().saturating_sub(2));
            pod.waits_ms.drain(..surplus.0);
            pod.worked_us.drain(..surplus.1);
        }
    }

    #[allow(clippy::cast_precision_loss, reason = "few")]
    fn seen(&self) -> Vec<Seen> {
        let cpu_percent = |pod: &Pod| match pod.worked_us[..] {
            [before, now] => Some((now - before) / INTERVAL_US / self.fleet.workers as f64 * 100.0),
            _ => None,
        };
        let see = |pod: &Pod| Seen {
            is_ready: pod.instance.is_some(),
            wait_ms: mean(pod.waits_ms.iter().flatten().copied()),
            cpu_percent: cpu_percent(pod),
        };
        self.staying().map(see).collect()
    }

    fn scale(&mut self, now_us: f64, pods: usize) {
        let there = self.staying().count();
        for _ in there..pods {
            self.add(now_us, None);
        }
        // Those that start go first, then the youngest.
        for _ in pods..there {
            let leaves = (0..self.pods.len()).filter(|at| !self.pods[*at].is_leaving).max_by(|one, other| {
                let [one, other] = [one, other].map(|at| (self.pods[*at].instance.is_none(), self.pods[*at].since_us));
                one.0.cmp(&other.0).then(one.1.total_cmp(&other.1))
            });
            if let Some(at) = leaves {
                self.pods[at].is_leaving = true;
            }
        }
        if pods != there {
            self.result.steps.push((now_us / 1e6, pods));
        }
    }

    /// Removes pods that left with all their requests answered.
    fn reap(&mut self, now_us: f64) {
        let is_over =
            |pod: &Pod| pod.is_leaving && pod.instance.as_ref().is_none_or(|instance| instance.in_flight() == 0);
        self.result.pod_s +=
            self.pods.iter().filter(|pod| is_over(pod)).map(|pod| now_us - pod.since_us).sum::<f64>() / 1e6;
        self.pods.retain(|pod| !is_over(pod));
    }

    /// The pod with fewer requests of two that chance picks, as Envoy does.
    fn choose(&mut self) -> Option<usize> {
        let serve: Vec<usize> =
            (0..self.pods.len()).filter(|at| !self.pods[*at].is_leaving && self.pods[*at].instance.is_some()).collect();
        let (one, other) = (*self.rng.choice(&serve)?, *self.rng.choice(&serve)?);
        let held = |at: usize| self.pods[at].instance.as_ref().map_or(0, Instance::in_flight);
        Some(if held(other) < held(one) { other } else { one })
    }

    fn settle(&mut self, now_us: f64, at: usize) {
        let pod = &mut self.pods[at];
        let Some(instance) = &mut pod.instance else { return };
        pod.next_us = instance.next_us();
        for end in instance.take_ends() {
            if end.latency_us.is_none() {
                self.result.refused += 1;
                self.result.late_until_s = now_us / 1e6;
                continue;
            }
            self.result.waits.record(end.waited_us);
            if end.waited_us > self.fleet.late_ms * 1_000 {
                self.result.late += 1;
                self.result.late_until_s = now_us / 1e6;
            }
        }
    }
}

/// Event that comes next.
#[derive(Clone, Copy)]
enum Next {
    Ready(usize),
    Turn(usize),
    Scrape,
    Sync,
    Arrival,
}

/// Serves the stretch with a fleet that the autoscaler scales, and lets it become small again for `calm_s` seconds after the last
/// request.
#[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
pub fn scaling(stretch: &Stretch, fleet: &Fleet, settings: Autoscaler, calm_s: f64) -> Scaled {
    let rng = Rng::with_seed(fleet.seed);
    let has_waits = stretch.has_waits();
    let mut run = Run { fleet, has_waits, pods: Vec::new(), rng, result: Scaled::default() };
    let first = fleet.first.max(settings.min);
    for _ in 0..first {
        run.add(0.0, Some(&stretch.requests));
    }
    run.result.steps.push((0.0, first));
    let mut controller = Controller::new(settings, first);
    let mut traffic = Traffic::new(stretch, fleet.traffic, fleet.seed).peekable();
    let (mut scrape_us, mut sync_us) = (INTERVAL_US, INTERVAL_US + BEHIND_US);
    let end_us = stretch.span_us() as f64 + calm_s * 1e6;
    loop {
        let arrival_us = traffic.peek().map_or(f64::INFINITY, |(at_us, _)| *at_us as f64);
        let mut next = (arrival_us, Next::Arrival);
        let mut offer = |at_us: f64, what: Next| {
            if at_us < next.0 {
                next = (at_us, what);
            }
        };
        for (at, pod) in run.pods.iter().enumerate() {
            match pod.instance {
                Some(_) => offer(pod.next_us, Next::Turn(at)),
                None => offer(pod.ready_us, Next::Ready(at)),
            }
        }
        offer(scrape_us, Next::Scrape);
        offer(sync_us, Next::Sync);
        let (now_us, what) = next;
        if now_us > end_us {
            break;
        }
        match what {
            Next::Ready(at) => run.begin(at),
            Next::Turn(at) => {
                if let Some(instance) = &mut run.pods[at].instance {
                    instance.turn();
                }
                run.settle(now_us, at);
            }
            Next::Scrape => {
                run.scrape();
                scrape_us += INTERVAL_US;
            }
            Next::Sync => {
                run.reap(now_us);
                let pods = controller.sync(now_us / 1e6, &run.seen());
                run.scale(now_us, pods);
                sync_us += INTERVAL_US;
            }
            Next::Arrival => {
                let Some((_, request)) = traffic.next() else { break };
                run.result.requests += 1;
                let Some(at) = run.choose() else {
                    run.result.refused += 1;
                    run.result.late_until_s = now_us / 1e6;
                    continue;
                };
                if let Some(instance) = &mut run.pods[at].instance {
                    instance.arrive(now_us, request, true);
                }
                run.settle(now_us, at);
            }
        }
    }
    let left: f64 = run.pods.iter().map(|pod| (end_us - pod.since_us) / 1e6).sum();
    run.result.pod_s += left;
    run.result
}
