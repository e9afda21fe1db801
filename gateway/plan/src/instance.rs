//! One instance: the real scheduler before simulated workers.

use std::collections::VecDeque;

use sluice_catalog::config::Config;
use sluice_scheduler::{Action, ClassId, Event, Limits, Load, Need, Order, RequestId, Scheduler, Time};

use crate::arrivals::Request;
use crate::looks::Looks;
use crate::machine::Machine;

/// Largest CPU time before a request's wait, in which an app takes the request in and asks for its data, microseconds.
const BEGIN_US: u32 = 200;
/// Requests from which the scheduler has learned what classes cost before the first arrives.
const LEARNED: usize = 20_000;

/// End of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct End {
    pub class: u16,
    /// Whether the request arrived after the warm-up.
    pub counts: bool,
    /// Queue wait and service time, microseconds; `None` if it was refused.
    pub latency_us: Option<u64>,
    /// Queue wait, microseconds; of a refused request the time until then.
    pub waited_us: u64,
}

struct InFlight {
    request: Request,
    arrived_us: f64,
    given_us: Option<f64>,
    counts: bool,
    has_begun: bool,
    has_ended: bool,
}

/// An instance.
pub(crate) struct Instance {
    scheduler: Scheduler,
    machine: Machine,
    /// `None` where nothing waits in a worker.
    looks: Option<Looks>,
    now_us: f64,
    /// Requests in the order of their numbers, the first of which is `first`.
    requests: VecDeque<InFlight>,
    first: u64,
    in_flight: usize,
    events: VecDeque<Event>,
    actions: Vec<Action>,
    ends: Vec<End>,
}

