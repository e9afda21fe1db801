//! The lines of the report, from what was tallied.

use std::collections::HashMap;

use super::runs::Tally;
use super::view::{Row, View};
use super::{CodeLocation, Hit, HotLine, Options, ms};
use crate::owner::path_of;
use crate::profile::{Frame, Profile, ROOT};

/// Maximum number of reported lines within a function.
const HITS_MAX: usize = 10;
/// Part of a worst run from which another one counts as the same: the callers of a line have its run and little of their own.
const SAME_RUN: f64 = 0.95;

pub(super) fn lines(profile: &Profile, view: &View, tallies: &[Tally], options: &Options) -> Vec<HotLine> {
    let stacks = stacks(view, tallies.len());
    let mut hits = hits(profile);
    let rows = view.rows.iter().zip(tallies).zip(stacks).filter(|((_, tally), _)| tally.runs > 0);
    let mut lines: Vec<HotLine> = rows
        .map(|((row, tally), stacks)| HotLine {
            place: place(profile, row, options),
            worst_ms: ms(tally.worst_us),
            worst_at_ms: ms(tally.worst_at_us),
            worst_in: profile.tracks[tally.worst_track].name.clone(),
            runs: tally.runs,
            runs_over: tally.runs_over,
            total_ms: ms(tally.total_us),
            self_ms: ms(tally.self_us),
            gc_ms: ms(tally.collector_us),
            stacks,
            hit: match row {
                Row::Function(frame) => hits.remove(frame).unwrap_or_default(),
                Row::Whole(_) => Vec::new(),
            },
        })
        .collect();
    let order =
        |line: &HotLine| (line.place.file.clone(), line.place.line, line.place.column, line.place.function.clone());
    lines.sort_by(|a, b| {
        let by_time = b.worst_ms.total_cmp(&a.worst_ms).then(b.self_ms.total_cmp(&a.self_ms));
        by_time.then(b.total_ms.total_cmp(&a.total_ms)).then_with(|| order(a).cmp(&order(b)))
    });
    culprits_first(&mut lines);
    lines
}

/// Puts the line that itself took most of the time first among lines with nearly the same worst run: its callers share
/// that run. They are compared with the worst of them, so that a long list of small steps is not one group.
fn culprits_first(lines: &mut [HotLine]) {
    let mut rest = lines;
    while let Some(worst_ms) = rest.first().map(|line| line.worst_ms) {
        let count = rest.iter().take_while(|line| line.worst_ms >= worst_ms * SAME_RUN).count().max(1);
        let (same, others) = rest.split_at_mut(count);
        same.sort_by(|a, b| b.self_ms.total_cmp(&a.self_ms));
        rest = others;
    }
}

fn place(profile: &Profile, row: &Row, options: &Options) -> CodeLocation {
    match row {
        Row::Function(frame) => {
            let Frame { function, url, line, column, owner } = &profile.frames()[*frame as usize];
            let file = path_of(url);
            let inside = file.strip_prefix(&options.directory).and_then(|rest| rest.strip_prefix('/'));
            let file = inside.filter(|_| !options.directory.is_empty()).map_or_else(|| file.clone(), str::to_owned);
            let function = if owner.is_entry() { String::new() } else { function.clone() };
            CodeLocation { function, file, line: *line, column: *column, owner: owner.name().to_owned() }
        }
        Row::Whole(owner) => CodeLocation {
            function: String::new(),
            file: String::new(),
            line: 0,
            column: 0,
            owner: owner.name().to_owned(),
        },
    }
}

/// Number of stacks that call each row: nodes of it that are within no other node of it. Each node has samples at or below it,
/// as V8 makes none otherwise.
fn stacks(view: &View, rows: usize) -> Vec<u64> {
    let mut children: Vec<(u32, u32)> =
        (0_u32..).zip(&view.nodes).skip(1).map(|(at, node)| (node.parent, at)).collect();
    children.sort_unstable();
    let mut stacks = vec![0; rows];
    let mut depth = vec![0_u32; rows];
    // A node is entered, then its children are, then it is left.
    let mut open = vec![(ROOT, false)];
    while let Some((at, is_left)) = open.pop() {
        let row = view.nodes[at as usize].row as usize;
        if is_left {
            depth[row] -= 1;
            continue;
        }
        if at != ROOT {
            stacks[row] += u64::from(depth[row] == 0);
            depth[row] += 1;
            open.push((at, true));
        }
        let first = children.partition_point(|(parent, _)| *parent < at);
        let below = children[first..].iter().take_while(|(parent, _)| *parent == at);
        open.extend(below.map(|(_, child)| (*child, false)));
    }
    stacks
}

/// The lines that were hit in each function, by its frame. A node's time goes to its lines as its ticks do.
fn hits(profile: &Profile) -> HashMap<u32, Vec<Hit>> {
    let self_us = profile.self_us();
    let mut by_line: HashMap<(u32, u32), f64> = HashMap::new();
    for ticks in profile.ticks().chunk_by(|one, other| one.node == other.node) {
        let node = ticks[0].node;
        let all: u64 = ticks.iter().map(|ticks| u64::from(ticks.count)).sum();
        for tick in ticks.iter().filter(|tick| tick.count > 0) {
            #[allow(clippy::cast_precision_loss, reason = "counts of samples are far below 2^53")]
            let share = f64::from(tick.count) / all as f64;
            let frame = profile.nodes()[node as usize].frame;
            *by_line.entry((frame, tick.line)).or_default() += ms(self_us[node as usize]) * share;
        }
    }
    let mut hits: HashMap<u32, Vec<Hit>> = HashMap::new();
    for ((frame, line), self_ms) in by_line {
        hits.entry(frame).or_default().push(Hit { line, self_ms: (self_ms * 1000.0).round() / 1000.0 });
    }
    for lines in hits.values_mut() {
        lines.sort_by(|a, b| b.self_ms.total_cmp(&a.self_ms).then(a.line.cmp(&b.line)));
        lines.truncate(HITS_MAX);
    }
    hits
}
