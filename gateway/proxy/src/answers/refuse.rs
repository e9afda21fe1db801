//! The one place that turns an error of the catalogue into an answer.

use std::fmt::Write as _;

use sluice_catalog::errors::Code;
use sluice_journal::Outcome;

/// What an error answer needs to know of its request.
pub(crate) struct Refusal<'a> {
    pub(crate) code: Code,
    /// What exactly was wrong, where that is known; empty otherwise.
    pub(crate) detail: &'static str,
    pub(crate) request_id: &'a str,
    pub(crate) retry_after_s: Option<u32>,
    pub(crate) keep_alive: bool,
    /// An answer to HEAD has no body.
    pub(crate) is_head: bool,
}

/// Appends the whole error answer and returns how many bytes its body has.
pub(crate) fn write(out: &mut Vec<u8>, refusal: &Refusal<'_>) -> u64 {
    let entry = refusal.code.entry();
    let body = format!(
        "{} {}\n{}{}{}\n\ncode: {}\nrequest: {}\n",
        entry.status,
        reason(entry.status),
        entry.public,
        if refusal.detail.is_empty() { "" } else { "\nIn this case: " },
        refusal.detail,
        entry.code,
        refusal.request_id
    );
    let mut head = format!(
        "HTTP/1.1 {} {}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\nCache-Control: no-store\r\nX-Sluice-Error: {}\r\nX-Request-Id: {}\r\nDate: {}\r\n",
        entry.status,
        reason(entry.status),
        body.len(),
        entry.code,
        refusal.request_id,
        httpdate::fmt_http_date(std::time::SystemTime::now()),
    );
    let retry_after_s = refusal.retry_after_s.or((entry.status == 503).then_some(1));
    if let Some(seconds) = retry_after_s {
        let _ = write!(head, "Retry-After: {seconds}\r\n");
    }
    head.push_str(if refusal.keep_alive { "\r\n" } else { "Connection: close\r\n\r\n" });
    out.extend_from_slice(head.as_bytes());
    if refusal.is_head {
        return 0;
    }
    out.extend_from_slice(body.as_bytes());
    body.len() as u64
}

/// Who ended a request that ended with this error.
pub(crate) fn outcome(code: Code) -> Outcome {
    match code {
        Code::QueueFull
        | Code::QueueWaitPredicted
        | Code::QueueOverBudget
        | Code::Draining
        | Code::ConnectionsFull
        | Code::TempFull
        | Code::StreamsFull
        | Code::RateLimited => Outcome::Shed,
        Code::QueueDeadline | Code::WorkerTimeout | Code::WorkerStuck | Code::HeadersTimeout | Code::BodyTooSlow => {
            Outcome::TimedOut
        }
        Code::StreamIdle => Outcome::StreamIdle,
        Code::WorkerDied => Outcome::WorkerDied,
        Code::WorkerAnswerMalformed | Code::WorkerAnswerTruncated => Outcome::WorkerFault,
        _ => Outcome::Rejected,
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        400 => "Bad Request",
        408 => "Request Timeout",
        413 => "Content Too Large",
        414 => "URI Too Long",
        417 => "Expectation Failed",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        505 => "HTTP Version Not Supported",
        _ => "Error",
    }
}
