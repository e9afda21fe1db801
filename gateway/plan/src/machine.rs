//! Cores that workers share by priority. A worker is an event loop: it computes one request at a time in order, and holds
//! others that wait.
//!
//! Within a lane all workers are equally fast. So each lane has a clock of the CPU time of one of its workers, and the end of a
//! run is a point of that clock. Nothing is recomputed when others start or stop.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use sluice_scheduler::{Lane, WorkerId};

/// Weights of the lanes' priorities in the Linux scheduler: nice 2, and `SCHED_IDLE`.
const WEIGHTS: [f64; 2] = [655.0, 3.0];

/// A finite point in time, to be compared.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point(f64);

impl Eq for Point {}

impl PartialOrd for Point {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Point {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

#[derive(Default)]
struct Shared {
    /// CPU time that a worker had that has computed since the beginning, microseconds.
    clock_us: f64,
    /// Workers that compute, by the point of the clock at which their present run ends.
    ends: BinaryHeap<Reverse<(Point, usize)>>,
}

struct Worker {
    lane: Lane,
    /// Runs in order: request and CPU time.
    ready: VecDeque<(u64, f64)>,
    /// Time and the lane's clock since which it computes.
    since: (f64, f64),
    worked_us: f64,
    wanted_us: f64,
}

/// Cores and workers.
pub(crate) struct Machine {
    cores: f64,
    now_us: f64,
    lanes: [Shared; 2],
    /// Workers by number.
    workers: Vec<Option<Worker>>,
    /// Ends of waits: time, worker, request, CPU time after it.
    timers: BinaryHeap<Reverse<(Point, usize, u64, Point)>>,
    worked_us: f64,
}

fn index(worker: WorkerId) -> usize {
    usize::try_from(worker.0).unwrap_or(usize::MAX)
}

impl Machine {
    #[allow(clippy::cast_precision_loss, reason = "few")]
    pub(crate) fn new(cores: usize) -> Self {
        Self {
            cores: cores as f64,
            now_us: 0.0,
            lanes: [Shared::default(), Shared::default()],
            workers: Vec::new(),
            timers: BinaryHeap::new(),
            worked_us: 0.0,
        }
    }

    /// CPU time per unit of time of a worker of each lane that computes.
    #[allow(clippy::cast_precision_loss, reason = "few")]
    fn rates(&self) -> [f64; 2] {
        let [short, long] = [0, 1].map(|lane: usize| self.lanes[lane].ends.len() as f64);
        if short + long <= self.cores {
            return [1.0; 2];
        }
        let rate = |weight| self.cores * weight / (WEIGHTS[0] * short + WEIGHTS[1] * long);
        if short == 0.0 || long == 0.0 || rate(WEIGHTS[0]) < 1.0 {
            return WEIGHTS.map(|weight| rate(weight).min(1.0));
        }
        [1.0, ((self.cores - short) / long).min(1.0)]
    }

    pub(crate) fn advance(&mut self, to_us: f64) {
        let elapsed_us = (to_us - self.now_us).max(0.0);
        if elapsed_us > 0.0 {
            let rates = self.rates();
            for (lane, rate) in self.lanes.iter_mut().zip(rates) {
                lane.clock_us += rate * elapsed_us;
            }
            self.now_us = to_us;
        }
    }

    pub(crate) fn start(&mut self, worker: WorkerId, lane: Lane) {
        let at = index(worker);
        if self.workers.len() <= at {
            self.workers.resize_with(at + 1, || None);
        }
        let started = Worker { lane, ready: VecDeque::new(), since: (0.0, 0.0), worked_us: 0.0, wanted_us: 0.0 };
        self.workers[at] = Some(started);
    }

    /// Removes a worker that holds nothing.
    pub(crate) fn stop(&mut self, worker: WorkerId) {
        self.workers[index(worker)] = None;
    }

    /// Adds a run to the worker's, which are computed in order.
    pub(crate) fn compute(&mut self, worker: WorkerId, request: u64, us: f64) {
        let at = index(worker);
        let Some(w) = &mut self.workers[at] else { return };
        w.ready.push_back((request, us));
        if w.ready.len() == 1 {
            let lane = &mut self.lanes[w.lane as usize];
            w.since = (self.now_us, lane.clock_us);
            lane.ends.push(Reverse((Point(lane.clock_us + us), at)));
        }
    }

    /// Lets the request wait, and then compute again.
    pub(crate) fn wait(&mut self, worker: WorkerId, request: u64, wait_us: f64, then_us: f64) {
        self.timers.push(Reverse((Point(self.now_us + wait_us), index(worker), request, Point(then_us))));
    }

