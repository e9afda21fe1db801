//! The pool of workers: its places, their workers, and the effects of each step.
//!
//! The pool has places (`instance`, from 0). A place has at most one worker. When that dies, the place starts another:
//! at once if the dead one was healthy, else after a growing delay. During its worker's replacement, by a reload or by
//! recycling, a place has a successor too. The successor takes the place over in the step in which it can take
//! requests. A worker that is in no place any more is about to exit.
//!
//! - `life`: events of one worker
//! - `boots`: number of workers that start at once
//! - `replace`: decisions about successors
//! - `overdue`: stand-ins for blocked workers
//! - `slots`: requests that workers hold
//! - `seats`: workers that have room for more

mod boots;
mod handed;
mod hold;
mod life;
mod needless;
mod overdue;
mod parked;
mod replace;
mod seats;
mod slots;
mod worker;
mod workers;

use std::collections::{BTreeMap, BTreeSet};

use needless::Needless;
pub(crate) use parked::{Ask, BRIEF_US};
pub use replace::ReloadProgress;
use replace::{Patience, Reload};
pub(crate) use seats::{Among, SHORT_PARTS_MAX, Seek, WHOLE};
pub(crate) use slots::{Assignment, Completion};
use worker::{Warmth, Worker};
pub use worker::{WorkerState, WorkerView};
use workers::Workers;

use crate::{Action, ClassId, Lane, Limits, Time, WorkerId};

/// A place in the pool. Its lane never changes.
#[derive(Debug, Default)]
struct WorkerSlot {
    lane: Lane,
    /// Number of earlier places in its lane.
    rank: u32,
    worker: Option<WorkerId>,
    /// Worker that takes the place over when it can take requests.
    successor: Option<WorkerId>,
    failures: u32,
    not_before: Time,
    /// Workers in a row that exceeded their memory bound soon after they listened; a takeover does not reset it.
    bloated: u32,
    /// Whether its start waits for another worker's boot.
    is_held_back: bool,
    /// Whether it has had a worker since it was wanted.
    is_old: bool,
}

/// Pressure of the queue on the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Demand {
    /// No request waits.
    None,
    /// Some requests wait.
    Waiting,
    /// The number of waiting requests, or their wait, is so high that nothing else should take the CPU.
    Pressing,
}

#[derive(Debug)]
#[allow(clippy::struct_excessive_bools)] // Each is a fact by itself.
pub(crate) struct Pool {
    /// Number of workers that the short lane should have, and the long one.
    wanted: u32,
    long_wanted: u32,
    places: Vec<WorkerSlot>,
    workers: Workers,
    next_worker: u64,
    /// Generation that new workers run.
    generation: u64,
    /// Latest generation that was asked for, even if it was abandoned.
    generation_asked: u64,
    reload: Option<Reload>,
    /// Back-off for successors that failed to start.
    successors: Patience,
    needless: Needless,
    ever_listened: bool,
    /// Longest time from the start to the listening server, of all workers that have listened.
    longest_boot_us: Option<u64>,
    /// Whether a place waits for another worker's boot.
    starts_wait: bool,
    /// Time at which a worker last got a request.
    given: Option<Time>,
    gave_up: bool,
    stopping: bool,
    overlaps_total: u64,
    /// Requests that workers hold for longer than brief ones stay, by class, without zeros.
    late: BTreeMap<ClassId, u32>,
    /// Workers that hold handed requests, or held some until recently.
    handing: BTreeSet<WorkerId>,
    /// Time at which all workers must be checked again. Most requests do not bring it nearer, which keeps a decision
    /// cheap.
    deadline: Option<Time>,
    ready_count: u32,
    /// Generation in which [`Action::Bloated`] was sent; another one may have another memory bound.
    bloat_told: Option<u64>,
    /// Ready workers of the short lane whose event loop turns.
    short_taking: u32,
}

impl Pool {
    pub(crate) fn new() -> Self {
        Pool {
            wanted: 0,
            long_wanted: 0,
            places: Vec::new(),
            workers: Workers::default(),
            next_worker: 0,
            generation: 1,
            generation_asked: 1,
            reload: None,
            successors: Patience::default(),
            needless: Needless::default(),
            ever_listened: false,
            longest_boot_us: None,
            starts_wait: false,
            given: None,
            gave_up: false,
            stopping: false,
            overlaps_total: 0,
            late: BTreeMap::new(),
            handing: BTreeSet::new(),
            deadline: None,
            ready_count: 0,
            bloat_told: None,
            short_taking: 0,
        }
    }

