//! Encodes a request for a worker: its own fields, then the gateway's fields about its origin.
//!
//! No bytes are passed on unchanged. Fields that only the gateway may set are removed from the client's.

use sluice_http1::{Framing, write_decimal, write_request_start};
use sluice_message::RequestHead;
use sluice_observe::ProfileOrder;
use sluice_scheduler::RequestId;

use crate::upstream::token::Token;
use sluice_road::respond::compose::rules::{CAPABILITY, is_of_composing};
use sluice_road::trace::{self, Trace};
use sluice_wire::front::origin::Origin;

/// Part of a request that its worker gets.
pub(crate) struct Outbound<'r> {
    pub(crate) head: &'r RequestHead,
    pub(crate) framing: Framing,
    pub(crate) upgrade: Option<&'r str>,
    pub(crate) request_id: &'r str,
    /// Trace whose context the app gets, if any.
    pub(crate) trace: Option<Trace>,
    /// Order to profile the request, if it is chosen.
    pub(crate) profile: Option<ProfileOrder>,
    /// Number of requests of its class for which its CPU time stands, if only a sample is measured; 0 if it is not in the sample.
    pub(crate) weight: Option<u32>,
    /// True if the answer may be composed: the app is told so, and is not told which encodings the client accepts.
    pub(crate) is_composed: bool,
}

/// Complete head for the worker, with its empty line.
pub(crate) fn worker_head(outbound: &Outbound<'_>, origin: &Origin, request: RequestId, token: Token) -> Vec<u8> {
    let Outbound { head, framing, upgrade, request_id, trace, profile, weight, is_composed } = *outbound;
    let mut out = Vec::with_capacity(1024);
    write_request_start(&mut out, head, framing, upgrade, |name, _| {
        if trace::is_field(name) {
            trace.is_some_and(|trace| trace.passes(name))
        } else {
            origin.forwards(name) && !(is_composed && is_of_composing(name))
        }
    });
    if is_composed {
        write_line(&mut out, &["Surrogate-Capability: ", CAPABILITY]);
    }
    if let Some(Trace::Own(context)) = &trace {
        write_line(&mut out, &["traceparent: ", &context.traceparent()]);
    }
    origin.write_forwarded(&mut out, head);
    write_line(&mut out, &["X-Request-Id: ", request_id]);
    write_label(&mut out, request, token);
    if let Some(ProfileOrder { number, from_us }) = profile {
        out.extend_from_slice(b";profile=");
        write_decimal(&mut out, from_us);
        out.push(b',');
        write_decimal(&mut out, number);
    }
    if let Some(weight) = weight {
        out.extend_from_slice(b";weight=");
        write_decimal(&mut out, weight.into());
    }
    write_line(&mut out, &[&origin.private, "\r\n"]);
    out
}

/// Writes the beginning of the private field for the preload, which has to be the last field.
fn write_label(out: &mut Vec<u8>, request: RequestId, token: Token) {
    out.extend_from_slice(b"X-Sluice-Request: id=");
    write_decimal(out, request.0);
    out.extend_from_slice(b";token=");
    out.extend_from_slice(token.as_bytes());
}

fn write_line(out: &mut Vec<u8>, parts: &[&str]) {
    for part in parts {
        out.extend_from_slice(part.as_bytes());
    }
    out.extend_from_slice(b"\r\n");
}
