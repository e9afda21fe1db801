//! Each class: how often it comes, what it costs, and how long its requests wait and take.

use ratatui::text::Line;
use sluice_catalog::snapshot::ClassSnapshot;

use super::Body;
use crate::client::top::data::Data;
use crate::client::top::state::State;
use crate::client::top::table::{Cell, Column, Table};
use crate::client::top::text::{UNKNOWN, count, harmless, millis, percent, rate};
use crate::client::top::theme::Theme;

pub(super) const ORDERS: [&str; 5] = ["by CPU time", "by rate", "by cost p95", "by service time", "by name"];

const COLUMNS: [Column; 11] = [
    Column::name("CLASS", 18, 0, 1),
    Column::number("RATE", 7, 0),
    Column::number("CPU", 4, 0),
    Column::number("COST p50", 8, 2),
    Column::number("p95", 6, 0),
    Column::number("p99", 6, 3),
    Column::number("WAIT", 6, 0),
    Column::number("SERVICE", 7, 0),
    Column::number("REQS", 6, 1),
    Column::number("DRIFT", 5, 5),
    Column::word("NOTES", 8, 4),
];

/// A class that costs so many times its long-term mean is worth a look.
const DRIFT_HIGH: f64 = 1.5;

pub(super) fn body(state: &State, columns: usize) -> Body {
    let data = state.data();
    let mut classes: Vec<&ClassSnapshot> =
        data.classes.classes.iter().filter(|class| state.wants(&class.class)).collect();
    let rate_of = |class: &ClassSnapshot| data.class_rate(&class.class, class.requests).unwrap_or(0.0);
    match state.sort() {
        1 => classes.sort_by(|one, other| rate_of(other).total_cmp(&rate_of(one))),
        2 => {
            classes.sort_by(|one, other| other.cost_p95_ms.unwrap_or(-1.0).total_cmp(&one.cost_p95_ms.unwrap_or(-1.0)));
        }
        3 => classes.sort_by(|one, other| other.service_time_ms.total_cmp(&one.service_time_ms)),
        4 => classes.sort_by(|one, other| one.class.cmp(&other.class)),
        _ => {}
    }
    let table = Table::fit(&COLUMNS, columns);
    let mut lines: Vec<Line<'static>> =
        classes.iter().map(|class| table.row(|number| cell(COLUMNS[number].title, class, data, state.theme))).collect();
    if data.classes.classes.is_empty() {
        lines.push(Line::from("No request has arrived yet."));
    }
    Body { head: Some(table.head(state.theme.bar())), lines }
}

fn cell(title: &str, class: &ClassSnapshot, data: &Data, theme: Theme) -> Cell {
    let plain = |text: String| (text, theme.label());
    match title {
        "CLASS" => plain(harmless(&class.class)),
        "RATE" => plain(data.class_rate(&class.class, class.requests).map_or_else(|| UNKNOWN.to_owned(), rate)),
        "CPU" => plain(percent(class.cpu_share)),
        "COST p50" => plain(millis(class.cost_p50_ms)),
        "p95" => plain(millis(class.cost_p95_ms)),
        "p99" => plain(millis(class.cost_p99_ms)),
        "WAIT" => plain(millis(Some(class.queue_wait_ms))),
        "SERVICE" => plain(millis(Some(class.service_time_ms))),
        "REQS" => plain(count(class.requests)),
        "DRIFT" => match class.drift {
            Some(drift) if drift >= DRIFT_HIGH => (format!("{drift:.1}x"), theme.warning()),
            Some(drift) => plain(format!("{drift:.1}x")),
            None => plain(UNKNOWN.to_owned()),
        },
        _ => plain(match (class.long, class.known) {
            (true, true) => "long".to_owned(),
            (true, false) => "long new".to_owned(),
            (false, false) => "new".to_owned(),
            (false, true) => String::new(),
        }),
    }
}
