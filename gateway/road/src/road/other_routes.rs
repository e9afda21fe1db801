//! Routes of the config that lead to other hosts. It must not know what becomes of the requests.

use std::rc::Rc;

use percent_encoding::percent_decode;
use sluice_catalog::config::{Route, site};
use sluice_classes::Rules;
use sluice_message::{Method, RequestHead};
use sluice_upstreams::{Report, Settings, Upstream, Upstreams};

/// Upstreams of the config in force, and their routes.
pub(crate) struct UpstreamRoutes {
    rules: Rules,
    /// Number of the upstream of each rule.
    numbers: Vec<usize>,
    pub(crate) upstreams: Upstreams,
}

impl UpstreamRoutes {
    /// Routes of these upstreams; `None` without any. Those that have not changed stay as they are.
    pub(crate) fn new(settings: &[Settings], before: Option<&Self>, report: &Report) -> Option<Rc<Self>> {
        if settings.is_empty() {
            return None;
        }
        let routes = settings.iter().enumerate().flat_map(|(number, settings)| {
            let parsed = settings.paths().iter().filter_map(|pattern| Route::parse(pattern, "").ok());
            parsed.map(move |route| (number, route))
        });
        let mut routes: Vec<(usize, Route)> = routes.collect();
        // The order of `Rules`, whose sort is stable as this one is.
        routes.sort_by_key(|(_, route)| std::cmp::Reverse(route.closeness()));
        let numbers = routes.iter().map(|(number, _)| *number).collect();
        let rules = Rules::of(routes.into_iter().map(|(_, route)| route));
        let before = before.map(|before| &before.upstreams);
        Some(Rc::new(UpstreamRoutes { rules, numbers, upstreams: Upstreams::new(settings.to_vec(), before, report) }))
    }

    /// The upstream that answers such a request, if one does.
    pub(crate) fn find(&self, head: &RequestHead) -> Option<&Rc<Upstream>> {
        // HEAD follows the rules of GET, as a cache asks with GET in place of it.
        let method = if head.method == Method::Head { &Method::Get } else { &head.method };
        let rule = self.rules.find(method, site(&head.authority), head.path())?;
        self.upstreams.get(*self.numbers.get(rule)?)
    }
}

/// Maximum number of times that a path may be encoded.
const ENCODINGS_MAX: usize = 3;

/// Whether servers are known to read another path from this one than the gateway does: dot segments lead out of the route, however they are
/// written. Some servers decode what is encoded more than once, take `\` for `/`, cut parameters off (`..;`), or know `%u002e` and
/// UTF-8 that is longer than it has to be.
pub(crate) fn is_ambiguous(path: &str) -> bool {
    let mut reading = path.as_bytes().to_vec();
    if !reading.iter().any(|byte| matches!(byte, b'.' | b'%' | b'\\')) {
        return false;
    }
    for _ in 0..=ENCODINGS_MAX {
        if names_dots(&reading) || is_overlong(&reading) || has_code_units(&reading) {
            return true;
        }
        let decoded: Vec<u8> = percent_decode(&reading).collect();
        if decoded == reading {
            return false;
        }
        reading = decoded;
    }
    true
}

fn names_dots(path: &[u8]) -> bool {
    path.split(|byte| matches!(byte, b'/' | b'\\')).any(|segment| {
        let name = segment.split(|byte| *byte == b';').next().unwrap_or_default();
        matches!(name, b"." | b"..")
    })
}

/// UTF-8 in more bytes than the character needs, which is invalid, and which some decoders take (RFC 3629 §10).
fn is_overlong(path: &[u8]) -> bool {
    path.iter().enumerate().any(|(at, byte)| match (byte, path.get(at + 1)) {
        (0xc0 | 0xc1, _) => true,
        (0xe0, Some(next)) => (0x80..0xa0).contains(next),
        (0xf0, Some(next)) => (0x80..0x90).contains(next),
        _ => false,
    })
}

/// `%u002e`, which is no encoding of URLs.
fn has_code_units(path: &[u8]) -> bool {
    path.windows(6)
        .any(|bytes| matches!(bytes, [b'%', b'u' | b'U', digits @ ..] if digits.iter().all(u8::is_ascii_hexdigit)))
}

#[cfg(test)]
mod tests {
    use super::is_ambiguous;

    #[test]
    fn dot_segments_are_found_however_they_are_written() {
        for path in [
            "/old/../admin",
            "/old/..",
            "/old/./x",
            "/old/%2e%2e/admin",
            "/old/%2E./admin",
            "/old/..%2fadmin",
            "/old/..%5cadmin",
            "/old/..\\admin",
            "/old/%252e%252e/admin",
            "/old/..;/admin",
            "/old/..;x=1/admin",
            "/old/..%3b/admin",
            "/old/%c0%ae%c0%ae/admin",
            "/old/%25c0%25ae/admin",
            "/old/%e0%80%ae./admin",
            "/old/%f0%80%80%ae/admin",
            "/old/..%c0%afadmin",
            "/old/%u002e%u002e/admin",
            "/old/%25U002E/admin",
            "/old/%25252e%25252e/admin",
            "/old/%252525252e%252525252e/admin",
        ] {
            assert!(is_ambiguous(path), "{path}");
        }
        for path in [
            "/old/a.b",
            "/old/...",
            "/old/..a",
            "/old/%20x",
            "/old/.well-known/x",
            "/old",
            "/a%2fb",
            "/100%",
            "/%e2%82%ac",
            "/caf%e9",
            "/a%252520b",
            "/%ue",
            "/%unlikely",
        ] {
            assert!(!is_ambiguous(path), "{path}");
        }
    }
}
