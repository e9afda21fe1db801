//! What is known of a worker's process, by those who ask for it.

use std::collections::BTreeMap;
use std::time::Duration;

use sluice_catalog::refusals::ProfileError;
use sluice_scheduler::RequestId;
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
    /// CPU time of the main thread since the first look, microseconds.
    pub(crate) fn used_us(&self) -> Option<u64> {
        Some(self.recent.sample?.cpu_us.saturating_sub(self.first.sample?.cpu_us))
    }

    /// CPU time of the main thread since the first look, in cores; `None` where the looks do not say.
    pub(crate) fn cores(&self) -> Option<f64> {
        let elapsed = self.recent.at.saturating_duration_since(self.first.at);
        let used = Duration::from_micros(self.used_us()?);
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

/// How long after an exception its process may take to end of it: handlers of the app write logs first. One that ends later
/// has survived it.
pub(crate) const THREW_TIMEOUT: Duration = Duration::from_secs(10);

/// An exception that nothing in the app caught.
#[derive(Clone, Debug)]
pub(crate) struct Threw {
    pub(crate) at: Instant,
    /// Its first line.
    pub(crate) text: String,
    /// The request that was served just then, where that is known.
    pub(crate) request: Option<RequestId>,
}

/// CPU time of a process of which no request was told yet, microseconds: what it has used since its last beat, and what ended
/// requests have used of that.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Unreported {
    beat_us: u64,
    used_us: u64,
    told_us: u64,
}

impl Unreported {
    /// It beats, with what it has used since its start.
    pub(crate) fn beat(&mut self, total_us: u64) {
        *self = Self { beat_us: total_us, used_us: total_us, told_us: 0 };
    }

    /// It has used so much since its start.
    pub(crate) fn used(&mut self, total_us: u64) {
        self.used_us = self.used_us.max(total_us);
    }

    /// It has used so much since its last beat.
    pub(crate) fn used_since(&mut self, more_us: u64) {
        self.used(self.beat_us.saturating_add(more_us));
    }

    /// A request that has ended has used so much.
    pub(crate) fn told(&mut self, cpu_us: u64) {
        self.told_us = self.told_us.saturating_add(cpu_us);
    }

    pub(crate) fn left(&self) -> Duration {
        Duration::from_micros(self.used_us.saturating_sub(self.beat_us).saturating_sub(self.told_us))
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
    fn cpu_time_since_the_last_beat_is_told_of_no_request_but_those_that_have_ended() {
        let mut unreported = Unreported::default();
        unreported.told(900);
        unreported.beat(5_000);
        assert_eq!(unreported.left(), Duration::ZERO);
        unreported.told(300);
        unreported.used(9_000);
        unreported.used(7_000);
        assert_eq!(unreported.left(), Duration::from_micros(3_700));
        unreported.told(10_000);
        assert_eq!(unreported.left(), Duration::ZERO);
    }

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
