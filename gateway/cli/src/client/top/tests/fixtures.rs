//! Gateways as they may be at 3 a.m.: idle, busy, large, with long and foreign names, and failing.

use sluice_admin::protocol::WatchReply;
use sluice_catalog::dashboard::{Costs, Mark, MarkKind, MarkLevel, Point};
use sluice_catalog::snapshot::{
    AlarmSnapshot, ClassSnapshot, ClassesSnapshot, CurrentRequest, GatewayState, LatelySnapshot, MachineSnapshot,
    Percentiles, QuarantinedRequest, WorkerSnapshot, WorkerState,
};

use crate::client::status::tests::snapshot;

pub(super) const NOW_MS: u64 = 1_800_000_000_000;

pub(super) fn worker(id: u64, request: Option<(&str, &str, u64)>) -> WorkerSnapshot {
    let current = request.map(|(class, path, for_ms)| CurrentRequest {
        id: format!("r-{id}"),
        class: class.to_owned(),
        for_ms,
        method: "GET".to_owned(),
        path: path.to_owned(),
    });
    let state = if current.is_some() { WorkerState::Busy } else { WorkerState::Ready };
    WorkerSnapshot {
        id,
        instance: u32::try_from(id).unwrap(),
        pid: Some(4000 + u32::try_from(id).unwrap()),
        state,
        lowered: false,
        restarts_total: 0,
        current: current.into_iter().collect(),
        ..snapshot().workers[0].clone()
    }
}

fn class(name: &str, requests: u64) -> ClassSnapshot {
    ClassSnapshot {
        class: name.to_owned(),
        requests,
        expected_ms: 9.0,
        cost_mean_ms: Some(9.0),
        cost_p50_ms: Some(8.0),
        cost_p95_ms: Some(21.0),
        cost_p99_ms: Some(40.0),
        queue_wait_ms: 1.25,
        service_time_ms: 12.0,
        handler_ms: None,
        cpu_share: 0.4,
        known: true,
        long: false,
        drift: Some(1.0),
        split_from: None,
    }
}

pub(super) fn mark(id: u64, level: MarkLevel, worker: Option<u64>, text: &str) -> Mark {
    Mark {
        id,
        at_ms: NOW_MS - 90_000 + id * 1000,
        kind: MarkKind::Crash,
        event: "worker_exited".to_owned(),
        level,
        worker,
        text: text.to_owned(),
        detail: None,
    }
}

/// Nothing happens.
pub(super) fn idle() -> WatchReply {
    let mut status = snapshot();
    status.workers = (1..=2).map(|id| worker(id, None)).collect();
    status.workers_wanted = Some(2);
    status.queue.length = 0;
    status.lately =
        LatelySnapshot { over_s: 60.0, cpu: Some(0.01), gateway_cpu: Some(0.0), ..LatelySnapshot::default() };
    status.machine = Some(MachineSnapshot {
        cpus: 4,
        cpus_allowed: 4,
        cpu: Some(0.2),
        memory_bytes: Some(2 << 30),
        memory_bytes_max: Some(8 << 30),
        is_cgroup: false,
    });
    let costs = Costs { classes: ClassesSnapshot::default(), quarantined: Vec::new(), deploy: None };
    WatchReply { epoch: 1, now_ms: NOW_MS, status, points: Vec::new(), marks: Vec::new(), costs }
}

/// Everything is in use and nothing is wrong.
pub(super) fn busy() -> WatchReply {
    let mut watched = idle();
    let status = &mut watched.status;
    status.workers = (1..=4).map(|id| worker(id, Some(("GET /product/:id", "/product/8831", id * 40)))).collect();
    status.workers_wanted = Some(4);
    status.worker_memory_bytes_max = Some(512 << 20);
    status.requests.in_service = 4;
    status.unserved_ms = Percentiles { p50: Some(0.1), p95: Some(0.4), p99: Some(2.0) };
    watched.points = (0..300)
        .map(|second| Point {
            at_ms: NOW_MS - 300_000 + second * 1000,
            answered: 240.0,
            cpu: 3.6,
            gateway_cpu: 0.2,
            queue_wait_ms: Some([1.0, 4.0, 9.0, 12.0]),
            ..Point::default()
        })
        .collect();
    watched.costs.classes.classes = (0..30).map(|n| class(&format!("GET /section-{n}/:id"), 1000 + n)).collect();
    watched.marks = (1..=40).map(|id| mark(id, MarkLevel::Info, Some(id), "ready after 240 ms")).collect();
    watched
}

