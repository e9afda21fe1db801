//! Each case is a request and an answer, and what a shared cache may make of them.

use proptest::prelude::*;
use sluice_message::{Fields, Method, RequestHead, ResponseHead, Scheme};

use super::*;

const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
const WALL_S: u64 = 784_111_777;

fn fields(lines: &[(&str, &str)]) -> Fields {
    lines.iter().map(|(name, value)| (*name, value.as_bytes())).collect()
}

fn get(lines: &[(&str, &str)]) -> RequestHead {
    RequestHead {
        method: Method::Get,
        scheme: Scheme::Http,
        authority: "app.test".to_owned(),
        path_and_query: "/page".to_owned(),
        fields: fields(lines),
    }
}

fn at(after_s: u64) -> Moment {
    Moment { wall_s: WALL_S + after_s, steady_ms: 1_000_000 + after_s * 1000 }
}

fn stored_for(request: &RequestHead, answer: &[(&str, &str)]) -> Result<Policy, StorageRefusal> {
    judged(request, &ResponseHead::new(200, fields(answer)), &[], Rule::default())
}

fn judged(
    request: &RequestHead,
    response: &ResponseHead,
    chosen: &[String],
    rule: Rule,
) -> Result<Policy, StorageRefusal> {
    storable(StorageCandidate { request, response, chosen, rule, asked: at(0), came: at(0) })
}

fn stored(answer: &[(&str, &str)]) -> Result<Policy, StorageRefusal> {
    stored_for(&get(&[]), answer)
}

fn reuse(answer: &[(&str, &str)], after_s: u64) -> Reuse {
    stored(answer).map_or(Reuse::Never, |policy| policy.reuse(at(after_s), StaleLimits::default()))
}

#[test]
fn answers_are_fresh_for_as_long_as_they_say() {
    for (answer, fresh_s) in [
        (&[("Cache-Control", "max-age=60")][..], 60),
        (&[("cache-control", "MAX-AGE=60")], 60),
        (&[("Cache-Control", "max-age=\"60\"")], 60),
        (&[("Cache-Control", "max-age=10, s-maxage=60")], 60),
        (&[("Cache-Control", "s-maxage=60"), ("Cache-Control", "max-age=10")], 60),
        (&[("Cache-Control", "max-age=60, max-age=10")], 60),
        (&[("Cache-Control", "a=\"x, max-age=10\", max-age=60")], 60),
        (&[("Cache-Control", "max-age=60"), ("Expires", DATE)], 60),
        (&[("Cache-Control", "max-age=70"), ("Age", "10")], 60),
        (&[("Cache-Control", "max-age=70"), ("Age", "10, 60")], 60),
        (&[("Cache-Control", "max-age=70"), ("Age", "10"), ("Age", "60")], 60),
        (&[("Cache-Control", "max-age=60"), ("Age", "0, 7200")], 60),
        (&[("Cache-Control", "max-age=60"), ("Age", "x")], 60),
        (&[("Cache-Control", "max-age=60"), ("Age", "-1")], 60),
        (&[("Cache-Control", "max-age=60"), ("Age", "\"60\"")], 60),
        (&[("Cache-Control", "max-age=60"), ("Age", "x, 60")], 60),
        (&[("Cache-Control", "max-age=60"), ("Age", ", 60")], 60),
        (&[("Cache-Control", "max-age=60"), ("Age", "")], 60),
        (&[("Date", DATE), ("Expires", "Sun, 06 Nov 1994 08:50:37 GMT")], 60),
        (&[("Expires", "Sun, 06 Nov 1994 08:50:37 GMT")], 60),
        (&[("Date", "Sun, 06 Nov 1994 08:48:37 GMT"), ("Cache-Control", "max-age=120")], 60),
        (&[("Cache-Control", "no-store, max-age=5"), ("CDN-Cache-Control", "max-age=60")], 60),
        (&[("Cache-Control", "max-age=60"), ("CDN-Cache-Control", "Max-Age=5")], 60),
        (&[("Cache-Control", "max-age=60"), ("CDN-Cache-Control", "")], 60),
        (&[("Cache-Control", "max-age=60"), ("CDN-Cache-Control", "max-age=5 x")], 60),
        (&[("Cache-Control", "no-store, must-understand, max-age=60")], 60),
        (&[("Cache-Control", "private"), ("Surrogate-Control", "max-age=60, content=\"ESI/1.0\"")], 60),
        (&[("Cache-Control", "max-age=5"), ("Surrogate-Control", "Max-Age=60;sluice")], 60),
        (&[("Cache-Control", "max-age=60"), ("Surrogate-Control", "content=\"ESI/1.0\"")], 60),
        (&[("CDN-Cache-Control", "max-age=60"), ("Surrogate-Control", "max-age=5")], 60),
    ] {
        assert_eq!(reuse(answer, 0), Reuse::Fresh(fresh_s), "{answer:?}");
        assert_eq!(reuse(answer, fresh_s - 1), Reuse::Fresh(1), "{answer:?}");
        assert_eq!(reuse(answer, fresh_s), Reuse::Never, "{answer:?}");
    }
    assert!(matches!(reuse(&[("Cache-Control", "max-age=99999999999999999999")], 1 << 30), Reuse::Fresh(_)));
}

