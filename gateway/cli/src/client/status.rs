//! `sluice status`, and the table that `sluice top` shows too.

use std::fmt::Write;
use std::process::ExitCode;

use sluice_catalog::snapshot::{AlarmSnapshot, Percentiles, ReactSnapshot, ReloadSnapshot, Snapshot, WorkerSnapshot};

use super::connect::{ClientError, Gateway};
use crate::args::StatusArgs;
use crate::output;

/// The most of a class that is shown.
const CLASS_CHARS_MAX: usize = 60;

pub fn run(args: &StatusArgs) -> Result<ExitCode, ClientError> {
    let mut gateway = Gateway::connect(&args.run_dir)?;
    let snapshot = gateway.status()?;
    if !args.json {
        return Ok(output::print(&table(&snapshot)));
    }
    let mut json = serde_json::to_string_pretty(&snapshot).map_err(|error| gateway.answer(error))?;
    json.push('\n');
    Ok(output::print(&json))
}

/// The snapshot for people. Queue wait and service time stand side by side, as adding them up hides which one is long.
pub fn table(snapshot: &Snapshot) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write_head(&mut out, snapshot);
    let _ = write_percentiles(&mut out, &snapshot.queue_wait_ms, &snapshot.service_time_ms);
    out.push('\n');
    out.push_str(&aligned(&worker_rows(&snapshot.workers)));
    out
}

fn write_head(out: &mut String, snapshot: &Snapshot) -> std::fmt::Result {
    let Snapshot { requests, queue, .. } = snapshot;
    writeln!(
        out,
        "sluice {}  {}  {}  pid {}  up {}  generation {}",
        harmless(&snapshot.version),
        snapshot.state.as_str(),
        harmless(&snapshot.url),
        snapshot.pid,
        duration(snapshot.uptime_s),
        snapshot.generation
    )?;
    let admin = snapshot.admin_url.as_deref().unwrap_or("off");
    writeln!(out, "run dir {}  admin {}\n", harmless(&snapshot.run_dir), harmless(admin))?;
    writeln!(
        out,
        "requests      {} answered, {:.1}/s, {} in service, {} refused",
        requests.answered_total, requests.per_second, requests.in_service, requests.refused_total
    )?;
    writeln!(
        out,
        "queue         {} of {}, oldest {}, expected wait {}",
        queue.length,
        queue.length_max,
        milliseconds(Some(queue.oldest_wait_ms)),
        milliseconds(queue.predicted_wait_ms)
    )?;
    writeln!(out, "connections   {}, streams {}", snapshot.connections, snapshot.streams)?;
    if !requests.outcomes.is_empty() {
        let outcomes: Vec<String> =
            requests.outcomes.iter().map(|(name, count)| format!("{} {count}", harmless(name))).collect();
        writeln!(out, "outcomes      {}", outcomes.join(", "))?;
    }
    if requests.steps.keys().any(|step| step != "render") {
        let steps: Vec<String> =
            requests.steps.iter().map(|(name, count)| format!("{} {count}", harmless(name))).collect();
        writeln!(out, "ladder        {}", steps.join(", "))?;
    }
    if let Some(reload) = &snapshot.reload {
        writeln!(out, "reload        {}", reload_text(reload))?;
    }
    if let Some(react) = &snapshot.react {
        writeln!(out, "react         {}", react_text(react))?;
    }
    if snapshot.quarantined > 0 {
        writeln!(out, "quarantine    {} requests  (`sluice quarantine` lists them)", snapshot.quarantined)?;
    }
    for alarm in &snapshot.alarms {
        writeln!(out, "ALARM         {}", alarm_text(alarm))?;
    }
    if snapshot.overlaps_total > 0 {
        writeln!(
            out,
            "overlaps      {}  (a worker held more than its slots: please report it)",
            snapshot.overlaps_total
        )?;
    }
    writeln!(out)
}

fn alarm_text(alarm: &AlarmSnapshot) -> String {
    let class = alarm.class.as_deref().map_or_else(String::new, |class| format!(" of {}", harmless(class)));
    format!("{}{class} for {}: {}", harmless(&alarm.alarm), duration(alarm.age_s), harmless(&alarm.text))
}

fn react_text(react: &ReactSnapshot) -> String {
    let left: u64 = react.fallbacks.values().sum();
    let mut text = format!("{} renders, {left} by react-dom", react.renders_total);
    if left > 0 {
        let mut reasons: Vec<_> = react.fallbacks.iter().collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let reasons: Vec<String> =
            reasons.into_iter().map(|(reason, count)| format!("{} {count}", harmless(reason))).collect();
        let _ = write!(text, " ({})", reasons.join(", "));
    }
    text
}

fn reload_text(reload: &ReloadSnapshot) -> String {
    let mut text =
        format!("generation {} {}, asked for {} ago", reload.generation, reload.state.as_str(), duration(reload.age_s));
    if let Some(reason) = &reload.reason {
        let _ = write!(text, ": {}", harmless(reason));
    }
    if let Some(after_ms) = reload.service_p95_after_ms {
        let before = milliseconds(reload.service_p95_before_ms);
        let _ =
            write!(text, ", p95 of service time in its first minute {}, was {before}", milliseconds(Some(after_ms)));
    }
    text
}

