//! Connections to workers that carry more than one request: closed under one, or with bytes of another on them.

use super::client::Client;
use super::worker::{Call, MARK, Worker};
use super::world::{World, play};
use sluice_supervisor::Gate as _;

/// A worker that has answered one request, and the connection that is kept.
async fn answered(world: &World) -> (Worker, Client, Call) {
    let (worker, mut client, mut call) = world.asked("/first").await;
    call.answer("first").await;
    assert_eq!(client.answer().await, "HTTP/1.1 200 OK, first");
    assert_eq!(world.line().await, "GET /first 200 answered, worker 1, 5 bytes, 0 ms");
    (worker, client, call)
}

#[test]
fn a_kept_connection_that_closes_while_it_is_idle_is_noticed_before_it_is_used() {
    play(async |world| {
        let (worker, client, call) = answered(&world).await;
        drop(call);
        world.settle().await;
        world.serves(&worker).await;
        client.leave();
    });
}

#[test]
fn i5_an_idle_connection_that_closes_before_it_reads_a_request_loses_not_even_a_post() {
    play(async |world| {
        let (worker, mut client, call) = answered(&world).await;
        client.post("/form", "name=value").await;
        world.settle().await;
        // The request is in the pipe, and Node closes before it has read a byte of it.
        drop(call);
        let mut call = worker.call().await;
        assert!(call.head.starts_with("POST /form "), "{}", call.head);
        assert_eq!(call.body(10).await, "name=value");
        call.answer("done").await;
        assert_eq!(client.answer().await, "HTTP/1.1 200 OK, done");
        assert_eq!(world.line().await, "POST /form 200 answered, worker 1, 4 bytes, 0 ms");
        assert_eq!(world.slot(&worker), "free");
    });
}

#[test]
fn i5_an_idle_connection_that_closes_in_the_same_moment_loses_no_request() {
    play(async |world| {
        let (worker, mut client, call) = answered(&world).await;
        // The slot learns of both at once.
        client.post("/form", "name=value").await;
        drop(call);
        let mut call = worker.call().await;
        call.answer("done").await;
        assert_eq!(client.answer().await, "HTTP/1.1 200 OK, done");
    });
}

#[test]
fn i5_a_request_is_retried_once_on_a_new_connection_and_then_no_more() {
    play(async |world| {
        let (worker, mut client, call) = answered(&world).await;
        client.get("/page").await;
        world.settle().await;
        drop(call);
        // Not a byte of it is read there either, and the worker lives.
        let again = worker.accept().await;
        world.settle().await;
        drop(again);
        assert_eq!(client.answer().await, "HTTP/1.1 502 Bad Gateway, SLU-WORKER-ANSWER-TRUNCATED");
        assert_eq!(world.line().await, "GET /page 502 worker_fault SLU-WORKER-ANSWER-TRUNCATED, worker 1, 200 ms");
        world.serves(&worker).await;
    });
}

#[test]
fn i5_a_post_of_which_the_worker_has_read_a_byte_is_not_retried() {
    play(async |world| {
        let (worker, mut client, call) = answered(&world).await;
        client.post("/form", "name=value").await;
        let mut call = call.next().await.expect("it is read, on the same connection");
        assert_eq!(call.body(10).await, "name=value");
        call.report();
        drop(call);
        assert_eq!(client.answer().await, "HTTP/1.1 502 Bad Gateway, SLU-WORKER-ANSWER-TRUNCATED");
        assert_eq!(world.line().await, "POST /form 502 worker_fault SLU-WORKER-ANSWER-TRUNCATED, worker 1, 0 ms");
        world.serves(&worker).await;
    });
}

#[test]
fn i5_without_a_preload_a_sent_request_is_not_retried() {
    play(async |world| {
        let (worker, mut client) = (world.worker_without_preload().await, world.client());
        client.get("/first").await;
        let mut call = worker.call().await;
        call.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst").await;
        assert_eq!(client.answer().await, "HTTP/1.1 200 OK, first");
        // Nothing on a connection shows whose answer it is, so each carries one request.
        assert_eq!(call.rest().await, "");
        assert_eq!(world.slot(&worker), "free");
        client.get("/second").await;
        let mut call = worker.call().await;
        call.write("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecond").await;
        assert_eq!(client.answer().await, "HTTP/1.1 200 OK, second");
    });
}

