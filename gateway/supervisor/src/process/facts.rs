//! Facts about a worker's process that several modules use.

use std::collections::BTreeMap;
use std::time::Duration;

use sluice_catalog::refusals::ProfileError;
use sluice_scheduler::RequestId;
use tokio::time::Instant;

use crate::control::ProfileRecord;
use crate::sample::Sample;

/// A sample of the main thread of a late worker.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub(crate) at: Instant,
    pub(crate) sample: Option<Sample>,
}

/// The samples of a worker since its last report, for comparison.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Track {
    pub(crate) first: Look,
    /// Sample with which the latest one is compared for the present activity.
    pub(crate) recent: Look,
    /// Sample since which it may be in trouble.
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

impl Trouble {
    pub(crate) fn silent_ms(&self) -> u64 {
        u64::try_from(self.silent.as_millis()).unwrap_or(u64::MAX)
    }
}

/// A thread's use of the CPU in some time, microseconds; `None` where the system does not report it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CpuUse {
    pub(crate) cpu_us: Option<u64>,
    /// Time for which it was ready to run while no CPU was free.
    pub(crate) queued_us: Option<u64>,
}

impl CpuUse {
    /// Use between two samples, of which `elapsed` is the longest plausible time.
    pub(crate) fn between(earlier: Sample, later: Sample, elapsed: Duration) -> Self {
        let elapsed_us = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
        let cpu_us = later.cpu_us.saturating_sub(earlier.cpu_us).min(elapsed_us);
        let wanted_us = later.wanted_us.saturating_sub(earlier.wanted_us).min(elapsed_us);
        let is_exact = earlier.is_exact && later.is_exact;
        CpuUse { cpu_us: Some(cpu_us), queued_us: is_exact.then(|| wanted_us.saturating_sub(cpu_us)) }
    }
}

/// A problem of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trouble {
    /// Time since its last report.
    pub(crate) silent: Duration,
    /// Use of the CPU by its main thread in that time.
    pub(crate) used: CpuUse,
    pub(crate) kind: TroubleKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TroubleKind {
    /// The main thread uses CPU.
    Stuck,
    /// The main thread waits.
    Blocked,
}

/// A period in which a worker's silence means nothing, because it was asked for something that may block it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Excuse {
    given: Instant,
    pub(crate) until: Instant,
}

/// Silence before the request from which a worker counts as blocked already.
const SILENT_BEFORE_MAX: Duration = Duration::from_millis(1500);

impl Excuse {
    /// Creates an excuse for a worker whose last report came at `heard`. Each report allows only one, so that repeated
    /// requests cannot hide a worker that hangs.
    pub(crate) fn new(heard: Instant, before: Option<Self>, now: Instant, longest: Duration) -> Option<Self> {
        let had_one = before.is_some_and(|before| before.given >= heard);
        let is_silent = now.saturating_duration_since(heard) >= SILENT_BEFORE_MAX;
        (!had_one && !is_silent).then(|| Self { given: now, until: now + longest })
    }
}

/// Maximum time between an exception and the exit that it causes. Handlers of the app write logs first. If the
/// process ends later, it has survived the exception.
pub(crate) const THREW_TIMEOUT: Duration = Duration::from_secs(10);

/// An exception that nothing in the app caught.
#[derive(Clone, Debug)]
pub(crate) struct Threw {
    pub(crate) at: Instant,
    /// First line of the exception.
    pub(crate) text: String,
    /// Request that was being served at that moment, if known.
    pub(crate) request: Option<RequestId>,
}

/// CPU time of a process that no report has attributed to a request, microseconds: its use since its last beat, less
/// that of ended requests.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct UnreportedCpu {
    beat_us: u64,
    used_us: u64,
    told_us: u64,
}

impl UnreportedCpu {
    /// Records a beat, with the CPU time since the start.
    pub(crate) fn beat(&mut self, total_us: u64) {
        *self = Self { beat_us: total_us, used_us: total_us, told_us: 0 };
    }

    /// Records the CPU time since the start.
    pub(crate) fn used(&mut self, total_us: u64) {
        self.used_us = self.used_us.max(total_us);
    }

    /// Records the CPU time since the last beat.
    pub(crate) fn used_since(&mut self, more_us: u64) {
        self.used(self.beat_us.saturating_add(more_us));
    }

    /// Records the CPU time of a request that has ended.
    pub(crate) fn told(&mut self, cpu_us: u64) {
        self.told_us = self.told_us.saturating_add(cpu_us);
    }

    pub(crate) fn left(&self) -> Duration {
        Duration::from_micros(self.used_us.saturating_sub(self.beat_us).saturating_sub(self.told_us))
    }
}

/// A question to a preload, and its answer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ProfileQuestion {
    /// Time of the question, if it is unanswered.
    pub(crate) at: Option<Instant>,
    /// Latest answer, until it is used.
    pub(crate) said: Option<Sample>,
}

/// Number of renders by `@sluice/react`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Renders {
    /// Number of all requested renders.
    pub renders: u64,
    /// Number of renders that fell back to react-dom, by reason.
    pub reasons: BTreeMap<String, u64>,
}

/// A worker's answer to a request for a profile.
pub(crate) type Answer = Result<ProfileRecord, ProfileError>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_since_the_last_beat_is_told_of_no_request_but_those_that_have_ended() {
        let mut unreported = UnreportedCpu::default();
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
