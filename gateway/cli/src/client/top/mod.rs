//! `sluice top`: what the gateway and its workers do, live. Without a terminal it prints one frame.
//!
//! An answer of the gateway goes into `data`, a key into `state`, and `draw` makes a screen of both; none of these knows the terminal.

mod data;
mod draw;
mod feed;
pub(super) mod header;
mod input;
mod plain;
mod segments;
mod state;
mod table;
mod terminal;
#[cfg(test)]
mod tests;
pub(super) mod text;
pub(super) mod theme;
mod trends;
pub(super) mod views;

use std::ffi::OsStr;
use std::io::{self, IsTerminal as _};
use std::process::ExitCode;
use std::sync::mpsc::TryRecvError;
use std::time::Duration;

use tokio::time::Instant;

use ratatui::crossterm::event::{self, Event};
use ratatui::crossterm::terminal::size;
use sluice_admin::protocol::HistoryCursor;

use super::connect::{ClientError, Gateway};
use super::reader;
use crate::args::TopArgs;
use crate::exit::Exit;
use crate::output;
use data::Data;
use feed::{Feed, News};
use input::Key;
use state::State;
use terminal::Screen;
use theme::Theme;

pub use views::View;

/// Longest wait of a key or an answer for the other.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Time that the command waits for another gateway after the exit of one. Supervisors start one sooner.
const NEXT_GATEWAY_TIMEOUT: Duration = Duration::from_secs(10);
/// Columns where nobody says how many there are.
const COLUMNS: u16 = 80;
/// Narrower ones make no difference.
const COLUMNS_MIN: u16 = 60;

pub fn run(args: &TopArgs) -> Result<ExitCode, ClientError> {
    let mut gateway = Gateway::connect(&args.run_dir)?;
    let first = feed::ask(&mut gateway, HistoryCursor::default())?;
    let has_colour = !args.no_color && is_unset("NO_COLOR");
    let mut state = State::new(Data::new(first), args.view, Theme::new(has_colour));
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    if args.once || is_dumb || !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Ok(output::print(&plain::frame(&mut state, columns(), Instant::now())));
    }
    let screen = Screen::enter().map_err(ClientError::Output)?;
    // After the screen, which blocks signals for the threads to come.
    let interval = Duration::from_millis(args.interval_ms);
    let feed = Feed::start(args.run_dir.clone(), gateway, state.data().seen, interval).map_err(ClientError::Output)?;
    match on_terminal(&mut state, screen, &feed) {
        // A frame may fail before the signal of the terminal's end comes.
        Err(ClientError::Output(_)) if reader::terminal_closes() => Ok(terminal::HUNG_UP.into()),
        ended => ended,
    }
}

fn is_unset(name: &str) -> bool {
    std::env::var_os(name).is_none_or(|value| value.is_empty())
}

/// `COLUMNS`, else those of the terminal, else 80.
fn columns() -> u16 {
    let said = std::env::var_os("COLUMNS").as_deref().and_then(OsStr::to_str).and_then(|text| text.parse().ok());
    let of_terminal = || io::stdout().is_terminal().then(|| size().ok().map(|(columns, _)| columns)).flatten();
    said.or_else(of_terminal).unwrap_or(COLUMNS).max(COLUMNS_MIN)
}

fn on_terminal(state: &mut State, mut screen: Screen, feed: &Feed) -> Result<ExitCode, ClientError> {
    let mut has_changed = true;
    let mut missing_since = None;
    let mut drawn = Instant::now();
    loop {
        // Ages grow even where nothing comes.
        if has_changed || drawn.elapsed() >= Duration::from_secs(1) {
            let now = Instant::now();
            screen
                .draw(|frame| draw::draw(state, frame.area(), frame.buffer_mut(), now))
                .map_err(ClientError::Output)?;
            (has_changed, drawn) = (false, now);
        }
        if event::poll(LOOK_EVERY).map_err(ClientError::Output)? {
            has_changed = true;
            if let Event::Key(key) = event::read().map_err(ClientError::Output)? {
                match input::meaning(&key, state.is_typing) {
                    Some(Key::Does(action)) if !state.apply(action) => return Ok(Exit::Ok.into()),
                    Some(Key::Suspend) => Screen::suspend(),
                    Some(Key::Redraw) => screen.redraw(),
                    _ => {}
                }
            }
        }
        loop {
            match feed.news.try_recv() {
                Ok(News::Answer(watched)) => {
                    missing_since = None;
                    state.update(*watched);
                }
                Ok(News::Lost(why)) => {
                    let now = Instant::now();
                    state.lose(&why.to_string(), now);
                    let ClientError::NotRunning(_) = why else { continue };
                    if now.duration_since(*missing_since.get_or_insert(now)) >= NEXT_GATEWAY_TIMEOUT {
                        return Err(why);
                    }
                }
                Err(TryRecvError::Empty) => break,
                // It has panicked, and given the terminal back.
                Err(TryRecvError::Disconnected) => {
                    return Err(ClientError::Output(io::Error::other("the thread that asks has ended")));
                }
            }
            has_changed = true;
        }
    }
}