#[test]
fn what_surrogate_control_adds_to_a_lifetime_is_used_while_a_new_one_is_fetched() {
    let answer = [("Cache-Control", "private"), ("Surrogate-Control", "max-age=60+30")];
    for (after_s, expected) in [
        (59, Reuse::Fresh(1)),
        (60, Reuse::WhileRevalidating(0)),
        (89, Reuse::WhileRevalidating(29)),
        (90, Reuse::Never),
    ] {
        assert_eq!(reuse(&answer, after_s), expected);
    }
}

#[test]
fn what_is_not_meant_for_others_is_not_stored() {
    for (answer, why) in [
        (&[][..], StorageRefusal::NoFreshness),
        (&[("ETag", "\"1\""), ("Last-Modified", DATE)], StorageRefusal::NoFreshness),
        (&[("Cache-Control", "public")], StorageRefusal::NoFreshness),
        (&[("Cache-Control", "max-age=60, no-store")], StorageRefusal::NoStore),
        (&[("Cache-Control", "max-age=60, private")], StorageRefusal::Private),
        (&[("Cache-Control", "max-age=60, Private=\"set-cookie\"")], StorageRefusal::Private),
        (&[("Cache-Control", "max-age=60, no-cache")], StorageRefusal::NoCache),
        (&[("Cache-Control", "max-age=60"), ("Set-Cookie", "a=b")], StorageRefusal::SetCookie),
        (&[("Cache-Control", "public, s-maxage=60"), ("Set-Cookie", "a=b")], StorageRefusal::SetCookie),
        (&[("Expires", "Sun, 06 Nov 1994 08:50:37 GMT"), ("Pragma", "no-cache")], StorageRefusal::NoCache),
        (&[("Cache-Control", "max-age=60"), ("Vary", "*")], StorageRefusal::Vary),
        (&[("Cache-Control", "max-age=60"), ("Vary", "X-Forwarded-For")], StorageRefusal::Vary),
        (&[("Cache-Control", "max-age=60"), ("Vary", "Accept, *")], StorageRefusal::Vary),
        (&[("Cache-Control", "max-age=0")], StorageRefusal::Stale),
        (&[("Cache-Control", "max-age=-5")], StorageRefusal::Stale),
        (&[("Cache-Control", "max-age=a60")], StorageRefusal::Stale),
        (&[("Cache-Control", "max-age=60.5")], StorageRefusal::Stale),
        (&[("Cache-Control", "max-age='60'")], StorageRefusal::Stale),
        (&[("Cache-Control", "max-age")], StorageRefusal::Stale),
        (&[("Cache-Control", "max-age=60"), ("Age", "60")], StorageRefusal::Stale),
        (&[("Cache-Control", "max-age=60"), ("Age", "60, 0")], StorageRefusal::Stale),
        (&[("Cache-Control", "max-age=60"), ("Age", "60"), ("Age", "0")], StorageRefusal::Stale),
        (&[("Cache-Control", "max-age=60"), ("Age", "99999999999999999999")], StorageRefusal::Stale),
        (&[("Expires", "0")], StorageRefusal::Stale),
        (&[("Expires", DATE), ("Date", DATE)], StorageRefusal::Stale),
        (&[("Cache-Control", "max-age=60"), ("CDN-Cache-Control", "no-store")], StorageRefusal::NoStore),
        (
            &[("Cache-Control", "max-age=60"), ("Surrogate-Control", "no-store, content=\"ESI/1.0\"")],
            StorageRefusal::NoStore,
        ),
        (&[("Cache-Control", "max-age=60"), ("CDN-Cache-Control", "private, max-age=60")], StorageRefusal::Private),
    ] {
        assert_eq!(stored(answer), Err(why), "{answer:?}");
        assert!(!why.as_str().is_empty());
    }
    let get_no_store = get(&[("Cache-Control", "no-store")]);
    assert_eq!(stored_for(&get_no_store, &[("Cache-Control", "max-age=60")]), Err(StorageRefusal::NoStore));
    let post = RequestHead { method: Method::Post, ..get(&[]) };
    assert_eq!(stored_for(&post, &[("Cache-Control", "max-age=60")]), Err(StorageRefusal::Method));
}

