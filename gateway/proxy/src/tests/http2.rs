//! Clients of HTTP/2 that take nothing, send nothing, or are told to leave.

use std::future::poll_fn;

use bytes::Bytes;
use h2::client::{Builder, Connection, SendRequest};
use http::Request;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::world::{World, play};
use sluice_wire::socket::memory::End;

type Client = (SendRequest<Bytes>, Connection<End, Bytes>);

/// A client whose windows are no bound.
async fn shake_hands(end: End) -> Client {
    let mut builder = Builder::new();
    builder.initial_window_size(1 << 20).initial_connection_window_size(1 << 20);
    builder.handshake(end).await.expect("the gateway reads")
}

fn get(target: &str) -> Request<()> {
    Request::get(format!("https://app.test{target}")).body(()).unwrap()
}

/// Lets the client read and write for as long as nothing has to be waited for.
async fn drive(world: &World, connection: &mut Connection<End, Bytes>) {
    for _ in 0..10 {
        poll_fn(|cx| {
            let _ = Future::poll(std::pin::Pin::new(&mut *connection), cx);
            std::task::Poll::Ready(())
        })
        .await;
        world.settle().await;
    }
}

#[test]
fn i6_a_connection_that_reads_nothing_is_cut_off_and_its_worker_is_free_long_before() {
    play(async |world| {
        let (worker, (end, serving)) = (world.worker().await, world.http2(16 * 1024));
        let (mut ask, mut connection) = shake_hands(end).await;
        let (_answer, _) = ask.send_request(get("/page"), true).unwrap();
        drive(&world, &mut connection).await;
        let mut call = worker.call().await;
        call.answer(&"x".repeat(500_000)).await;
        // From here on the client reads nothing.
        world.settle().await;
        assert_eq!((world.slot(&worker).as_str(), world.at_ms()), ("free", 0));
        serving.await.unwrap();
        assert_eq!(world.at_ms(), 60_000);
        let line = world.line().await;
        assert!(line.starts_with("GET /page 200 client_gone_in_service, worker 1, "), "{line}");
    });
}

#[test]
fn i6_a_client_without_a_request_is_disconnected_at_the_time_limit_for_headers() {
    play(async |world| {
        let (end, serving) = world.http2(16 * 1024);
        let (_ask, connection) = shake_hands(end).await;
        connection.await.expect("the gateway ends the connection well");
        assert_eq!(world.at_ms(), 15_000);
        serving.await.unwrap();
    });
}

#[test]
fn i6_a_body_that_stops_is_refused_on_its_stream_alone() {
    play(async |world| {
        let (worker, (end, _serving)) = (world.worker().await, world.http2(64 * 1024));
        let (mut ask, connection) = shake_hands(end).await;
        tokio::task::spawn_local(connection);
        let post = Request::post("https://app.test/form").body(()).unwrap();
        let (refused, mut body) = ask.send_request(post, false).unwrap();
        body.send_data(Bytes::from_static(b"name"), false).unwrap();
        assert_eq!(refused.await.unwrap().status(), 408);
        assert_eq!(world.at_ms(), 10_000, "no pause is longer");
        assert_eq!(world.line().await, "POST /form 408 timed_out SLU-BODY-TOO-SLOW, 10000 ms");
        let (answer, _) = ask.send_request(get("/next"), true).unwrap();
        worker.call().await.answer("next").await;
        assert_eq!(answer.await.unwrap().status(), 200);
    });
}

/// A frame of RFC 9113 on the stream of this number.
fn frame(kind: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let len = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&len[1..], &[kind, 0], &stream.to_be_bytes(), payload].concat()
}

/// Frames that are sent where nobody ends the connection before.
const FLOOD: usize = 100_000;

/// Sends this over and over, while everything is read, until the gateway ends the connection. The reason that it gives.
async fn reason_after(end: End, flood: &[u8]) -> Option<u32> {
    let (mut data, mut reason) = (Vec::new(), None);
    let (mut reading, mut writing) = tokio::io::split(end);
    let write = async {
        for _ in 0..FLOOD {
            if writing.write_all(flood).await.is_err() {
                return;
            }
        }
        // Not cut off: then this end is.
        let _ = writing.shutdown().await;
    };
    // What the gateway has not read resets the connection, behind what it has said.
    let (_, ()) = tokio::join!(reading.read_to_end(&mut data), write);
    let mut rest = &data[..];
    while let [a, b, c, kind, ..] = *rest {
        let len = u32::from_be_bytes([0, a, b, c]) as usize;
        let (frame, others) = rest.split_at(9 + len);
        if kind == 7 {
            reason = Some(u32::from_be_bytes(frame[13..17].try_into().unwrap()));
        }
        rest = others;
    }
    reason
}

#[test]
fn i6_a_flood_of_frames_without_request_data_ends_its_connection_and_no_other() {
    let one_more = 1_u32.to_be_bytes();
    let floods = [
        ("WINDOW_UPDATE", frame(8, 0, &one_more)),
        ("PRIORITY", frame(2, 1, &[0, 0, 0, 0, 16])),
        ("PRIORITY_UPDATE", frame(0x10, 0, b"\0\0\0\x01u=1")),
        ("SETTINGS", frame(4, 0, &[])),
        ("PING", frame(6, 0, b"12345678")),
    ];
    for (name, flood) in floods {
        play(async |world| {
            let worker = world.worker().await;
            let end = greeted(&world).await;
            let (mut ask, connection) = shake_hands(world.http2(64 * 1024).0).await;
            tokio::task::spawn_local(connection);
            assert_eq!(reason_after(end, &flood).await, Some(h2::Reason::ENHANCE_YOUR_CALM.into()), "{name}");
            let (answer, _) = ask.send_request(get("/page"), true).unwrap();
            worker.call().await.answer("page").await;
            assert_eq!(answer.await.unwrap().status(), 200, "{name}");
        });
    }
}

