//! Comparison of two versions of an app that serve at the same time: the present one, and one on trial.
//!
//! [`Comparison::take`] gets samples of requests, and [`Comparison::findings`] says for each measure whether the version on trial is
//! better or worse, by how much, and how sure that is. The findings hold however often somebody looks, because every test is
//! an e-process. Under the null hypothesis its mean is always 1 at most, so it exceeds 1/α with a probability of α at most (Ville's
//! inequality).
//!
//! - `times`: CPU time and service time, stratified by class, robust against heavy tails, visitors and drift
//! - `events`: failures, deaths of workers and holes in pages
//! - `heap`: growth of heaps, which has too few workers for a test and therefore never turns a version back
//! - `html`: pages of both versions, which never decide anything
//! - `rule`: what follows from the findings
//! - `arms`: two arms of an experiment, by times that browsers measured
//! - `spans`: two spans of time one after the other, where nothing served beside the other
//!
//! Memory is bounded: moments for each of at most [`CLASSES_MAX`] classes.

#![forbid(unsafe_code)]

mod arms;
mod events;
mod heap;
mod html;
mod normal;
mod rule;
mod spans;
mod times;
mod visitors;

use std::time::Duration;

pub use arms::ArmTimes;
use events::{Events, Limits};
use heap::Heaps;
pub use html::{PageDifference, PageVerdict, compare_pages};
pub use rule::{Rule, Ruling};
pub use spans::{Counted, LikeForLike, REQUESTS_MIN, SHARE_MIN, Spent, compare_shares, like_for_like};
use times::{Taken, Times};
use visitors::Visitors;

/// Maximum number of compared classes. Requests of further ones are left out.
pub const CLASSES_MAX: usize = 512;
/// First requests of a worker that are left out, because its code is not compiled yet.
pub const WARM_UP_REQUESTS: u64 = 100;
/// The same of each class in a worker.
pub const WARM_UP_OF_CLASS: u64 = 8;

/// Visitors of the version on trial with failures that it takes to turn it back.
pub const VISITORS_MIN: u32 = 5;

/// Version that a visitor gets, and that a request or a worker is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arm {
    /// The version in force.
    Present,
    /// The version on trial.
    Trial,
}

/// Measure of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Measure {
    /// CPU time of a request.
    Cpu,
    /// Time in the worker, without the wait in the queue.
    Service,
    /// Share of requests that failed: 5xx, or no answer.
    Failures,
    /// Deaths of workers per request.
    Deaths,
    /// Share of renders that left a hole in their page.
    Holes,
    /// Heap in use after garbage collection.
    Heap,
    /// Largest contentful paint of a page view.
    Paint,
    /// Time until a page's components answered.
    Interactive,
    /// Slowest interaction of a page view, to the next paint.
    Interaction,
}

impl Measure {
    /// Name for people and programs.
    pub fn name(self) -> &'static str {
        match self {
            Measure::Cpu => "CPU time",
            Measure::Service => "service time",
            Measure::Failures => "failures",
            Measure::Deaths => "worker deaths",
            Measure::Holes => "holes in pages",
            Measure::Heap => "heap",
            Measure::Paint => "largest contentful paint",
            Measure::Interactive => "time to interactive",
            Measure::Interaction => "interaction to next paint",
        }
    }

    /// Whether changes are differences between shares, not ratios.
    pub fn is_share(self) -> bool {
        matches!(self, Measure::Failures | Measure::Deaths | Measure::Holes)
    }
}

/// Result of a comparison for one measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Surely better.
    Better,
    /// No difference that matters.
    Equal,
    /// Neither, because too little is known.
    Unknown,
    /// Surely worse, by more than two processes of one version differ.
    Worse,
}

/// Change from the present version to the one on trial: relative for times and heaps (0.1 is 10 % more), a difference of shares for
/// others. The interval always holds with a probability of 99 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Estimate.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

/// Result for one measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Finding {
    /// The measure.
    pub measure: Measure,
    /// Verdict.
    pub verdict: Verdict,
    /// Change, if both versions have samples. Of one class if that one alone made it worse.
    pub change: Option<Change>,
    /// Confidence in a difference, from 0 to 1: 1 minus the two-sided p-value that always holds.
    pub sure: f64,
}

/// One request that has ended.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// Version that served it.
    pub arm: Arm,
    /// Class of the request.
    pub class: &'a str,
    /// Visitor, if known.
    pub visitor: Option<u64>,
    /// Whether all requests of this visitor go to one version.
    pub stays: bool,
    /// Number of requests that its worker has ended before it.
    pub nth: u64,
    /// The same of this class.
    pub nth_of_class: u64,
    /// CPU time, microseconds, if known.
    pub cpu_us: Option<u64>,
    /// Time in the worker, microseconds; `None` for a stream.
    pub service_us: Option<u64>,
    /// Whether it failed.
    pub failed: bool,
}

