//! `POST /cache/purge` and `GET /cache/show` of the admin address. It must not know who may.

use bytes::Bytes;
use hyper::StatusCode;
use percent_encoding::percent_decode_str;
use serde::Deserialize;
use serde_json::json;
use sluice_catalog::snapshot::Purge;
use tokio::sync::oneshot;

use crate::Operator;
use crate::actions::{Done, done, failed, parsed};

/// Maximum number of tags in one request.
const TAGS_MAX: usize = 1000;
const WHICH: &str = "Name the pages: one of \"url\", \"prefix\", \"tag\", \"tags\" and \"all\": true, as in \
    {\"tag\":\"product-1\"}. URLs begin with \
                     https:// or http://, or with / for all hosts.";
const OFF: &str = "The page cache is disabled: set cache.enabled = true and restart the gateway.";

/// Pages to purge.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct PurgeQuery {
    url: Option<String>,
    prefix: Option<String>,
    tag: Option<String>,
    tags: Option<Vec<String>>,
    all: bool,
    soft: bool,
}

impl PurgeQuery {
    /// None where it is not one of them.
    fn pages(self) -> Option<Vec<Purge>> {
        let is_url = |url: &String| ["https://", "http://", "/"].iter().any(|begin| url.starts_with(begin));
        match self {
            PurgeQuery { url: Some(url), prefix: None, tag: None, tags: None, all: false, .. } if is_url(&url) => {
                Some(vec![Purge::Url(url)])
            }
            PurgeQuery { prefix: Some(prefix), url: None, tag: None, tags: None, all: false, .. }
                if is_url(&prefix) =>
            {
                Some(vec![Purge::Prefix(prefix)])
            }
            PurgeQuery { tag: Some(tag), url: None, prefix: None, tags: None, all: false, .. } if !tag.is_empty() => {
                Some(vec![Purge::Tag(tag)])
            }
            PurgeQuery { tags: Some(tags), url: None, prefix: None, tag: None, all: false, .. }
                if tags.len() <= TAGS_MAX && tags.iter().all(|tag| !tag.is_empty()) =>
            {
                Some(tags.into_iter().map(Purge::Tag).collect())
            }
            PurgeQuery { all: true, url: None, prefix: None, tag: None, tags: None, .. } => Some(vec![Purge::All]),
            _ => None,
        }
    }
}

/// Purges, and answers when that is done.
pub(crate) async fn purge(body: &Bytes, operator: &dyn Operator) -> Done {
    let wanted: PurgeQuery = match parsed(body) {
        Ok(wanted) => wanted,
        Err(refused) => return refused,
    };
    let is_soft = wanted.soft;
    let Some(pages) = wanted.pages() else { return failed(StatusCode::BAD_REQUEST, WHICH) };
    if !operator.cache(None).0.enabled {
        return failed(StatusCode::CONFLICT, OFF);
    }
    done(StatusCode::OK, &json!({ "purged": purge_whole(&pages, is_soft, operator).await }))
}

/// Purges these pages and, for those named by URL or prefix, the parts that workers cache for them. Returns the number of variants of pages.
pub(crate) async fn purge_whole(pages: &[Purge], is_soft: bool, operator: &dyn Operator) -> u64 {
    // All of them first, so that each is in force before any is waited for.
    let purges: Vec<_> = pages.iter().map(|pages| operator.purge(pages, is_soft)).collect();
    let parts: Vec<_> = pages.iter().filter_map(parts_of).map(|parts| operator.purge(&parts, is_soft)).collect();
    let has_parts = !parts.is_empty();
    let purged = sum(purges).await;
    sum(parts).await;
    if !has_parts {
        return purged;
    }
    // A page that was rendered meanwhile may have a part that was not purged yet.
    let again = sum(pages.iter().map(|pages| operator.purge(pages, is_soft)).collect()).await;
    if is_soft { purged.max(again) } else { purged + again }
}

async fn sum(purges: Vec<oneshot::Receiver<u64>>) -> u64 {
    let mut purged = 0;
    for count in purges {
        purged += count.await.unwrap_or_default();
    }
    purged
}

/// Purge of the parts of these pages that workers cache. They know pages by tags of their own: `pageTag` of `packages/host`.
fn parts_of(pages: &Purge) -> Option<Purge> {
    match pages {
        Purge::Url(url) => Some(Purge::Tag(format!("sluice:url:{url}"))),
        Purge::Prefix(prefix) => Some(Purge::Tag(format!("sluice:prefix:{prefix}"))),
        Purge::Tag(_) | Purge::All => None,
    }
}

/// Shows the stored variants of the page that the query names.
pub(crate) fn show(query: &str, operator: &dyn Operator) -> Done {
    let url = query.split('&').find_map(|pair| pair.strip_prefix("url="));
    let Some(url) = url.and_then(|url| percent_decode_str(url).decode_utf8().ok()) else {
        return failed(
            StatusCode::BAD_REQUEST,
            "Name the page: /cache/show?url=https%3A%2F%2Fshop.example%2Fproducts%2F1",
        );
    };
    match operator.cache(Some(&url)) {
        (cache, _) if !cache.enabled => failed(StatusCode::CONFLICT, OFF),
        (_, kept) => done(StatusCode::OK, &json!({ "kept": kept })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(body: &str) -> Option<Vec<Purge>> {
        serde_json::from_str::<PurgeQuery>(body).ok()?.pages()
    }

    #[test]
    fn one_way_of_naming_pages_is_asked_for_and_no_two() {
        let url = "https://shop.example/".to_owned();
        assert_eq!(pages(r#"{"url":"https://shop.example/"}"#), Some(vec![Purge::Url(url)]));
        assert_eq!(pages(r#"{"prefix":"/blog/","soft":true}"#), Some(vec![Purge::Prefix("/blog/".to_owned())]));
        assert_eq!(pages(r#"{"tag":"a b"}"#), Some(vec![Purge::Tag("a b".to_owned())]));
        let tags = vec![Purge::Tag("a".to_owned()), Purge::Tag("b".to_owned())];
        assert_eq!(pages(r#"{"tags":["a","b"]}"#), Some(tags));
        assert_eq!(pages(r#"{"all":true}"#), Some(vec![Purge::All]));
        for wrong in [
            "{}",
            r#"{"all":false}"#,
            r#"{"url":"shop.example"}"#,
            r#"{"tag":""}"#,
            r#"{"tags":[""]}"#,
            r#"{"tag":"a","all":true}"#,
            r#"{"url":"/a","prefix":"/a"}"#,
            r#"{"tag":"a","more":1}"#,
        ] {
            assert_eq!(pages(wrong), None, "{wrong}");
        }
    }
}
