//! Two spans of time one after the other, by the time that requests of each class took in parts of them, and by shares of events.
//!
//! - Mix of requests: classes of both spans, weighted as they came before. Another mix is no change.
//! - Noise: the parts of a span, each for all classes, differ by more than chance if the machine, its neighbours or the visitors change. The
//!   variance between parts is that of the mean.
//!
//! What changed with the time, and not with the version, cannot be told from it here. Versions on trial serve at the same time
//! ([`crate::Comparison`]).

use crate::normal::{evidence, radius};
use crate::times::{PROCESSES, RHO};
use crate::{Change, Finding, Measure, Verdict, sure};

/// Requests on both sides from which on a class is compared.
pub const REQUESTS_MIN: u64 = 100;
/// Parts of each span from which the variance between them says something.
const PARTS_MIN: usize = 6;
/// Probability of a false alarm.
const ALPHA: f64 = 0.01;
/// Inverse of the variance of a difference of shares at which its test is most sensitive, divided by 13: for a change of one
/// percentage point beyond the margin.
const RHO_OF_SHARES: f64 = 14_000.0;
/// Share of the CPU time of each side below which the classes that both have say nothing of a budget.
pub const SHARE_MIN: f64 = 0.8;

/// CPU time of a class's requests in a span.
#[derive(Clone, Copy, Debug)]
pub struct Spent<'a> {
    /// Class.
    pub class: &'a str,
    /// Requests.
    pub requests: u64,
    /// Mean CPU time of those where it is known, microseconds.
    pub mean_us: f64,
    /// Parts of the span in the order of time, the same ones for all classes of it: requests with known CPU time, and that time in
    /// microseconds.
    pub parts: &'a [[u64; 2]],
}

/// CPU time of the earlier requests, and what they would take now.
#[derive(Clone, Debug, PartialEq)]
pub struct LikeForLike {
    /// Mean before, microseconds.
    pub before_us: f64,
    /// Mean after, microseconds.
    pub after_us: f64,
    /// Class that makes most of the difference.
    pub most: String,
    /// Shares of the CPU time before and after that the compared classes have, 0 to 1.
    pub shares: [f64; 2],
    /// Variance of the ratio's logarithm; `None` where parts are missing.
    variance: Option<f64>,
}

/// Compares the classes that came often enough in both spans; `None` if there are none.
#[allow(clippy::cast_precision_loss)] // Far below 2^53.
pub fn like_for_like(before: &[Spent<'_>], after: &[Spent<'_>]) -> Option<LikeForLike> {
    let is_frequent = |spent: &Spent<'_>| spent.requests >= REQUESTS_MIN;
    let pairs: Vec<(f64, Spent<'_>, Spent<'_>)> = before
        .iter()
        .filter(|was| is_frequent(was))
        .filter_map(|was| {
            let is = after.iter().find(|is| is.class == was.class && is_frequent(is))?;
            Some((was.requests as f64, *was, *is))
        })
        .collect();
    let requests: f64 = pairs.iter().map(|(weight, ..)| weight).sum();
    let apart = |(weight, was, is): &(f64, Spent<'_>, Spent<'_>)| ((is.mean_us - was.mean_us) * weight).abs();
    let (_, most, _) = pairs.iter().max_by(|one, other| apart(one).total_cmp(&apart(other)))?;
    let mean = |of: fn(&(f64, Spent<'_>, Spent<'_>)) -> f64| pairs.iter().map(|pair| pair.0 * of(pair)).sum::<f64>();
    let (before_us, after_us) = (mean(|pair| pair.1.mean_us) / requests, mean(|pair| pair.2.mean_us) / requests);
    let of_before = variance(pairs.iter().map(|(weight, was, _)| (weight / requests, was)));
    let of_after = variance(pairs.iter().map(|(weight, _, is)| (weight / requests, is)));
    let us = |spent: &Spent<'_>| spent.requests as f64 * spent.mean_us;
    let share = |compared: f64, all: &[Spent<'_>]| {
        let all: f64 = all.iter().map(us).sum();
        if all > 0.0 { compared / all } else { 1.0 }
    };
    let shares = [
        share(pairs.iter().map(|(_, was, _)| us(was)).sum(), before),
        share(pairs.iter().map(|(_, _, is)| us(is)).sum(), after),
    ];
    let square = |mean: f64| (mean * mean).max(f64::MIN_POSITIVE);
    let variance = of_before.zip(of_after).map(|(was, is)| was / square(before_us) + is / square(after_us));
    Some(LikeForLike {
        before_us,
        after_us,
        most: most.class.to_owned(),
        shares,
        // Two spans have other processes, and two processes of one version are apart however many requests they answer.
        variance: variance.map(|variance| variance + PROCESSES * PROCESSES),
    })
}

