//! Pages that are rendered once for many: who waits for whom, who is first, and what a full queue leaves.

use sluice_catalog::config::Config;
use sluice_catalog::snapshot::Purge;

use super::client::Client;
use super::worker::{Call, MARK};
use super::world::{World, play_with};

fn on(config: &mut Config) {
    config.cache.enabled = true;
}

/// Answers with a page that is for all.
async fn answer_for_all(call: &mut Call, cache_control: &str, body: &str) {
    let length = body.len();
    let head = format!("HTTP/1.1 200 OK\r\nCache-Control: {cache_control}\r\n{MARK}Content-Length: {length}\r\n\r\n");
    call.write(&format!("{head}{body}")).await;
    call.report();
}

/// Clients that have asked for this, in this order.
async fn asking(world: &World, target: &str, count: usize) -> Vec<Client> {
    let mut clients = Vec::new();
    for _ in 0..count {
        let mut client = world.client();
        client.get(target).await;
        world.settle().await;
        clients.push(client);
    }
    clients
}

/// Status and body of an answer, without what the cache says of it.
async fn got(client: &mut Client) -> String {
    let answer = client.answer().await;
    let (status, rest) = answer.split_once(", ").expect("a body");
    format!("{status}, {}", rest.rsplit(", ").next().unwrap_or_default())
}

#[test]
fn all_who_ask_for_a_page_while_it_is_rendered_get_that_render() {
    play_with(on, async |world| {
        let worker = world.worker().await;
        let clients = asking(&world, "/page", 5).await;
        let mut call = worker.call().await;
        world.pass(100).await;
        assert_eq!(world.slot(&worker), "holds 1");
        answer_for_all(&mut call, "s-maxage=60", "page").await;
        for mut client in clients {
            assert_eq!(got(&mut client).await, "HTTP/1.1 200 OK, page");
        }
        let mut lines = Vec::new();
        for _ in 0..5 {
            lines.push(world.line().await);
        }
        lines.sort();
        assert_eq!(lines.iter().filter(|line| line.contains("worker 1")).count(), 1, "{lines:?}");
        world.settle().await;
        assert_eq!(world.slot(&worker), "free");
        let mut later = world.client();
        later.get("/page").await;
        assert_eq!(got(&mut later).await, "HTTP/1.1 200 OK, page");
    });
}

#[test]
fn a_page_is_sent_to_all_as_it_is_written_and_to_who_joins_late_from_its_beginning() {
    play_with(on, async |world| {
        let worker = world.worker().await;
        let mut first = asking(&world, "/page", 1).await.remove(0);
        let mut call = worker.call().await;
        call.write(&format!("HTTP/1.1 200 OK\r\nCache-Control: s-maxage=60\r\n{MARK}Content-Length: 8\r\n\r\none "))
            .await;
        first.head().await;
        assert_eq!(first.take(4).await, b"one ");
        let mut late = asking(&world, "/page", 1).await.remove(0);
        late.head().await;
        assert_eq!(late.take(4).await, b"one ");
        assert_eq!(world.at_ms(), 0);
        call.write("two ").await;
        call.report();
        for client in [&mut first, &mut late] {
            assert_eq!(client.take(4).await, b"two ");
        }
    });
}

#[test]
fn i7_a_private_answer_goes_to_the_first_client_and_the_others_are_rendered_in_their_order() {
    play_with(on, async |world| {
        let worker = world.worker().await;
        let mut clients = asking(&world, "/mine", 3).await;
        let mut call = worker.call().await;
        for (at, client) in clients.iter_mut().enumerate() {
            call.answer(&format!("for {at}")).await;
            assert_eq!(got(client).await, format!("HTTP/1.1 200 OK, for {at}"));
            assert!(world.line().await.starts_with("GET /mine 200 answered, worker 1"));
            if at < 2 {
                call = call.next().await.expect("the next one's");
            }
        }
        world.assert_no_line();
    });
}

#[test]
fn i7_no_hit_is_a_page_that_is_purged_replaced_stale_or_for_another() {
    let set = |config: &mut Config| {
        on(config);
        config.cache.stale_if_error_s = 0;
    };
    play_with(set, async |world| {
        let (worker, mut client) = (world.worker().await, world.client());
        let hit = async |client: &mut Client, body: &str| {
            for _ in 0..3 {
                client.get("/page").await;
                assert_eq!(got(client).await, format!("HTTP/1.1 200 OK, {body}"));
            }
        };
        let give = async |client: &mut Client, mut call: Call, body: &str| {
            let kept = "Cache-Control: public, max-age=60\r\nVary: X-Lang\r\n";
            let length = body.len();
            call.write(&format!("HTTP/1.1 200 OK\r\n{MARK}{kept}Content-Length: {length}\r\n\r\n{body}")).await;
            call.report();
            assert_eq!(got(client).await, format!("HTTP/1.1 200 OK, {body}"));
            call
        };
        let rendered = async |client: &mut Client, call: Call, fields: &str, body: &str| {
            client.send(&format!("GET /page HTTP/1.1\r\nHost: app.test\r\n{fields}\r\n")).await;
            give(client, call.next().await.expect("the app is asked"), body).await
        };
        client.get("/page").await;
        let call = give(&mut client, worker.call().await, "one").await;
        hit(&mut client, "one").await;
        let call = rendered(&mut client, call, "X-Lang: de\r\n", "zwei").await;
        hit(&mut client, "one").await;
        drop(world.gate.road.pages.purge(&Purge::All, false));
        let call = rendered(&mut client, call, "", "two").await;
        hit(&mut client, "two").await;
        // A change of the page by a client makes it old before that client has its answer.
        client.post("/page", "x").await;
        let mut call = call.next().await.expect("the change");
        call.answer("changed").await;
        client.answer().await;
        let call = rendered(&mut client, call, "", "three").await;
        hit(&mut client, "three").await;
        world.pass(61_000).await;
        let mut client = world.client();
        rendered(&mut client, call, "", "four").await;
    });
}

