//! Clients that leave, send slowly or too much, or take nothing.

use std::time::Duration;

use super::worker::MARK;
use super::world::{play, play_with};

#[test]
fn a_client_that_leaves_while_it_waits_leaves_the_queue() {
    play(async |world| {
        let (worker, _client, mut call) = world.asked("/slow").await;
        let mut other = world.client();
        other.get("/page").await;
        world.pass(70).await;
        other.leave();
        assert_eq!(world.line().await, "GET /page 0 client_gone_queued, 0 bytes, 70 ms");
        assert_eq!(world.gate.scheduler.read(sluice_scheduler::Scheduler::queue_length), 0);
        call.answer("slow").await;
        world.settle().await;
        assert!(call.next_within(Duration::from_secs(1)).await.is_none(), "no worker sees it");
        assert_eq!(world.slot(&worker), "free");
    });
}

#[test]
fn i1_a_client_that_leaves_frees_no_slot_until_the_app_has_ended_the_request() {
    play(async |world| {
        let (worker, client, mut call) = world.asked("/page").await;
        world.pass(20).await;
        client.leave();
        assert_eq!(call.rest().await, "", "the app sees it at its connection");
        world.pass(500).await;
        assert_eq!(world.slot(&worker), "holds 1");
        call.report();
        assert_eq!(world.line().await, "GET /page 0 client_gone_in_service, worker 1, 0 bytes, 530 ms");
        world.settle().await;
        world.serves(&worker).await;
    });
}

#[test]
fn a_client_that_is_killed_in_its_answer_is_gone() {
    play(async |world| {
        let (worker, mut client, mut call) = world.asked("/page").await;
        call.write(&format!("HTTP/1.1 200 OK\r\n{MARK}Content-Length: 10\r\n\r\nhello")).await;
        client.head().await;
        client.reset().await;
        assert_eq!(call.rest().await, "");
        call.report();
        assert_eq!(world.line().await, "GET /page 200 client_gone_in_service, worker 1, 5 bytes, 0 ms");
        world.settle().await;
        world.serves(&worker).await;
    });
}

#[test]
fn a_client_that_half_closes_gets_what_was_written_by_then() {
    play(async |world| {
        let (worker, mut client, mut call) = world.asked("/page").await;
        client.half_close().await;
        assert_eq!(call.rest().await, "", "the app sees the end of its client's side");
        call.answer("hello").await;
        assert_eq!(client.rest().await, "HTTP/1.1 200 OK, Connection: close, hello|");
        assert_eq!(world.line().await, "GET /page 200 client_gone_in_service, worker 1, 5 bytes, 0 ms");
        assert_eq!(world.slot(&worker), "free");
    });
}

#[test]
fn i2_a_client_that_reads_nothing_takes_no_time_of_its_worker_and_is_cut_off_after_a_minute() {
    play(async |world| {
        let (worker, mut client) = (world.worker().await, world.client_that_takes(4096));
        client.get("/page").await;
        let mut call = worker.call().await;
        let body = "x".repeat(3 << 20);
        call.answer(&body).await;
        world.pass(1).await;
        assert_eq!(world.slot(&worker), "free", "the worker has written all of it");
        world.pass(3_000).await;
        assert!(
            world.gate.road.store.memory.used_bytes() < 64 * 1024,
            "{} bytes are in memory",
            world.gate.road.store.memory.used_bytes()
        );
        assert!(
            world.gate.road.store.used_bytes() > 2 << 20,
            "{} bytes are in the file",
            world.gate.road.store.used_bytes()
        );
        let line = world.line().await;
        assert!(line.starts_with("GET /page 200 client_gone_in_service, worker 1, "), "{line}");
        assert!((60_000..62_000).contains(&world.at_ms()), "{}", world.at_ms());
    });
}

#[test]
fn a_client_that_takes_its_answer_late_gets_all_of_it() {
    play(async |world| {
        let (worker, mut client) = (world.worker().await, world.client_that_takes(4096));
        client.get("/page").await;
        let mut call = worker.call().await;
        let body = "0123456789abcdef".repeat(64 * 1024);
        call.answer(&body).await;
        world.pass(30_000).await;
        assert_eq!(client.answer().await, format!("HTTP/1.1 200 OK, {body}"));
        assert_eq!(world.line().await, "GET /page 200 answered, worker 1, 1048576 bytes, 30000 ms");
        assert_eq!(world.slot(&worker), "free");
    });
}

#[test]
fn i6_a_head_that_drips_is_refused_at_its_deadline_and_one_that_never_comes_is_closed() {
    play(async |world| {
        let (mut slow, mut silent) = (world.client(), world.client());
        for byte in ["G", "E", "T", " "] {
            slow.send(byte).await;
            world.pass(3_000).await;
        }
        assert_eq!(slow.rest().await, "HTTP/1.1 408 Request Timeout, SLU-HEADERS-TIMEOUT, Connection: close|");
        assert_eq!(world.at_ms(), 15_000);
        assert_eq!(world.line().await, "  408 timed_out SLU-HEADERS-TIMEOUT, 15000 ms");
        assert_eq!(silent.rest().await, "|");
        assert_eq!(world.at_ms(), 15_000);
        world.pass(100).await;
        world.assert_no_line();
    });
}

