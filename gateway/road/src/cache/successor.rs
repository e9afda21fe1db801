//! The page cache while a successor takes over: this gateway answers no client from it, and purges reach the successor.
//!
//! Two gateways serve during an upgrade, each with pages in its own memory. Only one of them uses cached pages, so a purge has to travel one
//! way only. This must not know how the successor is reached.

use std::cell::RefCell;
use std::rc::Rc;

use sluice_catalog::snapshot::Purge;
use tokio::sync::oneshot;

/// Carries a purge out at the successor; the flag says whether pages stay as stale ones. The receiver is done when the purge is in force
/// there, or when the successor is gone.
pub type SuccessorPurger = Rc<dyn Fn(&Purge, bool) -> oneshot::Receiver<()>>;

/// The way to the successor, while there is one.
#[derive(Default)]
pub(crate) struct Successor(pub(super) RefCell<Option<SuccessorPurger>>);

impl Successor {
    /// Whether cached pages are the successor's to use.
    pub(crate) fn is_there(&self) -> bool {
        self.0.borrow().is_some()
    }

    pub(crate) fn purge(&self, purge: &Purge, is_soft: bool) -> Option<oneshot::Receiver<()>> {
        let purger = self.0.borrow().clone()?;
        Some(purger(purge, is_soft))
    }
}
