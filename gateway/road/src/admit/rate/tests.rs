//! Rules by example, and properties of GCRA and of the table on random arrivals. A failure prints its input and the seed
//! that replays it.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use proptest::prelude::*;

use super::*;

fn rates(limits: &[(&str, &str)], exempt: &[&str], clients_max: u64) -> Rates {
    let mut config = Config::default();
    config.rate.limits = limits.iter().map(|(path, rate)| ((*path).to_owned(), (*rate).to_owned())).collect();
    config.rate.exempt = exempt.iter().map(|network| (*network).to_owned()).collect();
    config.bounds.rate_clients_max = clients_max;
    Rates::parse(&config).unwrap().unwrap()
}

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn v4(number: u32) -> IpAddr {
    IpAddr::V4(Ipv4Addr::from_bits(number))
}

const SOMEBODY: &str = "203.0.113.9";

#[test]
fn without_limits_nothing_is_kept() {
    assert!(Rates::parse(&Config::default()).unwrap().is_none());
}

#[test]
fn burst_comes_at_once_and_then_the_rate_counts() {
    let mut rates = rates(&[("/", "5/min burst 3")], &[], 10);
    let mut ask = |now_s: u64| rates.charge(ip(SOMEBODY), "/", now_s * NS_PER_S).err();
    assert_eq!([ask(0), ask(0), ask(0), ask(0), ask(0)], [None, None, None, Some(12), Some(12)]);
    assert_eq!([ask(5), ask(11), ask(12), ask(12)], [Some(7), Some(1), None, Some(12)]);
    assert_eq!([ask(1000), ask(1000), ask(1000), ask(1000)], [None, None, None, Some(12)]);
}

#[test]
fn longest_path_that_fits_is_the_one_that_counts() {
    let mut rates = rates(&[("/", "2/h burst 2"), ("/login", "1/h"), ("/login/help", "3/h burst 3")], &[], 10);
    let mut let_through = |target: &str| (0..10).filter(|_| rates.charge(ip(SOMEBODY), target, 0).is_ok()).count();
    assert_eq!(let_through("/login/help/me?x=/login"), 3);
    assert_eq!(let_through("/login"), 1);
    assert_eq!(let_through("/login/helper"), 0);
    assert_eq!(let_through("/loginx"), 2);
    assert_eq!(let_through("*"), 0);
}

#[test]
fn clients_are_told_apart_by_address_and_ipv6_by_the_network_of_64_bits() {
    let mut rates = rates(&[("/a", "1/h"), ("/b", "1/h")], &["10.0.0.0/8", "2001:db8:ff::1"], 100);
    let mut passes = |client: &str, target: &str| rates.charge(ip(client), target, 0).is_ok();
    assert!(passes("192.0.2.1", "/a") && !passes("192.0.2.1", "/a"));
    assert!(!passes("::ffff:192.0.2.1", "/a"), "a mapped address is the IPv4 client");
    assert!(passes("192.0.2.2", "/a"), "another client");
    assert!(passes("192.0.2.1", "/b"), "another limit");
    assert!(passes("2001:db8::1", "/a") && !passes("2001:db8::ffff:2:3:4", "/a"));
    assert!(passes("2001:db8:0:1::1", "/a"), "another /64");
    assert!(passes("::c000:202", "/a"), "a number like an IPv4 address is not one");
    for _ in 0..3 {
        assert!(passes("10.1.2.3", "/a") && passes("::ffff:10.1.2.3", "/a") && passes("2001:db8:ff::1", "/a"));
    }
}

