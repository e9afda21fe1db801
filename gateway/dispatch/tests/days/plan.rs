//! What a seed decides: the day's size, what each request asks for, and what an app makes of it.

use sluice_scheduler::{ClassId, Limits, Need, Order, Time};

use crate::rng::Rng;

/// Ways in which an app serves a request. The first is the usual one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    Answers,
    /// The connection's end is the body's.
    AnswersUntilClose,
    /// An event stream, which leaves its slot at its head.
    Streams,
    /// The last byte is out before the app ends the response.
    EndsLate,
    /// The whole answer is out, and its end is never reported.
    NeverReports,
    /// The connection is destroyed in the middle of the body.
    Truncates,
    /// The response ends with fewer bytes than announced.
    EndsShort,
    WritesNoHttp,
    /// Bytes of it come after its end, on a connection that carries another request by then.
    WritesLate,
    /// Its end is reported before its answer begins.
    ReportsEarly,
    /// The end of another request is reported, and its own twice.
    ReportsOthers,
    /// The process exits before, in the middle of, or after the answer.
    DiesBefore,
    DiesWithin,
    DiesAfter,
    /// The event loop never turns again.
    Loops,
    /// Nothing is ever written.
    IsSilent,
}

pub const WAYS: [Way; 16] = [
    Way::Answers,
    Way::AnswersUntilClose,
    Way::Streams,
    Way::EndsLate,
    Way::NeverReports,
    Way::Truncates,
    Way::EndsShort,
    Way::WritesNoHttp,
    Way::WritesLate,
    Way::ReportsEarly,
    Way::ReportsOthers,
    Way::DiesBefore,
    Way::DiesWithin,
    Way::DiesAfter,
    Way::Loops,
    Way::IsSilent,
];

/// Departure of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departure {
    Stays,
    Leaves,
    HalfCloses,
}

#[derive(Clone, Copy, Debug)]
pub struct RequestPlan {
    pub at: Time,
    pub need: Need,
    pub is_safe: bool,
    pub cost_us: u64,
    /// What becomes of it at its first worker, and at those after it.
    pub ways: [Way; 2],
    pub departure: Departure,
    pub departs_after_us: u64,
    /// The rest of its body cannot be read back from the disk.
    pub loses_body: bool,
    pub is_quarantined: bool,
}

/// Class of light requests, and of those that take long.
pub const LIGHT: ClassId = ClassId(1);
const HEAVY: ClassId = ClassId(2);

/// A day of one gateway.
pub struct Plan {
    pub limits: Limits,
    pub workers: u32,
    pub requests: Vec<RequestPlan>,
    /// Times at which all workers are replaced.
    pub reloads: Vec<Time>,
    /// Times at which the operator kills a worker.
    pub kills: Vec<Time>,
}

impl Plan {
    pub fn of(rng: &mut Rng) -> Self {
        let workers = rng.count(1, 4);
        let faults_percent = rng.pick(&[0, 5, 20, 60]);
        let gap_us = rng.pick(&[300, 2_000, 10_000]);
        let mut at = Time(500_000);
        let requests: Vec<_> = (0..rng.between(5, 60))
            .map(|_| {
                at = at.plus_us(rng.exponential(gap_us));
                request(rng, at, faults_percent)
            })
            .collect();
        let day_us = at.0;
        let times = |rng: &mut Rng, most| {
            let mut times: Vec<_> = (0..rng.between(0, most)).map(|_| Time(rng.between(400_000, day_us))).collect();
            times.sort();
            times
        };
        let reloads = times(rng, 1);
        let kills = if faults_percent > 0 { times(rng, 2) } else { Vec::new() };
        Plan { limits: limits(rng), workers, requests, reloads, kills }
    }
}

fn request(rng: &mut Rng, at: Time, faults_percent: u64) -> RequestPlan {
    let is_light = rng.percent(70);
    let class = if is_light { LIGHT } else { HEAVY };
    let mut way = || if rng.percent(faults_percent) { rng.pick(&WAYS) } else { Way::Answers };
    let ways = [way(), way()];
    let departure = match rng.between(0, 19) {
        0 | 1 => Departure::Leaves,
        2 => Departure::HalfCloses,
        _ => Departure::Stays,
    };
    RequestPlan {
        at,
        need: Need { class, ahead: is_light, ..Need::default() },
        is_safe: rng.percent(70),
        cost_us: if is_light { rng.between(50, 1_200) } else { rng.between(5_000, 60_000) },
        ways,
        departure,
        departs_after_us: rng.exponential(8_000),
        loses_body: rng.percent(faults_percent / 10),
        is_quarantined: rng.percent(5),
    }
}

fn limits(rng: &mut Rng) -> Limits {
    Limits {
        queue_length_max: 50,
        queue_wait_ms_max: 10_000,
        concurrency: 1,
        concurrency_max: 1,
        ahead_max: rng.pick(&[0, 2, 8]),
        cheap_us: 2_000,
        order: rng.pick(&[Order::Fifo, Order::Shortest]),
        ageing: 3,
        lanes: rng.percent(30),
        may_raise: true,
        cpus: 2,
        start_timeout_ms: 60_000,
        stop_timeout_ms: 1_000,
        backoff_ms_min: 100,
        backoff_ms_max: 1_000,
        healthy_after_ms: 1_000,
        holds_failed: false,
        streams_per_worker_max: 10,
        warm_up: false,
        reload_at_once: 0,
        recycle_requests_max: rng.pick(&[0, 0, 12]),
        needless_wait_ms_min: 1_000,
        needless_wait_ms_max: 1_000,
        examine_timeout_ms: 900,
    }
}
