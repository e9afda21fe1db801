//! Writing a command's result to standard output.

use std::io::{self, Write};
use std::process::ExitCode;

use crate::exit::Exit;

/// Writes all of it. A reader that has seen enough (`| head`) is no failure.
pub fn print(text: &str) -> ExitCode {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Exit::Ok.into(),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Ok.into(),
        Err(error) => Exit::Failed.because(format_args!("standard output: {error}")),
    }
}
