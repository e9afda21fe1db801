//! The threads for what blocks: files, names of hosts, source maps. All that are needed exist before anything is served and
//! never end. Later there may be none to be had, where a limit on processes is full, and then work waits for one of these.

use std::io;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use nix::sys::signal::SigSet;
use tokio::runtime::{Builder, Runtime};

/// Threads that exist from the start.
const THREADS_MIN: usize = 4;
/// Maximum number of threads for blocking work.
const THREADS_MAX: usize = 16;
/// Longer than any gateway runs.
const FOR_EVER: Duration = Duration::from_secs(100 * 365 * 86_400);
/// Maximum time until a started thread runs.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum wait at the end for blocking work. A network file system may hang.
const END_TIMEOUT: Duration = Duration::from_secs(1);

/// The operating system does not give the threads.
#[derive(Debug, thiserror::Error)]
#[error(
    "{THREADS_MIN} threads for files cannot be started: {0}. Raise the limit on processes (pids.max of the cgroup, ulimit -u)"
)]
pub struct ThreadsRefused(#[from] io::Error);

/// Ends the runtime, without waiting for work that hangs.
pub fn end(runtime: Runtime) {
    runtime.shutdown_timeout(END_TIMEOUT);
}

pub fn runtime() -> Result<Runtime, ThreadsRefused> {
    // With threads of our own first: where it gets not one, tokio panics.
    let tried: io::Result<Vec<_>> = (0..THREADS_MIN).map(|_| held_thread()).collect();
    let (holds, threads): (Vec<_>, Vec<_>) = tried?.into_iter().unzip();
    drop(holds);
    for thread in threads {
        let _ = thread.join();
    }
    // Signals are for the main thread: what another one were told could be lost when the shepherd takes its place.
    let runtime = Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(THREADS_MAX)
        .thread_keep_alive(FOR_EVER)
        .on_thread_start(|| {
            let _ = SigSet::all().thread_block();
        })
        .build()?;
    let (here, arrived) = mpsc::channel();
    let holds: Vec<mpsc::Sender<()>> = (0..THREADS_MIN)
        .map(|_| {
            let (hold, held) = mpsc::channel::<()>();
            let here = here.clone();
            runtime.spawn_blocking(move || {
                let _ = here.send(());
                let _ = held.recv();
            });
            hold
        })
        .collect();
    // All at once, so that each is a thread of its own.
    for _ in 0..THREADS_MIN {
        arrived.recv_timeout(START_TIMEOUT).map_err(|_| io::Error::from(io::ErrorKind::WouldBlock))?;
    }
    drop(holds);
    Ok(runtime)
}

/// A thread that ends when the sender is dropped.
fn held_thread() -> io::Result<(mpsc::Sender<()>, thread::JoinHandle<()>)> {
    let (hold, held) = mpsc::channel::<()>();
    let thread = thread::Builder::new().stack_size(64 * 1024).spawn(move || {
        let _ = held.recv();
    })?;
    Ok((hold, thread))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_does_not_wait_for_a_file_system_that_hangs() {
        let runtime = runtime().unwrap();
        let (release, hung) = mpsc::channel::<()>();
        let (begun, begins) = mpsc::channel();
        runtime.spawn_blocking(move || {
            let _ = begun.send(());
            let _ = hung.recv();
        });
        begins.recv().unwrap();
        end(runtime);
        assert!(release.send(()).is_ok(), "the work still hangs, and its thread is left to the end of the process");
    }
}
