//! The gateway of a rehearsal: a process of its own with directories of its own, which ends with the rehearsal.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, mkdtemp};
use serde::Deserialize;
use sluice_catalog::snapshot::{Snapshot, WorkerSnapshot, WorkerState};
use sluice_rehearse::GatewayTally;
use tokio::time::Instant;

use super::interrupt::Interrupt;
use super::{Failure, faults};
use crate::args::{RehearseArgs, RunDirArg};
use crate::client::connect;
use crate::client::status::harmless;
use crate::exit::Exit;

/// Maximum number of stored lines of app and gateway for a failure report.
const LINES_MAX: usize = 40;
/// Bytes of a log line; longer ones are read in parts, which are no lines of JSON.
const LINE_BYTES_MAX: u64 = 1 << 20;
/// Interval of looks at the gateway's state.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Maximum time until all workers are ready again after a fault.
const CALM_MAX: Duration = Duration::from_secs(60);
/// Maximum wait for the log lines of finished requests.
const LINES_LATE_MAX: Duration = Duration::from_secs(2);
/// Maximum time of a stop before the gateway is killed.
const STOP_MAX: Duration = Duration::from_secs(20);

/// Content of a log line that matters here.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Line {
    event: String,
    level: String,
    queue_ms: Option<f64>,
    tries: Option<u64>,
    stream: Option<String>,
    line: Option<String>,
    text: Option<String>,
}

/// Summary of the gateway's log so far.
#[derive(Default)]
struct Said {
    tally: GatewayTally,
    /// The latest lines of the app's standard error, and of anything that is no line of the log.
    lines: VecDeque<String>,
}

impl Said {
    fn keep(&mut self, line: &str) {
        if self.lines.len() == LINES_MAX {
            self.lines.pop_front();
        }
        self.lines.push_back(line.lines().map(harmless).collect::<Vec<_>>().join("\n"));
    }

    fn take(&mut self, bytes: &[u8]) {
        let Ok(line) = serde_json::from_slice::<Line>(bytes) else {
            return self.keep(&String::from_utf8_lossy(bytes));
        };
        match line.event.as_str() {
            "access" => self.tally.record(line.queue_ms, line.tries.unwrap_or(0)),
            "app" if line.stream.as_deref() == Some("stderr") => self.keep(line.line.as_deref().unwrap_or("")),
            _ if line.level == "error" => {
                if let Some(text) = line.text {
                    self.keep(&text);
                }
            }
            _ => {}
        }
    }
}

/// A gateway with its directories. Both are gone when it is dropped.
pub struct Gateway {
    child: Child,
    dir: PathBuf,
    said: Arc<Mutex<Said>>,
    hearers: Vec<JoinHandle<()>>,
}

/// Makes a directory of a random name below `parent`, which only this user can enter.
///
/// # Errors
/// They name the path.
pub fn make_dir(parent: &Path) -> io::Result<PathBuf> {
    let template = parent.join("slu-rehearse-XXXXXX");
    mkdtemp(&template).map_err(|error| {
        let error = io::Error::from(error);
        io::Error::new(error.kind(), format!("{}: {error}", template.display()))
    })
}

