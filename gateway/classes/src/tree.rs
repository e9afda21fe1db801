//! Tree of paths of bounded size. A segment that looks like an id becomes a parameter, and so does a place where too many
//! different segments come. A scanner's flood of paths then folds into one class instead of filling the table. Paths that
//! were asked for often before keep their own places. It must not know requests beyond their path.

use sluice_scheduler::ClassId;
use sluice_sketch::hash;

use super::Newcomers;
use super::segment::{SEGMENTS_MAX, TemplateSegment, looks_like_an_id, segments, told};

/// Maximum number of distinguished segments at one position of a path.
const CHILDREN_MAX: usize = 24;
/// Maximum number of additional segments at one position that the app's router has named. Where there are more than
/// half of it, those without requests leave: what stands before a router that is mounted below a parameter is made up
/// by clients.
const NAMED_MAX: usize = 128;
/// Maximum number of nodes in the tree of paths.
const NODES_MAX: usize = 4_096;
/// Requests that found no room in a place before the place may fold.
const OVERFLOW_MIN: u32 = 64;
/// A segment that came so often keeps its place when the others fold, or gets one where they have.
const KEPT_HITS: u32 = 32;
/// The part of a folded place's requests, as its inverse, that a segment has to have for that.
const NEWCOMER_PART: u32 = 64;
/// Maximum number of methods with their own class per path.
const METHODS_MAX: usize = 8;

/// A place in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NodeId(u32);

#[derive(Debug)]
struct Child {
    segment: Box<str>,
    node: NodeId,
    /// Requests of late; halved now and then.
    hits: u32,
    /// The app's router has a route of this name here.
    is_named: bool,
}

#[derive(Debug, Default)]
struct Node {
    parent: Option<(NodeId, Box<str>)>,
    children: Vec<Child>,
    parameter: Option<NodeId>,
    /// Place of everything deeper than the tree.
    rest: Option<NodeId>,
    /// Requests of late that became a parameter for want of room.
    overflow: u32,
    /// The app's router has a parameter here.
    is_told: bool,
    /// True if too many different segments came.
    is_folded: bool,
    /// Segments that came since it became a parameter.
    newcomers: Newcomers,
    classes: Vec<(u8, ClassId)>,
}

#[derive(Debug, Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    free: Vec<NodeId>,
    /// Classes whose places have gone.
    dropped: Vec<ClassId>,
}

impl Tree {
    pub(super) fn add_root(&mut self) -> Option<NodeId> {
        self.add_node(None)
    }

    /// The place of a path. `None` where there is no room for it.
    pub(super) fn walk(&mut self, root: NodeId, path: &str) -> Option<NodeId> {
        let mut at = root;
        for (depth, segment) in segments(path).enumerate() {
            if depth == SEGMENTS_MAX {
                return self.rest(at);
            }
            at = self.step(at, segment)?;
        }
        Some(at)
    }

    /// The place of a path, if there is one.
    pub(super) fn find(&self, root: NodeId, path: &str) -> Option<NodeId> {
        let mut at = root;
        for (depth, segment) in segments(path).enumerate() {
            let node = self.node(at);
            if depth == SEGMENTS_MAX {
                return node.rest;
            }
            let child = node.children.iter().find(|child| &*child.segment == segment);
            at = child.map(|child| child.node).or(node.parameter)?;
        }
        Some(at)
    }

    fn step(&mut self, at: NodeId, segment: &str) -> Option<NodeId> {
        let node = self.node_mut(at);
        if let Some(child) = node.children.iter_mut().find(|child| &*child.segment == segment) {
            child.hits = child.hits.saturating_add(1);
            return Some(child.node);
        }
        if looks_like_an_id(segment) || node.is_told {
            return self.parameter(at);
        }
        if !node.is_folded && node.unnamed() < CHILDREN_MAX {
            return self.add_child(at, segment, false);
        }
        node.overflow = node.overflow.saturating_add(1);
        if node.is_folded {
            if let Some(hits) = node.has_earned_a_place(segment)
                && let Some(child) = self.add_child(at, segment, false)
            {
                self.node_mut(at).children.last_mut().expect("it was added").hits = hits;
                return Some(child);
            }
        } else if node.overflow >= OVERFLOW_MIN && node.overflow >= node.hits() / 2 {
            self.node_mut(at).is_folded = true;
            self.drop_weak(at);
        }
        self.parameter(at)
    }

