//! Light requests that a worker is handed ahead of time, and that are taken back where it does not get to them.

use super::client::Client;
use super::worker::{Call, Worker};
use super::world::{World, play};

/// Light requests after which their class counts as cheap.
const LEARNED_FROM: usize = 40;

/// A worker that takes requests ahead of time and has one, and another that it was handed behind that, with both clients.
async fn handed(world: &World, worker: &Worker, pipe: &std::path::Path) -> [(Client, Call); 2] {
    worker.takes_ahead(pipe);
    let mut client = world.client();
    client.get("/light").await;
    let mut call = worker.call().await;
    for _ in 1..LEARNED_FROM {
        call.answer("light").await;
        client.answer().await;
        world.line().await;
        client.get("/light").await;
        call = call.next().await.expect("the next");
    }
    let mut second = world.client();
    second.get("/light").await;
    let behind = worker.call().await;
    assert_eq!(world.slot(worker), "holds 1, handed 1");
    [(client, call), (second, behind)]
}

#[test]
fn a_light_request_lies_in_its_worker_before_its_turn_and_begins_when_the_one_before_it_ends() {
    let files = tempfile::tempdir().unwrap();
    play(async |world| {
        let worker = world.worker().await;
        let [(mut client, mut call), (mut second, mut behind)] =
            handed(&world, &worker, &files.path().join("pipe")).await;
        call.answer("first").await;
        assert_eq!(client.answer().await, "HTTP/1.1 200 OK, first");
        world.settle().await;
        assert_eq!(world.slot(&worker), "holds 1");
        behind.answer("second").await;
        assert_eq!(second.answer().await, "HTTP/1.1 200 OK, second");
        world.settle().await;
        assert_eq!(world.slot(&worker), "free");
    });
}

#[test]
fn a_request_that_its_worker_does_not_get_to_is_taken_back_and_asked_of_another_once() {
    let files = tempfile::tempdir().unwrap();
    play(async |world| {
        let worker = world.worker().await;
        let [(_client, stuck), (mut second, mut behind)] = handed(&world, &worker, &files.path().join("pipe")).await;
        world.gate.dispatch.scale(2);
        let other = world.worker().await;
        let mut call = other.call().await;
        assert_eq!(world.slot(&worker), "holds 1");
        call.answer("second").await;
        assert_eq!(second.answer().await, "HTTP/1.1 200 OK, second");
        assert!(world.line().await.starts_with("GET /light 200 answered, worker 2, 6 bytes"));
        assert_eq!(behind.rest().await, "", "the gateway closes what it was sent on");
        drop(stuck);
    });
}

#[test]
fn a_request_that_lay_in_a_worker_that_dies_was_seen_by_nobody_and_is_no_retry() {
    let files = tempfile::tempdir().unwrap();
    play(async |world| {
        let worker = world.worker().await;
        let [(mut client, stuck), (mut second, behind)] = handed(&world, &worker, &files.path().join("pipe")).await;
        drop((stuck, behind));
        worker.exit();
        let heir = world.worker().await;
        for _ in 0..2 {
            heir.call().await.answer("again").await;
        }
        for client in [&mut client, &mut second] {
            assert_eq!(client.answer().await, "HTTP/1.1 200 OK, again");
        }
        let mut lines = [world.line().await, world.line().await];
        lines.sort();
        assert_eq!(
            lines,
            [
                "GET /light 200 answered, worker 2 at try 2, 5 bytes, 0 ms",
                "GET /light 200 answered, worker 2, 5 bytes, 0 ms"
            ]
        );
    });
}
