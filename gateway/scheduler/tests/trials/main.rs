//! Days with versions on trial, by chance: whatever happens, the two versions' requests stay apart, no worker holds more than its
//! share (I1), and no request of either version waits for ever.
//!
//! `SLUICE_SIM_DAYS` sets the number of days, `SLUICE_SEED` the seed.

#![allow(clippy::unwrap_used, clippy::collapsible_match, reason = "a test")]

use std::collections::{BTreeMap, BTreeSet};

use sluice_scheduler::{
    Action, Event, Hold, Home, Limits, Need, Order, RequestId, Scheduler, Time, WorkerId, WorkerState,
};

struct Chance(u64);

impl Chance {
    fn below(&mut self, count: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % count
    }

    fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

struct Day {
    chance: Chance,
    scheduler: Scheduler,
    limits: Limits,
    now: Time,
    requests: u64,
    /// Requests that wait, with the worker that they were for.
    waiting: BTreeMap<RequestId, Option<WorkerId>>,
    held: BTreeMap<WorkerId, Vec<RequestId>>,
    generations: u64,
    arrived: BTreeMap<RequestId, Time>,
    longest_us: [u64; 2],
    reached: BTreeSet<&'static str>,
}

impl Day {
    fn new(seed: u64) -> Day {
        let mut chance = Chance(seed);
        let limits = Limits {
            queue_length_max: 200,
            queue_wait_ms_max: 60_000,
            concurrency: 1 + u32::try_from(chance.below(2)).unwrap(),
            concurrency_max: 1,
            ahead_max: 0,
            cheap_us: 2_000,
            order: if chance.percent(50) { Order::Fifo } else { Order::Shortest },
            ageing: 3,
            lanes: false,
            may_raise: chance.percent(50),
            cpus: 4,
            start_timeout_ms: 1_000,
            stop_timeout_ms: 500,
            backoff_ms_min: 100,
            backoff_ms_max: 1_000,
            healthy_after_ms: 10_000,
            holds_failed: false,
            streams_per_worker_max: 2,
            warm_up: chance.percent(30),
            reload_at_once: 0,
            recycle_requests_max: if chance.percent(50) { 30 } else { 0 },
            needless_wait_ms_min: 2_000,
            needless_wait_ms_max: 16_000,
            examine_timeout_ms: 900,
        };
        Day {
            chance,
            scheduler: Scheduler::new(limits.clone()),
            limits,
            now: Time(0),
            requests: 0,
            waiting: BTreeMap::new(),
            held: BTreeMap::new(),
            generations: 1,
            arrived: BTreeMap::new(),
            longest_us: [0; 2],
            reached: BTreeSet::new(),
        }
    }

    fn tell(&mut self, event: Event) {
        let mut actions = Vec::new();
        self.scheduler.step(self.now, event, &mut actions);
        for action in actions {
            self.carry_out(action);
        }
    }

    fn carry_out(&mut self, action: Action) {
        match action {
            Action::Dispatch { request, worker } => {
                let home = self.waiting.remove(&request).expect("it waited");
                let is_tried = self.scheduler.worker_state(worker) == Some(WorkerState::Trial);
                assert!(
                    !is_tried || home == Some(worker),
                    "{request:?} for {home:?} went to {worker:?}, which is on trial"
                );
                if is_tried {
                    self.reached.insert("a request tried a version");
                } else if home.is_some() {
                    self.reached.insert("a request that was to try a version got the present one");
                }
                let waited_us = self.now.since_us(self.arrived[&request]);
                let longest = &mut self.longest_us[usize::from(home.is_some())];
                *longest = waited_us.max(*longest);
                let held = self.held.entry(worker).or_default();
                held.push(request);
                assert!(held.len() <= self.limits.concurrency as usize, "I1: {worker:?} holds {held:?}");
            }
            Action::Refuse { request, reason, .. } => {
                self.waiting.remove(&request);
                panic!("{request:?} was refused: {reason:?}");
            }
            Action::Orphaned { request, .. } => {
                // It is not tried again here.
                self.arrived.remove(&request);
            }
            Action::Reloaded { .. } => {
                self.reached.insert("a version took over");
            }
            Action::ReloadAbandoned { .. } => {
                self.reached.insert("a version was given up");
            }
            _ => {}
        }
    }

    fn workers(&self, states: &[WorkerState]) -> Vec<WorkerId> {
        self.scheduler.workers().filter(|view| states.contains(&view.state)).map(|view| view.worker).collect()
    }

    fn one_of(&mut self, workers: &[WorkerId]) -> Option<WorkerId> {
        if workers.is_empty() {
            return None;
        }
        let at = self.chance.below(workers.len() as u64);
        workers.get(usize::try_from(at).unwrap()).copied()
    }

    fn pass(&mut self, ms: u64) {
        self.now = self.now.plus_ms(ms);
        self.tell(Event::Tick);
    }

    /// Requests that are under way continue.
    fn turn(&mut self) {
        for worker in self.workers(&[WorkerState::Starting]) {
            match self.chance.below(20) {
                0 => self.exit(worker),
                1..8 => self.tell(Event::Listening { worker }),
                _ => {}
            }
        }
        for worker in self.workers(&[WorkerState::Warming]) {
            match self.chance.below(10) {
                0 => self.tell(Event::WarmUpFailed { worker }),
                1..6 => self.tell(Event::Warmed { worker }),
                _ => {}
            }
        }
        for worker in self.workers(&[WorkerState::Stopping, WorkerState::Killed]) {
            self.exit(worker);
        }
        for worker in self.workers(&[WorkerState::Stuck]) {
            self.tell(Event::Examined { worker });
        }
        let busy: Vec<WorkerId> = self.held.iter().filter(|(_, held)| !held.is_empty()).map(|(id, _)| *id).collect();
        for worker in busy {
            if self.chance.percent(60)
                && let Some(request) = self.held.get_mut(&worker).and_then(Vec::pop)
            {
                self.tell(Event::Finished { worker, request });
            }
        }
    }

