//! Profiles of workers in service. The preload takes them inside the worker, so that no inspector is opened and the
//! worker continues to serve. Its answers are untrusted input, like everything from workers.

use std::cell::Cell;
use std::cmp::Reverse;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, SystemTime};

use nix::sys::statvfs::statvfs;
use serde_json::json;
use sluice_catalog::profiles::{Kind, ProfileFile, Wish};
use sluice_catalog::refusals::ProfileError;
use sluice_observe::{free_bytes, make_private_dir, write_whole};
use sluice_scheduler::Event::Paused;
use sluice_scheduler::WorkerId;
use tokio::sync::oneshot;
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::control::ProfileRecord;
use crate::forensics::Why;
use crate::process::facts::{Answer, Excuse};
use crate::process::{Process, REPORTS_WITHIN};
use crate::{Supervisor, blocked, sample};

/// Time that a worker may take to answer beyond its profile's own time: for a slow render, and for writing the profile.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
/// Longest time for which a heap snapshot may block a worker.
const SNAPSHOT_TIMEOUT: Duration = Duration::from_secs(600);
/// Longest wait for a worker to finish its requests before a heap snapshot blocks it.
const IDLE_TIMEOUT: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Longest error message of a worker, characters.
const ERROR_CHARS_MAX: usize = 500;
/// Age at which an unclaimed directory of profiles is deleted: the command that asked for it was killed.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(3600);
const DIR_PREFIX: &str = "taken-";
/// Free space from which workers write beside the profiles that are kept. Profiles of a minute have a few MiB.
const FREE_BYTES_MIN: u64 = 64 * 1024 * 1024;

impl Supervisor {
    /// Makes workers write profiles into a new directory. A worker that fails has its error in the list, unless all
    /// fail. Dropping the future early leaves no files.
    ///
    /// # Errors
    /// If no worker takes one, or all are gone before theirs is there.
    pub async fn profile(self: &Rc<Self>, wish: &Wish) -> Result<Vec<ProfileFile>, ProfileError> {
        let processes = self.to_profile(wish)?;
        let dir = TakenDir::make(&self.profiles, &self.profiles_instead).await?;
        let mut asked = JoinSet::new();
        for process in processes {
            let (supervisor, wish, worker) = (Rc::clone(self), wish.clone(), process.worker.0);
            let file = dir.path.join(format!("worker-{worker}.{}", wish.kind.extension()));
            asked.spawn_local(async move { (worker, supervisor.take_of(&process, &wish, &file).await) });
        }
        let (mut taken, mut failed) = (Vec::new(), None);
        while let Some(answered) = asked.join_next().await {
            // A task of this set is neither aborted nor panics.
            let Ok((worker, answer)) = answered else { continue };
            taken.push(answer.unwrap_or_else(|error| {
                let text = error.to_string();
                failed = Some(error);
                ProfileFile { worker, error: Some(text), ..ProfileFile::default() }
            }));
        }
        if let Some(error) = failed.filter(|_| taken.iter().all(|taken| taken.error.is_some())) {
            return Err(error);
        }
        taken.sort_by_key(|taken| taken.worker);
        dir.is_kept.set(true);
        Ok(taken)
    }

