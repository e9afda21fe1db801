//! A bounded table of sessions: the keys of clients, and the worker of each. Beyond its bound, the session that was unused for longest is
//! forgotten.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use sluice_scheduler::WorkerId;

/// Maximum number of remembered sessions in each table.
pub(crate) const SESSIONS_MAX: usize = 50_000;

struct Entry<V> {
    worker: WorkerId,
    /// Further data of the session.
    value: V,
    /// Last use of the session, as a count of uses.
    used: u64,
}

pub(crate) struct Table<K, V> {
    entries: HashMap<K, Entry<V>>,
    by_use: BTreeMap<u64, K>,
    uses: u64,
}

impl<K, V> Default for Table<K, V> {
    fn default() -> Self {
        Table { entries: HashMap::new(), by_use: BTreeMap::new(), uses: 0 }
    }
}

impl<K: Clone + Eq + Hash, V> Table<K, V> {
    pub(crate) fn insert(&mut self, key: K, worker: WorkerId, value: V) {
        self.uses += 1;
        let entry = Entry { worker, value, used: self.uses };
        if let Some(before) = self.entries.insert(key.clone(), entry) {
            self.by_use.remove(&before.used);
        }
        self.by_use.insert(self.uses, key);
        if self.entries.len() > SESSIONS_MAX
            && let Some((_, oldest)) = self.by_use.pop_first()
        {
            self.entries.remove(&oldest);
        }
    }

    /// Worker of this key's session, if `fits` accepts it.
    pub(crate) fn find<Q>(&mut self, key: &Q, fits: impl FnOnce(WorkerId, &V) -> bool) -> Option<WorkerId>
    where
        K: std::borrow::Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let entry = self.entries.get_mut(key).filter(|entry| fits(entry.worker, &entry.value))?;
        self.uses += 1;
        if let Some(key) = self.by_use.remove(&entry.used) {
            self.by_use.insert(self.uses, key);
        }
        entry.used = self.uses;
        Some(entry.worker)
    }

    pub(crate) fn contains(&self, key: &K) -> bool {
        self.entries.contains_key(key)
    }

    /// Removes the sessions of a worker.
    pub(crate) fn forget(&mut self, worker: WorkerId) {
        let by_use = &mut self.by_use;
        self.entries.retain(|_, entry| {
            let stays = entry.worker != worker;
            if !stays {
                by_use.remove(&entry.used);
            }
            stays
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i6_sessions_are_bounded_and_used_ones_stay() {
        let mut table = Table::default();
        table.insert("the first".to_owned(), WorkerId(1), ());
        for at in 0..SESSIONS_MAX + 1000 {
            table.insert(at.to_string(), WorkerId(2), ());
            if at % 1000 == 0 {
                assert!(table.find("the first", |_, ()| true).is_some(), "forgotten after {at}");
            }
        }
        assert_eq!((table.entries.len(), table.by_use.len()), (SESSIONS_MAX, SESSIONS_MAX));
        assert_eq!(table.find("0", |_, ()| true), None);
        table.forget(WorkerId(2));
        assert_eq!((table.entries.len(), table.by_use.len()), (1, 1));
        for _ in 0..10 {
            table.insert("the first".to_owned(), WorkerId(3), ());
        }
        assert_eq!((table.entries.len(), table.by_use.len()), (1, 1));
    }
}