    /// The app's router has this template. What stands behind a wildcard is ignored, as an app whose routing is done elsewhere
    /// has one route for everything.
    pub(super) fn tell(&mut self, root: NodeId, template: &str) {
        let mut at = root;
        for segment in segments(template).take(SEGMENTS_MAX) {
            let next = match told(segment) {
                TemplateSegment::Rest => return,
                // A part of the path that an id stands in, as of a router that is mounted below one.
                TemplateSegment::Name(name) if looks_like_an_id(name) => self.parameter(at),
                TemplateSegment::Name(name) => self.named(at, name),
                TemplateSegment::Parameter => {
                    if !self.node(at).is_told {
                        self.node_mut(at).is_told = true;
                        self.drop_where(at, |child| !child.is_named);
                    }
                    self.parameter(at)
                }
            };
            let Some(next) = next else { return };
            at = next;
        }
    }

    fn named(&mut self, at: NodeId, name: &str) -> Option<NodeId> {
        let node = self.node_mut(at);
        let has_room = node.named() < NAMED_MAX;
        if let Some(child) = node.children.iter_mut().find(|child| &*child.segment == name) {
            child.is_named |= has_room;
            return Some(child.node);
        }
        if has_room { self.add_child(at, name, true) } else { None }
    }

    /// Halves all counts, drops what has become rare where room is short (`is_crowded`: everywhere), and unfolds places
    /// where few different segments come now.
    pub(super) fn tidy(&mut self, is_crowded: bool) {
        for at in (0..self.nodes.len()).filter_map(|at| u32::try_from(at).ok()).map(NodeId) {
            let node = self.node_mut(at);
            node.children.iter_mut().for_each(|child| child.hits /= 2);
            node.overflow /= 2;
            node.newcomers.halve();
            if node.is_folded && node.overflow < node.hits() / 8 {
                node.is_folded = false;
                node.newcomers = Newcomers::default();
            }
            let unnamed_go = is_crowded || node.unnamed() >= CHILDREN_MAX;
            let named_go = is_crowded || node.named() > NAMED_MAX / 2;
            if node.is_folded {
                self.drop_weak(at);
            }
            if unnamed_go || named_go {
                self.drop_where(at, |child| child.hits == 0 && if child.is_named { named_go } else { unnamed_go });
            }
        }
    }

    fn drop_weak(&mut self, at: NodeId) {
        let sixteenth = (self.node(at).hits() + self.node(at).overflow) / 16;
        self.drop_where(at, |child| !child.is_named && child.hits < KEPT_HITS && child.hits <= sixteenth);
    }

    fn drop_where(&mut self, at: NodeId, goes: impl Fn(&Child) -> bool) {
        let children = std::mem::take(&mut self.node_mut(at).children);
        let (gone, kept): (Vec<_>, Vec<_>) = children.into_iter().partition(goes);
        self.node_mut(at).children = kept;
        for child in gone {
            self.drop_node(child.node);
        }
    }

    /// The place and all below it.
    pub(super) fn drop_node(&mut self, at: NodeId) {
        let mut going = vec![at];
        while let Some(at) = going.pop() {
            let node = std::mem::take(self.node_mut(at));
            going.extend(node.children.iter().map(|child| child.node));
            going.extend(node.parameter.into_iter().chain(node.rest));
            self.dropped.extend(node.classes.iter().map(|(_, class)| *class));
            self.free.push(at);
        }
    }

    /// Classes whose places have gone since the last time.
    pub(super) fn take_dropped(&mut self) -> Vec<ClassId> {
        std::mem::take(&mut self.dropped)
    }

    pub(super) fn has_dropped(&self) -> bool {
        !self.dropped.is_empty()
    }

    pub(super) fn is_crowded(&self) -> bool {
        self.nodes.len() - self.free.len() > NODES_MAX / 4 * 3
    }

    pub(super) fn class(&self, at: NodeId, method: u8) -> Option<ClassId> {
        self.node(at).classes.iter().find(|(of, _)| *of == method).map(|(_, class)| *class)
    }

