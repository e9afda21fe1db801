use serde_json::Value;
use sluice_catalog::errors::Code;
use sluice_catalog::logfields::{self, LOG};
use sluice_catalog::snapshot::Lane;

use super::*;
use crate::app_text::AppText;
use crate::event::tests_support::record;
use crate::event::{AccessRecord, Alarm, ExitReason, LoggedHeader, Outcome, RecycleCause, Stream};

fn as_json(event: &Event<'_>) -> Value {
    named(event, LogFields::Sluice)
}

fn named(event: &Event<'_>, fields: LogFields) -> Value {
    let mut out = Vec::new();
    json(&mut out, &mut Timestamp::new(), 1_767_225_599_500, event, &Names::new(fields));
    assert!(!out.contains(&b'\n'), "a line is one line");
    serde_json::from_slice(&out).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&out)))
}

fn as_text(event: &Event<'_>) -> String {
    let mut out = Vec::new();
    text(&mut out, &mut Timestamp::new(), 1_767_225_599_500, event);
    String::from_utf8(out).unwrap()
}

fn every_event() -> Vec<Event<'static>> {
    vec![
        Event::Access(record()),
        Event::WorkerStarted { worker: 3, pid: 77, generation: 2, lane: Lane::Long },
        Event::WorkerReady { worker: 3, after_ms: 210 },
        Event::WorkerExited {
            worker: 3,
            status: "exit code 1",
            reason: ExitReason::Exited,
            expected: false,
            exception: Some("Error: no"),
            held: 2,
            request: Some(HeldRequest { request_id: "r1", method: "GET", target: "/loop" }),
            class: Some("GET /loop"),
            place: Some("fill (lib/export.js:9:3)"),
            evidence: Some("report /state/profiles/crash-1.json"),
        },
        Event::WorkerStuck {
            worker: 3,
            silent_ms: 10_020,
            cpu_ms: Some(9_870),
            place: Ok(StuckPlace { function: "spin", file: "app.js", line: 3, column: 5, stack: "spin (app.js:3:5)" }),
            hottest: Some("spin (app.js:1:14) 240 ms"),
            request: Some(HeldRequest { request_id: "00ab", method: "GET", target: "/spin" }),
            profile: Some("/run/profiles/stuck-3.cpuprofile"),
        },
        Event::WorkerBlocked { worker: 3, silent_ms: 60_010, waits_in: "sleeps (S)", request: None },
        Event::WorkerOverdue { worker: 3, silent_ms: 1_010, request: None },
        Event::WorkerBackoff { worker: 3, delay_ms: 100 },
        Event::WorkerStartFailed { worker: 3, code: Code::AppNeverListened, stderr_tail: "Error: no\n  at x\n" },
        Event::AppLine { worker: 3, stream: Stream::Stderr, said: AppText::read(Stream::Stderr, "hello \"you\"") },
        Event::Listening { url: "http://localhost:3000" },
        Event::Draining { reason: "SIGTERM" },
        Event::Stopped,
        Event::TaskLost { task: "tick", place: "cli/src/start.rs:3:5" },
        Event::Quarantined { request_id: "0198c0de", text: "it is answered without a worker" },
        Event::Scaled { from: 2, to: 4 },
        Event::DialChanged { shares: "* = 50%, Reviews@mobile = 0%" },
        Event::WorkerRecycled { worker: 3, reason: RecycleCause::Memory },
        Event::ReloadStarted { generation: 2, by: "SIGHUP" },
        Event::ReloadFinished { generation: 2, after_ms: 1200 },
        Event::ReloadAbandoned { generation: 3, reason: "it broke", superseded: false, stderr_tail: "Error: no\n" },
        Event::ReloadRefused { reason: "no" },
        Event::ReloadCompared {
            generation: 2,
            state: "held",
            reason: "the time has passed",
            requests: 120,
            requests_present: 2400,
        },
        Event::OverlapSeen { worker: 3, count: 1 },
        Event::LongRun {
            worker: 3,
            ms: 1_204.5,
            collected_ms: Some(312.0),
            cpu_ms: Some(62.0),
            queued_ms: Some(980.0),
            spent: Some(RunTime::Starved),
            place: None,
            request: Some(HeldRequest { request_id: "00ab", method: "GET", target: "/all" }),
            class: Some("GET /all"),
        },
        Event::AlarmRaised { alarm: Alarm::CostDrift, class: Some("GET /"), text: "it costs more; look why" },
        Event::AlarmCleared { alarm: Alarm::SteadyQueue, class: None, after_ms: 61_000 },
        Event::Note { level: Level::Warn, text: "careful" },
    ]
}

