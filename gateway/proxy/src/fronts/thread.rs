//! A front's thread and its runtime, and what a front begins with.

use std::io;
use std::sync::Arc;

use sluice_catalog::config::Config;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

use super::outbox::Told;
use super::pages::Unheard;
use super::words::ToFront;
use crate::front::tls::Tls;
use crate::receive::memory::Used;
use crate::receive::spool::TempFiles;
use crate::receive::trust::Trust;

/// What a front begins with.
pub(crate) struct Seed {
    pub(super) number: usize,
    pub(super) config: Config,
    pub(super) trust: Trust,
    pub(super) memory_bytes_max: usize,
    /// Of all threads together.
    pub(super) all_memory_bytes_max: usize,
    pub(super) used: Used,
    pub(super) unheard: Unheard,
    pub(super) files: Arc<TempFiles>,
    pub(super) tls: Option<Arc<Tls>>,
    pub(super) core: UnboundedSender<Told>,
    pub(super) words: UnboundedReceiver<ToFront>,
}

/// # Errors
/// When there is no thread to be had.
#[cfg(not(test))]
pub(super) fn start(seed: Seed) -> io::Result<()> {
    use nix::sys::signal::SigSet;
    use sluice_journal::tasks;
    use tokio::task::{LocalSet, spawn_local};

    use super::front::Front;
    use super::words::ToCore;

    // Work on files is for the threads of the core's runtime, so this one never needs any.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let name = format!("front-{}", seed.number + 1);
    std::thread::Builder::new().name(name.clone()).spawn(move || {
        // Signals are for the main thread.
        let _ = SigSet::all().thread_block();
        let (number, core) = (seed.number, seed.core.clone());
        let local = LocalSet::new();
        let front = tasks::with_faults(name, async { Front::new(seed).run().await });
        let ended = local.block_on(&runtime, async { spawn_local(front).await });
        if ended.is_err() {
            // All its connections are closed before the core hears of it.
            drop(local);
            let _ = core.send((number, vec![ToCore::Ended(tasks::place())]));
        }
    })?;
    Ok(())
}

/// In tests a front is a task on the test's thread and clock: see [`started`].
#[cfg(test)]
#[allow(clippy::unnecessary_wraps, reason = "where there are threads, there may be none to be had")]
pub(super) fn start(seed: Seed) -> io::Result<()> {
    SEEDS.with_borrow_mut(|seeds| seeds.push(seed));
    Ok(())
}

#[cfg(test)]
thread_local! {
    static SEEDS: std::cell::RefCell<Vec<Seed>> = std::cell::RefCell::default();
}

/// The fronts that were started on this thread since this was asked.
#[cfg(test)]
pub(crate) fn started() -> Vec<super::front::Front> {
    SEEDS.take().into_iter().map(super::front::Front::new).collect()
}
