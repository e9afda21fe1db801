use sluice_catalog::snapshot::{
    BootsSnapshot, CurrentRequest, GatewayState, Lane, Percentiles, QueueSnapshot, ReloadState, RequestsSnapshot,
    TrialSnapshot, TrialState, WorkerSnapshot, WorkerState,
};

use super::*;

pub fn snapshot() -> Snapshot {
    let busy = WorkerSnapshot {
        id: 7,
        instance: 0,
        pid: Some(4711),
        generation: 1,
        state: WorkerState::Busy,
        age_s: 3725.0,
        rss_bytes: Some(104_857_600),
        heap_used_bytes: None,
        requests_total: 1234,
        restarts_total: 1,
        current: vec![CurrentRequest {
            id: "r-9".to_owned(),
            class: "GET /product/:id".to_owned(),
            for_ms: 12,
            method: "GET".to_owned(),
            path: "/product/8".to_owned(),
        }],
        cpu_ms_total: Some(61_000.0),
        cpu: Some(0.5),
        event_loop_utilization: Some(0.6),
        event_loop_delay_ms: Some(3.0),
        silent_ms: Some(80),
        streams: 0,
        lowered: true,
        lane: Some(Lane::Short),
        runs: None,
    };
    let starting = WorkerSnapshot {
        id: 8,
        instance: 1,
        pid: None,
        generation: 0,
        state: WorkerState::Backoff,
        age_s: 0.25,
        rss_bytes: None,
        heap_used_bytes: None,
        requests_total: 0,
        restarts_total: 3,
        current: Vec::new(),
        cpu_ms_total: None,
        cpu: None,
        event_loop_utilization: None,
        event_loop_delay_ms: None,
        silent_ms: None,
        streams: 0,
        lowered: false,
        lane: None,
        runs: None,
    };
    Snapshot {
        version: "0.1.0".to_owned(),
        // No process has this id, so nobody waits for it to end.
        pid: i32::MAX.cast_unsigned(),
        state: GatewayState::Serving,
        url: "http://localhost:3000".to_owned(),
        admin_url: Some("http://127.0.0.1:7584".to_owned()),
        run_dir: "/run/shop".to_owned(),
        uptime_s: 90_000.0,
        generation: 1,
        reload: None,
        boots: None,
        workers: vec![busy, starting],
        workers_wanted: Some(2),
        worker_memory_bytes_max: None,
        machine: None,
        lately: sluice_catalog::snapshot::LatelySnapshot::default(),
        queue: QueueSnapshot { length: 2, length_max: 1000, oldest_wait_ms: 3.5, predicted_wait_ms: Some(1250.0) },
        requests: RequestsSnapshot { answered_total: 1234, in_service: 1, per_second: 12.34, ..Default::default() },
        queue_wait_ms: Percentiles { p50: Some(0.25), p95: Some(4.0), p99: Some(40.0) },
        unserved_ms: Percentiles::default(),
        service_time_ms: Percentiles { p50: Some(12.0), p95: Some(90.0), p99: None },
        overlaps_total: 0,
        connections: 5,
        streams: 0,
        quarantined: 0,
        crashes: Vec::new(),
        alarms: Vec::new(),
        growing: Vec::new(),
        concurrency: sluice_catalog::snapshot::ConcurrencySnapshot::default(),
        runs: sluice_catalog::snapshot::RunsSnapshot::default(),
        certificates: Vec::new(),
        upstreams: Vec::new(),
        tails: Vec::new(),
        react: None,
        component_cache: None,
        page_cache: None,
        dial: sluice_catalog::snapshot::DialSnapshot::default(),
        effects: None,
        graph: None,
        called: Vec::new(),
    }
}

#[test]
fn the_table_says_everything_and_adds_up_nothing() {
    let expected = "\
sluice 0.1.0  serving  http://localhost:3000  pid 2147483647  up 1 d 01 h
generation 1
run dir /run/shop  admin http://127.0.0.1:7584

workers       0 of 2 ready
cpu           - cores in workers, - in the gateway
memory        100.0 MiB in workers
requests      1234 answered, 12.3/s, 1 in service, 0 refused
queue         2 of 1000, oldest 3.50 ms, expected wait 1.25 s
connections   5, streams 0

last minute     queue wait   service time
p50                0.25 ms          12 ms
p95                4.00 ms          90 ms
p99                  40 ms              -

   ID STATE     CPU MEMORY    LOOP  REQS   UP     PID    FOR DOING
    7 lowered   50% 100MiB     60%  1234  62m    4711   12ms GET /product/8
   #1 backoff     -      -       -     0    -       -
";
    let squeeze = |text: &str| {
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        text.lines().map(words).collect::<Vec<_>>()
    };
    assert_eq!(squeeze(&table(&snapshot())), squeeze(expected));
}

