//! One profile as V8 gives it goes into the tree that all share, and its samples onto one scale of time.

use std::collections::HashMap;

use crate::owner::Owner;
use crate::profile::{Profile, ROOT, Ticks, Track};

/// A node as V8 gives it, by an id of its own.
#[derive(Clone, Debug)]
pub(crate) struct RawNode {
    pub(crate) id: u32,
    /// Index into the frames of the profile that it is read into.
    pub(crate) frame: u32,
}

/// One profile as V8 gives it.
#[derive(Debug, Default)]
pub(crate) struct Raw {
    pub(crate) nodes: Vec<RawNode>,
    /// Ids of caller and called.
    pub(crate) edges: Vec<(u32, u32)>,
    /// Ids of nodes; their field says so.
    pub(crate) ticks: Vec<Ticks>,
    /// Ids of nodes.
    pub(crate) samples: Vec<u32>,
    /// Microseconds since the sample before, of the first one since the start; may be negative.
    pub(crate) deltas_us: Vec<i64>,
    pub(crate) start_us: i64,
    pub(crate) end_us: i64,
}

/// Faults of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Wrong {
    /// A node that is named and is not there, or that nobody calls.
    #[error("node {0} is named and is not in the tree of calls")]
    Node(u32),
    /// Two nodes with one id.
    #[error("there are two nodes {0}")]
    Twice(u32),
    /// A file that lacks times: its last samples would seem to last until the end of the profile.
    #[error("there are {samples} samples and {times} times of samples (`timeDeltas`)")]
    Times {
        /// Samples of the profile.
        samples: usize,
        /// Times of samples.
        times: usize,
    },
}

impl Profile {
    /// Takes one profile in as a track of this name.
    pub(crate) fn add(&mut self, name: String, mut raw: Raw) -> Result<(), Wrong> {
        let (samples, times) = (raw.samples.len(), raw.deltas_us.len());
        if times > 0 && times < samples {
            return Err(Wrong::Times { samples, times });
        }
        let nodes = self.graft(&raw)?;
        let ticks = raw.ticks.iter().map(|ticks| Ok(Ticks { node: nodes.get(ticks.node)?, ..*ticks }));
        let ticks: Vec<Ticks> = ticks.collect::<Result<_, _>>()?;
        self.add_ticks(ticks);
        for sample in &mut raw.samples {
            *sample = nodes.get(*sample)?;
        }
        self.tracks.push(on_a_scale(name, raw));
        Ok(())
    }

    /// Puts the tree of calls into that which is there. Gives the nodes by their ids.
    fn graft(&mut self, raw: &Raw) -> Result<Ids, Wrong> {
        let mut places = Ids::with_capacity(raw.nodes.len());
        for (place, node) in (0_u32..).zip(&raw.nodes) {
            if places.insert(node.id, place) {
                return Err(Wrong::Twice(node.id));
            }
        }
        let mut is_called = vec![false; raw.nodes.len()];
        let mut edges = Vec::with_capacity(raw.edges.len());
        for (caller, called) in &raw.edges {
            let called = places.get(*called)?;
            // A node has one caller. Where a file says otherwise, the first one counts.
            if !std::mem::replace(&mut is_called[called as usize], true) {
                edges.push((places.get(*caller)?, called));
            }
        }
        edges.sort_unstable();
        let mut ids = Ids::with_capacity(raw.nodes.len());
        let mut open = Vec::new();
        for ((place, raw_node), _) in (0_u32..).zip(&raw.nodes).zip(&is_called).filter(|(_, is_called)| !**is_called) {
            let is_root = self.frames()[raw_node.frame as usize].owner == Owner::Root;
            let node = if is_root { ROOT } else { self.child(ROOT, raw_node.frame) };
            ids.insert(raw_node.id, node);
            open.push((place, node));
        }
        while let Some((place, node)) = open.pop() {
            let first = edges.partition_point(|(caller, _)| *caller < place);
            for (_, called) in edges[first..].iter().take_while(|(caller, _)| *caller == place) {
                let raw_node = &raw.nodes[*called as usize];
                let child = self.child(node, raw_node.frame);
                ids.insert(raw_node.id, child);
                open.push((*called, child));
            }
        }
        Ok(ids)
    }
}

/// Nodes by V8's ids, which count from 1 as a rule.
struct Ids {
    dense: Vec<u32>,
    others: HashMap<u32, u32>,
}

impl Ids {
    const NONE: u32 = u32::MAX;

    fn with_capacity(nodes: usize) -> Self {
        Self { dense: vec![Self::NONE; nodes.saturating_mul(2).saturating_add(16)], others: HashMap::new() }
    }

    /// Whether there was one already.
    fn insert(&mut self, id: u32, node: u32) -> bool {
        match self.dense.get_mut(id as usize) {
            Some(place) => std::mem::replace(place, node) != Self::NONE,
            None => self.others.insert(id, node).is_some(),
        }
    }

    fn get(&self, id: u32) -> Result<u32, Wrong> {
        let node = self.dense.get(id as usize).copied().or_else(|| self.others.get(&id).copied());
        node.filter(|node| *node != Self::NONE).ok_or(Wrong::Node(id))
    }
}

/// V8 may take two samples in the wrong order: then a delta is negative, and the samples are put in the order of their times.
fn on_a_scale(name: String, mut raw: Raw) -> Track {
    if raw.deltas_us.is_empty() {
        raw.deltas_us = evenly(&raw);
    }
    raw.deltas_us.truncate(raw.samples.len());
    let mut at_us = raw.deltas_us;
    let mut now_us = raw.start_us;
    let mut is_sorted = true;
    for (at, delta_us) in at_us.iter_mut().enumerate() {
        is_sorted &= at == 0 || *delta_us >= 0;
        now_us = now_us.saturating_add(*delta_us);
        *delta_us = now_us;
    }
    if !is_sorted {
        let mut pairs: Vec<(i64, u32)> = at_us.into_iter().zip(raw.samples).collect();
        pairs.sort_by_key(|(at_us, _)| *at_us);
        (at_us, raw.samples) = pairs.into_iter().unzip();
    }
    let first_us = at_us.first().map_or(0, |first_us| first_us.saturating_sub(raw.start_us));
    let ends = at_us.iter().skip(1).copied().chain([raw.end_us]);
    let spent_us = at_us.iter().zip(ends).map(|(at_us, end_us)| {
        let us = end_us.saturating_sub(*at_us).max(0);
        u32::try_from(us).unwrap_or(u32::MAX)
    });
    let spent_us = spent_us.collect();
    Track { name, first_us: u64::try_from(first_us).unwrap_or(0), samples: raw.samples, spent_us }
}

/// Some tools leave the times out.
fn evenly(raw: &Raw) -> Vec<i64> {
    let count = i64::try_from(raw.samples.len()).unwrap_or(i64::MAX).max(1);
    vec![raw.end_us.saturating_sub(raw.start_us).max(0) / count; raw.samples.len()]
}
