//! The disk as the gateway uses it: its start and its end, reports to the operator, and its state.

use std::path::Path;
use std::time::Duration;

use sluice_catalog::config::OnReload;
use sluice_catalog::snapshot::DiskCacheSnapshot;
use sluice_journal::{Event as Happening, Level};
use sluice_pages::Clock;
use sluice_pages::disk::{Disk, DiskEvent, Settings, StartupPages};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::timeout;

use super::pages::Pages;
use super::rules::rules;

/// Maximum wait for unwritten pages when the gateway exits.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

impl Pages {
    /// Stores pages on disk from now on, if the config wants it, for this instance alone. `is_successor` means that another gateway still
    /// uses the directory, and releases it soon.
    pub fn keep_on_disk(&self, instance: &Path, is_successor: bool) {
        let config = self.settings.config();
        let Some(dir) = config.cache.disk_dir.as_ref().filter(|_| config.cache.enabled) else { return };
        let found = match config.cache.on_reload {
            OnReload::Keep => StartupPages::Kept,
            OnReload::Stale => StartupPages::Stale,
            OnReload::Drop => StartupPages::Dropped,
        };
        let settings = Settings {
            dir: dir.into(),
            bytes_max: config.cache.disk_bytes_max,
            owner: format!("{} {}", rules(&config), instance.display()),
            found,
            clock: Clock::since(self.epoch),
        };
        match Disk::start(settings) {
            Ok((disk, heard)) => {
                let pages = self.rc();
                tokio::task::spawn_local(async move { pages.hear_disk(heard, is_successor).await });
                let _ = self.cache.disk.0.set(disk);
            }
            Err(error) => self.note_disk(Level::Error, &format!("there is no thread for it: {error}")),
        }
    }

    /// Writes outstanding pages, and releases the directory for the next gateway.
    pub async fn let_go_of_disk(&self) {
        if let Some(disk) = self.cache.disk.0.get() {
            let _ = timeout(CLOSE_TIMEOUT, disk.close()).await;
        }
    }

    async fn hear_disk(&self, mut heard: UnboundedReceiver<DiskEvent>, is_successor: bool) {
        while let Some(heard) = heard.recv().await {
            match heard {
                DiskEvent::Ready(pages) => {
                    self.note_disk(Level::Info, &format!("it is in use, with {pages} pages from before"));
                }
                DiskEvent::Busy if is_successor => {}
                DiskEvent::Busy => {
                    let text = "another gateway uses it; pages are only in memory until that gateway exits";
                    self.note_disk(Level::Warn, text);
                }
                DiskEvent::Unusable(why) => {
                    self.note_disk(Level::Error, &format!("pages are only in memory: {why}"));
                }
                DiskEvent::Fails(why) => {
                    let text = format!("it cannot be written, so pages are only in memory meanwhile: {why}");
                    self.note_disk(Level::Warn, &text);
                }
                DiskEvent::Works => self.note_disk(Level::Info, "it can be written again"),
            }
        }
    }

    fn note_disk(&self, level: Level, what: &str) {
        let config = self.settings.config();
        let text = format!("cache.disk_dir {}: {what}", config.cache.disk_dir.as_deref().unwrap_or_default());
        self.observer.emit(Happening::Note { level, text: &text });
    }

    pub(crate) fn disk_snapshot(&self) -> Option<DiskCacheSnapshot> {
        let (disk, config) = (self.cache.disk.0.get()?, self.settings.config());
        let counts = disk.counts();
        Some(DiskCacheSnapshot {
            dir: config.cache.disk_dir.clone().unwrap_or_default(),
            in_use: disk.is_in_use(),
            pages: counts.pages.get(),
            bytes: counts.bytes.get(),
            bytes_max: config.cache.disk_bytes_max,
            hits: counts.hits.get(),
            misses: counts.misses.get(),
            timeouts: counts.timeouts.get(),
            errors: counts.errors.get(),
            skipped: counts.skipped.get(),
            written: counts.written.get(),
            dropped: counts.dropped.get(),
            refused: counts.failed.get(),
        })
    }
}