#[test]
fn requests_that_no_worker_took_have_a_column_of_their_own() {
    let mut snapshot = snapshot();
    assert!(!table(&snapshot).contains("not served"));
    snapshot.unserved_ms = Percentiles { p50: Some(0.0), p95: Some(0.5), p99: Some(2.0) };
    let text = table(&snapshot);
    let words = |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap().split_whitespace().collect();
    let head: Vec<&str> = words("last minute");
    assert_eq!(head[6..], ["not", "served"]);
    let p95: Vec<&str> = words("p95");
    assert_eq!(p95.join(" "), "p95 4.00 ms 90 ms 0.50 ms");
}

#[test]
fn lanes_are_shown_while_there_are_two() {
    let mut snapshot = snapshot();
    assert!(!table(&snapshot).contains("LANE") && !table(&snapshot).contains("long requests"));
    let long = WorkerSnapshot { id: 9, instance: 2, lane: Some(Lane::Long), ..snapshot.workers[0].clone() };
    snapshot.workers.push(long);
    let text = table(&snapshot);
    let lines: Vec<&str> = text.lines().skip_while(|line| !line.trim_start().starts_with("ID ")).collect();
    let at = lines[0].find("LANE").unwrap();
    let lanes = [1, 2, 3].map(|line: usize| lines[line][at..].split_whitespace().next().unwrap());
    assert_eq!(lanes, ["short", "-", "long"]);
    assert!(text.contains(" ready, and 1 more for long requests (`workers.lanes`)\n"), "{text}");
}

#[test]
fn text_is_at_most_80_columns_wide_and_loses_no_word() {
    let mut snapshot = snapshot();
    snapshot.run_dir = format!("/run/{}", "x".repeat(100));
    let words = "every word of what is wrong and what to do about it ".repeat(6);
    snapshot.alarms.push(AlarmSnapshot { alarm: "a".to_owned(), class: None, text: words.clone(), age_s: 1.0 });
    let text = table(&snapshot);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let squeezed: Vec<&str> = text.split_whitespace().collect();
    assert!(squeezed.join(" ").contains(words.trim_end()), "{text}");
    assert!(text.contains("\n              "), "further lines stand below the value: {text}");
}

#[test]
fn errors_of_the_last_minute_are_told_by_kind() {
    let mut snapshot = snapshot();
    assert!(!table(&snapshot).contains("errors"));
    snapshot.lately.outcomes =
        [("answered".to_owned(), 90), ("app_error".to_owned(), 2), ("worker_fault".to_owned(), 8)].into();
    snapshot.lately.errors.insert("SLU-RESPONSE-CUT".to_owned(), 8);
    let text = table(&snapshot);
    let squeezed = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let expected = "errors 10% of the last minute's requests: cut by worker 8, 5xx of the app 2 (SLU-RESPONSE-CUT 8)";
    assert!(squeezed.contains(expected), "{text}");
}

#[test]
fn what_clients_sent_moves_no_cursor_and_breaks_no_line() {
    let mut snapshot = snapshot();
    snapshot.workers[0].current[0].path = format!("/\u{1b}[2J\n{}", "x".repeat(500));
    let text = table(&snapshot);
    assert!(!text.contains('\u{1b}'));
    assert!(text.lines().all(|line| line.chars().count() < 200));
    assert_eq!(text.lines().count(), table(&self::snapshot()).lines().count());
}

#[test]
fn workers_that_wait_for_a_boot_are_told() {
    let mut snapshot = snapshot();
    assert!(!table(&snapshot).contains("boots"));
    snapshot.boots = Some(BootsSnapshot { waiting: 3, awaited: 7 });
    let text = table(&snapshot);
    assert!(text.contains("boots         3 start when worker 7 is ready\n"), "{text}");
}

