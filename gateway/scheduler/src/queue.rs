//! Requests that wait: their order, and the time at which each becomes overdue.
//!
//! Requests of one class (and one priority and deadline, where a route sets these) form a strand in the order of
//! arrival. Strands are sorted by the rank of their first request, on two sides, the long and the short. A client may
//! leave from the middle, and a request that no worker has seen returns to its old place. In the order of arrival there
//! are no strands.

mod strand;

use std::cmp::Reverse;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use sluice_sketch::scale;

use crate::{Alone, ClassId, Costs, Home, Lane, Need, Order, RequestId, Time, WorkerId};

use strand::Strand;

/// A request that waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub arrived: Time,
    pub need: Need,
    /// Time from which it goes before requests that are not overdue.
    pub overdue: Time,
    /// Latest time at which it must get a worker to meet its deadline; `None` without a deadline.
    pub latest_start: Option<Time>,
}

/// Sort key of a strand: priority, cost, deadline, arrival.
type Key = (Reverse<i8>, u32, Time, RequestId);

#[derive(Debug)]
struct QueueEntry {
    strand: Strand,
    side: Lane,
    cost: u32,
    /// Key and overdue time under which the side's trees hold the strand.
    key: Key,
    overdue: Time,
}

/// The next request of a side, with its rank against the other side's. Overdue requests go first, by the time from
/// which they are overdue; the others go by their strand's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Head {
    rank: (bool, Time, Key),
    pub request: RequestId,
    pub need: Need,
}

impl Head {
    pub(crate) fn is_overdue(&self) -> bool {
        !self.rank.0
    }
}

/// Requests with the same expected service time: priority, class, and whether every worker may have them.
pub(crate) type Kind = (i8, ClassId, bool);

fn kind(need: Need) -> Kind {
    (need.priority, need.class, need.home == Home::Any)
}

/// The strands of one side.
#[derive(Debug, Default)]
struct Side {
    length: usize,
    strands: BTreeSet<(Key, Need)>,
    overdue: BTreeSet<(Time, Need)>,
}

#[derive(Debug, Default)]
pub(crate) struct Queue {
    order: Order,
    waiting: BTreeMap<RequestId, Waiting>,
    /// Number of requests of each kind.
    kinds: BTreeMap<Kind, usize>,
    /// Number of requests that need a worker to themselves.
    alone: usize,
    strands: BTreeMap<Need, QueueEntry>,
    short: Side,
    long: Side,
    latest_starts: BTreeSet<(Time, RequestId)>,
    /// An empty strand, kept for its memory: below saturation every request creates a strand and empties it.
    spare: Strand,
}

/// Side and rank of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rating {
    side: Lane,
    cost: u32,
}

impl Rating {
    pub(crate) fn of(class: ClassId, costs: &Costs) -> Rating {
        let side = if costs.is_long(class) { Lane::Long } else { Lane::Short };
        Rating { side, cost: bucket(costs.expected_us(class)) }
    }

    /// Rating of a request. Requests with a home stay out of the long lane, whatever they cost.
    fn of_need(need: Need, costs: &Costs) -> Rating {
        let rating = Rating::of(need.class, costs);
        if need.home == Home::Any { rating } else { Rating { side: Lane::Short, ..rating } }
    }
}

fn key(need: Need, cost: u32, arrived: Time, first: RequestId) -> Key {
    let deadline = need.deadline_ms.map_or(Time(u64::MAX), |ms| arrived.plus_ms(u64::from(ms)));
    (Reverse(need.priority), cost, deadline, first)
}

/// Cost bucket. Costs that differ by less than half are equal, so that similar requests go in the order of arrival.
fn bucket(cost_us: u64) -> u32 {
    u32::try_from(scale::bucket::<2>(cost_us.max(1))).unwrap_or(u32::MAX)
}

impl Queue {
    pub(crate) fn new(order: Order) -> Self {
        Queue { order, ..Queue::default() }
    }

    fn side(&self, side: Lane) -> &Side {
        match side {
            Lane::Short => &self.short,
            Lane::Long => &self.long,
        }
    }

    fn side_mut(&mut self, side: Lane) -> &mut Side {
        match side {
            Lane::Short => &mut self.short,
            Lane::Long => &mut self.long,
        }
    }

    pub(crate) fn push(&mut self, request: RequestId, waiting: Waiting, costs: &Costs) {
        self.waiting.insert(request, waiting);
        *self.kinds.entry(kind(waiting.need)).or_default() += 1;
        self.alone += usize::from(waiting.need.is_alone());
        self.latest_starts.extend(waiting.latest_start.map(|at| (at, request)));
        if self.order == Order::Shortest {
            self.join_strand(request, waiting, costs);
        }
    }