#[test]
fn what_can_be_asked_after_is_kept_although_it_is_stale() {
    let (date, expires) = (("Date", "Sun, 06 Nov 1994 08:48:37 GMT"), ("Expires", "Sun, 06 Nov 1994 08:49:00 GMT"));
    assert_eq!(stored(&[date, expires]), Err(StorageRefusal::Stale));
    let policy = stored(&[date, expires, ("ETag", "\"1\"")]).unwrap();
    assert_eq!(policy.reuse(at(0), StaleLimits::default()), Reuse::Never);
    assert_eq!(stored(&[("Cache-Control", "max-age=0"), ("ETag", "\"1\"")]), Err(StorageRefusal::Stale));
}

#[test]
fn i7_answers_to_requests_with_cookies_or_credentials_are_stored_only_if_the_app_declares_them_public() {
    for (request, unsaid) in [
        (get(&[("Authorization", "Basic eA==")]), StorageRefusal::Authorization),
        (get(&[("Cookie", "session=1")]), StorageRefusal::Cookie),
    ] {
        assert_eq!(stored_for(&request, &[("Cache-Control", "max-age=60")]), Err(unsaid));
        for for_all in ["public, max-age=60", "s-maxage=60"] {
            assert!(stored_for(&request, &[("Cache-Control", for_all)]).is_ok(), "{for_all}");
        }
    }
    let request = get(&[("Cookie", "session=1")]);
    let policy = stored_for(&request, &[("Cache-Control", "max-age=60"), ("Vary", "Cookie")]).unwrap();
    assert!(policy.is_for(&request.fields) && !policy.is_for(&get(&[("Cookie", "session=2")]).fields));
    assert!(!policy.is_for(&get(&[]).fields));
}

#[test]
fn statuses_are_stored_where_their_freshness_is_told() {
    let status = |status, value: &str| {
        let answer = ResponseHead::new(status, fields(&[("Cache-Control", value)]));
        judged(&get(&[]), &answer, &[], Rule::default()).map(|_| ())
    };
    for stored in [200, 203, 204, 299, 301, 302, 303, 307, 308, 400, 403, 404, 410, 414, 451, 500, 501, 503, 599] {
        assert_eq!(status(stored, "max-age=60"), Ok(()), "{stored}");
    }
    for not in [101, 206, 304, 600] {
        assert_eq!(status(not, "max-age=60"), Err(StorageRefusal::Status), "{not}");
    }
    assert_eq!(status(299, "max-age=60, must-understand"), Err(StorageRefusal::Status));
}

#[test]
fn a_rule_of_the_config_stands_in_for_what_the_app_does_not_say() {
    let rule = Rule { ttl_s: Some(30) };
    let with = |request: &RequestHead, status, answer: &[(&str, &str)]| {
        judged(request, &ResponseHead::new(status, fields(answer)), &[], rule).map(|found| found.lifetime_s())
    };
    assert_eq!(with(&get(&[]), 200, &[]), Ok(30));
    assert_eq!(with(&get(&[("Cookie", "a=b")]), 200, &[]), Ok(30), "the operator says that it is for all");
    assert_eq!(with(&get(&[]), 404, &[]), Err(StorageRefusal::NoFreshness));
    assert_eq!(with(&get(&[]), 200, &[("Cache-Control", "max-age=5")]), Ok(5));
    assert_eq!(with(&get(&[]), 200, &[("Cache-Control", "private")]), Err(StorageRefusal::Private));
    assert_eq!(with(&get(&[]), 200, &[("Set-Cookie", "a=b")]), Err(StorageRefusal::SetCookie));
    assert_eq!(with(&get(&[("Authorization", "x")]), 200, &[]), Err(StorageRefusal::Authorization));
}