#[test]
fn i10_late_bytes_on_an_idle_connection_close_it() {
    play(async |world| {
        let (worker, _client, mut call) = answered(&world).await;
        call.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate").await;
        assert_eq!(call.rest().await, "");
        world.serves(&worker).await;
    });
}

/// What a client gets where this came on the connection before its own answer.
fn foreign(written: &'static str) {
    play(async move |world| {
        let (worker, mut client, call) = answered(&world).await;
        client.get("/page").await;
        let mut call = call.next().await.expect("the same connection");
        call.write(written).await;
        world.settle().await;
        call.report();
        assert_eq!(client.answer().await, "HTTP/1.1 502 Bad Gateway, SLU-WORKER-ANSWER-MALFORMED", "{written}");
        assert_eq!(world.line().await, "GET /page 502 worker_fault SLU-WORKER-ANSWER-MALFORMED, worker 1, 0 ms");
        assert!(world.notes()[0].contains("sent bytes before the response to request"));
        assert_eq!(call.rest().await, "");
        world.settle().await;
        world.serves(&worker).await;
    });
}

#[test]
fn i10_an_answer_without_the_requests_token_reaches_no_client() {
    foreign("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate");
}

#[test]
fn i10_an_answer_with_another_token_reaches_no_client() {
    foreign("HTTP/1.1 200 OK\r\nx-sluice-answer: 0123456789abcdef\r\nContent-Length: 4\r\n\r\nlate");
}

#[test]
fn i10_headers_after_half_of_other_headers_reach_no_client() {
    // The token is right, and is not the first field.
    foreign("HTTP/1.1 200 OK\r\nX-Late: HTTP/1.1 200 OK\r\n{mark}Content-Length: 4\r\n\r\nlate");
}

#[test]
fn i10_a_status_line_after_half_of_another_reaches_no_client() {
    foreign("HTTP/1.1 200 HTTP/1.1 200 OK\r\n{mark}Content-Length: 4\r\n\r\nlate");
}

#[test]
fn an_answer_without_a_token_on_a_new_connection_is_the_requests_own_and_ends_it() {
    play(async |world| {
        let (worker, mut client, mut call) = world.asked("/raw").await;
        call.write("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nraw").await;
        call.report();
        assert_eq!(client.answer().await, "HTTP/1.1 200 OK, raw");
        assert_eq!(call.rest().await, "");
        assert_eq!(world.line().await, "GET /raw 200 answered, worker 1, 3 bytes, 0 ms");
        world.serves(&worker).await;
    });
}

#[test]
fn an_answer_that_closes_its_connection_is_whole_and_the_next_request_gets_another() {
    play(async |world| {
        let (worker, mut client, mut call) = world.asked("/page").await;
        call.write(&format!("HTTP/1.1 200 OK\r\n{MARK}Connection: close\r\nContent-Length: 5\r\n\r\nhello")).await;
        call.report();
        assert_eq!(client.answer().await, "HTTP/1.1 200 OK, hello", "the client's own connection goes on");
        assert_eq!(world.line().await, "GET /page 200 answered, worker 1, 5 bytes, 0 ms");
        assert_eq!(call.rest().await, "");
        world.serves(&worker).await;
    });
}

#[test]
fn a_worker_that_writes_past_its_responses_gets_one_request_a_connection() {
    play(async |world| {
        let (worker, mut client, mut call) = answered(&world).await;
        world.gate.workers().writes_raw(worker.id, 7);
        assert!(world.notes()[0].contains("writes to a connection (`socket.write`) past its responses; 7 bytes"));
        client.get("/second").await;
        assert_eq!(call.rest().await, "", "the one that was kept is not used again");
        let mut call = worker.call().await;
        call.answer("second").await;
        assert_eq!(client.answer().await, "HTTP/1.1 200 OK, second");
        assert_eq!(call.rest().await, "");
    });
}

#[test]
fn a_worker_that_listens_afresh_is_reached_on_a_new_connection() {
    play(async |world| {
        let (worker, mut client, mut call) = answered(&world).await;
        worker.listen_afresh();
        assert_eq!(call.rest().await, "");
        client.get("/second").await;
        let mut call = worker.call().await;
        call.answer("second").await;
        assert_eq!(client.answer().await, "HTTP/1.1 200 OK, second");
    });
}
