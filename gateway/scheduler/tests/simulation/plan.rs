//! What kind of day a seed stands for: the limits in force and how the world misbehaves.

use sluice_scheduler::{ClassId, Limits, Need, Order};

use crate::rng::Rng;

/// A day's plan. Percentages say how often, `_us` are means of exponential times unless said otherwise.
#[derive(Clone, Debug)]
pub struct Plan {
    pub limits: Limits,
    /// What requests ask for, and what those of each kind cost.
    pub kinds: Vec<(Need, u64)>,
    /// Requests whose client has a session, or will have one.
    pub sticky_percent: u64,
    pub workers: u32,
    /// Ticks come only at multiples of this.
    pub tick_us: u64,
    /// Everything happens at multiples of this, so that events share an instant.
    pub grain_us: u64,
    pub day_us: u64,
    pub arrivals: u64,
    pub burst_gap_us: u64,
    pub burst_max: u64,
    pub service_us: u64,
    pub patience_us: u64,
    pub impatient_percent: u64,
    pub boot_us: u64,
    pub boot_fails_percent: u64,
    pub boot_hangs_percent: u64,
    /// How long until a worker that listens dies by itself.
    pub life_us: u64,
    pub mortal_percent: u64,
    pub dies_serving_percent: u64,
    pub hangs_percent: u64,
    pub detaches_percent: u64,
    pub undeliverable_percent: u64,
    pub late_end_percent: u64,
    /// Requests that were handed ahead of time and begin before the gateway knows that those before them have ended.
    pub begins_early_percent: u64,
    pub slow_stop_percent: u64,
    pub scalings: u64,
    pub sticks_percent: u64,
    /// Requests that wait on something else than the CPU after a while.
    pub waits_percent: u64,
    /// Requests during which the event loop stands still for a while, or until it counts as stuck.
    pub overdue_percent: u64,
    /// Workers that close their server after some time.
    pub closes_percent: u64,
    pub overweight_percent: u64,
    pub warm_up_fails_percent: u64,
    /// Generations that never work.
    pub broken_percent: u64,
    /// Requests whose worker died that are tried again.
    pub retried_percent: u64,
    /// Requests that a warm-up has at most.
    pub warm_ups_max: u64,
    pub reloads: u64,
    /// Times that the limits change.
    pub reconfigurations: u64,
}

pub fn recycle_requests_max(rng: &mut Rng) -> u64 {
    rng.pick(&[0, 0, 1, 7, 30])
}

/// One kind, or short and long ones, some of which are known and some of which have priorities and deadlines.
fn kinds(rng: &mut Rng) -> Vec<(Need, u64)> {
    let of = |rng: &mut Rng, class: u16| {
        let deadline_ms = rng.pick(&[None, None, None, Some(1), Some(30), Some(200)]);
        let (priority, ahead) = (rng.pick(&[0, 0, 0, 1, -1]), rng.percent(80));
        let need = Need { class: ClassId(class), priority, deadline_ms, ahead, ..Need::default() };
        (need, rng.pick(&[500, 1_000, 5_000, 20_000, 100_000, 400_000]))
    };
    let count = rng.between(1, 6);
    (1..=count).map(|class| of(rng, u16::try_from(class).expect("few"))).collect()
}

