//! A page that leaves a gateway's memory, as its thread gives it away: nothing is copied but the head.

use bytes::Bytes;
use sluice_cache::{Moment, PageRecord, Policy, encode};
use sluice_message::ResponseHead;

/// See the module's text.
#[derive(Clone, Debug)]
pub struct Outgoing {
    /// URL of the page, as [`sluice_cache::key_of`] gives it.
    pub key: String,
    /// Head, without its age.
    pub head: ResponseHead,
    /// Rules for whom it may be used, and until when.
    pub policy: Policy,
    /// The tags that the app gave it.
    pub tags: Vec<Box<str>>,
    /// Body.
    pub body: Bytes,
    /// Present moment by the gateway's clock.
    pub now: Moment,
    /// The same moment by [`crate::clock_ms`].
    pub clock_ms: u64,
}

impl Outgoing {
    /// Bytes that it takes, about.
    pub(crate) fn bytes(&self) -> usize {
        let fields = self.head.fields.iter().map(|(name, value)| name.len() + value.len() + 48).sum::<usize>();
        let tags = self.tags.iter().map(|tag| tag.len() + 16).sum::<usize>();
        self.key.len() + self.body.len() + fields + tags + self.policy.dimensions.bytes() + 512
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let Outgoing { key, head, policy, tags, body, now, clock_ms } = self;
        encode(&PageRecord { key, head, policy, tags, body }, *now, *clock_ms)
    }
}
