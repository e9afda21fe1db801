//! Pages that are composed: what stands in them, when, and what a late, dead or forbidden include leaves. One worker, unless said.

use sluice_catalog::config::Config;
use sluice_journal::IncludeEnd;

use super::client::Client;
use super::worker::{Call, MARK, Worker};
use super::world::{World, play_with};

fn on(config: &mut Config) {
    config.compose.enabled = true;
    config.workers.concurrency = sluice_catalog::config::Concurrency::Fixed(1);
}

fn with_cache(config: &mut Config) {
    on(config);
    config.cache.enabled = true;
}

const ESI: &str = "Surrogate-Control: content=\"ESI/1.0\"\r\n";
const KEPT: &str = "Surrogate-Control: max-age=60, content=\"ESI/1.0\"\r\n";

fn whole(fields: &str, body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\n{MARK}{fields}Content-Length: {}\r\n\r\n{body}", body.len())
}

/// Answers with this page, and says that it has.
async fn answer(call: &mut Call, fields: &str, body: &str) {
    call.write(&whole(fields, body)).await;
    call.report();
}

fn target(call: &Call) -> String {
    call.head.split(' ').nth(1).unwrap_or_default().to_owned()
}

/// The page that comes, with its status.
async fn page(client: &mut Client) -> String {
    let (start, fields) = client.head().await;
    assert_eq!(fields.get("transfer-encoding"), Some(&b"chunked"[..]), "{start} {fields:?}");
    for gone in ["etag", "last-modified", "surrogate-control", "content-length", "set-cookie"] {
        assert!(!fields.contains(gone), "{fields:?}");
    }
    assert_eq!(fields.get("cache-control"), Some(&b"private, no-cache"[..]));
    format!("{} {}", &start["HTTP/1.1 ".len()..], client.chunks().await)
}

/// A client that has asked for a page, and the worker's call for it.
async fn asked(world: &World, worker: &Worker, target: &str) -> (Client, Call) {
    let mut client = world.client();
    client.get(target).await;
    (client, worker.call().await)
}

fn count(world: &World, end: IncludeEnd) -> u64 {
    world.gate.road.transforms.composer.counted(end)
}

#[test]
fn i1_i2_the_worker_that_rendered_a_page_renders_its_includes_without_waiting_for_them() {
    play_with(on, async |world| {
        let worker = world.worker().await;
        let (mut client, mut call) = asked(&world, &worker, "/page").await;
        assert!(call.head.contains("Surrogate-Capability: sluice=\"ESI/1.0\"\r\n"), "{}", call.head);
        call.write(&whole(ESI, "<a><esi:include src=\"/one\"/><b><esi:include src='two'/><c>")).await;
        world.settle().await;
        assert_eq!(world.slot(&worker), "holds 1", "the app has not said that it is done");
        call.report();
        let mut one = call.next().await.expect("the first include");
        assert_eq!(target(&one), "/one");
        assert_eq!(world.slot(&worker), "holds 1");
        one.write(&whole("Set-Cookie: a=b\r\n", "1")).await;
        one.report();
        let mut two = one.next().await.expect("the second");
        assert_eq!(target(&two), "/two");
        two.answer("2").await;
        assert_eq!(page(&mut client).await, "200 OK <a>1<b>2<c>");
        assert_eq!((world.at_ms(), world.slot(&worker).as_str()), (0, "free"));
        let mut lines = [world.line().await, world.line().await, world.line().await];
        lines.sort();
        assert_eq!(
            lines,
            [
                "/one 200 answered, worker 1, 1 bytes, 0 ms",
                "/page 200 answered, worker 1, 11 bytes, 0 ms",
                "/two 200 answered, worker 1, 1 bytes, 0 ms"
            ]
            .map(|line| format!("GET {line}"))
        );
        assert_eq!(count(&world, IncludeEnd::Sent), 2);
    });
}