    /// Time of the next end of a run or a wait.
    pub(crate) fn next_us(&self) -> f64 {
        let rates = self.rates();
        let end_us = |lane: usize| {
            let end = self.lanes[lane].ends.peek();
            end.map_or(f64::INFINITY, |Reverse((Point(at), _))| {
                self.now_us + (at - self.lanes[lane].clock_us).max(0.0) / rates[lane]
            })
        };
        let timer_us = self.timers.peek().map_or(f64::INFINITY, |Reverse((Point(at_us), ..))| *at_us);
        end_us(0).min(end_us(1)).min(timer_us)
    }

    /// Ends the run that [`Machine::next_us`] is the time of, and returns its worker and request. `None` if that was a
    /// wait.
    pub(crate) fn turn(&mut self) -> Option<(WorkerId, u64)> {
        let due_us = self.next_us();
        let timer = self.timers.peek().is_some_and(|Reverse((Point(at_us), ..))| *at_us <= due_us);
        self.advance(due_us);
        if timer {
            let Reverse((_, worker, request, Point(us))) = self.timers.pop()?;
            self.compute(WorkerId(worker as u64), request, us);
            return None;
        }
        let rates = self.rates();
        let left = |lane: usize| {
            let end = self.lanes[lane].ends.peek();
            end.map_or(f64::INFINITY, |Reverse((Point(at), _))| (at - self.lanes[lane].clock_us) / rates[lane])
        };
        let lane = usize::from(left(1) < left(0));
        let Reverse((Point(end), at)) = self.lanes[lane].ends.pop()?;
        let Some(w) = &mut self.workers[at] else { return None };
        let (request, us) = w.ready.pop_front()?;
        self.worked_us += us;
        if let Some((_, next_us)) = w.ready.front() {
            self.lanes[lane].ends.push(Reverse((Point(end.max(self.lanes[lane].clock_us) + next_us), at)));
        } else {
            w.wanted_us += self.now_us - w.since.0;
            w.worked_us += self.lanes[lane].clock_us - w.since.1;
        }
        Some((WorkerId(at as u64), request))
    }

    /// CPU time that the worker had, time in which it wanted it, and whether it sleeps, as a look at its main thread
    /// shows.
    pub(crate) fn look(&self, worker: WorkerId) -> (f64, f64, bool) {
        let Some(w) = &self.workers[index(worker)] else { return (0.0, 0.0, false) };
        if w.ready.is_empty() {
            return (w.worked_us, w.wanted_us, true);
        }
        let clock_us = self.lanes[w.lane as usize].clock_us;
        (w.worked_us + clock_us - w.since.1, w.wanted_us + self.now_us - w.since.0, false)
    }

    /// CPU time of all workers so far, in ended runs.
    pub(crate) fn worked_us(&self) -> f64 {
        self.worked_us
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_ones_get_what_short_ones_leave() {
        let mut machine = Machine::new(2);
        for (worker, lane) in [(1, Lane::Short), (2, Lane::Short), (3, Lane::Long)] {
            machine.start(WorkerId(worker), lane);
            machine.compute(WorkerId(worker), worker, 1_000.0 * f64::from(u32::try_from(worker).unwrap()));
        }
        assert_eq!(machine.turn(), Some((WorkerId(1), 1)));
        assert!((1_000.0..1_010.0).contains(&machine.now_us), "{}", machine.now_us);
        // One core is free now.
        assert_eq!(machine.turn(), Some((WorkerId(2), 2)));
        assert!((2_000.0..2_020.0).contains(&machine.now_us), "{}", machine.now_us);
        assert_eq!(machine.turn(), Some((WorkerId(3), 3)));
        assert!((3_980.0..4_010.0).contains(&machine.now_us), "{}", machine.now_us);
        assert!(machine.next_us().is_infinite());
    }

    #[test]
    fn one_loop_computes_in_order_and_waits_beside() {
        let mut machine = Machine::new(1);
        machine.start(WorkerId(1), Lane::Short);
        machine.wait(WorkerId(1), 7, 500.0, 100.0);
        machine.compute(WorkerId(1), 8, 1_000.0);
        assert_eq!(machine.turn(), None);
        assert_eq!(machine.turn(), Some((WorkerId(1), 8)));
        assert_eq!(machine.turn(), Some((WorkerId(1), 7)));
        assert_eq!((machine.now_us, machine.look(WorkerId(1))), (1_100.0, (1_100.0, 1_100.0, true)));
    }
}