    async fn take_of(&self, process: &Rc<Process>, wish: &Wish, file: &Path) -> Result<ProfileFile, ProfileError> {
        let worker = process.worker.0;
        let file = file.to_str().ok_or_else(|| ProfileError::FileName(file.to_owned()))?;
        let (number, answer) = process.expect_profile()?;
        let asking = Asking { supervisor: self, process, is_answered: Cell::new(false), is_paused: Cell::new(false) };
        let (kind, duration) = (wish.kind, Duration::from_millis(wish.duration_ms));
        let asked = Instant::now();
        if kind == Kind::Snapshot {
            asking.pause().await;
        }
        let line = match kind {
            Kind::Cpu => json!({
                "type": "profile", "number": number, "duration_ms": wish.duration_ms, "file": file,
                "requests": wish.route.is_some(),
            }),
            Kind::Routes => json!({ "type": "routes", "number": number, "file": file }),
            Kind::Snapshot | Kind::Sampling | Kind::Allocations => json!({
                "type": "heap", "number": number, "kind": kind.as_str(), "duration_ms": wish.duration_ms, "file": file,
            }),
        };
        if !process.say(&line.to_string()) {
            return Err(ProfileError::NoMessages(worker));
        }
        let why_not_looked = Cell::new(None);
        let look = async {
            let can_look = kind == Kind::Cpu && wish.route.is_none();
            if can_look && is_blocked_by(process, asked, asked + duration.max(REPORTS_WITHIN)).await {
                match blocked(process, duration, file.to_owned()).await {
                    // It may wait in a synchronous call, and answer after that.
                    Err(why @ ProfileError::Blocked { .. }) => why_not_looked.set(Some(why)),
                    looked => return looked,
                }
            }
            std::future::pending().await
        };
        let its_time = async {
            if kind == Kind::Snapshot {
                return sleep(SNAPSHOT_TIMEOUT).await;
            }
            sleep(duration).await;
            // What it has gathered is read and written without a turn of its event loop.
            if process.spoke.get().is_some_and(|spoke| spoke > asked) {
                process.excuse(ANSWER_TIMEOUT);
            }
            sleep(ANSWER_TIMEOUT).await;
        };
        let answered = tokio::select! {
            answered = answer => answered,
            looked = look => return looked,
            () = its_time => return Err(why_not_looked.take().unwrap_or(ProfileError::Silent(worker))),
        };
        asking.is_answered.set(true);
        match answered {
            Ok(Ok(ProfileRecord { duration_ms, used_ms, renders, node })) => {
                let file = file.to_owned();
                Ok(ProfileFile { worker, file, duration_ms, used_ms, renders, node, ..ProfileFile::default() })
            }
            Ok(Err(error)) => Err(error),
            Err(_) => left(process, wish, Path::new(file)).await,
        }
    }

    fn to_profile(&self, wish: &Wish) -> Result<Vec<Rc<Process>>, ProfileError> {
        let processes = self.processes.borrow();
        // A worker that is to leave and whose event loop is blocked is at work, and its profile says on what.
        let is_at_work = |process: &Process| wish.kind == Kind::Cpu && wish.route.is_none() && process.is_silent();
        let serves = |process: &&Rc<Process>| {
            process.is_ready.get() && (!process.is_asked_to_leave.get() || is_at_work(process))
        };
        let serving = processes.values().filter(serves);
        let found: Vec<_> = match wish.worker {
            Some(id) => serving.filter(|process| process.worker == WorkerId(id)).cloned().collect(),
            None if wish.all => serving.cloned().collect(),
            None => {
                let busiest = |process: &&Rc<Process>| {
                    (self.gate.workers().requests_total(process.worker), Reverse(process.worker.0))
                };
                serving.max_by_key(busiest).cloned().into_iter().collect()
            }
        };
        match wish.worker {
            _ if !found.is_empty() => Ok(found),
            Some(id) => Err(ProfileError::NotServing(id)),
            None => Err(ProfileError::NoWorker),
        }
    }
}

/// Waits until the worker has said nothing for [`REPORTS_WITHIN`] since it was asked. False if it can no longer come to that by `end`,
/// from when on it writes its profile.
async fn is_blocked_by(process: &Process, asked: Instant, end: Instant) -> bool {
    loop {
        let due = process.spoke.get().map_or(asked, |spoke| spoke.max(asked)) + REPORTS_WITHIN;
        if due > end {
            return false;
        }
        if Instant::now() >= due {
            return true;
        }
        sleep_until(due).await;
    }
}

