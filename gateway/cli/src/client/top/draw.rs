//! The whole screen, from the state, into a buffer of any size. What matters more stands higher and stays when there is little room.

use tokio::time::Instant;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::header::{figures, notices, title};
use super::input::HELP;
use super::segments::Segments;
use super::state::State;
use super::text::{cut_end, harmless, span, width};
use super::trends;
use super::views::{Body, View};

/// The smallest screen that says anything.
const COLUMNS_MIN: u16 = 50;
const ROWS_MIN: u16 = 12;
/// Number of rows from which on there are trends, and taller ones.
const ROWS_WITH_TRENDS: u16 = 20;
const ROWS_TALL: u16 = 40;
/// Rows of the view that notices leave.
const BODY_ROWS_MIN: u16 = 5;

/// Draws everything. Keeps where the view is scrolled to within its rows.
pub(super) fn draw(state: &mut State, area: Rect, buffer: &mut Buffer, now: Instant) {
    if area.width < COLUMNS_MIN || area.height < ROWS_MIN {
        return too_small(area, buffer);
    }
    let mut rows = Rows { left: area, buffer };
    let columns: usize = area.width.into();
    let theme = state.theme;
    let is_tall = area.height >= ROWS_TALL && !state.is_plain;
    let note = if state.is_paused() { "PAUSED (space resumes)" } else { "" };
    rows.line(&title(&state.data().status, note, columns, theme));
    for line in figures(state.data(), columns, theme) {
        rows.line(&line);
    }
    if area.height >= ROWS_WITH_TRENDS {
        let area = rows.take(trends::rows(area.width, is_tall));
        trends::draw(state.data(), area, is_tall, rows.buffer, theme);
    }
    for line in top_notices(state, rows.left.height.saturating_sub(BODY_ROWS_MIN + 3), columns, now) {
        rows.line(&line);
    }
    if is_tall {
        rows.line(&Line::default());
    }
    if state.has_help {
        return help(state, &mut rows);
    }
    let body = state.view.body(state, columns);
    let below = if is_tall && state.view == View::Workers { below(state, &body, rows.left, columns) } else { None };
    let tabs = rows.take(1);
    if let Some(head) = &body.head {
        rows.line(head);
    }
    let footer = u16::from(!state.is_plain);
    let taken_below = below.as_ref().map_or(0, |below| u16::try_from(below.lines.len()).unwrap_or(u16::MAX) + 2);
    let room = usize::from(rows.left.height.saturating_sub(footer + taken_below));
    let scroll = &mut state.scroll[state.view as usize];
    *scroll = (*scroll).min(body.lines.len().saturating_sub(room));
    let scroll = *scroll;
    state.page = room;
    let shown = body.lines.iter().skip(scroll).take(room);
    let until = scroll + shown.len();
    tab_line(state, (scroll, until, body.lines.len()), columns).render(tabs, rows.buffer);
    for line in shown {
        rows.line(line);
    }
    if let Some(below) = below {
        rows.line(&Line::default());
        if let Some(head) = &below.head {
            rows.line(head);
        }
        for line in &below.lines {
            rows.line(line);
        }
    }
    if !state.is_plain {
        let last = Rect { y: area.bottom() - 1, height: 1, ..area };
        footer_line(state, columns).render(last, rows.buffer);
    }
}

/// The latest events, where the workers leave room for some.
fn below(state: &State, body: &Body, left: Rect, columns: usize) -> Option<Body> {
    let used = body.lines.len() + 5;
    let room = usize::from(left.height).saturating_sub(used);
    if room < 4 {
        return None;
    }
    let mut events = View::Events.body(state, columns);
    events.lines.truncate(room);
    Some(events)
}

