//! When the gateway says that it is ready: by progress of work.

use sluice_catalog::config::{Concurrency, Config};

use super::world::{World, play_with};

const BUSY: &str = "every worker is busy and none has finished a request for too long";

/// One request a worker, and ten seconds without progress are too long.
fn strict(config: &mut Config) {
    config.workers.concurrency = Concurrency::Fixed(1);
    config.queue.wait_ms_max = 10_000;
}

/// The status of the readiness path, and its reason.
async fn asked(world: &World) -> (String, String) {
    let mut client = world.client();
    client.get("/.sluice/ready").await;
    let (status, fields) = client.head().await;
    let len = std::str::from_utf8(fields.get("content-length").expect("a length")).unwrap().parse().unwrap();
    let body: serde_json::Value = serde_json::from_slice(&client.take(len).await).expect("JSON");
    world.line().await;
    (status, body["reason"].as_str().expect("a reason").to_owned())
}

#[test]
fn gateway_whose_workers_are_all_busy_for_too_long_is_not_ready_until_one_of_them_finishes_a_request() {
    play_with(strict, async |world| {
        let (worker, mut client) = (world.worker().await, world.client());
        client.get("/slow").await;
        let mut call = worker.call().await;
        let (ready, not_ready) = ("HTTP/1.1 200 OK", "HTTP/1.1 503 Service Unavailable");
        // Not a moment before, and for as long as it lasts.
        for (pass_ms, expected) in [(0, ready), (10_000, ready), (1, not_ready), (5_000, not_ready)] {
            world.pass(pass_ms).await;
            let (status, reason) = asked(&world).await;
            assert_eq!(status, expected, "after {} ms: {reason}", world.at_ms());
            assert_eq!(reason == BUSY, expected == not_ready, "{reason}");
            // A balancer hears of it before: the weight falls with each second.
            let weight = world.gate.scheduler.load().weight();
            assert!((weight <= 2.0) == (world.at_ms() >= 5_000), "{weight} after {} ms", world.at_ms());
        }
        call.answer("slow").await;
        assert_eq!(client.answer().await, "HTTP/1.1 200 OK, slow");
        world.line().await;
        assert_eq!(asked(&world).await, (ready.to_owned(), "ready".to_owned()));
        assert!(world.gate.scheduler.load().weight() >= 100.0, "{:?}", world.gate.scheduler.load());
        // It is work that counts, not how long one request takes: the next has only begun.
        client.get("/next").await;
        let _next = call.next().await.expect("the next request");
        world.pass(10_000).await;
        assert_eq!(asked(&world).await.0, ready);
        world.pass(1).await;
        assert_eq!(asked(&world).await, (not_ready.to_owned(), BUSY.to_owned()));
    });
}

#[test]
fn gateway_with_a_slot_that_is_free_is_ready_however_long_a_request_takes() {
    play_with(
        |config| {
            strict(config);
            config.workers.concurrency = Concurrency::Fixed(2);
        },
        async |world| {
            let (worker, mut client) = (world.worker().await, world.client());
            client.get("/slow").await;
            let _call = worker.call().await;
            world.pass(60_000).await;
            assert_eq!(asked(&world).await.1, "ready");
        },
    );
}
