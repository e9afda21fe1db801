//! `sluice access hash`: makes a hash from a password of standard input. The password is on no command line, where others
//! could read it, and in no output.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _, Write as _};
use std::process::ExitCode;

use nix::sys::signal::{SigSet, Signal};
use nix::sys::termios::{LocalFlags, SetArg, tcgetattr, tcsetattr};

use crate::args::{AccessAction, AccessArgs};
use crate::exit::Exit;
use crate::output;
use crate::stderr;

/// Maximum length of a password, bytes. Bcrypt reads no more.
const PASSWORD_BYTES_MAX: usize = 72;

/// Reason for the lack of a hash.
#[derive(Debug, thiserror::Error)]
enum HashError {
    #[error("standard input: {0}. Give the password as its first line")]
    Input(#[from] io::Error),
    #[error("the password is empty. Give it as the first line of standard input")]
    Empty,
    #[error("the password has more than {PASSWORD_BYTES_MAX} bytes, and bcrypt reads no more. Choose a shorter one")]
    Long,
    #[error("the password has a control character, which no browser sends. Choose another")]
    Control,
    #[error("the two passwords differ. Try again")]
    Differ,
    #[error("the name {0:?} is empty or has ':' or a control character. Choose another")]
    Name(String),
    #[error("cannot hash the password: {0}")]
    Hash(#[from] bcrypt::BcryptError),
}

pub fn run(args: &AccessArgs) -> ExitCode {
    let AccessAction::Hash = args.action;
    match line(args) {
        Ok(line) => output::print(&line),
        Err(error @ HashError::Hash(_)) => Exit::Failed.because(error),
        Err(error) => Exit::Usage.because(error),
    }
}

fn line(args: &AccessArgs) -> Result<String, HashError> {
    let is_wrong = |name: &&String| name.is_empty() || name.contains(|sign: char| sign == ':' || sign.is_control());
    if let Some(name) = args.name.as_ref().filter(is_wrong) {
        return Err(HashError::Name(name.clone()));
    }
    let hash = bcrypt::hash(checked(password()?)?, args.cost)?;
    Ok(args.name.as_ref().map_or_else(|| format!("{hash}\n"), |name| format!("{name}:{hash}\n")))
}

fn checked(password: String) -> Result<String, HashError> {
    match password.len() {
        0 => Err(HashError::Empty),
        len if len > PASSWORD_BYTES_MAX => Err(HashError::Long),
        _ if password.contains(char::is_control) => Err(HashError::Control),
        _ => Ok(password),
    }
}

fn password() -> Result<String, HashError> {
    if !io::stdin().is_terminal() {
        return Ok(first_line()?);
    }
    let password = asked("Password: ")?;
    if password == asked("Once more: ")? { Ok(password) } else { Err(HashError::Differ) }
}

/// Asks on a terminal, which does not show what is typed. Ctrl-C waits for the end of the line, so that the terminal is left as it was.
fn asked(question: &str) -> io::Result<String> {
    let terminal = io::stdin();
    let shown = tcgetattr(&terminal)?;
    let mut hidden = shown.clone();
    hidden.local_flags.remove(LocalFlags::ECHO);
    stderr::ask(question);
    io::stderr().flush()?;
    let interrupts: SigSet = [Signal::SIGINT, Signal::SIGTERM].into_iter().collect();
    interrupts.thread_block()?;
    tcsetattr(&terminal, SetArg::TCSAFLUSH, &hidden)?;
    let line = first_line();
    tcsetattr(&terminal, SetArg::TCSAFLUSH, &shown)?;
    stderr::say("");
    interrupts.thread_unblock()?;
    line
}

fn first_line() -> io::Result<String> {
    let mut line = String::new();
    io::stdin().lock().take(1_024).read_line(&mut line)?;
    line.truncate(line.trim_end_matches(['\r', '\n']).len());
    Ok(line)
}
