//! Whether a shared cache may store a response (RFC 9111 §3), and why not.

use sluice_message::{Method, RequestHead, ResponseHead};

use crate::directives::{of_request, of_response};
use crate::freshness::{Moment, Stamp, lifetime_s};
use crate::stored::Policy;
use crate::vary::Dimensions;

/// Number of the rules, raised when this version would not store what an earlier one has, or for others. Pages of an earlier gateway are
/// dropped then.
pub const RULES_VERSION: u32 = 2;

/// Settings of the config for a page, besides what its answer says.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rule {
    /// Freshness of an answer with status 200 that names none, seconds.
    pub ttl_s: Option<u64>,
}

/// Reason for not storing a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StorageRefusal {
    /// Another method than GET.
    Method,
    /// The status stands for a part of a page, or concerns one client.
    Status,
    /// The client, or the app, says `no-store`.
    NoStore,
    /// The answer is for one user.
    Private,
    /// The answer is asked for again before each use.
    NoCache,
    /// The answer sets a cookie.
    SetCookie,
    /// The request had credentials, and the app does not say that the answer is for all.
    Authorization,
    /// The request had cookies, and the app does not say that the answer is for all.
    Cookie,
    /// `Vary: *`, or it names too much.
    Vary,
    /// Nothing says how long the answer is fresh.
    NoFreshness,
    /// The answer is stale at once.
    Stale,
    /// The answer has too many tags to be purged by all of them.
    Tags,
}

impl StorageRefusal {
    /// Reason in a few words, for logs and for people who ask.
    pub fn as_str(self) -> &'static str {
        match self {
            StorageRefusal::Method => "the method is not GET",
            StorageRefusal::Status => "answers of this status are not stored",
            StorageRefusal::NoStore => "no-store",
            StorageRefusal::Private => "private",
            StorageRefusal::NoCache => "no-cache",
            StorageRefusal::SetCookie => "it sets a cookie",
            StorageRefusal::Authorization => {
                "the request had credentials, and the answer has neither public nor s-maxage"
            }
            StorageRefusal::Cookie => "the request had cookies, and the answer has neither public nor s-maxage",
            StorageRefusal::Vary => "Vary has * or too many fields",
            StorageRefusal::NoFreshness => "its freshness is not stated",
            StorageRefusal::Stale => "it is stale immediately",
            StorageRefusal::Tags => "it has more tags than the cache stores",
        }
    }
}

/// A response, the request that it answers, and what the config says of both.
#[derive(Clone, Copy, Debug)]
pub struct StorageCandidate<'a> {
    /// The request as the app got it.
    pub request: &'a RequestHead,
    /// The response as the app gave it.
    pub response: &'a ResponseHead,
    /// See [`Dimensions::of`].
    pub chosen: &'a [String],
    /// Settings of the config for the page.
    pub rule: Rule,
    /// Time at which the request was sent.
    pub asked: Moment,
    /// Time at which the response came.
    pub came: Moment,
}

/// The policy of a response that may be stored.
///
/// # Errors
/// Why it may not.
pub fn storable(answered: StorageCandidate<'_>) -> Result<Policy, StorageRefusal> {
    let policy = renewed(answered)?;
    let StorageCandidate { response, came, .. } = answered;
    // With a validator the app can say that it has not changed since. One that was never to be fresh costs more than it saves.
    let has_validator = ["etag", "last-modified"].iter().any(|name| response.fields.contains(name));
    let may_be_renewed = policy.lifetime_s() > 0 && has_validator;
    let is_fresh = policy.lifetime_s() > policy.age_s(came);
    if is_fresh || may_be_renewed || policy.may_be_stale_while_revalidated(came) {
        Ok(policy)
    } else {
        Err(StorageRefusal::Stale)
    }
}

/// The policy of a stored response that the app has confirmed as still right. It may be stale again at once.
///
/// # Errors
/// Why it may not be stored any more.
pub fn renewed(answered: StorageCandidate<'_>) -> Result<Policy, StorageRefusal> {
    let StorageCandidate { request, response, chosen, rule, asked, came } = answered;
    let told = of_response(&response.fields);
    let is_understood = is_understood(response.status);
    if request.method != Method::Get {
        return Err(StorageRefusal::Method);
    }
    if !(200..600).contains(&response.status) || matches!(response.status, 206 | 304) {
        return Err(StorageRefusal::Status);
    }
    if told.must_understand && !is_understood {
        return Err(StorageRefusal::Status);
    }
    // RFC 9111 §5.2.2.3: who understands the status goes by the other directives.
    if (told.no_store && !told.must_understand) || of_request(&request.fields).no_store {
        return Err(StorageRefusal::NoStore);
    }
    if told.private {
        return Err(StorageRefusal::Private);
    }
    // Apps that know nothing of `Cache-Control` say it so.
    let is_old_word = !told.targeted && !response.fields.contains("cache-control");
    if told.no_cache
        || is_old_word && response.fields.get_all("pragma").any(|line| line.eq_ignore_ascii_case(b"no-cache"))
    {
        return Err(StorageRefusal::NoCache);
    }
    if response.fields.contains("set-cookie") {
        return Err(StorageRefusal::SetCookie);
    }
    let dimensions = Dimensions::of(&request.fields, &response.fields, chosen).ok_or(StorageRefusal::Vary)?;
    let is_for_all = told.public || told.s_maxage.is_some() || told.targeted;
    // RFC 9111 §3.5.
    if request.fields.contains("authorization") && !(told.public || told.s_maxage.is_some() || told.must_revalidate) {
        return Err(StorageRefusal::Authorization);
    }
    let lifetime_s = lifetime_s(&told, &response.fields, came);
    let is_by_rule = lifetime_s.is_none() && rule.ttl_s.is_some() && response.status == 200;
    // Stricter than RFC 9111: an app that forgets to say `private` must not show one user's page to another (I7).
    let is_cookie_counted = dimensions.has("cookie");
    if request.fields.contains("cookie") && !(is_for_all || is_by_rule || is_cookie_counted) {
        return Err(StorageRefusal::Cookie);
    }
    let lifetime_s = if is_by_rule { rule.ttl_s } else { lifetime_s }.ok_or(StorageRefusal::NoFreshness)?;
    let stamp = Stamp::of(&response.fields, asked, came);
    let policy = Policy::new(&told, dimensions, lifetime_s, stamp);
    Ok(if is_of_request(response.status) { policy.for_a_moment(came) } else { policy })
}

/// Whether the request may be to blame for an error, by something that distinguishes no two pages: a malformed or large header, a range,
/// a client that asks too often. An app that sets `Cache-Control` before its handler runs sends such errors as public pages. So they are
/// used for a moment only, and take the place of no page that may be used.
pub fn is_of_request(status: u16) -> bool {
    status >= 400 && !matches!(status, 404 | 410 | 414 | 451 | 501)
}

/// Statuses of RFC 9110, of which caches know what they ask of them.
fn is_understood(status: u16) -> bool {
    matches!(status, 200 | 203 | 204 | 300..=303 | 307 | 308 | 404 | 405 | 410 | 414 | 501)
}
