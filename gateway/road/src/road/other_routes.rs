//! Routes of the config that lead to other hosts. It must not know what becomes of the requests.

use std::rc::Rc;

use percent_encoding::percent_decode;
use sluice_catalog::config::{Route, site};
use sluice_classes::Rules;
use sluice_message::RequestHead;
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
        let rule = self.rules.find(&head.method, site(&head.authority), head.path())?;
        self.upstreams.get(*self.numbers.get(rule)?)
    }
}

/// Whether a server may read another path from this one than the gateway does: dot segments lead out of the route, however they are
/// written. Servers of old decode twice what is encoded, take `\` for `/`, and cut parameters off (`..;`).
pub(crate) fn is_ambiguous(path: &str) -> bool {
    let bytes = path.as_bytes();
    if !bytes.iter().any(|byte| matches!(byte, b'.' | b'%' | b'\\')) {
        return false;
    }
    let once: Vec<u8> = percent_decode(bytes).collect();
    let twice: Vec<u8> = percent_decode(&once).collect();
    let names_dots = |path: &[u8]| {
        path.split(|byte| matches!(byte, b'/' | b'\\')).any(|segment| {
            let name = segment.split(|byte| *byte == b';').next().unwrap_or_default();
            matches!(name, b"." | b"..")
        })
    };
    [bytes, &once, &twice].into_iter().any(names_dots)
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
        ] {
            assert!(is_ambiguous(path), "{path}");
        }
        for path in ["/old/a.b", "/old/...", "/old/..a", "/old/%20x", "/old/.well-known/x", "/old", "/a%2fb", "/100%"] {
            assert!(!is_ambiguous(path), "{path}");
        }
    }
}
