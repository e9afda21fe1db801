//! Gateways over one server, in memory and on a paused clock: what they share, and what a fault of the server costs them.

mod server;

use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use sluice_cache::{Moment, Reuse, Rule, StaleLimits, StorageCandidate, storable};
use sluice_catalog::snapshot::Purge;
use sluice_message::{Fields, Method, RequestHead, ResponseHead, Scheme};
use tokio::sync::{mpsc, oneshot};
use tokio::task::LocalSet;
use tokio::time::{Instant, sleep, timeout};

use crate::thread::run;
use crate::{Address, Allowance, Answer, Position, Settings, Tier, TierEvent, ToStore};
use server::{Fault, Server};

const URL: &str = "https://a.test/page";
const TIME_MAX: Duration = Duration::from_millis(5);

/// After that a look-up is given up: real timers go off a little later.
const WAITED: Duration = Duration::from_millis(3);

/// A gateway, as far as the tier knows it.
struct Gateway {
    tier: Tier,
    heard: mpsc::Receiver<TierEvent>,
    began: Instant,
    _stopped: oneshot::Receiver<()>,
}

/// Plays a story. No story takes longer than an hour; one that does hangs.
fn play(story: impl AsyncFnOnce(Rc<Server>)) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    LocalSet::new().block_on(&runtime, async {
        let told = timeout(Duration::from_secs(3600), story(Server::new())).await;
        assert!(told.is_ok(), "the story has no end");
    });
}

fn fields(lines: &[(&str, &str)]) -> Fields {
    lines.iter().map(|(name, value)| (*name, value.as_bytes())).collect()
}

impl Gateway {
    /// One that is connected.
    async fn at(server: &Rc<Server>) -> Self {
        let mut gateway = Self::beginning(server);
        assert_eq!(gateway.next().await, TierEvent::Up);
        gateway
    }

    fn beginning(server: &Rc<Server>) -> Self {
        let settings = Settings {
            address: Address::parse("redis://server", None).unwrap(),
            prefix: "sluice:".to_owned(),
            time_max: TIME_MAX,
            page_bytes_max: 100_000,
        };
        let (tier, heard, ends, stopped) = Tier::new(&settings);
        let server = Rc::clone(server);
        tokio::task::spawn_local(run(settings, ends, async move || server.connect()));
        Gateway { tier, heard, began: Instant::now(), _stopped: stopped }
    }

    /// What it is told next, in force as the gateway would put it.
    async fn next(&mut self) -> TierEvent {
        let heard = self.heard.recv().await.unwrap();
        match heard {
            TierEvent::Up => self.tier.came_up(),
            TierEvent::Down(_) => self.tier.went_down(),
            _ => {}
        }
        heard
    }

    async fn until(&mut self, wanted: impl Fn(&TierEvent) -> bool) -> Vec<TierEvent> {
        let mut heard = vec![self.next().await];
        while !wanted(&heard[heard.len() - 1]) {
            heard.push(self.next().await);
        }
        heard
    }

    fn now(&self) -> Moment {
        let steady_ms = u64::try_from(self.began.elapsed().as_millis()).unwrap();
        Moment { wall_s: 784_111_777, steady_ms: 1_000 + steady_ms }
    }

    async fn look_up(&self, request: &[(&str, &str)]) -> Answer {
        self.tier.look_up(URL, &fields(request), self.now()).await
    }

    /// The body that it finds, and its age.
    async fn found(&self, request: &[(&str, &str)]) -> Option<(String, u64)> {
        match self.look_up(request).await {
            Answer::Page(page, _) => {
                Some((String::from_utf8(page.body.to_vec()).unwrap(), page.policy.age_s(self.now())))
            }
            Answer::Nothing(_) | Answer::Away => None,
        }
    }

    async fn position(&self) -> Position {
        match self.look_up(&[]).await {
            Answer::Page(_, Some(position)) | Answer::Nothing(Some(position)) => position,
            other => panic!("{other:?}"),
        }
    }

