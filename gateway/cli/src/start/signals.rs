//! The signals that mean something to a gateway and to its shepherd.

use std::io::IsTerminal as _;
use std::time::Duration;

use nix::sys::signal::{Signal as Number, kill};
use nix::unistd::Pid;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::run_dir::RunDir;

/// Signals that come this close together are one request.
pub const SAME_SIGNAL: Duration = Duration::from_millis(150);

/// A signal that came.
pub struct SignalArrival {
    pub signal: Number,
    pub name: &'static str,
}

pub struct Signals {
    /// Standard input or output was a terminal when the process began.
    has_terminal: bool,
    int: Signal,
    term: Signal,
    hup: Signal,
    usr2: Signal,
    more: Signal,
    less: Signal,
}

impl Signals {
    pub fn new() -> std::io::Result<Self> {
        Ok(Signals {
            has_terminal: is_on_terminal(),
            int: signal(SignalKind::interrupt())?,
            term: signal(SignalKind::terminate())?,
            hup: signal(SignalKind::hangup())?,
            usr2: signal(SignalKind::user_defined2())?,
            more: signal(SignalKind::from_raw(Number::SIGTTIN as i32))?,
            less: signal(SignalKind::from_raw(Number::SIGTTOU as i32))?,
        })
    }

    /// Whether there was a terminal that has been closed, which is one reason for a SIGHUP.
    pub fn has_lost_terminal(&self) -> bool {
        self.has_terminal && !is_on_terminal()
    }

    /// The next signal of those that mean something.
    pub async fn next(&mut self) -> SignalArrival {
        let (signal, name) = tokio::select! {
            _ = self.int.recv() => (Number::SIGINT, "SIGINT"),
            _ = self.term.recv() => (Number::SIGTERM, "SIGTERM"),
            _ = self.hup.recv() => (Number::SIGHUP, "SIGHUP"),
            _ = self.usr2.recv() => (Number::SIGUSR2, "SIGUSR2"),
            _ = self.more.recv() => (Number::SIGTTIN, "SIGTTIN"),
            _ = self.less.recv() => (Number::SIGTTOU, "SIGTTOU"),
        };
        SignalArrival { signal, name }
    }
}

impl SignalArrival {
    pub fn asks_to_leave(&self) -> bool {
        matches!(self.signal, Number::SIGINT | Number::SIGTERM)
    }

    /// Passes it on to the gateway that serves: the one that the run directory names, else this one.
    pub fn pass_on(&self, run_dir: &RunDir, pid: u32) {
        let _ = kill(pid_of(run_dir.read_pid().unwrap_or(pid)), self.signal);
    }
}

/// Whether there is a terminal; one that has been closed is none.
fn is_on_terminal() -> bool {
    std::io::stdin().is_terminal() || std::io::stdout().is_terminal()
}

/// Process id in the kernel's type.
pub fn pid_of(pid: u32) -> Pid {
    // Process ids fit: the kernel's own type is signed.
    Pid::from_raw(i32::try_from(pid).unwrap_or(i32::MAX))
}
