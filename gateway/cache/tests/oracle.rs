//! The rules of this crate beside those of another: `http-cache-semantics`, for requests, answers and times of chance. Where the two
//! differ, a rule below says why, by name; a difference that no rule explains fails, and so does a rule that explains nothing.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http_cache_semantics::{BeforeRequest, CacheOptions, CachePolicy};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use sluice_cache::{Moment, Reuse, Rule, StaleLimits, StorageCandidate, storable};
use sluice_message::{Fields, Method, RequestHead, ResponseHead, Scheme};

/// Sun, 06 Nov 1994 08:49:37 GMT.
const WALL_S: u64 = 784_111_777;
const CASES: u32 = 12_000;
/// With `SLUICE_TEST_LONG`: then each rule has to be all that explains some difference.
const CASES_LONG: u32 = 100_000;

type Lines = Vec<(&'static str, String)>;

/// A request that is answered, and another one later.
#[derive(Clone, Debug)]
struct Case {
    method: &'static str,
    asked: Lines,
    status: u16,
    answered: Lines,
    /// How long the answer took, seconds.
    took_s: u64,
    /// How much later the other request comes, seconds.
    after_s: u64,
    asks: Lines,
}

impl Case {
    fn says(&self, directive: &str) -> bool {
        let lines = self.answered.iter().filter(|(name, _)| *name == "cache-control");
        lines
            .flat_map(|(_, value)| value.split(','))
            .any(|word| word.trim() == directive || word.trim().split('=').next() == Some(directive))
    }

    fn has(&self, name: &str) -> bool {
        self.answered.iter().any(|(known, _)| *known == name)
    }

    fn count(&self, name: &str) -> usize {
        self.answered.iter().filter(|(known, _)| *known == name).count()
    }

    /// How often the answer says this.
    fn count_of(&self, directive: &str) -> usize {
        let lines = self.answered.iter().filter(|(name, _)| *name == "cache-control");
        lines
            .flat_map(|(_, value)| value.split(','))
            .filter(|word| word.trim().split('=').next() == Some(directive))
            .count()
    }

    fn varies_by(&self, name: &str) -> bool {
        let lines = self.answered.iter().filter(|(known, _)| *known == "vary");
        lines.flat_map(|(_, value)| value.split(',')).any(|word| word.trim() == name)
    }

    fn was_asked_with(&self, name: &str) -> bool {
        self.asked.iter().any(|(known, _)| *known == name)
    }

    fn has_explicit_freshness(&self) -> bool {
        self.says("max-age") || self.says("s-maxage") || self.has("expires")
    }
}

/// A reason for a difference, and whether it may be the reason here.
type Explanation = (&'static str, fn(&Case) -> bool);

/// Where this cache does not use an answer and the other would.
const STRICTER: &[Explanation] = &[
    ("answers to HEAD are not stored", |case| case.method != "GET"),
    ("there are no heuristics", |case| !case.has_explicit_freshness()),
    ("what sets a cookie is not stored, whatever else it says", |case| case.has("set-cookie")),
    ("answers to requests with cookies have to say that they are for all", |case| {
        case.was_asked_with("cookie") && !case.says("public") && !case.says("s-maxage")
    }),
    ("errors that a request may be to blame for are used for seconds", |case| case.status == 405),
    ("a duration without a value is 0 seconds", |case| {
        case.answered
            .iter()
            .any(|(_, value)| value.split(',').any(|word| ["s-maxage", "max-age"].contains(&word.trim())))
    }),
    ("a word that is said twice, in two ways, allows nothing more", |case| {
        case.was_asked_with("authorization")
            && ["max-age", "s-maxage", "stale-while-revalidate", "private", "no-cache"]
                .iter()
                .any(|word| case.count_of(word) > 1)
    }),
    ("an answer grows old on its way", |case| case.took_s > 0),
    ("an answer is as old as its date says", |case| case.has("date")),
    ("an age that is not one number may be any", |case| case.has("age")),
    ("of several dates of expiry none counts", |case| case.count("expires") > 1),
    ("immutable says nothing of how long", |case| case.says("immutable")),
    ("an answer that allows one origin is for that one", |case| case.has("access-control-allow-origin")),
    ("what depends on the client's address is for one client", |case| case.varies_by("x-forwarded-for")),
    ("another form of a page is told apart by its request", |case| {
        let switches = |lines: &Lines| lines.iter().any(|(name, _)| *name == "hx-request");
        switches(&case.asked) || switches(&case.asks)
    }),
    ("all lines of a field count, not the first alone", |case| {
        let lines = |lines: &Lines| lines.iter().filter(|(name, _)| *name == "x-flag").count();
        lines(&case.asked) > 1 || lines(&case.asks) > 1
    }),
];

/// Where this cache uses an answer and the other would not.
const LOOSER: &[Explanation] = &[
    ("proxy-revalidate says something of stale answers alone (RFC 9111 §5.2.2.8)", |case| {
        case.says("proxy-revalidate")
    }),
    ("must-understand stands above no-store (RFC 9111 §5.2.2.3)", |case| {
        case.says("must-understand") && case.says("no-store")
    }),
    ("a status that is not known is stored where it says for how long (RFC 9111 §3)", |case| {
        matches!(case.status, 299 | 400 | 403 | 500 | 503)
    }),
    ("of fields with lists only the meaning is compared (RFC 9111 §4.1)", |case| {
        case.varies_by("accept-encoding") || case.varies_by("accept-language")
    }),
    ("no worker sees fields of one connection", |case| case.varies_by("te")),
];

fn date_of(wall_s: u64) -> String {
    httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(wall_s))
}

fn optional(strategy: impl Strategy<Value = (&'static str, String)> + 'static, of: f64) -> BoxedStrategy<Lines> {
    proptest::option::weighted(of, strategy).prop_map(|line| line.into_iter().collect()).boxed()
}

fn word(name: &'static str, values: &'static [&'static str]) -> BoxedStrategy<(&'static str, String)> {
    proptest::sample::select(values).prop_map(move |value| (name, value.to_owned())).boxed()
}

fn directives() -> impl Strategy<Value = (&'static str, String)> {
    let seconds = prop_oneof![Just(0_u64), 1..100_u64, Just(1000)];
    let timed = (proptest::sample::select(&["max-age", "s-maxage", "stale-while-revalidate"][..]), seconds)
        .prop_map(|(name, seconds)| format!("{name}={seconds}"));
    let plain = proptest::sample::select(
        &[
            "public",
            "private",
            "no-store",
            "no-cache",
            "must-revalidate",
            "proxy-revalidate",
            "must-understand",
            "immutable",
            "max-age",
            "s-maxage",
            "max-age=x",
            "max-age=\"30\"",
            "no-transform",
            "private=\"a\"",
            "no-cache=\"a\"",
            "x=1",
        ][..],
    )
    .prop_map(str::to_owned);
    // Two words that mean something together, and would seldom be drawn so.
    let together = Just("must-understand, no-store".to_owned());
    // Words that forbid everything would leave little to compare.
    proptest::collection::vec(prop_oneof![40 => timed, 20 => plain, 4 => together], 1..4)
        .prop_map(|words| ("cache-control", words.join(", ")))
}

fn request() -> impl Strategy<Value = Lines> {
    let lines = vec![
        optional(word("cookie", &["a=b"]), 0.1),
        optional(word("authorization", &["Basic eA=="]), 0.1),
        optional(word("accept-encoding", &["gzip", "gzip, br", "br, gzip", "identity"]), 0.5),
        optional(word("accept-language", &["en", "de, en", "en;q=0.5, de"]), 0.3),
        optional(word("x-flag", &["a", "b", ""]), 0.4),
        optional(word("x-flag", &["a", "b"]), 0.1),
        optional(word("origin", &["https://a.test", "https://b.test"]), 0.2),
        optional(word("te", &["trailers"]), 0.2),
        optional(word("hx-request", &["true"]), 0.05),
        optional(word("x-forwarded-for", &["192.0.2.1"]), 0.1),
    ];
    lines.prop_map(|lines| lines.concat())
}

fn answer() -> impl Strategy<Value = Lines> {
    let lines = vec![
        optional(directives(), 0.85),
        optional(directives(), 0.1),
        optional((0..200_u64).prop_map(|after_s| ("expires", date_of(WALL_S - 50 + after_s))), 0.2),
        optional(word("expires", &["0", "soon"]), 0.15),
        optional((0..60_u64).prop_map(|before_s| ("date", date_of(WALL_S - before_s))), 0.3),
        optional(word("age", &["0", "10", "x", "5, 6"]), 0.15),
        optional(word("last-modified", &["Sun, 06 Nov 1994 07:49:37 GMT"]), 0.2),
        optional(word("etag", &["\"1\""]), 0.2),
        optional(word("set-cookie", &["a=b"]), 0.1),
        optional(word("pragma", &["no-cache"]), 0.05),
        optional(word("access-control-allow-origin", &["https://a.test"]), 0.1),
        optional(
            word("vary", &["accept-encoding", "x-flag", "accept-language, x-flag", "*", "te", "x-forwarded-for"]),
            0.4,
        ),
    ];
    lines.prop_map(|lines| lines.concat())
}

fn case() -> impl Strategy<Value = Case> {
    let method = prop_oneof![20 => Just("GET"), 1 => Just("HEAD"), 1 => Just("POST")];
    let status = prop_oneof![
        20 => Just(200_u16),
        6 => proptest::sample::select(&[203, 204, 206, 299, 301, 302, 304, 308, 400, 403, 404, 405, 410, 500, 503][..]),
    ];
    let took_s = prop_oneof![4 => Just(0_u64), 1 => 0..20_u64];
    let same = any::<bool>();
    (method, request(), status, answer(), took_s, 0..120_u64, request(), same).prop_map(
        |(method, asked, status, answered, took_s, after_s, asks, same)| {
            let asks = if same { asked.clone() } else { asks };
            Case { method, asked, status, answered, took_s, after_s, asks }
        },
    )
}

fn fields(lines: &Lines) -> Fields {
    lines.iter().map(|(name, value)| (*name, value.as_bytes())).collect()
}

fn is_used_here(case: &Case) -> bool {
    let method = match case.method {
        "GET" => Method::Get,
        "HEAD" => Method::Head,
        _ => Method::Post,
    };
    let asked = RequestHead {
        method,
        scheme: Scheme::Http,
        authority: "app.test".to_owned(),
        path_and_query: "/page".to_owned(),
        fields: fields(&case.asked),
    };
    let at = |after_s: u64| Moment { wall_s: WALL_S + after_s, steady_ms: 5_000_000 + after_s * 1000 };
    let began = Moment { wall_s: WALL_S - case.took_s, steady_ms: 5_000_000 - case.took_s * 1000 };
    let answer = ResponseHead::new(case.status, fields(&case.answered));
    let rule = Rule::default();
    let answered =
        StorageCandidate { request: &asked, response: &answer, chosen: &[], rule, asked: began, came: at(0) };
    let Ok(policy) = storable(answered) else { return false };
    let reuse = policy.reuse(at(case.after_s), StaleLimits::default());
    if matches!(reuse, Reuse::WhileRevalidating(_) | Reuse::IfError(_)) {
        assert!(case.says("stale-while-revalidate"), "nothing stale is used but by the app's word: {case:?}");
        assert!(!case.says("must-revalidate") && !case.says("proxy-revalidate"), "{case:?}");
    }
    matches!(reuse, Reuse::Fresh(_)) && policy.is_for(&fields(&case.asks))
}

fn is_used_there(case: &Case) -> bool {
    let request = |method: &str, lines: &Lines| {
        let mut builder = http::Request::builder().method(method).uri("http://app.test/page");
        for (name, value) in lines {
            builder = builder.header(*name, value);
        }
        builder.body(()).expect("a request")
    };
    let mut answer = http::Response::builder().status(case.status);
    for (name, value) in &case.answered {
        answer = answer.header(*name, value);
    }
    let answer = answer.body(()).expect("an answer");
    let at = |after_s: u64| -> SystemTime { UNIX_EPOCH + Duration::from_secs(WALL_S + after_s) };
    let policy = CachePolicy::new_options(&request(case.method, &case.asked), &answer, at(0), CacheOptions::default());
    let asks = request(case.method, &case.asks);
    policy.is_storable() && matches!(policy.before_request(&asks, at(case.after_s)), BeforeRequest::Fresh(_))
}

#[test]
fn the_rules_are_those_of_another_implementation_but_for_what_is_listed() {
    let seen: RefCell<BTreeMap<&str, u32>> = RefCell::default();
    let is_long = std::env::var_os("SLUICE_TEST_LONG").is_some();
    let cases = if is_long { CASES_LONG } else { CASES };
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let run = runner.run(&case(), |case| {
        let (here, there) = (is_used_here(&case), is_used_there(&case));
        let rules = match (here, there) {
            (true, false) => LOOSER,
            (false, true) => STRICTER,
            (true, true) => &[("both use it", (|_| true) as fn(&Case) -> bool)],
            (false, false) => &[("neither uses it", (|_| true) as fn(&Case) -> bool)],
        };
        let explained: Vec<&str> = rules.iter().filter(|(_, is)| is(&case)).map(|(why, _)| *why).collect();
        prop_assert!(!explained.is_empty(), "used here: {here}, there: {there}");
        if explained.len() == 1 || !is_long {
            for why in explained {
                *seen.borrow_mut().entry(why).or_default() += 1;
            }
        }
        Ok(())
    });
    run.unwrap_or_else(|error| panic!("{error}"));
    let seen = seen.into_inner();
    let rules = STRICTER.iter().chain(LOOSER).map(|(why, _)| *why).chain(["both use it", "neither uses it"]);
    let unseen: Vec<&str> = rules.filter(|why| !seen.contains_key(why)).collect();
    assert!(unseen.is_empty(), "rules that explain no difference: {unseen:?}, of {seen:?}");
    assert!(seen["both use it"] > cases / 20, "{seen:?}");
}
