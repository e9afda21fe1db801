//! Arms of experiments, compared by what browsers measured of their pages. It must not know how visitors are allocated.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use sluice_compare::{Arm, ArmTimes, Finding, Measure};

use crate::beacon::{Beacon, Device};
use crate::names::{Names, OTHER, UNUSED};

/// Maximum number of compared experiments.
const EXPERIMENTS_MAX: usize = 16;
/// Maximum number of compared arms of one experiment. Beyond them, one of which no page was made for an hour makes
/// room.
const ARMS_MAX: usize = 8;
/// Maximum number of remembered names of arms that are not compared.
const LEFT_OUT_MAX: usize = 32;
/// Maximum number of distinguished page classes in one experiment.
const CLASSES_MAX: usize = 20;
/// Name of the arm that others are compared with, if there is one.
const CONTROL: &str = "control";
/// Times that are compared.
const MEASURES: [Measure; 3] = [Measure::Paint, Measure::Interactive, Measure::Interaction];
/// Comparisons of an experiment at most, among which the probability of a false alarm is shared.
#[allow(clippy::cast_possible_truncation)] // 21.
const COMPARISONS: u32 = ((ARMS_MAX - 1) * MEASURES.len()) as u32;

/// Comparison of an arm with the baseline of its experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct ArmFindings {
    /// Name of the arm.
    pub name: String,
    /// Page views that browsers have reported.
    pub views: u64,
    /// Findings; none for the baseline.
    pub findings: Vec<Finding>,
}

/// An experiment and its arms.
#[derive(Clone, Debug, PartialEq)]
pub struct ExperimentFindings {
    /// Name of the experiment.
    pub name: String,
    /// Name of the arm that the others are compared with.
    pub baseline: String,
    /// All arms by name.
    pub arms: Vec<ArmFindings>,
    /// Number of further arms that pages had in the last hour, at most 32.
    pub left_out: u64,
}

/// All experiments.
#[derive(Debug, Default)]
pub(crate) struct Experiments {
    experiments: Names<Experiment, EXPERIMENTS_MAX>,
}

#[derive(Debug, Default)]
struct Experiment {
    arms: BTreeMap<String, Views>,
    /// Latest time at which a worker made a page of an arm for which there was no room.
    left_out: BTreeMap<String, Duration>,
    classes: BTreeSet<String>,
}

/// Views of an arm, and their times beside those of the baseline.
#[derive(Debug)]
struct Views {
    count: u64,
    times: [ArmTimes; MEASURES.len()],
    /// Latest time at which a worker made a page of it.
    used: Duration,
}

impl Default for Views {
    fn default() -> Self {
        let times = MEASURES.map(|measure| ArmTimes::new(measure, COMPARISONS));
        Views { count: 0, times, used: Duration::ZERO }
    }
}

impl Experiments {
    /// A worker has made pages with this label, `experiment:arm`.
    pub(crate) fn known(&mut self, label: &str, now: Duration) {
        let Some((name, arm)) = label.split_once(':') else { return };
        if !self.experiments.has(name, now) {
            return;
        }
        let experiment = self.experiments.used(name, now);
        experiment.left_out.retain(|_, used| now.saturating_sub(*used) < UNUSED);
        if let Some(views) = experiment.arms.get_mut(arm) {
            views.used = now;
            return;
        }
        let before = experiment.baseline().map(str::to_owned);
        if experiment.arms.len() == ARMS_MAX && !experiment.makes_room(now) {
            if experiment.left_out.len() < LEFT_OUT_MAX || experiment.left_out.contains_key(arm) {
                experiment.left_out.insert(arm.to_owned(), now);
            }
            return;
        }
        experiment.left_out.remove(arm);
        experiment.arms.insert(arm.to_owned(), Views { used: now, ..Views::default() });
        if experiment.baseline() != before.as_deref() {
            // The others have been compared with another arm.
            for views in experiment.arms.values_mut() {
                *views = Views { count: views.count, used: views.used, ..Views::default() };
            }
        }
    }

    /// A browser has measured a page with this label; `class` is that of the page.
    pub(crate) fn measured(&mut self, label: &str, beacon: &Beacon, class: &str) {
        let Some((name, arm)) = label.split_once(':') else { return };
        // A robot is no visitor.
        if beacon.device == Device::Bot || self.experiments.name_of(name) == OTHER {
            return;
        }
        self.experiments.found(name).measured(arm, beacon, class);
    }

