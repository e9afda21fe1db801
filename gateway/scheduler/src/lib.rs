//! The queue, the choice of worker and the worker's life cycle, as one pure state machine.
//!
//! Events and a clock go in, actions come out (I9). The crate knows no sockets, processes, tasks or time of day. So one
//! seed replays a simulated day, and a test can repeat a decision taken in production.
//!
//! Reading order: [`Event`] and [`Action`] are the whole interface, [`Scheduler::step`] is the only entry point.

mod admission;
mod ahead;
mod costs;
mod interface;
mod lanes;
mod learned;
mod limits;
mod load;
mod order;
mod places;
mod pool;
mod predict;
mod queue;
mod queues;
mod reasons;

pub use costs::{ClassId, Costs, SavedCosts, Uncut};
pub use interface::{Action, Alone, Event, Hold, Home, Lane, Memory, Need, RequestId, Time, WorkerId};
pub use limits::Limits;
pub use load::Load;
pub use order::Order;
pub use pool::{ReloadProgress, WorkerState, WorkerView};
pub use reasons::{AbandonReason, KillReason, RecycleReason, Refusal};

use lanes::{Lanes, Offer};
use pool::{Assignment, Demand, Pool};
use predict::Predictor;
use queue::Waiting;
use queues::Queues;

/// The scheduler. See the module's text.
#[derive(Debug)]
pub struct Scheduler {
    limits: Limits,
    queue: Queues,
    pool: Pool,
    predictor: Predictor,
    lanes: Lanes,
    costs: Costs,
    /// Whether a worker is reserved for a request that needs one to itself.
    reserves: bool,
    stopping: bool,
    idle_refusals_total: u64,
}

impl Scheduler {
    /// Creates a scheduler without workers; the first [`Event::Scaled`] starts them.
    pub fn new(limits: Limits) -> Self {
        Scheduler {
            queue: Queues::new(limits.order),
            limits,
            pool: Pool::new(),
            predictor: Predictor::default(),
            lanes: Lanes::default(),
            costs: Costs::default(),
            reserves: false,
            stopping: false,
            idle_refusals_total: 0,
        }
    }

    /// Handles one event and appends the resulting actions to `actions`. `now` must not run backwards.
    pub fn step(&mut self, now: Time, event: Event, actions: &mut Vec<Action>) {
        let limits = &self.limits;
        match event {
            Event::Arrived { request, need } => {
                self.costs.arrived(now, need.class);
                self.arrive(now, request, need, actions);
            }
            Event::Left { request } => {
                self.leave_queue(request);
            }
            Event::Finished { worker, request } => {
                // Who finishes a request does not stand still, and may be gone before it says so itself.
                self.pool.turned(now, worker, limits, actions);
                if let Some(served) = self.pool.release(now, worker, request, limits) {
                    self.predictor.finished(served);
                    if let Some(waited_us) = served.waited_us {
                        self.costs.waited(served.class, waited_us);
                    } else if served.is_undisturbed {
                        self.costs.served_alone(served.class, served.service_us);
                    }
                }
            }
            Event::Detached { worker, request } => self.pool.detach(now, worker, request, limits, actions),
            Event::StreamEnded { worker } => self.pool.end_stream(worker),
            Event::WarmingWith { worker, request } => self.pool.warm_with(now, worker, request, limits.concurrency),
            Event::Measured { class, cost_us } => {
                // Nearly always: nobody stands elsewhere for it, and no worker has changed.
                if !self.measure(now, class, cost_us) {
                    return;
                }
            }
            Event::Waits { worker } => {
                self.pool.begin_all(now, worker, actions);
                self.pool.grant(worker, limits.concurrency_max);
            }
            Event::Looked { worker, sleeps, load } => self.pool.looked(now, worker, sleeps, load),
            Event::Blocked { worker } => self.pool.blocked(worker),
            Event::Weighed { worker, memory, used_bytes, limit_bytes } => {
                self.pool.weighed(now, worker, memory, used_bytes, limit_bytes);
            }
            Event::TakesAhead { worker, takes } => self.pool.takes_ahead(worker, takes),
            Event::HoldsOne { worker } => self.pool.holds_one(worker),
            Event::Begun { worker, request } => self.pool.has_begun(now, worker, request, actions),
            Event::Crowded { worker, by } => self.pool.lessen_room(worker, by, limits.concurrency),
            Event::Tick => {}
            _ => {
                self.pool.unsettle();
                self.take_rarer(now, event, actions);
            }
        }
        if self.limits.holds_failed && self.pool.is_held() {
            self.refuse_all(Refusal::Down, actions);
        }
        self.begin_handed(now, actions);
        self.close_long_lane();
        self.expire(now, actions);
        self.settle(now, actions);
        let (keeps, is_shut) = (|worker| self.pool.keeps_sessions(worker), |worker| self.pool.is_shut(worker));
        self.queue.leave_homes(now, keeps, is_shut, &self.costs);
        self.take_back_handed(now, actions);
        self.dispatch(now, actions);
        if let Event::Waits { worker } = event {
            self.pool.end_grant(worker);
        }
        self.size_long_lane(now, actions);
        let demand = self.demand(now);
        let is_let_go = self.pool.is_held_back() && demand != Demand::Pressing;
        if is_let_go || self.pool.starts_wait() && demand == Demand::None && !self.pool.is_in_use(now) {
            self.pool.unsettle();
            self.settle(now, actions);
        }
    }