#[test]
fn stale_answers_are_used_only_where_and_while_that_is_allowed() {
    let limits = StaleLimits { if_error_s: 5 };
    let at_age = |value: &str, after_s| stored(&[("Cache-Control", value)]).unwrap().reuse(at(after_s), limits);
    assert_eq!(at_age("max-age=10, stale-while-revalidate=20, stale-if-error=40", 10), Reuse::WhileRevalidating(0));
    assert_eq!(at_age("max-age=10, stale-while-revalidate=20, stale-if-error=40", 30), Reuse::IfError(20));
    assert_eq!(at_age("max-age=10, stale-while-revalidate=20, stale-if-error=40", 50), Reuse::Never);
    assert_eq!(at_age("max-age=10", 14), Reuse::IfError(4));
    assert_eq!(at_age("max-age=10", 15), Reuse::Never);
    assert_eq!(at_age("max-age=10, stale-if-error=0", 11), Reuse::Never);
    for never in ["must-revalidate", "proxy-revalidate"] {
        let value = format!("max-age=10, stale-while-revalidate=20, {never}");
        assert_eq!(at_age(&value, 11), Reuse::Never, "{never}");
    }
    assert_eq!(at_age("max-age=0, stale-while-revalidate=20", 0), Reuse::WhileRevalidating(0));
    let mut policy = stored(&[("Cache-Control", "max-age=10, stale-while-revalidate=20")]).unwrap();
    assert_eq!(policy.useful_s(at(4), limits), 26);
    policy.expire(at(4));
    assert_eq!(policy.reuse(at(5), limits), Reuse::WhileRevalidating(1));
}

#[test]
fn a_clock_that_is_set_back_makes_nothing_fresh_again() {
    let policy = stored(&[("Cache-Control", "max-age=10")]).unwrap();
    let later = Moment { wall_s: WALL_S - 5000, ..at(11) };
    assert_eq!(policy.reuse(later, StaleLimits::default()), Reuse::Never);
    assert_eq!(policy.reuse(Moment { steady_ms: 0, ..at(0) }, StaleLimits::default()), Reuse::Fresh(10));
}

#[test]
fn vary_tells_apart_what_differs_and_nothing_else() {
    let is_same = |name: &str, one: &str, other: &str| {
        let answer = [("Cache-Control", "public, max-age=60"), ("Vary", name)];
        stored_for(&get(&[(name, one)]), &answer).unwrap().is_for(&fields(&[(name, other)]))
    };
    for (name, one, other) in [
        ("Accept-Encoding", "gzip, deflate, br", "br;q=0.9,  GZIP, deflate, x"),
        ("Accept-Language", "en, de;q=0.5", "DE; q=0.5,en"),
        ("Accept-Encoding", "gzip;q=0, br", "br"),
        ("Accept", "text/html;q=0.5, text/plain", "text/plain,text/html; q=0.5"),
        ("X-Flag", "a ,b", "a, b"),
    ] {
        assert!(is_same(name, one, other), "{name}: {one} and {other}");
    }
    for (name, one, other) in [
        ("Accept-Encoding", "gzip", "identity"),
        ("Accept-Language", "en, de;q=0.5", "de, en;q=0.5"),
        // Apps take the first of those that a client likes alike.
        ("Accept", "text/html, application/json", "application/json, text/html"),
        ("Accept", "text/html;p=\"a ;b\"", "text/html;p=\"a;b\""),
        ("Cookie", "a=1, 2", "a=1,2"),
        ("Authorization", "a  b", "a b"),
        ("X-Flag", "a = b", "a=b"),
        ("X-Flag", "a", "A"),
        ("X-Flag", "", "a"),
    ] {
        assert!(!is_same(name, one, other), "{name}: {one} and {other}");
    }
    let unknown = [("Cache-Control", "max-age=60"), ("Vary", "Accept-Encoding"), ("Content-Encoding", "x-gzip")];
    assert_eq!(
        stored_for(&get(&[("Accept-Encoding", "x-gzip")]), &unknown),
        Err(StorageRefusal::Vary),
        "nobody else takes it"
    );
    let empty = stored_for(&get(&[("X-Flag", "")]), &[("Cache-Control", "max-age=60"), ("Vary", "X-Flag")]).unwrap();
    assert!(!empty.is_for(&fields(&[])), "an empty field is not the same as none");
    let two =
        stored_for(&get(&[("X-Flag", ""), ("X-Flag", "b")]), &[("Cache-Control", "max-age=60"), ("Vary", "X-Flag")])
            .unwrap();
    assert!(!two.is_for(&fields(&[("X-Flag", "b")])), "an app sees `, b`");
    assert!(two.is_for(&fields(&[("X-Flag", ",b")])));
    let two = [("Cache-Control", "max-age=60"), ("Vary", "a"), ("Vary", "B")];
    let policy = stored_for(&get(&[("A", "1"), ("b", "2")]), &two).unwrap();
    assert!(policy.is_for(&fields(&[("b", "2"), ("a", "1")])));
    assert!(!policy.is_for(&fields(&[("a", "1")])) && !policy.is_for(&fields(&[("a", "1"), ("b", "3")])));
}

