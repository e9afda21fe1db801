//! What is known of a worker's process, by those who ask for it.

use std::collections::BTreeMap;
use std::time::Duration;

use sluice_catalog::refusals::ProfileError;
use tokio::time::Instant;

use crate::control::Taken;
use crate::sample::Sample;

/// A look at the main thread of a worker that is late.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub(crate) at: Instant,
    pub(crate) sample: Option<Sample>,
}

/// The looks at a worker since it was last heard, between which its judges compare.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Track {
    pub(crate) first: Look,
    /// The one with which the latest is compared for what it does right now.
    pub(crate) recent: Look,
    /// The one since which it may be in trouble.
    pub(crate) since: Look,
}

/// What is wrong with a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trouble {
    /// How long nothing had been heard of it.
    pub(crate) silent: Duration,
    pub(crate) kind: TroubleKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TroubleKind {
    /// Its main thread burns CPU.
    Stuck,
    /// Its main thread waits.
    Blocked,
}

/// What a preload was asked.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Asked {
    /// When, if it has not answered since.
    pub(crate) at: Option<Instant>,
    /// Its latest answer, until that is used.
    pub(crate) said: Option<Sample>,
}

/// Renders by `@sluice/react`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Renders {
    /// All that were asked for.
    pub renders: u64,
    /// Those of them that react-dom did, by why.
    pub reasons: BTreeMap<String, u64>,
}

/// What a worker answers to whoever waits for a profile of it.
pub(crate) type Answer = Result<Taken, ProfileError>;
