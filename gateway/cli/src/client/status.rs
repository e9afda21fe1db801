//! `sluice status`: the figures of `sluice top` as text of 80 columns, and all that is told less often.

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use sluice_catalog::snapshot::{
    AlarmSnapshot, BootsSnapshot, CacheSnapshot, CertificateSnapshot, ComponentCacheSnapshot, CrashSnapshot, Lane,
    MachineSnapshot, ReactSnapshot, ReloadSnapshot, Snapshot, TargetSnapshot, UpstreamSnapshot,
};

use super::calls::write_calls;
use super::check;
use super::connect::{ClientError, Gateway};
use super::graph::write_graph;
use super::rendering::write_rendering;
use super::runs::write_runs;
use super::top::header::{errors_lately, ready};
use super::top::text::{cores, percent, width, wrapped};
use super::top::theme::Theme;
use super::top::views::{Body, worker_rows};
use crate::args::StatusArgs;
use crate::output;

/// Width of the text: that of a terminal which nobody made wider.
const COLUMNS: usize = 80;
/// Column at which values begin.
const INDENT: usize = 14;

pub fn run(args: &StatusArgs) -> Result<ExitCode, ClientError> {
    let asked = Gateway::connect(&args.run_dir).and_then(|mut gateway| Ok((gateway.status()?, gateway)));
    if args.check {
        return Ok(check::run(asked.map(|(snapshot, _)| snapshot), &args.thresholds));
    }
    let (snapshot, gateway) = asked?;
    if args.json {
        return gateway.print_json(&snapshot);
    }
    let mut text = table(&snapshot);
    let token_file = Path::new(&snapshot.run_dir).join("admin-token");
    if let Some(url) = snapshot.admin_url.as_deref().filter(|_| token_file.exists()) {
        let file = token_file.display().to_string();
        let _ =
            write!(text, "\ndashboard on {}/\nthe token for its actions is in {}\n", harmless(url), harmless(&file));
    }
    Ok(output::print(&text))
}

/// The snapshot for people. Queue wait and service time stand side by side, as adding them up hides which one is long.
pub fn table(snapshot: &Snapshot) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write_head(&mut out, snapshot);
    let _ = write_percentiles(&mut out, snapshot);
    out.push('\n');
    out = out.lines().flat_map(within).fold(String::new(), |all, line| all + &line + "\n");
    let Body { head, lines } = worker_rows(snapshot, |_| true, 0, COLUMNS, Theme::new(false));
    for line in head.iter().chain(&lines) {
        out.push_str(line.to_string().trim_end());
        out.push('\n');
    }
    out
}

