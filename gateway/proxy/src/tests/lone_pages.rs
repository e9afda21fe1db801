//! Answers for one visitor alone between those that are for all: nobody waits for them, and no page goes or stays away for them.

use sluice_catalog::config::Config;
use sluice_journal::CacheUse;

use super::client::Client;
use super::worker::{Call, MARK, Worker};
use super::world::{World, play_with};

fn on(config: &mut Config) {
    config.cache.enabled = true;
}

const KEPT: &str = "Cache-Control: public, max-age=60\r\n";
/// Answers for one visitor, each by a status and fields.
const ALONE: [(&str, &str); 6] = [
    ("200 OK", "Cache-Control: private\r\n"),
    ("200 OK", "Cache-Control: no-store\r\n"),
    ("200 OK", "Cache-Control: public, max-age=60\r\nSet-Cookie: visit=1\r\n"),
    ("200 OK", ""),
    ("302 Found", "Location: /de/\r\n"),
    ("404 Not Found", ""),
];

async fn answer(call: &mut Call, status: &str, fields: &str, body: &str) {
    let length = body.len();
    call.write(&format!("HTTP/1.1 {status}\r\n{MARK}{fields}Content-Length: {length}\r\n\r\n{body}")).await;
    call.report();
}

/// A client that has asked for the page.
async fn asking(world: &World, fields: &str) -> Client {
    let mut client = world.client();
    client.send(&format!("GET /page HTTP/1.1\r\nHost: app.test\r\n{fields}\r\n")).await;
    world.settle().await;
    client
}

/// The worker's next request, on whichever connection.
async fn next(worker: &Worker, call: Call) -> Call {
    tokio::select! {
        Some(call) = call.next() => call,
        call = worker.call() => call,
    }
}

/// The next request at any of them.
async fn any(workers: &[Worker]) -> Call {
    let calls = workers.iter().map(|worker| Box::pin(worker.call()));
    futures_any(calls.collect()).await
}

async fn futures_any<F: Future<Output = Call> + Unpin>(mut calls: Vec<F>) -> Call {
    std::future::poll_fn(|context| {
        let ready = calls.iter_mut().find_map(|call| match std::pin::Pin::new(call).poll(context) {
            std::task::Poll::Ready(call) => Some(call),
            std::task::Poll::Pending => None,
        });
        ready.map_or(std::task::Poll::Pending, std::task::Poll::Ready)
    })
    .await
}

async fn got(client: &mut Client) -> String {
    client.answer().await.rsplit(", ").next().unwrap_or_default().to_owned()
}

#[test]
fn the_next_answer_that_may_be_kept_is_kept_whatever_came_before() {
    for (status, fields) in ALONE {
        play_with(on, async |world| {
            let worker = world.worker().await;
            let mut alone = asking(&world, "").await;
            let mut call = worker.call().await;
            answer(&mut call, status, fields, "mine").await;
            assert_eq!(got(&mut alone).await, "mine", "{fields}");
            let mut second = asking(&world, "").await;
            let mut call = next(&worker, call).await;
            answer(&mut call, status, fields, "mine as well").await;
            let answered = second.answer().await;
            assert!(answered.contains("Sluice; fwd=bypass") && answered.ends_with("mine as well"), "{answered}");
            let mut third = asking(&world, "").await;
            let mut call = next(&worker, call).await;
            answer(&mut call, "200 OK", KEPT, "page").await;
            assert_eq!(got(&mut third).await, "page");
            let mut fourth = asking(&world, "").await;
            let answered = fourth.answer().await;
            assert!(answered.contains("Sluice; hit") && answered.ends_with(", page"), "{fields}: {answered}");
            assert_eq!(world.gate.road.pages.cache.counts.of(CacheUse::Bypass), 1);
        });
    }
}

