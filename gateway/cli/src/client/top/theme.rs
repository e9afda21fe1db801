//! Styles. Only the colours that can be read on light and on dark, and none that says something which no word says: red and magenta,
//! beside bold and reversed. Grey, yellow and cyan fade on one of the two, so there are none.

use ratatui::style::{Color, Modifier, Style};

/// Styles of what is drawn.
#[derive(Clone, Copy, Debug)]
pub(in crate::client) struct Theme {
    has_colour: bool,
}

#[allow(clippy::unused_self, reason = "styles without a colour are styles of the theme as well")]
impl Theme {
    pub(in crate::client) const fn new(has_colour: bool) -> Self {
        Self { has_colour }
    }

    /// Names of figures and columns.
    pub(super) const fn label(self) -> Style {
        Style::new()
    }

    /// Figures.
    pub(super) const fn value(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// The first line, the selected view and heads of tables.
    pub(super) const fn bar(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// Style of a figure that an operator should look at some day.
    pub(super) const fn warning(self) -> Style {
        self.coloured(Color::Magenta)
    }

    /// Style of a figure that an operator should look at now.
    pub(super) const fn bad(self) -> Style {
        self.coloured(Color::Red)
    }

    const fn coloured(self, colour: Color) -> Style {
        let style = Style::new().add_modifier(Modifier::BOLD);
        if self.has_colour { style.fg(colour) } else { style }
    }
}