#[test]
fn every_line_has_the_fields_of_the_catalogue_in_their_order_and_no_others() {
    let mut told = Vec::new();
    for event in every_event() {
        let line = as_json(&event);
        assert_eq!(line["time"], "2025-12-31T23:59:59.500Z");
        let entry = logfields::line(line["event"].as_str().unwrap()).expect("the event is in the catalogue");
        told.push(entry.event.as_str());
        let Head { kind, worker, .. } = head(&event);
        assert_eq!(entry.kind, kind);
        assert_eq!(line.get("worker").and_then(Value::as_u64), worker, "{line}");

        let mut out = Vec::new();
        json(&mut out, &mut Timestamp::new(), 0, &event, &Names::new(LogFields::Sluice));
        let text = String::from_utf8(out).unwrap();
        let mut after = 0;
        for field in LOG.common.iter().chain(&entry.fields) {
            let at =
                text.find(&format!("\"{}\":", field.name)).unwrap_or_else(|| panic!("no {} in {text}", field.name));
            assert!(at >= after, "{} is out of order in {text}", field.name);
            after = at;
            let value = &line[&field.name];
            let fits = match field.json_type.as_str() {
                "string" => value.is_string(),
                "number" => value.is_number(),
                "object" => value.is_object(),
                _ => value.is_boolean(),
            };
            assert!(fits || value.is_null() && !field.null_when.is_empty(), "{} in {text}", field.name);
        }
        assert_eq!(line.as_object().unwrap().len(), LOG.common.len() + entry.fields.len(), "{text}");
    }
    told.sort_unstable();
    let mut known: Vec<&str> = LOG.lines.iter().map(|line| line.event.as_str()).collect();
    known.sort_unstable();
    assert_eq!(told, known);
}

#[test]
fn an_exit_is_an_error_if_it_is_unexpected() {
    for (expected, level) in [(false, "error"), (true, "info")] {
        let line = as_json(&Event::WorkerExited {
            worker: 3,
            status: "exit code 1",
            reason: ExitReason::OutOfMemory,
            expected,
            exception: None,
            held: 0,
            request: None,
            class: None,
            place: None,
            evidence: None,
        });
        assert_eq!(line["level"], level);
    }
}

#[test]
fn cpu_time_of_a_stuck_worker_is_told_where_it_is_known() {
    let place = StuckPlace { function: "spin", file: "app.js", line: 3, column: 5, stack: "spin (app.js:3:5)" };
    let event = Event::WorkerStuck {
        worker: 3,
        silent_ms: 10_000,
        cpu_ms: Some(2_431),
        place: Ok(place),
        hottest: None,
        request: None,
        profile: None,
    };
    assert_eq!(as_json(&event)["cpu_ms"], 2_431);
    let text = as_text(&event);
    assert!(text.contains("silent for 10000 ms, CPU time 2431 ms: spin (app.js:3:5)"), "{text}");
}

#[test]
fn a_stuck_worker_whose_place_is_not_known_says_why() {
    let event = Event::WorkerStuck {
        worker: 3,
        silent_ms: 9,
        cpu_ms: None,
        place: Err("no answer"),
        hottest: None,
        request: None,
        profile: None,
    };
    let line = as_json(&event);
    assert!(["function", "file", "line", "column", "stack", "request_id", "profile"].iter().all(|f| line[f].is_null()));
    assert_eq!(line["why"], "no answer");
    assert!(
        as_text(&event).ends_with(
            "is stuck, silent for 9 ms: its position in the code is unknown: no answer; the gateway kills it"
        )
    );
}

