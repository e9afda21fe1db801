//! Workers that exit: before a request, with one, in the middle of its answer.

use std::time::Duration;

use sluice_supervisor::Gate as _;

use super::worker::{MARK, Worker};
use super::world::{World, play};

/// A second worker, once the first is known to have exited.
async fn successor(world: &World) -> Worker {
    let successor = world.worker().await;
    assert_eq!(successor.id.0, 2);
    successor
}

#[test]
fn i5_a_get_whose_worker_dies_before_a_byte_of_its_answer_gets_a_second_worker() {
    play(async |world| {
        let (worker, mut client, call) = world.asked("/page").await;
        drop(call);
        world.pass(50).await;
        worker.exit();
        let successor = successor(&world).await;
        let mut call = successor.call().await;
        assert!(call.head.starts_with("GET /page "), "{}", call.head);
        call.answer("hello").await;
        assert_eq!(client.answer().await, "HTTP/1.1 200 OK, hello");
        let line = world.line().await;
        assert!(line.starts_with("GET /page 200 answered, worker 2 at try 2, 5 bytes, "), "{line}");
        assert_eq!(world.gate.returns.retries.total(), 1);
        assert_eq!(world.slot(&successor), "free");
    });
}

#[test]
fn i5_a_get_that_crashes_its_second_worker_too_gets_an_error() {
    play(async |world| {
        let (worker, mut client, call) = world.asked("/page").await;
        drop(call);
        worker.exit();
        let second = successor(&world).await;
        drop(second.call().await);
        second.exit();
        assert_eq!(client.answer().await, "HTTP/1.1 502 Bad Gateway, SLU-WORKER-DIED");
        let line = world.line().await;
        assert!(line.starts_with("GET /page 502 worker_died SLU-WORKER-DIED, worker 2 at try 2, "), "{line}");
        // Nobody gets a third one for it.
        let notes = world.notes();
        assert!(notes.iter().any(|note| note.contains("crashed a second worker")), "{notes:?}");
        client.get("/page").await;
        assert_eq!(client.answer().await, "HTTP/1.1 500 Internal Server Error, SLU-REQUEST-QUARANTINED");
        assert_eq!(world.line().await, "GET /page 500 quarantined SLU-REQUEST-QUARANTINED, 0 ms");
    });
}

#[test]
fn a_request_that_its_worker_gave_back_in_the_moment_of_its_exit_gets_the_next_one() {
    play(async |world| {
        let (worker, mut client, held) = world.given_back().await;
        // Within the same turn: whoever carries the request out learns of both together.
        worker.exit();
        drop(held);
        let successor = successor(&world).await;
        successor.call().await.answer("hello").await;
        assert_eq!(client.answer().await, "HTTP/1.1 200 OK, hello");
        world.pass(1000).await;
        assert_eq!(world.slot(&successor), "free");
        assert!(world.gate.dispatch.requests.oldest_begun().is_none(), "nothing waits for a worker that is gone");
    });
}

#[test]
fn i5_a_post_that_crashes_its_worker_is_not_retried() {
    play(async |world| {
        let (worker, mut client) = (world.worker().await, world.client());
        client.post("/form", "name=value").await;
        drop(worker.call().await);
        world.pass(50).await;
        worker.exit();
        assert_eq!(client.answer().await, "HTTP/1.1 502 Bad Gateway, SLU-WORKER-DIED");
        assert_eq!(world.line().await, "POST /form 502 worker_died SLU-WORKER-DIED, worker 1, 50 ms");
        world.serves(&successor(&world).await).await;
    });
}

#[test]
fn i3_i5_a_post_that_no_worker_has_read_gets_another_worker() {
    play(async |world| {
        let (worker, mut client) = (world.worker().await, world.client());
        // It dies before it accepts.
        worker.listener.fill(true);
        client.post("/form", "name=value").await;
        world.pass(50).await;
        worker.exit();
        let successor = successor(&world).await;
        let mut call = successor.call().await;
        assert_eq!(call.body(10).await, "name=value");
        call.answer("done").await;
        assert_eq!(client.answer().await, "HTTP/1.1 200 OK, done");
        let line = world.line().await;
        assert!(line.starts_with("POST /form 200 answered, worker 2, 4 bytes, "), "{line}");
    });
}