#[test]
fn late_include_leaves_its_alt_or_nothing_and_the_page_is_sent() {
    play_with(on, async |world| {
        let worker = world.worker().await;
        let (mut client, mut call) = asked(&world, &worker, "/page").await;
        answer(&mut call, ESI, "a<esi:include src='/slow' alt='/alt'/>b<esi:include src='/never'/>c").await;
        let slow = call.next().await.expect("the first");
        assert_eq!(target(&slow), "/slow");
        // In its second the include behind it is late as well: it never got a worker.
        world.pass(1_000).await;
        slow.report();
        assert_eq!(world.at_ms(), 1_000);
        let mut alt = slow.next().await.map_or_else(|| None, Some);
        if alt.is_none() {
            alt = Some(worker.call().await);
        }
        let mut alt = alt.expect("its alt");
        assert_eq!(target(&alt), "/alt");
        alt.answer("A").await;
        assert_eq!(page(&mut client).await, "200 OK aAbc");
        assert_eq!(world.at_ms(), 1_000);
        assert_eq!([IncludeEnd::Alt, IncludeEnd::Late, IncludeEnd::Sent].map(|end| count(&world, end)), [1, 1, 0]);
        let mut lines = Vec::new();
        for _ in 0..4 {
            lines.push(world.line().await);
        }
        lines.sort();
        assert_eq!(lines[1], "GET /never 0 client_gone_queued, 0 bytes, 1000 ms");
        assert_eq!(lines[3], "GET /slow 0 client_gone_in_service, worker 1, 0 bytes, 1000 ms");
    });
}

#[test]
fn i3_include_whose_worker_dies_shows_its_alt_and_one_that_fails_shows_nothing() {
    play_with(on, async |world| {
        let worker = world.worker().await;
        let (mut client, mut call) = asked(&world, &worker, "/page").await;
        answer(&mut call, ESI, "a<esi:include src='/dies' alt='/alt'/>b<esi:include src='/fails'/>c").await;
        let mut dying = call.next().await.expect("the first");
        // Its head is out, so that no other worker may get it.
        dying.write(&format!("HTTP/1.1 200 OK\r\n{MARK}Content-Length: 8\r\n\r\nhalf")).await;
        world.settle().await;
        drop(dying);
        worker.exit();
        let heir = world.worker().await;
        let mut failing = heir.call().await;
        assert_eq!(target(&failing), "/fails");
        failing.write(&format!("HTTP/1.1 500 Oops\r\n{MARK}Content-Length: 4\r\n\r\noops")).await;
        failing.report();
        let mut alt = failing.next().await.expect("the alt");
        assert_eq!(target(&alt), "/alt");
        alt.answer("A").await;
        assert_eq!(page(&mut client).await, "200 OK aAbc");
        assert_eq!([IncludeEnd::Alt, IncludeEnd::Failed].map(|end| count(&world, end)), [1, 1]);
    });
}

#[test]
fn client_that_leaves_takes_the_includes_out_of_the_queue() {
    play_with(on, async |world| {
        let worker = world.worker().await;
        let (client, mut call) = asked(&world, &worker, "/page").await;
        answer(&mut call, ESI, "a<esi:include src='/one'/><esi:include src='/two'/>").await;
        let one = call.next().await.expect("the first");
        world.settle().await;
        client.leave();
        world.settle().await;
        assert_eq!(world.slot(&worker), "holds 1", "the app is still at the first");
        one.report();
        let lines = [world.line().await, world.line().await, world.line().await];
        assert!(lines.iter().any(|line| line.starts_with("GET /two 0 client_gone_queued, 0 bytes")), "{lines:?}");
        world.settle().await;
        world.serves(&worker).await;
        assert_eq!(IncludeEnd::ALL.map(|end| count(&world, end)), [0; 6], "nobody has missed them");
    });
}

#[test]
fn page_from_the_cache_is_composed_for_each_client_and_kept_as_it_was_written() {
    play_with(with_cache, async |world| {
        let worker = world.worker().await;
        let (mut first, mut call) = asked(&world, &worker, "/page").await;
        let mut joined = world.client();
        joined.get("/page").await;
        world.settle().await;
        answer(&mut call, &format!("{KEPT}ETag: \"raw\"\r\nVary: Cookie\r\n"), "a<esi:include src='/mine'/>b").await;
        // The include may be for many, so it is asked for once for those who wait together.
        let mut mine = call.next().await.expect("the include");
        mine.write(&whole("Cache-Control: private\r\n", "1")).await;
        mine.report();
        assert_eq!(page(&mut first).await, "200 OK a1b");
        let mut mine = mine.next().await.expect("the other's, as it turned out to be private");
        mine.answer("2").await;
        assert_eq!(page(&mut joined).await, "200 OK a2b");
        // From what is kept, whatever the client has.
        first.send("GET /page HTTP/1.1\r\nHost: app.test\r\nIf-None-Match: \"raw\"\r\nRange: bytes=0-1\r\n\r\n").await;
        let mut mine = mine.next().await.expect("for each");
        assert_eq!(target(&mine), "/mine");
        mine.answer("3").await;
        assert_eq!(page(&mut first).await, "200 OK a3b");
        assert_eq!(world.gate.road.pages.kept("http://app.test/page").len(), 1);
        assert_eq!(
            world.gate.road.pages.kept("http://app.test/page")[0].bytes,
            "a<esi:include src='/mine'/>b".len() as u64
        );
        assert!(world.gate.road.pages.kept("http://app.test/mine").is_empty());
    });
}