    pub(crate) fn scale(&mut self, wanted: u32) {
        self.wanted = wanted;
        self.add_places(Lane::Short, wanted);
    }

    /// Sets the number of workers that the long lane should have.
    pub(crate) fn scale_long(&mut self, wanted: u32) {
        self.long_wanted = wanted;
        self.add_places(Lane::Long, wanted);
    }

    pub(crate) fn long_wanted(&self) -> u32 {
        self.long_wanted
    }

    pub(crate) fn wanted(&self) -> u32 {
        self.wanted
    }

    /// Adds places at the end, so that every worker's place keeps its number.
    fn add_places(&mut self, lane: Lane, wanted: u32) {
        let has = u32::try_from(self.places.iter().filter(|place| place.lane == lane).count()).unwrap_or(u32::MAX);
        self.places.extend((has..wanted).map(|rank| WorkerSlot { lane, rank, ..WorkerSlot::default() }));
    }

    fn is_wanted(&self, place: &WorkerSlot) -> bool {
        let wanted = match place.lane {
            Lane::Short => self.wanted,
            Lane::Long => self.long_wanted,
        };
        place.rank < wanted
    }

    /// Makes the next [`Pool::settle`] check every worker.
    pub(crate) fn unsettle(&mut self) {
        self.deadline = Some(Time(0));
    }

    /// Adapts the pool to the time, the queue and the wanted size: takes over, warms, starts, stops, kills.
    pub(crate) fn settle(&mut self, now: Time, limits: &Limits, demand: Demand, actions: &mut Vec<Action>) {
        if self.deadline.is_none_or(|deadline| deadline > now) {
            return;
        }
        self.dismiss_surplus(now);
        self.kill_overdue(now, limits, actions);
        if demand != Demand::None && self.count(Worker::takes_short_requests) == 0 {
            self.rush(now, limits.concurrency);
        }
        self.finish_trial(now);
        self.begin_warm_ups(actions);
        self.stop_leaving(now, limits, actions);
        if !self.is_closed() {
            self.finish_reload(actions);
            self.fill_places(now, limits, demand, actions);
            self.start_successors(now, limits, demand, actions);
        }
        self.stand_in(now, actions);
        self.note_settled(now, limits);
    }

    /// Caches figures about all workers; to be called again when the limits change.
    pub(crate) fn note_settled(&mut self, now: Time, limits: &Limits) {
        self.ready_count = self.count(|w| w.state == WorkerState::Ready);
        self.short_taking = self.count(Worker::takes_short_requests);
        self.deadline = self.find_deadline(now, limits);
    }

    pub(crate) fn next_deadline(&self) -> Option<Time> {
        self.deadline
    }

    fn find_deadline(&self, now: Time, limits: &Limits) -> Option<Time> {
        let workers = self.workers.values().filter_map(|w| {
            let kill = w.kill_due(limits).map(|(at, _)| at);
            kill.or_else(|| w.patience_ends(limits))
        });
        if self.is_closed() {
            return workers.min();
        }
        let is_startable = |place: &WorkerSlot| self.is_vacant(place) && !place.is_held_back;
        let starts = self.wanted_places().filter(|(_, place)| is_startable(place)).map(|(_, place)| place.not_before);
        let starts = starts.filter(|at| *at != life::HELD);
        let patience = self.starts_wait.then(|| self.boot_patience_ends(now)).flatten();
        workers.chain(starts).chain(patience).chain(self.successor_due(limits)).chain(self.stand_in_due()).min()
    }

    fn dismiss_surplus(&mut self, now: Time) {
        let (short, long) = (self.wanted, self.long_wanted);
        let is_surplus = |place: &&mut WorkerSlot| place.rank >= if place.lane == Lane::Short { short } else { long };
        for place in self.places.iter_mut().filter(is_surplus) {
            place.is_old = false;
            // Should the place be wanted again before the worker has finished what it holds, it starts another.
            for id in place.worker.take().into_iter().chain(place.successor.take()) {
                if let Some(w) = self.workers.get_mut(&id) {
                    w.dismiss(now);
                }
            }
        }
    }

    fn stop_leaving(&mut self, now: Time, limits: &Limits, actions: &mut Vec<Action>) {
        for (id, w) in self.workers.iter_mut().filter(|(_, w)| w.may_stop(now, limits)) {
            w.enter(WorkerState::Stopping, now);
            actions.push(Action::Stop { worker: *id });
        }
    }

