//! Clients of HTTP/2 that take nothing, send nothing, or are told to leave.

use std::future::poll_fn;

use bytes::Bytes;
use h2::client::{Builder, Connection, SendRequest};
use http::Request;

use super::world::{World, play};
use crate::socket::memory::End;

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
fn i6_a_connection_that_takes_nothing_is_cut_off_and_its_worker_is_free_long_before() {
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
fn i6_a_client_that_never_asks_is_told_to_leave_at_the_time_for_headers() {
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
