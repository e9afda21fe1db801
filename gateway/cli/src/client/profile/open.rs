//! Opens a page in the user's browser, where there is one.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use tokio::time::Instant;

/// Maximum wait for the command that opens a browser.
const OPENING_TIMEOUT: Duration = Duration::from_secs(3);

/// The program that opens files as the user wants them opened.
const OPENER: &str = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };

/// Opens the page. Returns the outcome, for people.
pub fn open(file: &Path) -> String {
    let spawned =
        Command::new(OPENER).arg(file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) => return format!("no browser was opened ({OPENER}: {error}); open {}", file.display()),
    };
    let end = Instant::now() + OPENING_TIMEOUT;
    while Instant::now() < end {
        match child.try_wait() {
            Ok(Some(status)) if !status.success() => {
                return format!("no browser was opened ({OPENER}: {status}); open {}", file.display());
            }
            Ok(None) => thread::sleep(Duration::from_millis(20)),
            _ => break,
        }
    }
    format!("opened {}", file.display())
}
