//! Rules for readers and for actions of the dashboard. Clients on this machine may read; others need the token, and every action needs it.
//! Clients of a proxy on this machine are not local if their requests show the proxy. Nothing is kept in cookies, so that no page of
//! another site can act in a browser that has the token. It must not know what is read or done.

use std::fmt;
use std::hint::black_box;
use std::net::IpAddr;

use hyper::header::{self, HeaderMap, HeaderName};
use hyper::{StatusCode, Version};

use crate::host;

/// Token that opens the dashboard from another host, and allows actions.
pub struct Token(Box<[u8]>);

/// Reason for refusing a client: the status and what to do.
pub(crate) type Refusal = (StatusCode, &'static str);

const ELSEWHERE: Refusal = (StatusCode::FORBIDDEN, "The request comes from a page of another site.\n");
const NO_TOKEN: Refusal = (
    StatusCode::UNAUTHORIZED,
    "This needs the token: admin.token of the configuration, or the content of the file admin-token in the run \
     directory.\n",
);

/// Headers that proxies add, and how the names of further ones begin.
const FORWARDED: [HeaderName; 3] = [header::FORWARDED, header::VIA, HeaderName::from_static("x-real-ip")];
const FORWARDED_PREFIX: &str = "x-forwarded-";

impl Token {
    /// The token of this text.
    pub fn new(text: &str) -> Self {
        Self(text.as_bytes().into())
    }

    /// Takes as long whatever part of it is right; how long it is may be told.
    fn is(&self, given: &[u8]) -> bool {
        let differences = self.0.iter().zip(given).fold(0, |differences, (own, other)| differences | (own ^ other));
        self.0.len() == given.len() && black_box(differences) == 0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Token(…)")
    }
}

/// Client of a request, and the address that it asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asker<'a> {
    pub(crate) peer: IpAddr,
    pub(crate) version: Version,
    /// The name in the configured address.
    pub(crate) name: Option<&'a str>,
}

/// Whether a client with these headers may read.
pub(crate) fn may_read(headers: &HeaderMap, asker: Asker<'_>, token: &Token) -> Result<(), Refusal> {
    is_own_page(headers)?;
    if is_here(headers, asker) || has_token(headers, token) { Ok(()) } else { Err(NO_TOKEN) }
}

/// Whether nobody seems to have passed the request on. A proxy shows itself by a header, by HTTP/1.0 as nginx does, or by the
/// name by which its clients know it. A page of that name is treated like the proxy.
fn is_here(headers: &HeaderMap, Asker { peer, version, name }: Asker<'_>) -> bool {
    let is_forwarded =
        |header: &HeaderName| FORWARDED.contains(header) || header.as_str().starts_with(FORWARDED_PREFIX);
    let text = |header| headers.get(header).map(|value| value.to_str().unwrap_or_default());
    let Some(authority) = text(header::HOST) else { return false };
    let is_page_here = text(header::REFERER).is_none_or(|page| {
        let after = page.split_once("://").map(|(_, after)| after);
        after.and_then(|after| after.split('/').next()).is_some_and(|page| page.eq_ignore_ascii_case(authority))
    });
    peer.to_canonical().is_loopback()
        && version == Version::HTTP_11
        && host::is_local(authority, name)
        && is_page_here
        && !headers.keys().any(is_forwarded)
}

/// Whether a client with these headers may act.
pub(crate) fn may_act(headers: &HeaderMap, token: &Token) -> Result<(), Refusal> {
    is_own_page(headers)?;
    if has_token(headers, token) { Ok(()) } else { Err(NO_TOKEN) }
}

/// Browsers say which page asks. Who is no browser says nothing.
fn is_own_page(headers: &HeaderMap) -> Result<(), Refusal> {
    let site = headers.get("sec-fetch-site").map(|site| matches!(site.as_bytes(), b"same-origin" | b"none"));
    let origin = headers.get(header::ORIGIN).map(|origin| {
        let authority =
            origin.to_str().ok().and_then(|origin| origin.split_once("://")).map(|(_, authority)| authority);
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
        matches!((authority, host), (Some(authority), Some(host)) if authority.eq_ignore_ascii_case(host))
    });
    if site.unwrap_or(true) && origin.unwrap_or(true) { Ok(()) } else { Err(ELSEWHERE) }
}

