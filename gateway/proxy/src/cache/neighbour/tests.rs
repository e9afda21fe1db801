use std::io::Write as _;
use std::time::Duration;

use sluice_cache::{Answered, Moment, Policy, Reuse, Rule, StaleLimits, storable};
use sluice_catalog::config::Config;
use sluice_journal::{Journal, Options};
use sluice_message::{Fields, Method, RequestHead, ResponseHead, Scheme};
use tokio::task::{LocalSet, spawn_local};
use tokio::time::sleep;

use super::*;
use crate::ActiveConfig;

/// Between looks at what another thread brings.
const LOOK_EVERY: Duration = Duration::from_millis(2);

fn play(story: impl AsyncFnOnce()) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    LocalSet::new().block_on(&runtime, async { timeout(Duration::from_secs(60), story()).await.unwrap() });
}

fn gate(set: impl FnOnce(&mut Config)) -> Rc<Gate> {
    let mut config = Config::default();
    config.cache.enabled = true;
    config.cache.bytes_max = 64 << 20;
    config.cache.on_reload = OnReload::Keep;
    set(&mut config);
    let journal = Journal::new(Options::default(), std::io::sink()).unwrap();
    let config = Rc::new(config);
    let observer = sluice_observe::Observer::new(&config, journal);
    crate::gate(ActiveConfig::read(config).unwrap(), observer).unwrap()
}

fn policy(gate: &Gate) -> Policy {
    let request = RequestHead {
        method: Method::Get,
        scheme: Scheme::Http,
        authority: "shop.test".to_owned(),
        path_and_query: "/".to_owned(),
        fields: Fields::default(),
    };
    let mut fields = Fields::default();
    fields.push("Cache-Control", "public, max-age=600");
    fields.push("Age", "10");
    let (response, now) = (ResponseHead::new(200, fields), gate.moment());
    let answered =
        Answered { request: &request, response: &response, chosen: &[], rule: Rule::default(), asked: now, came: now };
    storable(answered).unwrap()
}

/// A page that is kept as a render would be.
fn keep(gate: &Gate, key: &str, body: &'static str, tags: &[&str]) {
    let object = Object {
        head: ResponseHead::new(200, Fields::default()),
        body: KeptBody::new(body.into(), false),
        policy: policy(gate).into(),
        tags: tags.iter().map(|tag| Box::from(*tag)).collect(),
        born: gate.cache.log.latest(),
    };
    let object = Rc::new(object);
    gate.cache.store.borrow_mut().put(key, &Fields::default(), Rc::clone(&object));
    gate.cache.neighbour.kept(gate, key, &object);
}

fn found(gate: &Gate, key: &str) -> Option<Rc<Object>> {
    gate.cache.store.borrow().find(key, &Fields::default())
}

fn body(gate: &Gate, key: &str) -> Option<String> {
    found(gate, key).map(|object| String::from_utf8(object.body.data().to_vec()).unwrap())
}

async fn until(is_true: impl Fn() -> bool) {
    while !is_true() {
        sleep(LOOK_EVERY).await;
    }
}

/// Links the two as an upgrade does. Returns when the old one has sent all that it had.
async fn linked(old: &Rc<Gate>, new: &Rc<Gate>) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    for (gate, stream, side) in [(old, ours, Side::Old), (new, theirs, Side::New)] {
        let (link, heard) = gate.link(stream, side).unwrap();
        let gate = Rc::clone(gate);
        spawn_local(async move { gate.listen(link, heard).await });
    }
    old.pages_handed_over(Duration::from_secs(50)).await;
}

const KEY: &str = "http://shop.test/a";

#[test]
fn i7_pages_go_over_with_their_age_and_tags_and_with_what_made_them_stale() {
    play(async || {
        let (old, new) = (gate(|_| {}), gate(|_| {}));
        for at in 0..500 {
            keep(&old, &format!("http://shop.test/{at}"), "page", &[]);
        }
        keep(&old, KEY, "tagged", &["one"]);
        keep(&old, "http://shop.test/soft", "softened", &["two"]);
        let _ = old.purge(&Purge::Tag("two".to_owned()), true).await;
        linked(&old, &new).await;
        until(|| new.cache_snapshot().pages == 502).await;
        let page = found(&new, KEY).unwrap();
        let age_s = page.policy.borrow().age_s(new.moment());
        assert!((10..60).contains(&age_s), "{age_s}");
        assert_eq!(&*page.tags, &["one".into()]);
        let soft = found(&new, "http://shop.test/soft").unwrap();
        let reuse = soft.policy.borrow().reuse(new.moment(), StaleLimits { if_error_s: 600 });
        assert!(matches!(reuse, Reuse::IfError(_)), "{reuse:?}");
    });
}

