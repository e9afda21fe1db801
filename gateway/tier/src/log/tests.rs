//! A few gateways' logs without a server: what one is told of another's purges, and which pages may still be used.

use bytes::Bytes;

use super::*;

const OWN: u64 = 1;
const OTHER: u64 = 2;

fn id(number: u64) -> Id {
    Id { ms: 1_000, number }
}

fn entry(number: u64, origin: u64, kind: Kind, is_soft: bool) -> Entry {
    Entry { id: id(number), log: 7, origin, kind, is_soft }
}

fn begin(number: u64) -> Entry {
    entry(number, OTHER, Kind::Begin, false)
}

fn purge(number: u64, purge: &Purge, is_soft: bool) -> Entry {
    entry(number, OTHER, Kind::of(purge), is_soft)
}

fn tag(name: &str) -> Purge {
    Purge::Tag(name.to_owned())
}

fn url(path: &str) -> Purge {
    Purge::Url(format!("https://a.test{path}"))
}

/// A log that was loaded with these entries.
fn loaded(entries: &[Entry]) -> Log {
    let mut log = Log::new(OWN);
    assert!(log.load(entries, u64::MAX).is_some());
    log
}

fn judge(log: &Log, stored: u64, path: &str, tags: &[&str]) -> Verdict {
    let tags: Vec<Box<str>> = tags.iter().map(|tag| (*tag).into()).collect();
    log.judge(Position { log: 7, id: id(stored) }, &format!("https://a.test{path}"), &tags)
}

#[test]
fn a_purge_means_pages_that_were_asked_for_before_it_and_no_others() {
    for (meant, means_page, means_other) in [
        (Purge::All, true, true),
        (url("/page"), true, false),
        (Purge::Prefix("https://a.test/pa".to_owned()), true, false),
        (tag("one"), true, false),
        (url("/p"), false, false),
        (tag("on"), false, false),
    ] {
        for is_soft in [false, true] {
            let log = loaded(&[begin(1), purge(5, &meant, is_soft)]);
            let hit = if is_soft { Verdict::Stale } else { Verdict::Purged };
            let expected = |is_meant| if is_meant { hit } else { Verdict::Valid };
            assert_eq!(judge(&log, 4, "/page", &["zero", "one"]), expected(means_page), "{meant:?}");
            assert_eq!(judge(&log, 4, "/other", &["two"]), expected(means_other), "{meant:?}");
            assert_eq!(judge(&log, 5, "/page", &["one"]), Verdict::Valid, "{meant:?}: it was rendered after that");
        }
    }
}

#[test]
fn a_page_is_meant_by_the_same_words_as_in_memory() {
    let key = "https://a.test/x?a=1 inner.test";
    for meant in
        [key, "https://a.test/x?a=1", "/x?a=1", "/x?a=1 inner.test", "/x", "https://a.test/x", "/", "a.test/x?a=1"]
    {
        for purge in [Purge::Url(meant.to_owned()), Purge::Prefix(meant.to_owned())] {
            let log = loaded(&[begin(1), super::tests::purge(5, &purge, false)]);
            let expected = match &purge {
                Purge::Url(url) => sluice_cache::is_page(key, url),
                Purge::Prefix(prefix) => sluice_cache::begins(key, prefix),
                _ => false,
            };
            let verdict = log.judge(Position { log: 7, id: id(4) }, key, &[]);
            assert_eq!(verdict == Verdict::Purged, expected, "{purge:?}");
        }
    }
}

#[test]
fn a_purge_stays_one_when_pages_are_made_stale_after_it() {
    let log = loaded(&[begin(1), purge(5, &tag("one"), false), purge(6, &tag("one"), true)]);
    assert_eq!(judge(&log, 4, "/", &["one"]), Verdict::Purged);
    assert_eq!(judge(&log, 5, "/", &["one"]), Verdict::Stale);
    assert_eq!(judge(&log, 6, "/", &["one"]), Verdict::Valid);
}

#[test]
fn purges_of_others_are_heard_once_and_in_their_order() {
    let mut log = loaded(&[begin(1), purge(2, &tag("old"), false)]);
    let read = [
        purge(2, &tag("old"), false),
        purge(3, &tag("a"), false),
        entry(4, OWN, Kind::Tag("own".into()), false),
        purge(5, &url("/b"), true),
    ];
    assert_eq!(log.hear(&read), Some(vec![(tag("a"), false), (url("/b"), true)]));
    assert_eq!(log.hear(&read[3..]), Some(vec![]));
    assert_eq!(log.known(), Some(Position { log: 7, id: id(5) }));
    assert_eq!(judge(&log, 3, "/", &["own"]), Verdict::Purged, "its own purges count for what is stored");
}

#[test]
fn a_gap_in_the_log_is_noticed() {
    let mut log = loaded(&[begin(1), purge(2, &tag("old"), false)]);
    assert_eq!(log.hear(&[]), None, "the server has lost it");
    assert_eq!(log.hear(&[purge(9, &tag("new"), false)]), None, "what is kept begins later");
    let anew = Entry { log: 8, ..begin(3) };
    assert_eq!(log.hear(&[purge(2, &tag("old"), false), anew]), None, "it was begun anew");
    assert_eq!(Log::new(OWN).hear(&[begin(1)]), None);
}

