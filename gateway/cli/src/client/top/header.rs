//! The lines above the views: requests, errors by kind, times, CPU and memory. The same figures stand in `sluice status`. Pure.

use std::collections::BTreeMap;

use ratatui::style::Style;
use ratatui::text::Line;
use sluice_catalog::snapshot::{
    AlarmSnapshot, GatewayState, Lane, MachineSnapshot, Percentiles, ReloadState, Snapshot, WorkerSnapshot, WorkerState,
};

use super::data::Data;
use super::segments::Segments;
use super::text::{UNKNOWN, bytes, cores, count, harmless, millis, percent, rate, span};
use super::theme::Theme;
use super::views::outcome_kind;

/// Seconds that the rate and the CPU times of the figures are of.
const LATELY_S: usize = 5;
/// Share of the memory from which on it is marked.
const MEMORY_HIGH: f64 = 0.9;
/// Time for which the end of a reload is shown.
const RELOAD_TOLD_S: f64 = 60.0;
/// Certificates that expire this soon are worth a look.
const CERTIFICATE_SOON_S: f64 = 7.0 * 86_400.0;

/// Requests that ended badly in the last minute, by kind, the most frequent first; and whether clients suffer from it.
pub(in crate::client) fn errors_lately(status: &Snapshot) -> Vec<(&'static str, u64, bool)> {
    let mut kinds: BTreeMap<&'static str, (u64, bool)> = BTreeMap::new();
    for (outcome, count) in &status.lately.outcomes {
        if let Some((name, is_bad)) = outcome_kind(outcome) {
            kinds.entry(name).or_insert((0, is_bad)).0 += count;
        }
    }
    let mut kinds: Vec<_> = kinds.into_iter().map(|(name, (count, is_bad))| (name, count, is_bad)).collect();
    kinds.sort_by_key(|(_, count, is_bad)| (std::cmp::Reverse(*is_bad), std::cmp::Reverse(*count)));
    kinds
}

/// Workers that take requests, of those that are wanted: one for long requests is beyond them.
pub(in crate::client) fn ready(status: &Snapshot) -> usize {
    let serves = |state| matches!(state, WorkerState::Ready | WorkerState::Busy);
    // One whose event loop stands still gets nothing.
    let counts = |worker: &&WorkerSnapshot| serves(worker.state) && !worker.lowered && worker.lane != Some(Lane::Long);
    status.workers.iter().filter(counts).count()
}

fn named(name: &str, value: String, theme: Theme) -> [(String, Style); 2] {
    styled(name, value, theme.value(), theme)
}

fn styled(name: &str, value: String, style: Style, theme: Theme) -> [(String, Style); 2] {
    [(format!("{name} "), theme.label()), (value, style)]
}

/// The first line.
pub(super) fn title(status: &Snapshot, note: &str, columns: usize, theme: Theme) -> Line<'static> {
    let plain = |text: String| [(text, Style::new())];
    let mut segments = Segments::default().with(plain(format!(" sluice {}", status.state.as_str())));
    if !note.is_empty() {
        segments.push(plain(note.to_owned()));
    }
    segments = segments
        .with(plain(harmless(&status.url)))
        .with(plain(format!("up {}", span(status.uptime_s))))
        .with(plain(format!("generation {}", status.generation)))
        .with(plain(format!("pid {}", status.pid)))
        .with(plain(format!("version {}", harmless(&status.version))))
        .with(plain(harmless(&status.run_dir)));
    let mut line = segments.line(columns);
    let blank = " ".repeat(columns.saturating_sub(line.width()));
    line.push_span(blank);
    line.style(theme.bar())
}

/// Screens that are narrower get fewer figures, and none of them cut.
const NARROW: usize = 72;

/// Figures, a line each.
pub(super) fn figures(data: &Data, columns: usize, theme: Theme) -> Vec<Line<'static>> {
    let is_narrow = columns < NARROW;
    let lines = [
        requests(data, is_narrow, theme),
        errors(&data.status, theme),
        times(&data.status, is_narrow, theme),
        machine(data, is_narrow, theme),
    ];
    lines.into_iter().map(|line| line.line(columns)).collect()
}