#[test]
fn a_request_is_told_with_every_field() {
    let line = as_json(&Event::Access(record()));
    assert_eq!(line["request_id"], "0198c0de-7e57-4a11-8000-00000000002a");
    assert_eq!(line["target"], "/product/12?colour=red");
    assert_eq!(line["status"], 200);
    assert_eq!(line["queue_ms"], 1.5);
    assert_eq!(line["service_ms"], 12.25);
    assert_eq!((&line["cpu_ms"], &line["handler_ms"]), (&11.75.into(), &10.5.into()));
    assert_eq!(line["outcome"], "answered");
    assert_eq!(line["peer"], "203.0.113.9");
    assert!(line["error"].is_null());
}

#[test]
fn a_request_that_no_worker_saw_says_so() {
    let refused = AccessRecord {
        worker: None,
        error: Some(Code::QueueFull),
        service_ms: None,
        cpu_ms: None,
        handler_ms: None,
        status: 503,
        outcome: Outcome::Shed,
        ..record()
    };
    let line = as_json(&Event::Access(refused));
    assert_eq!(line["error"], "SLU-QUEUE-FULL");
    assert!(["worker", "service_ms", "cpu_ms", "handler_ms"].iter().all(|field| line[field].is_null()));
    let text = as_text(&Event::Access(refused));
    assert!(text.contains("503 GET shop.example/product/12?colour=red  queue 1.5 ms"), "{text}");
    assert!(text.ends_with("shed  SLU-QUEUE-FULL"), "{text}");
}

#[test]
fn what_a_client_sends_cannot_forge_a_line() {
    let target = "/\"},\n{\"event\":\"forged\u{1b}[2J";
    let line = as_json(&Event::Access(AccessRecord { target, ..record() }));
    assert_eq!(line["target"], target);
    let text = as_text(&Event::Access(AccessRecord { target, ..record() }));
    assert!(!text.contains(['\n', '\u{1b}']), "{text}");
}

#[test]
fn long_targets_and_lines_are_cut() {
    let long = "é".repeat(100_000);
    let line = as_json(&Event::Access(AccessRecord { target: &long, host: &long, class: &long, ..record() }));
    assert!(line.to_string().len() < 2 * TARGET_BYTES_MAX);
    assert!(line["target"].as_str().unwrap().ends_with("é…"));
    let line =
        as_json(&Event::AppLine { worker: 1, stream: Stream::Stdout, said: AppText::read(Stream::Stdout, &long) });
    assert!(line["line"].as_str().unwrap().len() <= APP_BYTES_MAX + "…".len());
}

#[test]
fn a_failed_start_shows_the_end_of_stderr() {
    let tail = format!("{}TypeError: the reason\n    at server.js:1\n", "noise\n".repeat(10_000));
    let event = Event::WorkerStartFailed { worker: 1, code: Code::AppNeverListened, stderr_tail: &tail };
    let line = as_json(&event);
    assert_eq!(line["code"], "SLU-APP-NEVER-LISTENED");
    assert!(line["stderr"].as_str().unwrap().ends_with("TypeError: the reason\n    at server.js:1\n"));
    assert!(as_text(&event).ends_with("TypeError: the reason\n    at server.js:1"));
}

#[test]
fn queue_wait_and_service_time_stand_apart_in_text() {
    let text = as_text(&Event::Access(record()));
    assert_eq!(
        text,
        "23:59:59.500Z 200 GET shop.example/product/12?colour=red  w3  queue 1.5 ms  service 12.25 ms  cpu 11.75 ms  \
         handler 10.5 ms  18222 B  answered"
    );
}

#[test]
fn outcomes_are_the_words_of_the_catalogue() {
    let words: Vec<&str> = LOG.outcomes.iter().map(|word| word.name.as_str()).collect();
    assert_eq!(Outcome::ALL.map(Outcome::as_str).to_vec(), words);
    for (outcome, word) in Outcome::ALL.into_iter().zip(&LOG.outcomes) {
        assert_eq!(outcome.is_failure(), word.is_failure, "{}", word.name);
    }
}