#[test]
fn a_look_up_knows_what_was_purged_just_before_it() {
    let mut log = loaded(&[begin(1)]);
    let read = [begin(1), purge(2, &tag("a"), false)];
    assert_eq!(log.peek(&read, id(1), 10), Some(Position { log: 7, id: id(2) }));
    assert_eq!(judge(&log, 1, "/", &["a"]), Verdict::Purged);
    assert_eq!(log.hear(&read), Some(vec![(tag("a"), false)]), "memory is told too");
    assert_eq!(log.peek(&read, id(1), 10), Some(Position { log: 7, id: id(2) }), "asked for before that was heard");
    assert_eq!(log.peek(&read, id(1), 2), None, "there may be more");
    assert_eq!(log.peek(&[], id(1), 10), None);
    assert_eq!(log.peek(&[purge(9, &tag("x"), false)], id(1), 10), None);
}

#[test]
fn pages_from_before_what_is_kept_of_the_log_are_not_used() {
    let log = loaded(&[purge(50, &tag("a"), false)]);
    assert_eq!(judge(&log, 49, "/", &[]), Verdict::Purged);
    assert_eq!(judge(&log, 50, "/", &[]), Verdict::Valid);
    assert_eq!(log.judge(Position { log: 8, id: id(60) }, "https://a.test/", &[]), Verdict::Purged, "of another log");
}

#[test]
fn nothing_from_before_the_servers_clock_was_set_back_is_used_and_memory_is_left_alone() {
    let mut log = loaded(&[begin(1)]);
    let read = [begin(1), entry(5, OTHER, Kind::Clock, false)];
    assert_eq!(log.hear(&read), Some(vec![]));
    assert_eq!([judge(&log, 4, "/", &[]), judge(&log, 5, "/", &[])], [Verdict::Purged, Verdict::Valid]);
}

#[test]
fn the_number_of_a_log_is_that_of_its_last_beginning() {
    let late = Entry { log: 6, ..purge(3, &tag("a"), false) };
    assert_eq!(loaded(&[begin(1), late.clone()]).known().map(|known| known.log), Some(7));
    assert_eq!(loaded(&[late]).known().map(|known| known.log), Some(6));
    assert_eq!(Log::new(OWN).load(&[], 0), None);
}

#[test]
fn own_purges_count_from_their_id_on() {
    let mut log = loaded(&[begin(1)]);
    log.told(&Kind::of(&tag("a")), false, id(5));
    assert_eq!([judge(&log, 4, "/", &["a"]), judge(&log, 5, "/", &["a"])], [Verdict::Purged, Verdict::Valid]);
    assert_eq!(log.known().map(|known| known.id), Some(id(1)), "others may have come before it");
}

#[test]
fn what_was_purged_while_a_gateway_was_away_is_heard_when_it_is_back() {
    let whole = [begin(1), purge(2, &tag("known"), false), purge(3, &tag("a"), false), purge(4, &url("/b"), true)];
    let mut log = loaded(&whole[..2]);
    let purges = vec![(tag("a"), false), (url("/b"), true)];
    assert_eq!(log.load(&whole, 0), Some(News { is_lost: false, purges }));
    let anew = [Entry { log: 8, ..begin(2) }, Entry { log: 8, ..purge(3, &url("/b"), true) }];
    for whole in [&whole[3..], &anew] {
        let mut log = loaded(&[begin(1), purge(2, &tag("known"), false)]);
        let purges = vec![(url("/b"), true)];
        assert_eq!(log.load(whole, 0), Some(News { is_lost: true, purges }), "{whole:?}");
    }
}

#[test]
fn a_gateway_that_begins_hears_what_was_purged_while_it_restarted() {
    let at = |ms, kind| Entry { id: Id { ms, number: 0 }, ..entry(0, OTHER, kind, false) };
    let tagged = |ms, name: &str| at(ms, Kind::Tag(name.into()));
    let whole = [at(100, Kind::Begin), tagged(200, "a"), tagged(300, "b")];
    let news = |entries: &[Entry], since_ms| Log::new(OWN).load(entries, since_ms).unwrap();
    let of =
        |is_lost, purges: &[Purge]| News { is_lost, purges: purges.iter().cloned().map(|one| (one, false)).collect() };
    assert_eq!(news(&whole, 201), of(false, &[tag("b")]));
    for since_ms in [0, 50, 200] {
        assert_eq!(news(&whole, since_ms), of(false, &[tag("a"), tag("b")]), "there was no purge before the log began");
    }
    assert_eq!(news(&whole[1..], 150), of(true, &[tag("a"), tag("b")]), "what is kept begins later");
}

#[test]
fn what_is_remembered_has_a_bound_and_what_is_forgotten_counts_as_purged() {
    let mut log = loaded(&[begin(1)]);
    let mut read = vec![begin(1)];
    read.extend((2..1_200).map(|number| purge(number, &Purge::Prefix(format!("https://b.test/{number}")), false)));
    log.hear(&read);
    assert_eq!(judge(&log, 2, "/", &[]), Verdict::Purged);
    assert_eq!(judge(&log, 1_199, "/", &[]), Verdict::Valid);
}

#[test]
fn entries_are_read_from_replies_and_one_of_a_later_version_counts_as_one_of_everything() {
    let text = |text: &str| Reply::Text(Bytes::copy_from_slice(text.as_bytes()));
    let reply = |kind: &str| {
        let words = ["log", "7", "from", "2", "kind", kind, "about", "one", "soft", "1", "new", "x"];
        Reply::List(vec![Reply::List(vec![text("1000-5"), Reply::List(words.iter().map(|word| text(word)).collect())])])
    };
    assert_eq!(entries(&reply("tag")), Some(vec![purge(5, &tag("one"), true)]));
    assert_eq!(entries(&reply("future")), Some(vec![purge(5, &Purge::All, false)]));
    assert_eq!(entries(&Reply::Nothing), None);
    assert_eq!([id(3).next().to_string(), Id { ms: 1, number: u64::MAX }.next().to_string()], ["1000-4", "2-0"]);
}
