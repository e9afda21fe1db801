//! Events that some requests have: failures, holes, deaths of workers.
//!
//! Under the null hypothesis a visitor with an event in a class is of the version on trial with the probability of that version's share of
//! the class's visitors. The number of events does not matter. So an outage of a backend, which hits both, says nothing. The first event of each
//! visitor is a bet on a higher share, and the wealth of a mixture of bets is the e-process. It is as good as its share: that one is
//! estimated, from the first request of each visitor in the class.
//!
//! Changes are of all requests and all events, also those that are no evidence.

use std::collections::{HashMap, HashSet};

use crate::normal::radius;
use crate::{Arm, CLASSES_MAX, Change, Finding, Measure, Verdict, sure};

/// Ratios of the versions' rates on which is bet, of which the first ones are for more events.
const RATIOS: [f64; 10] = [1.5, 2.0, 3.0, 5.0, 8.0, 15.0, 40.0, 0.67, 0.4, 0.15];
/// Number of ratios for more events.
const WORSE: usize = 7;
/// Visitors after which a visitor counts a third in the share of its class.
const RECENT: f64 = 500.0;
/// Visitors that the share of all classes counts as, in the share of one.
const PRIOR: f64 = 20.0;
/// Maximum number of remembered visitors with events. All are forgotten at once when there are more.
const CASES_MAX: usize = 4_096;
/// Maximum number of remembered pairs of a visitor and a class. All are forgotten at once when there are more.
const FIRSTS_MAX: usize = 65_536;
/// Difference between shares below which two versions count as equal.
const ALIKE: f64 = 0.01;
/// Differences between shares at which a version does not pass by itself, also without evidence. The second one is of a class in which
/// the version on trial had so many events.
const APART: f64 = 0.01;
const APART_OF_CLASS: f64 = 0.05;
const EVENTS_OF_CLASS: f64 = 5.0;
/// Requests at which the interval is narrowest for their number, divided by 13.
const RHO: f64 = 80.0;

/// Conditions of a test for calling a version worse.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Probability of a false alarm.
    pub alpha: f64,
    /// Weight of an event in the evidence, at most 1.
    pub weight: f64,
    /// Difference between shares that is too small to matter.
    pub margin: f64,
    /// Visitors of the version on trial that must have had an event.
    pub visitors: u32,
}

#[derive(Debug, Default)]
struct Class {
    requests: [f64; 2],
    events: [f64; 2],
    /// Visitors of late, by their first requests.
    recent: [f64; 2],
    /// Logarithms of the wealth of bets, of this class alone.
    wealth: [f64; RATIOS.len()],
    /// Weight of the class among those with events: half for the first, a sixth for the second, a twelfth and so on. The sum is 1.
    part: f64,
    /// Visitors of the version on trial with events.
    visitors: u32,
}

#[derive(Debug)]
pub(crate) struct Events {
    limits: Limits,
    classes: HashMap<Box<str>, Class>,
    all: Class,
    /// Classes with events.
    ranked: u32,
    cases: HashSet<u64>,
    firsts: HashSet<u64>,
}

impl Events {
    pub(crate) fn new(limits: Limits) -> Self {
        Events {
            limits,
            classes: HashMap::new(),
            all: Class::default(),
            ranked: 0,
            cases: HashSet::new(),
            firsts: HashSet::new(),
        }
    }

    pub(crate) fn request(&mut self, arm: Arm, class: &str, visitor: Option<u64>, is_event: bool) {
        let in_class = visitor.map(|visitor| class.bytes().fold(visitor, |hash, byte| mix(hash ^ u64::from(byte))));
        let is_first = is_new(&mut self.firsts, FIRSTS_MAX, in_class);
        self.count(arm, class, 1, is_first);
        if is_event {
            let is_case = is_new(&mut self.cases, CASES_MAX, visitor);
            self.happened(arm, class, 1, is_case);
        }
    }

