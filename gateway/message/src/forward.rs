//! Selection of fields that may be passed on (RFC 9110 §7.6.1).
//!
//! A client must not be able to strip a field that some later reader relies on by naming it in `Connection`. Only
//! fields that are not known to be end-to-end can be named away.

use crate::bytes::{ascii, trim_ows};
use crate::fields::Fields;

/// Fields that belong to one connection and are never passed on.
const HOP_BY_HOP: [&str; 11] = [
    "connection",
    "keep-alive",
    "proxy-connection",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "http2-settings",
    // The gateway answers it itself before it takes the body.
    "expect",
];

/// The gateway's own fields. Nobody but the gateway may send them.
const PRIVATE_PREFIX: &str = "x-sluice-";

/// Fields that `Connection` cannot remove although it names them.
const END_TO_END: [&str; 40] = [
    "host",
    "authorization",
    "cookie",
    "set-cookie",
    "cache-control",
    "pragma",
    "expires",
    "age",
    "date",
    "etag",
    "last-modified",
    "vary",
    "location",
    "link",
    "range",
    "accept",
    "accept-encoding",
    "accept-language",
    "accept-ranges",
    "user-agent",
    "referer",
    "referrer-policy",
    "origin",
    "via",
    "forwarded",
    "max-forwards",
    "server",
    "strict-transport-security",
    "www-authenticate",
    "traceparent",
    "tracestate",
    "baggage",
    "from",
    "allow",
    "retry-after",
    "x-real-ip",
    "x-request-id",
    "x-request-start",
    "x-api-key",
    "x-csrf-token",
];

/// Beginnings of names that `Connection` cannot remove: conditions, content, addresses and policies.
const END_TO_END_PREFIXES: [&str; 6] = ["if-", "content-", "x-forwarded-", "sec-", "access-control-", "cross-origin-"];

/// True if a field of that name, in whatever case, is never passed on.
pub fn is_hop_by_hop(name: &str) -> bool {
    HOP_BY_HOP.iter().any(|hop| name.eq_ignore_ascii_case(hop)) || starts_with(name, PRIVATE_PREFIX)
}

/// The fields that may be passed on, in order, of a request, a response or their trailers.
///
/// Left out are those of [`is_hop_by_hop`] and what `Connection` names, unless that is known to be end-to-end. `Host`, `Content-Length`
/// and the `X-Forwarded-*` family are still among them: the writer of the message replaces those.
pub fn forwardable(fields: &Fields) -> impl Iterator<Item = (&str, &[u8])> {
    let filter = Forwardable::new(fields);
    fields.iter().filter(move |(name, _)| filter.allows(name))
}

/// Removes the fields for which `keeps` is false; it is told of each whether it is among the [`forwardable`] ones.
pub fn strip(fields: &mut Fields, keeps: impl Fn(&str, bool) -> bool) {
    // Hardly ever any.
    let named: Vec<Box<str>> = Forwardable::new(fields).named.into_iter().map(Into::into).collect();
    fields.retain(|name, _| {
        let is_named = || named.iter().any(|named| name.eq_ignore_ascii_case(named));
        keeps(name, !is_hop_by_hop(name) && !is_named())
    });
}

/// The filter behind [`forwardable`], for callers that go through the fields themselves.
#[derive(Debug, Clone)]
pub struct Forwardable<'f> {
    named: Vec<&'f str>,
}

impl<'f> Forwardable<'f> {
    /// The filter for a message with these fields.
    pub fn new(fields: &'f Fields) -> Self {
        let named = fields
            .get_all("connection")
            .flat_map(elements)
            .map(ascii)
            .filter(|name| !is_hop_by_hop(name) && !is_end_to_end(name) && !name.eq_ignore_ascii_case("close"))
            .collect();
        Self { named }
    }

    /// True if `Connection` names fields that the next one would look at.
    #[must_use]
    pub fn removes_any(&self) -> bool {
        !self.named.is_empty()
    }

    /// True if the field may be passed on.
    pub fn allows(&self, name: &str) -> bool {
        !is_hop_by_hop(name) && !self.named.iter().any(|named| name.eq_ignore_ascii_case(named))
    }
}

/// The elements of a comma-separated list; empty ones are skipped, as RFC 9110 §5.6.1.2 asks of recipients.
pub fn elements(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|&b| b == b',').map(trim_ows).filter(|element| !element.is_empty())
}

/// False for fields that frame, route, authenticate or modify the message, which come too late in a trailer
/// (RFC 9110 §6.5.1).
pub fn may_be_trailer(name: &str) -> bool {
    const FORBIDDEN: [&str; 22] = [
        "host",
        "authorization",
        "cookie",
        "set-cookie",
        "www-authenticate",
        "cache-control",
        "pragma",
        "expires",
        "age",
        "date",
        "location",
        "retry-after",
        "vary",
        "max-forwards",
        "range",
        "forwarded",
        "via",
        "origin",
        "x-real-ip",
        "x-request-id",
        "traceparent",
        "tracestate",
    ];
    !is_hop_by_hop(name)
        && !FORBIDDEN.iter().any(|forbidden| name.eq_ignore_ascii_case(forbidden))
        && !["content-", "if-", "x-forwarded-"].iter().any(|prefix| starts_with(name, prefix))
}

fn is_end_to_end(name: &str) -> bool {
    END_TO_END.iter().any(|known| name.eq_ignore_ascii_case(known))
        || END_TO_END_PREFIXES.iter().any(|prefix| starts_with(name, prefix))
}

/// Compares without case; `prefix` is ASCII.
#[must_use]
pub fn starts_with(name: &str, prefix: &str) -> bool {
    name.as_bytes().get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix.as_bytes()))
}