    fn exit(&mut self, worker: WorkerId) {
        self.held.remove(&worker);
        self.tell(Event::Exited { worker });
    }

    fn arrive(&mut self) {
        self.requests += 1;
        let request = RequestId(self.requests);
        let tried: Vec<WorkerId> = self.scheduler.tried().collect();
        let is_for_trial = !tried.is_empty() && self.chance.percent(30);
        let worker = if is_for_trial { self.one_of(&tried) } else { None };
        let home = worker.map_or(Home::Any, Home::At);
        self.waiting.insert(request, worker);
        self.arrived.insert(request, self.now);
        self.tell(Event::Arrived { request, need: Need { home, ..Need::default() } });
    }

    fn happen(&mut self) {
        let serving = self.workers(&[WorkerState::Ready, WorkerState::Trial]);
        match self.chance.below(200) {
            0..3 => {
                self.generations += 1;
                let generation = self.generations;
                let workers = 1 + u32::try_from(self.chance.below(2)).unwrap();
                let hold =
                    if self.chance.percent(70) { Hold::Beside { workers } } else { Hold::Batches { batches: workers } };
                self.tell(Event::TrialAsked { generation, hold });
            }
            3 => {
                self.generations += 1;
                self.tell(Event::ReloadAsked { generation: self.generations });
            }
            4..7 => self.tell(Event::TrialPassed { generation: self.generations }),
            7..10 => self.tell(Event::TrialFailed { generation: self.generations }),
            10 => {
                let workers = 1 + u32::try_from(self.chance.below(4)).unwrap();
                self.tell(Event::Scaled { workers });
            }
            11..14 => {
                if let Some(worker) = self.one_of(&serving) {
                    self.exit(worker);
                }
            }
            14 => {
                if let Some(worker) = self.one_of(&serving) {
                    self.tell(Event::Overdue { worker });
                    self.turn();
                    self.tell(Event::Turned { worker });
                }
            }
            15 => {
                if let Some(worker) = self.one_of(&serving) {
                    self.tell(Event::Stuck { worker });
                }
            }
            16 => {
                if let Some(worker) = self.one_of(&serving) {
                    self.tell(Event::Overweight { worker });
                }
            }
            17 => {
                if let Some(worker) = self.one_of(&serving) {
                    self.tell(Event::Closing { worker });
                }
            }
            18..90 => {
                if self.waiting.len() < 20 {
                    self.arrive();
                }
            }
            _ => {}
        }
        self.turn();
        let ms = self.chance.below(40);
        self.pass(ms);
        assert!(self.scheduler.workers().count() <= 24, "workers without end");
    }

    /// Nothing more comes: every request is served, and the pool is whole and of one version.
    fn end(&mut self) {
        self.tell(Event::Scaled { workers: 3 });
        self.tell(Event::TrialPassed { generation: self.generations });
        for _ in 0..3_000 {
            for worker in self.workers(&[WorkerState::Starting]) {
                self.tell(Event::Listening { worker });
            }
            for worker in self.workers(&[WorkerState::Warming]) {
                self.tell(Event::Warmed { worker });
            }
            self.turn_without_faults();
            self.pass(10);
        }
        assert!(self.waiting.is_empty(), "requests wait for ever: {:?}", self.waiting);
        let views: Vec<_> = self.scheduler.workers().collect();
        let is_whole = views.iter().filter(|view| view.state == WorkerState::Ready).count() == 3 && views.len() == 3;
        let of_one = views.iter().all(|view| view.generation == self.scheduler.generation());
        let under_way = self.scheduler.reload_progress();
        assert!(is_whole && (of_one || under_way.is_none()), "{views:?} {under_way:?}");
        assert_eq!(self.scheduler.tried().count(), 0);
        assert_eq!((self.scheduler.overlaps_total(), self.scheduler.idle_refusals_total()), (0, 0));
    }

    fn turn_without_faults(&mut self) {
        for worker in self.workers(&[WorkerState::Stopping, WorkerState::Killed]) {
            self.exit(worker);
        }
        for worker in self.workers(&[WorkerState::Stuck]) {
            self.tell(Event::Examined { worker });
        }
        let busy: Vec<WorkerId> = self.held.keys().copied().collect();
        for worker in busy {
            if let Some(request) = self.held.get_mut(&worker).and_then(Vec::pop) {
                self.tell(Event::Finished { worker, request });
            }
        }
    }
}

#[test]
fn versions_on_trial_stay_apart_and_nobody_waits_for_ever() {
    let (days, seed) = (number("SLUICE_SIM_DAYS", 600).min(20_000), number("SLUICE_SEED", 20_250_101));
    let mut reached = BTreeSet::new();
    for at in 0..days {
        let seed = seed.wrapping_add(at);
        let day = std::panic::catch_unwind(|| {
            let mut day = Day::new(seed);
            day.tell(Event::Scaled { workers: 3 });
            // One listens, so that the gateway does not give up.
            day.tell(Event::Listening { worker: WorkerId(1) });
            day.tell(Event::Warmed { worker: WorkerId(1) });
            for _ in 0..400 {
                day.happen();
            }
            day.end();
            day.reached
        });
        let Ok(of_day) = day else { panic!("replay with SLUICE_SIM_DAYS=1 SLUICE_SEED={seed}") };
        reached.extend(of_day);
    }
    assert_eq!(reached.len(), 4, "days do not reach everything: {reached:?}");
}
