//! Evidence of a crash that outlives the worker: the diagnostic report of Node.js, and the place of the core dump.
//!
//! The preload has Node.js write the report beside the worker's socket (`packages/preload/src/control/crash-report.ts`). It moves
//! to the state directory without the environment, which holds secrets. Few are kept there, and none that is large.

use std::cell::{Cell, RefCell};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nix::sys::resource::{Resource, getrlimit};
use nix::sys::signal::Signal;
use serde_json::Value;
use sluice_journal::Level;
use sluice_observe::{make_room, write_whole};
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;

use crate::Supervisor;
use crate::process::Process;

/// Maximum size of a stored report, bytes. One of 10,000 open handles has 3 MiB.
const REPORT_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Age above which a report belongs to an error that the process survived.
const REPORT_AGE_MAX: Duration = Duration::from_secs(10);
/// Maximum wait for a report. Reading or writing of a network file system may hang.
const TAKE_TIMEOUT: Duration = Duration::from_secs(2);
/// End of a report's name.
const SUFFIX: &str = ".report";
/// Properties of an error that hold no secret; apps add others, such as requests with their headers.
const PROPERTIES: [&str; 3] = ["code", "errno", "syscall"];

/// Reason for the loss of a report.
#[derive(Debug)]
pub(crate) enum Lost {
    /// The report is larger than [`REPORT_BYTES_MAX`].
    Large(u64),
    /// The report is no JSON: its disk was full.
    CutOff,
    /// Reading or writing takes longer than [`TAKE_TIMEOUT`].
    Silent(PathBuf),
    Io(PathBuf, io::Error),
}

impl std::fmt::Display for Lost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Large(bytes) => write!(f, "its {bytes} bytes exceed the limit of {REPORT_BYTES_MAX}"),
            Self::CutOff => f.write_str("Node.js did not complete it. Free space on the disk of the run directory"),
            Self::Silent(path) => write!(
                f,
                "{} or the run directory does not answer. Name a directory on another file system with --state-dir",
                path.display()
            ),
            Self::Io(path, error) => write!(
                f,
                "{}: {error}. Free space there, make it writable, or name another directory with --state-dir",
                path.display()
            ),
        }
    }
}

/// Keeps the evidence of a process that has exited. Returns what there is, in words; `None` if nothing is left of it.
pub(crate) async fn keep(
    supervisor: &Supervisor,
    process: &Process,
    socket: &Path,
    status: &io::Result<ExitStatus>,
) -> Option<String> {
    let pid = match process.listener_pid.get() {
        None if process.app.is_command() => None,
        known => Some(known.unwrap_or(process.pid)),
    };
    let (socket, file) = (socket.to_owned(), supervisor.profiles.join(name(process.worker.0)));
    let taken = supervisor.evidence_moves.within(TAKE_TIMEOUT, move || take(&socket, pid, &file)).await;
    let taken = taken.unwrap_or_else(|| Err(Lost::Silent(supervisor.profiles.clone())));
    let report = taken.unwrap_or_else(|lost| {
        supervisor.tell_of_lost_evidence(process.worker.0, &lost);
        None
    });
    if report.is_some() {
        supervisor.is_lost_evidence_told.set(false);
    }
    let is_killed = process.was_killed.get().is_some() || process.rest_was_killed.get();
    let core = status.as_ref().ok().filter(|_| !is_killed).and_then(|status| {
        let signal =
            status.signal().and_then(|signal| Signal::try_from(signal).ok()).filter(|signal| dumps(*signal))?;
        if status.core_dumped() {
            return Some(core_place(&process.app.cwd, process.pid, signal));
        }
        report.is_none().then(why_no_core)
    });
    let report = report.map(|file| format!("report {}", file.display()));
    let parts: Vec<String> = report.into_iter().chain(core).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Place of a report that is kept; `None` if there was none.
type Taken = Result<Option<PathBuf>, Lost>;

/// Moves of reports into the state directory, one of which may hang.
#[derive(Default)]
pub(crate) struct Moves {
    hung: RefCell<Option<JoinHandle<Taken>>>,
}

impl Moves {
    /// Result of `take`. `None` if it takes longer than that, or an earlier one still hangs: each would occupy a thread.
    async fn within(&self, longest: Duration, take: impl FnOnce() -> Taken + Send + 'static) -> Option<Taken> {
        if self.hung.borrow().as_ref().is_some_and(|hung| !hung.is_finished()) {
            return None;
        }
        let mut taking = spawn_blocking(take);
        let taken = timeout(longest, &mut taking).await;
        let Ok(taken) = taken else {
            self.hung.replace(Some(taking));
            return None;
        };
        Some(taken.unwrap_or(Ok(None)))
    }
}

/// Recognises lines that Node.js writes on stderr about these reports, which the app has not asked for.
#[derive(Default)]
pub(crate) struct ReportChatter {
    is_open: Cell<bool>,
}

impl ReportChatter {
    /// Whether the line is of Node.js about a report beside this socket.
    pub(crate) fn has(&self, line: &str, socket: &Path) -> bool {
        if let Some(file) = line.strip_prefix("Writing Node.js report to file: ") {
            let own = socket.file_name().and_then(OsStr::to_str).unwrap_or_default();
            self.is_open.set(file.ends_with(SUFFIX) && file.starts_with(own));
            return self.is_open.get();
        }
        line == "Node.js report completed" && self.is_open.replace(false)
    }
}

impl Supervisor {
    /// Says it once: the next worker would say the same.
    fn tell_of_lost_evidence(&self, worker: u64, lost: &Lost) {
        if !self.is_lost_evidence_told.replace(true) {
            let text = format!(
                "Worker {worker}'s diagnostic report is lost; while this lasts, later losses are not logged: {lost}."
            );
            self.note(Level::Warn, &text);
        }
    }
}

fn name(worker: u64) -> String {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let time = sluice_journal::timestamp(u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX));
    format!("crash-{}-worker-{worker}.json", time.replace(['-', ':', '.'], ""))
}

