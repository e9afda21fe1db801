//! Reason why an attempt failed, and whether the request may be sent again.

use std::io;

use sluice_catalog::errors::Code;
use sluice_message::Method;

use crate::stats::End;

/// Reason why there is no connection to an address.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoConnection {
    /// Error of the system or of TLS.
    #[error("cannot connect: {0}")]
    Failed(#[from] io::Error),
    /// The time for connecting has passed.
    #[error("cannot connect in time")]
    Late,
    /// The target's host is no name for a certificate.
    #[error("its name cannot be in a certificate")]
    Name,
}

/// Reason why a health check failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unhealthy {
    /// No connection could be made.
    #[error(transparent)]
    Unreachable(#[from] NoConnection),
    /// The connection failed.
    #[error("the health check failed: {0}")]
    Failed(#[from] io::Error),
    /// The connection was closed before an answer.
    #[error("the health check got no answer")]
    Closed,
    /// The answer is no valid HTTP/1.1.
    #[error("the health check got {0}")]
    Malformed(&'static str),
    /// The answer has another status than 2xx or 3xx.
    #[error("the health check got {0}")]
    Status(u16),
    /// The check took too long.
    #[error("the health check took too long")]
    Late,
}

/// Progress of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// No byte of the request was sent.
    Unsent,
    /// Bytes of the request were sent, and none of an answer came.
    Sent,
    /// Bytes of an answer came.
    Heard,
}

/// See the module's text.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) end: End,
    pub(crate) stage: Stage,
    /// The connection had been used before and was closed without a byte: its end crossed with the request.
    pub(crate) is_stale: bool,
    /// The system refused to connect to the address at once.
    pub(crate) is_refused: bool,
}

impl Fault {
    pub(crate) fn new(end: End, stage: Stage) -> Self {
        Fault { end, stage, is_stale: false, is_refused: false }
    }

    /// Error for the client.
    pub(crate) fn code(&self) -> Code {
        match self.end {
            End::Full => Code::UpstreamFull,
            End::Timeout => Code::UpstreamTimeout,
            End::Malformed => Code::UpstreamAnswerMalformed,
            End::Unreachable => Code::UpstreamUnreachable,
            End::Truncated | End::Answered | End::Abandoned => Code::UpstreamAnswerTruncated,
        }
    }

    /// Whether a request of this method may be sent again (RFC 9110 §9.2.1).
    pub(crate) fn may_be_retried(&self, method: &Method) -> bool {
        match (self.stage, self.end) {
            (Stage::Heard, _) | (_, End::Full | End::Malformed) => false,
            (Stage::Unsent, _) => true,
            (Stage::Sent, _) => method.is_safe(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_safe_methods_are_sent_twice() {
        let post = Method::Post;
        for end in [End::Unreachable, End::Timeout, End::Truncated] {
            let may = |stage, method: &Method| Fault::new(end, stage).may_be_retried(method);
            assert!(may(Stage::Unsent, &post) && may(Stage::Unsent, &Method::Get));
            assert!(!may(Stage::Sent, &post) && may(Stage::Sent, &Method::Head));
            assert!(!may(Stage::Heard, &post) && !may(Stage::Heard, &Method::Get));
        }
        assert!(!Fault::new(End::Full, Stage::Unsent).may_be_retried(&Method::Get));
    }
}
