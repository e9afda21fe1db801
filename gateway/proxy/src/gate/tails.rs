//! Profiles of requests that take unusually long: asked for by [`crate::tail`], written by the worker, listed in a file beside them.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sluice_catalog::profiles::{TAILS_INDEX, Tail};
use sluice_journal::{Event as Happening, Level};
use sluice_scheduler::RequestId;
use sluice_supervisor::{Tailed, make_room, write_whole};
use tokio::task::{spawn_blocking, spawn_local};
use tokio::time::Instant;

use super::Gate;
use crate::tail::{Tails, Wanted};
use sluice_classes::Class;

/// What of a request's target is kept.
const TARGET_CHARS_MAX: usize = 200;
const EXTENSION: &str = "cpuprofile";

/// Where they are, and what is known of them. Without a directory no request is profiled.
#[derive(Default)]
pub(super) struct TailProfiles {
    dir: RefCell<Option<PathBuf>>,
    /// Another gateway keeps the directory.
    is_handed_over: Cell<bool>,
    tails: RefCell<Tails>,
    /// Files that are to be taken away with the next list.
    gone: RefCell<Vec<String>>,
    /// The list in the directory is not the latest.
    is_stale: Cell<bool>,
    is_written: Cell<bool>,
}

impl Gate {
    /// Keeps profiles of the tail in this directory from now on, and goes on from what is there. No other gateway is to keep it.
    ///
    /// # Errors
    /// What the file system says; then no request is profiled.
    pub async fn keep_tails_in(&self, dir: PathBuf) -> io::Result<()> {
        let found = spawn_blocking({
            let dir = dir.clone();
            move || found_in(&dir)
        });
        let kept = found.await.map_err(io::Error::other).flatten()?;
        self.tails.tails.borrow_mut().restore(kept);
        *self.tails.dir.borrow_mut() = Some(dir.clone());
        // The list that is there may be broken, or name files by where they were before.
        self.write_tails(dir, Vec::new());
        Ok(())
    }

    /// Another gateway keeps the directory from now on.
    pub(super) fn hand_tails_over(&self) {
        self.tails.is_handed_over.set(true);
    }

    /// A request's own CPU time is known.
    pub(crate) fn watch_tail(&self, class: &Class, cpu_us: u64) {
        let scheduler = self.scheduler.borrow();
        let costs = scheduler.costs();
        let usual_us = || costs.quantile_us(class.id, 0.99).filter(|_| costs.is_known(class.id));
        self.tails.tails.borrow_mut().cost(&class.name, cpu_us, usual_us);
    }

    /// Whether the request is to be profiled, and how.
    pub(crate) fn profiles(&self, at: Instant, class: &Class, request: RequestId) -> Option<Wanted> {
        self.tails.dir.borrow().as_ref().filter(|_| !self.tails.is_handed_over.get())?;
        let mode = self.active.borrow().config.profile.tail;
        self.tails.tails.borrow_mut().take(at, mode, &class.name, request)
    }

    /// The worker has profiled it.
    pub(super) fn has_profiled(&self, worker: u64, told: Tailed) {
        let Tailed { request, file, bytes, used_us, service_us, overhead_us } = told;
        let Some(dir) = self.tails.dir.borrow().clone() else { return };
        let mode = self.active.borrow().config.profile.tail;
        let over =
            self.tails.tails.borrow_mut().over(Instant::now(), mode, request, Duration::from_micros(overhead_us));
        if file.is_empty() {
            return;
        }
        let exchange = self.requests.exchange(request).filter(|_| !self.tails.is_handed_over.get());
        // A worker names files, and is not to name others'.
        let over = over.filter(|(number, _)| Path::new(&file) == dir.join(format!("{number}.{EXTENSION}")));
        let (Some((number, usual_us)), Some(exchange)) = (over, exchange) else {
            return self.remove_unlisted(&dir, file);
        };
        let (request_id, method, target) = exchange.name();
        let target = format!("{method} {target}");
        let gone = self.tails.tails.borrow_mut().keep(Tail {
            id: number,
            class: exchange.class.name.to_string(),
            target: target.chars().take(TARGET_CHARS_MAX).collect(),
            request_id,
            worker,
            at_unix_ms: now_unix_ms(),
            service_ms: in_ms(service_us),
            cpu_ms: in_ms(used_us),
            usual_ms: in_ms(usual_us),
            bytes,
            file,
        });
        self.write_tails(dir, gone);
    }