/// Settings of a gateway as installed.
fn limits(lanes: bool, cores: usize) -> Limits {
    let config = Config::default();
    Limits {
        queue_length_max: usize::try_from(config.queue.length_max).unwrap_or(usize::MAX),
        queue_wait_ms_max: config.queue.wait_ms_max,
        concurrency: config.workers.held_always(),
        concurrency_max: config.workers.held_max(),
        // Saves a way to the worker and back, which takes no time here.
        ahead_max: 0,
        cheap_us: config.bounds.cheap_us,
        order: Order::Shortest,
        ageing: config.bounds.ageing,
        lanes,
        may_raise: false,
        cpus: u32::try_from(cores).unwrap_or(u32::MAX),
        start_timeout_ms: config.workers.start_timeout_ms,
        stop_timeout_ms: config.workers.stop_timeout_ms,
        backoff_ms_min: config.bounds.backoff_ms_min,
        backoff_ms_max: config.bounds.backoff_ms_max,
        healthy_after_ms: 10_000,
        holds_failed: false,
        streams_per_worker_max: 0,
        warm_up: false,
        reload_at_once: config.bounds.reload_at_once,
        recycle_requests_max: 0,
        needless_wait_ms_min: 10_000,
        needless_wait_ms_max: 640_000,
        examine_timeout_ms: 900,
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative, and far below 2^53")]
fn time(us: f64) -> Time {
    Time(us.round() as u64)
}

impl Instance {
    /// Creates an instance of so many workers, each with a core of its own. Its scheduler knows the classes' costs from
    /// `sample`. `waits`: whether requests wait in workers.
    pub(crate) fn new(workers: usize, lanes: bool, sample: &[Request], waits: bool) -> Self {
        let mut instance = Self {
            scheduler: Scheduler::new(limits(lanes, workers)),
            machine: Machine::new(workers),
            looks: waits.then(Looks::default),
            now_us: 0.0,
            requests: VecDeque::new(),
            first: 1,
            in_flight: 0,
            events: VecDeque::new(),
            actions: Vec::new(),
            ends: Vec::new(),
        };
        let step = sample.len().div_ceil(LEARNED).max(1);
        for request in sample.iter().step_by(step) {
            let class = ClassId(request.class());
            instance.scheduler.costs_mut().arrived(Time(0), class);
            instance.tell(Event::Measured { class, cost_us: u64::from(request.cpu_us()) });
        }
        instance.tell(Event::Scaled { workers: u32::try_from(workers).unwrap_or(u32::MAX) });
        instance
    }

    /// Requests that wait or are in a worker.
    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Load, as balancers in front are told of it.
    pub(crate) fn load(&self, now_us: f64) -> Load {
        self.scheduler.load(time(now_us))
    }

    /// Predicted wait in the metrics, milliseconds; `None` while the scheduler does not know enough.
    #[allow(clippy::cast_precision_loss, reason = "milliseconds")]
    pub(crate) fn shown_wait_ms(&self) -> Option<f64> {
        self.scheduler.predicted_wait_ms().map(|ms| ms as f64)
    }

    /// Sets the time at which the instance begins.
    pub(crate) fn wake(&mut self, now_us: f64) {
        self.advance(now_us);
    }

    /// CPU time of the workers so far, microseconds.
    pub(crate) fn worked_us(&self) -> f64 {
        self.machine.worked_us()
    }

    #[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
    fn due_us(&self) -> f64 {
        self.scheduler.next_deadline().map_or(f64::INFINITY, |due| (due.0 as f64).max(self.now_us))
    }

    fn look_us(&self) -> f64 {
        self.looks.as_ref().map_or(f64::INFINITY, |looks| looks.due_us(&self.scheduler).max(self.now_us))
    }

    /// Time of the next event that is not an arrival, microseconds.
    pub(crate) fn next_us(&self) -> f64 {
        self.machine.next_us().min(self.due_us()).min(self.look_us())
    }

    /// Takes a request. `counts`: whether it is part of the result.
    pub(crate) fn arrive(&mut self, now_us: f64, request: Request, counts: bool) {
        self.advance(now_us);
        let number = self.first + self.requests.len() as u64;
        self.requests.push_back(InFlight {
            request,
            arrived_us: now_us,
            given_us: None,
            counts,
            has_begun: false,
            has_ended: false,
        });
        self.in_flight += 1;
        let need = Need { class: ClassId(request.class()), ..Need::default() };
        self.tell(Event::Arrived { request: RequestId(number), need });
    }

    /// Carries out the event that [`Instance::next_us`] is the time of.
    pub(crate) fn turn(&mut self) {
        let (machine_us, due_us, look_us) = (self.machine.next_us(), self.due_us(), self.look_us());
        if machine_us <= due_us.min(look_us) {
            self.now_us = self.now_us.max(machine_us);
            if let Some((worker, number)) = self.machine.turn() {
                self.ran(worker, number);
            }
        } else if look_us <= due_us {
            self.advance(look_us);
            let looks = self.looks.as_mut();
            let told = looks.map(|looks| looks.look(self.now_us, &self.scheduler, &self.machine));
            for event in told.into_iter().flatten() {
                self.tell(event);
            }
        } else {
            self.advance(due_us);
            self.tell(Event::Tick);
        }
    }

    /// Takes the ends of requests since the last call.
    pub(crate) fn take_ends(&mut self) -> std::vec::Drain<'_, End> {
        self.ends.drain(..)
    }

    fn advance(&mut self, now_us: f64) {
        self.now_us = now_us;
        self.machine.advance(now_us);
    }

    fn find(&mut self, number: u64) -> Option<&mut InFlight> {
        self.requests.get_mut(usize::try_from(number.checked_sub(self.first)?).ok()?)
    }

    /// A run of the request is over: it waits, or has ended.
    fn ran(&mut self, worker: sluice_scheduler::WorkerId, number: u64) {
        let Some(of) = self.find(number) else { return };
        let request = of.request;
        if !std::mem::replace(&mut of.has_begun, true) && request.wait_us() > 0 {
            let then_us = request.cpu_us() - (request.cpu_us() / 2).min(BEGIN_US);
            return self.machine.wait(worker, number, f64::from(request.wait_us()), f64::from(then_us));
        }
        self.end(number, true);
        self.tell(Event::Finished { worker, request: RequestId(number) });
        self.tell(Event::Measured { class: ClassId(request.class()), cost_us: u64::from(request.cpu_us()) });
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative, and far below 2^53")]
    fn end(&mut self, number: u64, is_served: bool) {
        let now_us = self.now_us;
        let Some(of) = self.find(number).filter(|of| !of.has_ended) else { return };
        of.has_ended = true;
        let since_arrival = |at_us: f64| (at_us - of.arrived_us).max(0.0).round() as u64;
        let (latency_us, waited_us) =
            (is_served.then(|| since_arrival(now_us)), since_arrival(of.given_us.unwrap_or(now_us)));
        let end = End { class: of.request.class(), counts: of.counts, latency_us, waited_us };
        self.ends.push(end);
        self.in_flight -= 1;
        while self.requests.front().is_some_and(|of| of.has_ended) {
            self.requests.pop_front();
            self.first += 1;
        }
    }

    /// Tells the scheduler, and carries out what it says.
    fn tell(&mut self, event: Event) {
        self.events.push_back(event);
        while let Some(event) = self.events.pop_front() {
            let mut actions = std::mem::take(&mut self.actions);
            self.scheduler.step(time(self.now_us), event, &mut actions);
            for action in actions.drain(..) {
                self.carry_out(action);
            }
            self.actions = actions;
        }
    }

    fn carry_out(&mut self, action: Action) {
        match action {
            // Boots take no time here: the long lane's workers are there when they are wanted.
            Action::Start { worker, lane, .. } => {
                self.machine.start(worker, lane);
                self.events.push_back(Event::Listening { worker });
            }
            Action::Stop { worker } => {
                self.machine.stop(worker);
                if let Some(looks) = &mut self.looks {
                    looks.forget(worker);
                }
                self.events.push_back(Event::Exited { worker });
            }
            Action::Dispatch { request, worker } => {
                let now_us = self.now_us;
                let Some(of) = self.find(request.0) else { return };
                of.given_us = Some(now_us);
                let of = of.request;
                let has_wait = of.wait_us() > 0;
                let us = if has_wait { (of.cpu_us() / 2).min(BEGIN_US) } else { of.cpu_us() };
                self.machine.compute(worker, request.0, f64::from(us));
                if let Some(looks) = &mut self.looks {
                    looks.gave(self.now_us, worker);
                }
            }
            Action::Refuse { request, .. } => self.end(request.0, false),
            // Of failures, reloads, streams and requests handed ahead, none of which happen here.
            _ => {}
        }
    }
}
