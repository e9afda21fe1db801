//! Lines on the standard output and the standard error. Either may be closed or full, which ends no run.

use std::io::{ErrorKind, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

static HAS_FAILED: AtomicBool = AtomicBool::new(false);

/// Writes a line to the standard error, if that takes it.
pub fn tell(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// Writes to the standard output. Says once on the standard error that it cannot be written, but not where a reader has closed it.
pub fn print(text: &str) {
    let mut output = std::io::stdout().lock();
    if let Err(error) = output.write_all(text.as_bytes()).and_then(|()| output.flush())
        && !HAS_FAILED.swap(true, Ordering::Relaxed)
        && error.kind() != ErrorKind::BrokenPipe
    {
        tell(&format!("sluice-player: the standard output cannot be written: {error}"));
    }
}

/// Whether the standard output did not take all.
pub fn has_failed() -> bool {
    HAS_FAILED.load(Ordering::Relaxed)
}