fn write_percentiles(out: &mut String, queue_wait_ms: &Percentiles, service_time_ms: &Percentiles) -> std::fmt::Result {
    writeln!(out, "last minute   {:>12}   {:>12}", "queue wait", "service time")?;
    for (name, queue_wait_ms, service_time_ms) in [
        ("p50", queue_wait_ms.p50, service_time_ms.p50),
        ("p95", queue_wait_ms.p95, service_time_ms.p95),
        ("p99", queue_wait_ms.p99, service_time_ms.p99),
    ] {
        writeln!(out, "{name:<11}   {:>12}   {:>12}", milliseconds(queue_wait_ms), milliseconds(service_time_ms))?;
    }
    Ok(())
}

const COLUMNS: [&str; 11] =
    ["WORKER", "INSTANCE", "GEN", "PID", "STATE", "AGE", "MEMORY", "CPU", "REQUESTS", "RESTARTS", "CURRENT REQUEST"];

fn worker_rows(workers: &[WorkerSnapshot]) -> Vec<[String; COLUMNS.len()]> {
    let mut rows = vec![COLUMNS.map(str::to_owned)];
    rows.extend(workers.iter().map(|worker| {
        [
            worker.id.to_string(),
            worker.instance.to_string(),
            if worker.generation == 0 { "-".to_owned() } else { worker.generation.to_string() },
            worker.pid.map_or_else(|| "-".to_owned(), |pid| pid.to_string()),
            state(worker),
            duration(worker.age_s),
            worker.rss_bytes.map_or_else(|| "-".to_owned(), bytes),
            worker.cpu_ms_total.map_or_else(|| "-".to_owned(), |cpu_ms| duration(cpu_ms / 1000.0)),
            worker.requests_total.to_string(),
            worker.restarts_total.to_string(),
            current(worker),
        ]
    }));
    rows
}

fn state(worker: &WorkerSnapshot) -> String {
    let lowered = if worker.lowered { ", lowered" } else { "" };
    format!("{}{lowered}", worker.state.as_str())
}

fn current(worker: &WorkerSnapshot) -> String {
    // The one that has been there longest is the one to look at.
    let Some(request) = worker.current.iter().max_by_key(|request| request.for_ms) else {
        return if worker.streams > 0 { format!("{} streams", worker.streams) } else { "-".to_owned() };
    };
    let mut class: String = harmless(&request.class).chars().take(CLASS_CHARS_MAX).collect();
    if request.class.chars().count() > CLASS_CHARS_MAX {
        class.push('…');
    }
    let more = match worker.current.len() {
        1 => String::new(),
        count => format!(", and {} more", count - 1),
    };
    format!("{class} for {} ({}){more}", duration(for_s(request.for_ms)), harmless(&request.id))
}

#[allow(clippy::cast_precision_loss, reason = "a request that lasted 2^52 ms is not one to be exact about")]
pub(super) fn for_s(for_ms: u64) -> f64 {
    for_ms as f64 / 1000.0
}

/// Columns as wide as their widest cell; the last one ends where its text ends.
pub(super) fn aligned<const COLUMNS: usize>(rows: &[[String; COLUMNS]]) -> String {
    let mut widths = [0; COLUMNS];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths) {
            let _ = write!(line, "{cell:<width$}  ");
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// Classes and ids hold what clients sent; nothing of it may move a cursor.
pub(super) fn harmless(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { '?' } else { character }).collect()
}

