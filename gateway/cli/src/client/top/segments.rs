//! One line of figures that is as wide as it may be: segments in the order of what matters, the last of which go where there is no room.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::text::width;

/// Columns between two segments.
const GAP: usize = 2;

/// One line.
#[derive(Debug, Default)]
pub(super) struct Segments {
    segments: Vec<Vec<Span<'static>>>,
}

impl Segments {
    /// One more segment of pieces that stay together.
    pub(super) fn with(mut self, pieces: impl IntoIterator<Item = (String, Style)>) -> Self {
        self.push(pieces);
        self
    }

    pub(super) fn push(&mut self, pieces: impl IntoIterator<Item = (String, Style)>) {
        let spans: Vec<_> = pieces.into_iter().map(|(text, style)| Span::styled(text, style)).collect();
        self.segments.push(spans);
    }

    /// Segments that fit; none is cut.
    pub(super) fn line(self, columns: usize) -> Line<'static> {
        let mut spans: Vec<Span<'static>> = Vec::new();
        let mut used = 0;
        for segment in self.segments {
            let gap = if spans.is_empty() { 0 } else { GAP };
            let wide: usize = segment.iter().map(|span| width(&span.content)).sum();
            if used + gap + wide > columns {
                break;
            }
            if gap > 0 {
                spans.push(Span::raw(" ".repeat(gap)));
            }
            used += gap + wide;
            spans.extend(segment);
        }
        Line::from(spans)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_stay_whole_or_go() {
        let line = |columns| {
            let plain = |text: &str| [(text.to_owned(), Style::new())];
            Segments::default().with(plain("abc")).with(plain("defg")).with(plain("h")).line(columns).to_string()
        };
        assert_eq!(line(20), "abc  defg  h");
        assert_eq!(line(11), "abc  defg");
        assert_eq!(line(8), "abc");
        assert_eq!(line(2), "");
    }
}