    /// Handles the rarer events, after which the pool checks every worker.
    fn take_rarer(&mut self, now: Time, event: Event, actions: &mut Vec<Action>) {
        let limits = &self.limits;
        match event {
            Event::Undelivered { worker, request } => {
                let known = self.pool.take_back(worker, request);
                self.put_back(now, request, known, actions);
            }
            Event::Occupied { worker, request, by } => {
                let known = self.pool.occupied(worker, request, by);
                self.put_back(now, request, known, actions);
            }
            Event::Retried { request, arrived, need } => self.put_back(now, request, Some((arrived, need)), actions),
            Event::Listening { worker } => self.pool.listening(now, worker, limits),
            Event::Warmed { worker } => self.pool.warmed(now, worker, false, limits, actions),
            Event::WarmUpFailed { worker } => self.pool.warmed(now, worker, true, limits, actions),
            Event::ReloadAsked { generation } => self.pool.reload_asked(now, generation, None, limits, actions),
            Event::TrialAsked { generation, hold } => {
                self.pool.reload_asked(now, generation, Some(hold), limits, actions);
            }
            Event::TrialPassed { generation } => self.pool.trial_passed(now, generation),
            Event::TrialFailed { generation } => self.pool.trial_failed(now, generation, actions),
            Event::Unreachable { worker } => self.pool.unreachable(now, worker),
            Event::Overweight { worker } => self.pool.overweight(now, worker, limits, actions),
            Event::Overdue { worker } => self.pool.overdue(worker),
            Event::Paused { worker, is_paused } => self.pool.paused(worker, is_paused),
            Event::Turned { worker } => self.pool.turned(now, worker, limits, actions),
            Event::Stuck { worker } => self.pool.stuck(now, worker, limits, actions),
            Event::Examined { worker } => self.pool.examined(now, worker, actions),
            Event::Closing { worker } => self.pool.closing(now, worker, limits, actions),
            Event::Faulted { worker } => self.pool.faulted(now, worker, limits, actions),
            Event::Exited { worker } => self.pool.exited(now, worker, limits, actions),
            Event::Scaled { workers } => self.pool.scale(workers),
            Event::Changed => self.pool.changed(now, actions),
            Event::Stopping => self.stop(now, actions),
            Event::Arrived { .. }
            | Event::Left { .. }
            | Event::Finished { .. }
            | Event::Detached { .. }
            | Event::StreamEnded { .. }
            | Event::WarmingWith { .. }
            | Event::Measured { .. }
            | Event::Waits { .. }
            | Event::Looked { .. }
            | Event::Blocked { .. }
            | Event::Weighed { .. }
            | Event::TakesAhead { .. }
            | Event::HoldsOne { .. }
            | Event::Begun { .. }
            | Event::Crowded { .. }
            | Event::Tick => {}
        }
    }