/// A line of at most [`COLUMNS`]; what does not fit is in further ones, below the value.
fn within(line: &str) -> Vec<String> {
    if width(line) <= COLUMNS {
        return vec![line.to_owned()];
    }
    let Some((name, value)) = line.split_at_checked(INDENT).filter(|(name, _)| name.ends_with(' ')) else {
        return wrapped(line, COLUMNS);
    };
    let mut names = std::iter::once(name.to_owned()).chain(std::iter::repeat(" ".repeat(INDENT)));
    let room = COLUMNS - INDENT;
    let words: Vec<&str> = value.split(' ').collect();
    // A word that does not fit is a path, which people copy: it stays whole.
    let groups = words.chunk_by(|one, next| width(one) <= room && width(next) <= room);
    let parts = groups.flat_map(|group| match group {
        [word] if width(word) > room => vec![(*word).to_owned()],
        words => wrapped(&words.join(" "), room),
    });
    parts.map(|part| names.next().unwrap_or_default() + &part).collect()
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
        "workers       {} of {} ready{}",
        ready(snapshot),
        snapshot.workers_wanted.unwrap_or(0),
        lanes(snapshot)
    )?;
    write_machine(out, snapshot)?;
    writeln!(
        out,
        "requests      {} answered, {:.1}/s, {} in service, {} refused",
        requests.answered_total, requests.per_second, requests.in_service, requests.refused_total
    )?;
    if requests.handed_total > 0 {
        writeln!(
            out,
            "handed ahead  {} now, {} so far, {} of them taken back",
            requests.handed, requests.handed_total, requests.taken_back_total
        )?;
    }
    writeln!(
        out,
        "queue         {} of {}, oldest {}, expected wait {}",
        queue.length,
        queue.length_max,
        milliseconds(Some(queue.oldest_wait_ms)),
        milliseconds(queue.predicted_wait_ms)
    )?;
    writeln!(out, "connections   {}, streams {}", snapshot.connections, snapshot.streams)?;
    write_errors(out, snapshot)?;
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
    if let Some(BootsSnapshot { waiting, awaited }) = snapshot.boots {
        writeln!(out, "boots         {waiting} start when worker {awaited} is ready")?;
    }
    write_runs(out, &snapshot.runs)?;
    if let Some(react) = &snapshot.react {
        writeln!(out, "react         {}", react_text(react))?;
    }
    if let Some(cache) = &snapshot.component_cache {
        writeln!(out, "cached        {}", component_cache_text(cache))?;
    }
    write_rendering(out, &snapshot.dial, snapshot.effects.as_ref())?;
    write_graph(out, snapshot.graph.as_ref())?;
    if let Some(cache) = &snapshot.page_cache {
        writeln!(out, "pages         {}  (`sluice cache`)", page_cache_text(cache))?;
    }
    if snapshot.quarantined > 0 {
        writeln!(out, "quarantine    {} requests  (`sluice quarantine` lists them)", snapshot.quarantined)?;
    }
    write_certificates(out, &snapshot.certificates)?;
    write_upstreams(out, &snapshot.upstreams)?;
    write_calls(out, &snapshot.called)?;
    for alarm in &snapshot.alarms {
        writeln!(out, "ALARM         {}", alarm_text(alarm))?;
    }
    write_crashes(out, &snapshot.crashes, now_unix_ms())?;
    if snapshot.overlaps_total > 0 {
        writeln!(
            out,
            "overlaps      {}  (a worker held more than its slots: please report it)",
            snapshot.overlaps_total
        )?;
    }
    writeln!(out)
}

/// Workers beyond those that were wanted, which are for long requests.
fn lanes(snapshot: &Snapshot) -> String {
    match snapshot.workers.iter().filter(|worker| worker.lane == Some(Lane::Long)).count() {
        0 => String::new(),
        count => format!(", and {count} more for long requests (`workers.lanes`)"),
    }
}

/// Workers that ended unexpectedly, the latest first.
fn write_crashes(out: &mut String, crashes: &[CrashSnapshot], now_unix_ms: u64) -> std::fmt::Result {
    for crash in crashes {
        let ago = duration(for_s(now_unix_ms.saturating_sub(crash.at_unix_ms)));
        write!(out, "crash         worker {}, {ago} ago: {}", crash.worker, harmless(&crash.status))?;
        if let Some(exception) = &crash.exception {
            write!(out, ": {}", harmless(exception))?;
        }
        if let Some(place) = &crash.place {
            write!(out, ", in {}", harmless(place))?;
        }
        if let (Some(request), Some(method), Some(path)) = (&crash.request, &crash.method, &crash.path) {
            let class = crash.class.as_deref().unwrap_or_default();
            let [method, path, class, request] = [method, path, class, request].map(harmless);
            write!(out, "; {method} {path} (class {class}, request {request})")?;
        } else if crash.held > 1 {
            write!(out, "; one of {} requests", crash.held)?;
        }
        if let Some(evidence) = &crash.evidence {
            write!(out, "; {}", harmless(evidence))?;
        }
        writeln!(out, "  (`sluice logs --kind app --worker {}`)", crash.worker)?;
    }
    Ok(())
}

fn now_unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// CPU time in cores, over the last seconds, and memory.
fn write_machine(out: &mut String, snapshot: &Snapshot) -> std::fmt::Result {
    let known = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), cores);
    let (workers, gateway) = (known(snapshot.lately.cpu), known(snapshot.lately.gateway_cpu));
    let machine = snapshot.machine.unwrap_or_default();
    let MachineSnapshot { cpu, cpus, memory_bytes, memory_bytes_max, is_cgroup, .. } = machine;
    let used = cpu.map_or_else(String::new, |cpu| format!(", {} of {cpus} on the machine", cores(cpu)));
    writeln!(out, "cpu           {workers} cores in workers, {gateway} in the gateway{used}")?;
    let rss = snapshot.workers.iter().filter_map(|worker| worker.rss_bytes).sum();
    let used = memory_bytes.zip(memory_bytes_max).map_or_else(String::new, |(used, max)| {
        let of = if is_cgroup { "in the cgroup" } else { "on the machine" };
        format!(", {} of {} {of}", bytes(used), bytes(max))
    });
    writeln!(out, "memory        {} in workers{used}", bytes(rss))
}