    /// Findings on all experiments.
    pub(crate) fn findings(&self) -> Vec<ExperimentFindings> {
        let named = self.experiments.iter().filter(|(name, _)| *name != OTHER);
        named.filter_map(|(name, experiment)| experiment.findings(name)).collect()
    }
}

impl Experiment {
    /// The arm that the others are compared with.
    fn baseline(&self) -> Option<&str> {
        let control = self.arms.get_key_value(CONTROL).or_else(|| self.arms.first_key_value());
        control.map(|(name, _)| name.as_str())
    }

    fn makes_room(&mut self, now: Duration) -> bool {
        let longest =
            self.arms.iter().min_by_key(|(_, views)| views.used).map(|(arm, views)| (arm.clone(), views.used));
        let unused = longest.filter(|(_, used)| now.saturating_sub(*used) >= UNUSED);
        unused.is_some_and(|(arm, _)| self.arms.remove(&arm).is_some())
    }

    fn measured(&mut self, arm: &str, beacon: &Beacon, class: &str) {
        let is_known = self.classes.contains(class);
        if !is_known && self.classes.len() < CLASSES_MAX {
            self.classes.insert(class.to_owned());
        }
        let class = if self.classes.contains(class) { class } else { OTHER };
        let class = format!("{} {class}", beacon.device.as_str());
        let is_baseline = self.baseline() == Some(arm);
        let Some(views) = self.arms.get_mut(arm) else { return };
        views.count += 1;
        let values = [beacon.lcp_ms, beacon.tti_ms, beacon.inp_ms];
        let take = |views: &mut Views, of: Arm| {
            for (times, ms) in views.times.iter_mut().zip(values) {
                if let Some(ms) = ms {
                    times.take(of, &class, ms);
                }
            }
        };
        if !is_baseline {
            return take(views, Arm::Trial);
        }
        for (_, views) in self.arms.iter_mut().filter(|(name, _)| *name != arm) {
            take(views, Arm::Present);
        }
    }

    fn findings(&self, name: &str) -> Option<ExperimentFindings> {
        let baseline = self.baseline()?;
        let of = |(arm, views): (&String, &Views)| {
            let times = views.times.iter().filter(|_| arm != baseline);
            // A time that no browser measures is not told.
            let findings = times.map(ArmTimes::finding).filter(|finding| finding.change.is_some()).collect();
            ArmFindings { name: arm.clone(), views: views.count, findings }
        };
        let arms = self.arms.iter().map(of).collect();
        let left_out = self.left_out.len() as u64;
        Some(ExperimentFindings { name: name.to_owned(), baseline: baseline.to_owned(), arms, left_out })
    }
}

#[cfg(test)]
mod tests {
    use sluice_compare::Verdict;

    use super::*;

    const NOW: Duration = Duration::from_secs(60);

