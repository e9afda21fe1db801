//! Changes that a 304 makes to a stored response (RFC 9111 §3.2).

use sluice_message::{Fields, ResponseHead, is_hop_by_hop};

use crate::freshness::{Moment, text_of_date};

/// The stored head with the fields of a 304 in place of its own. What says how the body looks stays.
pub fn freshened(stored: &ResponseHead, not_modified: &ResponseHead, came: Moment) -> ResponseHead {
    let is_taken = |name: &str| {
        let is = |kept: &str| name.eq_ignore_ascii_case(kept);
        !(is_hop_by_hop(name)
            || is("content-length")
            || is("content-encoding")
            || is("content-md5")
            || is("etag")
            || is("content-range"))
    };
    let mut fields = Fields::default();
    for (name, value) in stored.fields.iter() {
        if !(is_taken(name) && not_modified.fields.contains(name)) {
            fields.push(name, value);
        }
    }
    for (name, value) in not_modified.fields.iter().filter(|(name, _)| is_taken(name)) {
        fields.push(name, value);
    }
    if !fields.contains("date") {
        fields.push("Date", text_of_date(came.wall_s));
    }
    ResponseHead { status: stored.status, reason: stored.reason.clone(), fields }
}