    pub(crate) fn requests(&mut self, arm: Arm, class: &str, count: u64) {
        self.count(arm, class, count, true);
    }

    pub(crate) fn events(&mut self, arm: Arm, class: &str, count: u64) {
        self.happened(arm, class, count, true);
    }

    fn count(&mut self, arm: Arm, class: &str, count: u64, is_first: bool) {
        self.all.count(arm, count, is_first);
        if let Some(class) = self.class(class) {
            class.count(arm, count, is_first);
        }
    }

    #[allow(clippy::cast_precision_loss)] // Far below 2^53.
    fn happened(&mut self, arm: Arm, class: &str, count: u64, is_case: bool) {
        if count == 0 {
            return;
        }
        let (of_all, weight, ranked) = (self.all.share(), self.limits.weight, self.ranked);
        let Some(class) = self.class(class) else { return };
        class.events[arm as usize] += count as f64;
        let mut is_ranked = false;
        let share = class.share_near(of_all);
        if is_case {
            if class.part <= 0.0 {
                class.part = 1.0 / (f64::from(ranked + 1) * f64::from(ranked + 2));
                is_ranked = true;
            }
            class.bet(arm, share, count as f64 * weight);
        }
        self.ranked += u32::from(is_ranked);
        self.all.events[arm as usize] += count as f64;
        if is_case {
            self.all.bet(arm, share, count as f64 * weight);
        }
    }

    fn class(&mut self, name: &str) -> Option<&mut Class> {
        if !self.classes.contains_key(name) {
            if self.classes.len() >= CLASSES_MAX {
                return None;
            }
            self.classes.insert(name.into(), Class::default());
        }
        self.classes.get_mut(name)
    }

    pub(crate) fn only_of(&self, arm: Arm, min: u32) -> Vec<&str> {
        let other = 1 - arm as usize;
        let is_only = |class: &Class| class.requests[other] <= 0.0 && class.requests[arm as usize] >= f64::from(min);
        let mut names: Vec<&str> =
            self.classes.iter().filter(|(_, class)| is_only(class)).map(|(name, _)| &**name).collect();
        names.sort_unstable();
        names
    }

    pub(crate) fn finding(&self, measure: Measure) -> Finding {
        let Some(mut change) = self.change() else {
            return Finding { measure, verdict: Verdict::Unknown, change: None, sure: 0.0 };
        };
        let Limits { alpha, margin, visitors, .. } = self.limits;
        // Half of the wealth bets on all classes alike, half on single ones.
        let single = |of: fn(&Class) -> f64| self.classes.values().map(|class| class.part * of(class)).sum::<f64>();
        let worse = f64::midpoint(self.all.worse(), single(Class::worse));
        let better = f64::midpoint(self.all.better(), single(Class::better));
        let is_worse = worse >= 1.0 / alpha && change.value > margin && self.all.visitors >= visitors;
        let worst = self.classes.values().filter(|class| class.visitors >= visitors);
        let worst = worst.filter(|class| class.part * class.worse() / 2.0 >= 1.0 / alpha);
        let worst = worst.filter_map(Class::change).filter(|change| change.value > margin);
        let verdict = if is_worse {
            Verdict::Worse
        } else if let Some(worst) = worst.max_by(|a, b| a.value.total_cmp(&b.value)) {
            change = worst;
            Verdict::Worse
        } else if better >= 1.0 / alpha && change.value < -margin {
            Verdict::Better
        } else if change.low > -ALIKE && change.high < ALIKE {
            Verdict::Equal
        } else {
            Verdict::Unknown
        };
        Finding { measure, verdict, change: Some(change), sure: sure(worse, better) }
    }

