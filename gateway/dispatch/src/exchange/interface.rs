//! Events that an exchange is told, and actions that it wants done.

use sluice_catalog::errors::Code;
use sluice_scheduler::RequestId;
use smallvec::SmallVec;

use crate::fate::{ByteEvidence, Cause, Judgement};

/// The part of a request that the exchange has to know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// An ordinary request.
    #[default]
    Plain,
    /// A long poll, which may leave its slot while the app waits with the answer.
    Poll,
    /// A request for another protocol.
    Upgrade,
    /// The gateway's own, to warm a worker.
    Own,
}

/// Place of a request among those that its worker has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ahead {
    /// The request was given to a free slot.
    #[default]
    No,
    /// The request was handed over ahead of time, and others stand before it.
    Handed,
    /// The request was handed over ahead of time, and none stands before it any more.
    Begun,
}

/// Times of the config, microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// Time for a worker that sends nothing.
    pub silence_us: u64,
    /// Time for a worker whose answer nobody waits for.
    pub abandoned_us: u64,
}

/// An event: something that has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The scheduler has given the request to a worker.
    Assigned {
        /// Whether it was handed over ahead of time.
        is_ahead: bool,
        /// Whether its connection has carried another request.
        is_reused: bool,
    },
    /// None stands before it in its worker any more.
    Begun,

    /// The worker has accepted a connection.
    Connected,
    /// The worker accepts none.
    ConnectFailed,
    /// Bytes of the request were written.
    Wrote {
        /// Whether all of them were.
        is_whole: bool,
        /// Whether all of them were in one small write, which the worker reads at once or not at all.
        is_one_piece: bool,
    },
    /// The request's body could not be read back from its temporary file.
    BodyLost,
    /// Bytes of the answer came.
    Heard,
    /// The answer's head came, and its body follows.
    HeadCame {
        /// Whether only the connection's end ends the body.
        is_until_close: bool,
    },
    /// The head of an event stream came.
    StreamCame,
    /// The connection is another protocol's now.
    Switched,
    /// The answer came whole.
    Completed {
        /// Whether the answer lets the connection carry another request.
        is_reusable: bool,
    },
    /// The worker closed the connection.
    Closed {
        /// Whether it had bytes that it had not read.
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
        /// The request that the app is at.
        by: RequestId,
        /// Whether that one is this worker's, and its end is not reported.
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
        /// Whether the request was handed over ahead of time, and the app had not seen it.
        is_unseen: bool,
        /// The gateway's own part in that.
        cause: Cause,
    },
    /// The quarantine was asked about the request.
    Judged(Judgement),

    /// The client has gone.
    ClientLeft {
        /// Whether the app is to see it.
        is_shown: bool,
    },
    /// The client has closed its sending side.
    ClientHalfClosed {
        /// Whether the app is to see it.
        is_shown: bool,
    },
    /// The gateway has given the answer up.
    Unwanted,
    /// Time has passed.
    TimedOut,
}

/// Actions of one step, in order; seldom more than these.
pub type Actions = SmallVec<[Action; 4]>;

/// An action: something that is to be done.
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
    /// Free the slot: the request is over.
    Finish {
        /// Whether its connection may carry another.
        keeps: bool,
    },
    /// Free the slot, and queue the request in its old place.
    GiveBack {
        /// Whether the worker could not be reached.
        is_fault: bool,
    },
    /// Give the slot to another request, and queue this one in its old place.
    PassTo {
        /// The other one.
        by: RequestId,
    },
    /// Free the slot while the request's answer continues.
    Detach,
    /// Leave the worker's count of streams: the detached answer has ended.
    EndStream,
    /// Hand the connection to the client; the stream ends with it.
    SwitchOver,
    /// The worker cannot be trusted again: replace it.
    GiveUpWorker,
    /// Ask the quarantine about the request, whose worker has died with it.
    Judge {
        /// Bytes that each side has had of it.
        seen: ByteEvidence,
        /// The gateway's own part in the death.
        cause: Cause,
    },
    /// Queue the request again; its slot went with its worker.
    Retry {
        /// Whether a worker has had bytes of it.
        was_sent: bool,
        /// Whether it may be what the worker died with, so that it gets a worker of its own.
        is_suspect: bool,
    },
    /// End the request; its slot went with its worker.
    Bury,
    /// Tell the operator.
    Note(Note),
}

/// A note for the operator about a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// The answer was no HTTP/1.1.
    Malformed,
    /// Bytes came that are not its answer.
    Foreign,
    /// The app ended it before as many bytes as announced.
    Short,
    /// The worker does not end it.
    NotEnded,
}
