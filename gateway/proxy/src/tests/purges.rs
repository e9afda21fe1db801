//! Purges of pages: what they mean, what they leave, and renders that are under way.

use sluice_catalog::config::Config;
use sluice_catalog::snapshot::Purge;
use tokio::sync::oneshot;

use super::client::Client;
use super::worker::{Call, MARK, Worker};
use super::world::{World, play_with};

fn on(config: &mut Config) {
    config.cache.enabled = true;
}

fn tag(name: &str) -> Purge {
    Purge::Tag(name.to_owned())
}

/// The end of an answer.
fn body_of(answer: &str) -> &str {
    answer.rsplit(", ").next().unwrap_or_default()
}

/// Writes the head of a page for all, with further fields.
async fn begin(call: &mut Call, fields: &str, size: &str) {
    call.write(&format!("HTTP/1.1 200 OK\r\n{MARK}Cache-Control: s-maxage=60\r\n{fields}{size}\r\n\r\n")).await;
}

/// Has a page rendered and kept, and says what the client got.
async fn kept(client: &mut Client, worker: &Worker, target: &str, fields: &str, body: &str) -> String {
    client.get(target).await;
    let mut call = worker.call().await;
    begin(&mut call, fields, &format!("Content-Length: {}", body.len())).await;
    call.write(body).await;
    call.report();
    client.answer().await
}

/// What a client gets that asks now; nothing where a worker would have to be asked.
async fn cached(world: &World, target: &str) -> Option<String> {
    let mut client = world.client();
    client.get(target).await;
    world.settle().await;
    let (_, fields) = client.head_within(1).await?;
    let status = String::from_utf8(fields.get("cache-status")?.to_vec()).ok()?;
    status.contains("hit").then_some(status)
}

async fn purged(mut receiver: oneshot::Receiver<u64>, world: &World) -> u64 {
    world.settle().await;
    receiver.try_recv().expect("the purge is done")
}

#[test]
fn purges_drop_what_they_mean_and_nothing_else() {
    play_with(on, async |world| {
        let worker = world.worker().await;
        let mut client = world.client();
        for (target, fields) in [
            ("/a", "Cache-Tag: one, two\r\n"),
            ("/b", "Surrogate-Key: two\r\n"),
            ("/b/c?y=1&x=2", ""),
            ("/d", "x-sluice-tags: part%201\r\n"),
        ] {
            let got = kept(&mut client, &worker, target, fields, "page").await;
            assert_eq!(got, "HTTP/1.1 200 OK, Cache-Status: Sluice; fwd=uri-miss; ttl=60; stored, page");
        }
        for (purge, count) in [
            (tag("none"), 0),
            (Purge::Url("http://app.test/b/".to_owned()), 0),
            (Purge::Prefix("https://app.test/".to_owned()), 0),
            (tag("one"), 1),
            (Purge::Url("/b/c?x=2&y=1".to_owned()), 1),
            (tag("part 1"), 1),
            (Purge::Prefix("/".to_owned()), 1),
        ] {
            assert_eq!(purged(world.gate.road.pages.purge(&purge, false), &world).await, count, "{purge:?}");
        }
        assert_eq!(world.gate.road.pages.snapshot().pages, 0);
    });
}

#[test]
fn a_soft_purge_leaves_pages_as_stale_ones() {
    play_with(on, async |world| {
        let worker = world.worker().await;
        let mut client = world.client();
        kept(&mut client, &worker, "/a", "Cache-Control: stale-while-revalidate=9\r\nCache-Tag: one\r\n", "page").await;
        assert_eq!(purged(world.gate.road.pages.purge(&tag("one"), true), &world).await, 1);
        assert_eq!(cached(&world, "/a").await.unwrap(), "Sluice; hit; ttl=0; detail=revalidating");
    });
}

#[test]
fn a_render_is_kept_although_another_tag_is_purged_meanwhile_and_not_if_its_own_is() {
    for (name, is_kept) in [("one", false), ("late", false), ("other", true)] {
        play_with(on, async |world| {
            let worker = world.worker().await;
            let mut first = world.client();
            first.get("/a").await;
            let mut call = worker.call().await;
            drop(world.gate.road.pages.purge(&tag(name), false));
            begin(&mut call, "Cache-Tag: one\r\nx-sluice-tags: +\r\n", "Transfer-Encoding: chunked").await;
            call.write("4\r\npage\r\n0\r\nx-sluice-tags: late\r\n\r\n").await;
            call.report();
            let (_, fields) = first.head().await;
            assert_eq!(first.take(14).await, b"4\r\npage\r\n0\r\n\r\n", "the tags are not for clients");
            assert_eq!(fields.get("x-sluice-tags"), None);
            world.settle().await;
            assert_eq!(cached(&world, "/a").await.is_some(), is_kept, "{name}");
        });
    }
}