#[test]
fn i7_no_client_waits_for_the_render_of_a_private_page_and_each_gets_its_own() {
    play_with(on, async |world| {
        world.gate.dispatch.scale(3);
        let workers = [world.worker().await, world.worker().await, world.worker().await];
        let mut first = asking(&world, "").await;
        let (mut second, mut third) = (asking(&world, "").await, asking(&world, "").await);
        let mut call = any(&workers).await;
        answer(&mut call, "200 OK", "Cache-Control: private\r\nConnection: close\r\n", "one").await;
        assert_eq!(got(&mut first).await, "one");
        // Both that waited are rendered side by side.
        let (mut one, mut other) = (any(&workers).await, any(&workers).await);
        answer(&mut other, "200 OK", "Cache-Control: private\r\n", "other").await;
        answer(&mut one, "200 OK", "Cache-Control: private\r\n", "another").await;
        let mut both = [got(&mut second).await, got(&mut third).await];
        both.sort();
        assert_eq!(both, ["another", "other"]);
    });
}

#[test]
fn a_render_for_one_that_turns_out_to_be_for_all_takes_in_who_comes_then() {
    play_with(on, async |world| {
        world.gate.dispatch.scale(2);
        let workers = [world.worker().await, world.worker().await];
        let mut alone = asking(&world, "").await;
        let mut call = any(&workers).await;
        answer(&mut call, "200 OK", "Cache-Control: private\r\nConnection: close\r\n", "mine").await;
        alone.answer().await;
        let mut second = asking(&world, "").await;
        let mut call = any(&workers).await;
        call.write(&format!("HTTP/1.1 200 OK\r\n{KEPT}{MARK}Content-Length: 8\r\n\r\none ")).await;
        second.head().await;
        let mut joined = asking(&world, "").await;
        assert!(joined.head().await.1.get("cache-status").is_some_and(|status| status.ends_with(b"collapsed")));
        call.write("two ").await;
        call.report();
        assert_eq!(joined.take(8).await, b"one two ");
    });
}

#[test]
fn a_kept_page_stays_where_another_kind_of_visitor_is_answered_alone() {
    for (status, fields) in ALONE {
        play_with(on, async |world| {
            let worker = world.worker().await;
            let mut client = asking(&world, "X-Lang: de\r\n").await;
            let mut call = worker.call().await;
            answer(&mut call, "200 OK", &format!("{KEPT}Vary: X-Lang\r\n"), "de").await;
            client.answer().await;
            let mut other = asking(&world, "X-Lang: en\r\n").await;
            let mut call = next(&worker, call).await;
            answer(&mut call, status, fields, "mine").await;
            assert_eq!(got(&mut other).await, "mine");
            let mut client = asking(&world, "X-Lang: de\r\n").await;
            let answered = client.answer().await;
            assert!(answered.contains("Sluice; hit") && answered.ends_with(", de"), "{status} {fields}: {answered}");
        });
    }
}

const STALE: &str = "Cache-Control: public, max-age=1, stale-while-revalidate=600\r\nVary: X-Lang\r\n";

#[test]
fn i7_a_page_that_is_private_when_renewed_is_removed_and_its_other_variants_stay() {
    play_with(on, async |world| {
        let worker = world.worker().await;
        let mut client = asking(&world, "X-Lang: de\r\n").await;
        let mut call = worker.call().await;
        answer(&mut call, "200 OK", STALE, "de").await;
        client.answer().await;
        let mut client = asking(&world, "X-Lang: en\r\n").await;
        let mut call = next(&worker, call).await;
        answer(&mut call, "200 OK", &format!("{KEPT}Vary: X-Lang\r\n"), "en").await;
        client.answer().await;
        world.pass(2000).await;
        let mut client = asking(&world, "X-Lang: de\r\n").await;
        assert!(client.answer().await.ends_with("revalidating, de"));
        let mut call = next(&worker, call).await;
        answer(&mut call, "200 OK", "Cache-Control: private\r\n", "secret").await;
        world.settle().await;
        let mut client = asking(&world, "X-Lang: en\r\n").await;
        assert!(client.answer().await.contains("Sluice; hit"));
        let mut client = asking(&world, "X-Lang: de\r\n").await;
        let mut call = next(&worker, call).await;
        answer(&mut call, "200 OK", STALE, "new").await;
        assert_eq!(got(&mut client).await, "new");
    });
}

