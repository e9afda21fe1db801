//! Two arms of an experiment that visitors have at the same time, by one time that browsers measured.

use crate::times::Times;
use crate::{Arm, Finding, Measure};

/// Probability of any false alarm in an experiment.
const ALPHA: f64 = 0.01;
/// Difference that does not matter to visitors, as a ratio.
const MARGIN: f64 = 0.02;

/// Comparison of an arm ([`Arm::Trial`]) with the baseline of its experiment ([`Arm::Present`]).
#[derive(Debug)]
pub struct ArmTimes {
    measure: Measure,
    times: Times,
}

impl ArmTimes {
    /// Creates a comparison by this measure, as one of so many of the experiment.
    pub fn new(measure: Measure, of: u32) -> Self {
        ArmTimes { measure, times: Times::new(ALPHA / f64::from(of.max(1)), MARGIN) }
    }

    /// Takes the time of a page view, milliseconds. Views are compared with those of their class only.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Positive, and an hour at most.
    pub fn take(&mut self, arm: Arm, class: &str, ms: f64) {
        // A browser's visitor is not known: each view is one.
        self.times.take_view(arm, class, (ms * 1000.0) as u64);
    }

    /// Finding on the arm's times now.
    pub fn finding(&self) -> Finding {
        self.times.finding(self.measure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    /// Views of two classes, with times that vary by half.
    fn compared(trial: f64) -> Finding {
        let mut times = ArmTimes::new(Measure::Paint, 6);
        for view in 0..4_000_u32 {
            let (arm, factor) = if view % 3 == 0 { (Arm::Trial, trial) } else { (Arm::Present, 1.0) };
            let (class, ms) = if view % 2 == 0 { ("GET / mobile", 2_000.0) } else { ("GET / desktop", 800.0) };
            times.take(arm, class, ms * factor * (0.75 + f64::from(view * 37 % 50) / 100.0));
        }
        times.finding()
    }

    #[test]
    fn an_arm_that_is_slower_or_faster_is_told_with_its_interval() {
        let slower = compared(1.2);
        assert_eq!((slower.verdict, slower.measure), (Verdict::Worse, Measure::Paint));
        assert!(slower.change.is_some_and(|change| change.low < 0.2 && 0.2 < change.high), "{slower:?}");
        assert_eq!(compared(0.8).verdict, Verdict::Better);
    }

    #[test]
    fn arms_that_are_alike_and_arms_with_few_views_are_no_verdict() {
        let alike = compared(1.0);
        assert!(matches!(alike.verdict, Verdict::Equal | Verdict::Unknown), "{alike:?}");
        let mut few = ArmTimes::new(Measure::Interactive, 1);
        for view in 0..60 {
            few.take(if view % 2 == 0 { Arm::Trial } else { Arm::Present }, "GET /", f64::from(1 + view % 2 * 900));
        }
        assert_eq!((few.finding().verdict, few.finding().change), (Verdict::Unknown, None));
    }
}
