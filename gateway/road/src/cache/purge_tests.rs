use crate::road::Road;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use sluice_cache::{Policy, Rule, StorageCandidate, storable};
use sluice_catalog::config::Config;
use sluice_journal::{Journal, Options};
use sluice_message::{Fields, Method, RequestHead, ResponseHead, Scheme};
use sluice_observe::Observer;
use tokio::sync::oneshot;
use tokio::task::LocalSet;
use tokio::time::timeout;

use super::*;
use crate::ActiveConfig;
use crate::cache::store::Object;
use crate::respond::compress::KeptBody;

const KEY: &str = "http://shop.test/a";

fn play(story: impl AsyncFnOnce()) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    LocalSet::new().block_on(&runtime, async { timeout(Duration::from_secs(60), story()).await.unwrap() });
}

fn road() -> Rc<Road> {
    let mut config = Config::default();
    config.cache.enabled = true;
    config.cache.bytes_max = 64 << 20;
    let journal = Journal::new(Options::default(), std::io::sink()).unwrap();
    let config = Rc::new(config);
    let observer = Observer::new(&config, journal);
    Road::new(ActiveConfig::read(config).unwrap(), observer).unwrap()
}

fn policy(road: &Road) -> Policy {
    let request = RequestHead {
        method: Method::Get,
        scheme: Scheme::Http,
        authority: "shop.test".to_owned(),
        path_and_query: "/a".to_owned(),
        fields: Fields::default(),
    };
    let mut fields = Fields::default();
    fields.push("Cache-Control", "public, max-age=600");
    let (response, now) = (ResponseHead::new(200, fields), road.pages.moment());
    let answered = StorageCandidate {
        request: &request,
        response: &response,
        chosen: &[],
        rule: Rule::default(),
        asked: now,
        came: now,
    };
    storable(answered).unwrap()
}

/// A page that is kept as a render would be.
fn keep(road: &Road) {
    let object = Object {
        head: ResponseHead::new(200, Fields::default()),
        body: KeptBody::new("page".into(), false),
        policy: policy(road).into(),
        tags: Vec::new(),
        born: road.pages.cache.log.since_now().number,
    };
    road.pages.cache.store.borrow_mut().put(KEY, &Fields::default(), Rc::new(object));
}

/// Purges that a successor was asked for, with those who wait for them.
type PurgeCalls = Rc<RefCell<Vec<(Purge, bool, oneshot::Sender<()>)>>>;

fn overtaken(road: &Road) -> PurgeCalls {
    let asked = PurgeCalls::default();
    let purges = Rc::clone(&asked);
    road.pages.leave_to(Rc::new(move |purge, is_soft| {
        let (done, when_done) = oneshot::channel();
        purges.borrow_mut().push((purge.clone(), is_soft, done));
        when_done
    }));
    asked
}

#[test]
fn i7_a_purge_returns_when_it_is_in_force_at_the_successor() {
    play(async || {
        let road = road();
        keep(&road);
        let asked = overtaken(&road);
        let tag = Purge::Tag("one".to_owned());
        let mut purged = [road.pages.purge(&tag, true), road.pages.outdate(KEY.to_owned())];
        let told: Vec<_> = asked.borrow().iter().map(|(purge, is_soft, _)| (purge.clone(), *is_soft)).collect();
        assert_eq!(told, [(tag, true), (Purge::Url(KEY.to_owned()), false)]);
        tokio::task::yield_now().await;
        for purged in &mut purged {
            assert!(purged.try_recv().is_err(), "it is not in force there");
        }
        for (_, _, done) in asked.take() {
            done.send(()).unwrap();
        }
        let [soft, hard] = purged;
        assert_eq!((soft.await.unwrap(), hard.await.unwrap()), (0, 1));
    });
}

#[test]
fn a_successor_that_does_not_answer_holds_a_purge_up_for_seconds_only() {
    play(async || {
        let road = road();
        let _asked = overtaken(&road);
        assert_eq!(road.pages.purge(&Purge::Url(KEY.to_owned()), false).await, Ok(0));
    });
}

#[test]
fn i7_a_gateway_whose_successor_has_failed_caches_again_and_begins_with_nothing() {
    play(async || {
        let road = road();
        // Where there was no successor, nothing is lost.
        road.pages.take_back();
        keep(&road);
        let asked = overtaken(&road);
        assert!(road.pages.cache.successor.is_there());
        road.pages.take_back();
        assert!(!road.pages.cache.successor.is_there());
        assert!(road.pages.cache.store.borrow().find(KEY, &Fields::default()).is_none());
        assert_eq!(road.pages.purge(&Purge::All, false).await, Ok(0));
        assert!(asked.borrow().is_empty());
    });
}
