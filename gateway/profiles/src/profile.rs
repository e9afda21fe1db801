//! The model: one tree of call stacks, and a track of samples for each thread that was watched.
//!
//! Profiles that are read into the same [`Profile`] share the tree, so that a function has one frame and a stack one node in all threads;
//! the tracks stay apart. Samples are in columns of eight bytes each, as a profile may have millions.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::owner::Owner;

/// The node of the stack that is empty.
pub const ROOT: u32 = 0;

/// A function, and where it begins.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// Name in V8; empty for an anonymous one.
    pub function: String,
    /// The script as V8 names it, or the file that a source map names.
    pub url: String,
    /// Line, from 1; 0 for native code.
    pub line: u32,
    /// Column, from 1; 0 for native code.
    pub column: u32,
    /// Owner of the code.
    pub owner: Owner,
}

impl Frame {
    /// A frame of V8; line and column from 1, or 0 for native code.
    pub fn new(function: String, url: String, line: u32, column: u32) -> Self {
        let owner = Owner::of(&function, &url, line);
        Self { function, url, line, column, owner }
    }
}

/// A call stack: a frame, and the stack that called it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// Index of the caller's node, which is smaller than the node's own; [`ROOT`] is its own parent.
    pub parent: u32,
    /// Index into [`Profile::frames`].
    pub frame: u32,
}

/// Counts of samples whose innermost function was a node's, by line of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticks {
    /// The node.
    pub node: u32,
    /// The line of the same script, from 1.
    pub line: u32,
    /// Number of samples.
    pub count: u32,
}

/// Samples of one thread, in the order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Track {
    /// The file or the worker that it is of.
    pub name: String,
    /// Time from the beginning of the profile to the first sample, microseconds.
    pub first_us: u64,
    /// The node on top of the stack, for each sample.
    pub samples: Vec<u32>,
    /// Microseconds from each sample to the next one, or to the end of the profile.
    pub spent_us: Vec<u32>,
}

impl Track {
    /// Samples, each with the time at which it was taken, in microseconds since the beginning, and the time until the next.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u64, u32)> {
        let mut at_us = self.first_us;
        self.samples.iter().zip(&self.spent_us).map(move |(node, spent_us)| {
            let sampled_us = at_us;
            at_us = at_us.saturating_add(u64::from(*spent_us));
            (*node, sampled_us, *spent_us)
        })
    }

    /// Microseconds from the first sample to the end.
    pub fn duration_us(&self) -> u64 {
        self.spent_us.iter().map(|us| u64::from(*us)).sum()
    }

    /// The median time between two samples, microseconds.
    pub fn interval_us(&self) -> u32 {
        // A sample of samples says as much as all of them.
        let step = self.spent_us.len() / 100_000 + 1;
        let mut spent_us: Vec<u32> = self.spent_us.iter().step_by(step).copied().collect();
        let middle = spent_us.len() / 2;
        if spent_us.is_empty() { 0 } else { *spent_us.select_nth_unstable(middle).1 }
    }
}

/// Any number of CPU profiles over one tree.
#[derive(Clone, Debug)]
pub struct Profile {
    frames: Vec<Frame>,
    nodes: Vec<Node>,
    ticks: Vec<Ticks>,
    /// One for each thread that was watched.
    pub tracks: Vec<Track>,
    frame_indexes: HashMap<Frame, u32>,
    node_indexes: HashMap<Node, u32>,
}

impl Default for Profile {
    fn default() -> Self {
        let mut profile = Self {
            frames: Vec::new(),
            nodes: Vec::new(),
            ticks: Vec::new(),
            tracks: Vec::new(),
            frame_indexes: HashMap::new(),
            node_indexes: HashMap::new(),
        };
        let frame = profile.intern(Frame::new("(root)".to_owned(), String::new(), 0, 0));
        profile.nodes.push(Node { parent: ROOT, frame });
        profile
    }
}

impl Profile {
    /// Functions, each once.
    pub fn frames(&self) -> &[Frame] {
        &self.frames
    }

    /// Call stacks, each once; callers come before those whom they call.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Lines that were hit, at most one entry for a node and a line, in their order.
    pub fn ticks(&self) -> &[Ticks] {
        &self.ticks
    }

    /// The innermost frame of a stack.
    pub fn frame(&self, node: u32) -> &Frame {
        &self.frames[self.nodes[node as usize].frame as usize]
    }

    /// Microseconds in which each node was on top of the stack, in all tracks together.
    pub fn self_us(&self) -> Vec<u64> {
        let mut self_us = vec![0_u64; self.nodes.len()];
        for track in &self.tracks {
            for (node, spent_us) in track.samples.iter().zip(&track.spent_us) {
                self_us[*node as usize] += u64::from(*spent_us);
            }
        }
        self_us
    }

    /// Gives each frame this owner.
    pub(crate) fn change_owners(&mut self, owner_of: impl Fn(&Frame) -> Owner) {
        for frame in &mut self.frames {
            frame.owner = owner_of(frame);
        }
        self.frame_indexes = self.frames.iter().cloned().zip(0..).collect();
    }

    /// The index of this frame, which is new or was there before.
    pub(crate) fn intern(&mut self, frame: Frame) -> u32 {
        let next = index(self.frames.len());
        match self.frame_indexes.entry(frame) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(vacant) => {
                self.frames.push(vacant.key().clone());
                *vacant.insert(next)
            }
        }
    }

    /// The node of `frame` called from `parent`, which is new or was there before.
    pub(crate) fn child(&mut self, parent: u32, frame: u32) -> u32 {
        let node = Node { parent, frame };
        let next = index(self.nodes.len());
        *self.node_indexes.entry(node).or_insert_with(|| {
            self.nodes.push(node);
            next
        })
    }

    /// Adds counts of lines to those that are there.
    pub(crate) fn add_ticks(&mut self, ticks: impl IntoIterator<Item = Ticks>) {
        self.ticks.extend(ticks);
        self.ticks.sort_unstable();
        self.ticks.dedup_by(|next, kept| {
            let is_same = (next.node, next.line) == (kept.node, kept.line);
            if is_same {
                kept.count = kept.count.saturating_add(next.count);
            }
            is_same
        });
    }
}

fn index(length: usize) -> u32 {
    u32::try_from(length).expect("readers take far fewer nodes than 2^32")
}