    fn join_strand(&mut self, request: RequestId, waiting: Waiting, costs: &Costs) {
        let need = waiting.need;
        if self.change_strand(need, |strand| strand.insert(request, waiting.overdue)) {
            return;
        }
        let Rating { side, cost } = Rating::of_need(need, costs);
        let key = (Reverse(need.priority), cost, Time(0), request);
        let mut strand = std::mem::take(&mut self.spare);
        strand.insert(request, waiting.overdue);
        self.put_strand(need, QueueEntry { strand, side, cost, key, overdue: waiting.overdue });
    }

    /// Changes a strand in place, and moves only what must move. A strand that is or becomes empty must not be changed
    /// this way. Returns false if there is no such strand.
    fn change_strand(&mut self, need: Need, change: impl FnOnce(&mut Strand)) -> bool {
        let Some(ranked) = self.strands.get_mut(&need) else { return false };
        let side = match ranked.side {
            Lane::Short => &mut self.short,
            Lane::Long => &mut self.long,
        };
        let length = ranked.strand.len();
        change(&mut ranked.strand);
        side.length = side.length + ranked.strand.len() - length;
        let Some(first) = ranked.strand.first() else { return true };
        if first != ranked.key.3 {
            let arrived = self.waiting.get(&first).map_or(Time(0), |waiting| waiting.arrived);
            side.strands.remove(&(ranked.key, need));
            ranked.key = key(need, ranked.cost, arrived, first);
            side.strands.insert((ranked.key, need));
        }
        let overdue = ranked.strand.overdue();
        if overdue != ranked.overdue {
            side.overdue.remove(&(ranked.overdue, need));
            side.overdue.insert((overdue, need));
            ranked.overdue = overdue;
        }
        true
    }

    /// Removes a strand from the order, to be changed and inserted again.
    fn take_strand(&mut self, need: Need) -> Option<QueueEntry> {
        let ranked = self.strands.remove(&need)?;
        let side = self.side_mut(ranked.side);
        side.length -= ranked.strand.len();
        side.strands.remove(&(ranked.key, need));
        side.overdue.remove(&(ranked.overdue, need));
        Some(ranked)
    }

    fn put_strand(&mut self, need: Need, mut ranked: QueueEntry) {
        let Some(first) = ranked.strand.first() else { return };
        let arrived = self.waiting.get(&first).map_or(Time(0), |waiting| waiting.arrived);
        ranked.key = key(need, ranked.cost, arrived, first);
        ranked.overdue = ranked.strand.overdue();
        let side = self.side_mut(ranked.side);
        side.length += ranked.strand.len();
        side.strands.insert((ranked.key, need));
        side.overdue.insert((ranked.overdue, need));
        self.strands.insert(need, ranked);
    }

    pub(crate) fn remove(&mut self, request: RequestId) -> Option<Waiting> {
        let waiting = self.waiting.remove(&request)?;
        if let Entry::Occupied(mut of_kind) = self.kinds.entry(kind(waiting.need)) {
            *of_kind.get_mut() -= 1;
            if *of_kind.get() == 0 {
                of_kind.remove();
            }
        }
        self.alone -= usize::from(waiting.need.is_alone());
        if let Some(at) = waiting.latest_start {
            self.latest_starts.remove(&(at, request));
        }
        let is_last = self.strands.get(&waiting.need).is_some_and(|ranked| ranked.strand.len() == 1);
        if is_last {
            if let Some(mut ranked) = self.take_strand(waiting.need) {
                ranked.strand.remove(request);
                self.spare = ranked.strand;
            }
        } else {
            self.change_strand(waiting.need, |strand| strand.remove(request));
        }
        Some(waiting)
    }

    /// Next request of this side. In the order of arrival there is only the short side.
    pub(crate) fn head(&self, side: Lane, now: Time) -> Option<Head> {
        self.first_of(side, now, |_| true)
    }

