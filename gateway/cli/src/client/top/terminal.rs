//! The terminal while `top` has it: the other screen, raw keys, no cursor. It is given back when the value goes, on a panic, on a
//! signal, and for as long as the command is suspended. The command ends with its terminal.

use std::io::{self, Stdout, Write as _, stdout};
use std::panic;
use std::process::exit;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{SigSet, Signal, kill, raise};
use nix::unistd::{Pid, getpgrp, tcgetpgrp};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use ratatui::layout::{Position, Rect};

use crate::client::reader;

/// Maximum wait at the end for an unfinished frame.
const FRAME_TIMEOUT: Duration = Duration::from_millis(200);
/// Exit code when the terminal has been closed, as of SIGHUP.
pub(super) const HUNG_UP: u8 = 128 + Signal::SIGHUP as u8;

/// Signals that end the command, and the one that suspends it.
const ENDS: [Signal; 4] = [Signal::SIGTERM, Signal::SIGHUP, Signal::SIGINT, Signal::SIGQUIT];
const SUSPENDS: Signal = Signal::SIGTSTP;

/// The terminal, drawn on by one thread and given back by any.
pub(super) struct Screen {
    pub(super) terminal: Terminal<CrosstermBackend<Stdout>>,
    shared: Arc<Mutex<TerminalState>>,
}

/// Locked while a frame is drawn and while the command is suspended.
#[derive(Default)]
struct TerminalState {
    /// True after a suspension, when the screen is not ours.
    is_stale: bool,
}

impl Screen {
    pub(super) fn enter() -> io::Result<Self> {
        let shared = Arc::new(Mutex::new(TerminalState::default()));
        // Before the screen changes, so that no signal finds it changed and nobody to give it back.
        watch_signals(Arc::clone(&shared))?;
        watch_terminal(Arc::clone(&shared))?;
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            leave();
            before(panic);
        }));
        let entered = take();
        // Nothing of it stays if only a part could be had.
        let terminal =
            entered.and_then(|()| Terminal::new(CrosstermBackend::new(stdout()))).inspect_err(|_| leave())?;
        Ok(Self { terminal, shared })
    }

    /// Draws, unless the command is being suspended; then it waits.
    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut ratatui::Frame<'_>)) -> io::Result<()> {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::take(&mut shared.is_stale) {
            // `clear` would ask the terminal for the cursor, and wait for an answer that a slow line brings late or never.
            let size = self.terminal.size()?;
            self.terminal.resize(Rect::from((Position::ORIGIN, size)))?;
        }
        self.terminal.draw(draw).map(|_| ())
    }

    /// The next frame is drawn as if nothing were on the screen.
    pub(super) fn redraw(&mut self) {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).is_stale = true;
    }

    /// Ctrl-Z, for all that the shell started together: `npx` waits for us, and the shell for it.
    pub(super) fn suspend() {
        let _ = kill(Pid::from_raw(0), SUSPENDS);
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        leave();
    }
}

fn take() -> io::Result<()> {
    enable_raw_mode()?;
    execute!(stdout(), EnterAlternateScreen, Hide)
}

/// Restores the terminal where possible: it may be gone.
fn leave() {
    let mut out = stdout();
    let _ = execute!(out, Show, LeaveAlternateScreen);
    let _ = out.flush();
    let _ = disable_raw_mode();
}

/// A thread that waits for signals, which all others block.
fn watch_signals(shared: Arc<Mutex<TerminalState>>) -> io::Result<()> {
    let mut signals = SigSet::empty();
    ENDS.into_iter().chain([SUSPENDS]).for_each(|signal| signals.add(signal));
    signals.thread_block()?;
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        while let Ok(signal) = signals.wait() {
            if signal == SUSPENDS {
                suspended(&mut shared.lock().unwrap_or_else(PoisonError::into_inner));
                continue;
            }
            end(&shared, 128 + signal as i32);
        }
    })?;
    Ok(())
}

/// A thread that ends the command with its terminal. A signal tells of that only those whom the terminal controls, and the library that
/// reads keys never returns from a terminal that is gone.
fn watch_terminal(shared: Arc<Mutex<TerminalState>>) -> io::Result<()> {
    thread::Builder::new().name("terminal".to_owned()).spawn(move || {
        let mut was_taken = false;
        loop {
            let is_closed = reader::terminal_closes();
            let is_taken = is_taken();
            // Twice, as a shell that puts the command into the background stops it.
            if is_closed || is_taken && was_taken {
                end(&shared, HUNG_UP.into());
            }
            was_taken = is_taken;
        }
    })?;
    Ok(())
}

/// Whether the terminal is somebody else's by now: the program that started the command, `npx` perhaps, was killed, and the shell has
/// it back.
fn is_taken() -> bool {
    tcgetpgrp(io::stdin()).is_ok_and(|foreground| foreground != getpgrp())
}

/// Gives the terminal back, and ends. A terminal that takes nothing must not keep the command.
fn end(shared: &Arc<Mutex<TerminalState>>, code: i32) -> ! {
    let shared = Arc::clone(shared);
    let (done, is_done) = channel();
    thread::spawn(move || {
        let _held = shared.lock().unwrap_or_else(PoisonError::into_inner);
        leave();
        let _ = done.send(());
    });
    if is_done.recv_timeout(FRAME_TIMEOUT).is_err() {
        // The modes at least, which need nothing to be written.
        let _ = disable_raw_mode();
    }
    exit(code)
}

/// Gives the terminal back, stops, and takes it again when the command is resumed.
fn suspended(shared: &mut TerminalState) {
    leave();
    let mut only = SigSet::empty();
    only.add(SUSPENDS);
    // The kernel stops nobody whom no shell could resume.
    let _ = only.thread_unblock();
    let _ = raise(SUSPENDS);
    let _ = only.thread_block();
    let _ = take();
    shared.is_stale = true;
}