/// Moves the report of this process into `file`, and deletes all others beside the socket. The latest one counts if
/// the process is not known. Blocks.
fn take(socket: &Path, pid: Option<u32>, file: &Path) -> Taken {
    let found = reports(socket);
    let own = pid.map(|pid| format!(".{pid}{SUFFIX}"));
    let is_own = |path: &&PathBuf| own.as_ref().is_none_or(|end| path.to_string_lossy().ends_with(end));
    let is_new = |at: &SystemTime| at.elapsed().is_ok_and(|age| age <= REPORT_AGE_MAX);
    let latest = found.iter().filter(|(at, path)| is_new(at) && is_own(&path)).max();
    let kept = latest.map(|(_, path)| copy(path, file)).transpose();
    for (_, path) in &found {
        let _ = fs::remove_file(path);
    }
    kept
}

/// Reports beside a socket, with the times of their last writes. Opening what is no regular file may hang.
fn reports(socket: &Path) -> Vec<(SystemTime, PathBuf)> {
    let (Some(dir), Some(name)) = (socket.parent(), socket.file_name().and_then(OsStr::to_str)) else {
        return Vec::new();
    };
    let start = format!("{name}.");
    let is_report = |path: &Path| {
        let name = path.file_name().and_then(OsStr::to_str);
        name.is_some_and(|name| name.starts_with(&start) && name.ends_with(SUFFIX))
    };
    let entries = fs::read_dir(dir).into_iter().flatten().flatten().filter(|entry| is_report(&entry.path()));
    let found = entries.filter_map(|entry| Some((entry.metadata().ok()?, entry.path())));
    found
        .filter(|(facts, _)| facts.is_file())
        .filter_map(|(facts, path)| Some((facts.modified().ok()?, path)))
        .collect()
}

/// Writes a report without its secrets.
fn copy(from: &Path, to: &Path) -> Result<PathBuf, Lost> {
    let io = |path: &Path| {
        let path = path.to_owned();
        move |error| Lost::Io(path, error)
    };
    let bytes = fs::metadata(from).map_err(io(from))?.len();
    if bytes > REPORT_BYTES_MAX {
        return Err(Lost::Large(bytes));
    }
    let text = fs::read(from).map_err(io(from))?;
    let mut report: Value = serde_json::from_slice(&text).map_err(|_| Lost::CutOff)?;
    leave_secrets_out(&mut report);
    make_room(to).and_then(|()| write_whole(to, report.to_string().as_bytes())).map_err(io(to))?;
    Ok(to.to_owned())
}

/// Removes the environment and what apps add to errors, of the process and of its threads.
fn leave_secrets_out(report: &mut Value) {
    let Some(parts) = report.as_object_mut() else { return };
    parts.remove("environmentVariables");
    if let Some(properties) = parts
        .get_mut("javascriptStack")
        .and_then(|stack| stack.get_mut("errorProperties"))
        .and_then(Value::as_object_mut)
    {
        properties.retain(|name, _| PROPERTIES.contains(&name.as_str()));
    }
    for worker in parts.get_mut("workers").and_then(Value::as_array_mut).into_iter().flatten() {
        leave_secrets_out(worker);
    }
}

