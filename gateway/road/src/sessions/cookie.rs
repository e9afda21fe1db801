//! The cookie that names a worker: reading, writing, and hiding it from the app.

use sluice_catalog::config::SameSite;
use sluice_message::ResponseHead;

/// Values of this cookie in a `Cookie` field. There may be several, of other paths or hosts.
pub(crate) fn values<'v>(field: &'v [u8], name: &str) -> impl Iterator<Item = &'v str> {
    pairs(field).filter(move |pair| is_of(pair, name)).filter_map(|pair| {
        let at = pair.iter().position(|byte| *byte == b'=')?;
        std::str::from_utf8(&pair[at + 1..]).ok().map(|value| value.trim_matches('"'))
    })
}

fn pairs(field: &[u8]) -> impl Iterator<Item = &[u8]> {
    field.split(|byte| *byte == b';').map(<[u8]>::trim_ascii)
}

fn is_of(pair: &[u8], name: &str) -> bool {
    pair.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.first() == Some(&b'='))
}

/// Request head, as the gateway wrote it, without this cookie.
pub(crate) fn hide(head: &[u8], name: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(head.len());
    for line in head.split_inclusive(|byte| *byte == b'\n') {
        let is_cookie = line.get(..7).is_some_and(|start| start.eq_ignore_ascii_case(b"cookie:"));
        if !is_cookie || !pairs(&line[7..]).any(|pair| is_of(pair, name)) {
            out.extend_from_slice(line);
            continue;
        }
        let kept: Vec<&[u8]> = pairs(&line[7..]).filter(|pair| !pair.is_empty() && !is_of(pair, name)).collect();
        if !kept.is_empty() {
            out.extend_from_slice(&line[..7]);
            out.push(b' ');
            out.extend_from_slice(&kept.join(&b"; "[..]));
            out.extend_from_slice(b"\r\n");
        }
    }
    out
}

/// Value of `Set-Cookie` (RFC 6265) for a cookie that lasts until the browser is closed.
pub(crate) fn line(name: &str, value: &str, same_site: SameSite, is_secure: bool) -> String {
    let same_site = match same_site {
        SameSite::Lax => "Lax",
        SameSite::Strict => "Strict",
        SameSite::None => "None",
    };
    let secure = if is_secure { "; Secure" } else { "" };
    format!("{name}={value}; Path=/; HttpOnly; SameSite={same_site}{secure}")
}

/// Whether a cache between here and the client may give the answer to others, with the cookie on it.
pub(crate) fn may_be_shared(head: &ResponseHead) -> bool {
    let mut is_shared = false;
    for value in head.fields.get_all("cache-control") {
        for directive in value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
            let starts =
                |word: &str| directive.get(..word.len()).is_some_and(|d| d.eq_ignore_ascii_case(word.as_bytes()));
            if ["private", "no-store", "no-cache"].iter().any(|word| starts(word)) {
                return false;
            }
            is_shared |= starts("public")
                || starts("s-maxage")
                || starts("max-age=")
                    && directive["max-age=".len()..].iter().any(|digit| (b'1'..=b'9').contains(digit));
        }
    }
    is_shared || !head.fields.contains("cache-control") && head.fields.contains("expires")
}

#[cfg(test)]
mod tests {
    use sluice_http1::{HeadLimits, HeadReader, Parse};
    use sluice_message::Method;

    use super::*;

    #[test]
    fn the_cookie_is_found_among_others_and_nothing_that_looks_like_it() {
        let found = |field: &str| values(field.as_bytes(), "sluice").map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(found("sluice=a"), ["a"]);
        assert_eq!(found("x=1; sluice=a;sluice=\"b\" ; y=2"), ["a", "b"]);
        assert!(found("xsluice=a; sluice2=b; sluice; Sluice=c; ;=").is_empty());
    }

    #[test]
    fn the_app_gets_its_own_cookies_and_no_other() {
        let hidden = |head: &str| String::from_utf8(hide(head.as_bytes(), "sluice")).unwrap();
        assert_eq!(hidden("GET / HTTP/1.1\r\nCookie: sluice=a\r\nA: b\r\n\r\n"), "GET / HTTP/1.1\r\nA: b\r\n\r\n");
        assert_eq!(
            hidden("GET / HTTP/1.1\r\ncookie: x=1;  sluice=a; y=2\r\n\r\n"),
            "GET / HTTP/1.1\r\ncookie: x=1; y=2\r\n\r\n"
        );
        let untouched = "GET /?Cookie: HTTP/1.1\r\nCookie: x=sluice=1;y=2\r\nX-Cookie: sluice=a\r\n\r\n";
        assert_eq!(hidden(untouched), untouched);
    }

    #[test]
    fn the_cookie_is_out_of_reach_of_scripts_and_of_other_sites() {
        assert_eq!(line("s", "v", SameSite::Lax, false), "s=v; Path=/; HttpOnly; SameSite=Lax");
        assert_eq!(line("s", "v", SameSite::None, true), "s=v; Path=/; HttpOnly; SameSite=None; Secure");
    }

    #[test]
    fn i7_an_answer_that_caches_may_share_carries_no_cookie() {
        let shared = |fields: &str| {
            let text = format!("HTTP/1.1 200 OK\r\n{fields}Content-Length: 0\r\n\r\n");
            let limits = HeadLimits { request_line_bytes_max: 100, headers_bytes_max: 1000, headers_count_max: 10 };
            match HeadReader::new().response(text.as_bytes(), &limits, &Method::Get) {
                Ok(Parse::Complete { received, .. }) => may_be_shared(&received.head),
                other => panic!("{other:?}"),
            }
        };
        for fields in [
            "",
            "Cache-Control: private, max-age=60\r\n",
            "Cache-Control: max-age=0\r\n",
            "Cache-Control: no-store\r\n",
        ] {
            assert!(!shared(fields), "{fields}");
        }
        for fields in [
            "Cache-Control: Public\r\n",
            "Cache-Control: max-age=60\r\n",
            "Cache-Control: s-maxage=1\r\n",
            "Expires: x\r\n",
        ] {
            assert!(shared(fields), "{fields}");
        }
    }
}
