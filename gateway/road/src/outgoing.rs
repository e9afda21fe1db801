//! Head of a request for the worker or the other host that answers it. It must not know which of them that is.
//!
//! No bytes are passed on unchanged. Fields that only the gateway may set are removed from the client's.

use sluice_http1::{Framing, write_field, write_request_start};

use crate::request::passage::Request;
use crate::respond::compose::rules::{CAPABILITY, is_of_composing};
use crate::road::Road;
use crate::trace::{self, Trace};
use sluice_wire::front::origin::Origin;

/// Writes the head without its empty line: the request's own fields, then the gateway's fields about its origin.
pub fn write_head(out: &mut Vec<u8>, road: &Road, origin: &Origin, request: &Request, framing: Framing) {
    let Request { head, upgrade, id, trace, .. } = request;
    // Whoever composes for the client says so, and says nothing of the encodings that the client accepts.
    let is_composed = road.transforms.composer.is_on() && upgrade.is_none();
    write_request_start(out, head, framing, upgrade.as_deref(), |name, _| {
        if trace::is_field(name) {
            trace.is_some_and(|trace| trace.passes(name))
        } else {
            origin.forwards(name) && !(is_composed && is_of_composing(name))
        }
    });
    if is_composed {
        write_field(out, "Surrogate-Capability", CAPABILITY.as_bytes());
    }
    if let Some(Trace::Own(context)) = trace {
        write_field(out, "traceparent", context.traceparent().as_bytes());
    }
    origin.write_forwarded(out, head);
    write_field(out, "X-Request-Id", id.as_bytes());
}