#[test]
fn i2_a_body_slower_than_the_minimum_is_refused_and_reaches_no_worker() {
    play(async |world| {
        let (worker, mut client) = (world.worker().await, world.client());
        client.send("POST /form HTTP/1.1\r\nHost: app.test\r\nContent-Length: 100\r\n\r\n").await;
        world.pass(9_000).await;
        client.send("name").await;
        assert_eq!(client.rest().await, "HTTP/1.1 408 Request Timeout, SLU-BODY-TOO-SLOW, Connection: close|");
        // 10 s, and the time that 4 bytes may take at 512 a second.
        assert_eq!(world.at_ms(), 10_007);
        assert_eq!(world.line().await, "POST /form 408 timed_out SLU-BODY-TOO-SLOW, 10007 ms");
        assert_eq!(world.slot(&worker), "free");
    });
}

#[test]
fn an_upload_that_is_broken_off_reaches_no_worker() {
    play(async |world| {
        let (worker, mut client) = (world.worker().await, world.client());
        client.send("POST /form HTTP/1.1\r\nHost: app.test\r\nContent-Length: 100\r\n\r\nname").await;
        world.pass(40).await;
        client.leave();
        assert_eq!(world.line().await, "POST /form 0 client_gone_receiving, 0 bytes, 40 ms");
        world.serves(&worker).await;
    });
}

#[test]
fn requests_that_come_in_one_piece_are_answered_in_their_order() {
    play(async |world| {
        let (worker, mut client) = (world.worker().await, world.client());
        let request = |target| format!("GET {target} HTTP/1.1\r\nHost: app.test\r\n\r\n");
        client.send(&(request("/1") + &request("/2"))).await;
        let mut call = worker.call().await;
        assert!(call.head.starts_with("GET /1 "), "{}", call.head);
        call.answer("one").await;
        let mut call = call.next().await.expect("the second");
        assert!(call.head.starts_with("GET /2 "), "{}", call.head);
        call.answer("two").await;
        assert_eq!(client.answer().await, "HTTP/1.1 200 OK, one");
        assert_eq!(client.answer().await, "HTTP/1.1 200 OK, two");
    });
}

#[test]
fn a_body_that_waits_to_be_asked_for_is() {
    play(async |world| {
        let (worker, mut client) = (world.worker().await, world.client());
        client.send("POST /form HTTP/1.1\r\nHost: app.test\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n").await;
        assert_eq!(client.head().await.0, "HTTP/1.1 100 Continue");
        client.send("name").await;
        let mut call = worker.call().await;
        assert_eq!(call.body(4).await, "name");
        assert!(!call.head.to_ascii_lowercase().contains("expect"), "{}", call.head);
        call.answer("done").await;
        assert_eq!(client.answer().await, "HTTP/1.1 200 OK, done");
    });
}

#[test]
fn i6_a_head_beyond_its_bounds_is_refused() {
    play_with(
        |config| config.server.headers_bytes_max = 1024,
        async |world| {
            let mut client = world.client();
            client.send(&format!("GET / HTTP/1.1\r\nHost: app.test\r\nX-Long: {}\r\n\r\n", "x".repeat(2000))).await;
            let refused = client.rest().await;
            assert!(refused.starts_with("HTTP/1.1 431 "), "{refused}");
            assert!(refused.contains("SLU-HEADERS-TOO-LARGE"), "{refused}");
        },
    );
}

#[test]
fn a_client_of_http_1_0_gets_its_chunks_until_the_connection_closes() {
    play(async |world| {
        let (worker, mut client) = (world.worker().await, world.client());
        client.send("GET /page HTTP/1.0\r\nHost: app.test\r\nConnection: keep-alive\r\n\r\n").await;
        let mut call = worker.call().await;
        call.write(&format!("HTTP/1.1 200 OK\r\n{MARK}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"))
            .await;
        call.report();
        assert_eq!(client.rest().await, "HTTP/1.1 200 OK, Connection: close, hello|");
    });
}

#[test]
fn an_error_for_head_has_no_body_whatever_is_wrong_with_its_head() {
    play(async |world| {
        for (method, has_body) in [("HEAD", false), ("GET", true)] {
            let mut client = world.client();
            client.send(&format!("{method} /page HTTP/1.1\r\nno field\r\n\r\n")).await;
            let (start, fields) = client.head().await;
            assert_eq!(start, "HTTP/1.1 400 Bad Request");
            assert_ne!(fields.get("content-length"), Some(&b"0"[..]));
            assert_eq!(client.rest().await != "|", has_body, "{method}");
        }
    });
}
