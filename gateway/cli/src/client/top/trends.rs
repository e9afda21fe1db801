//! Sparklines of the last five minutes: requests, errors, queue wait and CPU.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Sparkline, Widget};
use sluice_catalog::dashboard::Point;

use super::data::{Data, POINTS_MAX};
use super::text::{cores, cut_end, millis, rate, width};
use super::theme::Theme;

/// Number of figures with a trend.
pub(super) const TRENDS: u16 = 4;
/// Columns between two.
const GAP: u16 = 2;
/// Figures are drawn in thousandths, as small rates count.
const SCALE: f64 = 1000.0;

struct Trend {
    name: &'static str,
    of: fn(&Point) -> f32,
    text: fn(f64) -> String,
}

const OF: [Trend; TRENDS as usize] = [
    Trend { name: "requests", of: |point| point.answered, text: rate },
    Trend { name: "errors", of: |point| point.refused.max(point.failed), text: rate },
    Trend {
        name: "wait p95",
        of: |point| point.queue_wait_ms.map_or(0.0, |[_, p95, ..]| p95),
        text: |ms| millis(Some(ms)),
    },
    Trend { name: "cpu", of: |point| point.cpu + point.gateway_cpu, text: cores },
];

/// Rows that all of them take: four beside each other, else two by two.
pub(super) fn rows(columns: u16, is_tall: bool) -> u16 {
    let lines = if columns >= 120 { 1 } else { 2 };
    if is_tall { lines * 3 } else { lines }
}

/// Draws all of them. A tall one has its name above it.
pub(super) fn draw(data: &Data, area: Rect, is_tall: bool, buffer: &mut Buffer, theme: Theme) {
    let across = if area.width >= 120 { TRENDS } else { TRENDS / 2 };
    let each = (area.width.saturating_sub(GAP * (across - 1))) / across;
    let height = if is_tall { 3 } else { 1 };
    for (number, trend) in (0..).zip(&OF) {
        let (column, row) = (number % across, number / across);
        let cell = Rect { x: area.x + column * (each + GAP), y: area.y + row * height, width: each, height };
        draw_one(data, trend, cell.intersection(area), buffer, theme);
    }
}

fn draw_one(data: &Data, trend: &Trend, area: Rect, buffer: &mut Buffer, theme: Theme) {
    if area.is_empty() {
        return;
    }
    let values: Vec<f64> = data.points.iter().map(|point| f64::from((trend.of)(point))).collect();
    let max = values.iter().copied().fold(0.0, f64::max);
    let name = format!("{} max {}", trend.name, (trend.text)(max));
    let (label, spark) = if area.height > 1 {
        (Rect { height: 1, ..area }, Rect { y: area.y + 1, height: area.height - 1, ..area })
    } else {
        // As wide for all, so that they stand below each other.
        let wide = area.width.min(21);
        (
            Rect { width: wide, ..area },
            Rect { x: area.x + wide + 1, width: area.width.saturating_sub(wide + 1), ..area },
        )
    };
    let name = if width(&name) > label.width.into() { cut_end(&name, label.width.into()) } else { name };
    Line::styled(name, theme.label()).render(label, buffer);
    if spark.is_empty() {
        return;
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rates and times, which `as` saturates")]
    let heights: Vec<u64> =
        columns_of(&values, spark.width.into()).into_iter().map(|value| (value * SCALE) as u64).collect();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the same")]
    let top = ((max * SCALE) as u64).max(1);
    Sparkline::default().data(heights).max(top).style(theme.label()).render(spark, buffer);
}

/// The greatest of each share of the time, the latest at the right end; a second that is missing is 0.
fn columns_of(values: &[f64], columns: usize) -> Vec<f64> {
    let from = POINTS_MAX.saturating_sub(values.len());
    let at = |second: usize| second.checked_sub(from).and_then(|number| values.get(number)).copied().unwrap_or(0.0);
    (0..columns)
        .map(|column| {
            let (begin, end) = (column * POINTS_MAX / columns, (column + 1) * POINTS_MAX / columns);
            (begin..end.max(begin + 1)).map(at).fold(0.0, f64::max)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peak_of_one_second_is_seen_however_few_columns_there_are() {
        let mut values = vec![1.0; 200];
        values[150] = 9.0;
        let columns = columns_of(&values, 10);
        assert_eq!(columns, [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 9.0, 1.0]);
        assert_eq!(columns_of(&values, 600).len(), 600);
    }
}