impl Plan {
    pub fn random(rng: &mut Rng) -> Plan {
        let backoff_ms_min = rng.between(1, 40);
        let limits = Limits {
            queue_length_max: rng.pick(&[0, 1, 2, 5, 20, 20, 100]),
            queue_wait_ms_max: rng.pick(&[1, 5, 20, 100, 500, 2000]),
            concurrency: rng.pick(&[1, 1, 1, 1, 1, 1, 2, 3, 5]),
            concurrency_max: rng.pick(&[1, 1, 2, 4]),
            ahead_max: rng.pick(&[0, 1, 2, 8]),
            cheap_us: 2_000,
            order: rng.pick(&[Order::Fifo, Order::Shortest, Order::Shortest]),
            ageing: rng.pick(&[0, 3]),
            lanes: rng.percent(85),
            may_raise: rng.percent(30),
            cpus: rng.pick(&[1, 2, 4]),
            start_timeout_ms: rng.between(5, 200),
            stop_timeout_ms: rng.pick(&[0, 1, 20, 100, 200]),
            backoff_ms_min,
            backoff_ms_max: backoff_ms_min * rng.between(1, 20),
            holds_failed: false,
            healthy_after_ms: rng.pick(&[0, 10, 100, 500]),
            streams_per_worker_max: rng.count(0, 3),
            warm_up: rng.percent(50),
            reload_at_once: rng.pick(&[0, 0, 1, 2, 6]),
            recycle_requests_max: recycle_requests_max(rng),
            needless_wait_ms_min: rng.between(1, 40),
            needless_wait_ms_max: rng.pick(&[40, 100, 400]),
            examine_timeout_ms: rng.pick(&[1, 20, 100]),
        };
        let troubled = rng.percent(60);
        let mut often = |percent: u64| if troubled { rng.between(0, percent) } else { 0 };
        let mut plan = Plan {
            boot_fails_percent: often(100),
            boot_hangs_percent: often(40),
            mortal_percent: often(100),
            dies_serving_percent: often(15),
            hangs_percent: often(15),
            undeliverable_percent: often(10),
            late_end_percent: often(20),
            begins_early_percent: often(40),
            slow_stop_percent: often(60),
            sticks_percent: often(10),
            waits_percent: often(80),
            overdue_percent: often(20),
            closes_percent: often(20),
            overweight_percent: often(30),
            warm_up_fails_percent: often(20),
            broken_percent: rng.pick(&[0, 20, 50]),
            retried_percent: rng.pick(&[0, 50, 100]),
            warm_ups_max: rng.between(0, 4),
            reloads: rng.pick(&[0, 4, 8, 8]),
            reconfigurations: rng.pick(&[0, 0, 1, 4]),
            limits,
            kinds: kinds(rng),
            sticky_percent: rng.pick(&[0, 0, 0, 15, 60]),
            workers: rng.count(1, 5),
            tick_us: rng.pick(&[1, 1, 1000, 5000, 20_000]),
            grain_us: rng.pick(&[1, 1, 1000, 10_000]),
            day_us: rng.between(50_000, 1_500_000),
            arrivals: rng.between(5, 50),
            burst_gap_us: rng.pick(&[1_000, 10_000, 50_000]),
            burst_max: rng.pick(&[1, 3, 12]),
            service_us: rng.pick(&[500, 5_000, 20_000, 100_000]),
            patience_us: rng.pick(&[1_000, 20_000, 200_000]),
            impatient_percent: rng.pick(&[0, 20, 80]),
            boot_us: rng.pick(&[1_000, 20_000, 100_000]),
            life_us: rng.pick(&[5_000, 50_000, 500_000]),
            detaches_percent: rng.pick(&[0, 0, 10, 50]),
            scalings: rng.pick(&[0, 0, 1, 3, 8]),
        };
        if rng.percent(20) {
            plan.lighten(rng);
        }
        plan
    }

    /// Most requests are cheap, and there are enough of them for workers to be handed some ahead of time.
    fn lighten(&mut self, rng: &mut Rng) {
        let cheap = Need { class: ClassId(1), ahead: true, ..Need::default() };
        self.kinds.insert(0, (cheap, 500));
        self.kinds.insert(0, (cheap, 500));
        self.limits.ahead_max = rng.pick(&[1, 2, 8]);
        self.limits.queue_length_max = 100;
        self.limits.queue_wait_ms_max = rng.pick(&[20, 100, 500]);
        (self.service_us, self.grain_us) = (rng.pick(&[100, 300, 800]), 1);
        (self.arrivals, self.burst_max, self.burst_gap_us) = (rng.between(50, 150), 12, 1_000);
        self.day_us = rng.between(50_000, 200_000);
        self.dies_serving_percent += rng.pick(&[0, 10]);
    }
}