    fn store(&self, position: Position, request: &[(&str, &str)], answer: &[(&str, &str)], body: &str) {
        let request = RequestHead {
            method: Method::Get,
            scheme: Scheme::Https,
            authority: "a.test".to_owned(),
            path_and_query: "/page".to_owned(),
            fields: fields(request),
        };
        let head = ResponseHead::new(200, fields(answer));
        let answered = StorageCandidate {
            request: &request,
            response: &head,
            chosen: &[],
            rule: Rule::default(),
            asked: self.now(),
            came: self.now(),
        };
        let policy = storable(answered).unwrap();
        self.tier.store(ToStore {
            url: URL.to_owned(),
            head,
            policy,
            tags: vec!["one".into(), "two".into()],
            body: Bytes::copy_from_slice(body.as_bytes()),
            useful_s: 60,
            position,
            now: self.now(),
        });
    }

    /// Stores a page that is rendered now, and waits until it is there.
    async fn has(&self, body: &str) {
        let written = self.tier.counts().written.get();
        self.store(self.position().await, &[], &[("Cache-Control", "s-maxage=60, stale-while-revalidate=30")], body);
        while self.tier.counts().written.get() == written {
            sleep(Duration::from_millis(1)).await;
        }
    }

    /// How long a look-up takes that finds nothing.
    async fn waits(&self) -> Duration {
        let asked = Instant::now();
        assert!(matches!(self.look_up(&[]).await, Answer::Away));
        asked.elapsed()
    }
}

fn tag(name: &str) -> Purge {
    Purge::Tag(name.to_owned())
}

fn is_down(heard: &TierEvent) -> bool {
    matches!(heard, TierEvent::Down(_))
}

#[test]
fn a_page_that_one_gateway_stores_is_found_by_another_with_its_true_age() {
    play(async |server| {
        let (a, b) = (Gateway::at(&server).await, Gateway::at(&server).await);
        assert_eq!(b.found(&[]).await, None);
        a.has("page").await;
        assert_eq!(b.found(&[]).await, Some(("page".to_owned(), 0)));
        sleep(Duration::from_secs(7)).await;
        assert_eq!(b.found(&[]).await, Some(("page".to_owned(), 7)));
        assert!(matches!(
            b.tier.look_up("https://a.test/other", &fields(&[]), b.now()).await,
            Answer::Nothing(Some(_))
        ));
        assert_eq!([b.tier.counts().hits.get(), b.tier.counts().misses.get()], [2, 2]);
    });
}

#[test]
fn each_variant_is_found_by_its_own_requests() {
    play(async |server| {
        let (a, b) = (Gateway::at(&server).await, Gateway::at(&server).await);
        let answer = [("Cache-Control", "s-maxage=60"), ("Vary", "X-Lang")];
        for lang in ["de", "fr"] {
            a.store(a.position().await, &[("X-Lang", lang)], &answer, lang);
        }
        sleep(Duration::from_millis(1)).await;
        for lang in ["de", "fr"] {
            assert_eq!(b.found(&[("x-lang", lang), ("Cookie", "a=1")]).await, Some((lang.to_owned(), 0)));
        }
        assert_eq!(b.found(&[("X-Lang", "en")]).await, None);
        assert_eq!(b.found(&[]).await, None);
    });
}

#[test]
fn a_purge_reaches_the_other_gateway_and_what_is_stored() {
    play(async |server| {
        let (a, mut b) = (Gateway::at(&server).await, Gateway::at(&server).await);
        for (purge, is_soft) in [
            (tag("two"), false),
            (Purge::Url(URL.to_owned()), false),
            (Purge::Prefix("https://a.test/p".to_owned()), false),
            (Purge::All, false),
            (tag("one"), true),
        ] {
            a.has("page").await;
            assert!(b.found(&[]).await.is_some());
            a.tier.purge(&purge, is_soft);
            // From the moment when it is made, whatever the server knows of it.
            match a.look_up(&[]).await {
                Answer::Page(page, _) if is_soft => {
                    let reuse = page.policy.reuse(a.now(), StaleLimits::default());
                    assert_eq!(reuse, Reuse::WhileRevalidating(0));
                }
                Answer::Nothing(_) if !is_soft => {}
                other => panic!("{purge:?}: {other:?}"),
            }
            assert_eq!(b.next().await, TierEvent::Purge(purge.clone(), is_soft));
            assert_eq!(b.found(&[]).await.is_some(), is_soft, "{purge:?}");
        }
        a.tier.purge(&tag("three"), false);
        assert_eq!(b.next().await, TierEvent::Purge(tag("three"), false));
        assert!(b.found(&[]).await.is_some(), "another page's");
    });
}