fn has_token(headers: &HeaderMap, token: &Token) -> bool {
    let given = headers.get(header::AUTHORIZATION).map(header::HeaderValue::as_bytes);
    let given = given.and_then(|given| given.split_at_checked(7));
    given.is_some_and(|(scheme, given)| scheme.eq_ignore_ascii_case(b"bearer ") && token.is(given.trim_ascii()))
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    fn headers(fields: &[(&'static str, &'static str)]) -> HeaderMap {
        fields.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
    }

    fn read(fields: &[(&'static str, &'static str)], peer: &str) -> u16 {
        read_by(Version::HTTP_11, fields, peer)
    }

    fn read_by(version: Version, fields: &[(&'static str, &'static str)], peer: &str) -> u16 {
        let mut headers = headers(fields);
        if !headers.contains_key(header::ORIGIN) {
            headers.entry(header::HOST).or_insert(HeaderValue::from_static("127.0.0.1:7584"));
        }
        let asker = Asker { peer: peer.parse().unwrap(), version, name: Some("metrics.internal") };
        may_read(&headers, asker, &Token::new("secret")).map_or_else(|(status, _)| status.as_u16(), |()| 200)
    }

    fn act(fields: &[(&'static str, &'static str)]) -> u16 {
        may_act(&headers(fields), &Token::new("secret")).map_or_else(|(status, _)| status.as_u16(), |()| 200)
    }

    #[test]
    fn this_machine_reads_without_the_token_and_another_with_it() {
        for here in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"] {
            assert_eq!(read(&[], here), 200, "{here}");
        }
        for there in ["192.0.2.1", "::ffff:192.0.2.1", "2001:db8::1"] {
            assert_eq!(read(&[], there), 401, "{there}");
            assert_eq!(read(&[("authorization", "Bearer secret")], there), 200, "{there}");
            assert_eq!(read(&[("authorization", "bearer  secret ")], there), 200, "{there}");
        }
    }

    #[test]
    fn proxy_on_this_machine_makes_no_client_local() {
        for name in ["x-forwarded-for", "x-forwarded-host", "forwarded", "x-real-ip", "via"] {
            assert_eq!(read(&[(name, "192.0.2.1")], "127.0.0.1"), 401, "{name}");
        }
        // nginx, as long as nothing is said, sets no header, and the host that it was told.
        assert_eq!(read_by(Version::HTTP_10, &[], "127.0.0.1"), 401);
        for (host, status) in [
            ("localhost:7584", 200),
            ("[::1]:7584", 200),
            ("127.1.2.3", 200),
            ("Metrics.internal:7584", 200),
            ("192.0.2.7:7584", 401),
            ("[2001:db8::1]", 401),
            ("dash.example", 401),
        ] {
            assert_eq!(read(&[("host", host)], "127.0.0.1"), status, "{host}");
        }
        for (page, status) in [
            ("http://127.0.0.1:7584/", 200),
            ("https://127.0.0.1:7584/x", 200),
            ("https://dash.example/", 401),
            ("http://127.0.0.1:7584.dash.example/", 401),
            ("", 401),
        ] {
            assert_eq!(read(&[("referer", page)], "127.0.0.1"), status, "{page}");
            assert_eq!(read(&[("referer", page), ("authorization", "Bearer secret")], "127.0.0.1"), 200, "{page}");
        }
    }

    #[test]
    fn actions_need_the_token_wherever_they_come_from() {
        assert_eq!(act(&[]), 401);
        for wrong in ["Bearer ", "Bearer secre", "Bearer secrets", "Bearer Secret", "Basic secret", "secret"] {
            assert_eq!(act(&[("authorization", wrong)]), 401, "{wrong}");
        }
        assert_eq!(act(&[("authorization", "Bearer secret")]), 200);
    }

    #[test]
    fn page_of_another_site_may_nothing_even_with_the_token() {
        let token = ("authorization", "Bearer secret");
        let host = ("host", "127.0.0.1:7584");
        for (fields, status) in [
            (vec![("sec-fetch-site", "cross-site")], 403),
            (vec![("sec-fetch-site", "same-site")], 403),
            (vec![("sec-fetch-site", "same-origin")], 200),
            (vec![("sec-fetch-site", "none")], 200),
            (vec![host, ("origin", "http://127.0.0.1:7584")], 200),
            (vec![host, ("origin", "https://127.0.0.1:7584")], 200),
            (vec![host, ("origin", "http://127.0.0.1:3000")], 403),
            (vec![host, ("origin", "null")], 403),
            (vec![("origin", "http://127.0.0.1:7584")], 403),
        ] {
            let with_token: Vec<_> = fields.iter().copied().chain([token]).collect();
            assert_eq!((act(&with_token), read(&fields, "::1")), (status, status), "{fields:?}");
        }
    }

    #[test]
    fn token_is_not_in_what_is_printed_of_it() {
        assert!(!format!("{:?}", Token::new("secret")).contains("secret"));
    }
}