#[test]
fn cookies_that_the_config_names_tell_pages_apart() {
    let chosen = ["cookie:lang".to_owned()];
    let answer = ResponseHead::new(200, fields(&[("Cache-Control", "public, max-age=60")]));
    let german = get(&[("Cookie", "session=1; lang=de")]);
    let policy = judged(&german, &answer, &chosen, Rule::default()).unwrap();
    assert!(policy.is_for(&fields(&[("Cookie", "lang=de; session=2")])));
    assert!(!policy.is_for(&fields(&[("Cookie", "session=1; lang=en")])) && !policy.is_for(&fields(&[])));
    assert!(!policy.is_for(&fields(&[("Cookie", "xlang=de")])));
    assert!(policy.is_for(&fields(&[("Cookie", "a=b; lang =de")])), "apps trim names");
    assert!(!policy.is_for(&fields(&[("Cookie", "lang=de; lang=en")])), "apps may take either");
}

#[test]
fn keys_are_urls_without_what_does_not_count() {
    let rules = KeyRules { ignored_params: vec!["utm_*".to_owned(), "fbclid".to_owned()] };
    let https = Site { is_https: true, ..Site::default() };
    let key =
        |target: &str| key_of(&RequestHead { path_and_query: target.to_owned(), ..get(&[]) }, https, &rules).unwrap();
    assert_eq!(key("/page"), "https://app.test/page");
    assert_eq!(key("/page?"), "https://app.test/page");
    assert_eq!(key("/page?b=2&a=1&b=1"), "https://app.test/page?a=1&b=2&b=1");
    assert_eq!(key("/page?utm_source=x&fbclid=1&&a"), "https://app.test/page?a");
    assert_eq!(key("/page?fbclid2=1"), "https://app.test/page?fbclid2=1");
    assert_eq!(key("/page?b[]=2&b[0]=1&a=1"), "https://app.test/page?b[]=2&b[0]=1&a=1", "their order may matter");
    assert_eq!(key("/page?utm_source=x;a=evil"), "https://app.test/page?utm_source=x;a=evil");
    assert_eq!(target_for_all("/page?utm_source=x&b=1&&a=2&fbclid", &rules), "/page?b=1&a=2");
    assert_eq!(target_for_all("/page?utm_source=x", &rules), "/page");
    assert_eq!(target_for_all("/page?b=1&a=2", &rules), "/page?b=1&a=2");
    let long = RequestHead { path_and_query: "/".repeat(MAX_KEY_BYTES), ..get(&[]) };
    assert_eq!(key_of(&long, https, &rules), None);
}

#[test]
fn a_304_replaces_what_it_carries_and_leaves_what_says_how_the_body_looks() {
    let old = ResponseHead::new(
        200,
        fields(&[("ETag", "\"1\""), ("Content-Type", "text/html"), ("A", "old"), ("B", "kept")]),
    );
    let news = fields(&[
        ("a", "new"),
        ("Content-Type", "x/y"),
        ("Connection", "close"),
        ("Cache-Control", "max-age=9"),
        ("Date", DATE),
    ]);
    let new = freshened(&old, &ResponseHead::new(304, news), at(0));
    let expected = fields(&[
        ("ETag", "\"1\""),
        ("B", "kept"),
        ("a", "new"),
        ("Content-Type", "x/y"),
        ("Cache-Control", "max-age=9"),
        ("Date", DATE),
    ]);
    assert_eq!((new.status, new.fields), (200, expected));
}