#[test]
fn no_spelling_of_a_path_dodges_its_limit() {
    for target in [
        "/login",
        "/login/",
        "/login?x",
        "/login/x?y",
        "/%6cogin",
        "/%6C%6f%67%69%6E",
        "//login",
        "///login//",
        // A URL parser takes the first name for a host.
        "//x/login",
        "/\\x/login",
        "///x/login",
        "//u@x:80/login/y",
        "//x/y/../login",
        "/./login",
        "/%2e/login",
        "/x/../login",
        "/x/%2E%2e/login",
        "/../../login",
        "\\login",
        "/\\login",
        "/x\\..\\login",
        "/LOGIN",
        "/Login/x",
        "/%4cogin",
        "//x/LoGiN",
        "/login/..",
        "/login/../x",
        "/login/.",
        // A file server sees `/login` here, and a URL parser `/x/login` there.
        "/x//../login",
        "/x/y/..//login/../../login",
    ] {
        let mut rates = rates(&[("/", "9/h burst 9"), ("/login", "1/h")], &[], 10);
        assert_eq!(rates.charge(ip(SOMEBODY), "/login", 0).err(), None);
        assert!(rates.charge(ip(SOMEBODY), target, 0).is_err(), "{target}");
    }
    for target in
        ["/loginx", "/LOGINX", "/x/login", "/login%2Fx", "/%2Flogin", "/%256cogin", "/x?/login", "/x?/../login"]
    {
        let mut rates = rates(&[("/login", "1/h")], &[], 10);
        assert_eq!(rates.charge(ip(SOMEBODY), "/login", 0).err(), None);
        assert_eq!(rates.charge(ip(SOMEBODY), target, 0).err(), None, "{target}");
    }
    let mut capital = rates(&[("/Login", "1/h")], &[], 10);
    assert_eq!(capital.charge(ip(SOMEBODY), "/Login", 0).err(), None);
    assert!(capital.charge(ip(SOMEBODY), "/login", 0).is_err());
    let mut letters = rates(&[("/café au lait", "1/h")], &[], 10);
    assert_eq!(letters.charge(ip(SOMEBODY), "/caf%C3%a9%20au%20lait", 0).err(), None);
    for target in ["/caf%c3%A9%20au%20lait/x", "/CAF%c3%89%20au%20lait"] {
        assert!(letters.charge(ip(SOMEBODY), target, 0).is_err(), "{target}");
    }
}

#[test]
fn path_with_several_readings_counts_once_where_they_meet_one_limit() {
    let mut rates = rates(&[("/login", "3/h burst 3")], &[], 10);
    let passed = (0..10).filter(|_| rates.charge(ip(SOMEBODY), "/login/a//../b", 0).is_ok()).count();
    assert_eq!(passed, 3);
}

#[test]
fn i6_table_of_a_million_addresses_is_bounded_and_refuses_no_new_client() {
    const ENTRIES_MAX: u64 = 1_000;
    let mut rates = rates(&[("/", "1/h")], &[], ENTRIES_MAX);
    for number in 0..1_000_000_u32 {
        assert_eq!(rates.charge(v4(number), "/", u64::from(number)).err(), None, "a new client, all entries live");
        assert!(rates.table.entries.len() <= to_usize(ENTRIES_MAX));
    }
    assert_eq!(rates.table.entries.len(), to_usize(ENTRIES_MAX));
    assert_consistent(&rates.table);
}

#[test]
fn client_that_has_used_up_most_is_not_washed_out_by_others() {
    let mut rates = rates(&[("/", "60/min burst 60")], &[], 100);
    while rates.charge(ip(SOMEBODY), "/", 0).is_ok() {}
    for number in 0..100_000_u32 {
        assert_eq!(rates.charge(v4(number), "/", 0).err(), None);
    }
    assert!(rates.charge(ip(SOMEBODY), "/", 0).is_err());
}

#[test]
fn entries_whose_allowance_is_whole_make_room_before_the_table_is_full() {
    let mut rates = rates(&[("/", "10/s burst 1")], &[], 100_000);
    // A new client each millisecond, each of which counts for a tenth of a second.
    for number in 0..20_000_u32 {
        assert_eq!(rates.charge(v4(number), "/", u64::from(number) * 1_000_000).err(), None);
        assert!(rates.table.entries.len() < 300, "{} entries", rates.table.entries.len());
    }
    assert_consistent(&rates.table);
}

fn assert_consistent(table: &Table) {
    assert_eq!(table.entries.len(), table.places.len());
    for (place, entry) in table.entries.iter().enumerate() {
        assert_eq!(table.places.get(&entry.key), Some(&place));
    }
}