fn requests(data: &Data, is_narrow: bool, theme: Theme) -> Segments {
    let status = &data.status;
    let per_second = data.mean(LATELY_S, |point| point.answered).unwrap_or(status.requests.per_second);
    let (ready, wanted) = (ready(status), status.workers_wanted.unwrap_or(0) as usize);
    let workers = if wanted > 0 { format!("{ready} of {wanted} ready") } else { format!("{ready} ready") };
    let workers_style = if ready == 0 {
        theme.bad()
    } else if ready < wanted {
        theme.warning()
    } else {
        theme.value()
    };
    let queue = &status.queue;
    let queue_style = if queue.length > 0 { theme.warning() } else { theme.value() };
    let length =
        if is_narrow { count(queue.length) } else { format!("{} of {}", queue.length, count(queue.length_max)) };
    let mut segments = Segments::default()
        .with(named("requests", rate(per_second), theme))
        .with(styled("workers", workers, workers_style, theme))
        .with(styled("queue", length, queue_style, theme));
    if queue.length > 0 {
        segments.push(named("oldest", millis(Some(queue.oldest_wait_ms)), theme));
    }
    segments.push(named("in service", status.requests.in_service.to_string(), theme));
    segments.push(named("connections", count(status.connections), theme));
    if status.streams > 0 {
        segments.push(named("streams", count(status.streams), theme));
    }
    if let Some(cache) = &status.page_cache {
        segments.push(named("cached pages", count(cache.pages), theme));
    }
    segments
}

#[allow(clippy::cast_precision_loss, reason = "counts of a minute")]
fn errors(status: &Snapshot, theme: Theme) -> Segments {
    let over_s = status.lately.over_s;
    let kinds = errors_lately(status);
    if over_s <= 0.0 {
        return Segments::default().with(named("errors", UNKNOWN.to_owned(), theme));
    }
    if kinds.is_empty() {
        return Segments::default().with(named("errors", "none in the last minute".to_owned(), theme));
    }
    let bad: u64 = kinds.iter().filter(|(_, _, is_bad)| *is_bad).map(|(_, count, _)| count).sum();
    let style = if bad > 0 { theme.bad() } else { theme.value() };
    let mut segments = Segments::default().with(styled("errors", rate(bad as f64 / over_s), style, theme));
    for (name, count, is_bad) in kinds {
        let style = if is_bad { theme.bad() } else { theme.value() };
        segments.push(styled(name, rate(count as f64 / over_s), style, theme));
    }
    for (code, count) in &status.lately.errors {
        segments.push(styled(&harmless(code), rate(*count as f64 / over_s), theme.value(), theme));
    }
    segments
}

fn times(status: &Snapshot, is_narrow: bool, theme: Theme) -> Segments {
    let mut segments = Segments::default();
    for (name, Percentiles { p50, p95, p99 }) in
        [("wait", status.queue_wait_ms), ("service", status.service_time_ms), ("not served", status.unserved_ms)]
    {
        if name == "not served" && p50.is_none() {
            continue;
        }
        let percentiles = [("p50", p50), ("p95", p95), ("p99", p99)];
        let shown = percentiles.into_iter().skip(usize::from(is_narrow));
        let pieces = shown.flat_map(|(name, ms)| [(format!(" {name} "), theme.label()), (millis(ms), theme.value())]);
        segments.push(std::iter::once((name.to_owned(), theme.label())).chain(pieces));
    }
    segments
}

