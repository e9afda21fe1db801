//! What clients send to have others get a wrong page, none, or theirs: fields and spellings that no two pages are told apart by, errors
//! on purpose, and clients that hold up others.

use sluice_catalog::config::Config;

use super::client::Client;
use super::worker::{Call, MARK, Worker};
use super::world::{World, play_with};

fn on(config: &mut Config) {
    config.cache.enabled = true;
}

async fn answer(call: &mut Call, status: &str, fields: &str, body: &str) {
    let length = body.len();
    call.write(&format!("HTTP/1.1 {status}\r\n{MARK}{fields}Content-Length: {length}\r\n\r\n{body}")).await;
    call.report();
}

async fn ask(client: &mut Client, target: &str, fields: &str) {
    client.send(&format!("GET {target} HTTP/1.1\r\nHost: app.test\r\n{fields}\r\n")).await;
}

/// A client that has asked for this.
async fn asking(world: &World, target: &str, fields: &str) -> Client {
    let mut client = world.client();
    ask(&mut client, target, fields).await;
    world.settle().await;
    client
}

/// The worker's next request, on whichever connection.
async fn next(worker: &Worker, call: Call) -> Call {
    tokio::select! {
        Some(call) = call.next() => call,
        call = worker.call() => call,
    }
}

const KEPT: &str = "Cache-Control: public, max-age=60\r\n";

/// Asks for pages in two ways, one after the other. Returns what the worker got for the second, if it was asked at all.
fn second_call(first: (&str, &str), answered: &str, second: (&str, &str)) -> Option<String> {
    second_call_with(on, first, ("200 OK", answered), second)
}

fn second_call_with(
    set: impl Fn(&mut Config),
    first: (&str, &str),
    (status, fields): (&str, &str),
    second: (&str, &str),
) -> Option<String> {
    let mut got = None;
    play_with(set, async |world| {
        let worker = world.worker().await;
        let mut client = asking(&world, first.0, first.1).await;
        let mut call = worker.call().await;
        answer(&mut call, status, fields, "first").await;
        client.answer().await;
        world.settle().await;
        let mut client = asking(&world, second.0, second.1).await;
        tokio::select! {
            _ = client.answer() => {}
            call = next(&worker, call) => got = Some(call.head),
        }
    });
    got
}

#[test]
fn pages_are_shared_at_all() {
    assert_eq!(second_call(("/page", ""), KEPT, ("/page", "")), None);
    assert_eq!(second_call(("/page?a=1&b=2", ""), KEPT, ("/page?b=2&a=1&utm_source=x", "")), None);
}

#[test]
fn spellings_that_an_app_can_tell_apart_are_told_apart() {
    for (one, other) in [
        ("/page", "/page/"),
        ("/page", "//page"),
        ("/page", "/./page"),
        ("/page", "/pag%65"),
        ("/a/b", "/a%2fb"),
        ("/a/b", "/a\\b"),
        ("/page", "/page;a"),
        ("/page", "/Page"),
        ("/page?a=1", "/page?A=1"),
        ("/page?a=1&a=2", "/page?a=2&a=1"),
        ("/page?a[]=1&a[0]=2", "/page?a[0]=2&a[]=1"),
        ("/page?%61=1&a=2", "/page?a=2&%61=1"),
        ("/page?a", "/page?a="),
        ("/page", "/page?utm_source=x;callback=evil"),
        ("/page?utm_source=x", "/page?utm_source=x;a=1"),
    ] {
        assert!(second_call((one, ""), KEPT, (other, "")).is_some(), "{one} and {other}");
    }
}

#[test]
fn parameters_that_count_for_nothing_do_not_reach_a_page_for_all() {
    play_with(on, async |world| {
        let worker = world.worker().await;
        let target = "/page?utm_source=%22%3E%3Cscript%3E&b=1&utm_x/_payload.json&a=2";
        let _client = asking(&world, target, "").await;
        let call = worker.call().await;
        assert!(call.head.starts_with("GET /page?b=1&a=2 HTTP/1.1\r\n"), "{}", call.head);
    });
}

