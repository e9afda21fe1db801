//! Connections and the gateway's leaving, wherever the connections are: each story is told with and without fronts.

use sluice_catalog::config::Config;
use sluice_catalog::snapshot::Purge;
use sluice_scheduler::Scheduler;

use super::client::Client;
use super::worker::{Call, MARK};
use super::world::{World, play, play_with};

/// Requests that fronts have answered so far; none where there are no fronts.
fn answered_by_fronts(world: &World) -> Option<u64> {
    world.gate.has_fronts().then(|| world.gate.answered_by_fronts())
}

async fn give(call: &mut Call, fields: &str, body: &str) {
    let len = body.len();
    call.write(&format!("HTTP/1.1 200 OK\r\n{MARK}{fields}Content-Length: {len}\r\n\r\n{body}")).await;
    call.report();
}

/// Status, age and body of a page.
async fn page(client: &mut Client, target: &str, fields: &str) -> String {
    client.send(&format!("GET {target} HTTP/1.1\r\nHost: app.test\r\n{fields}\r\n")).await;
    let (start, fields) = client.head().await;
    let text = |name: &str| String::from_utf8(fields.get(name).unwrap_or_default().to_vec()).unwrap();
    let body = client.take(text("content-length").parse().unwrap_or(0)).await;
    let (status, body) = (start.split(' ').nth(1).unwrap_or_default(), String::from_utf8(body).unwrap());
    format!("{status} {} {body}", text("age"))
}

const KEPT: &str = "Cache-Control: public, max-age=60\r\nVary: X-Lang\r\n";

#[test]
fn fresh_pages_are_answered_by_fronts_as_the_core_would_and_are_in_the_log() {
    play_with(
        |config| config.cache.enabled = true,
        async |world| {
            let (worker, mut client) = (world.worker().await, world.client());
            client.get("/page").await;
            let mut call = worker.call().await;
            give(&mut call, KEPT, "page").await;
            assert_eq!(client.answer().await.rsplit(", ").next(), Some("page"));
            world.line().await;
            for seconds in 1..4 {
                world.pass(1000).await;
                assert_eq!(page(&mut client, "/page", "").await, format!("200 {seconds} page"));
                assert_eq!(world.line().await, "GET /page 200 answered, 4 bytes, 0 ms");
            }
            // The first of them was the core's, which granted the page.
            assert!(
                answered_by_fronts(&world).is_none_or(|answered| answered == 2),
                "{:?}",
                answered_by_fronts(&world)
            );
            assert_eq!(world.gate.cache.counts.of(sluice_journal::CacheUse::Hit), 3);
            // What fronts do not judge goes to the core.
            assert_eq!(page(&mut client, "/page", "Range: bytes=0-1\r\n").await, "206 3 pa");
            assert_eq!(page(&mut client, "/page", "If-Modified-Since: x\r\n").await, "200 3 page");
            assert_eq!(answered_by_fronts(&world).unwrap_or(2), 2);
        },
    );
}

#[test]
fn i7_a_front_answers_with_no_page_that_is_purged_replaced_stale_or_for_another() {
    let set = |config: &mut Config| {
        config.cache.enabled = true;
        config.cache.stale_if_error_s = 0;
    };
    play_with(set, async |world| {
        let (worker, mut client) = (world.worker().await, world.client());
        client.get("/page").await;
        let mut call = worker.call().await;
        give(&mut call, KEPT, "one").await;
        client.answer().await;
        for _ in 0..3 {
            assert_eq!(page(&mut client, "/page", "").await, "200 0 one");
        }
        let next = async |client: &mut Client, call: Call, fields: &str, body: &str| {
            client.send(&format!("GET /page HTTP/1.1\r\nHost: app.test\r\n{fields}\r\n")).await;
            let mut call = call.next().await.expect("the app is asked");
            give(&mut call, KEPT, body).await;
            assert!(client.answer().await.ends_with(body));
            call
        };
        let call = next(&mut client, call, "X-Lang: de\r\n", "zwei").await;
        assert_eq!(page(&mut client, "/page", "").await, "200 0 one");
        drop(world.gate.purge(&Purge::All, false));
        let call = next(&mut client, call, "", "two").await;
        for _ in 0..3 {
            assert_eq!(page(&mut client, "/page", "").await, "200 0 two");
        }
        // A change of the page by a client makes it old before that client has its answer.
        client.post("/page", "x").await;
        let mut call = call.next().await.expect("the change");
        call.answer("changed").await;
        client.answer().await;
        let call = next(&mut client, call, "", "three").await;
        for _ in 0..3 {
            assert_eq!(page(&mut client, "/page", "").await, "200 0 three");
        }
        world.pass(61_000).await;
        let mut client = world.client();
        next(&mut client, call, "", "four").await;
        assert!(answered_by_fronts(&world).is_none_or(|answered| answered >= 5), "{:?}", answered_by_fronts(&world));
    });
}

