//! Two spans of time one after the other, by the CPU time that requests of each class took in parts of them.
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

    /// Finding on a change beyond this limit, a ratio from -1: worse if there is surely more, better if there is surely less.
    pub fn finding(&self, limit: f64) -> Finding {
        let measure = Measure::Cpu;
        let Some(variance) = self.variance.filter(|_| self.before_us > 0.0 && self.after_us > 0.0) else {
            return Finding { measure, verdict: Verdict::Unknown, change: None, sure: 0.0 };
        };
        let (value, known) = ((self.after_us / self.before_us).ln(), 1.0 / variance);
        let beyond = known * (value - limit.ln_1p());
        let (worse, better) = (evidence(beyond, known, RHO), evidence(-beyond, known, RHO));
        let verdict = if worse >= 1.0 / ALPHA {
            Verdict::Worse
        } else if better >= 1.0 / ALPHA {
            Verdict::Better
        } else {
            Verdict::Unknown
        };
        let apart = radius(known, RHO, ALPHA) / known;
        let [value, low, high] = [value, value - apart, value + apart].map(f64::exp_m1);
        Finding { measure, verdict, change: Some(Change { value, low, high }), sure: sure(worse, better) }
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