    /// Starts workers in wanted places without one whose back-off is over, within the limit of simultaneous boots.
    fn fill_places(&mut self, now: Time, limits: &Limits, demand: Demand, actions: &mut Vec<Action>) {
        self.starts_wait = false;
        let mut room = self.boots_max(now, limits, demand).saturating_sub(self.boots(now));
        let aside_us = self.aside_us(now);
        for at in 0..self.places.len() {
            let place = &self.places[at];
            let is_due = self.is_wanted(place) && self.is_vacant(place) && place.not_before <= now;
            self.places[at].is_held_back = is_due && room == 0;
            self.starts_wait |= is_due && room == 0;
            if is_due && room > 0 {
                let generation = self.generation_of_vacancy(self.at_once(limits));
                let worker = self.start(now, at, generation, actions);
                self.places[at].worker = Some(worker);
                room -= 1;
                // A place that has lost its worker is missed by those who wait, and so is one of the long lane; a further one of the
                // short lane is not.
                if !std::mem::replace(&mut self.places[at].is_old, true)
                    && let Some(w) = self.workers.get_mut(&worker).filter(|w| w.lane == Lane::Short)
                {
                    w.aside_us = aside_us;
                }
            }
        }
    }

    /// Whether a place waits for another worker's boot, and the pool may still start workers.
    pub(crate) fn starts_wait(&self) -> bool {
        self.starts_wait && !self.is_closed()
    }

    /// Whether the place needs a worker. A successor of a generation on trial does not fill it.
    fn is_vacant(&self, place: &WorkerSlot) -> bool {
        place.worker.is_none() && (place.successor.is_none() || self.is_on_trial())
    }

    fn start(&mut self, now: Time, at: usize, generation: u64, actions: &mut Vec<Action>) -> WorkerId {
        self.next_worker += 1;
        let worker = WorkerId(self.next_worker);
        let (instance, lane) = (u32::try_from(at).unwrap_or(u32::MAX), self.places[at].lane);
        self.workers.insert(worker, Worker::starting(instance, generation, lane, now));
        actions.push(Action::Start { worker, instance, generation, lane });
        worker
    }

    fn wanted_places(&self) -> impl Iterator<Item = (u32, &WorkerSlot)> {
        (0_u32..).zip(&self.places).filter(|(_, place)| self.is_wanted(place))
    }

    /// Whether no worker is started any more.
    fn is_closed(&self) -> bool {
        self.stopping || self.gave_up
    }

    fn count(&self, which: impl Fn(&Worker) -> bool) -> u32 {
        u32::try_from(self.workers.values().filter(|w| which(w)).count()).unwrap_or(u32::MAX)
    }

    pub(crate) fn views(&self) -> impl Iterator<Item = WorkerView> + '_ {
        self.workers.iter().map(|(id, w)| WorkerView {
            worker: *id,
            instance: w.instance,
            generation: w.generation,
            lane: w.lane,
            state: w.state,
            in_service: w.begun() + w.parked(),
            parked: w.parked(),
            is_full: w.is_full(),
            handed: w.handed().count(),
            has_more_room: w.room > 0,
            holds_one: w.holds_one,
            streams: w.streams,
            started: w.started,
            is_lowered: w.is_lowered,
            is_paused: w.is_paused,
        })
    }

    pub(crate) fn state(&self, worker: WorkerId) -> Option<WorkerState> {
        self.workers.get(&worker).map(|w| w.state)
    }

    pub(crate) fn generation_of(&self, worker: WorkerId) -> Option<u64> {
        self.workers.get(&worker).map(|w| w.generation)
    }

    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    pub(crate) fn in_service(&self) -> usize {
        self.workers.values().map(|w| w.held.len()).sum()
    }

    pub(crate) fn ready_count(&self) -> u32 {
        self.ready_count
    }

    /// Whether a worker of the short lane takes requests and is to stay.
    pub(crate) fn keeps_short(&self) -> bool {
        let holders = self.wanted_places().filter_map(|(_, place)| self.workers.get(&place.worker?));
        holders.into_iter().any(Worker::takes_short_requests)
    }

    pub(crate) fn short_taking(&self) -> u32 {
        self.short_taking
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.workers.is_empty()
    }

    pub(crate) fn overlaps_total(&self) -> u64 {
        self.overlaps_total
    }
}
