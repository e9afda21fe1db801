//! Pages on disk, for later gateways and for pages that memory has evicted: lookups, writes, and reports to the operator. The use of the
//! disk itself is in `sluice_pages`.

use std::cell::OnceCell;

use sluice_cache::{Moment, Page, StaleLimits};
use sluice_catalog::snapshot::Purge;
use sluice_message::Fields;
use sluice_pages::disk::Disk;
use sluice_pages::{Outgoing, clock_ms};
use tokio::sync::oneshot;

use super::store::Object;

/// Least useful time of a page that is written, seconds. A page with less would hardly be found again.
const USEFUL_S_MIN: u64 = 10;

/// The disk, if the config names a directory.
#[derive(Default)]
pub(crate) struct DiskTier(pub(super) OnceCell<Disk>);

impl DiskTier {
    /// Page for this key and a request with these fields.
    pub(crate) async fn look_up(&self, key: &str, request: &Fields) -> Option<Page> {
        self.0.get()?.look_up(key, request).await
    }

    /// Writes a page that was stored in memory. A page that is not written still removes an older one from disk.
    pub(crate) fn kept(&self, now: Moment, limits: StaleLimits, key: &str, object: &Object) {
        let Some(disk) = self.0.get() else { return };
        let useful_s = object.policy.borrow().useful_s(now, limits);
        if useful_s < USEFUL_S_MIN || !disk.store(outgoing(now, key, object)) {
            drop(disk.purge(&Purge::Url(key.to_owned()), false));
        }
    }

    /// Purges the disk too. The receiver is done when no later gateway finds an affected page.
    pub(crate) fn purge(&self, purge: &Purge, is_soft: bool) -> Option<oneshot::Receiver<()>> {
        Some(self.0.get()?.purge(purge, is_soft))
    }
}

fn outgoing(now: Moment, key: &str, object: &Object) -> Outgoing {
    Outgoing {
        key: key.to_owned(),
        head: object.head.clone(),
        policy: object.policy.borrow().clone(),
        tags: object.tags.clone(),
        body: object.body.data().clone(),
        now,
        clock_ms: clock_ms(),
    }
}