#[test]
fn json_of_the_app_stands_in_the_line_as_an_object_with_its_level() {
    let text = r#"{"level":50,"msg":"no \"stock\"","order":{"id":7}}"#;
    let event = Event::AppLine { worker: 1, stream: Stream::Stdout, said: AppText::read(Stream::Stdout, text) };
    let line = as_json(&event);
    assert_eq!(
        (&line["level"], &line["line"], &line["json"]["order"]["id"]),
        (&"error".into(), &Value::Null, &7.into())
    );
    assert_eq!(named(&event, LogFields::Otel)["body"], "no \"stock\"");
    assert_eq!(named(&event, LogFields::Ecs)["message"], "no \"stock\"");

    let long = format!("{{\"msg\":\"{}\"}}", "x".repeat(APP_BYTES_MAX));
    let said = AppText::read(Stream::Stdout, &long);
    let line = as_json(&Event::AppLine { worker: 1, stream: Stream::Stdout, said });
    assert!(line["json"].is_null() && line["line"].as_str().is_some_and(|text| text.ends_with('…')), "cut, it is text");
}

#[test]
fn a_record_of_several_lines_is_one_line_of_json() {
    let text = "Error: no\n    at f (a.js:1:2)";
    let said = AppText::read(Stream::Stderr, text);
    let event = Event::AppLine { worker: 1, stream: Stream::Stderr, said };
    assert_eq!((&as_json(&event)["line"], &as_json(&event)["level"]), (&text.into(), &"error".into()));
    assert_eq!(as_text(&event), "23:59:59.500Z w1 ! Error: no\n    at f (a.js:1:2)");
}

#[test]
fn headers_are_in_the_access_line_where_they_are_asked_for() {
    let header = |name: &str, value: &str| LoggedHeader { name: name.into(), value: value.to_owned() };
    let headers = [header("user-agent", "curl \"8\""), header("x-tenant", &"t".repeat(600))];
    let event = Event::Access(AccessRecord { headers: &headers, ..record() });
    let line = as_json(&event);
    assert_eq!(line["headers"]["user-agent"], "curl \"8\"");
    assert_eq!(line["headers"]["x-tenant"].as_str().map(|value| value.chars().count()), Some(FIELD_BYTES_MAX + 1));
    let otel = named(&event, LogFields::Otel);
    assert_eq!(otel["user_agent.original"], "curl \"8\"");
    assert!(otel["http.request.header.x-tenant"][0].as_str().is_some_and(|value| value.starts_with('t')));
    assert_eq!(named(&event, LogFields::Ecs)["user_agent.original"], "curl \"8\"");
}

#[test]
fn the_conventions_have_their_own_names_and_no_name_twice() {
    for fields in [LogFields::Otel, LogFields::Ecs] {
        for event in every_event() {
            let mut out = Vec::new();
            json(&mut out, &mut Timestamp::new(), 0, &event, &Names::new(fields));
            let text = String::from_utf8(out).unwrap();
            let line: Value = serde_json::from_str(&text).unwrap();
            for name in line.as_object().unwrap().keys() {
                assert_eq!(text.matches(&format!("\"{name}\":")).count(), 1, "{name} in {text}");
            }
        }
    }
    let access = Event::Access(AccessRecord { host: "shop.example:8080", ..record() });
    let otel = named(&access, LogFields::Otel);
    for (name, value) in [
        ("timestamp", Value::from("2025-12-31T23:59:59.500Z")),
        ("severity_text", "info".into()),
        ("severity_number", 9.into()),
        ("event.name", "access".into()),
        ("http.request.method", "GET".into()),
        ("url.original", "/product/12?colour=red".into()),
        ("server.address", "shop.example".into()),
        ("http.response.status_code", 200.into()),
        ("client.address", "203.0.113.9".into()),
        ("sluice.queue_ms", 1.5.into()),
    ] {
        assert_eq!(otel[name], value, "{name} in {otel}");
    }
    assert!(otel["body"].as_str().is_some_and(|body| body.starts_with("200 GET ")), "{otel}");
    let ecs = named(&access, LogFields::Ecs);
    for (name, value) in [
        ("@timestamp", Value::from("2025-12-31T23:59:59.500Z")),
        ("log.level", "info".into()),
        ("ecs.version", ECS_VERSION.into()),
        ("event.action", "access".into()),
        ("event.duration", 13_900_000.into()),
        ("url.domain", "shop.example".into()),
        ("client.ip", "203.0.113.9".into()),
        ("http.response.body.bytes", 18_222.into()),
    ] {
        assert_eq!(ecs[name], value, "{name} in {ecs}");
    }
    assert!(ecs["message"].as_str().is_some_and(|message| message.starts_with("200 GET ")), "{ecs}");
}