#[test]
fn include_that_is_for_all_comes_from_the_cache_and_needs_no_worker() {
    play_with(with_cache, async |world| {
        let worker = world.worker().await;
        let (mut client, mut call) = asked(&world, &worker, "/page").await;
        answer(&mut call, KEPT, "a<esi:include src='/menu'/>b").await;
        let mut menu = call.next().await.expect("the include");
        answer(&mut menu, "Cache-Control: s-maxage=60\r\n", "M").await;
        assert_eq!(page(&mut client).await, "200 OK aMb");
        client.get("/page").await;
        assert_eq!(page(&mut client).await, "200 OK aMb");
        let mut lines = Vec::new();
        for _ in 0..4 {
            lines.push(world.line().await);
        }
        assert_eq!(lines.iter().filter(|line| line.contains("worker 1")).count(), 2, "{lines:?}");
    });
}

#[test]
fn page_is_sent_as_it_is_written_up_to_an_include_that_is_waited_for() {
    play_with(on, async |world| {
        world.gate.dispatch.scale(2);
        let (first, second) = (world.worker().await, world.worker().await);
        let mut client = world.client();
        client.get("/page").await;
        let mut call = first.call().await;
        call.write(&format!("HTTP/1.1 200 OK\r\n{MARK}{ESI}Content-Length: 53\r\n\r\none<esi:include src=")).await;
        let (start, _) = client.head().await;
        assert_eq!(start, "HTTP/1.1 200 OK");
        assert_eq!(client.take(8).await, b"3\r\none\r\n");
        call.write("'/a'/>two<esi:include src='/b'/>").await;
        let mut a = second.call().await;
        assert_eq!(target(&a), "/a", "asked for while the page is written");
        a.answer("A").await;
        assert_eq!(client.take(9).await, b"4\r\nAtwo\r\n");
        call.write(".").await;
        call.report();
        let mut b = a.next().await.expect("the second");
        b.answer("B").await;
        assert_eq!(client.chunks().await, "B.");
    });
}

#[test]
fn i6_depth_and_count_of_includes_are_bounded_also_where_a_page_includes_itself() {
    let limits = |config: &mut Config| {
        with_cache(config);
        config.bounds.include_depth_max = 2;
        config.bounds.includes_max = 3;
    };
    play_with(limits, async |world| {
        let worker = world.worker().await;
        let (mut client, mut call) = asked(&world, &worker, "/me").await;
        answer(&mut call, KEPT, "(<esi:include src='/me'/>)").await;
        assert_eq!(page(&mut client).await, "200 OK ((()))");
        assert_eq!([IncludeEnd::Sent, IncludeEnd::Refused].map(|end| count(&world, end)), [2, 1]);
        let mut call = call;
        client.get("/many").await;
        call = call.next().await.expect("the page");
        let many =
            "<esi:include src='/x' alt='//evil.test/'/>".repeat(3) + "<esi:include src='http://evil.test/x' alt='/x'/>";
        answer(&mut call, KEPT, &many).await;
        call = call.next().await.expect("what stands in it");
        answer(&mut call, "Cache-Control: s-maxage=60\r\n", "x").await;
        assert_eq!(page(&mut client).await, "200 OK xxx");
        assert_eq!([IncludeEnd::Sent, IncludeEnd::Refused].map(|end| count(&world, end)), [5, 2]);
        client.get("/elsewhere").await;
        call = call.next().await.expect("the page");
        answer(&mut call, KEPT, "a<esi:include src='http://evil.test/x'/>b<esi:include src='//evil.test/' alt='/x'/>")
            .await;
        assert_eq!(page(&mut client).await, "200 OK abx");
        assert_eq!([IncludeEnd::Alt, IncludeEnd::Refused].map(|end| count(&world, end)), [1, 3]);
    });
}