    fn beacon(device: &str, lcp_ms: u32) -> Beacon {
        let text = format!(r#"{{"v":1,"device":"{device}","lcp_ms":{lcp_ms}}}"#);
        Beacon::parse(text.as_bytes()).unwrap()
    }

    fn views(experiments: &mut Experiments, label: &str, count: u32, lcp_ms: u32) {
        for view in 0..count {
            let noise = view * 37 % 50;
            experiments.measured(label, &beacon("mobile", lcp_ms * (75 + noise) / 100), "GET /");
        }
    }

    #[test]
    fn each_arm_is_compared_with_control_and_the_verdict_is_sure() {
        let mut experiments = Experiments::default();
        for label in ["card:big", "card:control", "card:small", "hero:a"] {
            experiments.known(label, NOW);
        }
        for _ in 0..60 {
            views(&mut experiments, "card:control", 30, 2_000);
            views(&mut experiments, "card:big", 20, 3_000);
            views(&mut experiments, "card:small", 10, 2_000);
        }
        let findings = experiments.findings();
        let [card, hero] = findings.as_slice() else { panic!("{findings:?}") };
        assert_eq!((card.name.as_str(), card.baseline.as_str(), hero.baseline.as_str()), ("card", "control", "a"));
        let counts: Vec<_> = card.arms.iter().map(|arm| (arm.name.as_str(), arm.views, arm.findings.len())).collect();
        assert_eq!(counts, [("big", 1200, 1), ("control", 1800, 0), ("small", 600, 1)]);
        let [big, _, small] = card.arms.as_slice() else { panic!("{card:?}") };
        assert_eq!((big.findings[0].measure, big.findings[0].verdict), (Measure::Paint, Verdict::Worse));
        assert!(big.findings[0].sure > 0.999, "{big:?}");
        assert_ne!(small.findings[0].verdict, Verdict::Worse);
    }

    #[test]
    fn a_baseline_that_is_named_later_begins_the_comparison_again() {
        let mut experiments = Experiments::default();
        experiments.known("card:big", NOW);
        experiments.known("card:small", NOW);
        for _ in 0..60 {
            views(&mut experiments, "card:big", 20, 3_000);
            views(&mut experiments, "card:small", 20, 2_000);
        }
        assert_eq!(experiments.findings()[0].arms[1].findings[0].verdict, Verdict::Better, "small against big");
        experiments.known("card:control", NOW);
        let card = &experiments.findings()[0];
        assert_eq!((card.baseline.as_str(), card.arms[2].views), ("control", 1200));
        assert!(card.arms.iter().all(|arm| arm.findings.is_empty()), "{card:?}");
    }

    #[test]
    fn an_arm_that_no_page_has_any_more_makes_room_for_a_new_one() {
        let mut experiments = Experiments::default();
        for arm in ["a", "b", "c", "d", "e", "f", "g", "h"] {
            experiments.known(&format!("card:{arm}"), NOW);
        }
        for arm in ["a", "b", "d", "e", "f", "g", "h", "new"] {
            experiments.known(&format!("card:{arm}"), NOW + UNUSED / 2);
        }
        let names = |experiments: &Experiments| {
            experiments.findings()[0].arms.iter().map(|arm| arm.name.clone()).collect::<Vec<_>>().concat()
        };
        assert_eq!(names(&experiments), "abcdefgh", "each was used in the last hour");
        let left_out = |experiments: &Experiments| experiments.findings()[0].left_out;
        assert_eq!(left_out(&experiments), 1, "a user hears of the ninth");
        for _ in 0..60 {
            views(&mut experiments, "card:a", 20, 3_000);
            views(&mut experiments, "card:b", 20, 2_000);
        }
        experiments.known("card:new", NOW + UNUSED);
        experiments.known("card:newer", NOW + UNUSED);
        assert_eq!(names(&experiments), "abdefghnew", "the one unused for longest has gone");
        assert_eq!(left_out(&experiments), 1, "newer is left out, new is compared");
        assert_eq!(experiments.findings()[0].arms[1].findings[0].verdict, Verdict::Better, "others are still compared");
        for arm in ["b", "d", "e", "f", "g", "h", "new", "newer"] {
            experiments.known(&format!("card:{arm}"), NOW + UNUSED * 2);
        }
        let card = &experiments.findings()[0];
        assert_eq!((card.baseline.as_str(), card.arms[0].views, card.left_out), ("b", 1_200, 0));
        assert!(card.arms.iter().all(|arm| arm.findings.is_empty()), "the baseline has gone: {card:?}");
    }

    #[test]
    fn i6_browsers_add_no_arm_and_workers_a_bounded_number() {
        let mut experiments = Experiments::default();
        experiments.known("card:a", NOW);
        experiments.known("no label", NOW);
        views(&mut experiments, "card:forged", 100, 9_000);
        views(&mut experiments, "forged:a", 100, 9_000);
        experiments.measured("card:a", &beacon("bot", 9_000), "GET /");
        let findings = experiments.findings();
        assert_eq!(findings.len(), 1);
        assert_eq!((findings[0].arms.len(), findings[0].arms[0].views), (1, 0));
        for number in 0..1_000 {
            experiments.known(&format!("card:a{number}"), NOW);
            experiments.known(&format!("e{number}:a"), NOW);
            experiments.measured("card:a", &beacon("mobile", 9_000), &format!("GET /{number}"));
        }
        let findings = experiments.findings();
        assert_eq!((findings.len(), findings[0].arms.len()), (EXPERIMENTS_MAX, ARMS_MAX));
        assert_eq!(findings[0].left_out, LEFT_OUT_MAX as u64);
        assert_eq!(experiments.experiments.found("card").classes.len(), CLASSES_MAX);
    }
}