#[test]
fn idle_connections_close_when_the_gateway_drains_and_requests_finish() {
    play(async |world| {
        let (_worker, mut busy, mut call) = world.asked("/page").await;
        let (mut late, mut silent) = (world.client(), world.client());
        late.send("GET /late HTTP/1.1\r\n").await;
        world.settle().await;
        world.gate.drain("a test");
        call.answer("page").await;
        assert_eq!(busy.rest().await, "HTTP/1.1 200 OK, Connection: close, page|");
        // A request that had begun to come is served.
        late.send("Host: app.test\r\n\r\n").await;
        call.next().await.expect("the late request").answer("late").await;
        assert_eq!(late.rest().await, "HTTP/1.1 200 OK, Connection: close, late|");
        assert_eq!((silent.rest().await.as_str(), world.at_ms()), ("|", 1000), "a request could have been on its way");
        drop((busy, late, silent));
        world.settle().await;
        assert_eq!(world.gate.connection_count(), 0);
    });
}

#[test]
fn a_connection_that_rests_makes_room_for_another_and_one_that_works_does_not() {
    let set = |config: &mut Config| {
        (config.server.connections_max, config.server.connections_per_address_max) = (2, 2);
    };
    play_with(set, async |world| {
        let (_worker, mut busy, mut call) = world.asked("/busy").await;
        let mut rests = world.client();
        rests.get("/rests").await;
        call.answer("busy").await;
        let mut call = call.next().await.expect("the other request");
        call.answer("rests").await;
        assert_eq!(busy.answer().await, "HTTP/1.1 200 OK, busy");
        assert_eq!(rests.answer().await, "HTTP/1.1 200 OK, rests");
        // The core hears of what rests in a moment.
        world.pass(50).await;
        busy.get("/again").await;
        world.pass(50).await;
        let mut third = world.client();
        assert_eq!(rests.rest().await, "|", "it rests, and makes room");
        third.get("/third").await;
        for name in ["again", "third"] {
            call = call.next().await.expect("the next request");
            call.answer(name).await;
        }
        assert_eq!(busy.answer().await, "HTTP/1.1 200 OK, again");
        assert_eq!(third.answer().await, "HTTP/1.1 200 OK, third");
    });
}

#[test]
fn a_body_in_a_file_is_handed_on_whole_and_leaves_nothing() {
    let set = |config: &mut Config| config.bounds.body_memory_bytes_max = 1000;
    play_with(set, async |world| {
        let (worker, mut client) = (world.worker().await, world.client());
        let body = "0123456789".repeat(1000);
        client.post("/form", &body).await;
        let mut call = worker.call().await;
        assert_eq!(call.body(body.len()).await, body);
        call.answer("ok").await;
        assert_eq!(client.answer().await, "HTTP/1.1 200 OK, ok");
        world.pass(100).await;
        assert_eq!((world.gate.temp_bytes(), world.gate.buffers_bytes()), (0, 0));
        assert_eq!(world.gate.scheduler(Scheduler::queue_length), 0);
    });
}
