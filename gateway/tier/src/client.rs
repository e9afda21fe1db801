//! The tier as the thread that serves requests sees it: nothing here waits for the server but [`Tier::look_up`] and [`Tier::charge`],
//! and these for their time limit alone.

use std::cell::RefCell;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sluice_cache::Moment;
use sluice_catalog::snapshot::Purge;
use sluice_message::Fields;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::{Instant, timeout_at};

use crate::allowance::Allowance;
use crate::breaker::Breaker;
use crate::counts::Counts;
use crate::interface::{Answer, ChargeWish, Ends, Room, Settings, TierEvent, TimeMax, ToStore, Wish, Write};
use crate::outbox::Outbox;
use crate::thread;

/// Maximum number of look-ups in progress, and of charges. Further ones are left out.
const LOOK_UPS_MAX: usize = 256;
/// Maximum number of pages that wait to be written. Further ones are dropped.
const WRITES_MAX: usize = 256;
/// Maximum total size of their bodies, bytes.
const WRITES_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Maximum number of events that wait for this gateway.
const HEARD_MAX: usize = 1_024;

/// The second tier.
pub struct Tier {
    address: String,
    time_max: Arc<TimeMax>,
    page_bytes_max: usize,
    breaker: RefCell<Breaker>,
    wishes: mpsc::Sender<Wish>,
    charges: mpsc::Sender<ChargeWish>,
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
        let (charges, to_charge) = mpsc::channel(LOOK_UPS_MAX);
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
            charges: to_charge,
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
            charges,
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
        let wish = |answer| Wish { url: url.to_owned(), request: request.clone(), now, answer };
        let Some(answer) = self.ask(&self.wishes, wish).await else { return Answer::Away };
        let count = if matches!(answer, Answer::Page(..)) { &self.counts.hits } else { &self.counts.misses };
        count.add(1);
        answer
    }

    /// Charges these allowances of a client once each, unless one of them is used up. Returns the time in microseconds after which
    /// none is, 0 if they were charged; `None` if the tier is away. Never takes longer than the time limit.
    pub async fn charge(&self, allowances: Vec<Allowance>) -> Option<u64> {
        self.ask(&self.charges, |answer| ChargeWish { allowances, answer }).await
    }

    async fn ask<W, A>(
        &self,
        asked: &mpsc::Sender<W>,
        wish: impl FnOnce(oneshot::Sender<Option<A>>) -> W,
    ) -> Option<A> {
        if !self.is_up() {
            self.counts.skipped.add(1);
            return None;
        }
        let until = Instant::now() + self.time_max.for_timer();
        let (answer, answered) = oneshot::channel();
        let answer = match asked.try_send(wish(answer)) {
            Ok(()) => timeout_at(until, answered).await,
            Err(_) => Ok(Ok(None)),
        };
        match answer {
            Ok(Ok(Some(answer))) => {
                self.breaker.borrow_mut().answered();
                return Some(answer);
            }
            Ok(_) => self.failed(&self.counts.errors, "look-ups fail"),
            Err(_) => self.failed(&self.counts.timeouts, "look-ups take longer than their time limit"),
        }
        None
    }

    fn failed(&self, count: &crate::counts::Count, why: &str) {
        count.add(1);
        if self.breaker.borrow_mut().failed() {
            self.probe.notify_one();
            // With so much else to tell, one note more or less is no matter.
            if let Some(heard) = self.heard.upgrade() {
                let _ = heard.try_send(TierEvent::Down(why.to_owned()));
            }
        }
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
