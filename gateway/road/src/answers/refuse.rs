//! The one place that turns an error of the catalogue into an answer.

mod body;
mod pages;

use sluice_catalog::errors::{Code, Retry};
use sluice_journal::Outcome;
use sluice_message::RequestHead;

use super::Response;
use body::Words;
pub(crate) use pages::Pages;
use sluice_wire::receive::failure::Refusal;

/// Error answer, in the form that the request asks for. Caches must not store it; `Vary` is for those that do.
pub(crate) fn answer(refusal: &Refusal, request_id: &str, head: &RequestHead, pages: &Pages) -> Response {
    let Refusal { code, retry_after_s, status, retry, challenge, .. } = refusal;
    let entry = code.entry();
    let (content_type, body) = body::of(&Words::of(refusal, request_id), *status, head, pages);
    let mut response = Response::short(*status, content_type, body);
    response.head.fields.push("Vary", "Accept");
    response.head.fields.push("X-Sluice-Error", entry.code);
    response.head.fields.push("X-Sluice-Retry", retry.as_str());
    if let Some(challenge) = challenge {
        response.head.fields.push("WWW-Authenticate", challenge.as_bytes());
    }
    if let Some(seconds) = retry_after_s.or((entry.status == 503).then_some(1)) {
        response.head.fields.push("Retry-After", seconds.to_string());
    }
    response
}

/// Whether the balancer asks for the status 425 in place of 503 where it may send the request elsewhere: some balancers retry by the
/// status alone. An answer of an app with that status says the same (RFC 8470 §5.2): it has not processed the request.
pub(crate) fn is_too_early(refusal: &Refusal, head: &RequestHead) -> bool {
    refusal.retry == Retry::Elsewhere && head.fields.get("x-sluice-elsewhere") == Some(b"425")
}

/// The problem (RFC 9457) of this error, with a detail of its own.
pub(crate) fn problem(refusal: &Refusal, request_id: &str, detail: &str) -> Option<String> {
    body::problem(&Words::of(refusal, request_id), detail.into())
}

/// Outcome of a request that ended with this error.
pub(crate) fn outcome(code: Code) -> Outcome {
    match code {
        Code::QueueFull
        | Code::QueueWaitPredicted
        | Code::QueueOverBudget
        | Code::Draining
        | Code::ConnectionsFull
        | Code::TempFull
        | Code::StreamsFull
        | Code::UpstreamFull
        | Code::RateLimited
        | Code::LoginLimited
        | Code::VitalsLimited => Outcome::Shed,
        Code::QueueDeadline
        | Code::WorkerTimeout
        | Code::WorkerStuck
        | Code::UpstreamTimeout
        | Code::HeadersTimeout
        | Code::BodyTooSlow => Outcome::TimedOut,
        Code::StreamIdle => Outcome::StreamIdle,
        Code::RequestQuarantined => Outcome::Quarantined,
        Code::WorkerDied | Code::AppDown => Outcome::WorkerDied,
        Code::WorkerAnswerMalformed | Code::WorkerAnswerTruncated => Outcome::WorkerFault,
        Code::UpstreamUnreachable | Code::UpstreamAnswerMalformed | Code::UpstreamAnswerTruncated => {
            Outcome::UpstreamFault
        }
        Code::GatewayFailed => Outcome::GatewayFault,
        Code::HeadMalformed
        | Code::HostInvalid
        | Code::LengthInvalid
        | Code::CodingUnknown
        | Code::ChunkMalformed
        | Code::TargetInvalid
        | Code::MethodUnsupported
        | Code::VersionUnsupported
        | Code::HeaderAlias
        | Code::TargetTooLong
        | Code::HeadersTooLarge
        | Code::HeadersTooMany
        | Code::BodyTooLarge
        | Code::ExpectationUnknown
        | Code::AccessDenied
        | Code::LoginRequired
        | Code::VitalsRefused
        // No request ends with these: there is no gateway yet, or no worker.
        | Code::AppNeverListened
        | Code::AppNeverReady
        | Code::AppExited
        | Code::WorkerOutOfMemory
        | Code::AppNotStarted
        | Code::PortInUse
        | Code::ConfigInvalid
        | Code::RunDirBusy
        | Code::RunDirPath
        | Code::EntryMissing => Outcome::Rejected,
    }
}
