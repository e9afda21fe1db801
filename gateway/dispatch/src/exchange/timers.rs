//! The times that an exchange waits for, in one table.

/// A time that an exchange waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timer {
    /// Bytes of an answer whose end the worker has reported.
    LastBytes,
    /// The word whether a body that the connection's end has ended was whole.
    LastWord,
    /// The exit of a worker whose connection has closed.
    Exit,
    /// The same, of one whose process is known to have gone.
    DyingExit,
    /// The last bytes of a worker that has exited.
    LastRead,
    /// The report of a request whose answer broke.
    Report,
    /// The report of a request whose connection the gateway has closed.
    CutReport,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct TimerRow {
    /// The timer.
    pub timer: Timer,
    /// Name in the docs.
    pub name: &'static str,
    /// Duration, milliseconds.
    pub ms: u64,
    /// Consequence of its end.
    pub then: &'static str,
    /// Reason for its duration.
    pub reason: &'static str,
}

/// Time that an app's hooks may take after a request before its end is reported anyway, milliseconds: `SETTLE_MS_MAX` of the preload.
const HOOKS_MS_MAX: u64 = 5000;

/// All timers that are no setting.
pub const TIMERS: [TimerRow; 7] = [
    TimerRow {
        timer: Timer::LastBytes,
        name: "last bytes",
        ms: 10,
        then: "The answer is cut off, or ends with its connection.",
        reason: "The bytes are in the socket before the report, but the report arrives on another connection.",
    },
    TimerRow {
        timer: Timer::LastWord,
        name: "last word",
        ms: 60,
        then: "The answer counts as complete.",
        reason: "The end of the connection can mean a complete body or a dead worker.",
    },
    TimerRow {
        timer: Timer::Exit,
        name: "exit",
        ms: 200,
        then: "The worker counts as alive, and the client gets the error of a truncated answer.",
        reason: "The connections of a dying worker close before the gateway knows of its exit.",
    },
    TimerRow {
        timer: Timer::DyingExit,
        name: "exit of a dying worker",
        ms: 2000,
        then: "The client gets the error of a truncated answer.",
        reason: "npm or a shell that started the worker may exit later than the worker.",
    },
    TimerRow {
        timer: Timer::LastRead,
        name: "last read",
        ms: 200,
        then: "The connection is closed.",
        reason: "A child of the worker may keep its connections open.",
    },
    TimerRow {
        timer: Timer::Report,
        name: "report",
        ms: 2000 + HOOKS_MS_MAX,
        then: "The gateway replaces the worker, because the state of its slot is unknown.",
        reason: "The hooks of the app may take 5 s, and the report 2 s more.",
    },
    TimerRow {
        timer: Timer::CutReport,
        name: "report after a cut",
        ms: 5000 + HOOKS_MS_MAX,
        then: "The gateway replaces the worker.",
        reason: "The app learns only from the closed connection that the client has left, and it may be computing.",
    },
];

impl Timer {
    /// Duration, microseconds.
    pub fn us(self) -> u64 {
        TIMERS.iter().find(|row| row.timer == self).map_or(0, |row| row.ms * 1000)
    }
}
