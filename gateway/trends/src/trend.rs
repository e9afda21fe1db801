//! Whether a row of values grows steadily, in the face of noise. Pure statistics: it must not know what the values are.

use sluice_sketch::median;

/// Fewest values that are judged; of fewer, chance alone can make a row that grows.
const VALUES_MIN: usize = 12;
/// Standard deviations by which more pairs must grow than by chance (Mann-Kendall): about once in 4,000 rows of noise.
const SCORE_MIN: f64 = 3.5;
/// Least growth from the first third of the row to the second, and from that to the last, as a part of both. A warm-up ends,
/// and a step is over.
const THIRD_MIN: f64 = 0.25;
/// Least growth of the second half by itself, as a part of the whole row's slope.
const LATE_MIN: f64 = 0.5;
/// Counterpart of [`SCORE_MIN`] for the second half by itself, which has fewer values.
const LATE_SCORE_MIN: f64 = 2.0;
/// Least growth of a row as a multiple of its scatter.
const SCATTER: f64 = 3.0;

/// A line through a row of values that grows steadily.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TrendLine {
    /// Value at the first point.
    pub(crate) from: f64,
    /// Value at the last point.
    pub(crate) to: f64,
    /// Growth in a unit of time.
    pub(crate) slope: f64,
}

/// The line, if these points grow steadily. They are times and values, in the order of time.
pub(crate) fn growing(points: &[(f64, f64)]) -> Option<TrendLine> {
    let (first, last) = (points.first()?, points.last()?);
    if points.len() < VALUES_MIN || score(points) < SCORE_MIN {
        return None;
    }
    let slope = slope(points)?;
    let thirds =
        points.chunks(points.len().div_ceil(3)).map(|third| median(third.iter().map(|(_, value)| *value).collect()));
    let [early, middle, late] = thirds.collect::<Option<Vec<_>>>()?.try_into().ok()?;
    if (middle - early).min(late - middle) < (late - early) * THIRD_MIN {
        return None;
    }
    let second_half = &points[points.len() / 2..];
    if self::slope(second_half)? < slope * LATE_MIN || score(second_half) < LATE_SCORE_MIN {
        return None;
    }
    let level = median(points.iter().map(|(time, value)| value - slope * time).collect())?;
    let scatter = median(points.iter().map(|(time, value)| (value - slope * time - level).abs()).collect())?;
    let at = |time: f64| level + slope * time;
    let line = TrendLine { from: at(first.0), to: at(last.0), slope };
    (line.to - line.from > SCATTER * scatter).then_some(line)
}

/// Standard deviations by which more pairs grow than shrink, by the test of Mann and Kendall.
#[allow(clippy::cast_precision_loss)] // A row has some dozens of values.
fn score(points: &[(f64, f64)]) -> f64 {
    let balance: f64 = pairs(points)
        .map(|((_, before), (_, after))| f64::from(i8::from(after > before) - i8::from(after < before)))
        .sum();
    let n = points.len() as f64;
    let deviation = (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0).sqrt();
    (balance - balance.signum()) / deviation
}

/// The median slope of all pairs, as Theil and Sen have it: values that are far off hardly move it.
fn slope(points: &[(f64, f64)]) -> Option<f64> {
    median(pairs(points).map(|((then, before), (now, after))| (after - before) / (now - then)).collect())
}

fn pairs(points: &[(f64, f64)]) -> impl Iterator<Item = ((f64, f64), (f64, f64))> + '_ {
    points.iter().enumerate().flat_map(|(at, before)| points[at + 1..].iter().map(move |after| (*before, *after)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Noise between -1 and 1 that is the same in each run.
    fn noise(seed: u64) -> impl FnMut() -> f64 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            f64::from(u32::try_from(state >> 40).unwrap()) / f64::from(1 << 23) - 1.0
        }
    }

    fn row(len: u32, value: impl Fn(f64) -> f64, seed: u64) -> Vec<(f64, f64)> {
        let mut noise = noise(seed);
        (0..len).map(|at| (f64::from(at), value(f64::from(at)) + noise())).collect()
    }

    fn found(value: impl Fn(f64) -> f64) -> usize {
        (1..=1000).filter(|seed| growing(&row(24, &value, *seed)).is_some()).count()
    }

    #[test]
    fn steady_growth_is_found_with_its_slope() {
        let line = growing(&row(24, |at| 10.0 + at * 0.5, 7)).unwrap();
        assert!((line.slope - 0.5).abs() < 0.1, "{line:?}");
        assert!((line.from - 10.0).abs() < 1.0 && (line.to - 21.5).abs() < 1.0, "{line:?}");
        assert!(found(|at| 10.0 + at * 0.5) > 990);
    }

    #[test]
    fn noise_a_step_and_a_warm_up_are_no_growth() {
        assert!(found(|_| 10.0) <= 1);
        assert!(found(|at| if at < 12.0 { 10.0 } else { 30.0 }) <= 1, "a step in the middle");
        let early = found(|at| if at < 6.0 { 10.0 } else { 30.0 });
        assert!(early <= 1, "a step early: {early}");
        let filling = found(|at| 30.0 - 20.0 * (-at / 2.0).exp());
        assert!(filling <= 5, "a cache that fills: {filling}");
        assert!(found(|at| 10.0 + 5.0 * (at % 6.0)) <= 1, "a saw's teeth");
        assert!(found(|at| 30.0 - at) == 0, "what falls");
    }

    #[test]
    fn a_few_values_far_off_do_not_hide_growth_or_make_it() {
        let far = |at: f64| if (at % 8.0 - 3.0).abs() < 0.1 { 200.0 } else { 0.0 };
        assert!(found(|at| 10.0 + at + far(at)) > 900);
        assert!(found(|at| 10.0 + far(at)) <= 1);
    }

    #[test]
    fn too_few_values_say_nothing() {
        assert_eq!(growing(&row(11, |at| at * 100.0, 1)), None);
        assert_eq!(growing(&[]), None);
    }
}