    /// Whether the version on trial has so many more events that a person should look, though they may all be of one visitor.
    pub(crate) fn are_apart(&self) -> bool {
        let is_apart = |class: &Class| {
            class.events[Arm::Trial as usize] >= EVENTS_OF_CLASS
                && class.change().is_some_and(|change| change.value > APART_OF_CLASS)
        };
        self.change().is_some_and(|change| change.value > APART) || self.classes.values().any(is_apart)
    }

    /// Difference of the shares, class by class (Mantel and Haenszel).
    fn change(&self) -> Option<Change> {
        let (mut sum, mut weight) = (0.0, 0.0);
        for Class { requests: [present, trial], events, .. } in self.classes.values() {
            let all = present + trial;
            if *present > 0.0 && *trial > 0.0 {
                sum += (events[1] * present - events[0] * trial) / all;
                weight += present * trial / all;
            }
        }
        self.all.interval(sum, weight)
    }
}

impl Class {
    #[allow(clippy::cast_precision_loss)] // Far below 2^53.
    fn count(&mut self, arm: Arm, count: u64, is_first: bool) {
        let count = count as f64;
        self.requests[arm as usize] += count;
        if is_first {
            let fade = (-count / RECENT).exp();
            self.recent.iter_mut().for_each(|recent| *recent *= fade);
            self.recent[arm as usize] += count;
        }
    }

    /// Share of the version on trial in the recent visitors.
    fn share(&self) -> f64 {
        let [present, trial] = self.recent;
        if present + trial > 0.0 { trial / (present + trial) } else { 0.5 }
    }

    /// The same, near the share of all classes as long as little is known of this one.
    fn share_near(&self, of_all: f64) -> f64 {
        let [present, trial] = self.recent;
        ((trial + PRIOR * of_all) / (present + trial + PRIOR)).clamp(1e-4, 1.0 - 1e-4)
    }

    fn bet(&mut self, arm: Arm, share: f64, weight: f64) {
        self.visitors += u32::from(arm == Arm::Trial);
        for (wealth, ratio) in self.wealth.iter_mut().zip(RATIOS) {
            let odds = if arm == Arm::Trial { ratio } else { 1.0 };
            *wealth += weight * (odds / (1.0 - share + share * ratio)).ln();
        }
    }

    /// Wealth of the bets on more events.
    fn worse(&self) -> f64 {
        mean_wealth(&self.wealth[..WORSE])
    }

    /// Wealth of the bets on fewer events.
    fn better(&self) -> f64 {
        mean_wealth(&self.wealth[WORSE..])
    }

    fn change(&self) -> Option<Change> {
        let ([present, trial], events) = (self.requests, self.events);
        let all = (present + trial).max(1.0);
        self.interval((events[1] * present - events[0] * trial) / all, present * trial / all)
    }

    fn interval(&self, sum: f64, weight: f64) -> Option<Change> {
        if weight <= 0.0 {
            return None;
        }
        // One event more on each side, so that none in a few requests is not taken for certainty.
        let share = |arm: usize| ((self.events[arm] + 1.0) / (self.requests[arm] + 2.0)).min(1.0);
        let spread = (share(0) * (1.0 - share(0))).max(share(1) * (1.0 - share(1))).sqrt();
        let (value, apart) = (sum / weight, spread * radius(weight, RHO, 0.01) / weight);
        Some(Change { value, low: value - apart, high: value + apart })
    }
}

fn mean_wealth(logs: &[f64]) -> f64 {
    let count = u32::try_from(logs.len()).map_or(1.0, f64::from);
    logs.iter().map(|log| log.min(700.0).exp()).sum::<f64>() / count
}

/// Whether this one has not been seen. One without a number is always new.
fn is_new(seen: &mut HashSet<u64>, max: usize, one: Option<u64>) -> bool {
    let Some(one) = one else { return true };
    if seen.len() >= max {
        seen.clear();
    }
    seen.insert(one)
}

fn mix(hash: u64) -> u64 {
    (hash.wrapping_mul(0x9E37_79B9_7F4A_7C15)).rotate_left(29)
}