#[test]
fn the_host_that_a_proxy_names_is_in_the_key_beside_the_one_that_it_asks_for() {
    let key = |host: &str| {
        let site = Site { forwarded_host: Some(host.as_bytes()), ..Site::default() };
        key_of(&get(&[]), site, &KeyRules::default())
    };
    assert_eq!(key("app.test").unwrap(), "http://app.test/page");
    assert_eq!(key("Shop.example:8443").unwrap(), "http://shop.example:8443/page app.test");
    for odd in ["", "a, b", "a/b", "a b", "<x>"] {
        assert_eq!(key(odd), None, "{odd}");
    }
}

#[test]
fn urls_that_people_write_mean_the_pages_that_they_should() {
    let rules = KeyRules { ignored_params: vec!["utm_*".to_owned()] };
    for (written, url) in [
        ("https://Shop.example", "https://shop.example/"),
        ("https://shop.example?b=1&a=2", "https://shop.example/?a=2&b=1"),
        ("HTTPS://shop.example/A?b&a#top", "https://shop.example/A?a&b"),
        ("/A?utm_x=1", "/A"),
        ("/", "/"),
    ] {
        assert_eq!(rules.url(written), url);
    }
    let (key, forwarded) = ("https://shop.example/a/b?c", "https://shop.example/a/b?c 10.0.0.1");
    for (url, is_it) in
        [(key, true), ("/a/b?c", true), ("https://shop.example/a/b", false), ("/a/b", false), ("/a", false)]
    {
        assert_eq!((is_page(key, url), is_page(forwarded, url)), (is_it, is_it), "{url}");
    }
    for (prefix, is_it) in
        [("/a/", true), ("https://shop.example/", true), ("http://shop.example/", false), ("/b", false)]
    {
        assert_eq!((begins(key, prefix), begins(forwarded, prefix)), (is_it, is_it), "{prefix}");
    }
    assert_eq!((site_of(key), prefix_of("HTTPS://A.b/C d")), ("https://shop.example", "https://a.b/C".to_owned()));
}

#[test]
fn tags_come_from_each_field_that_has_them_and_from_the_parts_of_the_page() {
    let mut parts = Parts::default();
    parts.read(b"product%2017, a,%C3%A4%,+");
    let found = tags(&fields(&[("Cache-Tag", "a, b"), ("Surrogate-Key", "c  d b")]), &parts).unwrap();
    assert_eq!(found.iter().map(|tag| &**tag).collect::<Vec<_>>(), ["a", "b", "c", "d", "product 17", "\u{e4}%"]);
    assert!(parts.may_grow && !parts.are_cut);
}

#[test]
fn a_page_with_more_tags_than_are_kept_has_none_that_could_be_relied_on() {
    let many = (0..=TAGS_MAX).map(|at| at.to_string()).collect::<Vec<_>>().join(",");
    assert_eq!(tags(&fields(&[("Cache-Tag", &many)]), &Parts::default()), None);
    for cut in [&b"*"[..], many.as_bytes()] {
        let mut parts = Parts::default();
        parts.read(cut);
        assert_eq!(tags(&fields(&[]), &parts), None);
    }
}

proptest! {
    #[test]
    fn no_field_makes_it_panic(cc in "[a-z0-9=\", -]{0,40}|\\PC{0,40}", cdn in "[a-z0-9=\",;?. -]{0,30}", vary in "\\PC{0,20}", age in "[0-9,-]{0,30}") {
        let answer = [("Cache-Control", cc.as_str()), ("CDN-Cache-Control", &cdn), ("Vary", &vary), ("Age", &age)];
        if let Ok(policy) = stored_for(&get(&[("Cookie", &vary), ("Accept-Encoding", &cc)]), &answer) {
            let _ = policy.reuse(at(5), StaleLimits::default());
        }
    }

    #[test]
    fn i7_private_directives_override_all_others(before in "[a-z]{1,8}(=[0-9]{1,3})?", word in "private|no-store|no-cache", after in "s-maxage=60|public|max-age=5") {
        prop_assume!(before != "must-understand");
        let value = format!("{before}, {word}, {after}");
        prop_assert!(stored(&[("Cache-Control", &value)]).is_err());
    }
}
