//! Flame graphs for the dashboard. A process of its own (`sluice draw-flame`) reads the profile and its source maps, so that requests do
//! not wait for that; its memory goes with it.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use sluice_catalog::profiles::{ProfileFile, Tail};
use sluice_catalog::refusals::FlameError;
use sluice_supervisor::own_program;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

/// Time limit for drawing a flame graph, seconds.
const DRAWING_S_MAX: u64 = 90;
/// Maximum size of a flame graph for a browser, bytes.
const BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Maximum stored size of the process's error text, bytes.
const WORDS_BYTES_MAX: u64 = 500;

/// Draws one after the other.
pub struct Flames {
    turn: Semaphore,
}

impl Default for Flames {
    fn default() -> Self {
        Self { turn: Semaphore::new(1) }
    }
}

impl Flames {
    /// Draws the flame graph of what workers have written, and deletes that.
    pub async fn of_workers(&self, taken: Vec<ProfileFile>) -> Result<Vec<u8>, FlameError> {
        let _raw = taken.iter().find_map(Raw::of);
        self.draw(&taken).await
    }

    /// Draws the flame graph of a slow request. Its profile stays.
    pub async fn of_tail(&self, tail: Tail) -> Result<Vec<u8>, FlameError> {
        self.draw(&[tail.into()]).await
    }

    async fn draw(&self, taken: &[ProfileFile]) -> Result<Vec<u8>, FlameError> {
        // These types have string keys and plain values.
        let named = serde_json::to_vec(taken).unwrap_or_default();
        let _turn = self.turn.acquire().await;
        let drawing = timeout(Duration::from_secs(DRAWING_S_MAX), run(&named));
        drawing.await.unwrap_or(Err(FlameError::TooLong(DRAWING_S_MAX)))
    }
}

async fn run(named: &[u8]) -> Result<Vec<u8>, FlameError> {
    let mut command = Command::new(own_program().map_err(FlameError::Process)?);
    // It ends by itself as well, should this gateway be killed.
    command.arg("draw-flame").arg((DRAWING_S_MAX + 5).to_string());
    let mut group = Group::start(&mut command).map_err(FlameError::Process)?;
    let child = &mut group.0;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(mut stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else {
        return Err(FlameError::Process(io::ErrorKind::BrokenPipe.into()));
    };
    let told = async move {
        // Should it read nothing, it says why.
        let _ = stdin.write_all(named).await;
    };
    let ((), drawn, words) = tokio::join!(told, some(stdout, BYTES_MAX + 1), some(stderr, WORDS_BYTES_MAX));
    let drawn = drawn.map_err(FlameError::Process)?;
    if drawn.len() as u64 > BYTES_MAX {
        return Err(FlameError::TooLarge(BYTES_MAX));
    }
    match child.wait().await.map_err(FlameError::Process)? {
        status if status.success() => Ok(drawn),
        status => {
            let words = words.unwrap_or_default();
            let words = String::from_utf8_lossy(&words);
            let words = words.trim();
            Err(FlameError::Said(if words.is_empty() { status.to_string() } else { words.to_owned() }))
        }
    }
}

/// A process and what it has started, such as the reader of source maps. They go with this value.
struct Group(Child);

impl Group {
    fn start(command: &mut Command) -> io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.process_group(0).kill_on_drop(true).spawn().map(Self)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // None once it has been waited for: its number may be another's then.
        if let Some(pid) = self.0.id().and_then(|pid| i32::try_from(pid).ok()) {
            let _ = killpg(Pid::from_raw(pid), Signal::SIGKILL);
        }
    }
}

/// The first bytes; the pipe is closed then.
async fn some(pipe: impl AsyncRead + Unpin, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut read = Vec::new();
    pipe.take(bytes_max).read_to_end(&mut read).await?;
    Ok(read)
}

/// The directory that workers have written profiles into. It goes with the value.
struct Raw(PathBuf);

impl Raw {
    fn of(taken: &ProfileFile) -> Option<Self> {
        let has_file = taken.error.is_none();
        Path::new(&taken.file).parent().filter(|_| has_file).map(|dir| Self(dir.to_owned()))
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        let dir = std::mem::take(&mut self.0);
        drop(spawn_blocking(move || std::fs::remove_dir_all(dir)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_a_drawing_process_has_started_goes_with_it() {
        let mut command = Command::new("sh");
        let mut group = Group::start(command.args(["-c", "sleep 1000 & echo started; wait"])).unwrap();
        let mut stdout = group.0.stdout.take().unwrap();
        assert_eq!(stdout.read_u8().await.unwrap(), b's');
        drop(group);
        // Its end is that of the last process that has the pipe.
        assert_eq!(some(stdout, 100).await.unwrap(), b"tarted\n");
    }
}
