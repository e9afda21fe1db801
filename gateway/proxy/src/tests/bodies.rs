//! Workers whose bodies are shorter, longer or other than their heads announce.

use super::worker::MARK;
use super::world::play;

#[test]
fn a_body_that_its_app_ends_too_soon_is_cut_off_at_the_client_too() {
    play(async |world| {
        let (worker, mut client, mut call) = world.asked("/page").await;
        call.write(&format!("HTTP/1.1 200 OK\r\n{MARK}Content-Length: 10\r\n\r\nhello")).await;
        world.pass(50).await;
        call.report();
        assert_eq!(client.rest().await, "HTTP/1.1 200 OK, hello|");
        assert_eq!(world.at_ms(), 60, "bytes that are on their way have 10 ms");
        assert_eq!(
            world.line().await,
            "GET /page 200 worker_fault SLU-WORKER-ANSWER-TRUNCATED, worker 1, 5 bytes, 60 ms"
        );
        let notes = world.notes();
        assert!(notes[0].contains("with fewer bytes than its Content-Length"), "{notes:?}");
        assert_eq!(call.rest().await, "");
        world.serves(&worker).await;
    });
}

#[test]
fn a_body_whose_end_is_reported_before_its_last_bytes_is_whole() {
    play(async |world| {
        let (worker, mut client, mut call) = world.asked("/page").await;
        call.write(&format!("HTTP/1.1 200 OK\r\n{MARK}Content-Length: 10\r\n\r\nhello")).await;
        call.report();
        world.pass(9).await;
        call.write("world").await;
        assert_eq!(client.answer().await, "HTTP/1.1 200 OK, helloworld");
        assert_eq!(world.line().await, "GET /page 200 answered, worker 1, 10 bytes, 9 ms");
        assert_eq!(world.slot(&worker), "free");
        client.get("/again").await;
        let mut call = call.next().await.expect("its connection carries the next request");
        call.answer("again").await;
        assert_eq!(client.answer().await, "HTTP/1.1 200 OK, again");
    });
}

#[test]
fn a_connection_that_closes_inside_a_body_closes_the_clients() {
    play(async |world| {
        let (worker, mut client, mut call) = world.asked("/page").await;
        call.write(&format!("HTTP/1.1 200 OK\r\n{MARK}Content-Length: 10\r\n\r\nhello")).await;
        world.settle().await;
        call.report();
        drop(call);
        assert_eq!(client.rest().await, "HTTP/1.1 200 OK, hello|");
        assert_eq!(world.at_ms(), 0);
        assert_eq!(
            world.line().await,
            "GET /page 200 worker_fault SLU-WORKER-ANSWER-TRUNCATED, worker 1, 5 bytes, 0 ms"
        );
        world.serves(&worker).await;
    });
}

#[test]
fn i10_a_body_longer_than_announced_is_an_error_while_the_client_has_no_byte() {
    play(async |world| {
        let (worker, mut client, mut call) = world.asked("/page").await;
        call.write(&format!("HTTP/1.1 200 OK\r\n{MARK}Content-Length: 5\r\n\r\nhello, and more")).await;
        assert_eq!(client.answer().await, "HTTP/1.1 502 Bad Gateway, SLU-WORKER-ANSWER-MALFORMED");
        call.report();
        assert_eq!(world.line().await, "GET /page 502 worker_fault SLU-WORKER-ANSWER-MALFORMED, worker 1, 0 ms");
        world.settle().await;
        world.serves(&worker).await;
    });
}

#[test]
fn i10_bytes_after_the_announced_end_reach_no_client() {
    play(async |world| {
        let (worker, mut client, mut call) = world.asked("/page").await;
        call.write(&format!("HTTP/1.1 200 OK\r\n{MARK}Content-Length: 5\r\n\r\nhel")).await;
        world.pass(5).await;
        call.write("lo, and more").await;
        assert_eq!(client.answer().await, "HTTP/1.1 200 OK, hello");
        assert_eq!(call.rest().await, "", "the connection carries no other request");
        call.report();
        assert_eq!(world.line().await, "GET /page 200 answered, worker 1, 5 bytes, 5 ms");
        world.serves(&worker).await;
    });
}

#[test]
fn chunks_go_on_as_chunks_with_their_trailers() {
    play(async |world| {
        let (worker, mut client, mut call) = world.asked("/page").await;
        call.write(&format!(
            "HTTP/1.1 200 OK\r\n{MARK}Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n5\r\nhello\r\n"
        ))
        .await;
        let (start, fields) = client.head().await;
        assert_eq!((start.as_str(), fields.get("transfer-encoding")), ("HTTP/1.1 200 OK", Some(&b"chunked"[..])));
        assert_eq!(client.take(10).await, b"5\r\nhello\r\n");
        world.pass(30).await;
        call.write("6\r\n world\r\n0\r\nX-Sum: 11\r\n\r\n").await;
        assert_eq!(client.take(27).await, b"6\r\n world\r\n0\r\nX-Sum: 11\r\n\r\n");
        call.report();
        assert_eq!(world.line().await, "GET /page 200 answered, worker 1, 11 bytes, 30 ms");
        client.get("/again").await;
        let mut call = call.next().await.expect("its connection carries the next request");
        call.answer("again").await;
        assert_eq!(client.answer().await, "HTTP/1.1 200 OK, again");
        assert_eq!(world.slot(&worker), "free");
    });
}

