//! Parts of an exchange that are for one visitor alone: credentials of requests, and answers that no shared cache may keep.

use sluice_journal::Query;
use sluice_message::{Fields, elements};

/// Words in names of fields and parameters with secrets, whatever the log masks.
const WORDS: [&str; 19] = [
    "token",
    "key",
    "apikey",
    "password",
    "passwd",
    "pwd",
    "secret",
    "code",
    "signature",
    "sig",
    "auth",
    "authorization",
    "credential",
    "credentials",
    "session",
    "jwt",
    "otp",
    "ticket",
    "cookie",
];
/// Further ones in names of fields.
const FIELD_WORDS: [&str; 6] = ["assertion", "cert", "csrf", "xsrf", "oidc", "identity"];
/// The one of them that is in fields about places.
const HARMLESS: &str = "code";

/// Whether a field of the request has credentials, by its name.
pub(super) fn has_private_fields(fields: &Fields) -> bool {
    fields.iter().any(|(name, _)| {
        let known = || WORDS.iter().chain(&FIELD_WORDS).filter(|known| **known != HARMLESS);
        let is_private = |word: &str| known().any(|known| known.eq_ignore_ascii_case(word));
        name.split(['-', '_']).any(is_private)
    })
}

/// Whether the query has a value that the access log masks by these words, or would by default.
pub(super) fn has_secret(path_and_query: &str, masked: &[String]) -> bool {
    let words = masked.iter().cloned().chain(WORDS.map(str::to_owned)).collect();
    Query::Mask(words).shown(path_and_query) != path_and_query
}

/// Whether the answer says that it is one visitor's, or not to be kept.
pub(super) fn is_for_one(fields: &Fields) -> bool {
    let forbids = |word: &[u8]| {
        let name = word.split(|byte| *byte == b'=').next().unwrap_or_default().trim_ascii();
        name.eq_ignore_ascii_case(b"private") || name.eq_ignore_ascii_case(b"no-store")
    };
    fields.contains("Set-Cookie")
        || fields.iter().any(|(name, value)| {
            let name = name.to_ascii_lowercase();
            (name.ends_with("cache-control") || name == "surrogate-control") && elements(value).any(forbids)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(of: &[(&'static str, &'static str)]) -> Fields {
        of.iter().map(|(name, value)| (*name, value.as_bytes())).collect()
    }

    #[test]
    fn requests_with_credentials_are_known_by_names() {
        for name in [
            "Authorization",
            "Cookie",
            "X-Api-Key",
            "Proxy-Authorization",
            "X-Auth-Token",
            "X-Goog-Iap-Jwt-Assertion",
            "X-Forwarded-Client-Cert",
        ] {
            assert!(has_private_fields(&fields(&[("Host", "a"), (name, "x")])), "{name}");
        }
        assert!(!has_private_fields(&fields(&[
            ("Accept", "text/html"),
            ("User-Agent", "token"),
            ("X-Forwarded-For", "::1")
        ])));
    }

    #[test]
    fn queries_with_secrets_are_those_that_the_log_masks() {
        for path in ["/reset?token=a", "/a?b=1&X-Amz-Signature=c", "/?accessToken=x"] {
            assert!(has_secret(path, &[]), "{path}");
        }
        assert!(!has_secret("/token/a?page=1&color=red", &[]));
        assert!(has_secret("/?invite=1", &["invite".to_owned()]));
    }

    #[test]
    fn answers_for_one_visitor_are_known() {
        for of in [
            ("Set-Cookie", "a=b"),
            ("Cache-Control", "private, no-store"),
            ("Cache-Control", "max-age=0, NO-STORE"),
            ("Cache-Control", "private=\"x\""),
            ("CDN-Cache-Control", "no-store"),
        ] {
            assert!(is_for_one(&fields(&[("Content-Type", "text/html"), of])), "{of:?}");
        }
        assert!(!is_for_one(&fields(&[("Cache-Control", "public, max-age=60")])));
        assert!(!is_for_one(&fields(&[("Content-Type", "text/html")])));
    }
}
