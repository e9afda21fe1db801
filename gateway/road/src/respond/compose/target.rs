//! Target of an include's `src`: the path and query of a URL on the page's own host. Pure.

use std::fmt::Write as _;

use sluice_message::{RequestHead, check_target};

/// Target of a reference in the page that this request was for (RFC 3986 §5.2); `None` if it is on another host, or invalid. A gateway that
/// asked other hosts would request any URL that a page names.
pub(crate) fn of_reference(reference: &str, page: &RequestHead) -> Option<String> {
    let reference = reference.split('#').next().unwrap_or_default();
    let (path, query) = match reference.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (reference, None),
    };
    let (own_path, own_query) = match page.path_and_query.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (&*page.path_and_query, None),
    };
    let (path, query) = match local(path, &page.authority)? {
        "" => (own_path.to_owned(), query.or(own_query)),
        path if path.starts_with('/') => (path.to_owned(), query),
        path => (format!("{}/{path}", own_path.rsplit_once('/').map_or("", |(folder, _)| folder)), query),
    };
    let mut target = without_dots(&path);
    if let Some(query) = query {
        target.push('?');
        target.push_str(query);
    }
    let target = escaped(&target);
    (target.starts_with('/') && check_target(target.as_bytes()).is_ok()).then_some(target)
}

/// Path of a reference, if that is on the same host.
fn local<'r>(path: &'r str, authority: &str) -> Option<&'r str> {
    let first = path.split('/').next().unwrap_or_default();
    let rest = match first.split_once(':') {
        Some((scheme, "")) if scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https") => {
            &path[first.len()..]
        }
        Some(_) => return None,
        None => path,
    };
    // Browsers read a backslash as a slash, and so may the app.
    if rest.contains('\\') {
        return None;
    }
    let Some(from) = rest.strip_prefix("//") else {
        return (rest.len() == path.len()).then_some(path);
    };
    let end = from.find('/').unwrap_or(from.len());
    let (host, path) = from.split_at(end);
    (!host.is_empty() && host.eq_ignore_ascii_case(authority)).then_some(if path.is_empty() { "/" } else { path })
}

/// Path without dot segments (RFC 3986 §5.2.4).
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            "." | ".." => {
                if segment == ".." {
                    kept.pop();
                }
                if is_last {
                    kept.push("");
                }
            }
            segment => kept.push(segment),
        }
    }
    format!("/{}", kept.join("/"))
}

/// Target with all characters escaped that it may not contain, as browsers do.
fn escaped(target: &str) -> String {
    let mut out = String::with_capacity(target.len());
    for byte in target.bytes() {
        if byte.is_ascii_graphic() {
            out.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_resolved_as_browsers_do_and_other_hosts_are_refused() {
        let page = RequestHead {
            authority: "shop.test:8080".to_owned(),
            path_and_query: "/c/kitchen?kind=pan".to_owned(),
            ..RequestHead::default()
        };
        for (reference, expected) in [
            ("/cart", Some("/cart")),
            ("/cart?a=1&b=/../x#here", Some("/cart?a=1&b=/../x")),
            ("cart", Some("/c/cart")),
            ("./cart/", Some("/c/cart/")),
            ("../cart", Some("/cart")),
            ("../../../cart", Some("/cart")),
            ("/a/./b/../c/..", Some("/a/")),
            ("?kind=pot", Some("/c/kitchen?kind=pot")),
            ("#top", Some("/c/kitchen?kind=pan")),
            ("http://shop.test:8080/cart", Some("/cart")),
            ("HTTPS://Shop.Test:8080", Some("/")),
            ("//shop.test:8080/cart?x", Some("/cart?x")),
            ("/käse und brot", Some("/k%C3%A4se%20und%20brot")),
            ("/a:b", Some("/a:b")),
            ("//evil.test/cart", None),
            ("http://evil.test/cart", None),
            ("http://shop.test:8080@evil.test/cart", None),
            ("http://shop.test/cart", None),
            ("http:/cart", None),
            ("http:cart", None),
            ("///cart", None),
            ("/\\evil.test", None),
            ("file:///etc/passwd", None),
            ("javascript:alert(1)", None),
            ("unix:/run/x", None),
        ] {
            assert_eq!(of_reference(reference, &page).as_deref(), expected, "{reference}");
        }
    }
}
