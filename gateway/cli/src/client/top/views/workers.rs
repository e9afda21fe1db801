//! Each worker: what it does now and for how long, its CPU time, memory and event loop.

use std::cmp::Reverse;

use ratatui::style::Style;
use sluice_catalog::snapshot::{CurrentRequest, Lane, Snapshot, WorkerSnapshot, WorkerState};

use super::Body;
use crate::client::top::state::State;
use crate::client::top::table::{Cell, Column, NEVER, Table};
use crate::client::top::text::{UNKNOWN, bytes, count, harmless, millis, percent, span};
use crate::client::top::theme::Theme;

pub(super) const ORDERS: [&str; 5] = ["by position", "by longest request", "by CPU", "by memory", "by requests"];

const COLUMNS: [Column; 16] = [
    Column::number("ID", 5, 0),
    Column::word("STATE", 8, 0),
    Column::number("CPU", 4, 0),
    Column::number("MEMORY", 6, 0),
    Column::number("LOOP", 7, 1),
    Column::number("REQS", 5, 2),
    Column::number("UP", 5, 3),
    Column::number("RESTARTS", 8, 5),
    Column::number("MEM%", 4, 4),
    Column::number("HEAP", 6, 6),
    Column::number("PID", 7, 4),
    Column::number("GEN", 4, 7),
    Column::word("LANE", 5, 2),
    Column::number("FOR", 6, 0),
    Column::name("DOING", 14, 0, 3),
    Column::name("CLASS", 24, 9, 2),
];

/// Time for which a blocked event loop is marked; a sign of life comes every 250 ms.
const SILENT_MS: u64 = 1000;
/// Share of a worker's memory limit from which on it is marked.
const MEMORY_HIGH: f64 = 0.9;
/// Requests that are with a worker for so long are worth a look.
const LONG_MS: u64 = 1000;

pub(super) fn body(state: &State, columns: usize) -> Body {
    rows(&state.data().status, |text| state.wants(text), state.sort(), columns, state.theme)
}

/// The same for `sluice status`, which has no state.
pub(in crate::client) fn rows(
    status: &Snapshot,
    wants: impl Fn(&str) -> bool,
    order: usize,
    columns: usize,
    theme: Theme,
) -> Body {
    let memory_bytes_max = status.worker_memory_bytes_max;
    let mut workers: Vec<&WorkerSnapshot> = status.workers.iter().filter(|worker| wants(&words(worker))).collect();
    let longest = |worker: &WorkerSnapshot| worker.current.iter().map(|request| request.for_ms).max();
    match order {
        1 => workers.sort_by_key(|worker| Reverse(longest(worker))),
        2 => workers.sort_by(|one, other| other.cpu.unwrap_or(-1.0).total_cmp(&one.cpu.unwrap_or(-1.0))),
        3 => workers.sort_by_key(|worker| Reverse(worker.rss_bytes)),
        4 => workers.sort_by_key(|worker| Reverse(worker.requests_total)),
        _ => {}
    }
    // Where there is nothing to tell apart, the column is for something else.
    let has_lanes = workers.iter().any(|worker| worker.lane == Some(Lane::Long));
    let columns_of: Vec<Column> = COLUMNS
        .iter()
        .map(|column| match column.title {
            "LANE" if !has_lanes => Column { rank: NEVER, ..*column },
            "MEM%" if memory_bytes_max.is_none() => Column { rank: NEVER, ..*column },
            _ => *column,
        })
        .collect();
    let table = Table::fit(&columns_of, columns);
    let row =
        |worker: &&WorkerSnapshot| table.row(|number| cell(COLUMNS[number].title, worker, memory_bytes_max, theme));
    Body { head: Some(table.head(theme.bar())), lines: workers.iter().map(row).collect() }
}

/// Words in which a filter searches.
fn words(worker: &WorkerSnapshot) -> String {
    let mut words = format!("{} {}", worker.id, state_word(worker));
    for request in &worker.current {
        words.extend([" ", &request.class, " ", &request.path, " ", &request.id]);
    }
    words
}

fn state_word(worker: &WorkerSnapshot) -> &'static str {
    if worker.lowered { "lowered" } else { worker.state.as_str() }
}

