//! Requests of a log, 20 bytes each: arrival, class, service time, CPU time and the queue wait that the log tells.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use serde::Serialize;
use sluice_sketch::Times;

/// Maximum number of classes with their own name. Requests of further ones count as [`OTHERS`].
const CLASSES_MAX: usize = 500;
/// Name of the class of all others, which has number 0.
pub const OTHERS: &str = "(others)";
/// A time that the log does not tell.
const UNKNOWN: u32 = u32::MAX;
const CHUNK: usize = 1 << 20;
/// Bits of a class's number. The other 55 of a request are its arrival, until the year 3111.
const CLASS_BITS: u32 = 9;
/// Time from the middle request's arrival beyond which a request is not of the same log.
const FAR_US: u64 = 400 * 86_400 * 1_000_000;
/// Time without arrivals beyond which the server was off, or another file begins. [`JOINT_US`] of it stay.
const GAP_US: u64 = 600_000_000;
const JOINT_US: u64 = 10_000_000;
/// Largest number of requests in service that is counted separately.
const COMPANY_MAX: usize = 63;

/// One request. Times are microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Request {
    /// Arrival in the upper bits, class in the lower [`CLASS_BITS`], as two halves so that they take 8 bytes of 20.
    when: [u32; 2],
    service_us: u32,
    cpu_us: u32,
    queue_us: u32,
}

#[allow(clippy::cast_possible_truncation, reason = "halves and masked bits")]
impl Request {
    pub(crate) fn new(at_us: u64, class: u16, service_us: u32, cpu_us: u32) -> Self {
        let when = at_us << CLASS_BITS | u64::from(class);
        Self { when: [(when >> 32) as u32, when as u32], service_us, cpu_us, queue_us: UNKNOWN }
    }

    fn when(self) -> u64 {
        u64::from(self.when[0]) << 32 | u64::from(self.when[1])
    }

    pub(crate) fn at_us(self) -> u64 {
        self.when() >> CLASS_BITS
    }

    pub(crate) fn class(self) -> u16 {
        self.when() as u16 & ((1 << CLASS_BITS) - 1)
    }

    pub(crate) fn cpu_us(self) -> u32 {
        self.cpu_us
    }

    /// Time in which the request waits in its worker for something else than the CPU.
    pub(crate) fn wait_us(self) -> u32 {
        self.service_us - self.cpu_us
    }

    /// Time in the worker.
    pub(crate) fn service_us(self) -> u64 {
        self.service_us.into()
    }

    /// Measured queue wait and service time.
    pub(crate) fn measured_us(self) -> Option<u64> {
        (self.queue_us != UNKNOWN).then(|| u64::from(self.queue_us) + u64::from(self.service_us))
    }
}

/// Facts of one request in a log line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Told {
    /// Arrival in the queue, microseconds since 1970.
    pub at_us: i64,
    /// Service time; `None` if no worker answered the request, which still asked for one.
    pub service_us: Option<u64>,
    /// CPU time.
    pub cpu_us: Option<u64>,
    /// Queue wait.
    pub queue_us: Option<u64>,
}

/// Requests as they are read.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    chunks: Vec<Vec<Request>>,
    numbers: HashMap<Box<str>, u16>,
    names: Vec<Box<str>>,
}

/// Requests of one stretch of the log, in the order of their arrival, without gaps in what is known of them.
#[derive(Debug)]
pub struct Stretch {
    pub(crate) requests: Vec<Request>,
    /// Names of classes by their numbers.
    pub(crate) names: Vec<Box<str>>,
    /// Arrival of the first request, microseconds since 1970.
    pub(crate) began_us: u64,
    /// Arrival of the last one, with the gaps that [`Stretch::span_us`] leaves out.
    pub(crate) ended_us: u64,
    /// 99th percentile of the time in the worker.
    pub(crate) p99_us: u64,
    pub(crate) knows: Knows,
}

/// Facts that the log tells of the requests' time in their workers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Knows {
    /// Share of the requests whose CPU time is known, from 0 to 1. The others have their class's mean.
    pub cpu_share: f64,
    /// Requests that no worker answered. Each has the mean service time of its class.
    pub unserved: usize,
}

fn capped(us: u64) -> u32 {
    u32::try_from(us).unwrap_or(UNKNOWN).min(UNKNOWN - 1)
}

impl Arrivals {
    pub(crate) fn len(&self) -> usize {
        self.chunks.iter().map(Vec::len).sum()
    }

