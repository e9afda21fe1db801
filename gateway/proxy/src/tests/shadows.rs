//! Pages that both versions render for a comparison, which no visitor may notice.

use std::collections::HashSet;

use sluice_road::sessions::TrialShare;
use sluice_scheduler::Hold;

use super::worker::{Call, MARK, Worker};
use super::world::{World, play};

/// A worker of the present version and one of the version on trial, whom no visitor is drawn for.
async fn trial(world: &World) -> (Worker, Worker) {
    let present = world.worker().await;
    world.gate.dispatch.reload(2, Some(Hold::Beside { workers: 1 }));
    let tried = world.worker().await;
    world.settle().await;
    world.gate.sessions.trial.set(Some(TrialShare { millionths: 0 }));
    world.gate.sessions.trial.set_workers([tried.id].into_iter());
    world.gate.shadows.begin(&world.gate, 1_000_000);
    (present, tried)
}

async fn html(call: &mut Call, body: &str) {
    let len = body.len();
    call.write(&format!("HTTP/1.1 200 OK\r\n{MARK}Content-Type: text/html\r\nContent-Length: {len}\r\n\r\n{body}"))
        .await;
    call.report();
}

/// A visitor gets this page of the present version.
async fn visit(world: &World, present: &Worker, target: &str) -> Call {
    let mut client = world.client();
    client.get(target).await;
    let mut call = present.call().await;
    html(&mut call, "<p>one</p>").await;
    assert!(client.answer().await.ends_with(", <p>one</p>"));
    assert!(world.line().await.starts_with(&format!("GET {target} 200 answered")));
    call
}

fn shadow(call: Option<Call>) -> Call {
    let call = call.expect("a render");
    assert!(call.head.contains("Sluice-Warm-Up: shadow\r\n"), "{}", call.head);
    call
}

#[test]
fn page_is_rendered_by_the_present_version_the_one_on_trial_and_the_present_one_again() {
    play(async |world| {
        let (present, tried) = trial(&world).await;
        let call = visit(&world, &present, "/page").await;
        let mut first = shadow(call.next().await);
        assert!(first.head.starts_with("GET /page "), "{}", first.head);
        html(&mut first, "<p>one</p>").await;
        let mut other = shadow(Some(tried.call().await));
        html(&mut other, "<p>two</p>").await;
        let mut second = shadow(first.next().await);
        html(&mut second, "<p>one</p>").await;
        // They differ, so the present version says once more what it varies in.
        let mut third = shadow(second.next().await);
        assert_eq!(world.gate.shadows.snapshot().map(|told| told.compared), Some(0));
        html(&mut third, "<p>one</p>").await;
        while world.gate.shadows.snapshot().is_some_and(|told| told.compared == 0) {
            world.pass(10).await;
        }
        let told = world.gate.shadows.snapshot().expect("a trial");
        assert_eq!((told.compared, told.differing, told.classes[0].trial.as_deref()), (1, 1, Some("<p>two</p>")));
        world.assert_no_line();
        world.gate.shadows.end();
        assert_eq!(world.gate.shadows.snapshot(), None);
    });
}

#[test]
fn visitor_who_waits_comes_first_and_a_render_begins_with_an_idle_worker() {
    play(async |world| {
        let (present, tried) = trial(&world).await;
        let call = visit(&world, &present, "/page").await;
        let mut first = shadow(call.next().await);
        let mut client = world.client();
        client.get("/visitor").await;
        html(&mut first, "<p>one</p>").await;
        let visitors = first.next().await.expect("the visitor's request");
        assert!(visitors.head.starts_with("GET /visitor "), "{}", visitors.head);
        let mut other = shadow(Some(tried.call().await));
        html(&mut other, "<p>one</p>").await;
        world.pass(5_000).await;
        assert_eq!(world.slot(&present), "holds 1", "the visitor's, and no render beside it");
        drop(visitors);
    });
}

#[test]
fn requests_that_say_who_asks_are_not_repeated() {
    play(async |world| {
        let (present, _tried) = trial(&world).await;
        for field in ["Cookie: user=7", "Authorization: Basic eA==", "Range: bytes=0-1"] {
            let mut client = world.client();
            client.send(&format!("GET /page HTTP/1.1\r\nHost: app.test\r\n{field}\r\n\r\n")).await;
            let mut call = present.call().await;
            html(&mut call, "<p>one</p>").await;
            client.answer().await;
            world.pass(1_000).await;
            assert_eq!(world.slot(&present), "free", "{field}");
            drop(call);
        }
        let mut client = world.client();
        client.post("/page", "x").await;
        let mut call = present.call().await;
        html(&mut call, "<p>one</p>").await;
        client.answer().await;
        world.pass(1_000).await;
        assert_eq!(world.slot(&present), "free");
        let told = world.gate.shadows.snapshot().expect("a trial");
        assert!(told.classes.is_empty(), "{told:?}");
    });
}

#[test]
fn few_pages_wait_and_the_rest_is_left_out_while_a_render_hangs() {
    play(async |world| {
        let (present, tried) = trial(&world).await;
        let call = visit(&world, &present, "/page0").await;
        let mut first = shadow(call.next().await);
        html(&mut first, "<p>one</p>").await;
        let hanging = shadow(Some(tried.call().await));
        let mut call = first;
        for number in 1..=20 {
            let mut client = world.client();
            client.get(&format!("/page{number}")).await;
            call = call.next().await.expect("a visitor's request");
            html(&mut call, "<p>one</p>").await;
            client.answer().await;
        }
        // The render is given up after 10 s, and with it the page; the worker still has it.
        let mut rendered = HashSet::new();
        while let Some(mut next) = call.next_within(std::time::Duration::from_secs(200)).await {
            rendered.insert(next.head.split(' ').nth(1).unwrap_or_default().to_owned());
            html(&mut next, "<p>one</p>").await;
            call = next;
        }
        assert_eq!(rendered.len(), 8, "{rendered:?}");
        drop(hanging);
    });
}
