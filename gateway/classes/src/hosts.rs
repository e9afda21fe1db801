//! Values of `Host` that are sites of their own. Two that both have a real part of the traffic are distinguished; a flood
//! of values, or a probe by address now and then, changes nothing. It must not know paths.

use sluice_sketch::hash;

use super::Newcomers;
use super::tree::NodeId;

/// Maximum number of counted hosts. The rarest without a root make room.
const HOSTS_MAX: usize = 16;
/// Maximum number of distinguished hosts, besides the first.
const TOLD_MAX: usize = 7;
/// A host of its own has at least so many requests since the last look, and this part of all.
const HITS_MIN: u32 = 200;
const PART_MIN: u32 = 16;

#[derive(Debug)]
struct Entry {
    host: Box<str>,
    hits: u32,
    root: Option<NodeId>,
}

#[derive(Debug, Default)]
pub(super) struct Hosts {
    entries: Vec<Entry>,
    newcomers: Newcomers,
    total: u32,
}

impl Hosts {
    /// Counts a request. Returns the root of its host, if the host is distinguished.
    pub(super) fn root(&mut self, host: &str) -> Option<NodeId> {
        self.total = self.total.saturating_add(1);
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.host.eq_ignore_ascii_case(host)) {
            entry.hits = entry.hits.saturating_add(1);
            return entry.root;
        }
        if host.len() > 253 {
            return None;
        }
        let host = host.to_ascii_lowercase();
        let may_go = |entry: &Entry| entry.root.is_none().then_some(entry.hits);
        let hits = self.newcomers.make_room(&mut self.entries, HOSTS_MAX, hash(&host), may_go)?;
        self.entries.push(Entry { host: host.into(), hits, root: None });
        None
    }

    /// The host that a root is for, if hosts are distinguished. The root of a host, if it has one of its own.
    pub(super) fn found(&self, host: &str) -> Option<NodeId> {
        self.entries.iter().find(|entry| entry.host.eq_ignore_ascii_case(host))?.root
    }

    pub(super) fn name(&self, root: NodeId) -> Option<&str> {
        self.entries.iter().find(|entry| entry.root == Some(root)).map(|entry| &*entry.host)
    }

    /// Roots of all hosts that are distinguished.
    pub(super) fn roots(&self) -> impl Iterator<Item = NodeId> {
        self.entries.iter().filter_map(|entry| entry.root)
    }

    /// Gives roots to hosts that have earned one, and returns those of hosts that have gone. The first host keeps the root
    /// that all had before, so that nothing is forgotten when a second one comes.
    pub(super) fn tidy(&mut self, mut add_root: impl FnMut() -> Option<NodeId>) -> Vec<NodeId> {
        let bar = (self.total / PART_MIN).max(HITS_MIN);
        let first = self.entries.iter().filter(|entry| entry.root.is_none()).max_by_key(|entry| entry.hits);
        let first = first.map(|entry| entry.host.clone());
        let mut told = self.entries.iter().filter(|entry| entry.root.is_some()).count();
        for entry in &mut self.entries {
            let is_first = first.as_ref() == Some(&entry.host);
            if entry.root.is_none() && !is_first && entry.hits >= bar && told < TOLD_MAX {
                entry.root = add_root();
                told += 1;
            }
            entry.hits /= 2;
        }
        self.total /= 2;
        self.newcomers.halve();
        let (kept, gone): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.entries).into_iter().partition(|entry| entry.hits > 0);
        self.entries = kept;
        gone.into_iter().filter_map(|entry| entry.root).collect()
    }
}