    /// Number of the class of this name.
    pub(crate) fn class(&mut self, name: &str) -> u16 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        if self.names.is_empty() {
            self.names.push(OTHERS.into());
        }
        if self.names.len() > CLASSES_MAX {
            return 0;
        }
        let number = u16::try_from(self.names.len()).unwrap_or(0);
        self.names.push(name.into());
        self.numbers.insert(name.into(), number);
        number
    }

    pub(crate) fn add(&mut self, class: u16, told: Told) {
        let at_us = u64::try_from(told.at_us).unwrap_or(0).min((1 << (64 - CLASS_BITS)) - 1);
        let service_us = told.service_us.map_or(UNKNOWN, capped);
        let cpu_us = told.cpu_us.map_or(UNKNOWN, |us| capped(us).min(service_us));
        let queue_us = told.queue_us.filter(|_| told.service_us.is_some()).map_or(UNKNOWN, capped);
        if self.chunks.last().is_none_or(|last| last.len() == CHUNK) {
            self.chunks.push(Vec::with_capacity(if self.chunks.is_empty() { 0 } else { CHUNK }));
        }
        if let Some(last) = self.chunks.last_mut() {
            last.push(Request { queue_us, ..Request::new(at_us, class, service_us, cpu_us) });
        }
    }

    /// The stretch of at most `requests_max` consecutive requests in which the most CPU time was asked for per second, or
    /// service time where that is not known. All of them if there are no more. And how many requests are left out because
    /// their dates are far away.
    pub(crate) fn busiest(self, requests_max: usize) -> (Stretch, usize) {
        let mut all = Vec::with_capacity(self.len());
        for chunk in self.chunks {
            all.extend_from_slice(&chunk);
        }
        all.sort_unstable();
        let count = all.len();
        let middle_us = all.get(all.len() / 2).map_or(0, |it| it.at_us());
        all.retain(|it| it.at_us().abs_diff(middle_us) <= FAR_US);
        let far = count - all.len();
        let gaps = join(&mut all);
        let mean_us = mean(all.iter().map(|it| it.service_us)).unwrap_or(0);
        let mean_cpu_us = mean(all.iter().map(|it| it.cpu_us));
        let work_us = |it: &Request| match (it.cpu_us, it.service_us) {
            (UNKNOWN, UNKNOWN) => mean_cpu_us.unwrap_or(mean_us),
            (UNKNOWN, us) => mean_cpu_us.unwrap_or(u64::MAX).min(us.into()),
            (us, _) => us.into(),
        };
        if all.len() > requests_max {
            let mut work: u64 = all[..requests_max].iter().map(work_us).sum();
            let mut best = (0.0, 0);
            for first in 0..=all.len() - requests_max {
                let end = first + requests_max;
                let rate = ratio(work, (all[end - 1].at_us() - all[first].at_us()).max(1));
                if rate > best.0 {
                    best = (rate, first);
                }
                work = work - work_us(&all[first]) + all.get(end).map_or(0, work_us);
            }
            all.copy_within(best.1..best.1 + requests_max, 0);
            all.truncate(requests_max);
            all.shrink_to_fit();
        }
        let first_us = all.first().map_or(0, |it| it.at_us());
        let real_us = |at_us: u64| {
            at_us
                + gaps[..gaps.partition_point(|(from_us, _)| *from_us <= at_us)].last().map_or(0, |(_, out_us)| *out_us)
        };
        let (began_us, ended_us) = (real_us(first_us), real_us(all.last().map_or(0, |it| it.at_us())));
        for it in &mut all {
            let rest = Request::new(it.at_us() - first_us, it.class(), 0, 0);
            it.when = rest.when;
        }
        let (names, knows) = (self.names, Knows::default());
        let mut stretch = Stretch { requests: all, names, began_us, ended_us, p99_us: 0, knows };
        stretch.settle(mean_us);
        (stretch, far)
    }
}

/// Takes long gaps out of arrivals, which are in order. Returns from which arrivals on how much is out in all.
fn join(all: &mut [Request]) -> Vec<(u64, u64)> {
    let mut gaps = Vec::new();
    let (mut out_us, mut before_us) = (0, all.first().map_or(0, |it| it.at_us()));
    for it in all {
        let gap_us = it.at_us() - before_us;
        before_us = it.at_us();
        if gap_us > GAP_US {
            out_us += gap_us - JOINT_US;
            gaps.push((before_us - out_us, out_us));
        }
        it.when = Request::new(before_us - out_us, it.class(), 0, 0).when;
    }
    gaps
}

/// Mean of what is known; `None` if nothing is.
fn mean(times_us: impl Iterator<Item = u32>) -> Option<u64> {
    let known = times_us.filter(|us| *us != UNKNOWN);
    let (sum, count) = known.fold((0_u64, 0_u64), |(sum, count), us| (sum + u64::from(us), count + 1));
    sum.checked_div(count)
}