#[test]
fn the_latest_reload_is_shown_with_what_it_changed() {
    let mut snapshot = snapshot();
    let mut reload = ReloadSnapshot {
        generation: 2,
        state: ReloadState::Abandoned,
        reason: Some("worker 3 exited".to_owned()),
        age_s: 12.0,
        trial: None,
    };
    snapshot.reload = Some(reload.clone());
    let text = table(&snapshot);
    assert!(text.contains("reload        generation 2 abandoned, requested 12 s ago: worker 3 exited\n"), "{text}");
    let trial = TrialSnapshot {
        generation: 2,
        state: TrialState::Held,
        reason: Some("the time has passed".to_owned()),
        share: Some(0.05),
        compared_s: 10.0,
        lasts_s: 10.0,
        requests: 12,
        requests_present: 228,
        requests_warming: 12,
        findings: Vec::new(),
        new_classes: Vec::new(),
        html: None,
    };
    reload = ReloadSnapshot { state: ReloadState::Running, reason: None, trial: Some(trial), ..reload };
    snapshot.reload = Some(reload);
    let text = table(&snapshot);
    assert!(
        text.contains("requested 12 s ago; trial held, the time has\n              passed, 12 of 240 requests\n"),
        "{text}"
    );
}

#[test]
fn renders_are_shown_with_what_was_left_to_react_dom() {
    let mut snapshot = snapshot();
    snapshot.react = Some(ReactSnapshot { renders_total: 12, fallbacks: [].into() });
    assert!(table(&snapshot).contains("\nreact         12 renders, 0 by react-dom\n"));
    let fallbacks = [("SuspenseList".to_owned(), 1), ("late\u{1b}".to_owned(), 3)].into();
    snapshot.react = Some(ReactSnapshot { renders_total: 12, fallbacks });
    assert!(table(&snapshot).contains("\nreact         12 renders, 4 by react-dom (late? 3, SuspenseList 1)\n"));
}

#[test]
fn outcomes_overlaps_and_quarantine_are_shown_once_there_are_any() {
    let mut snapshot = snapshot();
    snapshot.overlaps_total = 2;
    snapshot.quarantined = 4;
    snapshot.requests.outcomes.insert("shed".to_owned(), 3);
    snapshot.requests.steps = [("render".to_owned(), 9), ("refuse".to_owned(), 3)].into();
    snapshot.alarms.push(AlarmSnapshot {
        alarm: "cost_drift".to_owned(),
        class: Some("GET /".to_owned()),
        text: "it costs more".to_owned(),
        age_s: 90.0,
    });
    let text = table(&snapshot);
    assert!(
        text.contains("outcomes      shed 3\n")
            && text.contains("ladder        refuse 3, render 9\n")
            && text.contains("ALARM         cost_drift of GET / for 1 min 30 s: it costs more\n")
            && text.contains("overlaps      2")
            && text.contains("quarantine    4 requests"),
        "{text}"
    );
}

#[test]
fn workers_that_ended_unexpectedly_are_told_with_the_exception_and_its_request() {
    let mut snapshot = snapshot();
    let known = CrashSnapshot {
        at_unix_ms: super::now_unix_ms(),
        worker: 3,
        status: "exit code 1".to_owned(),
        exception: Some("TypeError: no\u{1b}".to_owned()),
        held: 1,
        request: Some("00ab".to_owned()),
        method: Some("GET".to_owned()),
        path: Some("/cart".to_owned()),
        class: Some("GET /cart".to_owned()),
        place: Some("fill (lib/export.js:9:3)".to_owned()),
        evidence: Some("report /state/crash-1.json".to_owned()),
    };
    let unknown = CrashSnapshot {
        held: 4,
        request: None,
        exception: None,
        place: None,
        evidence: None,
        worker: 4,
        ..known.clone()
    };
    snapshot.crashes = vec![known, unknown];
    let text = table(&snapshot);
    let squeezed = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let first = "ago: exit code 1: TypeError: no?, in fill (lib/export.js:9:3); GET /cart (class GET /cart, request 00ab); report /state/crash-1.json (`sluice logs --kind app --worker 3`)";
    assert!(squeezed.contains(first), "{text}");
    assert!(squeezed.contains("exit code 1; one of 4 requests (`sluice logs --kind app --worker 4`)"), "{text}");
}