    pub(super) fn set_class(&mut self, at: NodeId, method: u8, class: ClassId) {
        let classes = &mut self.node_mut(at).classes;
        debug_assert!(classes.len() < METHODS_MAX, "methods are few");
        classes.push((method, class));
    }

    pub(super) fn unset_class(&mut self, at: NodeId, class: ClassId) {
        self.node_mut(at).classes.retain(|(_, held)| *held != class);
    }

    /// The path of a place, parameters as `:id`.
    pub(super) fn pattern(&self, at: NodeId) -> String {
        let mut labels = Vec::new();
        let mut at = at;
        while let Some((parent, label)) = &self.node(at).parent {
            labels.push(&**label);
            at = *parent;
        }
        labels.iter().rev().fold(String::new(), |path, label| path + "/" + label)
    }

    /// Places below this root where anything is a parameter.
    pub(super) fn folds(&self, root: NodeId) -> Vec<String> {
        let (mut folds, mut waiting) = (Vec::new(), vec![root]);
        while let Some(at) = waiting.pop() {
            let node = self.node(at);
            if node.is_folded || node.is_told {
                folds.push(self.pattern(at));
            }
            waiting.extend(node.children.iter().map(|child| child.node).chain(node.parameter));
        }
        folds
    }

    /// The place of this pattern was folded in an earlier run. The way to it leaves like any other that nobody takes: a
    /// scanner may have made it.
    pub(super) fn fold_at(&mut self, root: NodeId, pattern: &str) {
        let mut at = root;
        for segment in segments(pattern).take(SEGMENTS_MAX) {
            let known = self.node(at).children.iter().find(|child| &*child.segment == segment).map(|child| child.node);
            let next = match known {
                Some(child) => Some(child),
                None if segment == ":id" => self.parameter(at),
                None if self.node(at).unnamed() < CHILDREN_MAX => self.add_child(at, segment, false),
                None => None,
            };
            let Some(next) = next else { return };
            at = next;
        }
        self.node_mut(at).is_folded = true;
    }

    fn parameter(&mut self, at: NodeId) -> Option<NodeId> {
        if self.node(at).parameter.is_none() {
            self.node_mut(at).parameter = self.add_node(Some((at, ":id".into())));
        }
        self.node(at).parameter
    }

    fn rest(&mut self, at: NodeId) -> Option<NodeId> {
        if self.node(at).rest.is_none() {
            self.node_mut(at).rest = self.add_node(Some((at, "…".into())));
        }
        self.node(at).rest
    }

    fn add_child(&mut self, at: NodeId, segment: &str, is_named: bool) -> Option<NodeId> {
        let node = self.add_node(Some((at, segment.into())))?;
        self.node_mut(at).children.push(Child { segment: segment.into(), node, hits: 1, is_named });
        Some(node)
    }

    fn add_node(&mut self, parent: Option<(NodeId, Box<str>)>) -> Option<NodeId> {
        let fresh = Node { parent, ..Node::default() };
        if let Some(at) = self.free.pop() {
            *self.node_mut(at) = fresh;
            return Some(at);
        }
        if self.nodes.len() >= NODES_MAX {
            return None;
        }
        self.nodes.push(fresh);
        u32::try_from(self.nodes.len() - 1).ok().map(NodeId)
    }

    fn node(&self, at: NodeId) -> &Node {
        &self.nodes[at.0 as usize]
    }

    fn node_mut(&mut self, at: NodeId) -> &mut Node {
        &mut self.nodes[at.0 as usize]
    }
}

impl Node {
    fn named(&self) -> usize {
        self.children.iter().filter(|child| child.is_named).count()
    }

    fn unnamed(&self) -> usize {
        self.children.len() - self.named()
    }

    fn hits(&self) -> u32 {
        self.children.iter().map(|child| child.hits).fold(0, u32::saturating_add)
    }

    /// Counts a segment where others have folded: its requests, once they are enough for a place.
    fn has_earned_a_place(&mut self, segment: &str) -> Option<u32> {
        let hash = hash(segment);
        let hits = self.newcomers.count(hash);
        if hits < KEPT_HITS
            || self.unnamed() >= CHILDREN_MAX
            || hits < self.hits().saturating_add(self.overflow) / NEWCOMER_PART
        {
            return None;
        }
        self.newcomers.forget(hash);
        self.overflow = self.overflow.saturating_sub(hits);
        Some(hits)
    }
}
