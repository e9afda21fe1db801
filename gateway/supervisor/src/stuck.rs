//! Examination of a stuck or blocked worker before it is killed: the look into it, the log line that names the place,
//! and the file of its profile.

use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use sluice_journal::{Event, Level, RunTime, StuckPlace};
use sluice_observe::{CutRun, RequestName, make_room, write_whole};
use sluice_scheduler::Event::Examined;
use sluice_scheduler::WorkerId;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::forensics::{self, Besides, Examination, Frame, Patience};
use crate::process::Process;
use crate::process::facts::{CpuUse, Trouble, TroubleKind};
use crate::{Supervisor, priority, sample};

/// Time limits of the examination. It must end before the scheduler stops waiting for it. No single step has a lower
/// limit: on a busy machine each may be the slow one, and the stack, which comes first, is the most valuable.
const PATIENCE: Patience = Patience {
    address: Duration::from_millis(870),
    step: Duration::from_millis(870),
    profile: Duration::from_millis(250),
    total: Duration::from_millis(870),
    mapping: Duration::from_secs(3),
};

/// Maximum wait for the file of the profile. A network file system may hang.
const KEEP_TIMEOUT: Duration = Duration::from_secs(2);
const EXTENSION: &str = "cpuprofile";

/// Maximum number of frames in the log.
const FRAMES_MAX: usize = 8;
/// Maximum number of functions of the profile in the log.
const HOTTEST_MAX: usize = 3;

/// Examines the worker, logs the result, and lets the scheduler continue.
pub(crate) async fn examine(supervisor: Rc<Supervisor>, process: Rc<Process>) {
    let worker = process.worker;
    let Some(trouble) = process.trouble.get() else {
        return supervisor.gate.tell(Examined { worker });
    };
    let Trouble { kind, used, .. } = trouble;
    let silent_ms = trouble.silent_ms();
    let latest = supervisor.gate.workers().latest_request(worker);
    let request = latest.as_ref();
    let held = supervisor.gate.workers().held(worker).len();
    if kind == TroubleKind::Blocked {
        // The inspector does not answer in a synchronous wait; there is nothing to look into.
        let waits_in = &sample::describe(process.serving_pid());
        supervisor.journal.emit(Event::WorkerBlocked {
            worker: worker.0,
            silent_ms,
            waits_in,
            request: request.map(RequestName::held),
        });
        let spent = Some(RunTime::Waiting);
        let CpuUse { cpu_us, queued_us } = used;
        let run = CutRun { ms: silent_ms, cpu_us, queued_us, place: None, spent, profile: None, held };
        supervisor.gate.workers().cut_off(worker, &run, request);
        process.diagnosis.send_replace(Some(format!("blocked for {}: {waits_in}", seconds(silent_ms))));
        return supervisor.gate.tell(Examined { worker });
    }
    if supervisor.may_raise {
        // At the lowest priority it would not answer in time on a busy machine; it has not long to live.
        let _ = process.set_priority(priority::usual());
    }
    let pid = process.serving_pid();
    let subject = process.subject(pid);
    let look = forensics::look(&subject, process.inspector.clone(), PATIENCE, Besides::CpuProfile).await;
    supervisor.gate.tell(Examined { worker });
    let examination = look.examine(&subject, PATIENCE).await;
    let file = match &examination.profile {
        Ok(profile) => kept(&supervisor, worker, profile.json.clone()).await,
        Err(_) => None,
    };
    tell(&supervisor, worker, trouble, &examination, (request, held), file.as_deref());
    let place = examination.stack.as_deref().map(located).unwrap_or_default();
    process.diagnosis.send_replace(Some(format!("stuck for {}{place}", seconds(silent_ms))));
}

fn seconds(ms: u64) -> String {
    format!("{}.{} s", ms / 1000, ms % 1000 / 100)
}

/// Keeps the profile, in the run directory if the state directory takes none. Returns its file.
async fn kept(supervisor: &Supervisor, worker: WorkerId, json: Vec<u8>) -> Option<PathBuf> {
    let name = format!("stuck-{}.{EXTENSION}", worker.0);
    let places = [supervisor.profiles.join(&name), supervisor.profiles_instead.join(&name)];
    let written = spawn_blocking(move || keep(places, &json));
    let written = timeout(KEEP_TIMEOUT, written).await.map_err(io::Error::from);
    match written.and_then(|written| written.map_err(io::Error::other)).flatten() {
        Ok(file) => Some(file),
        Err(error) => {
            let text =
                format!("{}: {error}; the profile of stuck worker {} is lost", supervisor.profiles.display(), worker.0);
            supervisor.note(Level::Warn, &text);
            None
        }
    }
}