/// Variance of the weighted mean of all classes, by what their parts deviate from it together.
#[allow(clippy::cast_precision_loss)] // Far below 2^53.
fn variance<'a>(classes: impl Iterator<Item = (f64, &'a Spent<'a>)>) -> Option<f64> {
    let mut deviations: Vec<Option<f64>> = Vec::new();
    for (share, spent) in classes {
        let [count, us] = spent.parts.iter().fold([0, 0], |[count, us], part| [count + part[0], us + part[1]]);
        if count == 0 {
            return None;
        }
        let (count, mean_us) = (count as f64, us as f64 / count as f64);
        deviations.resize(deviations.len().max(spent.parts.len()), None);
        for (deviation, [of_part, us]) in deviations.iter_mut().zip(spent.parts).filter(|(_, part)| part[0] > 0) {
            let apart = share * (*us as f64 - mean_us * *of_part as f64) / count;
            *deviation = Some(deviation.unwrap_or(0.0) + apart);
        }
    }
    let deviations: Vec<f64> = deviations.into_iter().flatten().collect();
    // Few parts say little of their own variance: that of Student's t is larger by this.
    let few = |parts: usize| parts as f64 / (parts - 3) as f64;
    let squares = || deviations.iter().map(|apart| apart * apart).sum::<f64>();
    (deviations.len() >= PARTS_MIN).then(|| squares() * few(deviations.len()))
}

impl LikeForLike {
    /// Additional CPU time as a ratio: 0.1 is 10 % more.
    pub fn value(&self) -> f64 {
        self.after_us / self.before_us.max(f64::MIN_POSITIVE) - 1.0
    }

    /// Finding on a change of CPU time beyond this limit, a ratio from -1: worse if there is surely more, better if there is surely
    /// less.
    pub fn finding(&self, limit: f64) -> Finding {
        self.judged(Measure::Cpu, [limit, limit], 1)
    }

    /// Finding on this measure, as one of so many: the probability that any of them is a false alarm is 1 %. A change within
    /// `margin`, a ratio, is none.
    pub fn finding_beyond(&self, measure: Measure, margin: f64, of: usize) -> Finding {
        self.judged(measure, [-margin, margin], of)
    }

    fn judged(&self, measure: Measure, [low, high]: [f64; 2], of: usize) -> Finding {
        let Some(variance) = self.variance.filter(|_| self.before_us > 0.0 && self.after_us > 0.0) else {
            return Finding { measure, verdict: Verdict::Unknown, change: None, sure: 0.0 };
        };
        let (value, known) = ((self.after_us / self.before_us).ln(), 1.0 / variance);
        let worse = evidence(known * (value - high.ln_1p()), known, RHO);
        let better = evidence(known * (low.ln_1p() - value), known, RHO);
        let verdict = verdict(worse, better, of);
        let apart = radius(known, RHO, ALPHA) / known;
        let [value, low, high] = [value, value - apart, value + apart].map(f64::exp_m1);
        Finding { measure, verdict, change: Some(Change { value, low, high }), sure: sure(worse, better) }
    }
}

/// Requests of a class, or renders of a component, in parts of a span, and events among them.
pub type Counted<'a> = (&'a str, &'a [[u64; 2]]);

/// Parts, and their sum.
type Total<'a> = (&'a [[u64; 2]], [u64; 2]);

