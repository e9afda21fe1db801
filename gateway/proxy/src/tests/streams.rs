//! What leaves its slot and goes on: upgrades, event streams, long polls.

use super::client::Client;
use super::worker::{Call, MARK, Worker};
use super::world::{World, play};

const UPGRADE: &str = "GET /ws HTTP/1.1\r\nHost: app.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
const SWITCHED: &str = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n";
const SID: &str = "b7ad6b7169203331";

/// A tunnel between a client and a worker.
async fn tunnel(world: &World) -> (Worker, Client, Call) {
    let (worker, mut client) = (world.worker().await, world.client());
    client.send(UPGRADE).await;
    let mut call = worker.call().await;
    call.write(&format!("{SWITCHED}{MARK}\r\n")).await;
    let (start, fields) = client.head().await;
    assert_eq!(start, "HTTP/1.1 101 Switching Protocols");
    assert_eq!(fields.get("upgrade"), Some(&b"websocket"[..]));
    assert_eq!(fields.get("x-sluice-answer"), None, "the mark is the gateway's");
    world.settle().await;
    (worker, client, call)
}

#[test]
fn a_tunnel_leaves_its_slot_and_carries_bytes_both_ways_until_the_client_leaves() {
    play(async |world| {
        let (worker, mut client, mut call) = tunnel(&world).await;
        assert_eq!(world.slot(&worker), "holds 0, streams 1");
        client.send("there").await;
        assert_eq!(call.body(5).await, "there");
        call.write("and back").await;
        assert_eq!(client.take(8).await, b"and back");
        let mut other = world.client();
        other.get("/page").await;
        let mut page = worker.call().await;
        page.answer("page").await;
        assert_eq!(other.answer().await, "HTTP/1.1 200 OK, page");
        assert!(world.line().await.starts_with("GET /page 200 answered, worker 1"));
        client.leave();
        assert_eq!(call.rest().await, "");
        drop(call);
        assert_eq!(world.line().await, "GET /ws 101 upgraded, worker 1, 0 bytes, 0 ms");
        world.settle().await;
        assert_eq!(world.slot(&worker), "free");
    });
}

#[test]
fn i1_an_upgrade_holds_its_slot_until_the_app_switches_protocols() {
    play(async |world| {
        let (worker, mut client) = (world.worker().await, world.client());
        client.send(UPGRADE).await;
        let mut call = worker.call().await;
        world.pass(300).await;
        let mut other = world.client();
        other.get("/page").await;
        world.settle().await;
        assert_eq!(world.slot(&worker), "holds 1");
        call.write(&format!("{SWITCHED}{MARK}\r\n")).await;
        client.head().await;
        worker.call().await.answer("page").await;
        assert_eq!(other.answer().await, "HTTP/1.1 200 OK, page");
    });
}

#[test]
fn a_tunnel_that_the_app_ends_is_over_for_its_client() {
    play(async |world| {
        let (worker, mut client, mut call) = tunnel(&world).await;
        call.write("bye").await;
        drop(call);
        assert_eq!(client.rest().await, "bye|");
        assert_eq!(world.line().await, "GET /ws 101 upgraded, worker 1, 0 bytes, 0 ms");
        world.settle().await;
        assert_eq!(world.slot(&worker), "free");
    });
}

#[test]
fn an_upgrade_that_the_app_refuses_is_an_answer_like_any_other() {
    play(async |world| {
        let (worker, mut client) = (world.worker().await, world.client());
        client.send(UPGRADE).await;
        let mut call = worker.call().await;
        call.write(&format!("HTTP/1.1 403 Forbidden\r\n{MARK}Content-Length: 2\r\n\r\nno")).await;
        call.report();
        assert!(client.answer().await.starts_with("HTTP/1.1 403 Forbidden"));
        assert!(world.line().await.starts_with("GET /ws 403 answered, worker 1, 2 bytes"));
        assert_eq!(world.slot(&worker), "free");
    });
}

#[test]
fn an_event_stream_leaves_its_slot_and_each_event_goes_out_at_once() {
    play(async |world| {
        let (worker, mut client, mut call) = world.asked("/events").await;
        let head =
            format!("HTTP/1.1 200 OK\r\n{MARK}Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
        call.write(&head).await;
        client.head().await;
        world.settle().await;
        assert_eq!(world.slot(&worker), "holds 0, streams 1");
        for at in 0..3 {
            world.pass(1_000).await;
            call.write(&format!("8\r\ndata: {at}\n\r\n")).await;
            assert_eq!(client.take(13).await, format!("8\r\ndata: {at}\n\r\n").as_bytes());
            assert_eq!(world.at_ms(), 1_000 * (at + 1));
        }
        client.leave();
        assert_eq!(call.rest().await, "");
        drop(call);
        let line = world.line().await;
        assert!(line.starts_with("GET /events 200 "), "{line}");
        world.settle().await;
        assert_eq!(world.slot(&worker), "free");
    });
}

#[test]
fn streams_end_with_their_worker() {
    play(async |world| {
        let (worker, mut client, call) = tunnel(&world).await;
        drop(call);
        worker.exit();
        assert_eq!(client.rest().await, "|");
        assert!(world.line().await.starts_with("GET /ws 101 upgraded"));
        world.settle().await;
        assert_eq!(world.gate.returns.stream_count(), 0);
    });
}

#[test]
fn a_long_poll_that_waits_leaves_its_slot_and_is_answered_when_there_is_something_to_tell() {
    play(async |world| {
        let worker = world.worker().await;
        let mut client = world.client();
        client.get("/socket.io/?EIO=4&transport=polling").await;
        let mut open = worker.call().await;
        open.answer(&format!("0{{\"sid\":\"{SID}\"}}")).await;
        client.answer().await;
        world.line().await;
        client.get(&format!("/socket.io/?EIO=4&transport=polling&sid={SID}")).await;
        let mut poll = open.next().await.expect("the poll");
        assert_eq!(world.slot(&worker), "holds 1");
        poll.waits();
        world.settle().await;
        assert_eq!(world.slot(&worker), "holds 0, streams 1");
        world.pass(25_000).await;
        poll.write(&format!("HTTP/1.1 200 OK\r\n{MARK}Content-Length: 2\r\n\r\n42")).await;
        poll.report();
        assert_eq!(client.answer().await, "HTTP/1.1 200 OK, 42");
        let line = world.line().await;
        assert!(line.contains(" 200 answered, worker 1, 2 bytes, 25000 ms"), "{line}");
        world.settle().await;
        assert_eq!(world.slot(&worker), "free");
    });
}

#[test]
fn only_a_poll_can_wait_outside_its_slot() {
    play(async |world| {
        let (worker, _client, call) = world.asked("/page").await;
        call.waits();
        world.settle().await;
        assert_eq!(world.slot(&worker), "holds 1");
    });
}