    /// Nobody waits for it any more.
    fn remove_unlisted(&self, dir: &Path, file: String) {
        let is_ours =
            Path::new(&file).parent() == Some(dir) && Path::new(&file).extension() == Some(OsStr::new(EXTENSION));
        let is_listed = self.tails.tails.borrow().kept().iter().any(|tail| tail.file == file);
        if is_ours && !is_listed {
            drop(spawn_blocking(move || std::fs::remove_file(file)));
        }
    }

    /// Called with every tick: those that are too old go, though no other comes.
    pub(super) fn expire_tails(&self) {
        let dir = || self.tails.dir.borrow().clone().filter(|_| !self.tails.is_handed_over.get());
        let gone = self.tails.tails.borrow_mut().expire(now_unix_ms());
        if let Some(dir) = (!gone.is_empty()).then(dir).flatten() {
            self.write_tails(dir, gone);
        }
    }

    /// Writes the list, and takes these files away.
    fn write_tails(&self, dir: PathBuf, gone: Vec<String>) {
        let profiles = &self.tails;
        profiles.gone.borrow_mut().extend(gone);
        profiles.is_stale.set(true);
        if profiles.is_written.replace(true) {
            return;
        }
        let gate = self.rc();
        // One list after the other, so that the latest is what stays.
        spawn_local(async move {
            let profiles = &gate.tails;
            while profiles.is_stale.replace(false) {
                let (index, gone) = (dir.join(TAILS_INDEX), profiles.gone.take());
                // These types have string keys and plain values.
                let kept = serde_json::to_vec(profiles.tails.borrow().kept()).unwrap_or_default();
                let written = spawn_blocking(move || {
                    for file in gone {
                        let _ = std::fs::remove_file(file);
                    }
                    write_whole(&index, &kept)
                });
                if let Err(error) = written.await.map_err(io::Error::other).flatten() {
                    let text = format!("the list of profiles of the tail cannot be written: {error}");
                    gate.journal.emit(Happening::Note { level: Level::Warn, text: &text });
                }
            }
            profiles.is_written.set(false);
        });
    }

    /// Profiles of requests that took unusually long.
    pub fn tails(&self) -> Vec<Tail> {
        self.tails.tails.borrow().kept().to_vec()
    }
}

/// What is listed in this directory and there. Other profiles go: those of a gateway that was killed. Blocks.
fn found_in(dir: &Path) -> io::Result<Vec<Tail>> {
    let index = dir.join(TAILS_INDEX);
    make_room(&index)?;
    // The caller writes one anew that cannot be read.
    let listed: Vec<Tail> =
        std::fs::read(&index).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
    let mut listed: HashMap<OsString, Tail> =
        listed.into_iter().filter_map(|tail| Some((Path::new(&tail.file).file_name()?.to_owned(), tail))).collect();
    let mut kept = Vec::new();
    for entry in std::fs::read_dir(dir)?.flatten() {
        let path = entry.path();
        if let Some(tail) = listed.remove(&entry.file_name()) {
            // The directory may have been moved since.
            kept.push(Tail { file: path.display().to_string(), ..tail });
        } else if path.extension() == Some(OsStr::new(EXTENSION)) {
            let _ = std::fs::remove_file(path);
        }
    }
    Ok(kept)
}

/// Milliseconds since 1970.
pub(super) fn now_unix_ms() -> u64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX)
}

#[allow(clippy::cast_precision_loss)] // Times of requests are far below 2^53 µs.
fn in_ms(us: u64) -> f64 {
    us as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_that_no_list_names_go_and_lists_name_none_that_are_gone() {
        let dir = tempfile::tempdir().unwrap();
        let tail = |id: u64| Tail { id, file: format!("/moved/since/{id}.cpuprofile"), ..Tail::default() };
        std::fs::write(dir.path().join(TAILS_INDEX), serde_json::to_vec(&[tail(1), tail(2)]).unwrap()).unwrap();
        for name in ["2.cpuprofile", "7.cpuprofile", "mine.txt"] {
            std::fs::write(dir.path().join(name), "{}").unwrap();
        }
        let kept = found_in(dir.path()).unwrap();
        let file = dir.path().join("2.cpuprofile");
        assert_eq!(kept, [Tail { file: file.display().to_string(), ..tail(2) }]);
        assert!(file.exists() && !dir.path().join("7.cpuprofile").exists() && dir.path().join("mine.txt").exists());
        std::fs::write(dir.path().join(TAILS_INDEX), "no list").unwrap();
        assert_eq!(found_in(dir.path()).unwrap(), []);
    }
}
