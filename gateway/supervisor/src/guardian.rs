//! The process that outlives a killed gateway for a moment: it kills the workers' process groups, so that none is left.
//!
//! The gateway tells it each group over a pipe. When the pipe ends without a goodbye for a group, the gateway is dead,
//! however it died, and the group is killed.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::{self, BufRead as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};

use nix::sys::signal::{SigSet, Signal, killpg};
use nix::unistd::Pid;

/// The gateway's end.
pub(crate) struct Guardian {
    // Kept so that the process is not reaped as a zombie while the gateway lives.
    _child: Child,
    pipe: RefCell<ChildStdin>,
}

impl Guardian {
    /// # Errors
    /// When this very program cannot be started again.
    pub(crate) fn start() -> io::Result<Self> {
        use std::os::unix::process::CommandExt as _;
        let mut child = Command::new(std::env::current_exe()?)
            .arg("guardian")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let pipe = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Guardian { _child: child, pipe: RefCell::new(pipe) })
    }

    pub(crate) fn watch(&self, group: u32) {
        self.say('+', group);
    }

    pub(crate) fn forget(&self, group: u32) {
        self.say('-', group);
    }

    fn say(&self, sign: char, group: u32) {
        // A few bytes into a pipe that is read at once; if the guardian is gone, there is nobody to tell.
        let _ = writeln!(self.pipe.borrow_mut(), "{sign}{group}");
    }
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
