//! The page cache in an upgrade: left to the successor, and taken back if that has failed.

use sluice_catalog::snapshot::Purge;

use super::SuccessorPurger;
use crate::road::Road;

impl Road {
    /// Answers no client from the page cache from now on, because a successor is about to serve. Purges reach it by `purger`.
    pub fn leave_cache_to(&self, purger: SuccessorPurger) {
        self.cache.successor.0.replace(Some(purger));
    }

    /// Uses the page cache again, empty, because the successor has failed: its purges are not known here.
    pub fn take_cache_back(&self) {
        if self.cache.successor.0.take().is_some() {
            drop(self.purge_pages(&Purge::Prefix(String::new()), false, Vec::new()));
        }
    }
}

#[cfg(test)]
#[path = "upgrade_tests.rs"]
mod tests;