#[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
pub(crate) fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not above `us`")]
fn part_of(us: u32, part: f64) -> u32 {
    (f64::from(us) * part.clamp(0.0, 1.0)) as u32
}

/// Sums of one class.
#[derive(Clone, Default)]
struct Sums {
    served: u64,
    service_us: u64,
    measured: u64,
    cpu_us: u64,
    /// Requests and their waits by the number of others that were in service when they began.
    company: Vec<(u64, u64)>,
}

impl Sums {
    /// Part of the time in the worker without the CPU in which the request waited for something else. In company, the
    /// rest is the wait for the CPU, which the replay adds itself.
    fn own_wait(&self) -> f64 {
        let total: u64 = self.company.iter().map(|(count, _)| count).sum();
        let all = ratio(self.company.iter().map(|(_, us)| us).sum(), total);
        let (mut count, mut us) = (0, 0);
        for (more, more_us) in &self.company {
            (count, us) = (count + more, us + more_us);
            if count * 5 >= total {
                break;
            }
        }
        if all > 0.0 { (ratio(us, count) / all).min(1.0) } else { 1.0 }
    }
}

impl Stretch {
    /// Time from the first arrival to the last without long gaps, microseconds, at least 1.
    pub fn span_us(&self) -> u64 {
        self.requests.last().map_or(1, |it| it.at_us().max(1))
    }

    /// Number of requests.
    pub fn len(&self) -> usize {
        self.requests.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Mean number of workers that the requests' CPU time keeps busy.
    pub fn busy_workers(&self) -> f64 {
        ratio(self.requests.iter().map(|it| u64::from(it.cpu_us)).sum(), self.span_us())
    }

    /// Whether any request waits in its worker for something else than the CPU.
    pub(crate) fn has_waits(&self) -> bool {
        self.requests.iter().any(|it| it.wait_us() > 0)
    }

    /// Fills what the log does not tell, and takes waits for the CPU out of service times.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a percentile of 32 bits")]
    fn settle(&mut self, mean_us: u64) {
        let mut sums = vec![Sums::default(); self.names.len().max(1)];
        let mut ends = BinaryHeap::new();
        for it in self.requests.iter().filter(|it| it.service_us != UNKNOWN) {
            let of = &mut sums[usize::from(it.class())];
            (of.served, of.service_us) = (of.served + 1, of.service_us + u64::from(it.service_us));
            let began_us = it.at_us() + u64::from(if it.queue_us == UNKNOWN { 0 } else { it.queue_us });
            while ends.peek().is_some_and(|Reverse(end_us)| *end_us <= began_us) {
                ends.pop();
            }
            let company = ends.len().min(COMPANY_MAX);
            ends.push(Reverse(began_us + u64::from(it.service_us)));
            if it.cpu_us != UNKNOWN {
                of.measured += 1;
                of.cpu_us += u64::from(it.cpu_us);
                of.company.resize(of.company.len().max(company + 1), (0, 0));
                let (count, us) = &mut of.company[company];
                (*count, *us) = (*count + 1, *us + u64::from(it.service_us - it.cpu_us));
            }
        }
        let own_waits: Vec<f64> = sums.iter().map(Sums::own_wait).collect();
        let measured: u64 = sums.iter().map(|of| of.measured).sum();
        self.knows.cpu_share = ratio(measured, self.requests.len() as u64);
        for it in &mut self.requests {
            let class = usize::from(it.class());
            let of = &sums[class];
            if it.service_us == UNKNOWN {
                self.knows.unserved += 1;
                it.service_us = capped(of.service_us.checked_div(of.served).unwrap_or(mean_us));
                it.cpu_us = UNKNOWN;
            }
            if it.cpu_us == UNKNOWN {
                it.cpu_us = of.cpu_us.checked_div(of.measured).map_or(it.service_us, capped).min(it.service_us);
            }
            let wait_us = it.wait_us();
            let lost_us = wait_us - part_of(wait_us, own_waits[class]);
            it.service_us -= lost_us;
            // Its measured latency stays the same.
            if it.queue_us != UNKNOWN {
                it.queue_us = it.queue_us.saturating_add(lost_us).min(UNKNOWN - 1);
            }
        }
        let mut times = Times::default();
        self.requests.iter().for_each(|it| times.record(it.service_us.into()));
        let p99 = Times::percentiles(&[&times].into_iter(), [99]).map_or(0.0, |[us]| us);
        self.p99_us = p99 as u64;
    }
}