/// Whether a signal ends a process with a core dump, by signal(7).
const fn dumps(signal: Signal) -> bool {
    use Signal::{SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGQUIT, SIGSEGV, SIGSYS, SIGTRAP, SIGXCPU, SIGXFSZ};
    matches!(signal, SIGABRT | SIGBUS | SIGFPE | SIGILL | SIGQUIT | SIGSEGV | SIGSYS | SIGTRAP | SIGXCPU | SIGXFSZ)
}

fn why_no_core() -> String {
    match getrlimit(Resource::RLIMIT_CORE) {
        Ok((0, _)) => "no core dump: RLIMIT_CORE is 0; run `ulimit -c unlimited` before `sluice start`, or set \
                       LimitCORE=infinity in the systemd unit"
            .to_owned(),
        _ => format!("no core dump: the kernel could not write one (core_pattern `{}`; see core(5))", core_pattern()),
    }
}

fn core_pattern() -> String {
    // Other systems than Linux have none to read: macOS writes into this directory.
    let pattern = fs::read_to_string("/proc/sys/kernel/core_pattern");
    pattern.map_or_else(|_| "/cores/core.%p".to_owned(), |pattern| pattern.trim_end().to_owned())
}

fn core_place(cwd: &Path, pid: u32, signal: Signal) -> String {
    let pattern = core_pattern();
    let has_pid = fs::read_to_string("/proc/sys/kernel/core_uses_pid").is_ok_and(|text| text.trim() != "0");
    match pattern.strip_prefix('|') {
        Some(program) => {
            let program = program.split_whitespace().next().unwrap_or_default();
            let hint = if program.contains("systemd-coredump") { " (`coredumpctl` lists it)" } else { "" };
            format!("core dump passed to {program}{hint}")
        }
        None => format!("core dump {}", cwd.join(core_file(&pattern, has_pid, pid, signal)).display()),
    }
}