/// Comparison of two versions.
#[derive(Debug)]
pub struct Comparison {
    cpu: Times,
    service: Times,
    failures: Events,
    deaths: Events,
    holes: Events,
    heaps: Heaps,
    visitors: Visitors,
    requests: [u64; 2],
    warming: [u64; 2],
}

impl Default for Comparison {
    fn default() -> Self {
        // Probabilities of a false alarm: 0.7 % together, of which service time only asks for a person.
        Comparison {
            cpu: Times::new(0.002, CPU_MARGIN),
            service: Times::new(0.0015, SERVICE_MARGIN),
            failures: Events::new(Limits { alpha: 0.0015, weight: 1.0, margin: 0.002, visitors: VISITORS_MIN }),
            deaths: Events::new(Limits { alpha: 0.001, weight: 1.0, margin: 0.0, visitors: 0 }),
            // A page may have several holes for one cause, so they count half.
            holes: Events::new(Limits { alpha: 0.001, weight: 0.5, margin: 0.002, visitors: 0 }),
            heaps: Heaps::default(),
            visitors: Visitors::default(),
            requests: [0; 2],
            warming: [0; 2],
        }
    }
}

/// Difference of CPU time between two processes of one version that chance explains, as a ratio: compiled code differs.
const CPU_MARGIN: f64 = 0.02;
/// The same for service time, which depends on the neighbours of a process too.
const SERVICE_MARGIN: f64 = 0.05;

impl Comparison {
    /// Takes a request that has ended.
    pub fn take(&mut self, sample: &Sample<'_>) {
        let Sample { arm, class, visitor, stays, nth, nth_of_class, cpu_us, service_us, failed } = *sample;
        self.requests[arm as usize] += 1;
        self.failures.request(arm, class, visitor, failed);
        self.deaths.requests(arm, "", 1);
        if nth < WARM_UP_REQUESTS || nth_of_class < WARM_UP_OF_CLASS {
            self.warming[arm as usize] += 1;
            return;
        }
        // The time of an error says nothing of the page.
        if !failed {
            // Where both versions serve a visitor, requests do not differ by whose they are.
            let visitor = visitor.filter(|_| stays);
            let weight = visitor.map_or(1.0, |visitor| self.visitors.weigh(visitor));
            let taken = Taken { arm, visitor, weight };
            if let Some(us) = cpu_us {
                self.cpu.take(&taken, class, us);
            }
            if let Some(us) = service_us {
                self.service.take(&taken, class, us);
            }
        }
    }

    /// Takes the death of a worker that was not asked to stop.
    pub fn died(&mut self, arm: Arm) {
        self.deaths.events(arm, "", 1);
    }

    /// Takes renders of a component, some of which left a hole.
    pub fn rendered(&mut self, arm: Arm, component: &str, renders: u64, holes: u64) {
        self.holes.requests(arm, component, renders);
        self.holes.events(arm, component, holes.min(renders));
    }

    /// Forgets the heap of a worker that has gone.
    pub fn exited(&mut self, worker: u64) {
        self.heaps.exited(worker);
    }

    /// Takes a reading of a worker's heap, so long after the start of the trial.
    pub fn heap(&mut self, at: Duration, arm: Arm, worker: u64, used_bytes: u64) {
        self.heaps.take(at, arm, worker, used_bytes);
    }

    /// Requests of this version so far.
    pub fn requests(&self, arm: Arm) -> u64 {
        self.requests[arm as usize]
    }

    /// Requests of this version that were compared.
    pub fn compared(&self, arm: Arm) -> u64 {
        self.requests[arm as usize] - self.warming[arm as usize]
    }

    /// Whether the version on trial has so many more failures or holes that it should not pass by itself, though that is no evidence.
    pub fn fails_more(&self) -> bool {
        self.failures.are_apart() || self.holes.are_apart()
    }

    /// Whether requests of any version had this time.
    pub(crate) fn has_times(&self, measure: Measure) -> bool {
        match measure {
            Measure::Cpu => self.cpu.has_any(),
            Measure::Service => self.service.has_any(),
            _ => false,
        }
    }

    /// Requests that were left out because their worker was new.
    pub fn warming(&self, arm: Arm) -> u64 {
        self.warming[arm as usize]
    }

    /// Classes that only this version has seen, of those with a hundred requests.
    pub fn only_of(&self, arm: Arm) -> Vec<&str> {
        self.failures.only_of(arm, 100)
    }

    /// Findings now, one for each measure.
    pub fn findings(&self) -> [Finding; 6] {
        [
            self.cpu.finding(Measure::Cpu),
            self.service.finding(Measure::Service),
            self.failures.finding(Measure::Failures),
            self.deaths.finding(Measure::Deaths),
            self.holes.finding(Measure::Holes),
            self.heaps.finding(),
        ]
    }
}

/// Confidence in a difference by the evidence for either direction.
fn sure(worse: f64, better: f64) -> f64 {
    1.0 - (2.0 / worse.max(better).max(1.0)).min(1.0)
}
