//! Events that some requests have: failures, holes, deaths of workers.
//!
//! Under the null hypothesis an event in a class is of the version on trial with the probability of that version's share of the class's
//! requests, however many events there are. So an outage of a backend, which hits both, says nothing. Each event is a bet on a
//! higher share, and the wealth of a mixture of bets is the e-process: exact for any number of events, also for two.

use std::collections::HashMap;

use crate::normal::radius;
use crate::{Arm, CLASSES_MAX, Change, Finding, Measure, Verdict};

/// Ratios of the versions' rates on which is bet, of which the first ones are for more events.
const RATIOS: [f64; 10] = [1.5, 2.0, 3.0, 5.0, 8.0, 15.0, 40.0, 0.67, 0.4, 0.15];
/// Number of ratios for more events.
const WORSE: usize = 7;
/// Requests after which a request counts half in the share of its class.
const RECENT: f64 = 2_000.0;
/// Requests that the share of all classes counts as, in the share of one.
const PRIOR: f64 = 20.0;
/// Events of one visitor that count: a client that repeats what fails is one case.
const OF_VISITOR_MAX: u8 = 2;
/// Visitors with events that are remembered.
const VISITORS_MAX: usize = 4_096;
/// Difference between shares below which two versions count as equal.
const ALIKE: f64 = 0.01;
/// Requests at which the interval is narrowest for their number, divided by 13.
const RHO: f64 = 80.0;

#[derive(Debug, Default)]
struct Class {
    requests: [f64; 2],
    events: [f64; 2],
    /// Requests of late.
    recent: [f64; 2],
}

#[derive(Debug)]
pub(crate) struct Events {
    alpha: f64,
    /// Weight of an event in the evidence, at most 1.
    weight: f64,
    /// Difference between shares that is too small to matter.
    margin: f64,
    classes: HashMap<Box<str>, Class>,
    all: Class,
    wealth: [f64; RATIOS.len()],
    visitors: HashMap<u64, u8>,
}

impl Events {
    pub(crate) fn new(alpha: f64, weight: f64, margin: f64) -> Self {
        Events {
            alpha,
            weight,
            margin,
            classes: HashMap::new(),
            all: Class::default(),
            wealth: [0.0; RATIOS.len()],
            visitors: HashMap::new(),
        }
    }

    pub(crate) fn request(&mut self, arm: Arm, class: &str, visitor: Option<u64>, is_event: bool) {
        self.requests(arm, class, 1);
        if is_event && visitor.is_none_or(|visitor| self.is_new_case(visitor)) {
            self.events(arm, class, 1);
        }
    }

    fn is_new_case(&mut self, visitor: u64) -> bool {
        if self.visitors.len() >= VISITORS_MAX && !self.visitors.contains_key(&visitor) {
            return true;
        }
        let cases = self.visitors.entry(visitor).or_default();
        *cases = cases.saturating_add(1);
        *cases <= OF_VISITOR_MAX
    }

    #[allow(clippy::cast_precision_loss)] // Far below 2^53.
    pub(crate) fn requests(&mut self, arm: Arm, class: &str, count: u64) {
        self.all.count(arm, count as f64);
        if let Some(class) = self.class(class) {
            class.count(arm, count as f64);
        }
    }

    #[allow(clippy::cast_precision_loss)] // Far below 2^53.
    pub(crate) fn events(&mut self, arm: Arm, class: &str, count: u64) {
        let all = self.all.share();
        let Some(class) = self.class(class) else { return };
        // The share is that of the class, as far as it is known.
        let known = class.recent[0] + class.recent[1];
        let share = (class.recent[Arm::Trial as usize] + PRIOR * all) / (known + PRIOR);
        let share = share.clamp(1e-4, 1.0 - 1e-4);
        class.events[arm as usize] += count as f64;
        self.all.events[arm as usize] += count as f64;
        for (wealth, ratio) in self.wealth.iter_mut().zip(RATIOS) {
            let odds = if arm == Arm::Trial { ratio } else { 1.0 };
            *wealth += count as f64 * self.weight * (odds / (1.0 - share + share * ratio)).ln();
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
        let evidence = |wealth: &[f64]| {
            let count = u32::try_from(wealth.len()).map_or(1.0, f64::from);
            wealth.iter().map(|log| log.min(700.0).exp()).sum::<f64>() / count
        };
        let (worse, better) = (evidence(&self.wealth[..WORSE]), evidence(&self.wealth[WORSE..]));
        let Some(change) = self.change() else {
            return Finding { measure, verdict: Verdict::Unknown, change: None, sure: 0.0 };
        };
        let verdict = if worse >= 1.0 / self.alpha && change.value > self.margin {
            Verdict::Worse
        } else if better >= 1.0 / self.alpha && change.value < -self.margin {
            Verdict::Better
        } else if change.low > -ALIKE && change.high < ALIKE {
            Verdict::Equal
        } else {
            Verdict::Unknown
        };
        Finding { measure, verdict, change: Some(change), sure: 1.0 - 1.0 / worse.max(better).max(1.0) }
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
        if weight <= 0.0 {
            return None;
        }
        // One event more on each side, so that none in a few requests is not taken for certainty.
        let share = |arm: usize| ((self.all.events[arm] + 1.0) / (self.all.requests[arm] + 2.0)).min(1.0);
        let spread = (share(0) * (1.0 - share(0))).max(share(1) * (1.0 - share(1))).sqrt();
        let (value, apart) = (sum / weight, spread * radius(weight, RHO, 0.01) / weight);
        Some(Change { value, low: value - apart, high: value + apart })
    }
}

impl Class {
    fn count(&mut self, arm: Arm, count: f64) {
        let fade = (-count / RECENT).exp();
        self.recent.iter_mut().for_each(|recent| *recent *= fade);
        self.recent[arm as usize] += count;
        self.requests[arm as usize] += count;
    }

    /// Share of the version on trial in the recent requests.
    fn share(&self) -> f64 {
        let [present, trial] = self.recent;
        if present + trial > 0.0 { trial / (present + trial) } else { 0.5 }
    }
}
