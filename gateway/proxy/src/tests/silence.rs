//! Workers that say nothing, or not what they should when: time-outs, what was given up, what was given back.

use super::worker::MARK;
use super::world::{play, play_with};

#[test]
fn i1_a_worker_that_never_answers_gives_its_client_an_error_after_a_minute_and_keeps_its_slot() {
    play(async |world| {
        let (worker, mut client, mut call) = world.asked("/page").await;
        assert_eq!(client.answer().await, "HTTP/1.1 504 Gateway Timeout, SLU-WORKER-TIMEOUT");
        assert_eq!((world.slot(&worker).as_str(), world.at_ms()), ("holds 1", 60_000));
        assert_eq!(call.rest().await, "", "the app sees that nobody waits");
        world.pass(30_000).await;
        assert_eq!(world.slot(&worker), "holds 1");
        call.report();
        world.settle().await;
        assert_eq!(world.line().await, "GET /page 504 timed_out SLU-WORKER-TIMEOUT, worker 1, 60000 ms");
        world.serves(&worker).await;
    });
}

#[test]
fn i1_a_worker_that_never_answers_is_replaced_after_the_time_for_abandoned_answers() {
    play(async |world| {
        let (worker, mut client, mut call) = world.asked("/page").await;
        client.answer().await;
        assert_eq!((call.rest().await.as_str(), world.at_ms()), ("", 60_000));
        world.pass(69_000).await;
        assert_eq!(world.slot(&worker), "holds 1");
        world.pass(1_100).await;
        assert_eq!(world.slot(&worker), "holds 1, Stopping");
        assert!(world.notes()[0].starts_with("worker 1 never ended request "));
        assert_eq!(world.line().await, "GET /page 504 timed_out SLU-WORKER-TIMEOUT, worker 1, 60000 ms");
        worker.exit();
        world.serves(&world.worker().await).await;
    });
}

#[test]
fn an_answer_that_stops_in_the_middle_breaks_off_after_a_minute() {
    play(async |world| {
        let (worker, mut client, mut call) = world.asked("/page").await;
        call.write(&format!("HTTP/1.1 200 OK\r\n{MARK}Content-Length: 10\r\n\r\n")).await;
        world.pass(30_000).await;
        call.write("hello").await;
        assert_eq!(client.rest().await, "HTTP/1.1 200 OK, hello|");
        assert_eq!(world.at_ms(), 90_000);
        call.report();
        assert_eq!(world.line().await, "GET /page 200 timed_out SLU-WORKER-TIMEOUT, worker 1, 5 bytes, 90000 ms");
        world.settle().await;
        assert_eq!(world.slot(&worker), "free", "its end was reported, and the rest will never come");
    });
}

#[test]
fn a_body_that_drips_is_waited_for_while_it_moves() {
    play(async |world| {
        let (worker, mut client, mut call) = world.asked("/page").await;
        call.write(&format!("HTTP/1.1 200 OK\r\n{MARK}Content-Length: 5\r\n\r\n")).await;
        for byte in ["h", "e", "l", "l", "o"] {
            world.pass(59_000).await;
            call.write(byte).await;
        }
        call.report();
        assert_eq!(client.answer().await, "HTTP/1.1 200 OK, hello");
        assert_eq!(world.line().await, "GET /page 200 answered, worker 1, 5 bytes, 295000 ms");
        assert_eq!(world.slot(&worker), "free");
    });
}

#[test]
fn i2_an_answer_before_the_body_was_read_is_the_answer_and_ends_the_connection() {
    play(async |world| {
        let (worker, mut client) = (world.worker().await, world.client());
        let body = "x".repeat(500_000);
        let (sent, call) = tokio::join!(client.post("/upload", &body), async {
            let mut call = worker.call().await;
            call.write(&format!("HTTP/1.1 403 Forbidden\r\n{MARK}Content-Length: 2\r\n\r\nno")).await;
            call
        });
        let ((), mut call) = (sent, call);
        assert_eq!(client.answer().await, "HTTP/1.1 403 Forbidden, no");
        assert_eq!(world.slot(&worker), "free");
        call.report();
        assert_eq!(world.line().await, "POST /upload 403 answered, worker 1, 2 bytes, 0 ms");
        let rest = call.rest().await;
        assert!(rest.len() < body.len(), "the rest of the body goes to nobody: {}", rest.len());
        world.serves(&worker).await;
    });
}

#[test]
fn a_request_waits_for_the_only_worker_and_is_refused_at_its_deadline() {
    play(async |world| {
        let (worker, mut client, mut call) = world.asked("/slow").await;
        let mut other = world.client();
        other.get("/page").await;
        assert_eq!(other.answer().await, "HTTP/1.1 503 Service Unavailable, SLU-QUEUE-DEADLINE, Retry-After: 5");
        assert_eq!(world.at_ms(), 10_000);
        assert_eq!(world.line().await, "GET /page 503 timed_out SLU-QUEUE-DEADLINE, 10000 ms");
        call.answer("slow").await;
        assert_eq!(client.answer().await, "HTTP/1.1 200 OK, slow");
        assert_eq!(world.slot(&worker), "free");
    });
}

