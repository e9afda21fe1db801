//! Tree of calls as the report shows it: what is folded is gone from it.

use std::collections::HashMap;

use crate::owner::Owner;
use crate::profile::{Profile, ROOT};

/// Subject of a line of the report.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Row {
    /// A function, by the index of its frame.
    Function(u32),
    /// All code of an owner while no line of the app is on the stack.
    Whole(Owner),
}

pub(super) struct View {
    pub(super) rows: Vec<Row>,
    /// Parents come before their children. The first one is the empty stack, which has no row.
    pub(super) nodes: Vec<ViewNode>,
    /// The node here for each one of the profile.
    pub(super) of: Vec<u32>,
    /// The outermost node of the profile that each one of it is below.
    pub(super) entries: Vec<u32>,
    row_indexes: HashMap<Row, u32>,
    node_indexes: HashMap<ViewNode, u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ViewNode {
    pub(super) parent: u32,
    pub(super) row: u32,
}

/// The row of the empty stack.
const NO_ROW: u32 = u32::MAX;

impl View {
    pub(super) fn of(profile: &Profile, folds: bool) -> Self {
        let mut view = Self {
            rows: Vec::new(),
            nodes: vec![ViewNode { parent: ROOT, row: NO_ROW }],
            of: vec![ROOT],
            entries: vec![ROOT],
            row_indexes: HashMap::new(),
            node_indexes: HashMap::new(),
        };
        for (at, node) in (0_u32..).zip(profile.nodes()).skip(1) {
            let caller = view.of[node.parent as usize];
            let owner = &profile.frame(at).owner;
            let row = Row::Function(node.frame);
            let place = match owner {
                Owner::Root | Owner::Idle => ROOT,
                _ if !folds => view.child(caller, row),
                Owner::App if view.is_of_the_app(caller) => view.child(caller, row),
                Owner::App | Owner::Collector | Owner::Program => view.child(ROOT, row),
                // Native code that no line of the app called is that of whoever called it.
                Owner::Native | Owner::Kernel if caller != ROOT => caller,
                _ if view.is_of_the_app(caller) => caller,
                _ => view.child(ROOT, Row::Whole(owner.clone())),
            };
            view.of.push(place);
            view.entries.push(if node.parent == ROOT { at } else { view.entries[node.parent as usize] });
        }
        view
    }

    /// Whether a line of the app is on this stack. Only meant where the rest is folded.
    fn is_of_the_app(&self, node: u32) -> bool {
        self.rows.get(self.nodes[node as usize].row as usize).is_some_and(|row| matches!(row, Row::Function(_)))
    }

    fn child(&mut self, parent: u32, row: Row) -> u32 {
        let next = self.rows.len();
        let row = *self.row_indexes.entry(row).or_insert_with_key(|row| {
            self.rows.push(row.clone());
            u32::try_from(next).unwrap_or(NO_ROW)
        });
        let node = ViewNode { parent, row };
        let next = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        *self.node_indexes.entry(node).or_insert_with(|| {
            self.nodes.push(node);
            next
        })
    }
}
