//! The tier as the thread that serves requests sees it: nothing here waits for the server but [`Tier::look_up`], and that for its
//! time limit alone.

use std::cell::RefCell;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use sluice_cache::{Moment, Page, Policy};
use sluice_catalog::snapshot::Purge;
use sluice_message::{Fields, ResponseHead};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::{Instant, timeout_at};

use crate::address::Address;
use crate::breaker::Breaker;
use crate::counts::Counts;
use crate::log::Position;
use crate::outbox::Outbox;
use crate::thread::{self, Ends};

/// Look-ups under way at once; further ones are left out.
const LOOK_UPS_MAX: usize = 256;
/// Pages that wait to be written; further ones are dropped.
const WRITES_MAX: usize = 256;
/// Bytes of their bodies together.
const WRITES_BYTES_MAX: usize = 32 * 1024 * 1024;
/// News that this gateway has not been told yet.
const HEARD_MAX: usize = 1_024;

/// Largest delay of the runtime's timers: they count whole milliseconds, twice.
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

/// A page on its way to the other thread.
pub(crate) struct Write {
    pub(crate) page: Box<ToStore>,
    pub(crate) at: Instant,
    /// Counts for nothing once this is dropped.
    pub(crate) _room: Room,
}

/// Room in the queue of writes.
pub(crate) struct Room(Arc<AtomicUsize>, usize);

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
    fn for_timer(&self) -> Duration {
        let time_max = self.get();
        time_max.saturating_sub(TIMER_LATE_MAX.min(time_max / 2))
    }

    fn set(&self, time_max: Duration) {
        self.0.store(u64::try_from(time_max.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

/// The second tier.
pub struct Tier {
    address: String,
    time_max: Arc<TimeMax>,
    page_bytes_max: usize,
    breaker: RefCell<Breaker>,
    wishes: mpsc::Sender<Wish>,
    writes: mpsc::Sender<Write>,
    written_bytes: Arc<AtomicUsize>,
    outbox: Arc<Outbox>,
    probe: Arc<Notify>,
    /// Weak sender, so that the receiver notices when the thread is lost.
    heard: mpsc::WeakSender<TierEvent>,
    counts: Arc<Counts>,
    /// Ends the thread when dropped.
    _stop: oneshot::Sender<()>,
}

impl Tier {
    /// Starts the thread, which connects by itself and continues to try.
    ///
    /// # Errors
    /// When there is no thread to be had.
    pub fn start(settings: Settings) -> io::Result<(Self, mpsc::Receiver<TierEvent>)> {
        let (tier, heard, ends, stopped) = Self::new(&settings);
        thread::start(settings, ends, stopped)?;
        Ok((tier, heard))
    }

    /// Both ends of everything that connects the threads.
    pub(crate) fn new(settings: &Settings) -> (Self, mpsc::Receiver<TierEvent>, Ends, oneshot::Receiver<()>) {
        let (wishes, wished) = mpsc::channel(LOOK_UPS_MAX);
        let (writes, to_write) = mpsc::channel(WRITES_MAX);
        let (tell, heard) = mpsc::channel(HEARD_MAX);
        let (stop, stopped) = oneshot::channel();
        let weak = tell.downgrade();
        let (outbox, probe, counts) = (Arc::<Outbox>::default(), Arc::<Notify>::default(), Arc::<Counts>::default());
        let time_max = Arc::<TimeMax>::default();
        time_max.set(settings.time_max);
        let ends = Ends {
            time_max: Arc::clone(&time_max),
            wishes: wished,
            writes: to_write,
            outbox: Arc::clone(&outbox),
            probe: Arc::clone(&probe),
            heard: tell,
            counts: Arc::clone(&counts),
            started: Instant::now(),
        };
        let tier = Tier {
            address: settings.address.to_string(),
            time_max,
            page_bytes_max: settings.page_bytes_max,
            breaker: RefCell::new(Breaker::open()),
            wishes,
            writes,
            written_bytes: Arc::default(),
            outbox,
            probe,
            heard: weak,
            counts,
            _stop: stop,
        };
        (tier, heard, ends, stopped)
    }

    /// Address, without secrets.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Counts of results.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Whether it is asked.
    pub fn is_up(&self) -> bool {
        !self.breaker.borrow().is_open()
    }

    /// Another time limit for look-ups.
    pub fn set_time_max(&self, time_max: Duration) {
        self.time_max.set(time_max);
    }

    /// The page for this URL and a request with these fields. Never takes longer than the time limit.
    pub async fn look_up(&self, url: &str, request: &Fields, now: Moment) -> Answer {
        if !self.is_up() {
            self.counts.skipped.add(1);
            return Answer::Away;
        }
        let until = Instant::now() + self.time_max.for_timer();
        let (answer, answered) = oneshot::channel();
        let wish = Wish { url: url.to_owned(), request: request.clone(), now, answer };
        let answer = match self.wishes.try_send(wish) {
            Ok(()) => timeout_at(until, answered).await,
            Err(_) => Ok(Ok(None)),
        };
        match answer {
            Ok(Ok(Some(answer))) => {
                let count = if matches!(answer, Answer::Page(..)) { &self.counts.hits } else { &self.counts.misses };
                count.add(1);
                self.breaker.borrow_mut().answered();
                answer
            }
            Ok(_) => self.failed(&self.counts.errors, "look-ups fail"),
            Err(_) => self.failed(&self.counts.timeouts, "look-ups take longer than their time limit"),
        }
    }

    fn failed(&self, count: &crate::counts::Count, why: &str) -> Answer {
        count.add(1);
        if self.breaker.borrow_mut().failed() {
            self.probe.notify_one();
            // With so much else to tell, one note more or less is no matter.
            if let Some(heard) = self.heard.upgrade() {
                let _ = heard.try_send(TierEvent::Down(why.to_owned()));
            }
        }
        Answer::Away
    }

    /// Queues a page for writing.
    pub fn store(&self, page: ToStore) {
        let bytes = page.body.len();
        if bytes > self.page_bytes_max || page.useful_s == 0 || !self.is_up() {
            return;
        }
        let room = Room(Arc::clone(&self.written_bytes), bytes);
        let taken = self.written_bytes.fetch_add(bytes, Ordering::Relaxed);
        let write = Write { page: Box::new(page), at: Instant::now(), _room: room };
        if taken + bytes > WRITES_BYTES_MAX || self.writes.try_send(write).is_err() {
            self.counts.dropped.add(1);
        }
    }

    /// Tells the other gateways of a purge, and lets it count for what is looked up from now on.
    pub fn purge(&self, purge: &Purge, is_soft: bool) {
        self.outbox.add(purge, is_soft);
    }

    /// The tier can be asked again, as [`TierEvent::Up`] says.
    pub fn came_up(&self) {
        self.breaker.borrow_mut().close();
    }

    /// The tier is not to be asked, as [`TierEvent::Down`] says.
    pub fn went_down(&self) {
        self.breaker.borrow_mut().trip();
    }
}
