//! Workers that answer well, and workers whose heads are wrong or come in pieces.

use super::world::play;
use sluice_supervisor::Gate as _;

#[test]
fn a_whole_answer_frees_the_slot_and_its_connection_carries_the_next_request() {
    play(async |world| {
        let (worker, mut client, mut call) = world.asked("/page").await;
        world.pass(30).await;
        call.answer("hello").await;
        assert_eq!(client.answer().await, "HTTP/1.1 200 OK, hello");
        assert_eq!(world.line().await, "GET /page 200 answered, worker 1, 5 bytes, 30 ms");
        assert_eq!((world.slot(&worker).as_str(), world.at_ms()), ("free", 30));
        client.get("/again").await;
        let mut call = call.next().await.expect("the same connection");
        assert!(call.head.starts_with("GET /again HTTP/1.1\r\n"), "{}", call.head);
        call.answer("hello again").await;
        assert_eq!(client.answer().await, "HTTP/1.1 200 OK, hello again");
        assert_eq!(world.line().await, "GET /again 200 answered, worker 1, 11 bytes, 0 ms");
        client.leave();
        world.assert_no_line();
        assert!(world.notes().is_empty());
    });
}

#[test]
fn i3_a_worker_that_closes_before_its_headers_gives_its_client_an_error_and_keeps_the_slot_until_it_reports() {
    play(async |world| {
        let (worker, mut client, call) = world.asked("/page").await;
        let (id, gate) = (call.id, &world.gate);
        drop(call);
        // Its exit may be known a moment later, and then another worker would get the request.
        assert_eq!(client.answer().await, "HTTP/1.1 502 Bad Gateway, SLU-WORKER-ANSWER-TRUNCATED");
        assert_eq!((world.slot(&worker).as_str(), world.at_ms()), ("holds 1", 200));
        world.pass(300).await;
        assert_eq!(world.slot(&worker), "holds 1", "the app may still be at it");
        gate.reports().reported(worker.id, id, &sluice_supervisor::CpuReport::default());
        world.settle().await;
        assert_eq!(world.line().await, "GET /page 502 worker_fault SLU-WORKER-ANSWER-TRUNCATED, worker 1, 200 ms");
        world.serves(&worker).await;
        assert!(world.killed().is_empty());
    });
}

#[test]
fn i1_a_worker_that_neither_reports_nor_exits_is_replaced_with_its_slot() {
    play(async |world| {
        let (worker, mut client, call) = world.asked("/page").await;
        drop(call);
        assert_eq!(client.answer().await, "HTTP/1.1 502 Bad Gateway, SLU-WORKER-ANSWER-TRUNCATED");
        world.pass(6_999).await;
        assert_eq!((world.slot(&worker).as_str(), world.at_ms()), ("holds 1", 7_199));
        world.pass(1).await;
        world.settle().await;
        assert_eq!(world.slot(&worker), "holds 1, Stopping");
        let notes = world.notes();
        assert!(notes[0].starts_with("worker 1 never ended request "), "{notes:?}");
        assert_eq!(world.line().await, "GET /page 502 worker_fault SLU-WORKER-ANSWER-TRUNCATED, worker 1, 200 ms");
        worker.exit();
        let successor = world.worker().await;
        assert_eq!(successor.id.0, 2);
        world.serves(&successor).await;
    });
}

#[test]
fn a_worker_that_closes_inside_its_head_is_one_that_answered_nothing() {
    play(async |world| {
        let (worker, mut client, mut call) = world.asked("/page").await;
        call.write("HTTP/1.1 200 OK\r\nX-Hal").await;
        call.report();
        drop(call);
        assert_eq!(client.answer().await, "HTTP/1.1 502 Bad Gateway, SLU-WORKER-ANSWER-TRUNCATED");
        assert_eq!(world.at_ms(), 0, "its end was reported, so nothing is waited for");
        assert_eq!(world.line().await, "GET /page 502 worker_fault SLU-WORKER-ANSWER-TRUNCATED, worker 1, 0 ms");
        world.serves(&worker).await;
    });
}

/// What the client gets at once where the worker writes this and reports its end a little later.
fn malformed(written: String, why: &'static str) {
    play(async move |world| {
        let (worker, mut client, mut call) = world.asked("/page").await;
        world.pass(10).await;
        call.write(&written).await;
        assert_eq!(client.answer().await, "HTTP/1.1 502 Bad Gateway, SLU-WORKER-ANSWER-MALFORMED", "{why}");
        assert_eq!((world.slot(&worker).as_str(), world.at_ms()), ("holds 1", 10));
        assert_eq!(call.rest().await, "", "the connection is closed");
        call.report();
        assert_eq!(world.line().await, "GET /page 502 worker_fault SLU-WORKER-ANSWER-MALFORMED, worker 1, 10 ms");
        let notes = world.notes();
        assert!(notes.len() == 1 && notes[0].contains(why), "{notes:?}");
        world.settle().await;
        world.serves(&worker).await;
    });
}

