//! Whether somebody still reads what a command prints: a program at the other end of a pipe, or a terminal. A command that waits asks
//! this, because its next write, which would fail, may never come.

use std::io::{self, IsTerminal as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// Interval of looks at a terminal that does not report its end by itself.
const ASK_EVERY: Duration = Duration::from_secs(1);

/// Waits until something can be read from `input`. False where nobody reads `output` any more, which ends the wait.
pub fn waits_for(input: BorrowedFd<'_>, output: BorrowedFd<'_>) -> io::Result<bool> {
    let was_terminal = output.is_terminal();
    loop {
        let mut watched = [PollFd::new(input, PollFlags::POLLIN), PollFd::new(output, PollFlags::empty())];
        polled(&mut watched)?;
        let [of_input, of_output] = watched.map(|one| one.revents().unwrap_or(PollFlags::empty()));
        if is_end(of_output) || was_terminal && !output.is_terminal() {
            return Ok(false);
        }
        if !of_input.is_empty() {
            return Ok(true);
        }
    }
}

/// Waits for a second. Whether the terminal behind standard input and output has been closed, which ends the wait.
pub fn terminal_closes() -> bool {
    let (input, output) = (io::stdin(), io::stdout());
    let mut watched = [input.as_fd(), output.as_fd()].map(|one| PollFd::new(one, PollFlags::empty()));
    let is_broken = polled(&mut watched).is_err();
    let has_ended = watched.iter().any(|one| one.revents().is_some_and(is_end));
    is_broken || has_ended || !input.is_terminal() || !output.is_terminal()
}

fn polled(watched: &mut [PollFd<'_>]) -> io::Result<()> {
    let timeout = PollTimeout::try_from(ASK_EVERY).unwrap_or(PollTimeout::MAX);
    match poll(watched, timeout) {
        Ok(_) | Err(Errno::EINTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn is_end(events: PollFlags) -> bool {
    events.intersects(PollFlags::POLLHUP | PollFlags::POLLERR)
}