    /// Next request for which `may` is true.
    pub(crate) fn first_of(&self, side: Lane, now: Time, may: impl Fn(&Need) -> bool) -> Option<Head> {
        if self.order == Order::Fifo {
            let (first, waiting) =
                self.waiting.iter().find(|(_, waiting)| may(&waiting.need)).filter(|_| side == Lane::Short)?;
            let key = (Reverse(0), 0, Time(0), *first);
            return Some(Head { rank: (true, Time(0), key), request: *first, need: waiting.need });
        }
        let side = self.side(side);
        let overdue = side.overdue.iter().take_while(|(since, _)| *since <= now);
        if let Some((since, need)) = overdue.clone().find(|(_, need)| may(need)) {
            // The strand goes on in the order of arrival, so that the turn of the one that is overdue comes too.
            let ranked = self.strands.get(need)?;
            let (rank, request) = ((false, *since, ranked.key), ranked.strand.first()?);
            return Some(Head { rank, request, need: *need });
        }
        let first = side.strands.iter().find(|(_, need)| may(need));
        first.map(|(key, need)| {
            let (rank, request) = ((true, Time(0), *key), key.3);
            Head { rank, request, need: *need }
        })
    }

    /// Whether any request needs a worker to itself.
    pub(crate) fn has_alone(&self) -> bool {
        self.alone > 0
    }

    /// Sorts the strands of a class again after a change of its rating.
    pub(crate) fn rate_again(&mut self, class: ClassId, costs: &Costs) {
        let from = Need { class, priority: i8::MIN, ..Need::default() };
        let last = Home::At(WorkerId(u64::MAX));
        let deadline_ms = Some(u32::MAX);
        let to = Need {
            class,
            priority: i8::MAX,
            deadline_ms,
            alone: Alone::Always,
            ahead: true,
            inner: true,
            home: last,
            drawn: true,
        };
        let needs: Vec<Need> = self.strands.range(from..=to).map(|(need, _)| *need).collect();
        for need in needs {
            self.rate_strand(need, costs);
        }
    }

    /// Sorts all strands again whose rating has changed, after a change of the cut.
    pub(crate) fn rate_all_again(&mut self, costs: &Costs) {
        let has_changed = |(need, ranked): &(&Need, &QueueEntry)| {
            Rating::of_need(**need, costs) != Rating { side: ranked.side, cost: ranked.cost }
        };
        let needs: Vec<Need> = self.strands.iter().filter(has_changed).map(|(need, _)| *need).collect();
        for need in needs {
            self.rate_strand(need, costs);
        }
    }

    fn rate_strand(&mut self, need: Need, costs: &Costs) {
        let Some(mut ranked) = self.take_strand(need) else { return };
        Rating { side: ranked.side, cost: ranked.cost } = Rating::of_need(need, costs);
        self.put_strand(need, ranked);
    }

    /// Changes the order, also of waiting requests. Those that waited in the order of arrival keep it, unless nothing
    /// ages.
    pub(crate) fn set_order(&mut self, order: Order, ages: bool, costs: &Costs) {
        if self.order == order {
            return;
        }
        self.order = order;
        self.strands.clear();
        (self.short, self.long) = (Side::default(), Side::default());
        if order == Order::Shortest {
            let all: Vec<_> = self.waiting.iter().map(|(request, waiting)| (*request, *waiting)).collect();
            for (request, mut waiting) in all {
                if ages {
                    waiting.overdue = waiting.overdue.min(waiting.arrived);
                    self.waiting.insert(request, waiting);
                }
                self.join_strand(request, waiting, costs);
            }
        }
    }

    /// Request that arrived first, and its arrival time.
    pub(crate) fn oldest(&self) -> Option<(RequestId, Time)> {
        self.waiting.first_key_value().map(|(request, waiting)| (*request, waiting.arrived))
    }

    /// Request whose deadline will be missed first, and the latest start for it.
    pub(crate) fn first_late(&self) -> Option<(RequestId, Time)> {
        self.latest_starts.first().map(|(at, request)| (*request, *at))
    }

    pub(crate) fn need(&self, request: RequestId) -> Option<Need> {
        self.waiting.get(&request).map(|waiting| waiting.need)
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn len_of(&self, side: Lane) -> usize {
        match (self.order, side) {
            (Order::Fifo, Lane::Short) => self.waiting.len(),
            (Order::Fifo, Lane::Long) => 0,
            (Order::Shortest, _) => self.side(side).length,
        }
    }

    /// Number of requests of each kind that go before one of this priority, while none of them is overdue.
    pub(crate) fn before(&self, priority: i8) -> impl Iterator<Item = (Kind, usize)> + '_ {
        let lowest = if self.order == Order::Fifo { i8::MIN } else { priority };
        self.kinds.range((lowest, ClassId(0), false)..).map(|(kind, requests)| (*kind, *requests))
    }

    /// Whether others of its kind wait.
    pub(crate) fn has_strand(&self, need: Need) -> bool {
        self.strands.contains_key(&need)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}
