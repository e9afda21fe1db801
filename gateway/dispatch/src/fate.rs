//! The rules of I5: what becomes of a request whose worker has died.

use sluice_catalog::errors::Code;

/// Bytes that the worker and the client have had of a request when its worker died.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByteEvidence {
    /// Whether a byte of the request was written to the worker.
    pub sent: bool,
    /// Whether a byte of an answer came.
    pub heard: bool,
    /// Whether the worker is known not to have read what was sent. Only Linux tells that.
    pub unread: bool,
}

impl ByteEvidence {
    /// Neither side has had a byte.
    pub const NOTHING: Self = ByteEvidence { sent: false, heard: false, unread: false };

    /// Whether the worker can know nothing of the request, although it may live.
    pub fn is_unnoticed(self) -> bool {
        !self.heard && (!self.sent || self.unread)
    }
}

/// The gateway's own part in a worker's death.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The gateway did nothing to it.
    Own,
    /// The gateway killed it because its event loop did not turn.
    Stuck,
    /// The gateway ended it for something that is not this request's doing.
    Gateway,
}

/// Rule of the quarantine for requests like this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuarantineRule {
    /// Requests like it are refused.
    Refused,
    /// One at a time is tried.
    Probed,
}

/// Facts about a request, beside the bytes that each side has had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// Whether the method is safe (RFC 9110 §9.2.1).
    pub is_safe: bool,
    /// Whether the worker held other requests too.
    pub was_shared: bool,
    /// Whether it was seen to wait in the worker.
    pub was_parked: bool,
    /// Rule of the quarantine, if it is in there.
    pub held: Option<QuarantineRule>,
    /// Workers that are counted to have died with requests like it, this one included.
    pub deaths: u32,
}

/// Verdict of the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The request waits again in its old place.
    Again,
    /// The client gets this error.
    Fail(Code),
}

/// The rules. A request is sent again only if its method is safe, no byte of an answer was heard, and it was not sent again before.
/// One that no worker has seen a byte of was not sent at all. A request that was alone in a worker that got stuck is to blame.
pub fn fate(seen: ByteEvidence, cause: Cause, was_retried: bool, judged: Judgement) -> Fate {
    let Judgement { is_safe, was_shared, held, .. } = judged;
    let is_held = held == Some(QuarantineRule::Refused) || held.is_some() && seen.sent;
    let is_guilty = cause == Cause::Stuck && !was_shared;
    if is_held && !was_retried && !seen.heard && (!seen.sent || is_safe) && !is_guilty {
        // It would have got another worker, and that is what it must not get.
        return Fate::Fail(Code::RequestQuarantined);
    }
    if !seen.sent || is_safe && !seen.heard && !was_retried && !is_guilty {
        return Fate::Again;
    }
    Fate::Fail(if cause == Cause::Stuck { Code::WorkerStuck } else { Code::WorkerDied })
}
