//! Tables of a narrow terminal: columns have a width and a rank, and those of the lowest rank go where there is no room for all. One
//! column takes what is left. Pure.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::text::{cut_end, cut_middle, width};

/// Columns between two.
const GAP: usize = 1;

/// The rank of a column that is not shown, however much room there is.
pub(super) const NEVER: u8 = u8::MAX;

/// Position of a cell's text, and the end that is cut when it is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    /// Numbers.
    Right,
    /// Words, cut at the end.
    Left,
    /// Names, cut in the middle.
    Name,
}

/// One column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    pub(super) title: &'static str,
    /// Least width. A column with `grows` takes what is left.
    pub(super) width: usize,
    pub(super) align: Align,
    /// 0 for what is always there.
    pub(super) rank: u8,
    /// Weight of the column in what is left.
    pub(super) grows: usize,
}

impl Column {
    pub(super) const fn number(title: &'static str, width: usize, rank: u8) -> Self {
        Self { title, width, align: Align::Right, rank, grows: 0 }
    }

    pub(super) const fn word(title: &'static str, width: usize, rank: u8) -> Self {
        Self { title, width, align: Align::Left, rank, grows: 0 }
    }

    pub(super) const fn name(title: &'static str, width: usize, rank: u8, grows: usize) -> Self {
        Self { title, width, align: Align::Name, rank, grows }
    }
}

/// A cell's text and style.
pub(super) type Cell = (String, Style);

/// Columns that fit, with their widths.
#[derive(Debug)]
pub(super) struct Table {
    shown: Vec<(usize, Column)>,
}

impl Table {
    pub(super) fn fit(columns: &[Column], room: usize) -> Self {
        let mut shown: Vec<(usize, Column)> =
            columns.iter().copied().enumerate().filter(|(_, column)| column.rank != NEVER).collect();
        let wide = |shown: &[(usize, Column)]| {
            shown.iter().map(|(_, column)| column.width).sum::<usize>() + GAP * shown.len().saturating_sub(1)
        };
        while wide(&shown) > room {
            let Some(rank) = shown.iter().map(|(_, column)| column.rank).max().filter(|rank| *rank > 0) else { break };
            let Some(at) = shown.iter().rposition(|(_, column)| column.rank == rank) else { break };
            shown.remove(at);
        }
        let shares: usize = shown.iter().map(|(_, column)| column.grows).sum();
        let left = room.saturating_sub(wide(&shown));
        let mut given = 0;
        let last = shown.iter().rposition(|(_, column)| column.grows > 0);
        for (at, (_, column)) in shown.iter_mut().enumerate() {
            // The last one takes what the division left.
            let more =
                if Some(at) == last { left - given } else { (left * column.grows).checked_div(shares).unwrap_or(0) };
            if column.grows > 0 {
                column.width += more;
                given += more;
            }
        }
        Self { shown }
    }

    pub(super) fn head(&self, style: Style) -> Line<'static> {
        self.line(|_, column| (column.title.to_owned(), Style::new())).style(style)
    }

    /// A row; `cell` is asked for the columns that are shown, by their numbers.
    pub(super) fn row(&self, cell: impl Fn(usize) -> Cell) -> Line<'static> {
        self.line(|number, _| cell(number))
    }

    fn line(&self, cell: impl Fn(usize, &Column) -> Cell) -> Line<'static> {
        let mut spans = Vec::new();
        for (at, (number, column)) in self.shown.iter().enumerate() {
            if at > 0 {
                spans.push(Span::raw(" ".repeat(GAP)));
            }
            let (text, style) = cell(*number, column);
            let text = match column.align {
                Align::Name => cut_middle(&text, column.width),
                Align::Left | Align::Right => cut_end(&text, column.width),
            };
            let blank = " ".repeat(column.width.saturating_sub(width(&text)));
            let (before, after) =
                if column.align == Align::Right { (blank, String::new()) } else { (String::new(), blank) };
            spans.push(Span::raw(before));
            spans.push(Span::styled(text, style));
            spans.push(Span::raw(after));
        }
        Line::from(spans)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column; 4] = [
        Column::number("ID", 4, 0),
        Column::word("STATE", 6, 1),
        Column::name("DOING", 8, 0, 1),
        Column::number("RUNS", 5, 2),
    ];

    fn row(room: usize) -> String {
        let cells = ["7", "leaving", "GET /product/:id", "12"];
        Table::fit(&COLUMNS, room).row(|number| (cells[number].to_owned(), Style::new())).to_string()
    }

    #[test]
    fn columns_of_the_lowest_rank_go_first_and_the_name_takes_what_is_left() {
        assert_eq!(row(40), "   7 leavi… GET /product/:id          12");
        assert_eq!(row(26), "   7 leavi… GET …:id    12");
        assert_eq!(row(25), "   7 leavi… GET /p…ct/:id");
        assert_eq!(row(16), "   7 GET /…t/:id");
    }

    #[test]
    fn heads_stand_over_their_columns() {
        let table = Table::fit(&COLUMNS, 40);
        let head = table.head(Style::new()).to_string();
        assert_eq!(head, "  ID STATE  DOING                   RUNS");
    }
}
