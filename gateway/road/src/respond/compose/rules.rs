//! Rules for composed answers: the answers that are composed, the changes in their heads, and the counts of include results. It must not
//! know how a page is composed, nor who asks.

use std::cell::Cell;
use std::time::Duration;

use sluice_catalog::config;
use sluice_journal::IncludeEnd;
use sluice_message::{Method, RequestHead, ResponseHead, elements, starts_with};
use tokio::time::Instant;

/// Pause between two warnings to the operator about pages that cannot be parsed.
const TOLD_EVERY: Duration = Duration::from_secs(60);

/// Capability that the gateway announces to the app (W3C Edge Architecture).
pub const CAPABILITY: &str = "sluice=\"ESI/1.0\"";

/// Whether the gateway sets this field of a request in place of the client, where the answer may be composed.
pub fn is_of_composing(name: &str) -> bool {
    name.eq_ignore_ascii_case("accept-encoding") || name.eq_ignore_ascii_case("surrogate-capability")
}

/// Settings of composed pages from the config, and the results of their includes since the start.
pub struct Composer {
    is_on: bool,
    paths: Vec<String>,
    counts: [Cell<u64>; IncludeEnd::ALL.len()],
    told: Cell<Option<Instant>>,
}

impl Composer {
    pub(crate) fn new(settings: &config::Compose) -> Self {
        Composer {
            is_on: settings.enabled,
            paths: settings.paths.clone(),
            counts: Default::default(),
            told: Cell::default(),
        }
    }

    /// Whether pages are composed.
    pub fn is_on(&self) -> bool {
        self.is_on
    }

    /// Whether the config names this path's pages as composed.
    pub(crate) fn names(&self, request: &RequestHead) -> bool {
        let is_page = matches!(request.method, Method::Get | Method::Head | Method::Post);
        self.is_on && is_page && self.paths.iter().any(|prefix| request.path().starts_with(prefix))
    }

    /// Whether this answer is composed.
    pub(crate) fn takes(&self, request: &RequestHead, head: &ResponseHead) -> bool {
        if !self.is_on || head.status < 200 || matches!(head.status, 204 | 205 | 206 | 304) {
            return false;
        }
        is_announced(head) || self.names(request) && is_html(head)
    }

    /// Whether the app has answered with a part of such a page, or with the result of a condition. The client's copy was composed of
    /// another page.
    pub(crate) fn is_unusable(&self, request: &RequestHead, head: &ResponseHead) -> bool {
        let is_part = matches!(head.status, 206 | 304 | 412 | 416);
        self.is_on && is_part && request.method == Method::Get && is_announced(head)
    }

    pub(crate) fn count(&self, end: IncludeEnd, times: u64) {
        self.counts[end as usize].update(|count| count + times);
    }

    /// Whether enough time has passed to warn the operator again.
    pub(crate) fn may_tell(&self) -> bool {
        let now = Instant::now();
        let may = self.told.get().is_none_or(|told| now >= told + TOLD_EVERY);
        if may {
            self.told.set(Some(now));
        }
        may
    }

    /// Number of includes with this result, since the start.
    pub fn counted(&self, end: IncludeEnd) -> u64 {
        self.counts[end as usize].get()
    }
}

fn is_announced(head: &ResponseHead) -> bool {
    head.fields.get_all("surrogate-control").any(sluice_esi::is_announced)
}

fn is_html(head: &ResponseHead) -> bool {
    let html = b"text/html";
    head.fields.get("content-type").is_some_and(|value| {
        value.get(..html.len()).is_some_and(|start| start.eq_ignore_ascii_case(html))
            && value.get(html.len()).is_none_or(|next| b"; \t".contains(next))
    })
}

/// Whether the body has an encoding that cannot be parsed.
pub(crate) fn is_encoded(head: &ResponseHead) -> bool {
    head.fields.get_all("content-encoding").flat_map(elements).any(|coding| !coding.eq_ignore_ascii_case(b"identity"))
}

/// Removes fields that are between the app and the gateway.
pub(crate) fn hide(head: &mut ResponseHead) {
    if head.fields.contains("surrogate-control") {
        head.fields.retain(|name, _| !name.eq_ignore_ascii_case("surrogate-control"));
    }
}