#[test]
fn a_client_that_gives_room_for_every_byte_that_it_gets_is_no_flood() {
    play(async |world| {
        let (worker, (end, _serving)) = (world.worker().await, world.http2(64 * 1024));
        let (mut ask, connection) = shake_hands(end).await;
        tokio::task::spawn_local(connection);
        let (answer, _) = ask.send_request(get("/events"), true).unwrap();
        let mut call = worker.call().await;
        call.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").await;
        let mut body = answer.await.unwrap().into_body();
        for _ in 0..5_000 {
            call.write("1\r\nx\r\n").await;
            let piece = poll_fn(|cx| body.poll_data(cx)).await.expect("a piece").unwrap();
            body.flow_control().release_capacity(piece.len()).unwrap();
        }
    });
}

/// A head as HPACK's literals without an index (RFC 7541 §6.2.2), in one frame that ends the request.
fn head(stream: u32, fields: &[(&str, &str)]) -> Vec<u8> {
    let text = |text: &str| [&[u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
    let block: Vec<u8> = fields.iter().flat_map(|(name, value)| [vec![0], text(name), text(value)].concat()).collect();
    let mut frame = frame(1, stream, &block);
    frame[4] = 5;
    frame
}

/// A head of the usual pseudo-fields with another path or one more field.
fn get_with(stream: u32, path: &str, more: &[(&str, &str)]) -> Vec<u8> {
    let usual = [(":method", "GET"), (":scheme", "https"), (":path", path), (":authority", "app.test")];
    head(stream, &[&usual, more].concat())
}

async fn greeted(world: &World) -> End {
    let (mut end, _) = world.http2(64 * 1024);
    end.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.unwrap();
    end.write_all(&frame(4, 0, &[])).await.unwrap();
    end
}

/// The first frame of one of these types: its type, stream and payload.
async fn first_of(end: &mut End, kinds: &[u8]) -> (u8, u32, Vec<u8>) {
    loop {
        let mut head = [0; 9];
        end.read_exact(&mut head).await.unwrap();
        let [a, b, c, kind, _, stream @ ..] = head;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        end.read_exact(&mut payload).await.unwrap();
        if kinds.contains(&kind) {
            return (kind, u32::from_be_bytes(stream), payload);
        }
    }
}

const RESET: u8 = 3;
const GO_AWAY: u8 = 7;
const PROTOCOL_ERROR: [u8; 4] = [0, 0, 0, 1];

#[test]
fn a_field_that_http2_forbids_ends_its_stream_and_no_other() {
    for more in
        [&[("connection", "close")][..], &[("te", "gzip")], &[(":path", "/other")], &[("a", "b"), (":status", "200")]]
    {
        play(async |world| {
            let (worker, mut end) = (world.worker().await, greeted(&world).await);
            end.write_all(&get_with(1, "/first", &[])).await.unwrap();
            let mut call = worker.call().await;
            end.write_all(&get_with(3, "/malformed", more)).await.unwrap();
            let reset = first_of(&mut end, &[RESET, GO_AWAY]).await;
            assert_eq!(reset, (RESET, 3, PROTOCOL_ERROR.to_vec()), "{more:?}");
            call.answer("first").await;
            let (_, stream, data) = first_of(&mut end, &[0, RESET, GO_AWAY]).await;
            assert_eq!((stream, &data[..]), (1, &b"first"[..]), "{more:?}");
        });
    }
}

// What the crate decides: see decision 0120. Where one of these fails, the crate has become better, and the page has to say so.

#[test]
fn a_field_with_a_byte_that_may_not_stand_there_ends_its_connection() {
    for more in [("Capital", "x"), ("a", "b\n"), ("a", "b\0"), (":unknown", "x")] {
        play(async |world| {
            let mut end = greeted(&world).await;
            end.write_all(&get_with(1, "/malformed", &[more])).await.unwrap();
            let (kind, _, payload) = first_of(&mut end, &[RESET, GO_AWAY]).await;
            assert_eq!((kind, &payload[4..8]), (GO_AWAY, &PROTOCOL_ERROR[..]), "{more:?}");
            world.assert_no_line();
        });
    }
}

#[test]
fn a_fragment_is_cut_off_before_the_gateway_judges_the_path_and_the_app_never_sees_it() {
    play(async |world| {
        let (worker, mut end) = (world.worker().await, greeted(&world).await);
        end.write_all(&get_with(1, "/page?a=b#fragment", &[])).await.unwrap();
        let mut call = worker.call().await;
        assert!(call.head.starts_with("GET /page?a=b HTTP/1.1\r\n"), "{}", call.head);
        assert!(!call.head.contains('#'), "{}", call.head);
        call.answer("page").await;
        assert!(world.line().await.starts_with("GET /page?a=b 200 "));
    });
}