#[test]
fn i8_bytes_that_are_not_headers_give_the_client_502() {
    malformed("<!doctype html>\r\n\r\n".to_owned(), "status line");
}

#[test]
fn i6_headers_without_an_end_are_cut_off_at_their_limit() {
    malformed(format!("HTTP/1.1 200 OK\r\nX-Long: {}", "x".repeat(70_000)), "too long");
}

#[test]
fn i6_headers_with_too_many_fields_are_refused() {
    malformed(format!("HTTP/1.1 200 OK\r\n{}\r\n", "X-A: b\r\n".repeat(257)), "too many");
}

#[test]
fn i8_an_upgrade_without_a_request_for_it_is_an_error() {
    malformed(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n".to_owned(),
        "the client did not request",
    );
}

#[test]
fn i8_two_different_lengths_are_an_error() {
    malformed("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab".to_owned(), "ength");
}

#[test]
fn a_head_that_drips_is_waited_for_while_it_moves() {
    play(async |world| {
        let (worker, mut client, mut call) = world.asked("/page").await;
        // Two thirds of response.worker_timeout_ms each.
        for piece in ["HTTP/1.1 2", "00 OK\r\nContent-Len", "gth: 5\r\n", "\r\nhe"] {
            world.pass(40_000).await;
            call.write(piece).await;
        }
        let (start, _) = client.head().await;
        assert_eq!((start.as_str(), world.at_ms()), ("HTTP/1.1 200 OK", 160_000));
        world.pass(40_000).await;
        call.write("llo").await;
        assert_eq!(client.take(5).await, b"hello");
        call.report();
        assert_eq!(world.line().await, "GET /page 200 answered, worker 1, 5 bytes, 200000 ms");
        // Its first connection, but the head was the app's own: nobody knows what else it writes there.
        assert_eq!(call.rest().await, "");
        world.serves(&worker).await;
    });
}

#[test]
fn interim_answers_that_mean_something_to_a_client_reach_it() {
    play(async |world| {
        let (worker, mut client, mut call) = world.asked("/page").await;
        call.write("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n")
            .await;
        let (start, fields) = client.head().await;
        assert_eq!((start.as_str(), world.at_ms()), ("HTTP/1.1 103 Early Hints", 0));
        assert_eq!(fields.get("link"), Some(&b"</a.css>; rel=preload"[..]));
        call.write("HTTP/1.1 104 Unknown\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n").await;
        assert_eq!(client.head().await.0, "HTTP/1.1 102 Processing");
        world.pass(20).await;
        call.answer("hello").await;
        assert_eq!(client.answer().await, "HTTP/1.1 200 OK, hello");
        assert_eq!(world.line().await, "GET /page 200 answered, worker 1, 5 bytes, 20 ms");
        assert_eq!(world.slot(&worker), "free");
    });
}

#[test]
fn a_client_of_http_1_0_gets_no_interim_answer() {
    play(async |world| {
        let (worker, mut client) = (world.worker().await, world.client());
        client.send("GET /page HTTP/1.0\r\nHost: app.test\r\n\r\n").await;
        let mut call = worker.call().await;
        call.write("HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n").await;
        world.pass(1).await;
        call.answer("hello").await;
        assert_eq!(client.rest().await, "HTTP/1.1 200 OK, Connection: close, hello|");
    });
}

#[test]
fn i6_unread_interim_answers_are_dropped_beyond_their_limit() {
    play(async |world| {
        let (worker, mut client) = (world.worker().await, world.client_that_takes(64));
        client.get("/page").await;
        let mut call = worker.call().await;
        for hint in 0..1_000 {
            call.write(&format!("HTTP/1.1 103 Early Hints\r\nX-Hint: {hint}\r\n\r\n")).await;
            world.settle().await;
        }
        call.answer("hello").await;
        let mut hints = 0;
        while client.head().await.0 == "HTTP/1.1 103 Early Hints" {
            hints += 1;
        }
        assert_eq!(client.take(5).await, b"hello");
        assert!((8..20).contains(&hints), "{hints}");
        assert_eq!(world.slot(&worker), "free");
    });
}
