//! Sessions of libraries that the workers' preloads recognise: clients below a path come back by their address, upgrades by the name of
//! a worker in their path. It must not know which libraries these are.

use std::collections::HashMap;

use sluice_scheduler::WorkerId;

/// Most paths at which libraries have clients.
const MOUNTS_MAX: usize = 16;

/// Reports of workers on their libraries.
#[derive(Default)]
pub(crate) struct Libraries {
    mounts: Vec<Box<str>>,
    names: HashMap<Box<str>, WorkerId>,
}

impl Libraries {
    /// Takes a worker's report. Each worker has one name.
    pub(crate) fn keep(&mut self, worker: WorkerId, mount: Option<&str>, name: Option<&str>) {
        let mount = mount.map(|mount| mount.trim_end_matches('/')).filter(|mount| mount.starts_with('/'));
        if let Some(mount) = mount.filter(|_| self.mounts.len() < MOUNTS_MAX)
            && !self.has_mount(mount)
        {
            self.mounts.push(mount.into());
        }
        if let Some(name) = name {
            self.names.retain(|_, of| *of != worker);
            self.names.insert(name.into(), worker);
        }
    }

    /// Removes the name of a worker that has exited.
    pub(crate) fn forget(&mut self, worker: WorkerId) {
        self.names.retain(|_, of| *of != worker);
    }

    /// Whether clients that ask for this path come back by their address.
    pub(crate) fn takes(&self, path: &str) -> bool {
        let below = |mount: &str| path.strip_prefix(mount).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        self.mounts.iter().any(|mount| below(mount))
    }

    /// Worker that an upgrade names in its path.
    pub(crate) fn named_in(&self, path: &str) -> Option<WorkerId> {
        if self.names.is_empty() {
            return None;
        }
        path.split('/').find_map(|segment| self.names.get(segment)).copied()
    }

    fn has_mount(&self, mount: &str) -> bool {
        self.mounts.iter().any(|known| **known == *mount)
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
        assert_eq!(libraries.mounts.len(), 1);
        assert!(libraries.takes("/faye") && libraries.takes("/faye/handshake"));
        assert!(!libraries.takes("/fayes") && !libraries.takes("/") && !libraries.takes("/a/faye"));
    }

    #[test]
    fn i6_mounts_are_bounded() {
        let mut libraries = Libraries::default();
        for at in 0..100 {
            libraries.keep(WorkerId(1), Some(&format!("/{at}")), None);
        }
        assert_eq!(libraries.mounts.len(), MOUNTS_MAX);
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
