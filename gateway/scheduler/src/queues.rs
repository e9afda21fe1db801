//! The queue that all workers share, and a queue for each worker that a session's requests wait for.
//!
//! A request that waits for one worker never delays a request that may have another. When its worker serves no more, it
//! moves to the shared queue. This module also sets the share of the queue that such requests may take, and predicts
//! their wait.

use std::collections::BTreeMap;

use crate::queue::{Head, Kind, Queue, Waiting};
use crate::{ClassId, Costs, Home, Lane, Need, Order, RequestId, Scheduler, Time, WorkerId};

/// Maximum number of requests that wait for a worker of a generation on trial. Further ones without a session get any
/// worker.
const TRIED_WAITING_MAX: usize = 4;

#[derive(Debug, Default)]
pub(crate) struct Queues {
    order: Order,
    shared: Queue,
    /// Queues by worker, only of workers that requests wait for. All of their requests are on the short side.
    homes: BTreeMap<WorkerId, Queue>,
}

impl Queues {
    pub(crate) fn new(order: Order) -> Self {
        Queues { order, shared: Queue::new(order), homes: BTreeMap::new() }
    }

    pub(crate) fn push(&mut self, request: RequestId, waiting: Waiting, costs: &Costs) {
        let queue = match waiting.need.home {
            Home::At(worker) => self.homes.entry(worker).or_insert_with(|| Queue::new(self.order)),
            Home::Any | Home::New => &mut self.shared,
        };
        queue.push(request, waiting, costs);
    }

    pub(crate) fn remove(&mut self, request: RequestId) -> Option<Waiting> {
        if let Some(waiting) = self.shared.remove(request) {
            return Some(waiting);
        }
        let (worker, waiting) =
            self.homes.iter_mut().find_map(|(worker, queue)| Some((*worker, queue.remove(request)?)))?;
        self.homes.retain(|home, queue| *home != worker || !queue.is_empty());
        Some(waiting)
    }

    /// Moves requests to the shared queue whose worker keeps no sessions any more, and those without a session that were drawn for a
    /// worker which is `shut`.
    pub(crate) fn leave_homes(
        &mut self,
        now: Time,
        keeps: impl Fn(WorkerId) -> bool,
        is_shut: impl Fn(WorkerId) -> bool,
        costs: &Costs,
    ) {
        if self.homes.is_empty() {
            return;
        }
        let drawn = self.homes.iter_mut().filter(|(worker, _)| is_shut(**worker));
        for queue in drawn.map(|(_, queue)| queue) {
            while let Some(head) = queue.first_of(Lane::Short, now, |need| need.drawn) {
                let Some(waiting) = queue.remove(head.request) else { break };
                let need = Need { home: Home::New, drawn: false, ..waiting.need };
                self.shared.push(head.request, Waiting { need, ..waiting }, costs);
            }
        }
        self.homes.retain(|_, queue| !queue.is_empty());
        let lost: Vec<WorkerId> = self.homes.keys().copied().filter(|worker| !keeps(*worker)).collect();
        for mut queue in lost.iter().filter_map(|worker| self.homes.remove(worker)) {
            while let Some((request, _)) = queue.oldest() {
                let Some(waiting) = queue.remove(request) else { break };
                let need = Need { home: Home::New, drawn: false, ..waiting.need };
                self.shared.push(request, Waiting { need, ..waiting }, costs);
            }
        }
    }