#[test]
fn i6_include_that_is_too_large_is_omitted() {
    let limits = |config: &mut Config| {
        on(config);
        config.bounds.include_bytes_max = 2_000;
    };
    play_with(limits, async |world| {
        let worker = world.worker().await;
        let (mut client, mut call) = asked(&world, &worker, "/page").await;
        answer(&mut call, ESI, "a<esi:include src='/fits'/>b<esi:include src='/large'/>c").await;
        let mut fits = call.next().await.expect("the first");
        fits.answer(&"x".repeat(2_000)).await;
        let mut large = fits.next().await.expect("the second");
        large.answer(&"x".repeat(2_001)).await;
        assert_eq!(page(&mut client).await, format!("200 OK a{}bc", "x".repeat(2_000)));
        assert_eq!(count(&world, IncludeEnd::Failed), 1);
    });
}

#[test]
fn i2_page_of_megabytes_frees_its_worker_while_it_waits_for_its_first_include() {
    play_with(on, async |world| {
        let worker = world.worker().await;
        let (mut client, mut call) = asked(&world, &worker, "/page").await;
        let text = "x".repeat(3 << 20);
        call.write(&whole(ESI, &format!("<esi:include src='/a'/>{text}"))).await;
        call.report();
        let mut a = call.next().await.expect("the page's worker is free");
        assert_eq!(target(&a), "/a");
        world.pass(500).await;
        a.answer("A").await;
        assert!(page(&mut client).await == format!("200 OK A{text}"));
        assert_eq!(world.at_ms(), 500);
    });
}

#[test]
fn page_that_breaks_off_is_broken_for_its_client() {
    play_with(on, async |world| {
        let worker = world.worker().await;
        let (mut client, mut call) = asked(&world, &worker, "/page").await;
        call.write(&format!("HTTP/1.1 200 OK\r\n{MARK}{ESI}Content-Length: 99\r\n\r\none<esi:include src='/a'/>"))
            .await;
        world.settle().await;
        drop(call);
        worker.exit();
        let (start, _) = client.head().await;
        assert_eq!((start.as_str(), client.rest().await.as_str()), ("HTTP/1.1 200 OK", "3\r\none\r\n|"));
        let _heir = world.worker().await;
        world.settle().await;
        // That of the page, and that of its include.
        let lines = [world.line().await, world.line().await];
        assert!(lines.iter().any(|line| line.contains("worker_died")), "{lines:?}");
    });
}

#[test]
fn head_asks_for_no_include_and_other_answers_stay_as_they_are() {
    play_with(with_cache, async |world| {
        let worker = world.worker().await;
        let mut client = world.client();
        client.send("HEAD /page HTTP/1.1\r\nHost: app.test\r\n\r\n").await;
        let mut call = worker.call().await;
        call.write(&format!("HTTP/1.1 200 OK\r\n{MARK}{KEPT}ETag: \"a\"\r\nContent-Length: 30\r\n\r\n")).await;
        call.report();
        let (_, fields) = client.head().await;
        assert!(!fields.contains("content-length") && !fields.contains("etag"), "{fields:?}");
        client.get("/plain").await;
        let mut call = call.next().await.expect("the next");
        let text = "<esi:include src='/a'/>";
        answer(&mut call, "Surrogate-Control: max-age=60\r\nETag: \"b\"\r\n", text).await;
        let (_, fields) = client.head().await;
        assert_eq!((fields.get("etag"), fields.get("content-length")), (Some(&b"\"b\""[..]), Some(&b"23"[..])));
        assert!(!fields.contains("surrogate-control"), "it is between the app and the gateway");
        assert_eq!(client.take(23).await, text.as_bytes());
        // What is kept answers HEAD too.
        client.get("/kept").await;
        let mut call = call.next().await.expect("the page");
        answer(&mut call, KEPT, "whole").await;
        assert_eq!(page(&mut client).await, "200 OK whole");
        client.send("HEAD /kept HTTP/1.1\r\nHost: app.test\r\n\r\n").await;
        let (start, fields) = client.head().await;
        assert_eq!((start.as_str(), fields.contains("content-length")), ("HTTP/1.1 200 OK", false));
        client.get("/kept").await;
        assert_eq!(page(&mut client).await, "200 OK whole");
    });
}