#[test]
fn a_request_beyond_the_queues_length_is_refused_at_once() {
    play_with(
        |config| config.queue.length_max = 1,
        async |world| {
            let (_worker, mut client, mut call) = world.asked("/slow").await;
            let (mut second, mut third) = (world.client(), world.client());
            second.get("/second").await;
            world.settle().await;
            third.get("/third").await;
            let refused = third.answer().await;
            assert!(
                refused.starts_with("HTTP/1.1 503 Service Unavailable, SLU-QUEUE-FULL, Retry-After: "),
                "{refused}"
            );
            assert_eq!(world.line().await, "GET /third 503 shed SLU-QUEUE-FULL, 0 ms");
            world.pass(5).await;
            call.answer("slow").await;
            assert_eq!(client.answer().await, "HTTP/1.1 200 OK, slow");
            let mut call = call.next().await.expect("the one that waited comes on the same connection");
            call.answer("second").await;
            assert_eq!(second.answer().await, "HTTP/1.1 200 OK, second");
        },
    );
}

#[test]
fn i1_a_request_returned_by_the_app_waits_for_the_unended_request() {
    play(async |world| {
        let (worker, mut client, mut first) = world.asked("/first").await;
        // Answered, but the app goes on with it.
        first.write(&format!("HTTP/1.1 200 OK\r\n{MARK}Content-Length: 2\r\n\r\nok")).await;
        assert_eq!(client.answer().await, "HTTP/1.1 200 OK, ok");
        let first_id = first.id;
        let mut other = world.client();
        other.get("/second").await;
        let second = first.next().await.expect("the next request");
        assert_eq!(world.slot(&worker), "holds 1");
        let held = second.gives_back(first_id);
        world.settle().await;
        assert_eq!(world.slot(&worker), "holds 1", "the slot is the first one's again");
        world.pass(400).await;
        assert_eq!(world.slot(&worker), "holds 1");
        held.report_of(first_id);
        let mut again = worker.call().await;
        assert!(again.head.starts_with("GET /second "), "{}", again.head);
        assert_eq!(world.at_ms(), 400);
        again.answer("second").await;
        assert_eq!(other.answer().await, "HTTP/1.1 200 OK, second");
        assert_eq!(world.line().await, "GET /first 200 answered, worker 1, 2 bytes, 0 ms");
        assert_eq!(world.line().await, "GET /second 200 answered, worker 1, 6 bytes, 400 ms");
        assert_eq!(world.slot(&worker), "free");
    });
}

#[test]
fn a_request_that_the_app_gives_back_goes_to_a_worker_that_is_free() {
    play(async |world| {
        let (worker, mut client, mut first) = world.asked("/first").await;
        first.write(&format!("HTTP/1.1 200 OK\r\n{MARK}Content-Length: 2\r\n\r\nok")).await;
        client.answer().await;
        let first_id = first.id;
        client.get("/second").await;
        let second = first.next().await.expect("the next request");
        world.gate.dispatch.scale(2);
        let other = world.worker().await;
        let _held = second.gives_back(first_id);
        let mut again = other.call().await;
        assert_eq!((world.slot(&worker).as_str(), world.slot(&other).as_str()), ("holds 1", "holds 1"));
        again.answer("second").await;
        assert_eq!(client.answer().await, "HTTP/1.1 200 OK, second");
        assert_eq!(world.line().await, "GET /second 200 answered, worker 2, 6 bytes, 0 ms");
        assert_eq!(world.line().await, "GET /first 200 answered, worker 1, 2 bytes, 0 ms");
    });
}

#[test]
fn i1_a_worker_that_never_ends_an_answered_request_is_replaced() {
    play(async |world| {
        let (worker, mut client, _held) = world.given_back().await;
        let refused = client.answer().await;
        assert!(refused.starts_with("HTTP/1.1 503 Service Unavailable, SLU-QUEUE-DEADLINE"), "{refused}");
        world.pass(50_000).await;
        world.settle().await;
        assert_eq!((world.slot(&worker).as_str(), world.at_ms()), ("holds 1, Stopping", 60_000));
        assert!(world.notes()[0].ends_with(" but never ended it; Sluice replaces the worker"));
    });
}

#[test]
fn a_full_backlog_is_no_fault_and_a_closed_socket_is() {
    play(async |world| {
        let (worker, mut client) = (world.worker().await, world.client());
        worker.listener.fill(true);
        client.get("/page").await;
        world.pass(3_000).await;
        assert_eq!(world.slot(&worker), "holds 1");
        worker.listener.fill(false);
        let mut call = worker.call().await;
        call.answer("hello").await;
        assert_eq!(client.answer().await, "HTTP/1.1 200 OK, hello");
        assert_eq!(world.line().await, "GET /page 200 answered, worker 1, 5 bytes, 3000 ms");
    });
}