/// Name of a core dump by core(5). Parts that only the kernel knows are stars.
fn core_file(pattern: &str, has_pid: bool, pid: u32, signal: Signal) -> String {
    let mut file = String::new();
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match (letter, letter == '%') {
            (_, true) => match letters.next() {
                Some('%') => file.push('%'),
                Some('p' | 'i') => file.push_str(&pid.to_string()),
                Some('s') => file.push_str(&(signal as i32).to_string()),
                Some(_) => file.push('*'),
                None => {}
            },
            _ => file.push(letter),
        }
    }
    if has_pid && !pattern.contains("%p") {
        file.push('.');
        file.push_str(&pid.to_string());
    }
    file
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    const REPORT: &str = r#"{"header":{"event":"boom"},"environmentVariables":{"TOKEN":"s3cret"},
        "javascriptStack":{"message":"Error: boom","errorProperties":{"code":"E1","token":"s3cret"}},
        "workers":[{"environmentVariables":{"TOKEN":"s3cret"},"header":{}}]}"#;

    fn laid_out(reports: &[(u32, &str)]) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("worker-3.sock");
        for (pid, text) in reports {
            fs::write(format!("{}.{pid}{SUFFIX}", socket.display()), text).unwrap();
        }
        (dir, socket)
    }

    #[test]
    fn a_report_moves_without_secrets_and_those_of_others_are_deleted() {
        let (dir, socket) = laid_out(&[(7, REPORT), (8, "{}")]);
        fs::write(dir.path().join("worker-33.sock.7.report"), "{}").unwrap();
        let to = dir.path().join("profiles/crash-1-worker-3.json");
        assert_eq!(take(&socket, Some(7), &to).unwrap(), Some(to.clone()));
        let kept = fs::read_to_string(&to).unwrap();
        assert!(kept.contains("Error: boom") && kept.contains("\"E1\""), "{kept}");
        assert!(!kept.contains("s3cret"), "{kept}");
        assert_eq!(fs::metadata(&to).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(reports(&socket), []);
        assert!(dir.path().join("worker-33.sock.7.report").exists(), "it is another worker's");
        assert_eq!(take(&socket, Some(7), &to).unwrap(), None);
    }

    #[test]
    fn a_report_of_a_child_or_of_long_ago_is_no_evidence() {
        let (dir, socket) = laid_out(&[(8, REPORT)]);
        let to = dir.path().join("profiles/crash-1-worker-3.json");
        assert_eq!(take(&socket, Some(7), &to).unwrap(), None);
        let (dir, socket) = laid_out(&[(7, REPORT)]);
        let file = fs::File::options().append(true).open(dir.path().join("worker-3.sock.7.report")).unwrap();
        file.set_modified(SystemTime::now() - REPORT_AGE_MAX * 2).unwrap();
        assert_eq!(take(&socket, Some(7), &to).unwrap(), None);
        assert_eq!(reports(&socket), []);
        let (_dir, socket) = laid_out(&[(8, REPORT)]);
        assert!(take(&socket, None, &to).unwrap().is_some(), "a command's process may be any");
    }

    #[test]
    fn only_a_regular_file_is_a_report() {
        let (dir, socket) = laid_out(&[]);
        let beside = PathBuf::from(format!("{}.7{SUFFIX}", socket.display()));
        nix::unistd::mkfifo(&beside, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let to = dir.path().join("profiles/crash-1-worker-3.json");
        assert_eq!(take(&socket, Some(7), &to).unwrap(), None);
        fs::remove_file(&beside).unwrap();
        fs::write(dir.path().join("else"), REPORT).unwrap();
        std::os::unix::fs::symlink(dir.path().join("else"), &beside).unwrap();
        assert_eq!(take(&socket, Some(7), &to).unwrap(), None);
    }

    #[tokio::test]
    async fn a_file_system_that_hangs_does_not_hold_up_the_exit_of_a_worker() {
        let (moves, soon) = (Moves::default(), Duration::from_millis(10));
        let (release, hung) = std::sync::mpsc::channel::<()>();
        let hanging = move || {
            let _ = hung.recv();
            Ok(None)
        };
        assert!(moves.within(soon, hanging).await.is_none());
        assert!(moves.within(TAKE_TIMEOUT, || Ok(Some("a".into()))).await.is_none(), "a second one would hang as well");
        drop(release);
        let hung = moves.hung.take().unwrap();
        assert!(hung.await.is_ok());
        assert_eq!(moves.within(TAKE_TIMEOUT, || Ok(Some("a".into()))).await.unwrap().unwrap(), Some("a".into()));
        let lost = Lost::Silent("/mnt/state".into()).to_string();
        assert!(lost.contains("/mnt/state or the run directory does not answer"), "{lost}");
    }

    #[test]
    fn a_report_that_cannot_be_kept_says_why_and_leaves_nothing() {
        let (dir, socket) = laid_out(&[(7, &REPORT[..40])]);
        let to = dir.path().join("profiles/crash-1-worker-3.json");
        assert!(take(&socket, Some(7), &to).unwrap_err().to_string().contains("did not complete it"));
        let (dir, socket) = laid_out(&[(7, REPORT)]);
        let large = fs::File::options().append(true).open(dir.path().join("worker-3.sock.7.report")).unwrap();
        large.set_len(REPORT_BYTES_MAX + 1).unwrap();
        assert!(matches!(take(&socket, Some(7), &to), Err(Lost::Large(_))));
        let (dir, socket) = laid_out(&[(7, REPORT)]);
        let blocked = dir.path().join("profiles");
        fs::write(&blocked, "no directory").unwrap();
        let lost = take(&socket, Some(7), &blocked.join("crash-1-worker-3.json")).unwrap_err().to_string();
        assert!(lost.contains("--state-dir"), "{lost}");
        assert_eq!(reports(&socket), []);
    }

    #[test]
    fn twenty_crashes_later_the_oldest_reports_go() {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("worker-3.sock");
        for crash in 0..25 {
            fs::write(format!("{}.7{SUFFIX}", socket.display()), REPORT).unwrap();
            take(&socket, Some(7), &dir.path().join(format!("profiles/crash-{crash:02}-worker-3.json"))).unwrap();
        }
        let mut left: Vec<_> =
            fs::read_dir(dir.path().join("profiles")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!((left.len(), left[0].to_str()), (20, Some("crash-05-worker-3.json")));
    }

    #[test]
    fn lines_about_reports_of_the_app_stay() {
        let (chatter, socket) = (ReportChatter::default(), Path::new("/run/x/worker-3.sock"));
        let kept = |line| !chatter.has(line, socket);
        assert!(!kept("Writing Node.js report to file: worker-3.sock.7.report"));
        assert!(!kept("Node.js report completed"));
        assert!(kept("Writing Node.js report to file: report.20261129.json"));
        assert!(kept("Node.js report completed"));
    }

    #[test]
    fn a_core_dump_is_named_as_the_kernel_names_it() {
        for (pattern, has_pid, name) in
            [("core", false, "core"), ("core", true, "core.7"), ("/var/cores/%e.%p.%s%%", true, "/var/cores/*.7.11%")]
        {
            assert_eq!(core_file(pattern, has_pid, 7, Signal::SIGSEGV), name, "{pattern}");
        }
        assert!(dumps(Signal::SIGSEGV) && !dumps(Signal::SIGKILL) && !dumps(Signal::SIGTERM));
    }
}