#[test]
fn part_of_a_page_that_would_be_composed_is_asked_for_again_as_a_whole() {
    play_with(on, async |world| {
        let worker = world.worker().await;
        let mut client = world.client();
        client.send("GET /page HTTP/1.1\r\nHost: app.test\r\nIf-None-Match: \"a\"\r\nRange: bytes=0-1\r\n\r\n").await;
        let mut call = worker.call().await;
        assert!(call.head.contains("If-None-Match"));
        call.write(&format!("HTTP/1.1 304 Not Modified\r\n{MARK}{ESI}ETag: \"a\"\r\n\r\n")).await;
        call.report();
        let mut again = call.next().await.expect("the page as a whole");
        assert!(!again.head.contains("If-None-Match") && !again.head.contains("Range"), "{}", again.head);
        answer(&mut again, ESI, "whole").await;
        assert_eq!(page(&mut client).await, "200 OK whole");
        world.line().await;
        world.assert_no_line();
    });
}

#[test]
fn compressed_page_passes_as_it_is_and_is_told_of_once_a_minute() {
    play_with(on, async |world| {
        let worker = world.worker().await;
        let mut client = world.client();
        client
            .send("GET /page HTTP/1.1\r\nHost: app.test\r\nAccept-Encoding: gzip\r\nSurrogate-Capability: me\r\n\r\n")
            .await;
        let mut call = worker.call().await;
        assert!(!call.head.contains("Accept-Encoding") && !call.head.contains(": me"), "{}", call.head);
        let fields = format!("{ESI}Content-Encoding: gzip\r\n");
        answer(&mut call, &fields, "zipped").await;
        assert_eq!(client.answer().await, "HTTP/1.1 200 OK, Content-Encoding: gzip, zipped");
        client.get("/page").await;
        let mut call = call.next().await.expect("the next");
        answer(&mut call, &fields, "zipped").await;
        client.answer().await;
        assert_eq!(count(&world, IncludeEnd::Failed), 2);
        assert_eq!(world.notes().iter().filter(|note| note.contains("cannot be composed")).count(), 1);
    });
}

#[test]
fn include_has_the_fields_of_its_client_and_none_that_are_about_its_page() {
    play_with(on, async |world| {
        let worker = world.worker().await;
        let mut client = world.client();
        client
            .send(
                "POST /form HTTP/1.1\r\nHost: app.test\r\nCookie: who=anna\r\nContent-Type: text/plain\r\n\
                 If-Match: \"a\"\r\nX-Request-Id: mine\r\nContent-Length: 2\r\n\r\nhi",
            )
            .await;
        let mut call = worker.call().await;
        let id = |call: &Call| {
            call.head.split("X-Request-Id: ").nth(1).and_then(|rest| rest.split("\r\n").next()).unwrap().to_owned()
        };
        let page_id = id(&call);
        call.body(2).await;
        answer(&mut call, ESI, "<esi:include src='/cart'/>").await;
        let mut cart = call.next().await.expect("the include");
        assert!(
            cart.head.starts_with("GET /cart HTTP/1.1\r\n") && cart.head.contains("Cookie: who=anna\r\n"),
            "{}",
            cart.head
        );
        for gone in ["Content-", "If-Match", "mine", "Transfer-Encoding"] {
            assert!(!cart.head.contains(gone), "{gone} in {}", cart.head);
        }
        assert_eq!(id(&cart), format!("{page_id}-1"));
        cart.answer("C").await;
        assert_eq!(page(&mut client).await, "200 OK C");
    });
}

#[test]
fn i6_cached_page_is_written_to_a_slow_client_no_faster_than_it_reads() {
    play_with(with_cache, async |world| {
        let worker = world.worker().await;
        let (mut client, mut call) = asked(&world, &worker, "/page").await;
        let text = "x".repeat(3 << 20);
        answer(&mut call, KEPT, &format!("<esi:include src='/a'/>{text}<esi:include src='/a'/>")).await;
        let mut a = call.next().await.expect("the include");
        answer(&mut a, "Cache-Control: s-maxage=60\r\n", "A").await;
        assert!(page(&mut client).await == format!("200 OK A{text}A"));
        // The first answer's buffers are let go before the second is measured.
        world.pass(100).await;
        let before = world.gate.road.store.memory.used_bytes();
        let mut slow = world.client_that_takes(4096);
        slow.get("/page").await;
        for _ in 0..50 {
            world.pass(100).await;
            let held = world.gate.road.store.memory.used_bytes() - before;
            assert!(held < 512 * 1024 && world.gate.road.store.used_bytes() < 512 * 1024, "{held}");
        }
        assert!(page(&mut slow).await == format!("200 OK A{text}A"));
    });
}