/// The profile of a worker whose event loop is blocked, so that it hears of nothing.
async fn blocked(process: &Rc<Process>, duration: Duration, file: String) -> Result<ProfileFile, ProfileError> {
    let worker = process.worker.0;
    let pid = process.serving_pid();
    let (begin, begin_us) = (Instant::now(), sample::process_cpu_us(pid));
    let json = match blocked::profile(process, pid, duration).await {
        Ok(json) => json,
        Err(Why::Gone) if process.has_exited.get() => {
            return Err(ProfileError::Left { worker, diagnosis: process.diagnosed().await });
        }
        Err(why) => return Err(ProfileError::Blocked { worker, why: why.to_string() }),
    };
    let duration_ms = begin.elapsed().min(duration).as_secs_f64() * 1000.0;
    let used_us = begin_us.zip(sample::process_cpu_us(pid)).map(|(begin, end)| end.saturating_sub(begin));
    // The reading began before the inspector was open. Elsewhere than on Linux, a blocked event loop counts as CPU time.
    let used = used_us.map_or(1.0, |us| Duration::from_micros(us).as_secs_f64() / begin.elapsed().as_secs_f64());
    let used_ms = used * duration_ms;
    // The worker may write its own profile meanwhile.
    let to = Path::new(&file).with_extension("blocked.cpuprofile");
    let file = to.to_string_lossy().into_owned();
    write(to, json).await?;
    Ok(ProfileFile {
        worker,
        file,
        duration_ms,
        used_ms,
        node: process.app.node().to_owned(),
        ..ProfileFile::default()
    })
}

/// The profile of a worker that has exited meanwhile: what the gateway has read of its heap when that was about to be
/// full.
async fn left(process: &Process, wish: &Wish, file: &Path) -> Result<ProfileFile, ProfileError> {
    let worker = process.worker.0;
    process.filling.has_ended().await;
    let sampled = matches!(wish.kind, Kind::Sampling | Kind::Allocations).then(|| process.filling.take_heap_profile());
    let Some((name, json)) = file.to_str().zip(sampled.flatten()) else {
        return Err(ProfileError::Left { worker, diagnosis: process.diagnosed().await });
    };
    write(file.to_owned(), json.into_bytes()).await?;
    Ok(ProfileFile {
        worker,
        file: name.to_owned(),
        node: process.app.node().to_owned(),
        error: Some(format!(
            "worker {worker} exited before its profile was complete: these are its samples until its heap was almost full"
        )),
        ..ProfileFile::default()
    })
}

/// Writes a profile that the gateway itself has taken.
async fn write(file: PathBuf, json: Vec<u8>) -> Result<(), ProfileError> {
    let to = file.clone();
    let written = spawn_blocking(move || write_whole(&to, &json)).await.map_err(io::Error::other).flatten();
    written.map_err(|source| ProfileError::File { file, source })
}

/// A worker that was asked for a profile. Dropping it before the answer cancels the profile.
struct Asking<'a> {
    supervisor: &'a Supervisor,
    process: &'a Rc<Process>,
    is_answered: Cell<bool>,
    is_paused: Cell<bool>,
}

impl Asking<'_> {
    /// Stops giving requests to the worker and waits until it has finished those that it holds.
    async fn pause(&self) {
        let worker = self.process.worker;
        self.is_paused.set(true);
        self.supervisor.gate.tell(Paused { worker, is_paused: true });
        let holds = || {
            let held = |view: sluice_scheduler::WorkerView| view.worker == worker && view.in_service + view.handed > 0;
            self.supervisor.gate.scheduler(|scheduler| scheduler.workers().any(held))
        };
        let idle = async {
            while holds() {
                sleep(LOOK_EVERY).await;
            }
        };
        // Longer ones are looked into as well.
        let _ = timeout(IDLE_TIMEOUT, idle).await;
        self.process.excuse(SNAPSHOT_TIMEOUT);
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let process = self.process;
        process.profiled.borrow_mut().take();
        if self.is_answered.get() {
            process.excuse.set(None);
        } else {
            // It may stand still for what nobody wants any more: its excuse lasts until its next word.
            process.say(r#"{"type":"drop-profile"}"#);
        }
        if self.is_paused.get() {
            self.supervisor.gate.tell(Paused { worker: process.worker, is_paused: false });
        }
    }
}

impl Process {
    /// Excuses the worker for being blocked for up to this time.
    fn excuse(&self, longest: Duration) {
        if let Some(heard) = self.last_heard.get()
            && let Some(excuse) = Excuse::new(heard, self.excuse.get(), Instant::now(), longest)
        {
            self.excuse.set(Some(excuse));
        }
    }

    /// Sends a line to the preload. Returns false if it takes none.
    pub(crate) fn say(&self, line: &str) -> bool {
        self.control.borrow().as_ref().is_some_and(|control| control.say(line))
    }

