//! Decisions by the head of a worker's answer: whether it may be cached, and if not, which clients may get it.

use sluice_cache::{
    KeyRules, Moment, Policy, StorageCandidate, StorageRefusal, is_reflected, storable, tags, target_for_all,
};
use sluice_message::{Method, RequestHead, starts_with};

use crate::answers::{Response, ResponseBody};
use crate::cache::reasons::Why;
use crate::request::passage::Request;
use crate::road::Road;
use sluice_wire::respond::answer::Answer;
use sluice_wire::respond::encode::Size;

/// Data that is cached with a page: its policy and its tags.
pub(crate) type PageMetadata = (Policy, Vec<Box<str>>);

/// Whether a field is the client's alone: conditions, range, instructions to caches, and fields that do not distinguish pages.
fn is_of_client(name: &str) -> bool {
    let known = ["range", "cache-control", "pragma"].iter().any(|known| name.eq_ignore_ascii_case(known));
    known || starts_with(name, "if-") || is_reflected(name)
}

/// Request without the fields that are this client's alone.
pub(crate) fn asked_for_all(head: &RequestHead, rules: &KeyRules) -> RequestHead {
    let path_and_query = target_for_all(&head.path_and_query, rules);
    // HEAD may be what finds that a page is stale.
    let mut head = RequestHead { method: Method::Get, path_and_query, ..head.clone() };
    head.fields.retain(|name, _| !is_of_client(name));
    head
}

/// Whether the app gets the same request from this client alone as for all.
pub(crate) fn is_for_all(head: &RequestHead, rules: &KeyRules) -> bool {
    !head.fields.iter().any(|(name, _)| is_of_client(name))
        && target_for_all(&head.path_and_query, rules) == head.path_and_query
}

/// Policy and tags to cache with an answer to a request for all.
///
/// # Errors
/// Reason why it may not be cached.
pub(crate) fn judge(
    road: &Road,
    head: &RequestHead,
    response: &Response,
    (asked, came): (Moment, Moment),
) -> Result<PageMetadata, Why> {
    let cache = &road.pages.cache;
    let rule = cache.rule(head.path());
    let answered =
        StorageCandidate { request: head, response: &response.head, chosen: &cache.vary_by, rule, asked, came };
    let policy = storable(answered).map_err(Why::Refused)?;
    let ResponseBody::Fill(answer, size) = &response.body else { return Err(Why::Endless) };
    let tags = tags(&response.head.fields, &answer.parts.named()).ok_or(Why::Refused(StorageRefusal::Tags))?;
    if matches!(size, Size::Known(bytes) if *bytes > road.config().bounds.page_bytes_max) {
        return Err(Why::TooLarge);
    }
    let is_endless = |answer: &Answer| answer.facts.is_stream.get() || answer.is_until_close.get();
    if is_endless(answer) { Err(Why::Endless) } else { Ok((policy, tags)) }
}

/// Notes a worker's answer to one client alone, whose request had more than a page for all may depend on. Its answer is not cached; if one
/// for all would be, the next request is for all.
pub(crate) fn note_lone(road: &Road, request: &Request, response: &Response) {
    let Some(key) = &request.lone_key else { return };
    let (now, head) = (road.pages.moment(), asked_for_all(&request.head, &road.pages.cache.keys.rules));
    if judge(road, &head, response, (now, now)).is_ok() {
        road.pages.cache.marks.end(key);
    }
}
