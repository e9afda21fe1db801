//! Kept pages that fronts answer with by themselves. A grant is a copy of the page for one front, and of use for as long as the page stays in
//! the memory as it is: a purge, a new version or an eviction ends it at that moment, on every thread.

use bytes::Bytes;
use sluice_cache::{Moment, Policy, Reuse, StaleLimits};
use sluice_message::{Fields, ResponseHead};
use tokio::time::Instant;

use super::store::{Live, Object};
use crate::respond::compress::Forms;

pub(crate) struct Grant {
    pub(crate) key: Box<str>,
    /// Without `Age`, and without what is between app and gateway.
    pub(crate) head: ResponseHead,
    pub(crate) data: Bytes,
    pub(crate) forms: Forms,
    pub(crate) policy: Policy,
    live: Live,
    /// When the clock of [`Moment`] began.
    epoch: Instant,
}

impl Grant {
    /// `head`: that of the object, without what is between app and gateway.
    pub(super) fn new(key: &str, head: ResponseHead, object: &Object, live: Live, epoch: Instant) -> Self {
        Grant {
            key: key.into(),
            head,
            data: object.body.data().clone(),
            forms: object.body.forms(),
            policy: object.policy.borrow().clone(),
            live,
            epoch,
        }
    }

    /// Now, by both clocks.
    pub(crate) fn moment(&self) -> Moment {
        moment(self.epoch)
    }

    /// Whether the page is to be answered with at all.
    pub(crate) fn is_live(&self) -> bool {
        self.live.is()
    }

    /// Whether it is the answer to a request with these fields now.
    pub(crate) fn answers(&self, fields: &Fields, now: Moment) -> bool {
        self.is_live()
            && matches!(self.policy.reuse(now, StaleLimits::default()), Reuse::Fresh(_))
            && self.policy.is_for(fields)
    }
}

/// Now, by the wall clock and one that began at `epoch`.
pub(super) fn moment(epoch: Instant) -> Moment {
    let wall = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Moment { wall_s: wall.as_secs(), steady_ms: u64::try_from(epoch.elapsed().as_millis()).unwrap_or(u64::MAX) }
}
