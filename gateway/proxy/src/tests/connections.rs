//! Connections while the gateway leaves, or is full; and what a body leaves behind.

use sluice_catalog::config::Config;
use sluice_scheduler::Scheduler;

use super::world::{play, play_with};

#[test]
fn idle_connections_close_when_the_gateway_drains_and_requests_finish() {
    play(async |world| {
        let (_worker, mut busy, mut call) = world.asked("/page").await;
        let (mut late, mut silent) = (world.client(), world.client());
        late.send("GET /late HTTP/1.1\r\n").await;
        world.settle().await;
        world.gate.draining.drain("a test");
        call.answer("page").await;
        assert_eq!(busy.rest().await, "HTTP/1.1 200 OK, Connection: close, page|");
        // A request that had begun to come is served.
        late.send("Host: app.test\r\n\r\n").await;
        call.next().await.expect("the late request").answer("late").await;
        assert_eq!(late.rest().await, "HTTP/1.1 200 OK, Connection: close, late|");
        assert_eq!((silent.rest().await.as_str(), world.at_ms()), ("|", 1000), "a request could have been on its way");
        drop((busy, late, silent));
        world.settle().await;
        assert_eq!(world.gate.road.lobby.connections.count(), 0);
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
        world.settle().await;
        busy.get("/again").await;
        world.settle().await;
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
fn a_body_in_a_file_reaches_the_worker_whole_and_leaves_nothing() {
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
        assert_eq!((world.gate.road.store.used_bytes(), world.gate.road.store.memory.used_bytes()), (0, 0));
        assert_eq!(world.gate.scheduler.read(Scheduler::queue_length), 0);
    });
}
