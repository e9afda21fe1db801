//! The guardian: a process that outlives a killed gateway for a moment and kills the workers' process groups.
//!
//! The gateway sends it each group through a pipe. If the pipe ends without a goodbye for a group, the gateway has
//! died, for whatever reason, and the guardian kills the group.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::{self, BufRead as _, PipeWriter, Write as _};
use std::path::PathBuf;
use std::process::Stdio;
use std::rc::{Rc, Weak};
use std::time::Duration;

use nix::sys::signal::{SigSet, Signal, killpg};
use nix::unistd::Pid;
use sluice_journal::{Event, Journal, Level, Tasks};
use tokio::process::{Child, Command};
use tokio::time::Instant;

/// Pause before another guardian is started if one lived shorter than this; it doubles up to the maximum.
const PAUSE_MIN: Duration = Duration::from_millis(100);
/// Maximum pause before another guardian is started.
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// The gateway's end of the pipe.
pub(crate) struct Guardian {
    pipe: RefCell<PipeWriter>,
    watched: RefCell<BTreeSet<u32>>,
    journal: Journal,
}

impl Guardian {
    /// Starts the process, and another one whenever it has ended.
    ///
    /// # Errors
    /// When this very program cannot be started again.
    pub(crate) fn start(tasks: &Tasks) -> io::Result<Rc<Self>> {
        let (child, pipe) = spawn()?;
        let guardian =
            Rc::new(Guardian { pipe: RefCell::new(pipe), watched: RefCell::default(), journal: tasks.journal.clone() });
        tasks.spawn("guardian", keep(Rc::downgrade(&guardian), child));
        Ok(guardian)
    }

    pub(crate) fn watch(&self, group: u32) {
        self.watched.borrow_mut().insert(group);
        self.say('+', group);
    }

    pub(crate) fn forget(&self, group: u32) {
        self.watched.borrow_mut().remove(&group);
        self.say('-', group);
    }

    /// Writes a few bytes to a pipe that is read at once. Errors are ignored: a guardian that has died is being
    /// replaced, and its successor gets all groups.
    fn say(&self, sign: char, group: u32) {
        let _ = writeln!(self.pipe.borrow_mut(), "{sign}{group}");
    }

    /// Starts another guardian, and sends it all groups.
    fn replace(&self) -> io::Result<Child> {
        let (child, mut pipe) = spawn()?;
        for group in self.watched.borrow().iter() {
            writeln!(pipe, "+{group}")?;
        }
        *self.pipe.borrow_mut() = pipe;
        Ok(child)
    }

    fn note(&self, text: &str) {
        self.journal.emit(Event::Note { level: Level::Warn, text });
    }
}

/// Waits for the end of each guardian and replaces it: at once, or after a pause if it ended soon after its start.
async fn keep(guardian: Weak<Guardian>, mut child: Child) {
    let mut pause = PAUSE_MIN;
    let mut started = Instant::now();
    loop {
        let pid = child.id().unwrap_or(0);
        let ended = child.wait().await.map_or_else(|error| error.to_string(), |status| status.to_string());
        if started.elapsed() < pause {
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        } else {
            pause = PAUSE_MIN;
        }
        child = loop {
            let Some(guardian) = guardian.upgrade() else { return };
            match guardian.replace() {
                Ok(child) => {
                    let fresh = child.id().unwrap_or(0);
                    guardian
                        .note(&format!("the guardian, process {pid}, exited ({ended}); process {fresh} replaces it"));
                    break child;
                }
                Err(error) => guardian.note(&format!(
                    "the guardian, process {pid}, exited ({ended}) and cannot be replaced: {error}. Workers would \
                     outlive a killed gateway"
                )),
            }
            drop(guardian);
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        };
        started = Instant::now();
    }
}

/// Starts this program again as a guardian.
fn spawn() -> io::Result<(Child, PipeWriter)> {
    let (reader, writer) = io::pipe()?;
    let child = Command::new(program()?)
        .arg("guardian")
        .stdin(Stdio::from(reader))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()?;
    Ok((child, writer))
}

/// Path of the running program. Its file may have been replaced by another version, but the kernel still has it.
///
/// # Errors
/// What the operating system says.
pub fn program() -> io::Result<PathBuf> {
    let named = std::env::current_exe();
    match &named {
        Ok(path) if !path.is_file() => {
            let kept = PathBuf::from("/proc/self/exe");
            if kept.exists() { Ok(kept) } else { named }
        }
        _ => named,
    }
}

/// Main function of the guardian process.
pub fn run() {
    // It ends with the pipe and with nothing else; blocked, a signal waits for ever.
    let _ = SigSet::all().thread_block();
    let mut groups = BTreeSet::new();
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        match (line.get(..1), line.get(1..).and_then(|rest| rest.parse::<i32>().ok())) {
            (Some("+"), Some(group)) => groups.insert(group),
            (Some("-"), Some(group)) => groups.remove(&group),
            _ => false,
        };
    }
    for group in groups {
        if group > 1 {
            let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
        }
    }
}
