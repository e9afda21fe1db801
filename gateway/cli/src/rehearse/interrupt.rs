//! Ctrl-C and SIGTERM: everything that was started is stopped first.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{SigSet, Signal};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::Failure;
use crate::exit::Exit;

/// Longest sleep between two looks.
const NAP: Duration = Duration::from_millis(20);

/// Whether the rehearsal is to end.
#[derive(Clone, Default)]
pub struct Interrupt {
    is_asked: Arc<AtomicBool>,
    notify: Arc<Notify>,
}

impl Interrupt {
    /// Takes both signals from now on. It comes before any other thread.
    pub fn listen() -> Self {
        let interrupt = Self::default();
        let mut signals = SigSet::empty();
        signals.add(Signal::SIGINT);
        signals.add(Signal::SIGTERM);
        if signals.thread_block().is_ok() {
            let told = interrupt.clone();
            thread::spawn(move || {
                if signals.wait().is_ok() {
                    told.is_asked.store(true, Ordering::Release);
                    told.notify.notify_one();
                }
            });
        }
        interrupt
    }

    pub fn is_asked(&self) -> bool {
        self.is_asked.load(Ordering::Acquire)
    }

    /// An error once the rehearsal is to end.
    pub fn check(&self) -> Result<(), Failure> {
        if self.is_asked() { Err(Self::failure()) } else { Ok(()) }
    }

    /// Waits until the rehearsal is to end.
    pub async fn asked(&self) -> Failure {
        self.notify.notified().await;
        Self::failure()
    }

    fn failure() -> Failure {
        Failure::new(Exit::Failed, "interrupted; everything that it started is stopped")
    }

    /// Sleeps, but not beyond the end. Whether time has passed without one.
    pub fn sleep(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        while !self.is_asked() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            thread::sleep(left.min(NAP));
        }
        false
    }
}