fn machine(data: &Data, is_narrow: bool, theme: Theme) -> Segments {
    let status = &data.status;
    let mut segments = Segments::default();
    if let Some(MachineSnapshot { cpu: Some(used), cpus, .. }) = status.machine {
        let of = if is_narrow { format!("{}/{cpus}", cores(used)) } else { format!("{} of {cpus} cores", cores(used)) };
        segments.push(named("cpu", of, theme));
    }
    let workers = data.mean(LATELY_S, |point| point.cpu).or(status.lately.cpu);
    let gateway = data.mean(LATELY_S, |point| point.gateway_cpu).or(status.lately.gateway_cpu);
    let known = |value: Option<f64>| value.map_or_else(|| UNKNOWN.to_owned(), cores);
    segments.push(named("workers", known(workers), theme));
    segments.push(named("gateway", known(gateway), theme));
    if let Some(MachineSnapshot { memory_bytes: Some(used), memory_bytes_max: Some(max), is_cgroup, .. }) =
        status.machine
    {
        #[allow(clippy::cast_precision_loss, reason = "a share of two digits")]
        let share = used as f64 / max.max(1) as f64;
        let style = if share >= MEMORY_HIGH { theme.bad() } else { theme.value() };
        if is_narrow {
            segments.push(styled("memory", percent(share), style, theme));
        } else {
            let text = format!("{} of {} {}", bytes(used), bytes(max), percent(share));
            segments.push(styled("memory", text, style, theme));
            if is_cgroup {
                segments.push([("(cgroup)".to_owned(), theme.label())]);
            }
        }
    }
    let rss: u64 = status.workers.iter().filter_map(|worker| worker.rss_bytes).sum();
    segments.push(named("of workers", bytes(rss), theme));
    if let Some(MachineSnapshot { cpus, cpus_allowed, .. }) = status.machine.filter(|it| it.cpus_allowed < it.cpus) {
        segments.push(named("may use", format!("{cpus_allowed} of {cpus} CPUs"), theme));
    }
    segments
}

/// Notices that come before anything else, the worst first.
pub(super) fn notices(status: &Snapshot) -> Vec<(String, bool)> {
    let mut notices = Vec::new();
    notices.extend(status.alarms.iter().map(|alarm| (alarm_text(alarm), true)));
    if status.overlaps_total > 0 {
        let text = format!("overlaps {}: a worker held more than its slots; please report it", status.overlaps_total);
        notices.push((text, true));
    }
    if status.quarantined > 0 {
        notices.push((quarantine_text(status.quarantined), true));
    }
    if status.state == GatewayState::Draining {
        notices.push(("draining: new connections are refused, accepted requests finish".to_owned(), false));
    }
    if let Some(reload) = &status.reload
        && (reload.state == ReloadState::Running || reload.age_s < RELOAD_TOLD_S)
    {
        let reason = reload.reason.as_deref().map_or_else(String::new, |reason| format!(": {}", harmless(reason)));
        let text = format!(
            "reload: generation {} {}, requested {} ago{reason}",
            reload.generation,
            reload.state.as_str(),
            span(reload.age_s)
        );
        notices.push((text, reload.state == ReloadState::Abandoned));
    }
    if let Some(boots) = status.boots {
        notices.push((format!("boots: {} workers start when worker {} is ready", boots.waiting, boots.awaited), false));
    }
    for one in &status.certificates {
        match (&one.problem, one.expires_in_s) {
            (Some(problem), _) => {
                notices.push((format!("certificate {}: {}", harmless(&one.name), harmless(problem)), true));
            }
            (None, Some(left_s)) if left_s < CERTIFICATE_SOON_S => {
                let text = if left_s < 0.0 {
                    format!("certificate {} expired {} ago", harmless(&one.name), span(-left_s))
                } else {
                    format!("certificate {} expires in {}", harmless(&one.name), span(left_s))
                };
                notices.push((text, true));
            }
            _ => {}
        }
    }
    notices
}

fn quarantine_text(count: u64) -> String {
    let requests = if count == 1 { "1 request" } else { &format!("{count} requests") };
    format!("quarantine: {requests} rejected; `sluice quarantine` lists them")
}

fn alarm_text(alarm: &AlarmSnapshot) -> String {
    let class = alarm.class.as_deref().map_or_else(String::new, |class| format!(" of {}", harmless(class)));
    format!("ALARM {}{class} for {}: {}", harmless(&alarm.alarm), span(alarm.age_s), harmless(&alarm.text))
}