#[test]
fn i1_a_render_without_waiting_clients_keeps_its_slot_until_the_app_has_ended_it() {
    play_with(on, async |world| {
        let worker = world.worker().await;
        let clients = asking(&world, "/page", 2).await;
        let call = worker.call().await;
        for client in clients {
            client.leave();
            world.settle().await;
            assert_eq!(world.slot(&worker), "holds 1");
        }
        for _ in 0..2 {
            let line = world.line().await;
            assert!(line.starts_with("GET /page 0 client_gone_in_service"), "{line}");
        }
        call.report();
        world.settle().await;
        assert_eq!(world.slot(&worker), "free");
    });
}

#[test]
fn where_the_queue_is_full_a_stale_page_is_better_than_none() {
    play_with(
        |config| {
            on(config);
            config.queue.length_max = 0;
        },
        async |world| {
            let worker = world.worker().await;
            let mut client = asking(&world, "/page", 1).await.remove(0);
            let mut call = worker.call().await;
            answer_for_all(&mut call, "public, max-age=10", "page").await;
            got(&mut client).await;
            world.pass(11_000).await;
            let _other = asking(&world, "/other", 1).await;
            world.settle().await;
            assert_eq!(world.slot(&worker), "holds 1");
            client.get("/page").await;
            assert_eq!(got(&mut client).await, "HTTP/1.1 200 OK, page");
            client.get("/unknown").await;
            assert!(got(&mut client).await.starts_with("HTTP/1.1 503"));
            world.pass(60_000).await;
            client.get("/page").await;
            assert!(got(&mut client).await.starts_with("HTTP/1.1 503"), "it has been stale for too long");
        },
    );
}

#[test]
fn a_page_that_is_purged_while_it_is_rendered_is_sent_and_not_kept() {
    play_with(on, async |world| {
        let worker = world.worker().await;
        let mut client = asking(&world, "/page", 1).await.remove(0);
        let mut call = worker.call().await;
        drop(world.gate.road.pages.purge(&Purge::All, false));
        let mut joined = asking(&world, "/page", 1).await.remove(0);
        answer_for_all(&mut call, "s-maxage=60", "old").await;
        assert_eq!(got(&mut client).await, "HTTP/1.1 200 OK, old");
        let mut call = worker.call().await;
        answer_for_all(&mut call, "s-maxage=60", "new").await;
        assert_eq!(got(&mut joined).await, "HTTP/1.1 200 OK, new");
        client.get("/page").await;
        assert_eq!(got(&mut client).await, "HTTP/1.1 200 OK, new");
    });
}

#[test]
fn a_render_that_breaks_off_is_broken_for_all_and_not_kept() {
    play_with(on, async |world| {
        let worker = world.worker().await;
        let clients = asking(&world, "/page", 2).await;
        let mut call = worker.call().await;
        call.write(&format!("HTTP/1.1 200 OK\r\nCache-Control: s-maxage=60\r\n{MARK}Content-Length: 8\r\n\r\none "))
            .await;
        world.settle().await;
        drop(call);
        worker.exit();
        for mut client in clients {
            client.head().await;
            assert_eq!(client.rest().await, "one |");
        }
        let heir = world.worker().await;
        let mut again = asking(&world, "/page", 1).await.remove(0);
        answer_for_all(&mut heir.call().await, "s-maxage=60", "whole").await;
        assert_eq!(got(&mut again).await, "HTTP/1.1 200 OK, whole");
    });
}

#[test]
fn where_there_is_no_room_on_the_disk_a_page_is_sent_to_who_reads_it_and_not_kept() {
    let set = |config: &mut Config| {
        on(config);
        config.bounds.response_memory_bytes_max = 64 * 1024;
        config.temp.bytes_max = 1;
    };
    play_with(set, async |world| {
        let worker = world.worker().await;
        let mut client = asking(&world, "/page", 1).await.remove(0);
        let mut call = worker.call().await;
        let head = format!("HTTP/1.1 200 OK\r\n{MARK}Cache-Control: s-maxage=60\r\nContent-Length: 400000\r\n\r\n");
        call.write(&head).await;
        client.head().await;
        for _ in 0..100 {
            call.write(&"x".repeat(4000)).await;
            assert_eq!(client.take(4000).await, [b'x'; 4000]);
        }
        call.report();
        let mut again = asking(&world, "/page", 1).await.remove(0);
        let mut call = call.next().await.expect("it is not kept");
        call.answer("small").await;
        assert_eq!(got(&mut again).await, "HTTP/1.1 200 OK, small");
    });
}
