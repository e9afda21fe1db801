//! A scheduler on a clock that the test sets, and the few words in which the stories are told.

use sluice_scheduler::{
    AbandonReason, Action, ClassId, Event, KillReason, Lane, Limits, Need, Order, RequestId, Scheduler, Time, WorkerId,
    WorkerState,
};

pub const LIMITS: Limits = Limits {
    queue_length_max: 100,
    queue_wait_ms_max: 10_000,
    concurrency: 1,
    concurrency_max: 1,
    ahead_max: 0,
    cheap_us: 2_000,
    order: Order::Fifo,
    ageing: 3,
    lanes: false,
    may_raise: false,
    cpus: 4,
    start_timeout_ms: 1_000,
    stop_timeout_ms: 500,
    backoff_ms_min: 100,
    backoff_ms_max: 1_000,
    healthy_after_ms: 10_000,
    holds_failed: false,
    streams_per_worker_max: 2,
    warm_up: false,
    reload_at_once: 0,
    recycle_requests_max: 0,
    needless_wait_ms_min: 2_000,
    needless_wait_ms_max: 16_000,
    examine_timeout_ms: 900,
};

pub struct Stage {
    pub scheduler: Scheduler,
    pub now: Time,
    next_request: u64,
}

impl Stage {
    /// No worker yet.
    pub fn new(limits: Limits) -> Stage {
        Stage { scheduler: Scheduler::new(limits), now: Time(0), next_request: 0 }
    }

    /// So many workers, numbered from 1, all of which listen.
    pub fn ready(limits: Limits, workers: u32) -> Stage {
        let mut stage = Stage::new(limits);
        stage.step(Event::Scaled { workers });
        for worker in 1..=u64::from(workers) {
            stage.step(Event::Listening { worker: WorkerId(worker) });
        }
        stage
    }

    /// Requests so far; the number of the latest.
    pub fn requests(&self) -> u64 {
        self.next_request
    }

    pub fn step(&mut self, event: Event) -> Vec<Action> {
        let mut actions = Vec::new();
        self.scheduler.step(self.now, event, &mut actions);
        actions
    }

    /// A request of this class has come and gone, which leaves only what it cost.
    pub fn learn(&mut self, class: ClassId, cost_us: u64) {
        self.scheduler.costs_mut().arrived(self.now, class);
        self.step(Event::Measured { class, cost_us });
    }

    pub fn pass_ms(&mut self, ms: u64) -> Vec<Action> {
        self.now = self.now.plus_ms(ms);
        self.step(Event::Tick)
    }

    pub fn arrive(&mut self) -> Vec<Action> {
        self.arrive_with(Need::default())
    }

    pub fn arrive_with(&mut self, need: Need) -> Vec<Action> {
        self.next_request += 1;
        self.step(Event::Arrived { request: RequestId(self.next_request), need })
    }

    /// A request arrives and a worker has it at once: its number.
    #[track_caller]
    pub fn arrive_at_worker(&mut self) -> u64 {
        let actions = self.arrive();
        let [Action::Dispatch { worker, .. }] = actions[..] else { panic!("no worker got it: {actions:?}") };
        worker.0
    }

    pub fn finish(&mut self, worker: u64, request: u64) -> Vec<Action> {
        self.step(Event::Finished { worker: WorkerId(worker), request: RequestId(request) })
    }

    pub fn exit(&mut self, worker: u64) -> Vec<Action> {
        self.step(Event::Exited { worker: WorkerId(worker) })
    }

    pub fn listen(&mut self, worker: u64) -> Vec<Action> {
        self.step(Event::Listening { worker: WorkerId(worker) })
    }

    pub fn warmed(&mut self, worker: u64) -> Vec<Action> {
        self.step(Event::Warmed { worker: WorkerId(worker) })
    }

    /// The gateway is about to send a request of its own.
    pub fn warm_with(&mut self, worker: u64, request: u64) -> Vec<Action> {
        self.next_request = self.next_request.max(request);
        self.step(Event::WarmingWith { worker: WorkerId(worker), request: RequestId(request) })
    }

    pub fn reload(&mut self, generation: u64) -> Vec<Action> {
        self.step(Event::ReloadAsked { generation })
    }

    pub fn state(&self, worker: u64) -> Option<WorkerState> {
        self.scheduler.worker_state(WorkerId(worker))
    }

    /// The workers that take requests.
    pub fn serving(&self) -> Vec<u64> {
        let ready = self.scheduler.workers().filter(|view| view.state == WorkerState::Ready);
        ready.map(|view| view.worker.0).collect()
    }
}

pub fn dispatch(request: u64, worker: u64) -> Action {
    Action::Dispatch { request: RequestId(request), worker: WorkerId(worker) }
}

pub fn start(worker: u64, instance: u32) -> Action {
    Action::Start { worker: WorkerId(worker), instance, generation: 1, lane: Lane::Short }
}

pub fn stop(worker: u64) -> Action {
    Action::Stop { worker: WorkerId(worker) }
}

pub fn start_of(worker: u64, instance: u32, generation: u64) -> Action {
    Action::Start { worker: WorkerId(worker), instance, generation, lane: Lane::Short }
}

pub fn kill(worker: u64, reason: KillReason) -> Action {
    Action::Kill { worker: WorkerId(worker), reason }
}

pub fn warm_up(worker: u64) -> Action {
    Action::WarmUp { worker: WorkerId(worker) }
}

pub fn reloaded(generation: u64) -> Action {
    Action::Reloaded { generation }
}

pub fn abandoned(generation: u64, reason: AbandonReason) -> Action {
    Action::ReloadAbandoned { generation, reason }
}