fn pace() -> impl Strategy<Value = (Rate, Pace)> {
    let count = prop_oneof![1..20_u64, 1..=1_000_000_u64];
    let burst = prop_oneof![1..20_u64, 1..=1_000_000_u64];
    (count, prop_oneof![Just(1_u64), Just(60), Just(3600)], burst).prop_map(|(count, period_s, burst)| {
        let rate = Rate { count, period_s, burst };
        (rate, Pace::of(rate))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn no_window_has_more_than_the_burst_and_what_the_rate_gives(
        (rate, pace) in pace(),
        burst in 1..6_u64,
        // Pauses in thousandths of the interval between two requests at the full rate.
        pauses in proptest::collection::vec(prop_oneof![Just(0_u64), 0..3_000_u64], 1..200),
    ) {
        let rate = Rate { burst, ..rate };
        let pace = Pace { tolerance_ns: pace.interval_ns * (burst - 1), ..pace };
        let mut table = Table::new(10);
        let mut now_ns = 0_u64;
        let mut passed = Vec::new();
        for pause in pauses {
            now_ns += pace.interval_ns / 1000 * pause;
            if table.take(Key::of(0, v4(1)), pace, now_ns).is_ok() {
                passed.push(now_ns);
            }
        }
        for (first, start_ns) in passed.iter().enumerate() {
            for (last, end_ns) in passed.iter().enumerate().skip(first) {
                let count = (last - first + 1) as u128;
                let window_ns = u128::from(end_ns - start_ns);
                let given = window_ns * u128::from(rate.count) / u128::from(rate.period_s * NS_PER_S);
                prop_assert!(count <= u128::from(rate.burst) + given, "{count} in {window_ns} ns");
            }
        }
    }

    #[test]
    fn client_that_obeys_retry_after_is_let_through(
        (rate, _) in pace(),
        extra in 0..40_u32,
        start_ns in 0..1_000_000_000_000_000_u64,
    ) {
        let burst = rate.burst.min(50);
        let text = format!("{}/{} burst {burst}", rate.count, match rate.period_s { 1 => "s", 60 => "min", _ => "h" });
        let mut rates = rates(&[("/", &text)], &[], 10);
        let mut wait_s = None;
        for _ in 0..u32::try_from(burst).unwrap() + extra {
            wait_s = rates.charge(ip(SOMEBODY), "/", start_ns).err();
        }
        // All came at one moment, so it is the burst that decides.
        prop_assert_eq!(wait_s.is_some(), extra > 0);
        if let Some(wait_s) = wait_s {
            let interval_s = rate.period_s.div_ceil(rate.count);
            prop_assert!(wait_s >= 1 && u64::from(wait_s) <= interval_s, "{wait_s}");
            prop_assert_eq!(rates.charge(ip(SOMEBODY), "/", start_ns + u64::from(wait_s) * NS_PER_S).err(), None);
        }
    }

    #[test]
    fn table_agrees_with_one_that_forgets_nothing_as_long_as_it_is_not_full(
        arrivals in proptest::collection::vec((0..30_u32, 0..2_000_000_000_u64), 1..300),
    ) {
        let pace = Pace::of(Rate { count: 1, period_s: 1, burst: 3 });
        let (mut table, mut model) = (Table::new(30), HashMap::new());
        let mut now_ns = 0;
        for (client, pause_ns) in arrivals {
            now_ns += pause_ns / 8;
            let expected = pace.after(model.get(&client).copied().unwrap_or(0), now_ns);
            if let Ok(whole_at_ns) = expected {
                model.insert(client, whole_at_ns);
            }
            prop_assert_eq!(table.take(Key::of(0, v4(client)), pace, now_ns), expected.map(|_| ()));
            assert_consistent(&table);
        }
    }

    #[test]
    fn table_stays_consistent_and_bounded_when_it_is_full(
        entries_max in 0..20_usize,
        arrivals in proptest::collection::vec((0..60_u32, 0..4_000_000_000_u64), 1..300),
    ) {
        let pace = Pace::of(Rate { count: 1, period_s: 1, burst: 3 });
        let mut table = Table::new(entries_max);
        let mut known = BTreeSet::new();
        let mut now_ns = 0;
        for (client, pause_ns) in arrivals {
            now_ns += pause_ns / 16;
            let taken = table.take(Key::of(0, v4(client)), pace, now_ns);
            prop_assert!(taken.is_ok() || !known.insert(client), "a new client is never refused");
            known.insert(client);
            assert_consistent(&table);
            prop_assert!(table.entries.len() <= entries_max.max(1));
        }
    }

    #[test]
    fn noise_is_read_without_a_panic(path in "[/\\.%a-f0-9\\\\*]{0,40}", limit in "/[a-f]{0,3}") {
        for reading in paths::readings(&path) {
            let _ = paths::lies_below(&reading, limit.as_bytes());
        }
    }
}

#[test]
fn a_request_that_is_refused_by_one_limit_is_not_charged_to_another() {
    let mut rates = rates(&[("/login", "1/h"), ("/x/y", "1/h")], &[], 10);
    assert_eq!(rates.charge(ip(SOMEBODY), "/login", 0).err(), None);
    assert!(rates.charge(ip(SOMEBODY), "/x/y/../../login", 0).is_err());
    assert_eq!(rates.charge(ip(SOMEBODY), "/x/y", 0).err(), None);
}
