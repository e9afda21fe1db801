//! What an exchange is told, and what it wants done.

use sluice_catalog::errors::Code;
use sluice_scheduler::RequestId;

use crate::fate::{Cause, Judgement, Seen};

/// The part of a request that the exchange has to know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// An ordinary request.
    #[default]
    Plain,
    /// A long poll, which may leave its slot while the app waits with the answer.
    Poll,
    /// It asks for another protocol.
    Upgrade,
    /// The gateway's own, to warm a worker.
    Own,
}

/// Where a request stands among those that its worker has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ahead {
    /// It was given to a free slot.
    #[default]
    No,
    /// It was handed over ahead of time, and others stand before it.
    Handed,
    /// It was handed over ahead of time, and none stands before it any more.
    Begun,
}

/// How long is waited for what, microseconds; from the config.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// For a worker that sends nothing.
    pub silence_us: u64,
    /// For a worker whose answer nobody waits for.
    pub abandoned_us: u64,
}

/// What has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The scheduler has given the request to a worker.
    Assigned {
        /// It was handed over ahead of time.
        is_ahead: bool,
        /// Its connection has carried another request.
        is_reused: bool,
    },
    /// None stands before it in its worker any more.
    Begun,

    /// There is a connection to the worker.
    Connected,
    /// There is none to be had.
    ConnectFailed,
    /// Bytes of the request were written.
    Wrote {
        /// All of them were.
        is_whole: bool,
        /// All of them were in one small write, which the worker reads at once or not at all.
        is_one_piece: bool,
    },
    /// The request's body could not be read back from its temporary file.
    BodyLost,
    /// Bytes of the answer came.
    Heard,
    /// The answer's head came, and its body follows.
    HeadCame {
        /// Only the connection's end ends the body.
        is_until_close: bool,
    },
    /// The head of an event stream came.
    StreamCame,
    /// The connection is another protocol's now.
    Switched,
    /// The answer came whole.
    Completed {
        /// The connection may carry another request, as far as the answer says.
        is_reusable: bool,
    },
    /// The worker closed the connection.
    Closed {
        /// With bytes that it had not read.
        is_reset: bool,
    },
    /// The worker wrote what is no HTTP/1.1.
    Malformed,
    /// The worker wrote what is not the request's own answer.
    Foreign,

    /// The worker reports the end of the request.
    Reported,
    /// The app has the upgrade in its hands, or writes an event stream.
    Taken,
    /// The app waits with its answer.
    Waits,
    /// The worker gives the request back, unseen by the app.
    Busy {
        /// The request that the app goes on with.
        by: RequestId,
        /// That one is this worker's, and its end is not reported.
        is_open: bool,
    },
    /// The app is still at this request, although its answer was read whole: another one came back for it.
    StillOpen,
    /// The request was taken back, and the app will never see it.
    Withdrawn,

    /// The worker is going: its process is gone, or the gateway has given it up.
    Dying,
    /// The worker has exited.
    Exited {
        /// The request was handed over ahead of time, and the app had not seen it.
        is_unseen: bool,
        /// The gateway's own part in that.
        cause: Cause,
    },
    /// What the quarantine knows of the request was looked up.
    Judged(Judgement),

    /// The client has gone.
    ClientLeft {
        /// The app is to see it.
        is_shown: bool,
    },
    /// The client has closed its sending side.
    ClientHalfClosed {
        /// The app is to see it.
        is_shown: bool,
    },
    /// Nobody waits for the answer any more, for a reason of the gateway's.
    Unwanted,
    /// Time has passed.
    TimedOut,
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Make a connection to the worker.
    Connect,
    /// Write the request from its first byte.
    Write,
    /// Close the sending side of the worker's connection.
    ShutDown,
    /// Close the worker's connection.
    Close,
    /// Tell the client that its answer cannot be finished.
    Fail(Code),
    /// End the client's connection as the worker ended its own.
    Leave,
    /// End the answer: it is whole.
    Complete,
    /// Take back what the worker was handed and has not begun.
    TakeBack,
    /// The slot is free, and the request is over. `keeps`: its connection may carry another.
    Finish {
        /// Whether it may.
        keeps: bool,
    },
    /// The slot is free, and the request waits again in its old place. `is_fault`: the worker could not be reached.
    GiveBack {
        /// Whether it could not.
        is_fault: bool,
    },
    /// The slot is that of another request again, and this one waits in its old place.
    PassTo {
        /// The other one.
        by: RequestId,
    },
    /// The request leaves its slot, which is free; its answer goes on.
    Detach,
    /// The answer that went on outside of any slot has ended.
    EndStream,
    /// The connection is the client's; what was detached ends with it.
    SwitchOver,
    /// The worker cannot be trusted again: replace it.
    GiveUpWorker,
    /// Look up what the quarantine knows: the request's worker has died with it.
    Judge {
        /// What was seen of it.
        seen: Seen,
        /// The gateway's own part in the death.
        cause: Cause,
    },
    /// The slot went with its worker, and the request waits again.
    Retry {
        /// A worker has had bytes of it.
        was_sent: bool,
        /// It may be what the worker died with: it gets a worker of its own.
        is_suspect: bool,
    },
    /// The slot went with its worker, and the request is over.
    Bury,
    /// Tell the operator.
    Note(Note),
}

/// What an operator is told of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// Its answer was no HTTP/1.1.
    Malformed,
    /// Bytes came that are not its answer.
    Foreign,
    /// The app ended it before as many bytes as announced.
    Short,
    /// It is not ended by its worker.
    NotEnded,
}
