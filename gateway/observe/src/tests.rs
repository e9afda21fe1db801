//! What one record moves, and what it does not.

use std::net::Ipv4Addr;
use std::time::Duration;

use sluice_journal::{AccessRecord, Filter, Options, Outcome};
use sluice_message::{Method, Scheme};
use sluice_scheduler::ClassId;

use super::*;

fn observer() -> Rc<Observer> {
    Observer::new(&Rc::default(), Journal::new(Options::default(), std::io::sink()).unwrap())
}

fn line() -> AccessLine {
    AccessLine {
        method: Some(Method::Get),
        target: "/product/12".to_owned(),
        host: "shop.example".to_owned(),
        scheme: Scheme::Http,
        headers: Vec::new(),
        traced: None,
        upstream: None,
        untold_cpu_us: 0,
        rest: AccessRecord {
            time_unix_ms: 0,
            request_id: "",
            method: "",
            target: "",
            host: "",
            class: "",
            worker: Some(3),
            tries: 1,
            upstream: None,
            step: None,
            session: None,
            cache: None,
            includes: None,
            status: 200,
            error: None,
            bytes_in: 0,
            bytes_out: 5,
            receive_ms: 0.0,
            queue_ms: Some(1.0),
            unserved_ms: None,
            service_ms: Some(20.0),
            total_ms: 21.0,
            cpu_ms: None,
            cpu_weight: 1,
            handler_ms: None,
            outcome: Outcome::Answered,
            peer: Ipv4Addr::LOCALHOST.into(),
            trace_id: None,
            headers: &[],
            is_traced: false,
        },
    }
}

fn work() -> Work {
    Work {
        worker: 3,
        generation: Some(1),
        class: ClassId(1),
        service_us: Some(20_000),
        cpu_us: Some(15_000),
        cpu_weight: 1,
        handler_us: None,
        runs: Some([4, 1, 0, 0]),
        longest: Some(Run { us: 12_000, collected_us: 0, cpu_us: Some(11_000), queued_us: None, ago_ms: 0 }),
    }
}

fn record(line: Option<AccessLine>, work: Option<Work>) -> RequestRecord {
    RequestRecord { request_id: "r-1".into(), class: "GET /product/:id".into(), line, work }
}

/// The lines of the log.
fn lines(observer: &Observer) -> Vec<serde_json::Value> {
    let lines = observer.journal().subscribe(Filter::default(), 100).read().lines;
    lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn requests_reported(observer: &Observer) -> u64 {
    let report = observer.spending.report(None, None);
    report.after.map_or(0, |after| after.all.requests)
}

#[test]
fn one_record_moves_all_that_is_told_of_a_request() {
    let observer = observer();
    observer.ended(&record(Some(line()), Some(work())));
    let lines = lines(&observer);
    assert_eq!(lines.len(), 1);
    assert!(lines[0]["request_id"] == "r-1" && lines[0]["cpu_ms"] == 15.0, "{}", lines[0]);
    assert_eq!(observer.journal().outcomes()["answered"], 1);
    assert_eq!(requests_reported(&observer), 1);
    let runs = observer.runs.snapshot();
    assert_eq!((runs.requests, &*runs.requests_with), (1, &[1, 1, 0, 0][..]));
    assert_eq!(runs.longest[0].request.as_deref(), Some("r-1"));
}

#[test]
fn request_that_no_client_waited_for_has_no_line_and_counts_as_work() {
    let observer = observer();
    observer.ended(&record(None, Some(work())));
    assert!(lines(&observer).is_empty() && observer.journal().outcomes().is_empty());
    assert_eq!((requests_reported(&observer), observer.runs.snapshot().requests), (1, 1));
}

#[test]
fn request_that_no_worker_has_finished_is_a_line_alone() {
    let observer = observer();
    let line = AccessLine { untold_cpu_us: 7_000, ..line() };
    observer.ended(&record(Some(line), None));
    assert_eq!(lines(&observer)[0]["cpu_ms"], 7.0, "what its workers had used before they died");
    assert_eq!((requests_reported(&observer), observer.runs.snapshot().requests), (0, 0));
}

#[test]
fn time_of_a_stream_is_no_service_time() {
    let observer = observer();
    observer.ended(&record(None, Some(Work { service_us: None, ..work() })));
    assert_eq!((requests_reported(&observer), observer.runs.snapshot().requests), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn same_trouble_is_told_every_ten_seconds_and_counted_in_between() {
    let observer = observer();
    let address = Ipv4Addr::LOCALHOST.into();
    let tick = || observer.tick(Instant::now(), 0, std::iter::empty(), Look::default);
    for _ in 0..3 {
        observer.trouble.refused_connection(Some(address));
        tick();
    }
    let text = |nth: usize| lines(&observer)[nth]["text"].as_str().unwrap_or_default().to_owned();
    assert_eq!(lines(&observer).len(), 1);
    assert!(text(0).starts_with("1 connections were refused: 127.0.0.1 has"), "{}", text(0));
    tokio::time::advance(Duration::from_secs(10)).await;
    tick();
    assert!(text(1).starts_with("2 connections were refused"), "{}", text(1));
}

#[test]
fn crash_is_an_alarm_with_the_request_that_it_came_with() {
    let observer = observer();
    observer.crashes.crashed(sluice_catalog::snapshot::CrashSnapshot {
        at_unix_ms: 0,
        worker: 3,
        status: "exit code 1".to_owned(),
        exception: Some("Error: out".to_owned()),
        held: 2,
        request: Some("r-1".to_owned()),
        method: Some("GET".to_owned()),
        path: Some("/product/12".to_owned()),
        class: Some("GET /product/:id".to_owned()),
        place: Some("fill (lib/export.js:9:3)".to_owned()),
        evidence: None,
    });
    observer.tick(Instant::now() + Duration::from_secs(2), 0, std::iter::empty(), Look::default);
    let alarms = observer.alarms.snapshots();
    assert_eq!(alarms.len(), 1);
    let text = &alarms[0].text;
    assert!(
        text.starts_with("worker 3 exited unexpectedly (exit code 1): Error: out, in fill (lib/export.js:9:3); with request r-1, GET /product/12 of"),
        "{text}"
    );
}