#[test]
fn requests_for_another_form_of_a_page_get_it_only_where_the_app_tells_forms_apart() {
    for switch in [
        "RSC: 1\r\n",
        "hx-request: true\r\n",
        "X-Nextjs-Data: 1\r\n",
        "X-Nuxt-No-SSR: 1\r\n",
        "Datastar-Request: true\r\n",
        "X-Requested-With: x\r\n",
    ] {
        assert!(second_call(("/page", switch), KEPT, ("/page", "")).is_some(), "{switch}");
        assert!(second_call(("/page", ""), KEPT, ("/page", switch)).is_some(), "{switch}");
        assert!(second_call(("/page", switch), KEPT, ("/page", switch)).is_some(), "{switch}");
        let varied = format!("{KEPT}Vary: {}\r\n", switch.split(':').next().unwrap_or_default());
        assert!(second_call(("/page", switch), &varied, ("/page", switch)).is_none(), "{switch}");
        assert!(second_call(("/page", switch), &varied, ("/page", "")).is_some(), "{switch}");
    }
}

#[test]
fn what_proxies_and_frameworks_tell_an_app_does_not_reach_a_page_for_all() {
    for field in [
        "X-Original-URL: evil",
        "Front-End-Https: evil",
        "X-Scheme: evil",
        "X-Url-Scheme: evil",
        "CF-Visitor: evil",
        "X-Backend-Host: evil",
        "X-Replaced-Path: evil",
        "X-React-Router-SPA-Mode: evil",
        "X-React-Router-Prerender-Data: evil",
        "X-Astro-Path: evil",
        "X-Nuxt-Error: evil",
        "X-Middleware-Prefetch: evil",
    ] {
        play_with(on, async |world| {
            let worker = world.worker().await;
            let _client = asking(&world, "/page", &format!("{field}\r\n")).await;
            let call = worker.call().await;
            assert!(!call.head.contains("evil"), "{field}: {}", call.head);
        });
    }
}

#[test]
fn an_origin_that_the_app_allows_is_allowed_to_nobody_else() {
    let allows = format!("{KEPT}Access-Control-Allow-Origin: https://evil.test\r\n");
    assert!(second_call(("/page", "Origin: https://evil.test\r\n"), &allows, ("/page", "")).is_some());
    let all = format!("{KEPT}Access-Control-Allow-Origin: *\r\n");
    assert!(second_call(("/page", "Origin: https://evil.test\r\n"), &all, ("/page", "")).is_none());
}

#[test]
fn i7_pages_that_depend_on_the_gateways_headers_about_a_client_are_for_that_client() {
    for name in ["X-Forwarded-For", "Forwarded", "x-request-id"] {
        let varied = format!("{KEPT}Vary: {name}\r\n");
        assert!(second_call(("/page", ""), &varied, ("/page", "")).is_some(), "{name}");
    }
    let varied = format!("{KEPT}Vary: X-Forwarded-Host\r\n");
    let hidden = "X-Forwarded-Host: evil.test\r\n";
    assert!(second_call(("/page", hidden), &varied, ("/page", "")).is_none(), "no worker sees it");
}

#[test]
fn fields_that_a_client_has_the_gateway_remove_tell_no_pages_apart() {
    let varied = format!("{KEPT}Vary: X-Lang\r\n");
    let removed = "Connection: x-lang\r\nX-Lang: de\r\n";
    let head = second_call(("/page", removed), &varied, ("/page", "X-Lang: de\r\n"));
    assert!(head.is_some_and(|head| head.contains("X-Lang: de\r\n")), "the page was made without it");
    assert!(second_call(("/page", "Connection: cookie\r\nCookie: a=b\r\n"), KEPT, ("/page", "")).is_none());
}

