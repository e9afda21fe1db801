//! Rules for using a stored response: for whom, and until when.

use sluice_message::Fields;

use crate::directives::Directives;
use crate::freshness::{Moment, Stamp};
use crate::vary::Dimensions;

/// Maximum time for which the cache uses an error that may be caused by a request, seconds.
const ERROR_S_MAX: u64 = 10;

/// Policy for the use of a stored response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Request fields and cookies that it depends on.
    pub dimensions: Dimensions,
    pub(crate) lifetime_s: u64,
    pub(crate) stamp: Stamp,
    pub(crate) while_revalidate_s: u64,
    pub(crate) if_error_s: Option<u64>,
    /// True if a stale response is only used to ask whether it is still right.
    pub(crate) never_stale: bool,
    /// True if only its own words extend its use beyond freshness.
    pub(crate) only_as_told: bool,
    /// True if the body must not be changed.
    pub no_transform: bool,
}

/// Time for which stale answers may be used if the answer itself does not say, seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StaleLimits {
    /// Time for which it may be used if fetching a new one fails, or the queue has no room.
    pub if_error_s: u64,
}

/// Whether a stored response may be used now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reuse {
    /// Fresh, for so many seconds more.
    Fresh(u64),
    /// Stale for so many seconds, and used while a new one is fetched.
    WhileRevalidating(u64),
    /// Stale for so many seconds, and used only if none can be fetched.
    IfError(u64),
    /// No more.
    Never,
}

impl Policy {
    pub(crate) fn new(told: &Directives, dimensions: Dimensions, lifetime_s: u64, stamp: Stamp) -> Self {
        Policy {
            dimensions,
            lifetime_s,
            stamp,
            while_revalidate_s: told.stale_while_revalidate.unwrap_or(0),
            if_error_s: told.stale_if_error,
            never_stale: told.must_revalidate || told.proxy_revalidate,
            // RFC 9111 §5.2.2.10. Who sends it with stale-* does not mean that (RFC 5861).
            only_as_told: told.s_maxage.is_some(),
            no_transform: told.no_transform,
        }
    }

    /// The same for a few seconds from now on at most, and never stale.
    pub(crate) fn for_a_moment(self, now: Moment) -> Self {
        let lifetime_s = self.lifetime_s.min(self.age_s(now).saturating_add(ERROR_S_MAX));
        Policy { lifetime_s, never_stale: true, ..self }
    }

    /// Age, seconds.
    pub fn age_s(&self, now: Moment) -> u64 {
        self.stamp.age_s(now)
    }

    /// Age, milliseconds.
    pub fn age_ms(&self, now: Moment) -> u64 {
        self.stamp.age_ms(now)
    }

    /// Freshness at its arrival, seconds.
    pub fn lifetime_s(&self) -> u64 {
        self.lifetime_s
    }

    fn if_error_s(&self, limits: StaleLimits) -> u64 {
        self.if_error_s.unwrap_or(if self.only_as_told { 0 } else { limits.if_error_s })
    }

    pub(crate) fn may_be_stale_while_revalidated(&self, now: Moment) -> bool {
        matches!(self.reuse(now, StaleLimits::default()), Reuse::WhileRevalidating(_))
    }

    /// Whether it may be used. A moment before it came, as after a clock was set, is the moment when it came.
    pub fn reuse(&self, now: Moment, limits: StaleLimits) -> Reuse {
        let age_s = self.age_s(now);
        if age_s < self.lifetime_s {
            return Reuse::Fresh(self.lifetime_s - age_s);
        }
        let stale_s = age_s - self.lifetime_s;
        if self.never_stale {
            return Reuse::Never;
        }
        if stale_s < self.while_revalidate_s {
            return Reuse::WhileRevalidating(stale_s);
        }
        if stale_s < self.if_error_s(limits) {
            return Reuse::IfError(stale_s);
        }
        Reuse::Never
    }

    /// Makes it stale as of now, so that it is used at most while a new one is fetched or where none can be.
    pub fn expire(&mut self, now: Moment) {
        self.lifetime_s = self.lifetime_s.min(self.age_s(now));
    }

    /// The same as of some time ago, milliseconds.
    pub fn expire_ago(&mut self, ago_ms: u64, now: Moment) {
        self.lifetime_s = self.lifetime_s.min(self.age_ms(now).saturating_sub(ago_ms) / 1000);
    }

    /// Largest number of seconds from now for which it is useful.
    pub fn useful_s(&self, now: Moment, limits: StaleLimits) -> u64 {
        let stale_s = if self.never_stale { 0 } else { self.while_revalidate_s.max(self.if_error_s(limits)) };
        self.lifetime_s.saturating_add(stale_s).saturating_sub(self.age_s(now))
    }

    /// Whether it is for this request.
    pub fn is_for(&self, request: &Fields) -> bool {
        self.dimensions.match_request(request)
    }
}
