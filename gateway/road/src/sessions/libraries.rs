//! Sessions of libraries that the workers' preloads recognise: clients below a path come back by their address, upgrades by the name of
//! a worker in their path. It must not know which libraries these are.

use std::collections::HashMap;

use sluice_scheduler::WorkerId;

/// Maximum number of paths at which the libraries of one worker have clients.
const MOUNTS_MAX: usize = 16;

/// Reports of workers on their libraries.
#[derive(Default)]
pub(crate) struct Libraries {
    /// Paths without the slash at their end; the root is empty.
    mounts: HashMap<WorkerId, Vec<Box<str>>>,
    names: HashMap<Box<str>, WorkerId>,
}

impl Libraries {
    /// Takes a worker's report. Each worker has one name.
    pub(crate) fn keep(&mut self, worker: WorkerId, mount: Option<&str>, name: Option<&str>) {
        if let Some(mount) = mount.filter(|mount| mount.starts_with('/')) {
            let mount = mount.trim_end_matches('/');
            let mounts = self.mounts.entry(worker).or_default();
            if mounts.len() < MOUNTS_MAX && mounts.iter().all(|known| **known != *mount) {
                mounts.push(mount.into());
            }
        }
        if let Some(name) = name {
            self.names.retain(|_, of| *of != worker);
            self.names.insert(name.into(), worker);
        }
    }

    /// Removes the reports of a worker that has exited.
    pub(crate) fn forget(&mut self, worker: WorkerId) {
        self.mounts.remove(&worker);
        self.names.retain(|_, of| *of != worker);
    }

    /// Whether clients that ask for this path come back by their address.
    pub(crate) fn takes(&self, path: &str) -> bool {
        let below = |mount: &str| path.strip_prefix(mount).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        self.mounts.values().flatten().any(|mount| below(mount))
    }

    /// Worker that an upgrade names in its path.
    pub(crate) fn named_in(&self, path: &str) -> Option<WorkerId> {
        if self.names.is_empty() {
            return None;
        }
        path.split('/').find_map(|segment| self.names.get(segment)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_takes_what_is_below_it_and_nothing_that_only_begins_like_it() {
        let mut libraries = Libraries::default();
        assert!(!libraries.takes("/faye"));
        libraries.keep(WorkerId(1), Some("/faye/"), None);
        libraries.keep(WorkerId(2), Some("/faye"), None);
        libraries.keep(WorkerId(2), Some("without-slash"), None);
        assert_eq!(libraries.mounts[&WorkerId(2)].len(), 1);
        assert!(libraries.takes("/faye") && libraries.takes("/faye/handshake"));
        assert!(!libraries.takes("/fayes") && !libraries.takes("/") && !libraries.takes("/a/faye"));
    }

    #[test]
    fn i6_mounts_are_bounded() {
        let mut libraries = Libraries::default();
        for at in 0..100 {
            libraries.keep(WorkerId(1), Some(&format!("/{at}")), None);
        }
        assert_eq!(libraries.mounts[&WorkerId(1)].len(), MOUNTS_MAX);
        libraries.keep(WorkerId(2), Some("/faye"), None);
        assert!(libraries.takes("/faye"), "one worker shuts no other out");
    }

    #[test]
    fn a_mount_is_forgotten_with_the_last_worker_that_has_it_and_the_root_takes_all() {
        let mut libraries = Libraries::default();
        libraries.keep(WorkerId(1), Some("/faye"), None);
        libraries.keep(WorkerId(2), Some("/faye"), None);
        libraries.forget(WorkerId(1));
        assert!(libraries.takes("/faye"));
        libraries.forget(WorkerId(2));
        assert!(!libraries.takes("/faye"));
        libraries.keep(WorkerId(3), Some("/"), None);
        assert!(libraries.takes("/") && libraries.takes("/handshake"));
    }

    #[test]
    fn a_worker_is_found_by_its_latest_name_until_it_exits() {
        let mut libraries = Libraries::default();
        libraries.keep(WorkerId(1), None, Some("old"));
        libraries.keep(WorkerId(1), None, Some("aaaa"));
        libraries.keep(WorkerId(2), None, Some("bbbb"));
        assert_eq!(libraries.named_in("/aaaa/room"), Some(WorkerId(1)));
        assert_eq!(libraries.named_in("/games/bbbb/room"), Some(WorkerId(2)));
        assert_eq!(libraries.named_in("/old/room"), None);
        libraries.forget(WorkerId(1));
        assert_eq!(libraries.named_in("/aaaa/room"), None);
    }
}
