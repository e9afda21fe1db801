//! Encodes a request for a worker: its own fields, the gateway's fields about its origin, and the private one for the preload.

use sluice_http1::{Framing, write_decimal};
use sluice_observe::ProfileOrder;
use sluice_scheduler::RequestId;

use crate::upstream::token::Token;
use sluice_road::Road;
use sluice_road::outgoing::write_head;
use sluice_road::request::passage::Request;
use sluice_wire::front::origin::Origin;

/// Part of a request that its worker gets.
pub(crate) struct Outbound<'r> {
    pub(crate) road: &'r Road,
    pub(crate) request: &'r Request,
    pub(crate) framing: Framing,
    /// Order to profile the request, if it is chosen.
    pub(crate) profile: Option<ProfileOrder>,
    /// Number of requests of its class for which its CPU time stands, if only a sample is measured; 0 if it is not in the sample.
    pub(crate) weight: Option<u32>,
}

/// Complete head for the worker, with its empty line.
pub(crate) fn worker_head(outbound: &Outbound<'_>, origin: &Origin, number: RequestId, token: Token) -> Vec<u8> {
    let Outbound { road, request, framing, profile, weight } = *outbound;
    let mut out = Vec::with_capacity(1024);
    write_head(&mut out, road, origin, request, framing);
    write_label(&mut out, number, token);
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
    out.extend_from_slice(origin.private.as_bytes());
    out.extend_from_slice(b"\r\n\r\n");
    out
}

/// Writes the beginning of the private field for the preload, which has to be the last field.
fn write_label(out: &mut Vec<u8>, request: RequestId, token: Token) {
    out.extend_from_slice(b"X-Sluice-Request: id=");
    write_decimal(out, request.0);
    out.extend_from_slice(b";token=");
    out.extend_from_slice(token.as_bytes());
}