fn cell(title: &str, worker: &WorkerSnapshot, memory_bytes_max: Option<u64>, theme: Theme) -> Cell {
    let plain = |text: String| (text, theme.label());
    let known = |text: Option<String>| plain(text.unwrap_or_else(|| UNKNOWN.to_owned()));
    match title {
        "ID" => plain(if worker.pid.is_some() { worker.id.to_string() } else { format!("#{}", worker.instance) }),
        "STATE" => (state_word(worker).to_owned(), state_style(worker, theme)),
        "CPU" => known(worker.cpu.map(percent)),
        "MEMORY" => match worker.rss_bytes {
            Some(rss_bytes) => (bytes(rss_bytes), memory_style(rss_bytes, memory_bytes_max, theme)),
            None => known(None),
        },
        "MEM%" => known(worker.rss_bytes.zip(memory_bytes_max).map(|(used, max)| percent(share(used, max)))),
        "LOOP" => event_loop(worker, theme),
        "REQS" => plain(count(worker.requests_total)),
        "UP" => known(worker.pid.map(|_| span(worker.age_s))),
        "RESTARTS" => plain(count(worker.restarts_total)),
        "HEAP" => known(worker.heap_used_bytes.map(bytes)),
        "PID" => known(worker.pid.map(|pid| pid.to_string())),
        "GEN" => known(Some(worker.generation).filter(|generation| *generation > 0).map(|number| number.to_string())),
        "LANE" => known(worker.lane.map(|lane| lane.as_str().to_owned())),
        "FOR" => match longest(worker) {
            Some(request) => {
                let style = if request.for_ms >= LONG_MS { theme.warning() } else { theme.label() };
                (span(std::time::Duration::from_millis(request.for_ms).as_secs_f64()), style)
            }
            None => plain(String::new()),
        },
        "DOING" => plain(doing(worker)),
        _ => plain(longest(worker).map_or_else(String::new, |request| harmless(&request.class))),
    }
}

/// The one that has been there longest is the one to look at.
fn longest(worker: &WorkerSnapshot) -> Option<&CurrentRequest> {
    worker.current.iter().max_by_key(|request| request.for_ms)
}

fn doing(worker: &WorkerSnapshot) -> String {
    let Some(request) = longest(worker) else {
        return if worker.streams > 0 { format!("{} streams", worker.streams) } else { String::new() };
    };
    let name = if request.path.is_empty() {
        harmless(&request.class)
    } else {
        format!("{} {}", harmless(&request.method), harmless(&request.path))
    };
    match worker.current.len() {
        1 => name,
        held => format!("{held}: {name}"),
    }
}

fn state_style(worker: &WorkerSnapshot, theme: Theme) -> Style {
    match worker.state {
        WorkerState::Backoff => theme.bad(),
        _ if worker.lowered => theme.bad(),
        WorkerState::Starting | WorkerState::Warming | WorkerState::Leaving | WorkerState::Paused => theme.warning(),
        WorkerState::Busy => theme.value(),
        WorkerState::Ready => theme.label(),
    }
}

fn memory_style(rss_bytes: u64, memory_bytes_max: Option<u64>, theme: Theme) -> Style {
    match memory_bytes_max {
        Some(max) if share(rss_bytes, max) >= MEMORY_HIGH => theme.bad(),
        _ => theme.label(),
    }
}

/// Utilisation of the event loop; a blocked one shows its time instead.
fn event_loop(worker: &WorkerSnapshot, theme: Theme) -> Cell {
    match (worker.silent_ms, worker.event_loop_utilization) {
        (Some(silent_ms), _) if silent_ms >= SILENT_MS => {
            (format!("!{}", span(std::time::Duration::from_millis(silent_ms).as_secs_f64())), theme.bad())
        }
        (_, Some(busy)) => {
            let delay = worker.event_loop_delay_ms.filter(|delay_ms| *delay_ms >= 100.0);
            match delay {
                Some(delay_ms) => (format!("+{}", millis(Some(delay_ms))), theme.warning()),
                None => (percent(busy), theme.label()),
            }
        }
        _ => (UNKNOWN.to_owned(), theme.label()),
    }
}

#[allow(clippy::cast_precision_loss, reason = "a share of two digits")]
fn share(used: u64, max: u64) -> f64 {
    used as f64 / max.max(1) as f64
}