#[test]
fn a_render_that_began_before_a_purge_brings_nothing_back() {
    play(async |server| {
        let (a, mut b) = (Gateway::at(&server).await, Gateway::at(&server).await);
        let before = a.position().await;
        b.tier.purge(&tag("one"), false);
        sleep(Duration::from_millis(1)).await;
        a.store(before, &[], &[("Cache-Control", "s-maxage=60")], "old");
        sleep(Duration::from_millis(1)).await;
        assert_eq!(a.tier.counts().written.get(), 1);
        assert_eq!([a.found(&[]).await, b.found(&[]).await], [None, None]);
        a.has("new").await;
        assert_eq!(b.found(&[]).await, Some(("new".to_owned(), 0)));
        assert!(b.heard.try_recv().is_err(), "its own purges are not told to it");
    });
}

#[test]
fn a_server_that_is_stopped_or_slow_costs_five_requests_their_time_limit_and_the_others_nothing() {
    for fault in [Fault::Silent, Fault::Slow(Duration::from_millis(50))] {
        play(async move |server| {
            let mut a = Gateway::at(&server).await;
            a.has("page").await;
            server.fail(fault);
            for _ in 0..5 {
                assert_eq!(a.waits().await, WAITED, "{fault:?}");
            }
            assert!(is_down(&a.next().await));
            for _ in 0..100 {
                assert_eq!(a.waits().await, Duration::ZERO, "{fault:?}");
                sleep(Duration::from_millis(100)).await;
            }
            assert_eq!(a.tier.counts().timeouts.get(), 5);
            while let Ok(heard) = a.heard.try_recv() {
                assert_ne!(heard, TierEvent::Up, "{fault:?}: it answers no sooner");
            }
            server.fail(Fault::None);
            a.until(|heard| *heard == TierEvent::Up).await;
            assert!(a.found(&[]).await.is_some(), "{fault:?}");
        });
    }
}

#[test]
fn a_server_that_is_slow_again_and_again_is_tried_less_often() {
    play(async |server| {
        let mut a = Gateway::at(&server).await;
        let mut waits = Vec::new();
        for _ in 0..4 {
            server.fail(Fault::Slow(Duration::from_millis(50)));
            while a.tier.is_up() {
                a.waits().await;
            }
            server.fail(Fault::None);
            let down = Instant::now();
            a.until(|heard| *heard == TierEvent::Up).await;
            waits.push(down.elapsed().as_secs());
        }
        assert!(waits.is_sorted() && waits[3] >= 4 * waits[0].max(1), "{waits:?}");
    });
}

#[test]
fn garbage_half_an_answer_and_a_dead_server_are_noticed_without_a_request_and_got_over() {
    for fault in [Fault::Garbage, Fault::Half, Fault::Dead] {
        play(async move |server| {
            let mut a = Gateway::at(&server).await;
            a.has("page").await;
            server.fail(fault);
            a.until(is_down).await;
            assert_eq!(a.waits().await, Duration::ZERO, "{fault:?}");
            sleep(Duration::from_secs(60)).await;
            server.fail(Fault::None);
            a.until(|heard| *heard == TierEvent::Up).await;
            assert!(a.found(&[]).await.is_some(), "{fault:?}");
        });
    }
}

#[test]
fn a_damaged_page_is_none_and_gives_way_to_the_next_one() {
    play(async |server| {
        let a = Gateway::at(&server).await;
        a.has("page").await;
        server.damage_pages();
        assert_eq!(a.found(&[]).await, None);
        assert_eq!(a.tier.counts().errors.get(), 1);
        assert!(a.tier.is_up());
        a.has("new").await;
        assert_eq!(a.found(&[]).await, Some(("new".to_owned(), 0)));
    });
}