#[test]
fn a_stale_page_stays_where_its_renewal_says_something_of_the_visitor_alone() {
    for (status, fields) in [
        ("200 OK", "Cache-Control: public, max-age=60\r\nSet-Cookie: visit=1\r\n"),
        ("302 Found", "Location: /de/\r\n"),
        ("404 Not Found", ""),
        ("503 Service Unavailable", ""),
    ] {
        play_with(on, async |world| {
            let worker = world.worker().await;
            let mut client = asking(&world, "").await;
            let mut call = worker.call().await;
            answer(&mut call, "200 OK", STALE, "page").await;
            client.answer().await;
            world.pass(2000).await;
            for _ in 0..2 {
                let mut client = asking(&world, "").await;
                assert!(client.answer().await.ends_with("revalidating, page"), "{status}");
                call = next(&worker, call).await;
                answer(&mut call, status, fields, "mine").await;
                world.settle().await;
            }
            let mut client = asking(&world, "").await;
            client.answer().await;
            let mut call = next(&worker, call).await;
            answer(&mut call, "200 OK", STALE, "new").await;
            world.settle().await;
            let mut client = asking(&world, "").await;
            assert!(client.answer().await.ends_with(", new"), "{status}");
        });
    }
}

#[test]
fn what_a_client_asks_besides_reaches_the_app_where_its_page_is_for_it_alone_and_is_kept_for_nobody() {
    play_with(on, async |world| {
        let worker = world.worker().await;
        let mut alone = asking(&world, "").await;
        let mut call = worker.call().await;
        answer(&mut call, "200 OK", "Cache-Control: private\r\n", "mine").await;
        alone.answer().await;
        let mut asks = asking(&world, "X-Scheme: evil\r\nIf-None-Match: \"1\"\r\n").await;
        let mut call = next(&worker, call).await;
        assert!(call.head.contains("X-Scheme: evil\r\n") && call.head.contains("If-None-Match: \"1\"\r\n"));
        answer(&mut call, "200 OK", KEPT, "evil").await;
        assert_eq!(got(&mut asks).await, "evil");
        // It may be for all, so the next one is asked for all.
        let (mut second, mut third) = (asking(&world, "X-Scheme: evil\r\n").await, asking(&world, "").await);
        let mut call = next(&worker, call).await;
        assert!(!call.head.contains("evil"), "{}", call.head);
        answer(&mut call, "200 OK", KEPT, "page").await;
        assert_eq!((got(&mut second).await, got(&mut third).await), ("page".to_owned(), "page".to_owned()));
    });
}

#[test]
fn i7_a_private_answer_among_separate_renders_neither_marks_nor_drops_a_cached_page() {
    play_with(on, async |world| {
        world.gate.dispatch.scale(3);
        let workers = [world.worker().await, world.worker().await, world.worker().await];
        let mut first = asking(&world, "").await;
        let mut call = any(&workers).await;
        answer(&mut call, "200 OK", "Cache-Control: private\r\nConnection: close\r\n", "first").await;
        first.answer().await;
        let (mut second, mut third) = (asking(&world, "").await, asking(&world, "").await);
        let (mut one, mut other) = (any(&workers).await, any(&workers).await);
        answer(&mut one, "200 OK", KEPT, "page").await;
        world.settle().await;
        answer(&mut other, "200 OK", "Cache-Control: private\r\n", "secret").await;
        let mut both = [got(&mut second).await, got(&mut third).await];
        both.sort();
        assert_eq!(both, ["page", "secret"]);
        let mut fourth = asking(&world, "").await;
        assert!(fourth.answer().await.contains("Sluice; hit"));
    });
}