    /// Next request of each worker that is waited for.
    pub(crate) fn homes(&self, now: Time) -> impl Iterator<Item = (WorkerId, Head)> + '_ {
        self.homes.iter().filter_map(move |(worker, queue)| Some((*worker, queue.head(Lane::Short, now)?)))
    }

    /// Next request of those that wait for this worker alone.
    pub(crate) fn head_at(&self, worker: WorkerId, now: Time) -> Option<Head> {
        self.homes.get(&worker)?.head(Lane::Short, now)
    }

    /// Number of requests of each kind that wait for this worker alone.
    fn kinds_at(&self, worker: WorkerId) -> impl Iterator<Item = (Kind, usize)> + '_ {
        self.homes.get(&worker).into_iter().flat_map(|queue| queue.before(i8::MIN))
    }

    /// Number of requests that wait for this worker alone.
    pub(crate) fn len_at(&self, worker: WorkerId) -> usize {
        self.homes.get(&worker).map_or(0, Queue::len)
    }

    fn all(&self) -> impl Iterator<Item = &Queue> {
        std::iter::once(&self.shared).chain(self.homes.values())
    }

    fn all_mut(&mut self) -> impl Iterator<Item = &mut Queue> {
        std::iter::once(&mut self.shared).chain(self.homes.values_mut())
    }

    /// Requirements of a request that waits.
    pub(crate) fn need(&self, request: RequestId) -> Option<Need> {
        self.all().find_map(|queue| queue.need(request))
    }

    pub(crate) fn len(&self) -> usize {
        self.all().map(Queue::len).sum()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.shared.is_empty() && self.homes.is_empty()
    }

    pub(crate) fn oldest(&self) -> Option<(RequestId, Time)> {
        self.all().filter_map(Queue::oldest).min()
    }

    pub(crate) fn first_late(&self) -> Option<(RequestId, Time)> {
        self.all().filter_map(Queue::first_late).min_by_key(|(request, at)| (*at, *request))
    }

    pub(crate) fn rate_again(&mut self, class: ClassId, costs: &Costs) {
        self.all_mut().for_each(|queue| queue.rate_again(class, costs));
    }

    pub(crate) fn rate_all_again(&mut self, costs: &Costs) {
        self.all_mut().for_each(|queue| queue.rate_all_again(costs));
    }

    pub(crate) fn set_order(&mut self, order: Order, ages: bool, costs: &Costs) {
        self.order = order;
        self.all_mut().for_each(|queue| queue.set_order(order, ages, costs));
    }

    // Of the shared queue alone.

    pub(crate) fn head(&self, side: Lane, now: Time) -> Option<Head> {
        self.shared.head(side, now)
    }

    /// Whether any request needs a worker to itself. All of those are in the shared queue.
    pub(crate) fn has_alone(&self) -> bool {
        self.shared.has_alone()
    }

    /// Next request of the shared queue for which `may` is true.
    pub(crate) fn first_of(&self, side: Lane, now: Time, may: impl Fn(&Need) -> bool) -> Option<Head> {
        self.shared.first_of(side, now, may)
    }

    pub(crate) fn len_of(&self, side: Lane) -> usize {
        self.shared.len_of(side)
    }

    pub(crate) fn before(&self, priority: i8) -> impl Iterator<Item = (Kind, usize)> + '_ {
        self.shared.before(priority)
    }

    pub(crate) fn has_strand(&self, need: Need) -> bool {
        self.shared.has_strand(need)
    }
}

impl Scheduler {
    /// The need as the pool can meet it: a worker that does not serve is no home. A request that a worker may die with
    /// gets an empty one, which has no sessions.
    pub(crate) fn with_home(&self, need: Need) -> Need {
        match need.home {
            _ if need.is_alone() => Need { home: Home::Any, ..need },
            Home::At(worker) if !self.pool.keeps_sessions(worker) || need.drawn && self.is_crowded(worker, need) => {
                Need { home: Home::New, drawn: false, ..need }
            }
            _ => need,
        }
    }

    /// Whether a request that was drawn for this worker would wait there for long, or be refused.
    fn is_crowded(&self, worker: WorkerId, need: Need) -> bool {
        let waiting = self.queue.len_at(worker);
        if !self.pool.is_tried(worker) || waiting == 0 && self.pool.has_room(worker, &self.ask(need), &self.limits) {
            return false;
        }
        let wait_ms = self.at_home_us(worker, need).map(|us| us / 1000);
        waiting >= TRIED_WAITING_MAX
            || self.is_full(need)
            || self.pool.is_shut(worker)
            || wait_ms.is_some_and(|ms| ms > self.wait_ms_max(need))
    }

    /// Maximum number of requests that may wait for one worker: its share of the queue, so that a crowd at one worker
    /// blocks no others.
    pub(crate) fn share_of_home(&self) -> usize {
        (self.limits.queue_length_max / self.pool.ready_count().max(1) as usize).max(1)
    }

    /// Predicted wait of a request for this worker, in microseconds: behind those that wait for the same one, and
    /// behind its share of those that may have any. A worker on trial takes none of these.
    pub(crate) fn at_home_us(&self, worker: WorkerId, Need { class, priority, .. }: Need) -> Option<u64> {
        let servers = self.pool.slots_of(worker, self.limits.concurrency).min(self.limits.concurrency);
        let of_any_us = if self.pool.is_tried(worker) { 0 } else { self.before(Lane::Short, priority).work_us };
        let of_any_us = of_any_us / u64::from(self.pool.ready_count().max(1));
        let at_home = self.queue.kinds_at(worker).map(|((_, class, _), requests)| self.work_of_us(class, requests));
        let work_us = at_home.sum::<u64>().saturating_add(of_any_us).saturating_add(self.work_us(class));
        work_us.checked_div(servers.into())
    }
}
