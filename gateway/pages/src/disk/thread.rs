//! The thread that the disk has to itself.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use nix::sys::signal::SigSet;
use sluice_cache::{Page, decode};
use sluice_catalog::snapshot::Purge;
use sluice_message::Fields;
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::Instant;

use super::client::{Common, DiskEvent, Settings, StartupPages, State, Wish};
use super::folder::{self, Folder, Unusable};
use super::log::Log;
use super::record::{PageMeta, PurgeMeta};
use crate::clock::clock_ms;
use crate::outgoing::Outgoing;

/// Time for which further pages are left out after one that could not be written.
const PAUSE: Duration = Duration::from_secs(5);
/// Pause between attempts to take away what must not stay.
const CLEAR_EVERY: Duration = Duration::from_secs(1);

/// Starts it.
///
/// # Errors
/// When there is none to be had.
pub(super) fn start(
    settings: Settings,
    wishes: Receiver<Wish>,
    tell: UnboundedSender<DiskEvent>,
    common: Arc<Common>,
) -> io::Result<()> {
    std::thread::Builder::new().name("pages-disk".to_owned()).spawn(move || {
        // Signals are for the main thread.
        let _ = SigSet::all().thread_block();
        let _end = End { dir: settings.dir.clone(), tell: tell.clone(), common: Arc::clone(&common) };
        match open(&settings, &wishes, &tell, &common) {
            Ok(None) => {}
            Ok(Some(log)) => Keeper { settings, log, tell, common, paused: None, is_failing: false }.run(&wishes),
            Err(why) => {
                let _ = tell.send(DiskEvent::Unusable(why.to_string()));
            }
        }
    })?;
    Ok(())
}

/// The end of the thread. After a fault nobody writes purges down, so no page may stay.
struct End {
    dir: PathBuf,
    tell: UnboundedSender<DiskEvent>,
    common: Arc<Common>,
}

impl Drop for End {
    fn drop(&mut self) {
        self.common.set_state(State::Over);
        // Nobody is to wait for what will not come.
        drop(self.common.take_unfit());
        if std::thread::panicking() {
            let cleared = Folder::make(&self.dir).map(|folder| folder.clear());
            let text = match cleared {
                Ok(Ok(())) => "a fault in the gateway stopped its thread".to_owned(),
                Ok(Err(error)) => {
                    format!("a fault in the gateway stopped its thread, and pages are left there: {error}")
                }
                Err(error) => format!("a fault in the gateway stopped its thread, and pages are left there: {error}"),
            };
            let _ = self.tell.send(DiskEvent::Unusable(text));
        }
    }
}

fn open(
    settings: &Settings,
    wishes: &Receiver<Wish>,
    tell: &UnboundedSender<DiskEvent>,
    common: &Common,
) -> Result<Option<Log>, Unusable> {
    let folder = Folder::make(&settings.dir)?;
    let path = folder.path().to_owned();
    let failed = |error| Unusable::Io { path: path.clone(), error };
    let lock = folder.lock(|| drop(tell.send(DiskEvent::Busy)))?;
    if !common.begin() {
        return Ok(None);
    }
    // Most were sent while the directory was another's; whoever has sent one since then waits for it.
    let (mut purges, mut waiting, mut closing, mut is_cleared) = (Vec::new(), Vec::new(), None, false);
    for wish in wishes.try_iter() {
        match wish {
            Wish::Purge { purged, done } => {
                common.purge_taken(&purged.purge);
                purges.push(purged);
                waiting.push(done);
            }
            Wish::Clear => {
                is_cleared = true;
                waiting.append(&mut common.take_unfit());
            }
            Wish::Close(closed) => closing = Some(closed),
            Wish::LookUp { .. } | Wish::Store(_) => {}
        }
    }
    let identity = folder::identity(&settings.owner);
    let mut log = Log::open((folder, lock), identity, settings.bytes_max, &purges).map_err(failed)?;
    if is_cleared || common.has_lost_purges.load(Ordering::SeqCst) || settings.found == StartupPages::Dropped {
        log.clear().map_err(failed)?;
    } else if settings.found == StartupPages::Stale {
        let all = PurgeMeta { purge: Purge::Prefix(String::new()), is_soft: true, clock_ms: clock_ms() };
        log.purge(&all).map_err(failed)?;
    }
    for done in waiting {
        let _ = done.send(());
    }
    if let Some(closed) = closing {
        drop(log);
        let _ = closed.send(());
        return Ok(None);
    }
    Ok(Some(log))
}