pub(super) fn large() -> WatchReply {
    let mut watched = busy();
    watched.status.workers = (1..=64).map(|id| worker(id, Some(("GET /", "/", 3)))).collect();
    watched.status.workers_wanted = Some(64);
    watched
}

/// Names that are far too long.
pub(super) fn long_names() -> WatchReply {
    let mut watched = busy();
    let path = format!("/shop/{}/the-end-of-the-path", "category/".repeat(20));
    watched.status.workers = vec![worker(1, Some((&format!("GET {path}"), &path, 2500)))];
    watched.status.url = format!("https://{}.example", "long.".repeat(40));
    watched.costs.classes.classes = vec![class(&format!("GET {path}"), 9)];
    watched.marks = vec![mark(1, MarkLevel::Error, Some(1), &format!("exited: {}", "because ".repeat(40)))];
    watched
}

/// Wide letters, and what clients send to break a terminal.
pub(super) fn unicode() -> WatchReply {
    let mut watched = busy();
    let path = "/商品/カテゴリー/とても長い名前のページ/終わり";
    watched.status.workers =
        vec![worker(1, Some(("GET /商品", path, 12))), worker(2, Some(("x", "/\u{1b}[2J\u{202e}evil", 1)))];
    watched.costs.classes.classes = vec![class("GET /商品/カテゴリー/とても長い名前のページ", 9)];
    watched.marks =
        vec![mark(1, MarkLevel::Warn, None, "日本語の文字列がとても長くて一行に収まらないことがあるかもしれません")];
    watched
}

/// Everything is wrong at once.
pub(super) fn failing() -> WatchReply {
    let mut watched = busy();
    let status = &mut watched.status;
    status.state = GatewayState::Serving;
    status.workers[0].lowered = true;
    status.workers[0].silent_ms = Some(4200);
    status.workers[0].current[0].for_ms = 4200;
    status.workers[0].rss_bytes = Some(500 << 20);
    status.workers[1].state = WorkerState::Starting;
    status.workers[1].current.clear();
    status.workers[2] =
        WorkerSnapshot { id: 0, instance: 2, pid: None, state: WorkerState::Backoff, ..snapshot().workers[1].clone() };
    status.queue.length = 73;
    status.queue.oldest_wait_ms = 2340.0;
    status.lately.outcomes = [
        ("answered".to_owned(), 6000),
        ("app_error".to_owned(), 120),
        ("shed".to_owned(), 60),
        ("worker_died".to_owned(), 3),
        ("worker_fault".to_owned(), 6),
        ("client_gone_queued".to_owned(), 30),
    ]
    .into();
    status.lately.errors = [("SLU-QUEUE-FULL".to_owned(), 60), ("SLU-WORKER-DIED".to_owned(), 3)].into();
    status.requests.outcomes = status.lately.outcomes.clone();
    status.requests.errors = status.lately.errors.clone();
    status.quarantined = 1;
    status.machine = status.machine.map(|it| MachineSnapshot {
        memory_bytes: Some(7900 << 20),
        cpu: Some(4.0),
        is_cgroup: true,
        ..it
    });
    status.alarms = vec![AlarmSnapshot {
        alarm: "steady_queue".to_owned(),
        class: None,
        text: "requests have waited for 60 s without a pause: too few workers for the load; `sluice scale` wants more"
            .to_owned(),
        age_s: 61.0,
    }];
    watched.costs.quarantined = vec![QuarantinedRequest {
        id: "0badcafe".to_owned(),
        method: "GET".to_owned(),
        target: "/poison?id=7".to_owned(),
        deaths: 2,
        told_by: Vec::new(),
        probed: false,
        for_ms: 1000,
        expires_in_ms: 599_000,
    }];
    let mut crash = mark(41, MarkLevel::Error, Some(3), "exited: exit code 134");
    crash.detail = Some("FATAL ERROR: Reached heap limit\n    at render (app.js:7:3)".to_owned());
    watched.marks.push(crash);
    watched.marks.push(mark(42, MarkLevel::Warn, Some(1), "is overdue, silent for 1600 ms"));
    watched
}
