//! Requests that wait: the order in which they go, and when each has waited for too long.
//!
//! Requests of one class (and one priority and deadline, where a route sets these) form a line in the order of arrival.
//! Lines are kept sorted by what their first request is worth, on two sides, the long and the short. All of it in trees,
//! so that a client may leave from the middle and a request that no worker has seen returns to where it stood, at the
//! cost of a few comparisons at any length.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::{ClassId, Costs, Lane, Need, Order, RequestId, Time};

/// A request that waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub arrived: Time,
    pub need: Need,
    /// From then on it goes before those that have not waited for too long.
    pub overdue: Time,
}

impl Waiting {
    /// When it must have a worker if its deadline is to be met; `None` without a deadline.
    fn latest_start(&self, costs_us: u64) -> Option<Time> {
        let deadline = self.arrived.plus_ms(u64::from(self.need.deadline_ms?));
        // A free worker gets it all the same, or what costs more than expected would never be known to cost less.
        Some(Time(deadline.0.saturating_sub(costs_us).max(self.arrived.0 + 1)))
    }
}

/// By what a line comes before another: priority, cost, deadline, arrival.
type Key = (Reverse<i8>, u32, Time, RequestId);

#[derive(Debug)]
struct Line {
    requests: BTreeSet<RequestId>,
    side: Lane,
    key: Key,
}

/// The next request of a side, and by what it comes before the other's: the overdue first, the one whose time came first
/// before the others, then by the line's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Head {
    rank: (bool, Time, Key),
    pub request: RequestId,
}

impl Head {
    pub(crate) fn is_overdue(&self) -> bool {
        !self.rank.0
    }
}

/// What is kept for each side.
#[derive(Debug, Default)]
struct Side {
    length: usize,
    lines: BTreeSet<(Key, Need)>,
    overdue: BTreeSet<(Time, RequestId)>,
}

#[derive(Debug, Default)]
pub(crate) struct Queue {
    waiting: BTreeMap<RequestId, (Waiting, Option<Time>)>,
    lines: BTreeMap<Need, Line>,
    short: Side,
    long: Side,
    latest_starts: BTreeSet<(Time, RequestId)>,
}

/// Costs that differ by less than half are taken for equal, so that what is of a kind goes in the order of arrival.
fn bucket(cost_us: u64) -> u32 {
    let octave = cost_us.max(1).ilog2();
    2 * octave + u32::from(cost_us >= (1_u64 << octave) + (1_u64 << octave) / 2)
}

/// The side of a class. There is only one where all go in the order of arrival or cost alike.
pub(crate) fn side(order: Order, costs: &Costs, class: ClassId) -> Lane {
    if order == Order::Shortest && costs.is_long(class) { Lane::Long } else { Lane::Short }
}

impl Queue {
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

    pub(crate) fn push(&mut self, request: RequestId, waiting: Waiting, order: Order, costs: &Costs) {
        let need = waiting.need;
        let latest_start = waiting.latest_start(costs.expected_us(need.class));
        self.waiting.insert(request, (waiting, latest_start));
        self.latest_starts.extend(latest_start.map(|at| (at, request)));
        let mut line = self.take_line(need).unwrap_or_else(|| Line {
            requests: BTreeSet::new(),
            side: side(order, costs, need.class),
            key: (Reverse(need.priority), bucket(costs.expected_us(need.class)), Time(0), request),
        });
        line.requests.insert(request);
        let of_side = self.side_mut(line.side);
        of_side.length += 1;
        of_side.overdue.insert((waiting.overdue, request));
        self.put_line(need, line);
    }

    /// Takes a line out of the order, to be changed and put again.
    fn take_line(&mut self, need: Need) -> Option<Line> {
        let line = self.lines.remove(&need)?;
        self.side_mut(line.side).lines.remove(&(line.key, need));
        Some(line)
    }