/// Writes the errors of the last minute, by kind; nothing if there were none.
#[allow(clippy::cast_precision_loss, reason = "counts of a minute")]
fn write_errors(out: &mut String, snapshot: &Snapshot) -> std::fmt::Result {
    let all: u64 = snapshot.lately.outcomes.values().sum();
    let kinds = errors_lately(snapshot);
    if kinds.is_empty() {
        return Ok(());
    }
    let bad: u64 = kinds.iter().filter(|(_, _, is_bad)| *is_bad).map(|(_, count, _)| count).sum();
    let kinds: Vec<String> = kinds.iter().map(|(kind, count, _)| format!("{kind} {count}")).collect();
    let share = percent(bad as f64 / all.max(1) as f64);
    let codes: Vec<String> =
        snapshot.lately.errors.iter().map(|(code, count)| format!("{} {count}", harmless(code))).collect();
    let codes = if codes.is_empty() { String::new() } else { format!(" ({})", codes.join(", ")) };
    writeln!(out, "errors        {share} of the last minute's requests: {}{codes}", kinds.join(", "))
}

/// Writes the targets of each upstream, with what they have to do and what is wrong with them.
fn write_upstreams(out: &mut String, upstreams: &[UpstreamSnapshot]) -> std::fmt::Result {
    for upstream in upstreams {
        let UpstreamSnapshot { name, targets, waiting, requests_total, failures_total, retries_total } = upstream;
        let healthy = targets.iter().filter(|target| target.health == "healthy").count();
        write!(out, "upstream      {}: {healthy} of {} targets healthy", harmless(name), targets.len())?;
        write!(out, ", {requests_total} requests, {failures_total} failed, {retries_total} retried")?;
        if *waiting > 0 {
            write!(out, ", {waiting} waiting")?;
        }
        out.push('\n');
        for target in targets {
            let TargetSnapshot { target: written, address, health, is_backup, in_flight, idle, .. } = target;
            let of = if written == address { String::new() } else { format!(" ({})", harmless(written)) };
            let backup = if *is_backup { ", backup" } else { "" };
            let fault = target.fault.as_deref().filter(|_| health != "healthy");
            let fault = fault.map_or_else(String::new, |fault| format!(": {}", harmless(fault)));
            let address = harmless(address);
            writeln!(out, "  {address}{of}  {health}{backup}, {in_flight} in flight, {idle} idle{fault}")?;
        }
    }
    Ok(())
}

