//! Conversion of a URL path into the path of a file below a directory. Pure; it must not know which files exist.
//!
//! What could mean different things to different readers is no file: it goes to the app, which has always had it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use percent_encoding::percent_decode_str;

/// The path that the rest of a URL's path names, decoded once; `None` for what is never sent.
pub(crate) fn relative(encoded: &str) -> Option<PathBuf> {
    let mut path = PathBuf::with_capacity(encoded.len());
    for segment in encoded.split('/') {
        let name = decode(segment)?;
        if !is_servable(&name) {
            return None;
        }
        path.push(OsStr::from_bytes(&name));
    }
    Some(path)
}

/// Whether a name may be part of a path that is sent. Names that start with a dot are `..`, or private by custom.
pub(crate) fn is_servable(name: &[u8]) -> bool {
    let is_hidden = name.starts_with(b".") && name != b".well-known";
    let is_odd = |byte: &u8| byte.is_ascii_control() || matches!(byte, b'/' | b'\\');
    !name.is_empty() && !is_hidden && !name.iter().any(is_odd)
}

fn decode(segment: &str) -> Option<Vec<u8>> {
    let name: Vec<u8> = percent_decode_str(segment).collect();
    // Each escape is two bytes shorter decoded; what only looks like one stays as it is.
    let escapes = segment.matches('%').count();
    (name.len() + 2 * escapes == segment.len()).then_some(name)
}

#[cfg(test)]
mod tests {
    use std::path::Component;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_decoded_once() {
        for (encoded, path) in [
            ("app.js", "app.js"),
            ("a/b%20c.css", "a/b c.css"),
            ("%61.js", "a.js"),
            ("%2561.js", "%61.js"),
            ("%252e%252e/x", "%2e%2e/x"),
            ("gr%C3%BC%c3%9fe.txt", "grüße.txt"),
            ("a+b.js", "a+b.js"),
            (".well-known/acme", ".well-known/acme"),
            ("[slug]-1a2b.js", "[slug]-1a2b.js"),
        ] {
            assert_eq!(relative(encoded), Some(PathBuf::from(path)), "{encoded}");
        }
    }

    #[test]
    fn what_is_no_plain_name_is_no_file() {
        for encoded in [
            "",
            "/",
            "a/",
            "/a",
            "a//b",
            ".",
            "..",
            "../x",
            "a/../b",
            "a/./b",
            "%2e%2e/x",
            ".%2e/x",
            "%2E./x",
            "..%2fx",
            "a%2fb",
            "a%2Fb",
            "a%5cb",
            "a\\b",
            "..\\x",
            "%5c..%5cx",
            "a%00.js",
            "%00",
            "a%0ab",
            ".env",
            "a/.git/config",
            ".well-known.html",
            ".well-knowN/x",
            "%2ehtaccess",
            "a%",
            "a%2",
            "a%zz",
            "%+1x",
            "a/..",
        ] {
            assert_eq!(relative(encoded), None, "{encoded}");
        }
    }

    proptest! {
        #[test]
        fn no_path_leads_out_or_to_a_hidden_name(
            encoded in "([a.]|/|\\.\\.|%2[eEfF]|%5c|%00|%25|%|\\\\|[!-~]){0,12}",
        ) {
            if let Some(path) = relative(&encoded) {
                for component in path.components() {
                    let Component::Normal(name) = component else { panic!("{encoded} gave {path:?}") };
                    prop_assert!(is_servable(name.as_bytes()), "{encoded} gave {path:?}");
                }
                prop_assert_eq!(path.components().count(), encoded.split('/').count());
            }
        }

        #[test]
        fn every_plain_name_comes_back_as_it_was(name in "[^./\\\\\\x00-\\x1f\\x7f][^/\\\\\\x00-\\x1f\\x7f]{0,20}") {
            let encoded: String = name.bytes().flat_map(|byte| [b'%', b"0123456789abcdef"[usize::from(byte >> 4)], b"0123456789abcdef"[usize::from(byte & 15)]].map(char::from)).collect();
            prop_assert_eq!(relative(&encoded), Some(PathBuf::from(name)));
        }
    }
}