#[test]
fn cookies_that_pages_depend_on_count_however_they_are_written() {
    let with = |one: &str, other: &str| {
        let set = |config: &mut Config| {
            on(config);
            config.cache.vary_by = vec!["cookie:currency".to_owned()];
        };
        second_call_with(set, ("/page", one), ("200 OK", KEPT), ("/page", other)).is_some()
    };
    assert!(with("Cookie: currency=eur; currency=usd\r\n", "Cookie: currency=eur\r\n"), "an app may take the last");
    assert!(with("Cookie: currency =eur\r\n", "Cookie: a=b\r\n"), "an app may trim names");
    assert!(!with("Cookie: currency=eur; a=b\r\n", "Cookie: c=d; currency=eur\r\n"));
}

#[test]
fn an_error_that_a_request_may_be_to_blame_for_is_used_for_seconds_and_takes_no_pages_place() {
    for status in ["400 Bad Request", "403 Forbidden", "416 Range Not Satisfiable", "431 x", "500 x"] {
        play_with(on, async |world| {
            let worker = world.worker().await;
            let mut client = asking(&world, "/page", "").await;
            let mut call = worker.call().await;
            answer(&mut call, status, KEPT, "broken").await;
            client.answer().await;
            world.pass(11_000).await;
            let mut client = asking(&world, "/page", "").await;
            let mut call = next(&worker, call).await;
            answer(&mut call, "200 OK", "Cache-Control: public, max-age=1, stale-while-revalidate=60\r\n", "page")
                .await;
            client.answer().await;
            world.pass(1500).await;
            let mut client = asking(&world, "/page", "X-Bad: x\r\n").await;
            client.answer().await;
            let mut call = next(&worker, call).await;
            answer(&mut call, status, KEPT, "broken").await;
            world.settle().await;
            let mut client = asking(&world, "/page", "").await;
            let got = client.answer().await;
            assert!(got.ends_with("revalidating, page"), "{status}: {got}");
        });
    }
    assert!(second_call_with(on, ("/page", ""), ("404 Not Found", KEPT), ("/page", "")).is_none());
}

#[test]
fn an_error_on_purpose_neither_drops_a_page_nor_keeps_others_from_sharing_it_for_long() {
    play_with(on, async |world| {
        let worker = world.worker().await;
        let mut client = asking(&world, "/page", "").await;
        let mut call = worker.call().await;
        answer(&mut call, "200 OK", "Cache-Control: public, max-age=1, stale-while-revalidate=60\r\n", "page").await;
        client.answer().await;
        world.pass(1500).await;
        let stale = async |client: &mut Client, fields: &str| {
            ask(client, "/page", fields).await;
            client.answer().await
        };
        assert!(stale(&mut client, "Authorization: x\r\n").await.ends_with("revalidating, page"));
        let mut call = next(&worker, call).await;
        answer(&mut call, "401 Unauthorized", "Cache-Control: no-store\r\n", "who").await;
        world.settle().await;
        assert!(stale(&mut client, "").await.ends_with("revalidating, page"));
        let mut call = next(&worker, call).await;
        answer(&mut call, "400 Bad Request", "", "broken").await;
        world.pass(125_000).await;
        let mut client = asking(&world, "/page", "").await;
        let mut call = next(&worker, call).await;
        answer(&mut call, "200 OK", KEPT, "new").await;
        let got = client.answer().await;
        assert!(got.ends_with("ttl=60; stored, new"), "{got}");
    });
}

#[test]
fn head_of_a_stale_page_has_it_rendered_for_all() {
    play_with(on, async |world| {
        let worker = world.worker().await;
        let mut client = asking(&world, "/page", "").await;
        let mut call = worker.call().await;
        let fields = "Cache-Control: public, max-age=1, stale-while-revalidate=60\r\nETag: \"1\"\r\n";
        answer(&mut call, "200 OK", fields, "page").await;
        client.answer().await;
        world.pass(1500).await;
        client.send("HEAD /page HTTP/1.1\r\nHost: app.test\r\n\r\n").await;
        client.head().await;
        let mut call = next(&worker, call).await;
        assert!(call.head.starts_with("GET /page HTTP/1.1\r\n"), "{}", call.head);
        call.write(&format!("HTTP/1.1 304 Not Modified\r\n{MARK}{fields}\r\n")).await;
        call.report();
        world.settle().await;
        ask(&mut client, "/page", "").await;
        assert!(client.answer().await.ends_with("Cache-Status: Sluice; hit; ttl=1, page"));
    });
}