#[test]
fn i7_a_purge_on_either_side_is_in_force_on_both_when_it_returns() {
    play(async || {
        let (old, new) = (gate(|_| {}), gate(|_| {}));
        for key in ["a", "b", "c"] {
            keep(&old, &format!("http://shop.test/{key}"), "page", &[key]);
        }
        linked(&old, &new).await;
        until(|| new.cache_snapshot().pages == 3).await;
        let _ = old.purge(&Purge::Tag("a".to_owned()), false).await;
        let _ = new.purge(&Purge::Tag("b".to_owned()), false).await;
        let _ = old.outdate("http://shop.test/c".to_owned()).await;
        for gate in [&old, &new] {
            assert_eq!(gate.cache_snapshot().pages, 0);
        }
        // What is rendered from then on is handed over as well.
        keep(&old, KEY, "second", &["a"]);
        until(|| body(&new, KEY).as_deref() == Some("second")).await;
    });
}

#[test]
fn i7_a_page_that_was_sent_before_a_purge_was_known_there_is_not_taken() {
    play(async || {
        let new = gate(|_| {});
        let (mut theirs, ours) = UnixStream::pair().unwrap();
        let (link, _heard) = new.link(ours, Side::New).unwrap();
        let page = |key: &str| Page {
            key: key.to_owned(),
            head: ResponseHead::new(200, Fields::default()),
            policy: policy(&new),
            tags: vec!["one".into()],
            body: "page".into(),
        };
        theirs.flush().unwrap();
        drop(new.purge(&Purge::Tag("one".to_owned()), false));
        new.hear(&link, Heard::Page(Box::new(page(KEY))));
        assert!(found(&new, KEY).is_none(), "sent before the other side had purged");
        new.hear(&link, Heard::Done(1));
        new.hear(&link, Heard::Page(Box::new(page(KEY))));
        assert!(found(&new, KEY).is_some(), "rendered after that");
    });
}

#[test]
fn a_page_that_the_new_gateway_has_rendered_itself_stays() {
    play(async || {
        let (old, new) = (gate(|_| {}), gate(|_| {}));
        keep(&old, KEY, "old", &[]);
        sleep(Duration::from_millis(20)).await;
        keep(&new, KEY, "new", &[]);
        keep(&old, "http://shop.test/last", "last", &[]);
        linked(&old, &new).await;
        until(|| found(&new, "http://shop.test/last").is_some()).await;
        assert_eq!(body(&new, KEY).as_deref(), Some("new"));
    });
}

#[test]
fn i7_pages_of_other_rules_stay_behind_and_purges_still_go_over() {
    play(async || {
        let (old, new) = (gate(|_| {}), gate(|config| config.cache.vary_by.push("cookie:session".to_owned())));
        keep(&old, KEY, "for all", &["one"]);
        linked(&old, &new).await;
        keep(&old, "http://shop.test/later", "for all", &[]);
        keep(&new, KEY, "for one session", &["one"]);
        let _ = old.purge(&Purge::Tag("one".to_owned()), false).await;
        assert_eq!(new.cache_snapshot().pages, 0);
    });
}

#[test]
fn pages_are_stale_or_stay_behind_as_the_new_config_says() {
    play(async || {
        for (on_reload, is_expected) in [(OnReload::Stale, true), (OnReload::Drop, false)] {
            let (old, new) = (gate(|_| {}), gate(|config| config.cache.on_reload = on_reload));
            keep(&old, KEY, "old", &[]);
            linked(&old, &new).await;
            if is_expected {
                until(|| found(&new, KEY).is_some()).await;
                let reuse = found(&new, KEY).unwrap().policy.borrow().reuse(new.moment(), StaleLimits::default());
                assert!(!matches!(reuse, Reuse::Fresh(_)), "{reuse:?}");
            } else {
                old.part_from_neighbour().await;
                until(|| !new.cache.neighbour.is_there()).await;
                assert!(found(&new, KEY).is_none());
            }
        }
    });
}

#[test]
fn a_gateway_that_says_goodbye_leaves_its_pages_and_one_that_is_gone_leaves_none() {
    play(async || {
        for says_so in [true, false] {
            let (old, new) = (gate(|_| {}), gate(|_| {}));
            keep(&old, KEY, "page", &[]);
            linked(&old, &new).await;
            until(|| found(&new, KEY).is_some()).await;
            if says_so {
                old.part_from_neighbour().await;
            } else {
                old.cache.neighbour.get().unwrap().relay.cut();
            }
            until(|| !new.cache.neighbour.is_there()).await;
            assert_eq!(found(&new, KEY).is_some(), says_so);
            assert!(found(&old, KEY).is_some(), "an upgrade that fails costs no page");
        }
    });
}

#[test]
fn a_hand_over_that_turns_into_garbage_leaves_no_page() {
    play(async || {
        let new = gate(|_| {});
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let (link, heard) = new.link(ours, Side::New).unwrap();
        keep(&new, KEY, "page", &[]);
        theirs.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
        new.listen(link, heard).await;
        assert_eq!(new.cache_snapshot().pages, 0);
        // Purges do not wait for a gateway that is gone.
        let _ = new.purge(&Purge::All, false).await;
        assert!(!new.cache.neighbour.is_there());
        let _: Moment = new.moment();
    });
}
