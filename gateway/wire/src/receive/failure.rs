//! Reasons why a request gets an error, or no answer at all.

use std::rc::Rc;

use sluice_catalog::errors::{Code, Entry, Retry};
use sluice_journal::Outcome;
use sluice_message::{Reject, Rejection, RequestHead};

/// An error of the catalogue, with the details of this case.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// Error of the catalogue.
    pub code: Code,
    /// Fault in this request, if it is known; empty otherwise.
    pub detail: &'static str,
    /// Time in seconds after which the client may ask again, if it is known.
    pub retry_after_s: Option<u32>,
    /// Status of the answer.
    pub status: u16,
    /// Whether the request may be sent again, and where.
    pub retry: Retry,
    /// Value of `WWW-Authenticate`: the way in which the client can authenticate (RFC 9110 §11.6.1).
    pub challenge: Option<Rc<str>>,
}

impl Refusal {
    /// The error without details.
    pub fn of(code: Code) -> Self {
        let Entry { status, retry, .. } = *code.entry();
        Refusal { code, detail: "", retry_after_s: None, status, retry, challenge: None }
    }
}

/// A request's head, and the protocols that it offers to switch to.
pub type UpgradeOffer = (RequestHead, Option<String>);

/// Reason why a request gets an error, or no answer at all.
#[derive(Debug)]
pub enum Failure {
    /// The request gets this error.
    Refused(Refusal),
    /// The client is gone.
    Gone(Outcome),
}

impl From<Code> for Failure {
    fn from(code: Code) -> Self {
        Failure::Refused(Refusal::of(code))
    }
}

/// Failure with this error and this detail.
pub fn refused(code: Code, detail: &'static str) -> Failure {
    Failure::Refused(Refusal { detail, ..Refusal::of(code) })
}

/// Failure for a client that has gone, or has stopped sending.
pub(crate) const GONE: Failure = Failure::Gone(Outcome::ClientGoneReceiving);

impl From<Rejection> for Failure {
    fn from(rejection: Rejection) -> Self {
        let code = match rejection.reject {
            Reject::HeadMalformed => Code::HeadMalformed,
            Reject::HostInvalid => Code::HostInvalid,
            Reject::LengthInvalid => Code::LengthInvalid,
            Reject::CodingUnknown => Code::CodingUnknown,
            Reject::ChunkMalformed => Code::ChunkMalformed,
            Reject::TargetInvalid => Code::TargetInvalid,
            Reject::MethodUnsupported => Code::MethodUnsupported,
            Reject::VersionUnsupported => Code::VersionUnsupported,
            Reject::HeaderAlias => Code::HeaderAlias,
            Reject::TargetTooLong => Code::TargetTooLong,
            Reject::HeadersTooLarge => Code::HeadersTooLarge,
            Reject::HeadersTooMany => Code::HeadersTooMany,
            Reject::ExpectationUnknown => Code::ExpectationUnknown,
        };
        refused(code, rejection.detail)
    }
}
