//! One frame as plain text: for pipes, for `--once`, and for terminals that move no cursor.

use tokio::time::Instant;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::draw::draw;
use super::state::State;

/// Rows above the view, more than there ever are.
const ABOVE: usize = 24;
/// Maximum number of rows of plain text, more than any pool has workers.
const ROWS_MAX: usize = 4000;

/// All rows of the view, however many.
pub(super) fn frame(state: &mut State, columns: u16, now: Instant) -> String {
    state.is_plain = true;
    let rows = (state.view.body(state, columns.into()).lines.len() + ABOVE).min(ROWS_MAX);
    let area = Rect::new(0, 0, columns, u16::try_from(rows).unwrap_or(u16::MAX));
    let mut buffer = Buffer::empty(area);
    draw(state, area, &mut buffer, now);
    text(&buffer)
}

/// Text of a buffer, without blanks at the ends.
pub(super) fn text(buffer: &Buffer) -> String {
    let mut out = String::new();
    for y in buffer.area.top()..buffer.area.bottom() {
        let mut line = String::new();
        let mut x = buffer.area.left();
        while x < buffer.area.right() {
            let symbol = buffer[(x, y)].symbol();
            line.push_str(symbol);
            // The second cell of a wide letter is empty.
            x += u16::try_from(super::text::width(symbol)).unwrap_or(1).max(1);
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    let ends = out.trim_end().len();
    out.truncate(ends);
    out.push('\n');
    out
}