#[test]
fn a_gateway_that_was_away_during_a_purge_hears_of_it_when_it_is_back() {
    play(async |server| {
        let (a, mut b) = (Gateway::at(&server).await, Gateway::at(&server).await);
        a.has("page").await;
        server.keep_out(1);
        b.until(is_down).await;
        a.tier.purge(&tag("one"), false);
        sleep(Duration::from_secs(600)).await;
        server.keep_out(0);
        let heard = b.until(|heard| *heard == TierEvent::Up).await;
        let heard: Vec<_> = heard.into_iter().filter(|heard| !is_down(heard)).collect();
        assert_eq!(heard, [TierEvent::Purge(tag("one"), false), TierEvent::Up], "before it may look up anything");
        assert_eq!(b.found(&[]).await, None);
    });
}

#[test]
fn what_is_purged_while_the_server_is_away_is_told_when_it_is_back() {
    play(async |server| {
        let (mut a, mut b) = (Gateway::at(&server).await, Gateway::at(&server).await);
        a.has("page").await;
        server.fail(Fault::Dead);
        a.until(is_down).await;
        a.tier.purge(&tag("one"), false);
        sleep(Duration::from_secs(60)).await;
        server.fail(Fault::None);
        b.until(|heard| *heard == TierEvent::Purge(tag("one"), false)).await;
        a.until(|heard| *heard == TierEvent::Up).await;
        assert_eq!(a.found(&[]).await, None);
    });
}

#[test]
fn a_server_that_has_lost_everything_says_that_purges_may_have_been_missed() {
    play(async |server| {
        let mut a = Gateway::at(&server).await;
        a.has("page").await;
        server.fail(Fault::Dead);
        a.until(is_down).await;
        server.empty();
        server.fail(Fault::None);
        let heard = a.until(|heard| *heard == TierEvent::Up).await;
        assert!(heard.contains(&TierEvent::Lost), "{heard:?}");
        assert_eq!(a.found(&[]).await, None);
        a.has("new").await;
        assert!(a.found(&[]).await.is_some());
    });
}

#[test]
fn a_log_that_somebody_deletes_is_begun_anew_and_nothing_from_before_is_used() {
    play(async |server| {
        let mut a = Gateway::at(&server).await;
        a.has("page").await;
        server.delete_log();
        let heard = a.until(|heard| *heard == TierEvent::Up).await;
        assert!(heard.contains(&TierEvent::Lost), "{heard:?}");
        assert_eq!(a.found(&[]).await, None, "it is of another log");
    });
}

#[test]
fn a_server_without_memory_refuses_pages_and_purges_wait_for_room() {
    play(async |server| {
        let (mut a, mut b) = (Gateway::at(&server).await, Gateway::at(&server).await);
        a.has("page").await;
        server.fail(Fault::Full);
        let position = a.position().await;
        for _ in 0..3 {
            a.store(position, &[], &[("Cache-Control", "s-maxage=60")], "new");
        }
        assert!(matches!(a.next().await, TierEvent::Refuses(Some(why)) if why.starts_with("OOM")));
        assert!(a.found(&[]).await.is_some(), "it still gives what it has");
        a.tier.purge(&tag("one"), false);
        assert_eq!(a.found(&[]).await, None);
        sleep(Duration::from_secs(3)).await;
        server.fail(Fault::None);
        assert_eq!(b.next().await, TierEvent::Purge(tag("one"), false));
        assert_eq!(a.tier.counts().refused.get(), 3);
        a.has("newer").await;
        assert_eq!(a.next().await, TierEvent::Refuses(None));
        assert_eq!(b.found(&[]).await, Some(("newer".to_owned(), 0)));
    });
}

#[test]
fn a_purge_that_a_full_server_never_takes_makes_everything_stale_for_all() {
    play(async |server| {
        let (a, mut b) = (Gateway::at(&server).await, Gateway::at(&server).await);
        a.has("page").await;
        server.fail(Fault::Full);
        a.tier.purge(&tag("one"), false);
        b.until(is_down).await;
        assert_eq!(b.waits().await, Duration::ZERO);
        sleep(Duration::from_secs(60)).await;
        server.fail(Fault::None);
        let heard = b.until(|heard| *heard == TierEvent::Purge(tag("one"), false)).await;
        assert!(heard.contains(&TierEvent::Lost), "{heard:?}");
        assert_eq!(b.found(&[]).await, None);
    });
}

