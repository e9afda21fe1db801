//! Follows the stack through the samples of a thread, and tallies each row's runs.

use super::view::View;
use crate::owner::Owner;
use crate::profile::{Profile, ROOT};

/// Running figures of a row.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) worst_us: u64,
    pub(super) worst_at_us: u64,
    pub(super) worst_track: usize,
    pub(super) runs: u64,
    pub(super) runs_over: u64,
    pub(super) total_us: u64,
    pub(super) self_us: u64,
    pub(super) collector_us: u64,
    /// Number of times that it is on the stack.
    depth: u32,
    /// Begin of its run, and the collector's time until then.
    since_us: u64,
    collector_before_us: u64,
}

/// Times of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Times {
    pub(super) busy_us: u64,
    pub(super) collector_us: u64,
    pub(super) program_us: u64,
}

impl Times {
    pub(super) fn add(&mut self, other: &Self) {
        self.busy_us += other.busy_us;
        self.collector_us += other.collector_us;
        self.program_us += other.program_us;
    }
}

/// Adds what a track says to the tallies of all rows.
pub(super) fn sweep(profile: &Profile, view: &View, track: usize, threshold_us: u64, tallies: &mut [Tally]) -> Times {
    let mut sweep =
        Sweep { view, tallies, track, threshold_us, stack: ROOT, entry: ROOT, paused: None, times: Times::default() };
    let mut now_us = profile.tracks[track].first_us;
    let start_us = now_us;
    for (node, at_us, spent_us) in profile.tracks[track].iter() {
        now_us = at_us + u64::from(spent_us);
        sweep.sample(&profile.frame(node).owner, node, at_us - start_us, spent_us.into());
    }
    sweep.become_stack(ROOT, ROOT, now_us - start_us);
    sweep.times
}

struct Sweep<'s> {
    view: &'s View,
    tallies: &'s mut [Tally],
    track: usize,
    threshold_us: u64,
    /// The node of the view that is on top, or was before the collector began.
    stack: u32,
    /// Outermost frame of that stack.
    entry: u32,
    /// The collector has run since then; and its node, for the time before it.
    paused: Option<CollectorPause>,
    times: Times,
}

#[derive(Clone, Copy)]
struct CollectorPause {
    at_us: u64,
    collector_us: u64,
    /// The collector's own node of the view.
    node: u32,
}

impl Sweep<'_> {
    fn sample(&mut self, owner: &Owner, node: u32, at_us: u64, spent_us: u64) {
        let place = self.view.of[node as usize];
        if *owner != Owner::Idle {
            self.times.busy_us += spent_us;
        }
        if place != ROOT {
            self.tallies[self.view.nodes[place as usize].row as usize].self_us += spent_us;
        }
        if *owner == Owner::Collector {
            if self.paused.is_none() {
                self.paused = Some(CollectorPause { at_us, collector_us: self.times.collector_us, node: place });
                self.enter(place, at_us);
            }
            self.times.collector_us += spent_us;
            return;
        }
        if *owner == Owner::Program {
            self.times.program_us += spent_us;
        }
        self.become_stack(place, self.view.entries[node as usize], at_us);
    }

    /// Changes to another stack from now on.
    fn become_stack(&mut self, stack: u32, entry: u32, at_us: u64) {
        // What is not there after the collector ended when it began.
        let (left_us, collector_us) = match self.paused.take() {
            Some(paused) => {
                self.leave(paused.node, at_us, self.times.collector_us);
                (paused.at_us, paused.collector_us)
            }
            None => (at_us, self.times.collector_us),
        };
        if entry != self.entry {
            self.move_to(ROOT, left_us, collector_us, at_us);
            self.entry = entry;
        }
        self.move_to(stack, left_us, collector_us, at_us);
    }

    /// Moves to another stack. Rows on both stacks continue, however often they are on either.
    fn move_to(&mut self, stack: u32, left_us: u64, collector_us: u64, at_us: u64) {
        let common = self.common(self.stack, stack);
        // First what is entered, so that a row that is only deeper or less deep than before does not end.
        let mut node = stack;
        while node != common {
            self.enter(node, at_us);
            node = self.view.nodes[node as usize].parent;
        }
        let mut node = std::mem::replace(&mut self.stack, stack);
        while node != common {
            self.leave(node, left_us, collector_us);
            node = self.view.nodes[node as usize].parent;
        }
    }

    /// The innermost node that both are below. A parent's index is smaller than its child's.
    fn common(&self, mut one: u32, mut other: u32) -> u32 {
        while one != other {
            if one > other {
                one = self.view.nodes[one as usize].parent;
            } else {
                other = self.view.nodes[other as usize].parent;
            }
        }
        one
    }

    fn enter(&mut self, node: u32, at_us: u64) {
        let tally = &mut self.tallies[self.view.nodes[node as usize].row as usize];
        if tally.depth == 0 {
            tally.since_us = at_us;
            tally.collector_before_us = self.times.collector_us;
        }
        tally.depth += 1;
    }

    fn leave(&mut self, node: u32, at_us: u64, collector_us: u64) {
        let tally = &mut self.tallies[self.view.nodes[node as usize].row as usize];
        tally.depth -= 1;
        if tally.depth > 0 {
            return;
        }
        let run_us = at_us.saturating_sub(tally.since_us);
        tally.runs += 1;
        tally.runs_over += u64::from(run_us > self.threshold_us);
        tally.total_us += run_us;
        tally.collector_us += collector_us.saturating_sub(tally.collector_before_us);
        if run_us > tally.worst_us || tally.runs == 1 {
            (tally.worst_us, tally.worst_at_us, tally.worst_track) = (run_us, tally.since_us, self.track);
        }
    }
}
