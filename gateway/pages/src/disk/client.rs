//! The pages on disk as the thread that serves sees them: nothing here waits for the disk but [`Disk::look_up`], and that not for long.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc as std_mpsc};
use std::time::Duration;

use sluice_cache::Page;
use sluice_catalog::snapshot::Purge;
use sluice_message::Fields;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::record::PurgeMeta;
use super::thread;
use crate::clock::{Clock, clock_ms};
use crate::outgoing::Outgoing;

/// Time limit of one look-up. A page that takes longer is rendered.
const LOOK_UP_TIMEOUT: Duration = Duration::from_millis(50);
/// Maximum size of pages that wait to be written, bytes. Further pages are dropped.
const QUEUED_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Maximum number of purges that wait for a directory that another gateway uses. With more of them everything in it
/// goes.
const PURGES_MAX: usize = 10_000;
/// Maximum size of purges that wait for the directory or a write, bytes. Where there are more, everything in the
/// directory goes.
const PURGES_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Bytes of a waiting purge besides its name.
const PURGE_BYTES: usize = 200;
/// Maximum number of reports that wait until all pages are deleted. Further ones are not given.
const UNFIT_MAX: usize = 10_000;

/// Directory and bounds of the pages, and which of the pages found there may be used.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The directory. What is in it is this cache's own in a directory below.
    pub dir: PathBuf,
    /// Largest size of all files.
    pub bytes_max: u64,
    /// Owner of the pages, and the rules by which they are kept. Those of another owner are taken away.
    pub owner: String,
    /// Treatment of pages that are there.
    pub found: StartupPages,
    /// The gateway's clock.
    pub clock: Clock,
}

/// Treatment of pages that are found at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartupPages {
    /// Pages are used as they are.
    Kept,
    /// Pages count as stale.
    Stale,
    /// Pages are taken away.
    Dropped,
}

/// News for the gateway.
#[derive(Debug, PartialEq, Eq)]
pub enum DiskEvent {
    /// Directory in use, with so many pages from before.
    Ready(usize),
    /// Another gateway uses the directory.
    Busy,
    /// Reason why it cannot be used.
    Unusable(String),
    /// Reason why it cannot be written.
    Fails(String),
    /// End of a failure to write.
    Works,
}

/// State of the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum State {
    /// Another gateway may use the directory.
    Waiting,
    /// Reading of what is there.
    Opening,
    InUse,
    Over,
}

/// One count.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    pub(super) fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    pub(super) fn set(&self, count: u64) {
        self.0.store(count, Ordering::Relaxed);
    }

    /// Value of the counter.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Results of look-ups and writes, since the start.
#[derive(Debug, Default)]
pub struct Counts {
    /// Pages on disk now.
    pub pages: Count,
    /// Bytes on disk now.
    pub bytes: Count,
    /// Look-ups that found a page.
    pub hits: Count,
    /// Look-ups that found none.
    pub misses: Count,
    /// Look-ups that took too long.
    pub timeouts: Count,
    /// Look-ups that failed, and pages that were damaged.
    pub errors: Count,
    /// Look-ups that were left out, because the disk was not in use or owed others an answer.
    pub skipped: Count,
    /// Pages that were written.
    pub written: Count,
    /// Pages that were not, because too many waited or the disk was not in use.
    pub dropped: Count,
    /// Pages and purges that the disk refused.
    pub failed: Count,
}

/// State that both threads know.
#[derive(Default)]
pub(super) struct Common {
    state: AtomicU8,
    /// Look-ups that nobody waits for any more, and that the disk has not come to.
    pub(super) late: AtomicIsize,
    pub(super) queued_bytes: AtomicUsize,
    queued_purges: AtomicUsize,
    queued_purges_bytes: AtomicUsize,
    /// Callers whose purge finds no room: they hear when everything has gone. While there are any, no page is put.
    unfit: Mutex<Vec<oneshot::Sender<()>>>,
    /// More was purged than could wait.
    pub(super) has_lost_purges: AtomicBool,
    pub(super) counts: Counts,
}

impl Common {
    fn state(&self) -> State {
        const ALL: [State; 4] = [State::Waiting, State::Opening, State::InUse, State::Over];
        ALL[usize::from(self.state.load(Ordering::Acquire)).min(3)]
    }

    /// The directory is this gateway's from now on. Returns false where that is not wanted any more.
    pub(super) fn begin(&self) -> bool {
        let (from, to) = (State::Waiting as u8, State::Opening as u8);
        self.state.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    pub(super) fn set_state(&self, state: State) {
        self.state.store(state as u8, Ordering::Release);
    }

    /// Takes room for a purge that waits, if there is any.
    fn has_room_for(&self, purge: &Purge) -> bool {
        let grown = |used: usize| Some(used + bytes_of(purge)).filter(|used| *used <= PURGES_BYTES_MAX);
        self.queued_purges_bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, grown).is_ok()
    }

    /// Removes a purge from those that wait.
    pub(super) fn purge_taken(&self, purge: &Purge) {
        self.queued_purges_bytes.fetch_sub(bytes_of(purge), Ordering::Relaxed);
    }

    fn unfit(&self) -> MutexGuard<'_, Vec<oneshot::Sender<()>>> {
        // Nothing in here is ever half done.
        self.unfit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the callers who wait until everything has gone, as it is about to.
    pub(super) fn take_unfit(&self) -> Vec<oneshot::Sender<()>> {
        std::mem::take(&mut *self.unfit())
    }
}

