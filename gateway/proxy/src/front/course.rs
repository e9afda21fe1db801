//! The course of a connection that has become another protocol's: when a byte last went either way, and whether the gateway ends it.
//! It must not know the protocol.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::time::Instant;

use crate::fronts::link::FrontEnd;
use crate::respond::answer::Answer;

/// Whoever looks after the course.
#[derive(Clone, Copy)]
pub(crate) enum Course<'a> {
    Here(&'a Answer),
    /// The core, at the other end.
    Core(&'a FrontEnd, &'a Moved),
}

impl Course<'_> {
    /// A byte has moved.
    pub(super) fn note_moved(&self) {
        match self {
            Course::Here(answer) => answer.last_moved.set(Instant::now()),
            Course::Core(_, moved) => moved.note(),
        }
    }

    /// Waits until the gateway ends it.
    pub(super) async fn closing(&self) {
        match self {
            Course::Here(answer) => answer.closing.wait().await,
            Course::Core(end, _) => end.closing().await,
        }
    }
}

/// When a byte last moved on another thread.
pub(crate) struct Moved {
    began: Instant,
    after_us: AtomicU64,
}

impl Moved {
    pub(crate) fn now() -> Arc<Self> {
        Arc::new(Moved { began: Instant::now(), after_us: AtomicU64::new(0) })
    }

    fn note(&self) {
        let us = u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.after_us.store(us, Ordering::Relaxed);
    }

    pub(crate) fn at(&self) -> Instant {
        self.began + std::time::Duration::from_micros(self.after_us.load(Ordering::Relaxed))
    }
}
