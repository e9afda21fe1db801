//! Exit codes of every command, and the one way of failing with a message.

use std::fmt::Display;
use std::process::ExitCode;

use crate::stderr;

/// End of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Success.
    Ok = 0,
    /// Failure.
    Failed = 1,
    /// The command line or the configuration is wrong.
    Usage = 2,
    /// No gateway runs in the run directory.
    NotRunning = 3,
    /// The app ended or never listened.
    AppDidNotStart = 4,
    /// The port, or that of the admin address, is in use.
    PortInUse = 5,
    /// A fault in the gateway itself.
    Fault = 6,
}

impl Exit {
    /// Every exit code.
    pub const ALL: [Self; 7] =
        [Self::Ok, Self::Failed, Self::Usage, Self::NotRunning, Self::AppDidNotStart, Self::PortInUse, Self::Fault];

    /// Meaning of the code, for the reference.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Ok => "Done.",
            Self::Failed => "Failed; the reason is on standard error.",
            Self::Usage => "The command line or the configuration is wrong.",
            Self::NotRunning => "No gateway runs in the run directory.",
            Self::AppDidNotStart => "The app exited before it listened, or never listened.",
            Self::PortInUse => "The address of `--port` or `--admin` is in use.",
            Self::Fault => "A fault in the gateway stopped it; the log line `task_lost` names the position.",
        }
    }

    /// Writes the reason to standard error, one line or more, and returns the code.
    pub fn because(self, reason: impl Display) -> ExitCode {
        stderr::say(format_args!("sluice: {reason}"));
        self.into()
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
