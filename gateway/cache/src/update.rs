//! What a 304 changes about a stored response (RFC 9111 §3.2), and the tags by which an app calls its pages.

use sluice_message::{Fields, ResponseHead, elements, is_hop_by_hop};

use crate::freshness::{Moment, text_of_date};

/// Fields that name the tags of a response; they are not sent to clients.
pub const TAG_FIELDS: [&str; 3] = ["cache-tag", "surrogate-key", "x-sluice-cache-tag"];
/// More tags of one page are not kept.
pub(crate) const TAGS_MAX: usize = 256;

/// The stored head with the fields of a 304 in place of its own. What says how the body looks stays.
#[must_use]
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

/// The tags of a response: separated by commas in `Cache-Tag`, by spaces in `Surrogate-Key`.
#[must_use]
pub fn tags(fields: &Fields) -> Vec<Box<str>> {
    let lines = TAG_FIELDS.iter().flat_map(|name| fields.get_all(name));
    let words = lines.flat_map(elements).flat_map(|element| element.split(|byte| *byte == b' '));
    let mut tags: Vec<Box<str>> = words
        .filter(|word| !word.is_empty())
        .filter_map(|word| std::str::from_utf8(word).ok())
        .map(Into::into)
        .collect();
    tags.sort_unstable();
    tags.dedup();
    tags.truncate(TAGS_MAX);
    tags
}
