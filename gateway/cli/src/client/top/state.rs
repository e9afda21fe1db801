//! State of the screen: the data, the view, and how far it is scrolled. Pure: answers and actions go in.

use tokio::time::Instant;

use sluice_admin::protocol::WatchReply;

use super::data::Data;
use super::input::Action;
use super::theme::Theme;
use super::views::View;
use crate::client::top::text::harmless;

/// Maximum length of a filter, characters.
const FILTER_CHARS_MAX: usize = 40;

/// The gateway does not answer.
#[derive(Clone, Debug)]
pub(super) struct Lost {
    pub(super) since: Instant,
    pub(super) why: String,
}

/// The screen's state.
#[derive(Debug)]
pub(super) struct State {
    data: Data,
    /// Data at the moment at which the screen was paused.
    paused: Option<Data>,
    pub(super) lost: Option<Lost>,
    pub(super) view: View,
    pub(super) theme: Theme,
    /// Scroll positions by view.
    pub(super) scroll: [usize; View::ALL.len()],
    sort: [usize; View::ALL.len()],
    /// Rows have it in their text.
    pub(super) filter: String,
    pub(super) is_typing: bool,
    pub(super) has_help: bool,
    /// True without a keyboard: all rows are shown, and no line about keys.
    pub(super) is_plain: bool,
    /// Rows of the view at the last drawing.
    pub(super) page: usize,
}

impl State {
    pub(super) fn new(data: Data, view: View, theme: Theme) -> Self {
        Self {
            data,
            paused: None,
            lost: None,
            view,
            theme,
            scroll: [0; View::ALL.len()],
            sort: [0; View::ALL.len()],
            filter: String::new(),
            is_typing: false,
            has_help: false,
            is_plain: false,
            page: 1,
        }
    }

    pub(super) fn data(&self) -> &Data {
        self.paused.as_ref().unwrap_or(&self.data)
    }

    pub(super) fn is_paused(&self) -> bool {
        self.paused.is_some()
    }

    /// The gateway has answered.
    pub(super) fn update(&mut self, watched: WatchReply) {
        self.lost = None;
        self.data.add(watched);
    }

    /// The gateway does not answer.
    pub(super) fn lose(&mut self, why: &str, now: Instant) {
        let since = self.lost.take().map_or(now, |lost| lost.since);
        self.lost = Some(Lost { since, why: harmless(why) });
    }

    /// The order of rows, of those that the view has.
    pub(super) fn sort(&self) -> usize {
        self.sort[self.view as usize]
    }

    /// Whether a row with this text is shown.
    pub(super) fn wants(&self, text: &str) -> bool {
        self.filter.is_empty() || text.to_lowercase().contains(&self.filter.to_lowercase())
    }

    fn scroll_to(&mut self, at: impl FnOnce(usize) -> usize) {
        let scroll = &mut self.scroll[self.view as usize];
        *scroll = at(*scroll);
    }

    /// Applies a key's action. False if that is to leave.
    pub(super) fn apply(&mut self, action: Action) -> bool {
        let page = self.page.max(1);
        match action {
            Action::Quit => return false,
            Action::Close if self.has_help => self.has_help = false,
            Action::Close if self.filter.is_empty() => return false,
            Action::Close => self.filter.clear(),
            Action::Show(view) => self.view = view,
            Action::Next => self.view = self.view.next(1),
            Action::Previous => self.view = self.view.next(View::ALL.len() - 1),
            Action::Up => self.scroll_to(|at| at.saturating_sub(1)),
            Action::Down => self.scroll_to(|at| at.saturating_add(1)),
            Action::PageUp => self.scroll_to(|at| at.saturating_sub(page)),
            Action::PageDown => self.scroll_to(|at| at.saturating_add(page)),
            Action::First => self.scroll_to(|_| 0),
            Action::Last => self.scroll_to(|_| usize::MAX),
            Action::Sort => {
                let orders = self.view.orders().len().max(1);
                let sort = &mut self.sort[self.view as usize];
                *sort = (*sort + 1) % orders;
            }
            Action::Pause => {
                self.paused = if self.paused.is_some() { None } else { Some(self.data.clone()) };
            }
            Action::Help => self.has_help = !self.has_help,
            Action::Filter => self.is_typing = true,
            Action::Type(letter) if self.filter.chars().count() < FILTER_CHARS_MAX => self.filter.push(letter),
            Action::Type(_) => {}
            Action::Erase => drop(self.filter.pop()),
            Action::Typed => self.is_typing = false,
            Action::Forget => {
                self.is_typing = false;
                self.filter.clear();
            }
        }
        true
    }
}
