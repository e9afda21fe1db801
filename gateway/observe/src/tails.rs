//! Profiles of requests that take unusually long: chosen by [`choice`], written by the worker, listed in a file beside them.

mod choice;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use sluice_catalog::config;
use sluice_catalog::profiles::{TAILS_INDEX, Tail};
use sluice_journal::Level;
use sluice_scheduler::RequestId;
use tokio::task::{spawn_blocking, spawn_local};
use tokio::time::Instant;

use crate::context::{Context, in_ms, unix_ms};
use crate::files::{make_room, write_whole};
use crate::record::RequestName;
pub use choice::ProfileOrder;
use choice::Tails;

/// Maximum stored length of a request's target, characters.
const TARGET_CHARS_MAX: usize = 200;
const EXTENSION: &str = "cpuprofile";

/// Worker's report about a request that it has profiled.
#[derive(Clone, Debug)]
pub struct TailReport {
    /// The request.
    pub request: RequestId,
    /// Path of the profile; empty if it was not worth keeping.
    pub file: String,
    /// Size of the file, bytes.
    pub bytes: u64,
    /// CPU time of the process from the request's start to its end, microseconds.
    pub used_us: u64,
    /// Time from the request's start to its end, microseconds.
    pub service_us: u64,
    /// Time that the profile took of the worker before and after the request, microseconds.
    pub overhead_us: u64,
}

/// Profiles in one directory, and their list. No request is profiled if there is no directory. Clones are cheap and share
/// state.
#[derive(Clone)]
pub struct TailProfiles {
    context: Rc<Context>,
    state: Rc<State>,
}

#[derive(Default)]
struct State {
    dir: RefCell<Option<PathBuf>>,
    /// True if another gateway keeps the directory.
    is_handed_over: Cell<bool>,
    tails: RefCell<Tails>,
    /// Files to remove when the list is written next.
    gone: RefCell<Vec<String>>,
    /// True if the list in the directory is not the latest.
    is_stale: Cell<bool>,
    is_written: Cell<bool>,
}

impl TailProfiles {
    pub(crate) fn new(context: &Rc<Context>) -> Self {
        TailProfiles { context: Rc::clone(context), state: Rc::default() }
    }

    /// Keeps profiles of the tail in this directory, and takes over those that it lists. No other gateway may use it.
    ///
    /// # Errors
    /// The file system's error; no request is profiled then.
    pub async fn keep_in(&self, dir: PathBuf) -> io::Result<()> {
        let found = spawn_blocking({
            let dir = dir.clone();
            move || found_in(&dir)
        });
        let kept = found.await.map_err(io::Error::other).flatten()?;
        self.state.tails.borrow_mut().restore(kept);
        *self.state.dir.borrow_mut() = Some(dir.clone());
        // The list that is there may be broken, or name files by where they were before.
        self.write(dir, Vec::new());
        Ok(())
    }

    /// Leaves the directory to another gateway.
    pub fn hand_over(&self) {
        self.state.is_handed_over.set(true);
    }

    /// Records a request's own CPU time. `usual_us` returns the CPU time that 99 of 100 requests of its class take at most, if
    /// known.
    pub fn watch(&self, class: &str, cpu_us: u64, usual_us: impl FnOnce() -> Option<u64>) {
        self.state.tails.borrow_mut().cost(class, cpu_us, usual_us);
    }

    /// Whether the request is to be profiled, and how.
    pub fn order(&self, at: Instant, class: &str, request: RequestId) -> Option<ProfileOrder> {
        self.state.dir.borrow().as_ref().filter(|_| !self.state.is_handed_over.get())?;
        self.state.tails.borrow_mut().take(at, self.mode(), class, request)
    }

    /// Handles a worker's report about a profiled request.
    pub fn profiled(&self, worker: u64, told: TailReport, name: impl FnOnce() -> Option<RequestName>) {
        let TailReport { request, file, bytes, used_us, service_us, overhead_us } = told;
        let Some(dir) = self.state.dir.borrow().clone() else { return };
        let overhead = Duration::from_micros(overhead_us);
        let over = self.state.tails.borrow_mut().over(Instant::now(), self.mode(), request, overhead);
        if file.is_empty() {
            return;
        }
        let name = if self.state.is_handed_over.get() { None } else { name() };
        // A worker names files, and is not to name others'.
        let over = over.filter(|(number, _)| Path::new(&file) == dir.join(format!("{number}.{EXTENSION}")));
        let (Some((number, usual_us)), Some(name)) = (over, name) else {
            return self.remove_unlisted(&dir, file);
        };
        let RequestName { request_id, method, target, class } = name;
        let target = format!("{method} {target}");
        let gone = self.state.tails.borrow_mut().keep(Tail {
            id: number,
            class: class.to_string(),
            target: target.chars().take(TARGET_CHARS_MAX).collect(),
            request_id,
            worker,
            at_unix_ms: unix_ms(),
            service_ms: in_ms(service_us),
            cpu_ms: in_ms(used_us),
            usual_ms: in_ms(usual_us),
            bytes,
            file,
        });
        self.write(dir, gone);
    }

    fn mode(&self) -> config::Tails {
        self.context.config().profile.tail
    }

    /// Removes a profile that nobody waits for.
    fn remove_unlisted(&self, dir: &Path, file: String) {
        let is_ours =
            Path::new(&file).parent() == Some(dir) && Path::new(&file).extension() == Some(OsStr::new(EXTENSION));
        let is_listed = self.state.tails.borrow().kept().iter().any(|tail| tail.file == file);
        if is_ours && !is_listed {
            drop(spawn_blocking(move || std::fs::remove_file(file)));
        }
    }

    /// Removes profiles that are too old. Called with every tick, because no new profile may come.
    pub(crate) fn expire(&self) {
        let dir = || self.state.dir.borrow().clone().filter(|_| !self.state.is_handed_over.get());
        let gone = self.state.tails.borrow_mut().expire(unix_ms());
        if let Some(dir) = (!gone.is_empty()).then(dir).flatten() {
            self.write(dir, gone);
        }
    }

    /// Writes the list, and removes these files.
    fn write(&self, dir: PathBuf, gone: Vec<String>) {
        self.state.gone.borrow_mut().extend(gone);
        self.state.is_stale.set(true);
        if self.state.is_written.replace(true) {
            return;
        }
        let TailProfiles { context, state } = self.clone();
        // One list after the other, so that the latest is what stays.
        spawn_local(async move {
            while state.is_stale.replace(false) {
                let (index, gone) = (dir.join(TAILS_INDEX), state.gone.take());
                // These types have string keys and plain values.
                let kept = serde_json::to_vec(state.tails.borrow().kept()).unwrap_or_default();
                let written = spawn_blocking(move || {
                    for file in gone {
                        let _ = std::fs::remove_file(file);
                    }
                    write_whole(&index, &kept)
                });
                if let Err(error) = written.await.map_err(io::Error::other).flatten() {
                    context.note(
                        Level::Warn,
                        &format!(
                            "the list of profiles of slow requests cannot be written: \
                        {error}"
                        ),
                    );
                }
            }
            state.is_written.set(false);
        });
    }

    /// Profiles of requests that took unusually long.
    pub fn kept(&self) -> Vec<Tail> {
        self.state.tails.borrow().kept().to_vec()
    }
}

/// Profiles that are both listed and present in this directory. Removes all others, which a killed gateway left. Blocks.
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
