//! View of events, with their reasons: crashes, replaced and overdue workers, reloads, scaling, alarms that begin and
//! end.

use std::cmp::Reverse;

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use sluice_catalog::dashboard::{Mark, MarkLevel};

use super::Body;
use crate::client::top::state::State;
use crate::client::top::text::{cut_end, harmless, span, width, wrapped};
use crate::client::top::theme::Theme;

pub(super) const ORDERS: [&str; 2] = ["latest first", "worst first"];

/// Maximum number of lines of a detail, such as a stack.
const DETAIL_LINES_MAX: usize = 4;
/// Columns of age and level, before the text.
const BEFORE: usize = 10;

pub(super) fn body(state: &State, columns: usize) -> Body {
    let data = state.data();
    let mut marks: Vec<&Mark> = data.marks.iter().rev().filter(|mark| state.wants(&sentence(mark))).collect();
    if state.sort() == 1 {
        marks.sort_by_key(|mark| Reverse(mark.level as u8));
    }
    let mut lines: Vec<Line<'static>> =
        marks.iter().flat_map(|mark| of(mark, data.ago_s(mark.at_ms), columns, state.theme)).collect();
    if data.marks.is_empty() {
        lines.push(Line::from("Nothing has happened yet."));
    }
    let title = format!("{:>5}      {}", "AGO", "EVENT");
    let blank = " ".repeat(columns.saturating_sub(width(&title)));
    Body { head: Some(Line::from(title + &blank).style(state.theme.bar())), lines }
}

fn sentence(mark: &Mark) -> String {
    let text = harmless(&mark.text);
    match mark.worker.filter(|worker| *worker > 0) {
        Some(worker) => format!("worker {worker} {text}"),
        None => text,
    }
}

/// A word for each level, as colours alone say nothing.
fn level(level: MarkLevel, theme: Theme) -> (&'static str, Style) {
    match level {
        MarkLevel::Info => ("", theme.label()),
        MarkLevel::Warn => ("warn", theme.warning()),
        MarkLevel::Error => ("ERR", theme.bad()),
    }
}

fn of(mark: &Mark, ago_s: f64, columns: usize, theme: Theme) -> Vec<Line<'static>> {
    let (word, style) = level(mark.level, theme);
    let room = columns.saturating_sub(BEFORE + 1);
    let mut lines = Vec::new();
    for (number, text) in wrapped(&sentence(mark), room).into_iter().enumerate() {
        let before = if number == 0 { format!("{:>5} ", span(ago_s)) } else { " ".repeat(6) };
        let word = if number == 0 { word } else { "" };
        lines.push(Line::from(vec![
            Span::raw(before),
            Span::styled(format!("{word:<4}"), style),
            Span::raw(" "),
            Span::styled(text, if mark.level == MarkLevel::Info { theme.label() } else { theme.value() }),
        ]));
    }
    if mark.level == MarkLevel::Error {
        let detail = mark.detail.as_deref().unwrap_or_default();
        for line in detail.lines().take(DETAIL_LINES_MAX) {
            let text = cut_end(&harmless(line.trim_end()), room.saturating_sub(2));
            lines.push(Line::from(format!("{}{text}", " ".repeat(BEFORE + 3))));
        }
    }
    lines
}