    fn expect_profile(&self) -> Result<(u64, oneshot::Receiver<Answer>), ProfileError> {
        let mut profiled = self.profiled.borrow_mut();
        if profiled.is_some() {
            return Err(ProfileError::UnderWay(self.worker.0));
        }
        let number = self.profile_number.get() + 1;
        self.profile_number.set(number);
        let (sender, answer) = oneshot::channel();
        *profiled = Some((number, sender));
        Ok((number, answer))
    }

    /// Handles the worker's answer. The profile may have been cancelled.
    pub(crate) fn heard_profile(&self, number: u64, taken: Option<ProfileRecord>, error: &str) {
        let mut profiled = self.profiled.borrow_mut();
        if let Some((_, sender)) = profiled.take_if(|(expected, _)| *expected == number) {
            // Whoever asked may have gone meanwhile.
            let _ = sender.send(taken.ok_or_else(|| {
                let words = error.chars().take(ERROR_CHARS_MAX).collect();
                ProfileError::Said { worker: self.worker.0, words }
            }));
        }
    }
}

/// Directory into which the workers write. It is deleted on drop, unless the caller takes it over.
struct TakenDir {
    path: PathBuf,
    is_kept: Cell<bool>,
}

impl TakenDir {
    /// Makes one beside the profiles that are kept, or in `instead` if that has more room.
    async fn make(profiles: &Path, instead: &Path) -> Result<Self, ProfileError> {
        let (profiles, instead) = (profiles.to_owned(), instead.to_owned());
        let made = spawn_blocking(move || {
            let is_roomy = has_room(free_near(&profiles), free_near(&instead));
            let [first, second] = if is_roomy { [&profiles, &instead] } else { [&instead, &profiles] };
            Self::make_in(first).or_else(|_| Self::make_in(second)).map_err(|source| (profiles, source))
        });
        let made = made.await.unwrap_or_else(|error| Err((PathBuf::new(), io::Error::other(error))));
        made.map_err(|(file, source)| ProfileError::File { file, source })
    }

    /// Blocks.
    fn make_in(profiles: &Path) -> io::Result<Self> {
        let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let path = profiles.join(format!("{DIR_PREFIX}{}", since_epoch.as_nanos()));
        make_private_dir(profiles)?;
        clear(profiles)?;
        make_private_dir(&path)?;
        Ok(Self { path, is_kept: Cell::new(false) })
    }
}

/// Whether workers write where profiles are kept, by the free bytes there and in the run directory.
const fn has_room(kept: u64, instead: u64) -> bool {
    kept >= FREE_BYTES_MIN || kept >= instead
}

/// Free bytes where the directory is, or is to be; 0 if that is not known. Blocks.
fn free_near(dir: &Path) -> u64 {
    let found = statvfs(dir).or_else(|error| dir.parent().map_or(Err(error), statvfs));
    found.map_or(0, |found| free_bytes(&found))
}

impl Drop for TakenDir {
    fn drop(&mut self) {
        if !self.is_kept.get() {
            let path = std::mem::take(&mut self.path);
            // A worker may still write there; its file goes when it closes it.
            drop(spawn_blocking(move || std::fs::remove_dir_all(path)));
        }
    }
}

/// Deletes abandoned directories. Blocks.
fn clear(profiles: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(profiles)?.flatten() {
        let is_taken = entry.file_name().to_string_lossy().starts_with(DIR_PREFIX);
        let age = entry.metadata().and_then(|metadata| metadata.modified()).ok().and_then(|at| at.elapsed().ok());
        if is_taken && age.is_some_and(|age| age >= FORGOTTEN_AFTER) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_write_into_the_run_directory_while_the_state_directory_is_full() {
        assert!(has_room(FREE_BYTES_MIN, u64::MAX) && has_room(1000, 1000));
        assert!(!has_room(FREE_BYTES_MIN - 1, FREE_BYTES_MIN), "the run directory has more");
    }

    #[tokio::test]
    async fn a_directory_that_cannot_be_used_is_replaced_and_nothing_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "").unwrap();
        let instead = dir.path().join("run");
        let taken = TakenDir::make(&file, &instead).await.unwrap();
        assert!(taken.path.starts_with(&instead) && taken.path.is_dir());
        assert!(TakenDir::make(&instead, &file).await.unwrap().path.starts_with(&instead));
        assert!(TakenDir::make(&file, &file).await.is_err());
    }
}
