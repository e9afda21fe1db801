//! Keys, and what they ask for. Pure.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::views::View;

/// Action of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Quit,
    /// The help, else the filter, else the command.
    Close,
    Show(View),
    Next,
    Previous,
    Up,
    Down,
    PageUp,
    PageDown,
    First,
    Last,
    Sort,
    Pause,
    Help,
    /// A filter is typed from now on.
    Filter,
    Type(char),
    Erase,
    Typed,
    Forget,
}

/// A key's meaning beyond [`Action`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Does(Action),
    /// Ctrl-Z.
    Suspend,
    /// Ctrl-L: draw everything anew.
    Redraw,
}

/// Lines of the help: keys, and what they do.
pub(super) const HELP: [(&str, &str); 12] = [
    ("1 2 3 4, Tab", "workers, classes, events, queue"),
    ("↑ ↓, k j", "scroll by a line"),
    ("PgUp PgDn, b f", "scroll by a page"),
    ("Home End, g G", "to the first or the last line"),
    ("s", "change the order of rows"),
    ("/", "show only rows with a text; Enter keeps it, Esc clears it"),
    ("space", "pause and resume"),
    ("Ctrl-L", "draw everything anew"),
    ("Ctrl-Z", "suspend; `fg` resumes"),
    ("?", "this help"),
    ("q, Ctrl-C", "quit"),
    ("Esc", "close the help or the filter, otherwise quit"),
];

/// `None` for keys without a meaning. While a filter is typed, letters are part of it.
pub(super) fn meaning(key: &KeyEvent, is_typing: bool) -> Option<Key> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    let action = if key.modifiers.contains(KeyModifiers::CONTROL) {
        match key.code {
            KeyCode::Char('c' | 'd') => Action::Quit,
            KeyCode::Char('z') => return Some(Key::Suspend),
            KeyCode::Char('l') => return Some(Key::Redraw),
            _ => return None,
        }
    } else if is_typing {
        match key.code {
            KeyCode::Char(letter) => Action::Type(letter),
            KeyCode::Backspace => Action::Erase,
            KeyCode::Enter => Action::Typed,
            KeyCode::Esc => Action::Forget,
            _ => return None,
        }
    } else {
        match key.code {
            KeyCode::Char('q' | 'Q') => Action::Quit,
            KeyCode::Esc => Action::Close,
            KeyCode::Char(digit @ '1'..='4') => Action::Show(View::ALL[digit as usize - '1' as usize]),
            KeyCode::Tab | KeyCode::Right => Action::Next,
            KeyCode::BackTab | KeyCode::Left => Action::Previous,
            KeyCode::Up | KeyCode::Char('k') => Action::Up,
            KeyCode::Down | KeyCode::Char('j') => Action::Down,
            KeyCode::PageUp | KeyCode::Char('b') => Action::PageUp,
            KeyCode::PageDown | KeyCode::Char('f') => Action::PageDown,
            KeyCode::Home | KeyCode::Char('g') => Action::First,
            KeyCode::End | KeyCode::Char('G') => Action::Last,
            KeyCode::Char('s') => Action::Sort,
            KeyCode::Char(' ') => Action::Pause,
            KeyCode::Char('?' | 'h') => Action::Help,
            KeyCode::Char('/') => Action::Filter,
            _ => return None,
        }
    };
    Some(Key::Does(action))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pressed(code: KeyCode, modifiers: KeyModifiers, is_typing: bool) -> Option<Key> {
        meaning(&KeyEvent::new(code, modifiers), is_typing)
    }

    #[test]
    fn letters_are_text_while_a_filter_is_typed_and_ctrl_c_leaves_even_then() {
        let none = KeyModifiers::NONE;
        assert_eq!(pressed(KeyCode::Char('q'), none, false), Some(Key::Does(Action::Quit)));
        assert_eq!(pressed(KeyCode::Char('q'), none, true), Some(Key::Does(Action::Type('q'))));
        assert_eq!(pressed(KeyCode::Char('c'), KeyModifiers::CONTROL, true), Some(Key::Does(Action::Quit)));
        assert_eq!(pressed(KeyCode::Char('z'), KeyModifiers::CONTROL, false), Some(Key::Suspend));
        assert_eq!(pressed(KeyCode::Char('4'), none, false), Some(Key::Does(Action::Show(View::Queue))));
        assert_eq!(pressed(KeyCode::F(5), none, false), None);
    }

    #[test]
    fn key_that_is_let_go_does_nothing() {
        let release = KeyEvent::new_with_kind(KeyCode::Char('q'), KeyModifiers::NONE, KeyEventKind::Release);
        assert_eq!(meaning(&release, false), None);
    }
}
