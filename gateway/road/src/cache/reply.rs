//! Heads of answers from the cache: their age, the cache's status, and the verdict of the client's conditions.

use std::rc::Rc;
use std::time::SystemTime;

use sluice_cache::{Moment, Policy};
use sluice_journal::CacheUse;
use sluice_message::{Fields, Method, RequestHead, ResponseHead};

use super::flight::SharedAnswer;
use super::purge;
use super::source::Source;
use super::store::Object;
use crate::answers::conditions::{Conditions, Verdict};
use crate::answers::{Response, ResponseBody};
use crate::request::passage::Request;
use crate::road::Road;

/// Room for the fields that are added to a cached head, here and by compression: their number and their bytes.
const ADDED: (usize, usize) = (5, 160);

/// Head in the form that is cached: without the first client's fields, and with its date.
pub(crate) fn cleaned(mut head: ResponseHead, came: Moment) -> ResponseHead {
    const DROPPED: [&str; 5] = ["age", "x-request-id", "server-timing", "content-length", "trailer"];
    head.fields.retain(|name, _| !DROPPED.iter().any(|dropped| name.eq_ignore_ascii_case(dropped)));
    purge::hide_tags(&mut head);
    if !head.fields.contains("date") {
        let at = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(came.wall_s);
        head.fields.push("Date", httpdate::fmt_http_date(at));
    }
    head
}

fn with_age(road: &Road, head: &ResponseHead, policy: &Policy, source: Source) -> ResponseHead {
    let now = road.pages.moment();
    let fields = head.fields.clone_with_room(ADDED.0, ADDED.1);
    let mut head = ResponseHead { status: head.status, reason: head.reason.clone(), fields };
    let age_s = policy.age_s(now);
    if age_s > 0 || source.as_use() == CacheUse::Hit {
        head.fields.push_written("Age", format_args!("{age_s}"));
    }
    source.tell(policy.reuse(now, road.pages.stale_limits()), &mut head.fields);
    head
}

/// Answer that is still being written for many.
pub(crate) fn shared(road: &Road, request: &RequestHead, shared: &SharedAnswer, source: Source) -> Response {
    let head = with_age(road, &shared.head, &shared.policy, source);
    if verdict(road, request, &head, 0) == Verdict::NotModified {
        return not_modified(head);
    }
    Response { head, body: ResponseBody::Fill(shared.reader(), shared.size) }
}

/// Verdict of the client's conditions on an answer; they apply to status 200 only.
fn verdict(road: &Road, request: &RequestHead, head: &ResponseHead, bytes: u64) -> Verdict {
    let fields = &request.fields;
    // What the client has was composed of another.
    if head.status != 200 || !has_conditions(fields) || road.transforms.composer.takes(request, head) {
        return Verdict::Whole;
    }
    let etag = head.fields.get("etag").and_then(|etag| std::str::from_utf8(etag).ok()).unwrap_or_default();
    let modified = head.fields.get("last-modified").and_then(date);
    let now = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(road.pages.moment().wall_s);
    Conditions::of(fields, request.method == Method::Head).verdict(etag, modified, bytes, now)
}

/// Whether the client asks for the page on conditions, or for a part of it.
fn has_conditions(fields: &Fields) -> bool {
    fields.iter().any(|(name, _)| sluice_message::starts_with(name, "if-") || name.eq_ignore_ascii_case("range"))
}

fn date(value: &[u8]) -> Option<SystemTime> {
    httpdate::parse_http_date(std::str::from_utf8(value).ok()?).ok()
}

/// Cached answer, or the part of it that the client asks for.
pub(crate) fn kept(road: &Road, request: &RequestHead, object: &Object, source: Source) -> Response {
    let mut head = with_age(road, &object.head, &object.policy.borrow(), source);
    let len = object.body.data().len() as u64;
    match verdict(road, request, &head, len) {
        Verdict::Whole => Response { head, body: ResponseBody::Kept(Rc::clone(&object.body)) },
        Verdict::Part(from, end) => {
            head.status = 206;
            head.reason = None;
            head.fields.push("Content-Range", format!("bytes {from}-{}/{len}", end - 1));
            let at = sluice_wire::ids::to_usize;
            Response { head, body: ResponseBody::Whole(object.body.data().slice(at(from)..at(end))) }
        }
        Verdict::NotModified => not_modified(head),
        verdict @ (Verdict::Failed | Verdict::Unsatisfiable) => {
            let mut fields = Fields::default();
            if verdict == Verdict::Unsatisfiable {
                fields.push("Content-Range", format!("bytes */{len}"));
            }
            Response { head: ResponseHead::new(verdict.status(), fields), body: ResponseBody::Empty }
        }
    }
}

/// Head of a 304 with the fields that RFC 9110 §15.4.5 allows.
fn not_modified(mut head: ResponseHead) -> Response {
    const CARRIED: [&str; 10] = [
        "age",
        "cache-control",
        "cache-status",
        "content-location",
        "date",
        "etag",
        "expires",
        "last-modified",
        "set-cookie",
        "vary",
    ];
    head.status = 304;
    head.reason = None;
    head.fields.retain(|name, _| CARRIED.iter().any(|carried| name.eq_ignore_ascii_case(carried)));
    Response { head, body: ResponseBody::Empty }
}

/// Answer that was rendered for many and is for this client alone. The app has not seen the client's conditions.
/// `missed` tells whether others waited for it, or the page was known to be for one client alone.
pub(crate) fn private(road: &Road, request: &Request, missed: CacheUse, mut response: Response) -> Response {
    road.workers().dress(request, &mut response);
    purge::hide_tags(&mut response.head);
    let why = if missed == CacheUse::Bypass { "bypass" } else { "uri-miss" };
    response.head.fields.push("Cache-Status", format!("Sluice; fwd={why}"));
    if verdict(road, &request.head, &response.head, 0) == Verdict::NotModified {
        // The body is dropped with the request's ticket.
        return not_modified(response.head);
    }
    response
}