struct Keeper {
    settings: Settings,
    log: Log,
    tell: UnboundedSender<DiskEvent>,
    common: Arc<Common>,
    paused: Option<Instant>,
    /// The operator knows that the disk fails.
    is_failing: bool,
}

impl Keeper {
    fn run(mut self, wishes: &Receiver<Wish>) {
        self.common.set_state(State::InUse);
        let _ = self.tell.send(DiskEvent::Ready(self.log.size().0));
        loop {
            self.measure();
            let wish = if self.log.is_poisoned() {
                match wishes.recv_timeout(CLEAR_EVERY) {
                    Err(RecvTimeoutError::Timeout) => {
                        let cleared = self.log.clear();
                        self.note(&cleared);
                        continue;
                    }
                    received => received.ok(),
                }
            } else {
                wishes.recv().ok()
            };
            match wish {
                Some(Wish::LookUp { key, request, answer }) => {
                    if answer.is_closed() || answer.send(self.look_up(&key, &request)).is_err() {
                        self.common.late.fetch_sub(1, Ordering::Relaxed);
                    }
                }
                Some(Wish::Store(page)) => {
                    self.common.queued_bytes.fetch_sub(page.bytes(), Ordering::Relaxed);
                    self.store(&page);
                }
                Some(Wish::Clear) => {
                    // Whoever comes from here on is behind what is put meanwhile.
                    let unfit = self.common.take_unfit();
                    let cleared = self.log.clear();
                    self.note(&cleared);
                    for done in unfit {
                        let _ = done.send(());
                    }
                }
                Some(Wish::Purge { purged, done }) => {
                    self.common.purge_taken(&purged.purge);
                    let written = self.log.purge(&purged);
                    self.note(&written);
                    let _ = done.send(());
                }
                Some(Wish::Close(closed)) => {
                    drop(self.log);
                    let _ = closed.send(());
                    return;
                }
                None => return,
            }
        }
    }

    fn measure(&self) {
        let (pages, bytes) = self.log.size();
        self.common.counts.pages.set(pages as u64);
        self.common.counts.bytes.set(bytes);
    }

    fn look_up(&mut self, key: &str, request: &Fields) -> Option<Page> {
        for entry in self.log.variants(key) {
            let read = self.log.read(entry.place).ok();
            let (now, clock_ms) = (self.settings.clock.moment(), clock_ms());
            let page = read.and_then(|data| decode(&data, now, clock_ms).ok()).filter(|page| page.key == key);
            let Some(mut page) = page else {
                self.log.forget(key, entry.place);
                self.common.counts.errors.add(1);
                continue;
            };
            if page.policy.is_for(request) {
                if let Some(softened_ms) = entry.softened_ms {
                    page.policy.expire_ago(clock_ms.saturating_sub(softened_ms), now);
                }
                return Some(page);
            }
        }
        None
    }

    fn store(&mut self, page: &Outgoing) {
        let counts = &self.common.counts;
        if self.paused.is_some_and(|until| Instant::now() < until) {
            counts.dropped.add(1);
            return self.supersede(&page.key);
        }
        let meta = PageMeta::new(&page.key, &page.tags, &page.policy.dimensions);
        let stored = self.log.put(meta, &page.encode());
        let count = match &stored {
            Ok(true) => &counts.written,
            Ok(false) => &counts.dropped,
            Err(_) => &counts.failed,
        };
        count.add(1);
        self.paused = stored.is_err().then(|| Instant::now() + PAUSE);
        let is_stored = matches!(stored, Ok(true));
        if !matches!(stored, Ok(false)) {
            self.note(&stored.map(drop));
        }
        if !is_stored {
            self.supersede(&page.key);
        }
    }

    /// Marks what is on disk of a page as replaced by a later page that is not on disk, so that it is not found.
    fn supersede(&mut self, key: &str) {
        let purged = PurgeMeta { purge: Purge::Url(key.to_owned()), is_soft: false, clock_ms: clock_ms() };
        if let Err(error) = self.log.purge(&purged) {
            self.note(&Err(error));
        }
    }

    /// Tells the operator when the disk begins to fail, and when it works again.
    fn note(&mut self, done: &io::Result<()>) {
        let is_failing = done.is_err();
        if let Err(error) = done {
            self.common.counts.failed.add(u64::from(self.is_failing));
            if !self.is_failing {
                let _ = self.tell.send(DiskEvent::Fails(error.to_string()));
            }
        } else if self.is_failing {
            let _ = self.tell.send(DiskEvent::Works);
        }
        self.is_failing = is_failing;
    }
}

#[cfg(test)]
#[path = "thread_tests.rs"]
mod tests;
