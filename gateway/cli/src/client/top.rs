//! `sluice top`: the table of `status`, again and again, in place.
//!
//! Plain escape sequences do: no size of the terminal is needed, as lines are cut by the terminal itself and those that do
//! not fit end up on its last row. Without a terminal it prints the table once per interval.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr};
use tokio::time::Instant;

use super::connect::{ClientError, Gateway};
use super::status::table;
use crate::args::TopArgs;
use crate::exit::Exit;

/// Other screen, no cursor, no wrapping of long lines.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[?7l";
const LEAVE: &str = "\x1b[?7h\x1b[?25h\x1b[?1049l";
/// What a terminal sends for Ctrl-C and Ctrl-D when it does not make a signal or an end of them.
const CTRL_C: u8 = 3;
const CTRL_D: u8 = 4;

pub fn run(args: &TopArgs) -> Result<ExitCode, ClientError> {
    let interval = Duration::from_millis(args.interval_ms);
    let mut gateway = Gateway::connect(&args.run_dir)?;
    let ended = if io::stdin().is_terminal() && io::stdout().is_terminal() {
        on_terminal(&mut gateway, interval)
    } else {
        in_lines(&mut gateway, interval, &mut io::stdout().lock())
    };
    match ended {
        // It was there a moment ago; what matters is that it no longer is.
        Err(ClientError::Gone(run_dir)) => Err(ClientError::NotRunning(run_dir)),
        ended => ended,
    }
}

fn in_lines(gateway: &mut Gateway, interval: Duration, out: &mut impl Write) -> Result<ExitCode, ClientError> {
    loop {
        let text = table(&gateway.status()?);
        out.write_all(text.as_bytes())
            .and_then(|()| out.write_all(b"\n"))
            .and_then(|()| out.flush())
            .map_err(ClientError::Output)?;
        thread::sleep(interval);
    }
}

fn on_terminal(gateway: &mut Gateway, interval: Duration) -> Result<ExitCode, ClientError> {
    let _screen = Screen::enter().map_err(ClientError::Output)?;
    loop {
        draw(&frame(&table(&gateway.status()?))).map_err(ClientError::Output)?;
        if wants_to_leave(interval).map_err(ClientError::Output)? {
            return Ok(Exit::Ok.into());
        }
    }
}

/// One picture. Each line goes to its own row by number, so that nothing scrolls.
fn frame(text: &str) -> String {
    let mut frame = String::new();
    let mut rows = 0;
    // Writing to a String cannot fail.
    for line in text.lines().chain(["", "q leaves"]) {
        rows += 1;
        let _ = write!(frame, "\x1b[{rows};1H{line}\x1b[K");
    }
    let _ = write!(frame, "\x1b[{};1H\x1b[J", rows + 1);
    frame
}

fn draw(frame: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(frame.as_bytes())?;
    out.flush()
}

/// Waits for the interval, or for somebody to press a key that ends it all.
fn wants_to_leave(interval: Duration) -> io::Result<bool> {
    let deadline = Instant::now() + interval;
    let stdin = io::stdin();
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX);
        let mut ready = [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)];
        match poll(&mut ready, timeout) {
            Ok(0) => return Ok(false),
            Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
            Ok(_) => {
                let mut keys = [0; 64];
                // Past Rust's own buffer, as what is in there would not show up in poll.
                let count = nix::unistd::read(stdin.as_fd(), &mut keys)?;
                if count == 0 || keys[..count].iter().any(|key| matches!(key, b'q' | b'Q' | &CTRL_C | &CTRL_D)) {
                    return Ok(true);
                }
            }
        }
    }
}

/// The terminal as this command needs it; it is put back when the value goes, and when a signal ends the process.
struct Screen {
    before: Termios,
}

impl Screen {
    fn enter() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let screen = Self { before: before.clone() };
        restore_on_signals(before.clone())?;
        let mut raw = before;
        raw.local_flags.remove(LocalFlags::ICANON | LocalFlags::ECHO | LocalFlags::ISIG);
        tcsetattr(io::stdin(), SetArg::TCSANOW, &raw)?;
        draw(ENTER)?;
        Ok(screen)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore(&self.before);
    }
}

fn restore(before: &Termios) {
    // Both as far as possible: the terminal may be gone.
    let _ = draw(LEAVE);
    let _ = tcsetattr(io::stdin(), SetArg::TCSANOW, before);
}

/// A thread that waits for the signals that would end the process with the terminal as it is.
fn restore_on_signals(before: Termios) -> io::Result<()> {
    let mut signals = SigSet::empty();
    for signal in [Signal::SIGTERM, Signal::SIGHUP, Signal::SIGINT, Signal::SIGQUIT] {
        signals.add(signal);
    }
    signals.thread_block()?;
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        if let Ok(signal) = signals.wait() {
            restore(&before);
            std::process::exit(128 + signal as i32);
        }
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::status::tests::snapshot;
    use crate::client::tests_support::FakeGateway;

    #[test]
    fn without_a_terminal_the_table_is_printed_again_and_again() {
        let status = serde_json::json!({"ok": true, "status": snapshot()}).to_string();
        let fake = FakeGateway::answering_each(&[&status, &status]);
        let mut out = Vec::new();
        // The fake gateway closes at the third question.
        let error = in_lines(&mut fake.connect(), Duration::from_millis(1), &mut out).unwrap_err();
        assert!(matches!(error, ClientError::Gone(_)), "{error}");
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.matches("CURRENT REQUEST").count(), 2);
        assert!(!text.contains('\x1b'));
    }

    #[test]
    fn a_frame_puts_every_line_on_its_row_and_clears_the_rest() {
        assert_eq!(
            frame("one\ntwo\n"),
            "\x1b[1;1Hone\x1b[K\x1b[2;1Htwo\x1b[K\x1b[3;1H\x1b[K\x1b[4;1Hq leaves\x1b[K\x1b[5;1H\x1b[J"
        );
    }
}
