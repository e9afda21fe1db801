//! Beacons of browsers: counted and answered by the gateway alone, and what strangers make of that.

use std::collections::BTreeMap;

use sluice_catalog::snapshot::{EffectsSnapshot, VitalsSnapshot};
use sluice_supervisor::{Gate as _, RenderReport};
use sluice_vitals::{ComponentReport, SettingReport};

use super::client::Client;
use super::world::{World, play};

const PATH: &str = "/.sluice/vitals";

fn beacon(setting: &str, page: &str, lcp_ms: &str) -> String {
    format!(r#"{{"v":1,"page":"{page}","setting":"{setting}","device":"mobile","lcp_ms":{lcp_ms}}}"#)
}

/// A worker has made a page with this setting.
fn makes_page(world: &World, setting: &str) {
    world.gate.reports().rendered(&RenderReport {
        worker: sluice_scheduler::WorkerId(1),
        components: vec![ComponentReport { component: "Price", outcome: "rendered", count: 1, cpu_us: 700 }],
        settings: vec![SettingReport { setting, pages: 1, cpu_us: 700 }],
        variants: vec!["hero:a"],
    });
}

/// Devices of a setting that have sent beacons.
fn devices(world: &World, setting: &str) -> Vec<VitalsSnapshot> {
    let EffectsSnapshot { settings, .. } = world.gate.road.observer.effects.snapshot().unwrap_or_default();
    settings.into_iter().find(|known| known.name == setting).map(|known| known.devices).unwrap_or_default()
}

fn reports(world: &World, setting: &str) -> u64 {
    devices(world, setting).iter().map(|device| device.reports_total).sum()
}

async fn send(client: &mut Client, fields: &str, body: &str) -> String {
    let len = body.len();
    client
        .send(&format!("POST {PATH} HTTP/1.1\r\nHost: app.test\r\n{fields}Content-Length: {len}\r\n\r\n{body}"))
        .await;
    client.answer().await
}

#[test]
fn beacons_are_counted_by_setting_device_and_class_without_a_worker() {
    play(async |world| {
        let worker = world.worker().await;
        let mut client = world.client();
        client.get("/product/17").await;
        worker.call().await.answer("page").await;
        assert_eq!(client.answer().await, "HTTP/1.1 200 OK, page");
        makes_page(&world, "s50");
        for (fields, page) in [
            ("Sec-Fetch-Site: same-origin\r\n", "/product/18?ref=mail"),
            ("Referer: https://app.test/product/19\r\n", "listing"),
            ("", "/never/asked/for"),
        ] {
            assert_eq!(send(&mut client, fields, &beacon("s50", page, "1500")).await, "HTTP/1.1 204 No Content");
        }
        let mobile = &devices(&world, "s50")[0];
        assert_eq!((mobile.name.as_str(), mobile.reports_total), ("mobile", 3));
        assert!(mobile.lcp_ms.is_some_and(|ms| (ms - 1500.0).abs() < 48.0), "{mobile:?}");
        let pages = world.gate.road.observer.effects.snapshot().unwrap().pages;
        let pages: Vec<_> = pages.iter().map(|page| (page.name.as_str(), page.reports_total)).collect();
        assert_eq!(pages, [("GET /product/:id", 2), ("other", 1)]);
        let classes: Vec<_> = world.gate.costs.snapshot().classes.into_iter().map(|class| class.class).collect();
        assert_eq!(classes, ["GET /product/:id"], "a beacon makes no class");
    });
}

#[test]
fn i8_garbage_is_refused_and_counts_nowhere() {
    play(async |world| {
        let _worker = world.worker().await;
        makes_page(&world, "s50");
        let mut client = world.client();
        let deep = format!(r#"{{"v":1,"setting":"s50","device":"bot","x":{}"#, "[".repeat(3000));
        for body in [
            "",
            "null",
            "hello",
            &deep,
            &beacon("s50", "/", "NaN"),
            &beacon("s50", "/", "-1"),
            &beacon("s50", "/", "1e300"),
            &beacon("s50", "/", "1e999"),
            &beacon("<script>", "/", "1"),
            &beacon(&"s".repeat(100), "/", "1"),
        ] {
            let answer = send(&mut client, "", body).await;
            assert_eq!(answer, "HTTP/1.1 400 Bad Request, SLU-VITALS-REFUSED", "{body:.60}");
        }
        let fine = beacon("s50", "/", "1");
        for site in ["cross-site", "same-site", "none", ""] {
            let answer = send(&mut client, &format!("Sec-Fetch-Site: {site}\r\n"), &fine).await;
            // Its body is not received, so nothing may follow it.
            assert_eq!(answer, "HTTP/1.1 400 Bad Request, SLU-VITALS-REFUSED, Connection: close", "{site}");
            client = world.client();
        }
        assert_eq!(reports(&world, "s50"), 0);
    });
}

#[test]
fn bodies_over_the_bound_are_refused_before_they_are_received() {
    play(async |world| {
        let _worker = world.worker().await;
        let mut client = world.client();
        client.send(&format!("POST {PATH} HTTP/1.1\r\nHost: app.test\r\nContent-Length: 4097\r\n\r\n")).await;
        assert_eq!(client.rest().await, "HTTP/1.1 413 Content Too Large, SLU-BODY-TOO-LARGE, Connection: close|");
        let mut client = world.client();
        client.send(&format!("POST {PATH} HTTP/1.1\r\nHost: app.test\r\nTransfer-Encoding: chunked\r\n\r\n")).await;
        client.send("1001\r\n").await;
        assert_eq!(client.rest().await, "HTTP/1.1 413 Content Too Large, SLU-BODY-TOO-LARGE, Connection: close|");
        let padded = format!("{}{}", beacon("s1", "/", "1"), " ".repeat(4096));
        let mut client = world.client();
        assert_eq!(send(&mut client, "", &padded[..4096]).await, "HTTP/1.1 204 No Content");
    });
}

#[test]
fn i6_a_flood_of_made_up_settings_is_limited_and_takes_one_row() {
    play(async |world| {
        let _worker = world.worker().await;
        makes_page(&world, "s50");
        let mut client = world.client();
        let (mut taken, mut limited) = (0, 0);
        for number in 0..500 {
            match send(&mut client, "", &beacon(&format!("made-up-{number}"), &format!("/{number}"), "1")).await {
                answer if answer == "HTTP/1.1 204 No Content" => taken += 1,
                answer => {
                    assert!(answer.starts_with("HTTP/1.1 429 Too Many Requests"), "{answer}");
                    assert!(answer.contains("SLU-VITALS-LIMITED") && answer.contains("Retry-After: 1"), "{answer}");
                    limited += 1;
                    client = world.client();
                }
            }
        }
        assert_eq!((taken, limited), (60, 440));
        let EffectsSnapshot { settings, pages, .. } = world.gate.road.observer.effects.snapshot().unwrap();
        let settings: Vec<_> = settings.iter().map(|setting| setting.name.as_str()).collect();
        assert_eq!(settings, ["s50", "other"]);
        assert_eq!(pages.iter().map(|page| page.name.as_str()).collect::<Vec<_>>(), ["other"]);
        assert_eq!(reports(&world, "other"), 60);
        world.pass(60_000).await;
        let mut client = world.client();
        assert_eq!(send(&mut client, "", &beacon("s50", "/", "1")).await, "HTTP/1.1 204 No Content");
        assert_eq!(reports(&world, "s50"), 1);
    });
}

#[test]
fn dial_is_turned_for_some_entries_or_replaced_and_each_change_is_another_version() {
    play(async |world| {
        let entries = |name: &str, share: &str| BTreeMap::from([(name.to_owned(), share.to_owned())]);
        assert_eq!(world.gate.dial().version, 1);
        assert!(!world.gate.road.rendering.snapshot().turned);
        let turned = world.gate.road.rendering.turn(&entries("Reviews@mobile", "12.5%"), false).unwrap();
        assert!(turned.turned);
        assert_eq!(turned.server.into_values().collect::<Vec<_>>(), ["100%", "12.5%"]);
        let told = world.gate.dial();
        assert_eq!((told.version, told.server["*"], told.server["Reviews@mobile"]), (2, 1.0, 0.125));
        assert!(world.gate.road.rendering.turn(&entries("Reviews@watch", "1%"), false).is_err());
        world.gate.road.rendering.turn(&entries("Reviews@mobile", "12.5%"), false).unwrap();
        assert_eq!(world.gate.dial().version, 2, "nothing was changed");
        let replaced = world.gate.road.rendering.turn(&entries("*", "100%"), true).unwrap();
        assert!(!replaced.turned, "as the config says");
        assert_eq!(world.gate.dial().version, 3);
    });
}

#[test]
fn streams_of_http2_bring_beacons_as_well_within_the_same_bound() {
    play(async |world| {
        let (_worker, (end, _serving)) = (world.worker().await, world.http2(64 * 1024));
        makes_page(&world, "s50");
        let (mut ask, connection) = h2::client::handshake(end).await.expect("the gateway reads");
        tokio::task::spawn_local(connection);
        for (body, status) in [(beacon("s50", "/", "1"), 204), (" ".repeat(4097), 413), ("garbage".to_owned(), 400)] {
            let post = http::Request::post(format!("https://app.test{PATH}")).body(()).unwrap();
            let (answer, mut sending) = ask.send_request(post, false).unwrap();
            // Without a declared length, so that it is counted as it comes.
            sending.send_data(bytes::Bytes::from(body), true).unwrap();
            assert_eq!(answer.await.unwrap().status(), status);
        }
        assert_eq!(reports(&world, "s50"), 1);
    });
}
