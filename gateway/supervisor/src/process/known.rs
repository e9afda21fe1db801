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

impl Track {
    /// CPU time of the main thread since the first look, in cores; `None` where the looks do not say.
    pub(crate) fn cores(&self) -> Option<f64> {
        let elapsed = self.recent.at.saturating_duration_since(self.first.at);
        let (first, recent) = (self.first.sample?, self.recent.sample?);
        let used = Duration::from_micros(recent.cpu_us.saturating_sub(first.cpu_us));
        (!elapsed.is_zero()).then(|| used.as_secs_f64() / elapsed.as_secs_f64())
    }
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

/// The worker was asked for what it may have to stand still for, so its silence means nothing for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Excuse {
    given: Instant,
    pub(crate) until: Instant,
}

/// A worker that has not said anything for so long may hang, whatever it is asked for.
const SILENT_BEFORE_MAX: Duration = Duration::from_millis(1500);

impl Excuse {
    /// An excuse for a worker that was heard then. There is one for each word, so that nobody who asks again and again hides that
    /// the worker hangs.
    pub(crate) fn new(heard: Instant, before: Option<Self>, now: Instant, longest: Duration) -> Option<Self> {
        let had_one = before.is_some_and(|before| before.given >= heard);
        let is_silent = now.saturating_duration_since(heard) >= SILENT_BEFORE_MAX;
        (!had_one && !is_silent).then(|| Self { given: now, until: now + longest })
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_that_hangs_is_not_excused_however_often_it_is_asked() {
        let (start, longest) = (Instant::now(), Duration::from_secs(30));
        let at = |ms| start + Duration::from_millis(ms);
        let first = Excuse::new(start, None, at(1499), longest);
        assert_eq!(first, Some(Excuse { given: at(1499), until: at(31_499) }));
        assert_eq!(Excuse::new(start, None, at(1500), longest), None, "it was silent before");
        assert_eq!(Excuse::new(start, first, at(1499), longest), None, "it has said nothing since");
        assert!(Excuse::new(at(1600), first, at(1700), longest).is_some(), "it has spoken since");
    }
}