#[test]
fn a_worker_that_exits_in_the_middle_of_its_answer_closes_the_clients_connection() {
    play(async |world| {
        let (worker, mut client, mut call) = world.asked("/page").await;
        call.write(&format!("HTTP/1.1 200 OK\r\n{MARK}Content-Length: 10\r\n\r\nhello")).await;
        world.pass(30).await;
        drop(call);
        worker.exit();
        assert_eq!(client.rest().await, "HTTP/1.1 200 OK, hello|");
        assert_eq!(world.at_ms(), 30);
        assert_eq!(world.line().await, "GET /page 200 worker_died SLU-WORKER-DIED, worker 1, 5 bytes, 30 ms");
        world.serves(&successor(&world).await).await;
    });
}

#[test]
fn an_answer_that_was_written_before_the_exit_is_whole() {
    play(async |world| {
        let (worker, mut client, mut call) = world.asked("/page").await;
        call.write(&format!("HTTP/1.1 200 OK\r\n{MARK}Content-Length: 5\r\n\r\nhello")).await;
        drop(call);
        worker.exit();
        assert_eq!(client.answer().await, "HTTP/1.1 200 OK, hello");
        assert_eq!(world.line().await, "GET /page 200 answered, worker 1, 5 bytes, 0 ms");
        world.serves(&successor(&world).await).await;
    });
}

#[test]
fn a_connection_that_outlives_its_worker_is_not_waited_for() {
    play(async |world| {
        let (worker, mut client, call) = world.asked("/page").await;
        // A child of the app has inherited it.
        let _inherited = call.hold();
        world.pass(100).await;
        worker.exit();
        let successor = successor(&world).await;
        let mut call = successor.call().await;
        assert!(world.at_ms() >= 300, "what it wrote last may still come for 200 ms");
        call.answer("hello").await;
        assert_eq!(client.answer().await, "HTTP/1.1 200 OK, hello");
    });
}

#[test]
fn i4_a_worker_that_is_known_to_die_gets_no_more_requests() {
    play(async |world| {
        let (worker, mut client, mut call) = world.asked("/page").await;
        world.gate.workers().faulted(worker.id);
        assert_eq!(world.slot(&worker), "holds 1, Stopping");
        let mut other = world.client();
        other.get("/other").await;
        world.settle().await;
        // What it has, it may finish.
        call.answer("hello").await;
        assert_eq!(client.answer().await, "HTTP/1.1 200 OK, hello");
        assert!(call.next_within(Duration::from_secs(1)).await.is_none());
        worker.exit();
        let mut call = successor(&world).await.call().await;
        assert!(call.head.starts_with("GET /other "), "{}", call.head);
        call.answer("other").await;
        assert_eq!(other.answer().await, "HTTP/1.1 200 OK, other");
    });
}

#[test]
fn a_dying_worker_has_longer_until_its_exit_is_known() {
    play(async |world| {
        let (worker, mut client, call) = world.asked("/page").await;
        world.gate.workers().faulted(worker.id);
        drop(call);
        world.pass(1_500).await;
        worker.exit();
        let successor = successor(&world).await;
        let mut call = successor.call().await;
        call.answer("hello").await;
        assert_eq!(client.answer().await, "HTTP/1.1 200 OK, hello", "no error was sent meanwhile");
    });
}

#[test]
fn i3_queued_requests_outlive_every_worker() {
    play(async |world| {
        let (worker, mut first, call) = world.asked("/first").await;
        let mut second = world.client();
        second.get("/second").await;
        world.settle().await;
        drop(call);
        worker.exit();
        world.settle().await;
        let successor = successor(&world).await;
        let mut call = successor.call().await;
        call.answer("1").await;
        let mut call = call.next().await.expect("the other");
        call.answer("2").await;
        assert_eq!(first.answer().await, "HTTP/1.1 200 OK, 1");
        assert_eq!(second.answer().await, "HTTP/1.1 200 OK, 2");
    });
}

#[test]
fn cpu_time_that_a_worker_takes_with_it_is_that_of_the_requests_that_it_held() {
    play(async |world| {
        let (worker, mut client) = (world.worker().await, world.client());
        client.post("/loops", "name=value").await;
        let call = worker.call().await;
        world.pass(8_000).await;
        world.gate.workers().left_untold(worker.id, Duration::from_secs(9));
        drop(call);
        worker.exit();
        assert_eq!(client.answer().await, "HTTP/1.1 502 Bad Gateway, SLU-WORKER-DIED");
        let costs = world.gate.costs.snapshot().classes;
        assert_eq!((costs[0].class.as_str(), costs[0].requests), ("POST /loops", 1));
        assert!(costs[0].cpu_share > 0.99, "{costs:?}");
        // It is not known that all of it was this request's, so it teaches nothing.
        assert_eq!(costs[0].cost_mean_ms, None);
        // No more than the time for which the worker had it.
        let line = world.cpu_ms("/loops").await;
        assert_eq!(line, Some(8_000.0));
    });
}
