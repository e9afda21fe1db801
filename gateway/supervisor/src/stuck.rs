//! What is done with a worker that is stuck or blocked before it is killed: the look into it, the log line that names the
//! place, and the file of its profile.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, SystemTime};

use sluice_journal::{Event, HeldRequest, Level, StuckPlace};
use sluice_scheduler::Event::Examined;

use crate::forensics::{self, Examination, Frame, Patience, Subject};
use crate::process::Process;
use crate::process::known::{Trouble, TroubleKind};
use crate::{Supervisor, priority, sample};

/// The look has to end before the scheduler stops waiting for it. No step has a bound below that: on a busy machine
/// each may be the slow one, and the stack, which comes first, is worth more than the rest.
const PATIENCE: Patience = Patience {
    address: Duration::from_millis(870),
    step: Duration::from_millis(870),
    profile: Duration::from_millis(250),
    total: Duration::from_millis(870),
    mapping: Duration::from_secs(3),
};

/// Profiles of each kind that are kept in the state directory.
const PROFILES_MAX: usize = 20;
/// Heap snapshots that are kept in the state directory: each is as large as its heap.
const SNAPSHOTS_MAX: usize = 3;
const EXTENSION: &str = "cpuprofile";
const LARGE_EXTENSION: &str = "heapsnapshot";

/// Frames that the log shows.
const FRAMES_MAX: usize = 8;
/// Functions of the profile that the log shows.
const HOTTEST_MAX: usize = 3;

/// Looks into the worker, tells of it, and lets the scheduler go on.
pub(crate) async fn examine(supervisor: Rc<Supervisor>, process: Rc<Process>) {
    let worker = process.worker;
    let Some(Trouble { silent, kind }) = process.trouble.get() else {
        return supervisor.gate.tell(Examined { worker });
    };
    let silent_ms = u64::try_from(silent.as_millis()).unwrap_or(u64::MAX);
    let held = supervisor.gate.latest_request(worker);
    let request = held.as_ref().map(|(request_id, method, target)| HeldRequest { request_id, method, target });
    if kind == TroubleKind::Blocked {
        // The inspector does not answer in a synchronous wait; there is nothing to look into.
        let waits_in = &sample::describe(process.view().pid.unwrap_or(process.pid));
        supervisor.journal.emit(Event::WorkerBlocked { worker: worker.0, silent_ms, waits_in, request });
        return supervisor.gate.tell(Examined { worker });
    }
    if supervisor.may_raise {
        // At the lowest priority it would not answer in time on a busy machine; it has not long to live.
        let _ = process.set_priority(priority::usual());
    }
    let pid = process.listener_pid.get().unwrap_or(process.pid);
    let source_maps = process.app.preload.with_file_name("source-maps.js");
    let subject = Subject { pid, cwd: process.app.cwd.clone(), node: process.app.node().to_owned(), source_maps };
    let look = forensics::look(&subject, process.inspector.clone(), PATIENCE).await;
    supervisor.gate.tell(Examined { worker });
    let examination = look.examine(&subject, PATIENCE).await;
    let file = supervisor.profiles.join(format!("stuck-{}.{EXTENSION}", worker.0));
    tell(&supervisor, worker.0, silent_ms, &examination, request, &file);
    if let Ok(profile) = examination.profile {
        let written = tokio::task::spawn_blocking({
            let file = file.clone();
            move || keep(&file, &profile.json)
        });
        if let Err(error) = written.await.unwrap_or_else(|error| Err(io::Error::other(error))) {
            supervisor.note(Level::Warn, &format!("{}: {error}; the profile is lost", file.display()));
        }
    }
}

fn tell(
    supervisor: &Supervisor,
    worker: u64,
    silent_ms: u64,
    examination: &Examination,
    request: Option<HeldRequest<'_>>,
    file: &Path,
) {
    let why = examination.stack.as_ref().err().map(ToString::to_string).unwrap_or_default();
    let frames = examination.stack.as_deref().unwrap_or_default();
    let stack = frames.iter().take(FRAMES_MAX).map(ToString::to_string).collect::<Vec<_>>().join(" < ");
    let place = named(frames).map(|Frame { function, file, line, column }| StuckPlace {
        function,
        file,
        line: *line,
        column: *column,
        stack: &stack,
    });
    let hottest = examination.profile.as_ref().ok().map(|profile| {
        let functions = profile.hottest.iter().take(HOTTEST_MAX);
        functions.map(|(frame, self_ms)| format!("{frame} {self_ms} ms")).collect::<Vec<_>>().join(", ")
    });
    let hottest = hottest.as_deref();
    let why = if why.is_empty() { "the main thread was not running JavaScript" } else { &why };
    let profile = file.to_str().filter(|_| examination.profile.is_ok());
    supervisor.journal.emit(Event::WorkerStuck {
        worker,
        silent_ms,
        place: place.ok_or(why),
        hottest,
        request,
        profile,
    });
}