#[test]
fn who_asks_after_a_purge_does_not_get_a_render_from_before_it() {
    for (name, is_joined) in [("one", false), ("other", true)] {
        play_with(on, async |world| {
            let worker = world.worker().await;
            let (mut first, mut second) = (world.client(), world.client());
            first.get("/a").await;
            let mut call = worker.call().await;
            drop(world.gate.road.pages.purge(&tag(name), false));
            second.get("/a").await;
            world.settle().await;
            begin(&mut call, "Cache-Tag: one\r\n", "Content-Length: 3").await;
            call.write("old").await;
            call.report();
            assert_eq!(body_of(&first.answer().await), "old");
            if !is_joined {
                let mut call = call.next().await.expect("the second client's");
                begin(&mut call, "Cache-Tag: one\r\n", "Content-Length: 3").await;
                call.write("new").await;
            }
            assert_eq!(body_of(&second.answer().await), if is_joined { "old" } else { "new" });
        });
    }
}

#[test]
fn a_purge_of_many_pages_is_in_force_at_once_and_takes_the_thread_in_slices() {
    play_with(on, async |world| {
        let worker = world.worker().await;
        let mut client = world.client();
        for at in 0..600 {
            kept(&mut client, &worker, &format!("/{at}"), "Cache-Tag: all\r\n", "page").await;
        }
        let mut purge = world.gate.road.pages.purge(&tag("all"), false);
        let left = world.gate.road.pages.snapshot().pages;
        assert!(left > 300, "{left}: the rest is dropped later");
        assert!(purge.try_recv().is_err());
        assert!(world.gate.road.pages.kept("/599").is_empty() && world.gate.road.pages.kept("/0").is_empty());
        kept(&mut client, &worker, "/999", "Cache-Tag: all\r\n", "new").await;
        assert_eq!(purged(purge, &world).await, 600);
        assert_eq!(world.gate.road.pages.snapshot().pages, 1, "what is rendered after it stays");
        assert!(cached(&world, "/999").await.is_some());
    });
}

#[test]
fn parts_that_workers_keep_are_purged_before_the_purge_is_done_and_no_page_that_has_an_old_one_stays() {
    play_with(on, async |world| {
        let worker = world.worker().await;
        let (done, receiver) = oneshot::channel();
        let receiver = std::cell::Cell::new(Some(receiver));
        *world.gate.road.pages.parts_purger.borrow_mut() =
            Some(std::rc::Rc::new(move |_: &Purge| receiver.take().into_iter().collect()));
        let mut purge = world.gate.road.pages.purge(&tag("one"), false);
        let mut client = world.client();
        kept(&mut client, &worker, "/a", "Cache-Tag: one\r\n", "with an old part").await;
        world.settle().await;
        assert!(purge.try_recv().is_err());
        done.send(()).unwrap();
        assert_eq!(purged(purge, &world).await, 1);
        assert!(world.gate.road.pages.kept("/a").is_empty());
    });
}

#[test]
fn a_worker_that_never_purges_its_parts_holds_nobody_up() {
    play_with(on, async |world| {
        let (done, receiver) = oneshot::channel::<()>();
        let receiver = std::cell::Cell::new(Some(receiver));
        *world.gate.road.pages.parts_purger.borrow_mut() =
            Some(std::rc::Rc::new(move |_: &Purge| receiver.take().into_iter().collect()));
        let mut purge = world.gate.road.pages.purge(&Purge::All, false);
        world.pass(5_100).await;
        assert_eq!(purge.try_recv(), Ok(0));
        drop(done);
    });
}

#[test]
fn i7_the_host_from_a_trusted_proxy_distinguishes_pages() {
    let trusting = |config: &mut Config| {
        on(config);
        config.server.trusted_peers = vec!["0.0.0.0/0".to_owned(), "::/0".to_owned()];
    };
    play_with(trusting, async |world| {
        let worker = world.worker().await;
        let ask = |host: &str| format!("GET /a HTTP/1.1\r\nHost: app.test\r\nX-Forwarded-Host: {host}\r\n\r\n");
        let mut client = world.client();
        for body in ["shop", "evil"] {
            client.send(&ask(&format!("{body}.example"))).await;
            let mut call = worker.call().await;
            assert!(call.head.contains(&format!("X-Forwarded-Host: {body}.example")), "{}", call.head);
            begin(&mut call, "", "Content-Length: 4").await;
            call.write(body).await;
            call.report();
            assert_eq!(body_of(&client.answer().await), body);
        }
        client.send(&ask("Shop.example")).await;
        assert_eq!(body_of(&client.answer().await), "shop");
        assert_eq!(world.gate.road.pages.kept("http://shop.example/a").len(), 1);
        assert_eq!(purged(world.gate.road.pages.purge(&Purge::Url("/a".to_owned()), false), &world).await, 2);
    });
}