    /// Replaces the limits after a reload of the config. They apply from the next step on.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
        self.queue.set_order(self.limits.order, self.limits.ageing > 0, &self.costs);
        self.note_emptied();
        self.pool.forget_rooms();
        self.pool.unsettle();
    }

    /// Latest time at which [`Event::Tick`] is due if no other event comes before.
    pub fn next_deadline(&self) -> Option<Time> {
        let queue = self.queue.oldest().map(|(_, arrived)| arrived.plus_ms(self.limits.queue_wait_ms_max));
        let late = self.queue.first_late().map(|(_, at)| at);
        let lanes = self.lanes.next_deadline().filter(|_| !self.stopping);
        [queue, late, self.pool.next_deadline(), lanes, self.take_back_due()].into_iter().flatten().min()
    }

    fn settle(&mut self, now: Time, actions: &mut Vec<Action>) {
        self.pool.settle(now, &self.limits, self.demand(now), actions);
    }

    /// Returns a request that no app has seen, or that may be retried, to its old place in the queue.
    fn put_back(&mut self, now: Time, request: RequestId, known: Option<(Time, Need)>, actions: &mut Vec<Action>) {
        let Some((arrived, need)) = known else { return };
        self.expire(now, actions);
        // It has had its turn once, so it is the next of all that may have the same worker.
        let need = self.with_home(need);
        let latest_start = self.latest_start(arrived, need);
        self.queue.push(request, Waiting { arrived, need, overdue: arrived, latest_start }, &self.costs);
        // What was handed behind it is begun before anything else is given to the worker.
        self.begin_handed(now, actions);
        // Before its time is looked at: of that it may have spent much with the worker, not in the queue.
        self.dispatch(now, actions);
        if self.stopping {
            self.refuse_all(Refusal::Stopping, actions);
        }
    }

    /// Begins handed requests that have no request of their worker before them any more. Such a worker may then have
    /// room for others.
    fn begin_handed(&mut self, now: Time, actions: &mut Vec<Action>) {
        if self.pool.has_handed() {
            self.pool.begin_handed(now, self.limits.concurrency, actions);
        }
    }

    /// Removes the request from the queue.
    fn leave_queue(&mut self, request: RequestId) -> Option<Waiting> {
        let waiting = self.queue.remove(request)?;
        self.note_emptied();
        Some(waiting)
    }

    /// Ends the pace measurement of each empty side: time without waiting requests is no part of it.
    fn note_emptied(&mut self) {
        for side in [Lane::Short, Lane::Long] {
            if self.queue.len_of(side) == 0 {
                self.predictor.emptied(side);
            }
        }
    }

    fn expire(&mut self, now: Time, actions: &mut Vec<Action>) {
        if self.queue.is_empty() {
            return;
        }
        let wait_ms_max = self.limits.queue_wait_ms_max;
        loop {
            let oldest = self.queue.oldest().map(|(request, arrived)| (request, arrived.plus_ms(wait_ms_max)));
            let due = [oldest, self.queue.first_late()].into_iter().flatten().find(|(_, at)| *at <= now);
            let Some((request, _)) = due else { break };
            let Some(waiting) = self.leave_queue(request) else { break };
            let retry_after_s = self.retry_after_s(self.predicted_wait_ms_of(waiting.need));
            actions.push(Action::Refuse { request, reason: Refusal::Deadline, retry_after_s });
        }
    }

    fn dispatch(&mut self, now: Time, actions: &mut Vec<Action>) {
        self.dispatch_all(now, actions);
        // Those before it may have any worker, so a worker is kept only for one whose turn it is.
        let is_next = |side| self.queue.head(side, now).is_some_and(|head| head.need.is_alone());
        let is_wanted =
            self.queue.has_alone() && self.may_share() && [Lane::Short, Lane::Long].into_iter().any(is_next);
        if is_wanted || self.reserves {
            self.reserve(is_wanted);
            if !is_wanted {
                self.dispatch_all(now, actions);
            }
        }
        self.hand_ahead(now, actions);
    }

    /// Reserves a worker while a request waits that needs one to itself, because a worker that may hold several
    /// requests is rarely empty.
    fn reserve(&mut self, is_wanted: bool) {
        self.reserves = is_wanted;
        self.pool.reserve(is_wanted);
    }

    fn dispatch_all(&mut self, now: Time, actions: &mut Vec<Action>) {
        while let Some((request, side, worker)) = self.next(now) {
            if self.yields_to_handed(request, worker, actions) || !self.give(now, request, side, worker, None) {
                break;
            }
            actions.push(Action::Dispatch { request, worker });
        }
    }

    /// Moves the request from the queue to the worker; `handed` is the time of a hand-over ahead of time. Returns false
    /// if the request did not wait.
    fn give(&mut self, now: Time, request: RequestId, side: Lane, worker: WorkerId, handed: Option<Time>) -> bool {
        let held_max = self.limits.concurrency.max(self.limits.concurrency_max);
        let Some(waiting) = self.queue.remove(request) else { return false };
        let Waiting { arrived, need, .. } = waiting;
        // The pace is that of the queue which all workers share.
        if !matches!(need.home, Home::At(_)) {
            self.predictor.dispatched(now, side, self.queue.len_of(side));
        }
        let side = self.side_of(need.class);
        if side == Lane::Long {
            self.lanes.gave_long(now);
        }
        let cheap_us = if self.limits.ahead_max > 0 { self.cheap_us(need.class) } else { None };
        let ask = self.ask(need);
        let stay_us = self.costs.wait_us(need.class).map_or(0, |wait_us| wait_us.saturating_add(ask.cost_us));
        let given = Assignment { request, arrived, need, side, ask, stay_us, cheap_us, handed };
        self.pool.assign(now, worker, given, held_max);
        true
    }

    /// Whether a worker may hold several requests.
    fn may_share(&self) -> bool {
        self.limits.concurrency.max(self.limits.concurrency_max) > 1
    }

    /// First request that may have a worker, and that worker.
    fn next(&self, now: Time) -> Option<(RequestId, Lane, WorkerId)> {
        if self.queue.is_empty() {
            return None;
        }
        let shared = self.next_shared(now);
        let at_home = self.queue.homes(now).find(|(worker, head)| {
            // Where both ask for the only free worker, the order between them decides.
            let is_behind = shared.as_ref().is_some_and(|(first, _, given)| {
                given == worker && first < head && self.offer().short_free + self.offer().long_free <= 1
            });
            self.pool.has_room(*worker, &self.ask(head.need), &self.limits) && !is_behind
        });
        let at_home = at_home.map(|(worker, head)| (head.request, Lane::Short, worker));
        at_home.or(shared.map(|(head, side, worker)| (head.request, side, worker)))
    }

    /// First request of the shared queue that may have a worker, its side, and that worker.
    fn next_shared(&self, now: Time) -> Option<(queue::Head, Lane, WorkerId)> {
        let offer = self.offer();
        if offer.seats == 0 && !self.queue.has_alone() {
            return None;
        }
        let head = |side| self.queue.head(side, now).map(|head| (head, side));
        let mut heads = [head(Lane::Short), head(Lane::Long)];
        if heads[0].is_some() && heads[1] < heads[0] {
            heads.swap(0, 1);
        }
        let may_have = |(head, side): (queue::Head, Lane)| {
            if head.need.is_alone() && self.may_share() {
                return self.pool.empty_worker().map(|worker| (head, side, worker));
            }
            self.place(side, head.need, Some((&head, now)), &offer).map(|worker| (head, side, worker))
        };
        // Without lanes nobody passes the first because he needs less of a worker.
        let rivals = if self.has_lanes(&offer) { 2 } else { 1 };
        heads.into_iter().flatten().take(rivals).find_map(may_have).or_else(|| {
            // Those behind one that waits for a worker of its own need not wait for it, nor brief ones for memory.
            let is_any_alone = heads.iter().flatten().any(|(head, _)| head.need.is_alone());
            if !self.may_share() || !is_any_alone && !self.pool.is_any_full() {
                return None;
            }
            let may = |need: &Need| !need.is_alone() && (is_any_alone || self.is_passing(*need));
            let next = |side| self.queue.first_of(side, now, may).map(|head| (head, side));
            [next(Lane::Short), next(Lane::Long)].into_iter().flatten().find_map(may_have)
        })
    }

    /// Capacity that the workers offer to the next request.
    pub(crate) fn offer(&self) -> Offer {
        self.pool.offer(&self.limits)
    }

    fn stop(&mut self, now: Time, actions: &mut Vec<Action>) {
        self.stopping = true;
        self.refuse_all(Refusal::Stopping, actions);
        self.pool.stop_all(now, actions);
    }

    /// Refuses all waiting requests, because no worker will come any more.
    fn refuse_all(&mut self, reason: Refusal, actions: &mut Vec<Action>) {
        while let Some((request, _)) = self.queue.oldest() {
            self.leave_queue(request);
            actions.push(Action::Refuse { request, reason, retry_after_s: 1 });
        }
    }

    /// Number of requests that wait.
    pub fn queue_length(&self) -> usize {
        self.queue.len()
    }

    /// Arrival time of the request that waits longest.
    pub fn oldest_arrival(&self) -> Option<Time> {
        self.queue.oldest().map(|(_, arrived)| arrived)
    }

    /// Views of all workers that have not exited.
    pub fn workers(&self) -> impl Iterator<Item = WorkerView> + '_ {
        self.pool.views()
    }

    /// State of one worker; `None` if it has exited.
    pub fn worker_state(&self, worker: WorkerId) -> Option<WorkerState> {
        self.pool.state(worker)
    }

    /// Generation of one worker; `None` if it has exited.
    pub fn generation_of(&self, worker: WorkerId) -> Option<u64> {
        self.pool.generation_of(worker)
    }

    /// Whether the caller may send [`Event::WarmingWith`] for this worker now: it is being warmed and has a free slot.
    pub fn is_warming(&self, worker: WorkerId) -> bool {
        self.pool.is_warming(worker, self.limits.concurrency)
    }

    /// Number of workers that the long lane should have in addition to the configured ones.
    pub fn long_wanted(&self) -> u32 {
        self.pool.long_wanted()
    }

    /// Whether a failed warm-up of the worker fails its generation, of which none has taken over.
    pub fn fails_with_warm_up(&self, worker: WorkerId) -> bool {
        self.pool.is_on_trial_itself(worker)
    }

    /// Generation in force, which new workers run: the one that took a place over last, and has passed its trial if it had one.
    pub fn generation(&self) -> u64 {
        self.pool.generation()
    }

    /// Progress of the reload under way.
    pub fn reload_progress(&self) -> Option<ReloadProgress> {
        self.pool.reload_progress(&self.limits)
    }

    /// Workers of a generation on trial that take only requests whose home they are.
    pub fn tried(&self) -> impl Iterator<Item = WorkerId> + '_ {
        self.pool.tried()
    }

    /// Numbers of the places whose workers start after others have booted.
    pub fn waiting_places(&self) -> impl Iterator<Item = u32> + '_ {
        self.pool.waiting_places()
    }

    /// Worker whose boot those places wait for.
    pub fn awaited(&self) -> Option<WorkerId> {
        self.pool.awaited()
    }

    /// Time for which the worker's boot leaves the CPU to serving workers, in microseconds; `None` if it does not.
    pub fn aside_us(&self, worker: WorkerId) -> Option<u64> {
        self.pool.aside_us_of(worker)
    }

    /// Whether the caller should check the workers' main threads even if no request waits: a worker holds parked
    /// requests, or one for longer than `after_us` microseconds.
    pub fn wants_looks(&self, now: Time, after_us: u64) -> bool {
        self.pool.wants_looks(now, after_us, &self.limits)
    }

    /// Whether a worker that serves holds nothing at all.
    pub fn has_empty_worker(&self) -> bool {
        self.pool.empty_worker().is_some()
    }

    /// Requests that workers hold, including handed ones that have not begun.
    pub fn in_service(&self) -> usize {
        self.pool.in_service()
    }

    /// Workers that may take requests, including those whose event loop is blocked now.
    pub fn ready_count(&self) -> u32 {
        self.pool.ready_count()
    }

    /// Whether every worker has gone after [`Event::Stopping`].
    pub fn is_stopped(&self) -> bool {
        self.stopping && self.pool.is_empty()
    }

    /// Requests that were refused on arrival although a worker was idle and could have taken them; always 0, by the
    /// rules of admission.
    pub fn idle_refusals_total(&self) -> u64 {
        self.idle_refusals_total
    }

    /// Times that a worker held more than its share; always 0 unless the caller reports events that never happened.
    pub fn overlaps_total(&self) -> u64 {
        self.pool.overlaps_total()
    }
}