/// The innermost frame in the app's own code, which is where somebody can mend it; else the innermost of all.
fn named(frames: &[Frame]) -> Option<&Frame> {
    let own = frames.iter().find(|frame| frame.line > 0 && !frame.file.starts_with("node:"));
    own.or(frames.first())
}

/// Makes the directory of this profile, and room for it there: of those of its kind, the oldest ones go. Profiles that somebody takes
/// never evict those of stuck workers. Blocks.
///
/// # Errors
/// What the file system says.
pub fn make_room(file: &Path) -> io::Result<()> {
    let dir = file.parent().unwrap_or(file);
    make_private_dir(dir)?;
    let mut kept: Vec<(SystemTime, PathBuf)> = fs::read_dir(dir)?
        .flatten()
        .filter(|entry| kind(&entry.path()) == kind(file))
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .filter(|(_, path)| path != file)
        .collect();
    kept.sort();
    let is_large = file.extension().is_some_and(|extension| extension == LARGE_EXTENSION);
    let surplus = (kept.len() + 1).saturating_sub(if is_large { SNAPSHOTS_MAX } else { PROFILES_MAX });
    for (_, path) in kept.iter().take(surplus) {
        fs::remove_file(path)?;
    }
    Ok(())
}

/// The extension, and the name up to its first number: `stuck-12.cpuprofile` is of another kind than `profile-20261123.cpuprofile`.
fn kind(file: &Path) -> Option<(String, String)> {
    let name = file.file_stem()?.to_str()?;
    let is_digit = |character: char| character.is_ascii_digit();
    let word = name.split(is_digit).next().unwrap_or_default();
    Some((word.to_owned(), file.extension()?.to_str()?.to_owned()))
}

/// Makes a directory that nobody else can look into, if it is not there. Blocks.
pub(crate) fn make_private_dir(dir: &Path) -> io::Result<()> {
    fs::DirBuilder::new().mode(0o700).recursive(true).create(dir)
}

/// Writes the profile where nobody else can read it. Blocks.
fn keep(file: &Path, json: &[u8]) -> io::Result<()> {
    make_room(file)?;
    write_whole(file, json)
}

/// Writes a file that nobody else can read. Whoever waits for it finds it whole, or what was there before. Blocks.
///
/// # Errors
/// What the file system says; then nothing of it is left.
pub fn write_whole(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let part = file.with_extension(format!("{}.part", std::process::id()));
    let written = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&part)
        .and_then(|mut open| open.write_all(bytes))
        .and_then(|()| fs::rename(&part, file));
    if written.is_err() {
        let _ = fs::remove_file(&part);
    }
    written
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn profiles_are_private_and_the_oldest_make_room() {
        let dir = tempfile::tempdir().unwrap();
        let profiles = dir.path().join("profiles");
        for worker in 0..30_u64 {
            let file = profiles.join(format!("stuck-{worker}.{EXTENSION}"));
            keep(&file, b"{}").unwrap();
            let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1000 + worker);
            fs::File::options().write(true).open(&file).unwrap().set_modified(at).unwrap();
            assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        }
        let mut names: Vec<String> =
            fs::read_dir(&profiles).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        let mut expected: Vec<String> = (10..30).map(|worker| format!("stuck-{worker}.{EXTENSION}")).collect();
        expected.sort();
        assert_eq!(names, expected);
        for number in 0..2 * PROFILES_MAX {
            keep(&profiles.join(format!("profile-20261123T0945{number:02}Z-1.{EXTENSION}")), b"{}").unwrap();
        }
        assert!(profiles.join(format!("stuck-10.{EXTENSION}")).exists(), "others have evicted it");
        assert_eq!(fs::read_dir(&profiles).unwrap().count(), 2 * PROFILES_MAX);
    }

    #[test]
    fn place_that_is_named_is_in_the_app_where_it_can_be() {
        let frame = |file: &str, line| Frame { function: "f".to_owned(), file: file.to_owned(), line, column: 1 };
        let frames = [frame("node:fs", 9), frame("lib/a.js", 3), frame("app.js", 7)];
        assert_eq!(named(&frames), Some(&frames[1]));
        assert_eq!(named(&frames[..1]), Some(&frames[0]));
        assert_eq!(named(&[]), None);
    }
}