fn bytes_of(purge: &Purge) -> usize {
    PURGE_BYTES
        + match purge {
            Purge::All => 0,
            Purge::Url(name) | Purge::Prefix(name) | Purge::Tag(name) => name.len(),
        }
}

pub(super) enum Wish {
    LookUp {
        key: String,
        request: Fields,
        answer: oneshot::Sender<Option<Page>>,
    },
    Store(Box<Outgoing>),
    Purge {
        purged: PurgeMeta,
        done: oneshot::Sender<()>,
    },
    /// Everything is to go, for those who purge what found no room.
    Clear,
    Close(oneshot::Sender<()>),
}

/// See the module's text.
pub struct Disk {
    wishes: std_mpsc::Sender<Wish>,
    common: Arc<Common>,
}

impl Disk {
    /// Starts the thread, which waits for the directory if another gateway uses it.
    ///
    /// # Errors
    /// When there is no thread to be had.
    pub fn start(settings: Settings) -> io::Result<(Self, mpsc::UnboundedReceiver<DiskEvent>)> {
        let (wishes, wished) = std_mpsc::channel();
        let (tell, heard) = mpsc::unbounded_channel();
        let common = Arc::<Common>::default();
        thread::start(settings, wished, tell, Arc::clone(&common))?;
        Ok((Disk { wishes, common }, heard))
    }

    /// Client whose thread a test is.
    #[cfg(test)]
    pub(super) fn over(wishes: std_mpsc::Sender<Wish>, common: Arc<Common>) -> Self {
        Disk { wishes, common }
    }

    /// Counts of results.
    pub fn counts(&self) -> &Counts {
        &self.common.counts
    }

    /// Whether pages are looked up and stored.
    pub fn is_in_use(&self) -> bool {
        self.common.state() == State::InUse
    }

    /// The page for this key and a request with these fields.
    pub async fn look_up(&self, key: &str, request: &Fields) -> Option<Page> {
        let counts = &self.common.counts;
        if !self.is_in_use() || self.common.late.load(Ordering::Relaxed) > 0 {
            counts.skipped.add(1);
            return None;
        }
        let (answer, mut answered) = oneshot::channel();
        let wish = Wish::LookUp { key: key.to_owned(), request: request.clone(), answer };
        self.wishes.send(wish).ok()?;
        let mut found = timeout(LOOK_UP_TIMEOUT, &mut answered).await.ok();
        if found.is_none() {
            answered.close();
            // It may have come just now.
            found = answered.try_recv().ok().map(Ok);
        }
        let Some(found) = found else {
            self.common.late.fetch_add(1, Ordering::Relaxed);
            counts.timeouts.add(1);
            return None;
        };
        let page = found.ok().flatten();
        let count = if page.is_some() { &counts.hits } else { &counts.misses };
        count.add(1);
        page
    }

    /// Queues a page for writing. Returns false if it will not be written.
    #[must_use]
    pub fn store(&self, page: Outgoing) -> bool {
        let bytes = page.bytes();
        let has_room = self.common.queued_bytes.load(Ordering::Relaxed) + bytes <= QUEUED_BYTES_MAX;
        if !self.is_in_use() || !has_room || !self.common.unfit().is_empty() {
            self.common.counts.dropped.add(1);
            return false;
        }
        self.common.queued_bytes.fetch_add(bytes, Ordering::Relaxed);
        self.wishes.send(Wish::Store(Box::new(page))).is_ok()
    }

    /// Purges there too. No look-up from now on finds what is meant; the receiver gets its word when no later gateway does either, even if
    /// this one is killed.
    pub fn purge(&self, purge: &Purge, is_soft: bool) -> oneshot::Receiver<()> {
        let (done, when_done) = oneshot::channel();
        let purged = PurgeMeta { purge: purge.clone(), is_soft, clock_ms: clock_ms() };
        match self.common.state() {
            State::Over => {}
            State::Opening | State::InUse if self.common.has_room_for(purge) => {
                let _ = self.wishes.send(Wish::Purge { purged, done });
            }
            State::Opening | State::InUse => self.purge_all(done),
            // Whoever uses the directory answers for it; this gateway remembers the purge for when it does itself.
            State::Waiting => {
                let is_among_few = self.common.queued_purges.fetch_add(1, Ordering::Relaxed) < PURGES_MAX;
                if !is_among_few || !self.common.has_room_for(purge) {
                    self.common.has_lost_purges.store(true, Ordering::SeqCst);
                    // The directory may have become this gateway's meanwhile, and nobody looks at that any more.
                    if self.common.state() != State::Waiting {
                        self.purge_all(done);
                    }
                } else {
                    let (unwanted, _) = oneshot::channel();
                    let _ = self.wishes.send(Wish::Purge { purged, done: unwanted });
                }
            }
        }
        when_done
    }

    /// Purges everything in place of a purge that finds no room.
    fn purge_all(&self, done: oneshot::Sender<()>) {
        let mut unfit = self.common.unfit();
        if unfit.is_empty() {
            let _ = self.wishes.send(Wish::Clear);
        }
        if unfit.len() < UNFIT_MAX {
            unfit.push(done);
        }
    }

    /// Releases the directory, for another gateway, when all that was purged is written.
    pub fn close(&self) -> oneshot::Receiver<()> {
        let (closed, when_closed) = oneshot::channel();
        let is_waiting = self.common.state() == State::Waiting;
        self.common.set_state(State::Over);
        // One that waits for the directory hears nothing, and has nothing to write.
        if !is_waiting {
            let _ = self.wishes.send(Wish::Close(closed));
        }
        when_closed
    }
}