/// A chunked answer that breaks: what the client gets of it, and the error.
fn broken_chunks(written: &'static str, closes: bool, got: &'static str, code: &'static str) {
    play(async move |world| {
        let (worker, mut client, mut call) = world.asked("/page").await;
        call.write(&format!("HTTP/1.1 200 OK\r\n{MARK}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")).await;
        world.pass(10).await;
        call.write(written).await;
        call.report();
        let call = if closes {
            drop(call);
            None
        } else {
            Some(call)
        };
        assert_eq!(client.rest().await, format!("HTTP/1.1 200 OK, Transfer-Encoding: chunked, 5\r\nhello\r\n{got}|"));
        assert_eq!(world.at_ms(), 10);
        let line = format!(
            "GET /page 200 worker_fault {code}, worker 1, {} bytes, 10 ms",
            5 + if got.is_empty() { 0 } else { 3 }
        );
        assert_eq!(world.line().await, line);
        if let Some(mut call) = call {
            assert_eq!(call.rest().await, "");
        }
        world.settle().await;
        world.serves(&worker).await;
    });
}

#[test]
fn chunks_without_their_end_leave_the_client_without_one() {
    broken_chunks("3\r\nwor\r\n", true, "3\r\nwor\r\n", "SLU-WORKER-ANSWER-TRUNCATED");
}

#[test]
fn a_chunk_that_is_cut_off_is_passed_on_as_far_as_it_came() {
    broken_chunks("a\r\nwor", true, "3\r\nwor\r\n", "SLU-WORKER-ANSWER-TRUNCATED");
}

#[test]
fn i8_a_chunk_of_no_size_breaks_the_answer_off() {
    broken_chunks("hello\r\n", false, "", "SLU-WORKER-ANSWER-MALFORMED");
}

#[test]
fn i8_a_chunk_longer_than_its_size_breaks_the_answer_off() {
    broken_chunks("3\r\nworld\r\n", false, "", "SLU-WORKER-ANSWER-MALFORMED");
}

#[test]
fn a_body_until_the_end_of_the_connection_is_whole_when_the_worker_says_so() {
    play(async |world| {
        let (worker, mut client, mut call) = world.asked("/page").await;
        call.write(&format!("HTTP/1.1 200 OK\r\n{MARK}Connection: close\r\n\r\nhello")).await;
        call.report();
        drop(call);
        let (_, fields) = client.head().await;
        assert_eq!(fields.get("transfer-encoding"), Some(&b"chunked"[..]));
        assert_eq!(client.take(15).await, b"5\r\nhello\r\n0\r\n\r\n");
        assert_eq!(world.line().await, "GET /page 200 answered, worker 1, 5 bytes, 0 ms");
        world.serves(&worker).await;
    });
}

#[test]
fn a_body_until_the_end_of_the_connection_is_not_whole_where_its_worker_dies() {
    play(async |world| {
        let (worker, mut client, mut call) = world.asked("/page").await;
        call.write(&format!("HTTP/1.1 200 OK\r\n{MARK}Connection: close\r\n\r\nhello")).await;
        drop(call);
        world.pass(20).await;
        worker.exit();
        assert_eq!(client.rest().await, "HTTP/1.1 200 OK, Transfer-Encoding: chunked, 5\r\nhello\r\n|");
        assert!(world.line().await.starts_with("GET /page 200 worker_died SLU-WORKER-DIED, worker 1, 5 bytes, "));
    });
}

/// An answer that has no body, and one behind it all the same.
fn body_of_none(method: &'static str, head: &'static str, shown: &'static str) {
    play(async move |world| {
        let (worker, mut client) = (world.worker().await, world.client());
        client.send(&format!("{method} /page HTTP/1.1\r\nHost: app.test\r\n\r\n")).await;
        let mut call = worker.call().await;
        call.write(&format!("{head}\r\n{MARK}Content-Length: 5\r\n\r\n")).await;
        assert_eq!(client.head().await.0, shown);
        call.write("hello").await;
        call.report();
        assert_eq!(call.rest().await, "", "the slot closes the connection that sends what nobody asked for");
        assert!(world.line().await.ends_with("answered, worker 1, 0 bytes, 0 ms"));
        client.get("/again").await;
        let mut call = worker.call().await;
        call.answer("again").await;
        assert_eq!(client.answer().await, "HTTP/1.1 200 OK, again", "not a byte of it reached the client");
    });
}

#[test]
fn i10_the_body_of_an_answer_to_head_reaches_no_client() {
    body_of_none("HEAD", "HTTP/1.1 200 OK", "HTTP/1.1 200 OK");
}

#[test]
fn i10_the_body_of_a_204_reaches_no_client() {
    body_of_none("GET", "HTTP/1.1 204 No Content", "HTTP/1.1 204 No Content");
}

#[test]
fn i10_the_body_of_a_304_reaches_no_client() {
    body_of_none("GET", "HTTP/1.1 304 Not Modified", "HTTP/1.1 304 Not Modified");
}