/// Compares shares of events, by parts of two spans. Classes that both have are weighted as they came after, so that another mix of
/// requests is no change. A change within `margin`, a difference of shares, is none.
#[allow(clippy::cast_precision_loss)] // Far below 2^53.
pub fn compare_shares(measure: Measure, before: &[Counted<'_>], after: &[Counted<'_>], margin: f64) -> Finding {
    let total = |parts: &[[u64; 2]]| parts.iter().fold([0, 0], |all, part| [all[0] + part[0], all[1] + part[1]]);
    let pairs: Vec<[Total<'_>; 2]> = before
        .iter()
        .filter_map(|(class, was)| {
            let (_, is) = after.iter().find(|(its, _)| its == class)?;
            Some([*was, *is].map(|parts| (parts, total(parts))))
        })
        .filter(|sides| sides.iter().all(|(_, [count, _])| *count > 0))
        .collect();
    let requests = pairs.iter().map(|[_, (_, [count, _])]| *count as f64).sum::<f64>();
    // Share of one side, and its variance.
    let of = |side: usize| {
        if pairs.iter().map(|sides| sides[side].1[0]).sum::<u64>() < REQUESTS_MIN {
            return None;
        }
        let (mut share, mut least, mut classes) = (0.0, 0.0, Vec::new());
        for sides in &pairs {
            let weight = sides[1].1[0] as f64 / requests;
            let (parts, [count, events]) = sides[side];
            let (count, events) = (count as f64, events as f64);
            share += weight * events / count;
            // One event more, so that none in a few requests is not taken for certainty.
            let near = (events + 1.0) / (count + 2.0);
            least += weight * weight * near * (1.0 - near) / count;
            classes.push((weight, Spent { class: "", requests: 0, mean_us: 0.0, parts }));
        }
        let between = variance(classes.iter().map(|(weight, spent)| (*weight, spent)))?;
        Some((share, between.max(least)))
    };
    let Some(((was, of_before), (is, of_after))) = of(0).zip(of(1)) else {
        return Finding { measure, verdict: Verdict::Unknown, change: None, sure: 0.0 };
    };
    let (value, known) = (is - was, 1.0 / (of_before + of_after));
    let worse = evidence(known * (value - margin), known, RHO_OF_SHARES);
    let better = evidence(known * (-value - margin), known, RHO_OF_SHARES);
    let apart = radius(known, RHO_OF_SHARES, ALPHA) / known;
    let change = Change { value, low: (value - apart).max(-was), high: (value + apart).min(1.0 - was) };
    Finding { measure, verdict: verdict(worse, better, 1), change: Some(change), sure: sure(worse, better) }
}

/// Verdict by the evidence for either direction, as one of so many verdicts.
#[allow(clippy::cast_precision_loss)] // Few.
fn verdict(worse: f64, better: f64, of: usize) -> Verdict {
    let enough = of.max(1) as f64 / ALPHA;
    if worse >= enough {
        Verdict::Worse
    } else if better >= enough {
        Verdict::Better
    } else {
        Verdict::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uniform noise from 0 to 1 that is the same in each run.
    fn noise(seed: u64) -> impl FnMut() -> f64 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            f64::from(u32::try_from(state >> 32).unwrap()) / f64::from(u32::MAX)
        }
    }

    type Class = (&'static str, Vec<[u64; 2]>);

    /// Parts of two classes that drift together, and whose requests take between half and one and a half of their mean.
    fn span(noise: &mut impl FnMut() -> f64, parts: usize, of_part: [u64; 2], means_us: [f64; 2]) -> [Class; 2] {
        let mut classes = [("GET /", Vec::new()), ("GET /search", Vec::new())];
        for _ in 0..parts {
            let drift = 0.97 + 0.06 * noise();
            for at in 0..2 {
                let us: f64 = (0..of_part[at]).map(|_| means_us[at] * drift * (0.5 + noise())).sum();
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Positive, and small.
                classes[at].1.push([of_part[at], us as u64]);
            }
        }
        classes
    }

    #[allow(clippy::cast_precision_loss)] // Small.
    fn spent((class, parts): &Class) -> Spent<'_> {
        let [requests, us] = parts.iter().fold([0, 0], |[count, us], part| [count + part[0], us + part[1]]);
        Spent { class, requests, mean_us: us as f64 / requests as f64, parts }
    }

    fn compared(before: &[Class], after: &[Class]) -> LikeForLike {
        let [before, after] = [before, after].map(|side| side.iter().map(spent).collect::<Vec<_>>());
        like_for_like(&before, &after).unwrap()
    }

    #[test]
    fn equal_spans_are_within_a_budget_and_no_change_is_sure_of_them() {
        let mut verdicts = [0; 3];
        for seed in 1..=1_000 {
            let mut noise = noise(seed);
            let before = span(&mut noise, 12, [40, 10], [1_000.0, 9_000.0]);
            let after = span(&mut noise, 24, [40, 20], [1_000.0, 9_000.0]);
            let of = compared(&before, &after);
            verdicts[0] += i32::from(of.finding(0.0).verdict != Verdict::Unknown);
            verdicts[1] += i32::from(of.finding(0.1).verdict == Verdict::Worse);
            verdicts[2] += i32::from(of.finding(0.25).verdict == Verdict::Better);
        }
        assert!(verdicts[0] <= 20, "an alarm of either direction: {verdicts:?}");
        assert_eq!(verdicts[1], 0, "{verdicts:?}");
        assert!(verdicts[2] > 950, "{verdicts:?}");
    }

    #[test]
    fn span_that_takes_more_is_over_its_budget_and_its_interval_has_the_truth() {
        let (mut found, mut inside) = (0, 0);
        for seed in 1..=1_000 {
            let mut noise = noise(seed);
            let before = span(&mut noise, 24, [40, 10], [1_000.0, 9_000.0]);
            let after = span(&mut noise, 24, [40, 20], [1_000.0, 12_600.0]);
            let of = compared(&before, &after);
            assert_eq!(of.most, "GET /search");
            let finding = of.finding(0.1);
            found += i32::from(finding.verdict == Verdict::Worse);
            // Of 40 requests of 1 ms and 10 of 9 ms, the second ones take 3.6 ms more.
            let truth = (40.0 + 10.0 * 12.6) / (40.0 + 10.0 * 9.0) - 1.0;
            inside += i32::from(finding.change.is_some_and(|change| change.low < truth && truth < change.high));
        }
        assert!(found > 950 && inside >= 990, "{found} found, {inside} inside");
    }

    #[test]
    fn other_mix_of_requests_is_no_change() {
        let mut noise = noise(7);
        let before = span(&mut noise, 12, [100, 10], [1_000.0, 9_000.0]);
        let after = span(&mut noise, 12, [10, 400], [1_000.0, 9_000.0]);
        let of = compared(&before, &after);
        assert!(of.value().abs() < 0.05, "{of:?}");
    }

    #[test]
    fn distance_of_two_processes_is_no_change() {
        let of = |us: u64| [("GET /", vec![[1_000_000, us * 1_000_000]; 24])];
        let change = compared(&of(1_000), &of(1_020));
        assert_eq!(change.finding(0.0).verdict, Verdict::Unknown);
        assert_eq!(change.finding(0.03).verdict, Verdict::Unknown, "2 % are not surely below 3 %");
        assert_eq!(compared(&of(1_000), &of(1_100)).finding(0.0).verdict, Verdict::Worse);
    }

    #[test]
    fn shares_of_the_compared_classes_are_known() {
        let of = |class, us: u64| (class, vec![[100, us * 100]; 12]);
        let change = compared(&[of("GET /a", 100), of("GET /old", 300)], &[of("GET /a", 100), of("GET /new", 900)]);
        let [before, after] = change.shares;
        assert!((before - 0.25).abs() < 1e-9 && (after - 0.1).abs() < 1e-9, "{change:?}");
    }

    #[test]
    fn nothing_is_sure_without_parts_or_requests() {
        let mut noise = noise(7);
        let few = span(&mut noise, 5, [100, 100], [1_000.0, 9_000.0]);
        let many = span(&mut noise, 12, [100, 100], [3_000.0, 27_000.0]);
        let of = compared(&few, &many);
        assert!(of.value() > 1.5 && of.finding(0.1).verdict == Verdict::Unknown, "{of:?}");
        assert_eq!(of.finding(0.1).change, None);
        let rare = span(&mut noise, 12, [8, 8], [1_000.0, 9_000.0]);
        let [rare, many] = [&rare, &many].map(|side| side.iter().map(spent).collect::<Vec<_>>());
        assert_eq!(like_for_like(&rare, &many), None);
        assert_eq!(like_for_like(&[], &many), None);
    }

    /// Parts of 100 requests, of which each has an event with this probability.
    fn events(noise: &mut impl FnMut() -> f64, parts: usize, share: f64) -> Vec<[u64; 2]> {
        let mut part = || [100, (0..100).map(|_| u64::from(noise() < share)).sum()];
        (0..parts).map(|_| part()).collect()
    }

    fn of_one(measure: Measure, before: &[[u64; 2]], after: &[[u64; 2]]) -> Finding {
        compare_shares(measure, &[("GET /", before)], &[("GET /", after)], 0.002)
    }

    #[test]
    fn another_mix_of_classes_is_no_change_of_shares_and_one_that_fails_more_is() {
        let mut verdicts = [0; 3];
        for seed in 1..=500 {
            let mut noise = noise(seed);
            let mut side = |good: usize, bad: usize, share: f64| {
                [("GET /", events(&mut noise, good, 0.001)), ("GET /bad", events(&mut noise, bad, share))]
            };
            let compare = |before: &[Class; 2], after: &[Class; 2]| {
                let [before, after] = [before, after].map(|[one, two]| [(one.0, &*one.1), (two.0, &*two.1)]);
                compare_shares(Measure::Failures, &before, &after, 0.002).verdict
            };
            let before = side(20, 1, 0.7);
            verdicts[0] += i32::from(compare(&before, &side(20, 8, 0.7)) != Verdict::Unknown);
            let before = side(20, 8, 0.5);
            verdicts[1] += i32::from(compare(&before, &side(24, 2, 0.5)) != Verdict::Unknown);
            verdicts[2] += i32::from(compare(&before, &side(24, 4, 0.9)) == Verdict::Worse);
        }
        assert!(verdicts[0] <= 5 && verdicts[1] <= 5 && verdicts[2] > 450, "{verdicts:?}");
    }

    #[test]
    fn a_class_that_only_one_span_has_says_nothing_of_shares() {
        let good = [[100, 0]; 12];
        let after: [Counted<'_>; 2] = [("GET /", &good), ("GET /scanned", &[[50, 50]; 12])];
        let finding = compare_shares(Measure::Failures, &[("GET /", &good)], &after, 0.002);
        assert_eq!((finding.verdict, finding.change.map(|change| change.value)), (Verdict::Unknown, Some(0.0)));
    }

    #[test]
    fn equal_shares_are_no_change_and_more_failures_are_worse() {
        let (mut alarms, mut found, mut inside) = (0, 0, 0);
        for seed in 1..=1_000 {
            let mut noise = noise(seed);
            let (before, alike) = (events(&mut noise, 24, 0.01), events(&mut noise, 24, 0.01));
            let finding = of_one(Measure::Failures, &before, &alike);
            alarms += i32::from(finding.verdict != Verdict::Unknown);
            let finding = of_one(Measure::Failures, &before, &events(&mut noise, 24, 0.05));
            found += i32::from(finding.verdict == Verdict::Worse);
            inside += i32::from(finding.change.is_some_and(|change| change.low < 0.04 && 0.04 < change.high));
        }
        assert!(alarms <= 10 && found > 950 && inside >= 990, "{alarms} alarms, {found} found, {inside} inside");
    }

    #[test]
    fn shares_of_few_or_of_one_bad_moment_are_not_sure() {
        let calm = vec![[100, 0]; 12];
        let compare = |after: &[[u64; 2]]| of_one(Measure::Holes, &calm, after);
        assert_eq!(compare(&[[9, 9]; 6]).change, None, "too few");
        assert_eq!(compare(&[[100, 3]; 3]).change, None, "too few parts");
        assert_eq!(compare(&calm).verdict, Verdict::Unknown);
        let mut loud = calm.clone();
        loud[4] = [100, 60];
        assert_eq!(compare(&loud).verdict, Verdict::Unknown, "one bad moment is no version that fails more");
        let worse = compare(&[[100, 5]; 12]);
        assert_eq!((worse.verdict, worse.measure.is_share()), (Verdict::Worse, true));
        assert!(worse.sure > 0.99 && worse.change.is_some_and(|change| change.low > 0.0), "{worse:?}");
    }

    #[test]
    fn one_of_many_findings_needs_more_evidence() {
        let of = |us: u64| [("GET /", vec![[100, us * 100]; 24])];
        let change = compared(&of(1_000), &of(1_055));
        assert_eq!(change.finding_beyond(Measure::Service, 0.0, 1).verdict, Verdict::Worse);
        assert_eq!(change.finding_beyond(Measure::Service, 0.05, 1).verdict, Verdict::Unknown);
        let one_of_many = change.finding_beyond(Measure::Service, 0.0, 100_000);
        assert_eq!((one_of_many.verdict, one_of_many.measure), (Verdict::Unknown, Measure::Service));
    }

    #[test]
    fn one_part_that_stands_out_makes_the_interval_wide() {
        let calm = [("GET /", vec![[50, 50_000]; 12])];
        let mut loud = calm.clone();
        loud[0].1[5] = [50, 350_000];
        let of = compared(&calm, &loud);
        assert!(of.value() > 0.4, "{of:?}");
        assert_eq!(of.finding(0.1).verdict, Verdict::Unknown, "one bad moment is no version that costs half more");
        let exact = compared(&calm, &[("GET /", vec![[50, 60_000]; 12])]);
        assert_eq!(exact.finding(0.1).verdict, Verdict::Worse);
    }
}