#[test]
fn a_304_that_sets_a_cookie_ends_the_page_and_nobody_gets_the_cookie_but_its_client() {
    play_with(on, async |world| {
        let worker = world.worker().await;
        let mut client = asking(&world, "/page", "").await;
        let mut call = worker.call().await;
        answer(&mut call, "200 OK", "Cache-Control: public, max-age=1\r\nETag: \"1\"\r\n", "page").await;
        client.answer().await;
        world.pass(65_000).await;
        let mut client = asking(&world, "/page", "").await;
        let mut call = next(&worker, call).await;
        call.write(&format!("HTTP/1.1 304 Not Modified\r\n{MARK}Set-Cookie: session=1\r\n\r\n")).await;
        call.report();
        let mut call = next(&worker, call).await;
        assert!(!call.head.contains("If-None-Match"), "{}", call.head);
        answer(&mut call, "200 OK", KEPT, "new").await;
        let got = client.answer().await;
        assert!(got.ends_with(", new") && !got.contains("session"), "{got}");
    });
}

#[test]
fn a_part_of_a_page_that_is_not_kept_is_for_the_app() {
    let got = second_call(("/page", ""), "Cache-Control: no-store\r\n", ("/other", "Range: bytes=5-9\r\n"));
    assert!(got.is_some_and(|head| head.contains("Range: bytes=5-9\r\n")));
}

#[test]
fn clients_whom_a_page_tells_apart_are_rendered_for_side_by_side() {
    play_with(on, async |world| {
        world.gate.dispatch.scale(3);
        let workers = [world.worker().await, world.worker().await, world.worker().await];
        let mut clients = Vec::new();
        for at in 0..3 {
            clients.push(asking(&world, "/page", &format!("Cookie: user={at}\r\n")).await);
        }
        let mut first = any(&workers).await;
        world.pass(10).await;
        answer(&mut first, "200 OK", &format!("{KEPT}Vary: Cookie\r\nConnection: close\r\n"), "one").await;
        clients[0].answer().await;
        // Neither of the others' renders waits for the other's.
        let (one, other) = (any(&workers).await, any(&workers).await);
        assert_ne!(one.id, other.id);
    });
}

/// The next request on a new connection to one of them.
async fn any(workers: &[Worker; 3]) -> Call {
    tokio::select! {
        call = workers[0].call() => call,
        call = workers[1].call() => call,
        call = workers[2].call() => call,
    }
}

#[test]
fn a_page_that_is_written_for_longer_than_it_is_fresh_takes_nobody_in_later() {
    play_with(on, async |world| {
        world.gate.dispatch.scale(2);
        let workers = [world.worker().await, world.worker().await];
        let mut first = asking(&world, "/page", "").await;
        let (mut call, other) = tokio::select! {
            call = workers[0].call() => (call, &workers[1]),
            call = workers[1].call() => (call, &workers[0]),
        };
        call.write(&format!(
            "HTTP/1.1 200 OK\r\n{MARK}Cache-Control: public, max-age=2\r\nContent-Length: 8\r\n\r\nfrom "
        ))
        .await;
        first.head().await;
        world.pass(1000).await;
        let mut joined = asking(&world, "/page", "").await;
        assert!(joined.head().await.1.get("cache-status").is_some_and(|status| status.ends_with(b"collapsed")));
        world.pass(2000).await;
        let _late = asking(&world, "/page", "").await;
        let call = other.call().await;
        assert!(call.head.starts_with("GET /page"));
    });
}
