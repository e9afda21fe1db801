//! Requests of the gateway's own that warm a worker before clients get to it.

use sluice_catalog::config::Config;

use super::worker::{Call, MARK, Worker};
use super::world::{World, play_with};

/// Two requests for each worker.
fn twice(config: &mut Config) {
    config.warm_up.paths = vec!["/warm".to_owned()];
    config.bounds.warm_up_requests_max = 2;
}

/// A CA is to be asked for the certificate, and no file has one.
fn with_acme(config: &mut Config) {
    twice(config);
    config.acme.names = vec!["shop.example".to_owned()];
    config.acme.terms_agreed = true;
    config.acme.dir = Some("/surely/not/there".to_owned());
}

/// Answers both requests of the warm-up, while the worker gets no other.
async fn warm(world: &World, worker: &Worker) -> Call {
    let mut call = worker.call().await;
    for _ in 0..2 {
        assert!(call.head.starts_with("GET /warm "), "{}", call.head);
        assert_eq!(world.slot(worker), "holds 1, Warming");
        call.answer("warm").await;
        world.settle().await;
        if world.slot(worker) == "free" {
            return call;
        }
        call = call.next().await.expect("the second request");
    }
    panic!("two requests do not warm it");
}

#[test]
fn a_worker_is_warmed_by_as_many_requests_as_are_asked_for_and_none_has_a_line_in_the_log() {
    play_with(twice, async |world| {
        let worker = world.worker().await;
        let call = warm(&world, &worker).await;
        world.assert_no_line();
        let mut client = world.client();
        client.get("/page").await;
        let mut page = call.next().await.expect("a client's request");
        page.answer("page").await;
        assert_eq!(client.answer().await, "HTTP/1.1 200 OK, page");
        assert_eq!(world.line().await, "GET /page 200 answered, worker 1, 4 bytes, 0 ms");
    });
}

#[test]
fn a_warm_up_has_the_scheme_of_clients_wherever_the_certificate_comes_from() {
    for (set, scheme) in [(twice as fn(&mut Config), "http"), (with_acme, "https")] {
        play_with(set, async |world| {
            let worker = world.worker().await;
            let call = worker.call().await;
            let head = call.head.to_ascii_lowercase();
            assert!(head.contains(&format!("x-forwarded-proto: {scheme}\r\n")), "{head}");
            assert!(head.contains(&format!(";proto={scheme}\r\n")), "{head}");
        });
    }
}

#[test]
fn a_client_whom_no_other_worker_could_serve_comes_before_the_rest_of_a_warm_up() {
    play_with(twice, async |world| {
        let (worker, mut client) = (world.worker().await, world.client());
        client.get("/page").await;
        let mut warm = worker.call().await;
        assert!(warm.head.starts_with("GET /warm "), "{}", warm.head);
        world.pass(100).await;
        assert_eq!(world.slot(&worker), "holds 1, Warming", "I1: it has one already");
        warm.answer("warm").await;
        let mut page = warm.next().await.expect("a client's request");
        assert!(page.head.starts_with("GET /page "), "{}", page.head);
        page.answer("page").await;
        assert_eq!(client.answer().await, "HTTP/1.1 200 OK, page");
    });
}

#[test]
fn a_worker_that_fails_its_warm_up_gets_no_client_and_the_one_before_it_stays() {
    play_with(twice, async |world| {
        let old = world.worker().await;
        let served = warm(&world, &old).await;
        world.gate.dispatch.reload(2, None);
        let new = world.worker().await;
        let mut failing = new.call().await;
        assert_eq!(world.slot(&new), "holds 1, Warming");
        failing.write(&format!("HTTP/1.1 500 Internal Server Error\r\n{MARK}Content-Length: 0\r\n\r\n")).await;
        failing.report();
        world.settle().await;
        assert_eq!(world.slot(&new), "free, Killed");
        let mut client = world.client();
        client.get("/page").await;
        let mut page = served.next().await.expect("a client's request");
        page.answer("page").await;
        assert_eq!(client.answer().await, "HTTP/1.1 200 OK, page");
    });
}