/// Logs the result.
fn tell(
    supervisor: &Supervisor,
    worker: WorkerId,
    trouble: Trouble,
    examination: &Examination,
    (request, held): (Option<&RequestName>, usize),
    file: Option<&Path>,
) {
    let silent_ms = trouble.silent_ms();
    let CpuUse { cpu_us, queued_us } = trouble.used;
    let why = examination.stack.as_ref().err().map(ToString::to_string).unwrap_or_default();
    let frames = examination.stack.as_deref().unwrap_or_default();
    let stack = frames.iter().take(FRAMES_MAX).map(ToString::to_string).collect::<Vec<_>>().join(" < ");
    let found = named(frames);
    let place = found.map(|Frame { function, file, line, column }| StuckPlace {
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
    let profile = file.and_then(Path::to_str);
    supervisor.journal.emit(Event::WorkerStuck {
        worker: worker.0,
        silent_ms,
        cpu_ms: cpu_us.map(|us| us / 1000),
        place: place.ok_or(why),
        hottest,
        request: request.map(RequestName::held),
        profile,
    });
    let place = found.map(ToString::to_string);
    let spent = RunTime::of(silent_ms.saturating_mul(1000), cpu_us, queued_us);
    let run = CutRun { ms: silent_ms, cpu_us, queued_us, place: place.as_deref(), spent, profile, held };
    supervisor.gate.workers().cut_off(worker, &run, request);
}

/// Innermost frame in the app's own code, where a developer can fix it; else the innermost of all.
pub(crate) fn named(frames: &[Frame]) -> Option<&Frame> {
    frames.iter().find(|frame| is_own(frame)).or(frames.first())
}

fn is_own(frame: &Frame) -> bool {
    frame.line > 0 && !frame.file.starts_with("node:")
}

/// Place of the main thread as the end of a sentence, with its nearest caller in the app outside of its packages. The innermost
/// function may be a helper that is called from everywhere.
fn located(frames: &[Frame]) -> String {
    let Some(frame) = named(frames) else { return String::new() };
    let is_other = |caller: &&Frame| {
        let is_same = (&caller.function, &caller.file) == (&frame.function, &frame.file);
        is_own(caller) && !is_same && !caller.file.contains("node_modules/")
    };
    let caller = frames.iter().skip_while(|other| *other != frame).find(is_other);
    let caller = caller.map(|caller| format!(", called by {caller}")).unwrap_or_default();
    format!(" in {frame}{caller}")
}

/// Writes the profile, readable only by this user, to the first of the places that takes it. Blocks.
fn keep(places: [PathBuf; 2], json: &[u8]) -> io::Result<PathBuf> {
    let write = |file: PathBuf| make_room(&file).and_then(|()| write_whole(&file, json)).map(|()| file);
    let [first, second] = places;
    write(first).or_else(|error| write(second).map_err(|_| error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_that_is_named_is_in_the_app_where_it_can_be() {
        let frame = |file: &str, line| Frame { function: "f".to_owned(), file: file.to_owned(), line, column: 1 };
        let frames = [frame("node:fs", 9), frame("lib/a.js", 3), frame("app.js", 7)];
        assert_eq!(named(&frames), Some(&frames[1]));
        assert_eq!(named(&frames[..1]), Some(&frames[0]));
        assert_eq!(named(&[]), None);
    }

    #[test]
    fn a_helper_is_named_with_the_function_that_called_it() {
        let frame = |function: &str, file: &str, line| Frame {
            function: function.to_owned(),
            file: file.to_owned(),
            line,
            column: 1,
        };
        let clean = frame("clean", "lib/text.js", 3);
        let library = frame("handle", "node_modules/express/lib/layer.js", 5);
        let frames = [
            frame("at", "node:x", 1),
            clean.clone(),
            frame("clean", "lib/text.js", 9),
            library,
            frame("page", "app.js", 7),
        ];
        assert_eq!(located(&frames), " in clean (lib/text.js:3:1), called by page (app.js:7:1)");
        assert_eq!(located(&[clean]), " in clean (lib/text.js:3:1)");
        assert_eq!(located(&[]), "");
    }

    #[test]
    fn a_profile_goes_where_it_can_be_kept() {
        let dir = tempfile::tempdir().unwrap();
        let (blocked, run) = (dir.path().join("file"), dir.path().join("run/stuck-1.cpuprofile"));
        std::fs::write(&blocked, "").unwrap();
        let blocked = blocked.join("stuck-1.cpuprofile");
        assert_eq!(keep([blocked.clone(), run.clone()], b"{}").unwrap(), run);
        assert_eq!(std::fs::read(&run).unwrap(), b"{}");
        assert!(keep([blocked.clone(), blocked], b"{}").is_err());
    }
}
