//! The words between the thread that serves requests and the thread of the tier.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use sluice_cache::{Moment, Page, Policy};
use sluice_catalog::snapshot::Purge;
use sluice_message::{Fields, ResponseHead};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::Instant;

use crate::address::Address;
use crate::allowance::Allowance;
use crate::counts::Counts;
use crate::log::Position;
use crate::outbox::Outbox;

/// Maximum delay of the runtime's timers. They count whole milliseconds, twice.
const TIMER_LATE_MAX: Duration = Duration::from_millis(2);

/// Address and bounds of the tier.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The server.
    pub address: Address,
    /// Prefix of each name in it. Gateways with the same prefix share their pages and purges.
    pub prefix: String,
    /// Time for which a request may wait for it.
    pub time_max: Duration,
    /// A larger page is not written, nor read.
    pub page_bytes_max: usize,
}

/// Answer of the tier to a request.
#[derive(Debug)]
pub enum Answer {
    /// A page, and up to where purges are known.
    Page(Box<Page>, Option<Position>),
    /// None. With a position the page that is rendered now may be stored there.
    Nothing(Option<Position>),
    /// Tier that was not asked, or did not answer in time.
    Away,
}

/// News for the thread that serves.
#[derive(Debug, PartialEq, Eq)]
pub enum TierEvent {
    /// The tier is in use.
    Up,
    /// Loss of the server, with the reason.
    Down(String),
    /// Refusal of pages, with the server's words, or its end.
    Refuses(Option<String>),
    /// Another gateway has purged this; softly, where the second is true.
    Purge(Purge, bool),
    /// Purges may have been missed: whatever is in memory may be older than one of them.
    Lost,
}

/// A page that is to be stored.
#[derive(Debug)]
pub struct ToStore {
    /// URL.
    pub url: String,
    /// Head.
    pub head: ResponseHead,
    /// Rules for whom it may be used, and until when.
    pub policy: Policy,
    /// Tags.
    pub tags: Vec<Box<str>>,
    /// Body.
    pub body: Bytes,
    /// Time for which it is useful, seconds.
    pub useful_s: u64,
    /// Purges that were known when its render was asked for.
    pub position: Position,
    /// Present moment.
    pub now: Moment,
}

/// A look-up on its way to the other thread.
pub(crate) struct Wish {
    pub(crate) url: String,
    pub(crate) request: Fields,
    pub(crate) now: Moment,
    pub(crate) answer: oneshot::Sender<Option<Answer>>,
}

/// Allowances that are to be charged, on their way to the other thread.
pub(crate) struct ChargeWish {
    pub(crate) allowances: Vec<Allowance>,
    pub(crate) answer: oneshot::Sender<Option<u64>>,
}

/// A page on its way to the other thread.
pub(crate) struct Write {
    pub(crate) page: Box<ToStore>,
    pub(crate) at: Instant,
    /// Ignored once this is dropped.
    pub(crate) _room: Room,
}

/// Room in the queue of writes.
pub(crate) struct Room(pub(crate) Arc<AtomicUsize>, pub(crate) usize);

impl Drop for Room {
    fn drop(&mut self) {
        self.0.fetch_sub(self.1, Ordering::Relaxed);
    }
}

/// Longest time of a look-up. Both threads read it.
#[derive(Debug, Default)]
pub(crate) struct TimeMax(AtomicU64);

impl TimeMax {
    pub(crate) fn get(&self) -> Duration {
        Duration::from_micros(self.0.load(Ordering::Relaxed))
    }

    /// Time for a timer that is to have gone off by then.
    pub(crate) fn for_timer(&self) -> Duration {
        let time_max = self.get();
        time_max.saturating_sub(TIMER_LATE_MAX.min(time_max / 2))
    }

    pub(crate) fn set(&self, time_max: Duration) {
        self.0.store(u64::try_from(time_max.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

/// Channels that connect the thread of the tier to the one that serves.
pub(crate) struct Ends {
    pub(crate) time_max: Arc<TimeMax>,
    pub(crate) wishes: mpsc::Receiver<Wish>,
    pub(crate) charges: mpsc::Receiver<ChargeWish>,
    pub(crate) writes: mpsc::Receiver<Write>,
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) probe: Arc<Notify>,
    pub(crate) heard: mpsc::Sender<TierEvent>,
    pub(crate) counts: Arc<Counts>,
    /// Start of this gateway.
    pub(crate) started: Instant,
}
