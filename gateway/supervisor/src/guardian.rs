//! The process that outlives a killed gateway for a moment: it kills the workers' process groups, so that none is left.
//!
//! The gateway tells it each group over a pipe. When the pipe ends without a goodbye for a group, the gateway is dead,
//! however it died, and the group is killed.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::{self, BufRead as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{ChildStdin, Command, Stdio};

use nix::sys::signal::{SigSet, Signal, killpg};
use nix::unistd::Pid;

/// The gateway's end.
pub(crate) struct Guardian {
    pipe: RefCell<ChildStdin>,
    watched: RefCell<BTreeSet<u32>>,
}

impl Guardian {
    /// # Errors
    /// When this very program cannot be started again.
    pub(crate) fn start() -> io::Result<Self> {
        Ok(Guardian { pipe: RefCell::new(spawn()?), watched: RefCell::default() })
    }

    pub(crate) fn watch(&self, group: u32) {
        self.watched.borrow_mut().insert(group);
        self.say('+', group);
    }

    pub(crate) fn forget(&self, group: u32) {
        self.watched.borrow_mut().remove(&group);
        self.say('-', group);
    }

    /// A few bytes into a pipe that is read at once. A guardian that somebody killed is replaced and told everything.
    fn say(&self, sign: char, group: u32) {
        if writeln!(self.pipe.borrow_mut(), "{sign}{group}").is_ok() {
            return;
        }
        let Ok(mut pipe) = spawn() else { return };
        for group in self.watched.borrow().iter() {
            let _ = writeln!(pipe, "+{group}");
        }
        *self.pipe.borrow_mut() = pipe;
    }
}

/// This very program again, in another role.
fn spawn() -> io::Result<ChildStdin> {
    let mut child = Command::new(std::env::current_exe()?)
        .arg("guardian")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()?;
    child.stdin.take().ok_or_else(|| io::ErrorKind::BrokenPipe.into())
}

/// The guardian process's whole life.
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
