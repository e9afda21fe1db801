//! The dashboard's page, which is built into the binary.
//!
//! It is one file that asks for nothing from elsewhere. `packages/dashboard` builds it, `build.rs` embeds it. This module must
//! not know what it shows.

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};

/// A page, as it was built.
pub(crate) struct Page {
    html: &'static str,
    /// Empty where the page was not built.
    gzip: &'static [u8],
    policy: &'static str,
    /// Changes with the page.
    tag: &'static str,
}

pub(crate) static DASHBOARD: Page = Page {
    html: include_str!(concat!(env!("OUT_DIR"), "/index.html")),
    gzip: include_bytes!(concat!(env!("OUT_DIR"), "/index.html.gz")),
    policy: include_str!(concat!(env!("OUT_DIR"), "/index.csp")),
    tag: include_str!(concat!(env!("OUT_DIR"), "/index.tag")),
};

/// Headers that forbid what no page may do, regardless of its policy.
const HEADERS: [(HeaderName, HeaderValue); 5] = [
    (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
    // Asked for again each time, and answered 304 where nothing changed.
    (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    (header::VARY, HeaderValue::from_static("accept-encoding")),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
];

impl Page {
    /// The page for a request with these headers.
    pub(crate) fn answer(&self, asked: &HeaderMap) -> Response<Full<Bytes>> {
        let is_known = asked.get(header::IF_NONE_MATCH).is_some_and(|tags| names(tags, self.tag));
        let packed = !self.gzip.is_empty() && accepts_gzip(asked);
        let body = match (is_known, packed) {
            (true, _) => Bytes::new(),
            (false, true) => Bytes::from_static(self.gzip),
            (false, false) => Bytes::from_static(self.html.as_bytes()),
        };
        let mut response = Response::new(Full::new(body));
        if is_known {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        }
        let headers = response.headers_mut();
        headers.extend(HEADERS);
        headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(self.policy));
        headers.insert(header::ETAG, HeaderValue::from_static(self.tag));
        if packed && !is_known {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        response
    }
}

/// Whether `If-None-Match` names this tag. Weak comparison (RFC 9110 §13.1.2), so proxies may add or take `W/`.
fn names(tags: &HeaderValue, tag: &str) -> bool {
    let opaque = tag.trim_start_matches("W/");
    let tags = tags.to_str().unwrap_or_default();
    tags.split(',').map(str::trim).any(|one| one == "*" || one.trim_start_matches("W/") == opaque)
}

/// Whether `Accept-Encoding` has gzip with a weight above 0 (RFC 9110 §12.5.3).
pub(crate) fn accepts_gzip(asked: &HeaderMap) -> bool {
    let Some(value) = asked.get(header::ACCEPT_ENCODING) else { return false };
    value.to_str().unwrap_or_default().split(',').any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let is_gzip = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
        let weight = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        is_gzip && weight.is_none_or(|weight| weight.trim().parse::<f32>().is_ok_and(|weight| weight > 0.0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: Page = Page { html: "<p>long</p>", gzip: b"short", policy: "default-src 'none'", tag: "W/\"1\"" };

    fn asked(name: HeaderName, value: &'static str) -> Response<Full<Bytes>> {
        PAGE.answer(&HeaderMap::from_iter([(name, HeaderValue::from_static(value))]))
    }

    #[test]
    fn page_is_compressed_for_those_who_accept_it() {
        for (accepted, packed) in
            [("gzip", true), ("br, GZIP;q=0.5", true), ("gzip;q=0", false), ("br", false), ("gzip;q=x", false)]
        {
            let response = asked(header::ACCEPT_ENCODING, accepted);
            assert_eq!(response.headers().contains_key(header::CONTENT_ENCODING), packed, "{accepted}");
        }
        assert!(!PAGE.answer(&HeaderMap::new()).headers().contains_key(header::CONTENT_ENCODING));
    }

    #[test]
    fn page_that_the_client_has_is_not_sent_again() {
        for (tags, status) in [("W/\"1\"", 304), ("\"0\", \"1\"", 304), ("*", 304), ("\"2\"", 200), ("1", 200)] {
            assert_eq!(asked(header::IF_NONE_MATCH, tags).status(), status, "{tags}");
        }
    }

    #[test]
    fn page_says_what_it_may_do() {
        let response = DASHBOARD.answer(&HeaderMap::new());
        let policy = response.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{policy}");
        assert!(DASHBOARD.html.starts_with("<!doctype html>"));
    }
}