pub(super) fn milliseconds(value_ms: Option<f64>) -> String {
    match value_ms {
        None => "-".to_owned(),
        Some(value_ms) if value_ms < 10.0 => format!("{value_ms:.2} ms"),
        Some(value_ms) if value_ms < 1000.0 => format!("{value_ms:.0} ms"),
        Some(value_ms) => format!("{:.2} s", value_ms / 1000.0),
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` saturates; ages are small and positive"
)]
pub(super) fn duration(seconds: f64) -> String {
    let whole = seconds as u64;
    match whole {
        0 => format!("{:.0} ms", seconds.max(0.0) * 1000.0),
        1..10 => format!("{seconds:.1} s"),
        10..60 => format!("{whole} s"),
        60..3600 => format!("{} min {:02} s", whole / 60, whole % 60),
        3600..86_400 => format!("{} h {:02} min", whole / 3600, whole / 60 % 60),
        _ => format!("{} d {:02} h", whole / 86_400, whole / 3600 % 24),
    }
}

#[allow(clippy::cast_precision_loss, reason = "shown with one decimal")]
fn bytes(count: u64) -> String {
    let mib = count as f64 / (1024.0 * 1024.0);
    if mib < 1024.0 { format!("{mib:.1} MiB") } else { format!("{:.2} GiB", mib / 1024.0) }
}

#[cfg(test)]
pub mod tests {
    use sluice_catalog::snapshot::{
        CurrentRequest, GatewayState, QueueSnapshot, ReloadState, RequestsSnapshot, WorkerState,
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
            requests_total: 1234,
            restarts_total: 1,
            current: vec![CurrentRequest { id: "r-9".to_owned(), class: "GET /product/:id".to_owned(), for_ms: 12 }],
            cpu_ms_total: Some(61_000.0),
            streams: 0,
            lowered: true,
        };
        let starting = WorkerSnapshot {
            id: 8,
            instance: 1,
            pid: None,
            generation: 0,
            state: WorkerState::Backoff,
            age_s: 0.25,
            rss_bytes: None,
            requests_total: 0,
            restarts_total: 3,
            current: Vec::new(),
            cpu_ms_total: None,
            streams: 0,
            lowered: false,
        };
        Snapshot {
            version: "0.1.0".to_owned(),
            // No process has this id, so nobody waits for it to end.
            pid: i32::MAX.cast_unsigned(),
            state: GatewayState::Serving,
            url: "http://localhost:3000".to_owned(),
            admin_url: Some("http://127.0.0.1:9090".to_owned()),
            run_dir: "/run/shop".to_owned(),
            uptime_s: 90_000.0,
            generation: 1,
            reload: None,
            workers: vec![busy, starting],
            queue: QueueSnapshot { length: 2, length_max: 1000, oldest_wait_ms: 3.5, predicted_wait_ms: Some(1250.0) },
            requests: RequestsSnapshot { answered_total: 1234, in_service: 1, per_second: 12.34, ..Default::default() },
            queue_wait_ms: Percentiles { p50: Some(0.25), p95: Some(4.0), p99: Some(40.0) },
            service_time_ms: Percentiles { p50: Some(12.0), p95: Some(90.0), p99: None },
            overlaps_total: 0,
            connections: 5,
            streams: 0,
            quarantined: 0,
            alarms: Vec::new(),
            react: None,
        }
    }

    #[test]
    fn the_table_says_everything_and_adds_up_nothing() {
        let expected = "\
sluice 0.1.0  serving  http://localhost:3000  pid 2147483647  up 1 d 01 h  generation 1
run dir /run/shop  admin http://127.0.0.1:9090

requests      1234 answered, 12.3/s, 1 in service, 0 refused
queue         2 of 1000, oldest 3.50 ms, expected wait 1.25 s
connections   5, streams 0

last minute     queue wait   service time
p50                0.25 ms          12 ms
p95                4.00 ms          90 ms
p99                  40 ms              -

WORKER  INSTANCE  GEN  PID   STATE    AGE         MEMORY     CPU           REQUESTS  RESTARTS  CURRENT REQUEST
7       0         1    4711  busy, lowered  1 h 02 min  100.0 MiB  1 min 01 s    1234      1         GET /product/:id for 12 ms (r-9)
8       1         -    -     backoff  250 ms      -          -             0         3         -
";
        let squeeze = |text: &str| {
            let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
            text.lines().map(words).collect::<Vec<_>>()
        };
        assert_eq!(squeeze(&table(&snapshot())), squeeze(expected));
    }

    #[test]
    fn columns_stand_under_their_names() {
        let text = table(&snapshot());
        let lines: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("WORKER")).collect();
        let at = lines[0].find("CURRENT").unwrap();
        assert_eq!(lines[1].find("GET /product"), Some(at));
        assert_eq!(lines[2].rfind('-'), Some(at));
    }

    #[test]
    fn what_clients_sent_moves_no_cursor_and_breaks_no_line() {
        let mut snapshot = snapshot();
        snapshot.workers[0].current[0].class = format!("GET /\u{1b}[2J\n{}", "x".repeat(500));
        let text = table(&snapshot);
        assert!(!text.contains('\u{1b}'));
        assert!(text.lines().all(|line| line.chars().count() < 200));
        assert_eq!(text.lines().count(), table(&self::snapshot()).lines().count());
    }

    #[test]
    fn the_latest_reload_is_shown_with_what_it_changed() {
        let mut snapshot = snapshot();
        let mut reload = ReloadSnapshot {
            generation: 2,
            state: ReloadState::Abandoned,
            reason: Some("worker 3 exited".to_owned()),
            age_s: 12.0,
            service_p95_before_ms: Some(20.0),
            service_p95_after_ms: None,
        };
        snapshot.reload = Some(reload.clone());
        let text = table(&snapshot);
        assert!(text.contains("reload        generation 2 abandoned, asked for 12 s ago: worker 3 exited\n"), "{text}");
        reload = ReloadSnapshot { state: ReloadState::Done, reason: None, service_p95_after_ms: Some(30.0), ..reload };
        snapshot.reload = Some(reload);
        let text = table(&snapshot);
        assert!(text.contains("done, asked for 12 s ago, p95 of service time in its first minute 30 ms, was 20 ms\n"));
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
}