/// Turns the head of a page into that of a composed one. It removes fields about the page's bytes, which are not true of the composed ones,
/// and forbids shared caching.
pub(crate) fn become_composed(head: &mut ResponseHead) {
    const OF_BYTES: [&str; 9] = [
        "content-length",
        "etag",
        "last-modified",
        "accept-ranges",
        "content-md5",
        "content-digest",
        "repr-digest",
        "digest",
        "expires",
    ];
    let is_private = head
        .fields
        .get_all("cache-control")
        .flat_map(elements)
        .any(|word| word.eq_ignore_ascii_case(b"private") || word.eq_ignore_ascii_case(b"no-store"));
    head.fields.retain(|name, _| {
        let is_for_caches = is_targeted(name) || name.eq_ignore_ascii_case("cache-control") && !is_private;
        !is_for_caches && !OF_BYTES.iter().any(|known| name.eq_ignore_ascii_case(known))
    });
    if !is_private {
        head.fields.push("Cache-Control", "private, no-cache");
    }
}

/// Whether the field is for the caches of one network: `CDN-Cache-Control` (RFC 9213) and others with such names.
fn is_targeted(name: &str) -> bool {
    const ENDING: &str = "-cache-control";
    let at = name.len().saturating_sub(ENDING.len());
    let is_named_so = name.get(at..).is_some_and(|ending| ending.eq_ignore_ascii_case(ENDING));
    is_named_so || name.eq_ignore_ascii_case("edge-control") || starts_with(name, "surrogate-")
}

/// Removes fields that are about one answer alone: conditions, and ranges of bytes.
pub(crate) fn drop_conditions(head: &mut RequestHead) {
    head.fields.retain(|name, _| !(starts_with(name, "if-") || name.eq_ignore_ascii_case("range")));
}

#[cfg(test)]
mod tests {
    use sluice_message::Fields;

    use super::*;

    fn head(status: u16, fields: &[(&str, &str)]) -> ResponseHead {
        let fields = fields.iter().map(|(name, value)| (*name, value.as_bytes())).collect::<Fields>();
        ResponseHead::new(status, fields)
    }

    fn composed(fields: &[(&str, &str)]) -> Vec<(String, String)> {
        let mut head = head(200, fields);
        become_composed(&mut head);
        let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
        head.fields.iter().map(|(name, value)| (name.to_owned(), text(value))).collect()
    }

    #[test]
    fn a_page_is_composed_where_it_says_so_or_the_config_does_and_it_is_html() {
        let settings =
            config::Compose { enabled: true, paths: vec!["/shop/".to_owned()], ..config::Compose::default() };
        let (on, off) = (Composer::new(&settings), Composer::new(&config::Compose { enabled: false, ..settings }));
        let asked =
            |path: &str| RequestHead { method: Method::Get, path_and_query: path.to_owned(), ..RequestHead::default() };
        let esi = ("surrogate-control", "max-age=5, content=\"ESI/1.0\"");
        for (path, status, field, expected) in [
            ("/a", 200, esi, true),
            ("/a", 404, esi, true),
            ("/a", 304, esi, false),
            ("/a", 206, esi, false),
            ("/a", 101, esi, false),
            ("/a", 200, ("surrogate-control", "max-age=5"), false),
            ("/shop/a", 200, ("content-type", "text/html;charset=utf-8"), true),
            ("/shop/a", 200, ("Content-Type", "TEXT/HTML"), true),
            ("/shop/a", 200, ("content-type", "text/htmlx"), false),
            ("/shop/a", 200, ("content-type", "text/plain"), false),
            ("/shop", 200, ("content-type", "text/html"), false),
        ] {
            let head = head(status, &[field]);
            assert_eq!(on.takes(&asked(path), &head), expected, "{path} {status} {field:?}");
            assert!(!off.takes(&asked(path), &head));
        }
    }

    #[test]
    fn i7_no_intermediate_cache_may_store_a_composed_page() {
        let shared = [
            ("Cache-Control", "public, max-age=60"),
            ("CDN-Cache-Control", "max-age=600"),
            ("Netlify-CDN-Cache-Control", "max-age=600"),
            ("Edge-Control", "max-age=600"),
            ("Surrogate-Control", "max-age=600"),
            ("Expires", "Thu, 01 Jan 2099 00:00:00 GMT"),
            ("ETag", "\"raw\""),
            ("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT"),
            ("Accept-Ranges", "bytes"),
            ("Content-Type", "text/html"),
        ];
        let expected = [("Content-Type", "text/html"), ("Cache-Control", "private, no-cache")];
        assert_eq!(composed(&shared), expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        for kept in ["private, max-age=60", "no-store"] {
            assert_eq!(composed(&[("Cache-Control", kept)]), [("Cache-Control".to_owned(), kept.to_owned())]);
        }
    }
}