    fn put_line(&mut self, need: Need, mut line: Line) {
        let Some(first) = line.requests.first().copied() else { return };
        let deadline = need.deadline_ms.zip(self.waiting.get(&first));
        line.key.2 = deadline.map_or(Time(u64::MAX), |(ms, (first, _))| first.arrived.plus_ms(u64::from(ms)));
        line.key.3 = first;
        self.side_mut(line.side).lines.insert((line.key, need));
        self.lines.insert(need, line);
    }

    pub(crate) fn remove(&mut self, request: RequestId) -> Option<Waiting> {
        let (waiting, latest_start) = self.waiting.remove(&request)?;
        if let Some(at) = latest_start {
            self.latest_starts.remove(&(at, request));
        }
        if let Some(mut line) = self.take_line(waiting.need) {
            line.requests.remove(&request);
            let of_side = self.side_mut(line.side);
            of_side.length -= 1;
            of_side.overdue.remove(&(waiting.overdue, request));
            self.put_line(waiting.need, line);
        }
        Some(waiting)
    }

    /// The next request of this side.
    pub(crate) fn head(&self, side: Lane, order: Order, now: Time) -> Option<Head> {
        if order == Order::Fifo {
            let first = self.waiting.first_key_value().filter(|_| side == Lane::Short);
            let key = (Reverse(0), 0, Time(0), RequestId(0));
            return first.map(|(request, _)| Head { rank: (true, Time(0), key), request: *request });
        }
        let side = self.side(side);
        if let Some((since, request)) = side.overdue.first().filter(|(since, _)| *since <= now) {
            // Its line goes on in the order of arrival, so that this one's turn comes too.
            let line = self.waiting.get(request).and_then(|(waiting, _)| self.lines.get(&waiting.need))?;
            return Some(Head { rank: (false, *since, line.key), request: *line.requests.first()? });
        }
        side.lines.first().map(|(key, _)| Head { rank: (true, Time(0), *key), request: key.3 })
    }

    /// A class costs something else than before.
    pub(crate) fn rate_again(&mut self, class: ClassId, order: Order, costs: &Costs) {
        let from = Need { class, priority: i8::MIN, deadline_ms: None };
        let to = Need { class, priority: i8::MAX, deadline_ms: Some(u32::MAX) };
        let needs: Vec<Need> = self.lines.range(from..=to).map(|(need, _)| *need).collect();
        for need in needs {
            self.rate_line(need, order, costs);
        }
    }

    /// What counts as long is something else than before, or the order is.
    pub(crate) fn rate_all_again(&mut self, order: Order, costs: &Costs) {
        let needs: Vec<Need> = self.lines.keys().copied().collect();
        for need in needs {
            self.rate_line(need, order, costs);
        }
    }

    fn rate_line(&mut self, need: Need, order: Order, costs: &Costs) {
        let (at, cost) = (side(order, costs, need.class), bucket(costs.expected_us(need.class)));
        if self.lines.get(&need).is_none_or(|line| line.side == at && line.key.1 == cost) {
            return;
        }
        let Some(mut line) = self.take_line(need) else { return };
        if line.side != at {
            for request in &line.requests {
                let Some(overdue) = self.waiting.get(request).map(|(waiting, _)| waiting.overdue) else { continue };
                let (from, to) = match at {
                    Lane::Short => (&mut self.long, &mut self.short),
                    Lane::Long => (&mut self.short, &mut self.long),
                };
                from.overdue.remove(&(overdue, *request));
                from.length -= 1;
                to.overdue.insert((overdue, *request));
                to.length += 1;
            }
        }
        (line.side, line.key.1) = (at, cost);
        self.put_line(need, line);
    }

    /// The request that arrived first, and when.
    pub(crate) fn oldest(&self) -> Option<(RequestId, Time)> {
        self.waiting.first_key_value().map(|(request, (waiting, _))| (*request, waiting.arrived))
    }

    /// The request whose deadline can no longer be met first, and from when on.
    pub(crate) fn first_late(&self) -> Option<(RequestId, Time)> {
        self.latest_starts.first().map(|(at, request)| (*request, *at))
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn len_of(&self, side: Lane) -> usize {
        self.side(side).length
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}
