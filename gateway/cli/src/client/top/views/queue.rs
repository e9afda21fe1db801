//! View of the queue, the ends of requests in the last minute and since the start, errors that clients got, and the
//! quarantine.

use std::collections::{BTreeMap, BTreeSet};

use ratatui::text::{Line, Span};
use sluice_catalog::logfields::LOG;
use sluice_catalog::snapshot::{LatelySnapshot, Percentiles, Snapshot};

use super::Body;
use crate::client::top::state::State;
use crate::client::top::text::{UNKNOWN, count, cut_middle, harmless, millis, rate, span};
use crate::client::top::theme::Theme;

/// Columns of the names of outcomes and errors.
const NAME: usize = 32;

/// An outcome's name on one line with others, and whether it is a failure. `None` for those that are as they should be.
pub(in crate::client::top) fn kind(outcome: &str) -> Option<(&'static str, bool)> {
    let word = LOG.outcomes.iter().find(|word| word.name == outcome)?;
    let name = match word.name.as_str() {
        "app_error" => "5xx of the app",
        "worker_died" => "worker died",
        "worker_fault" => "cut by worker",
        "gateway_fault" => "gateway fault",
        "upstream_fault" => "upstream fault",
        "timed_out" => "timed out",
        "shed" => "no room",
        "rejected" => "rejected",
        "client_gone_receiving" | "client_gone_queued" | "client_gone_in_service" => "clients left",
        // A failure is never left out, whatever it is called.
        name => return word.is_failure.then_some((name, true)),
    };
    Some((name, word.is_failure))
}

pub(super) fn body(state: &State, columns: usize) -> Body {
    let data = state.data();
    let status = &data.status;
    let theme = state.theme;
    let mut lines = vec![waiting(status, theme)];
    lines.push(Line::default());
    lines.push(row(["last minute", "p50", "p95", "p99"].map(str::to_owned)));
    for (name, times) in [
        ("queue wait", status.queue_wait_ms),
        ("service time", status.service_time_ms),
        ("not served", status.unserved_ms),
    ] {
        let Percentiles { p50, p95, p99 } = times;
        lines.push(row([name.to_owned(), millis(p50), millis(p95), millis(p99)]));
    }
    let LatelySnapshot { over_s, outcomes, errors, .. } = &status.lately;
    for (title, lately, all) in [
        ("how requests ended", outcomes, &status.requests.outcomes),
        ("errors by code", errors, &status.requests.errors),
    ] {
        lines.push(Line::default());
        lines.extend(counts(title, lately, all, *over_s, columns, theme));
    }
    if status.requests.steps.keys().any(|step| step != "render") {
        lines.push(Line::default());
        lines.extend(counts("answers to requests", &BTreeMap::new(), &status.requests.steps, 0.0, columns, theme));
    }
    if !data.quarantined.is_empty() {
        lines.push(Line::default());
        lines.push(Line::styled(format!("in quarantine: {}", data.quarantined.len()), theme.bad()));
        lines.extend(data.quarantined.iter().map(|one| {
            let seconds = std::time::Duration::from_millis(one.expires_in_ms).as_secs_f64();
            let end = format!("  {} workers crashed, ends in {}", one.deaths, span(seconds));
            let name = format!("{} {}", harmless(&one.method), harmless(&one.target));
            Line::from(format!("  {}{end}", cut_middle(&name, columns.saturating_sub(end.len() + 2))))
        }));
    }
    lines.retain(|line| state.wants(&line.to_string()));
    Body { head: None, lines }
}

fn waiting(status: &Snapshot, theme: Theme) -> Line<'static> {
    let queue = &status.queue;
    let style = if queue.length > 0 { theme.warning() } else { theme.value() };
    Line::from(vec![
        Span::raw("waiting "),
        Span::styled(format!("{} of {}", queue.length, queue.length_max), style),
        Span::raw("  oldest "),
        Span::styled(millis(Some(queue.oldest_wait_ms)), theme.value()),
        Span::raw("  expected wait "),
        Span::styled(millis(queue.predicted_wait_ms), theme.value()),
    ])
}

fn row(cells: [String; 4]) -> Line<'static> {
    let [name, first, second, third] = cells;
    Line::from(format!("{name:<20} {first:>9} {second:>9} {third:>9}"))
}

#[allow(clippy::cast_precision_loss, reason = "counts of a minute")]
fn counts(
    title: &str,
    lately: &BTreeMap<String, u64>,
    all: &BTreeMap<String, u64>,
    over_s: f64,
    columns: usize,
    theme: Theme,
) -> Vec<Line<'static>> {
    let room = NAME.min(columns.saturating_sub(24));
    let head = format!("{title:<room$} {:>11} {:>10}", "LAST MINUTE", "IN ALL");
    let mut lines = vec![Line::styled(head, theme.value())];
    let names: BTreeSet<&String> = lately.keys().chain(all.keys()).collect();
    if names.is_empty() {
        lines.push(Line::from("  none"));
    }
    for name in names {
        let now = lately.get(name).copied().unwrap_or(0);
        let per_second = if over_s > 0.0 { rate(now as f64 / over_s) } else { UNKNOWN.to_owned() };
        let is_bad = now > 0 && kind(name).is_some_and(|(_, is_bad)| is_bad);
        let text = format!(
            "  {:<wide$} {per_second:>11} {:>10}",
            cut_middle(&harmless(name), room.saturating_sub(2)),
            count(all.get(name).copied().unwrap_or(0)),
            wide = room.saturating_sub(2)
        );
        lines.push(Line::styled(text, if is_bad { theme.bad() } else { theme.label() }));
    }
    lines
}