#[test]
fn pages_from_before_the_servers_clock_was_set_back_are_not_used_again() {
    play(async |server| {
        let a = Gateway::at(&server).await;
        a.has("page").await;
        server.set_clock_back(Duration::from_secs(1800));
        assert_eq!(a.found(&[]).await, None, "it is from the future");
        // By the server's clock it has just been stored then, and is half an hour old in truth.
        sleep(Duration::from_secs(1800)).await;
        assert_eq!(a.found(&[]).await, None);
        a.has("new").await;
        assert!(a.found(&[]).await.is_some());
    });
    play(async |server| {
        Gateway::at(&server).await.has("page").await;
        server.set_clock_back(Duration::from_secs(1800));
        let late = Gateway::at(&server).await;
        sleep(Duration::from_secs(1800)).await;
        assert_eq!(late.found(&[]).await, None, "nobody was there when it was set back");
    });
}

#[test]
fn pages_that_wait_to_be_written_have_a_bound_and_large_ones_are_left_out() {
    play(async |server| {
        let a = Gateway::at(&server).await;
        let position = a.position().await;
        server.fail(Fault::Silent);
        let answer = [("Cache-Control", "s-maxage=60")];
        for _ in 0..300 {
            a.store(position, &[], &answer, "page");
        }
        assert_eq!(a.tier.counts().dropped.get(), 300 - 256);
        a.store(position, &[], &answer, &"x".repeat(100_001));
        assert_eq!(a.tier.counts().dropped.get(), 300 - 256, "it is not counted as dropped: it was never to be stored");
    });
}

/// Two requests at once, then one a second.
fn allowance(name: &str) -> Vec<Allowance> {
    vec![Allowance { name: name.to_owned(), interval_us: 1_000_000, tolerance_us: 1_000_000 }]
}

#[test]
fn gateways_charge_an_allowance_together_and_the_server_may_forget_the_script() {
    play(async |server| {
        let (one, two) = (Gateway::at(&server).await, Gateway::at(&server).await);
        assert_eq!(one.tier.charge(allowance("a")).await, Some(0));
        assert_eq!(two.tier.charge(allowance("a")).await, Some(0));
        let wait_us = one.tier.charge(allowance("a")).await.unwrap();
        assert!((900_000..=1_000_000).contains(&wait_us), "{wait_us}");
        assert_eq!(two.tier.charge(allowance("b")).await, Some(0), "another client");
        sleep(Duration::from_micros(wait_us) + Duration::from_millis(1)).await;
        server.empty();
        assert_eq!(two.tier.charge(allowance("a")).await, Some(0));
    });
}

#[test]
fn clock_that_was_set_back_refuses_nobody_for_longer_than_a_burst_takes() {
    play(async |server| {
        let gateway = Gateway::at(&server).await;
        assert_eq!(gateway.tier.charge(allowance("a")).await, Some(0));
        server.set_clock_back(Duration::from_secs(3600));
        let wait_us = gateway.tier.charge(allowance("a")).await.unwrap();
        assert!(wait_us <= 1_000_000, "{wait_us}");
    });
}

#[test]
fn charges_end_with_their_time_limit_and_then_nobody_asks() {
    play(async |server| {
        let mut gateway = Gateway::at(&server).await;
        server.fail(Fault::Silent);
        for _ in 0..5 {
            let asked = Instant::now();
            assert_eq!(gateway.tier.charge(allowance("a")).await, None);
            assert!(asked.elapsed() <= TIME_MAX, "{:?}", asked.elapsed());
        }
        gateway.until(|event| matches!(event, TierEvent::Down(_))).await;
        let asked = Instant::now();
        assert_eq!(gateway.tier.charge(allowance("a")).await, None);
        assert_eq!(asked.elapsed(), Duration::ZERO);
        server.fail(Fault::None);
        gateway.until(|event| *event == TierEvent::Up).await;
        assert!(gateway.tier.charge(allowance("a")).await.is_some());
    });
}

#[test]
fn garbage_for_a_charge_is_no_answer() {
    play(async |server| {
        let gateway = Gateway::at(&server).await;
        server.fail(Fault::Garbage);
        assert_eq!(gateway.tier.charge(allowance("a")).await, None);
    });
}
