use sluice_message::Fields;

use super::*;

fn policy(set: impl FnOnce(&mut sluice_catalog::config::Compression)) -> Policy {
    let mut config = Config::default();
    config.compression.enabled = true;
    set(&mut config.compression);
    Policy::read(&config)
}

fn request(target: &str, fields: &[(&str, &str)]) -> RequestHead {
    let fields = fields.iter().map(|(name, value)| (*name, value.as_bytes())).collect();
    RequestHead {
        authority: "shop.example".to_owned(),
        path_and_query: target.to_owned(),
        fields,
        ..RequestHead::default()
    }
}

fn head(status: u16, fields: &[(&str, &str)]) -> ResponseHead {
    ResponseHead::new(status, fields.iter().map(|(name, value)| (*name, value.as_bytes())).collect::<Fields>())
}

const HTML: (&str, &str) = ("Content-Type", "text/html; charset=utf-8");
const GZIP: Verdict = Verdict::Compress(Coding::Gzip);

/// The verdict on an answer of unknown size to a client that accepts gzip.
fn verdict(policy: &Policy, status: u16, fields: &[(&str, &str)]) -> Verdict {
    policy.verdict(&request("/", &[("Accept-Encoding", "gzip")]), &head(status, fields), Size::Unknown)
}

#[test]
fn nothing_is_compressed_unless_the_config_says_so() {
    assert_eq!(verdict(&Policy::read(&Config::default()), 200, &[HTML]), Verdict::Never);
    assert_eq!(verdict(&policy(|_| {}), 200, &[HTML]), GZIP);
}

#[test]
fn clients_get_what_they_like_best() {
    let policy = policy(|_| {});
    let of = |accepts: &[(&str, &str)]| policy.verdict(&request("/", accepts), &head(200, &[HTML]), Size::Unknown);
    assert_eq!(of(&[("Accept-Encoding", "gzip, br, zstd")]), Verdict::Compress(Coding::Zstd));
    assert_eq!(of(&[("Accept-Encoding", "gzip, br")]), Verdict::Compress(Coding::Brotli));
    assert_eq!(of(&[("Accept-Encoding", "gzip, br;q=0.5")]), GZIP);
    assert_eq!(of(&[("Accept-Encoding", "gzip;q=0.5"), ("accept-encoding", "zstd")]), Verdict::Compress(Coding::Zstd));
    assert_eq!(of(&[("Accept-Encoding", "deflate")]), Verdict::Varies);
    assert_eq!(of(&[]), Verdict::Varies);
}

#[test]
fn types_statuses_and_sizes_decide() {
    let policy = policy(|_| {});
    for media_type in ["text/css", "TEXT/HTML", "application/json", "application/ld+json", "image/svg+xml", "font/ttf"]
    {
        assert_eq!(verdict(&policy, 200, &[("Content-Type", media_type)]), GZIP, "{media_type}");
    }
    for media_type in
        ["image/png", "text/event-stream", "text/event-stream; x", "video/mp4", "", "json", "application/zip"]
    {
        assert_eq!(verdict(&policy, 200, &[("Content-Type", media_type)]), Verdict::Never, "{media_type}");
    }
    assert_eq!(verdict(&policy, 200, &[]), Verdict::Never, "nobody knows what it is");
    for status in [201, 404, 500] {
        assert_eq!(verdict(&policy, status, &[HTML]), GZIP, "{status}");
    }
    for status in [101, 204, 205, 206] {
        assert_eq!(verdict(&policy, status, &[HTML]), Verdict::Never, "{status}");
    }
    let of = |size| policy.verdict(&request("/", &[("Accept-Encoding", "gzip")]), &head(200, &[HTML]), size);
    assert_eq!([of(Size::Known(1023)), of(Size::Known(1024)), of(Size::Untold)], [Verdict::Never, GZIP, GZIP]);
}

#[test]
fn what_is_compressed_already_or_fixed_stays_as_it_is() {
    let policy = policy(|_| {});
    for field in [
        ("Content-Encoding", "br"),
        ("content-encoding", "identity"),
        ("Content-Range", "bytes 0-9/100"),
        ("Cache-Control", "public, No-Transform"),
        ("Repr-Digest", "sha-256=:x:"),
        ("Content-MD5", "x"),
    ] {
        assert_eq!(verdict(&policy, 200, &[HTML, field]), Verdict::Never, "{field:?}");
    }
    assert_eq!(verdict(&policy, 200, &[HTML, ("Cache-Control", "no-cache")]), GZIP);
}

#[test]
fn no_spelling_of_an_excluded_path_is_compressed() {
    let routes = ["/account/*", "GET shop.example/Cart", "/caf%C3%A9/:id"].map(str::to_owned);
    let policy = policy(|compression| compression.exclude = routes.to_vec());
    let of = |target: &str| {
        let asked =
            RequestHead { method: sluice_message::Method::Get, ..request(target, &[("Accept-Encoding", "gzip")]) };
        policy.verdict(&asked, &head(200, &[HTML]), Size::Unknown)
    };
    for target in [
        "/account",
        "/account/keys?x=1",
        "/ACCOUNT/keys",
        "/%61ccount/keys",
        "//account//keys",
        "/shop/../account",
        "/cart",
        "/caf%c3%a9/1",
        "/CAF%C3%89/1",
    ] {
        assert_eq!(of(target), Verdict::Never, "{target}");
    }
    for target in ["/", "/accounts", "/cart/1", "/shop/account", "/?/account/"] {
        assert_eq!(of(target), GZIP, "{target}");
    }
}

fn shown(head: &ResponseHead) -> String {
    let fields = head.fields.iter().map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value)));
    fields.collect::<Vec<_>>().join(", ")
}

#[test]
fn the_head_says_what_became_of_the_body() {
    let mut compressed = head(200, &[HTML, ("etag", "\"v1\""), ("Accept-Ranges", "bytes"), ("Vary", "Cookie")]);
    vary(&mut compressed);
    announce(&mut compressed, Coding::Brotli);
    assert_eq!(
        shown(&compressed),
        "Content-Type: text/html; charset=utf-8, Vary: Cookie, Vary: Accept-Encoding, ETag: W/\"v1\", Content-Encoding: br"
    );
    for said in ["*", "Accept-Encoding", "cookie, accept-encoding"] {
        let mut head = head(200, &[("Vary", said), ("ETag", "W/\"v1\"")]);
        vary(&mut head);
        assert_eq!(shown(&head), format!("Vary: {said}, ETag: W/\"v1\""));
    }
}

#[test]
fn a_304_has_the_tag_that_the_client_has() {
    let of = |known: &str| {
        let mut head = head(304, &[("ETag", "\"v1\"")]);
        weaken_as_asked(&mut head, &request("/", &[("If-None-Match", known)]));
        shown(&head)
    };
    assert_eq!(of("\"v0\", W/\"v1\""), "ETag: W/\"v1\", Vary: Accept-Encoding");
    for known in ["\"v1\"", "*", "W/\"v10\""] {
        assert_eq!(of(known), "ETag: \"v1\"", "{known}");
    }
}