/// Most important notices, as many as there is room for.
fn top_notices(state: &State, room: u16, columns: usize, now: Instant) -> Vec<Line<'static>> {
    let theme = state.theme;
    let mut all = notices(&state.data().status);
    if let Some(lost) = &state.lost {
        let since = span(now.saturating_duration_since(lost.since).as_secs_f64());
        all.insert(0, (format!("NO ANSWER for {since}, figures are outdated, retrying: {}", lost.why), true));
    }
    let room = usize::from(room).clamp(1, if columns >= 120 { 8 } else { 3 });
    let more = all.len().saturating_sub(room);
    // One line for the worst rather than for how many there are.
    let shown = if more > 0 { (room - 1).max(1) } else { room };
    let mut lines: Vec<Line<'static>> = Vec::new();
    for (number, (text, is_bad)) in all.iter().enumerate().take(shown) {
        let style = if *is_bad { theme.bad() } else { theme.warning() };
        // The first tells what to do, which is at its end: it gets a second line where there is room for one.
        if number == 0 && all.len() < room && width(text) > columns {
            let mut parts = super::text::wrapped(text, columns).into_iter();
            lines.extend(parts.next().map(|part| Line::styled(part, style)));
            let rest = parts.collect::<Vec<_>>().join(" ");
            lines.push(Line::styled(cut_end(&format!("  {rest}"), columns), style));
        } else {
            lines.push(Line::styled(cut_end(text, columns), style));
        }
    }
    if more > 0 && room > 1 {
        let text = format!("and {} more: `sluice status` lists them", all.len() - shown);
        lines.push(Line::styled(cut_end(&text, columns), theme.warning()));
    }
    lines
}

/// The views, the selected one in brackets and reversed, and which rows are shown.
fn tab_line(state: &State, (from, until, all): (usize, usize, usize), columns: usize) -> Line<'static> {
    let theme = state.theme;
    let mut spans = Vec::new();
    let mut used = 0;
    if state.is_plain {
        let title = state.view.title();
        used += title.len();
        spans.push(Span::styled(title, theme.value()));
    } else {
        for (number, view) in (1..).zip(View::ALL) {
            let is_shown = view == state.view;
            let text =
                if is_shown { format!("[{number} {}]", view.title()) } else { format!(" {number} {} ", view.title()) };
            used += text.len();
            spans.push(Span::styled(text, if is_shown { theme.bar() } else { theme.label() }));
        }
    }
    let rows = if all == 0 {
        "no rows".to_owned()
    } else if until - from == all {
        format!("{all} rows")
    } else {
        format!("{}-{until} of {all}", from + 1)
    };
    let order = state.view.orders().get(state.sort()).map(|order| format!("{order}, ")).unwrap_or_default();
    let filter = if state.filter.is_empty() { String::new() } else { format!("with {:?}, ", harmless(&state.filter)) };
    for text in [format!("{filter}{order}{rows}"), format!("{filter}{rows}"), rows] {
        if used + width(&text) < columns {
            spans.push(Span::raw(" ".repeat(columns - used - width(&text))));
            spans.push(Span::raw(text));
            break;
        }
    }
    Line::from(spans)
}

fn footer_line(state: &State, columns: usize) -> Line<'static> {
    if state.is_typing {
        return Line::from(format!("/{}_   Enter keeps the filter, Esc clears it", harmless(&state.filter)));
    }
    let key = |key: &str, does: &str| [(key.to_owned(), state.theme.value()), (format!(" {does}"), Style::new())];
    let mut segments = Segments::default().with(key("q", "quit")).with(key("?", "help")).with(key("1-4", "views"));
    for (name, does) in [("↑↓", "scroll"), ("s", "sort"), ("/", "filter"), ("space", "pause")] {
        segments.push(key(name, does));
    }
    segments.line(columns)
}

fn help(state: &State, rows: &mut Rows<'_>) {
    rows.line(&Line::styled("keys", state.theme.value()));
    for (keys, does) in HELP {
        rows.line(&Line::from(vec![Span::styled(format!("  {keys:<16} "), state.theme.value()), Span::raw(does)]));
    }
}

fn too_small(area: Rect, buffer: &mut Buffer) {
    let text = format!(
        "sluice top needs {COLUMNS_MIN} columns and {ROWS_MIN} rows; this terminal has {} and {}. Press q to quit.",
        area.width, area.height
    );
    for (row, line) in (area.y..area.bottom()).zip(super::text::wrapped(&text, area.width.into())) {
        Line::from(line).render(Rect { y: row, height: 1, ..area }, buffer);
    }
}

/// Rows of the screen from the top on.
struct Rows<'a> {
    left: Rect,
    buffer: &'a mut Buffer,
}

impl Rows<'_> {
    fn take(&mut self, height: u16) -> Rect {
        let height = height.min(self.left.height);
        let taken = Rect { height, ..self.left };
        self.left = Rect { y: self.left.y + height, height: self.left.height - height, ..self.left };
        taken
    }

    fn line(&mut self, line: &Line<'_>) {
        let area = self.take(1);
        if !area.is_empty() {
            line.render(area, self.buffer);
        }
    }
}