impl Gateway {
    /// Starts the same program as a gateway on a free port of loopback. `dir` is from then on the gateway's.
    pub fn start(args: &RehearseArgs, dir: PathBuf, settings: &BTreeMap<&'static str, String>) -> io::Result<Self> {
        let file = dir.join("settings.json");
        fs::write(&file, serde_json::to_vec(settings)?)?;
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("rehearsed").arg("--settings").arg(&file);
        command.args(["--port", "0", "--host", "127.0.0.1", "--admin", "off", "--log-format", "json"]);
        command.arg("--run-dir").arg(dir.join("run")).arg("--state-dir").arg(dir.join("state"));
        if let Some(config) = &args.config {
            command.arg("--config").arg(config);
        }
        if let Some(workers) = args.workers {
            command.args(["--workers", &workers.to_string()]);
        }
        if let Some(entry) = &args.entry {
            command.arg(entry);
        }
        if !args.command.is_empty() {
            command.arg("--").args(&args.command);
        }
        // A service manager that started the rehearsal waits for that, and not for its gateway.
        for name in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "STATE_DIRECTORY"] {
            command.env_remove(name);
        }
        // Its own group: a Ctrl-C at the terminal is for the rehearsal, which stops the gateway.
        command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let said = Arc::<Mutex<Said>>::default();
        let stdout = child.stdout.take().map(|stdout| hear(stdout, Arc::clone(&said)));
        let stderr = child.stderr.take().map(|stderr| hear(stderr, Arc::clone(&said)));
        Ok(Self { child, dir, said, hearers: stdout.into_iter().chain(stderr).collect() })
    }

    /// Run directory, by which its control socket is found.
    pub fn run_dir(&self) -> RunDirArg {
        RunDirArg { run_dir: Some(self.dir.join("run")) }
    }

    fn said(&self) -> std::sync::MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts counting afresh, and returns what was counted. The log may be a little behind `requests` requests.
    pub fn take_tally(&self, requests: u64) -> GatewayTally {
        let began = Instant::now();
        while self.said().tally.requests < requests && began.elapsed() < LINES_LATE_MAX {
            thread::sleep(LOOK_EVERY / 5);
        }
        std::mem::take(&mut self.said().tally)
    }

    /// Waits until all workers serve and no request waits.
    pub fn settle(&mut self, limit: Option<Duration>, interrupt: &Interrupt) -> Result<Snapshot, Failure> {
        let (began, limit) = (Instant::now(), limit.unwrap_or(CALM_MAX));
        loop {
            interrupt.check()?;
            if let Some(status) =
                self.child.try_wait().map_err(|error| self.failure(Exit::Failed, &error.to_string()))?
            {
                let exit = if status.code() == Some(Exit::AppDidNotStart as i32) {
                    Exit::AppDidNotStart
                } else {
                    Exit::Failed
                };
                let reason = if exit == Exit::AppDidNotStart { "the app did not start" } else { "the gateway ended" };
                self.hear_out();
                return Err(self.failure(exit, reason));
            }
            if let Some(snapshot) = faults::status(&self.run_dir()).filter(is_calm) {
                return Ok(snapshot);
            }
            if began.elapsed() > limit {
                let reason = format!("not all workers serve after {} s", limit.as_secs());
                return Err(self.failure(Exit::AppDidNotStart, &reason));
            }
            thread::sleep(LOOK_EVERY);
        }
    }

    /// Waits for the last words of a gateway that has ended.
    fn hear_out(&self) {
        let began = Instant::now();
        while !self.hearers.iter().all(JoinHandle::is_finished) && began.elapsed() < LINES_LATE_MAX {
            thread::sleep(LOOK_EVERY / 5);
        }
    }

    /// A failure with the latest lines of the app.
    pub fn failure(&self, exit: Exit, reason: &str) -> Failure {
        let said = self.said();
        let lines: Vec<&str> = said.lines.iter().map(String::as_str).collect();
        let tail = if lines.is_empty() { "it wrote nothing to standard error".to_owned() } else { lines.join("\n") };
        Failure::new(exit, format!("{reason}. The latest lines of the app and the gateway:\n{tail}"))
    }

    fn stop(&mut self) {
        let Ok(pid) = i32::try_from(self.child.id()).map(Pid::from_raw) else { return };
        // The second signal ends what a drain would wait for.
        for _ in 0..2 {
            if matches!(self.child.try_wait(), Ok(Some(_)) | Err(_)) {
                return;
            }
            let _ = kill(pid, Signal::SIGTERM);
            let began = Instant::now();
            while began.elapsed() < STOP_MAX / 2 {
                if matches!(self.child.try_wait(), Ok(Some(_)) | Err(_)) {
                    return;
                }
                thread::sleep(LOOK_EVERY / 5);
            }
        }
        // Its guardian kills the workers then.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.stop();
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// Removes the directory of a gateway that was never started.
pub fn remove_dir(dir: &Path) {
    let _ = fs::remove_dir_all(dir);
}

/// Workers that serve, by their process ids.
pub fn serving(snapshot: &Snapshot) -> impl Iterator<Item = (&WorkerSnapshot, u32)> {
    let serves = |worker: &&WorkerSnapshot| matches!(worker.state, WorkerState::Ready | WorkerState::Busy);
    snapshot.workers.iter().filter(serves).filter_map(|worker| Some((worker, worker.pid?)))
}

fn is_calm(snapshot: &Snapshot) -> bool {
    let wanted = snapshot.workers_wanted.unwrap_or(1) as usize;
    serving(snapshot).count() >= wanted
        && serving(snapshot).count() == snapshot.workers.len()
        && snapshot.queue.length == 0
}

/// Reads lines on a thread until the stream ends.
fn hear(stream: impl Read + Send + 'static, said: Arc<Mutex<Said>>) -> JoinHandle<()> {
    thread::spawn(move || {
        let mut stream = BufReader::with_capacity(256 * 1024, stream);
        let mut line = Vec::new();
        loop {
            line.clear();
            match stream.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => {
                    let line = line.trim_ascii_end();
                    if !line.is_empty() {
                        said.lock().unwrap_or_else(PoisonError::into_inner).take(line);
                    }
                }
            }
        }
    })
}

/// Connects to the gateway of this run directory.
pub fn control(run_dir: &RunDirArg) -> Result<connect::Gateway, connect::ClientError> {
    connect::Gateway::connect(run_dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_have_names_of_their_own_and_errors_name_the_path() {
        use std::os::unix::fs::PermissionsExt as _;
        let parent = tempfile::tempdir().unwrap();
        let [one, other] = [(); 2].map(|()| make_dir(parent.path()).unwrap());
        assert_ne!(one, other);
        assert_eq!(one.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        let missing = parent.path().join("missing");
        let error = make_dir(&missing).unwrap_err().to_string();
        assert!(error.contains(missing.to_str().unwrap()), "{error}");
    }

    #[test]
    fn log_lines_become_counts_and_lines_of_the_app_are_kept_without_end_of_memory() {
        let mut said = Said::default();
        said.take(br#"{"event":"access","level":"info","queue_ms":1.5,"tries":2}"#);
        said.take(br#"{"event":"app","level":"info","stream":"stdout","line":"hello"}"#);
        for number in 0..100 {
            said.take(
                format!(r#"{{"event":"app","level":"warn","stream":"stderr","line":"e{number}\u001b[2J"}}"#).as_bytes(),
            );
        }
        said.take(b"no JSON");
        assert_eq!((said.tally.requests, said.tally.retried), (1, 1));
        assert_eq!(said.lines.len(), LINES_MAX);
        assert_eq!(said.lines.iter().rev().take(2).collect::<Vec<_>>(), ["no JSON", "e99?[2J"]);
    }
}