/// Writes the number of certificates, the first one to end, and each name that gets none.
fn write_certificates(out: &mut String, certificates: &[CertificateSnapshot]) -> std::fmt::Result {
    let there = certificates.iter().filter_map(|one| Some((one, one.expires_in_s?)));
    let count = there.clone().count();
    if let Some((first, left_s)) = there.min_by(|(_, one), (_, other)| one.total_cmp(other)) {
        let end = if left_s < 0.0 {
            format!("expired {} ago", duration(-left_s))
        } else {
            format!("expires in {}", duration(left_s))
        };
        let first = format!("{} {end}", harmless(&first.name));
        if count == 1 {
            writeln!(out, "certificate   {first}")?;
        } else {
            writeln!(out, "certificates  {count}, of which {first}")?;
        }
    }
    for one in certificates.iter().filter(|one| one.expires_in_s.is_none() || one.problem.is_some()) {
        let missing = if one.expires_in_s.is_none() { "no certificate yet" } else { "not renewed" };
        let why = one.problem.as_deref().map_or_else(String::new, |problem| format!(": {}", harmless(problem)));
        let again = one
            .asked_in_s
            .map_or_else(String::new, |wait_s| format!(" (next request to the CA in {})", duration(wait_s)));
        writeln!(out, "ACME          {}: {missing}{why}{again}", harmless(&one.name))?;
    }
    Ok(())
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

#[allow(clippy::cast_precision_loss, reason = "a share of three digits")]
fn component_cache_text(cache: &ComponentCacheSnapshot) -> String {
    let ComponentCacheSnapshot { hits_total, misses_total, evictions_total, entries, bytes, bytes_max } = cache;
    let looks = hits_total.saturating_add(*misses_total).max(1);
    format!(
        "{:.1} % of {looks} components reused, {} of {} in {entries} entries, {evictions_total} evicted",
        100.0 * *hits_total as f64 / looks as f64,
        self::bytes(*bytes),
        self::bytes(*bytes_max),
    )
}

#[allow(clippy::cast_precision_loss, reason = "a share of three digits")]
fn page_cache_text(cache: &CacheSnapshot) -> String {
    let answered = cache.hits + cache.stale + cache.joined;
    let asked = answered + cache.misses + cache.bypassed;
    let shared = match &cache.shared {
        Some(shared) if !shared.up => ", shared cache not in use",
        _ => "",
    };
    format!(
        "{:.1} % of {asked} requests answered without their own render, {} pages cached in {} of {}{shared}",
        100.0 * answered as f64 / asked.max(1) as f64,
        cache.pages,
        bytes(cache.bytes),
        bytes(cache.bytes_max),
    )
}

fn reload_text(reload: &ReloadSnapshot) -> String {
    let mut text =
        format!("generation {} {}, requested {} ago", reload.generation, reload.state.as_str(), duration(reload.age_s));
    if let Some(reason) = &reload.reason {
        let _ = write!(text, ": {}", harmless(reason));
    }
    if let Some(trial) = &reload.trial {
        let _ = write!(text, "; trial {}", super::canary::in_a_line(trial));
    }
    text
}

/// Requests that no worker took have a column of their own, once there are any: a refusal within a millisecond is no short wait.
fn write_percentiles(out: &mut String, snapshot: &Snapshot) -> std::fmt::Result {
    let Snapshot { queue_wait_ms: queue, service_time_ms: service, unserved_ms: unserved, .. } = snapshot;
    let has_unserved = unserved.p50.is_some();
    let third = |text: &str| if has_unserved { format!("   {text:>12}") } else { String::new() };
    writeln!(out, "last minute   {:>12}   {:>12}{}", "queue wait", "service time", third("not served"))?;
    for (name, queue_ms, service_ms, unserved_ms) in [
        ("p50", queue.p50, service.p50, unserved.p50),
        ("p95", queue.p95, service.p95, unserved.p95),
        ("p99", queue.p99, service.p99, unserved.p99),
    ] {
        let unserved = third(&milliseconds(unserved_ms));
        writeln!(out, "{name:<11}   {:>12}   {:>12}{unserved}", milliseconds(queue_ms), milliseconds(service_ms))?;
    }
    Ok(())
}

#[allow(clippy::cast_precision_loss, reason = "a request that lasted 2^52 ms is not one to be exact about")]
pub(super) fn for_s(for_ms: u64) -> f64 {
    for_ms as f64 / 1000.0
}

/// Columns as wide as their widest cell; the last one ends where its text ends.
pub(super) fn aligned<R: AsRef<[String]>>(rows: &[R]) -> String {
    let mut widths = vec![0; rows.first().map_or(0, |row| row.as_ref().len())];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row.as_ref()) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, &width) in row.as_ref().iter().zip(&widths) {
            let _ = write!(line, "{cell:<width$}  ");
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// Classes and ids hold what clients sent; nothing of it may move a cursor.
pub fn harmless(text: &str) -> String {
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
pub(super) fn bytes(count: u64) -> String {
    let in_units = |unit: u64| count as f64 / unit as f64;
    match count {
        0..1024 => format!("{count} bytes"),
        1024..1_048_576 => format!("{:.1} KiB", in_units(1 << 10)),
        1_048_576..1_073_741_824 => format!("{:.1} MiB", in_units(1 << 20)),
        _ => format!("{:.2} GiB", in_units(1 << 30)),
    }
}

#[cfg(test)]
#[path = "status_tests.rs"]
pub mod tests;
