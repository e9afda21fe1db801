//! A confidence sequence for a sum of known variance: the mixture of normal likelihoods over its drift (Robbins 1970).
//!
//! With the variance estimated it is asymptotic: Waudby-Smith, Arbour, Sinha, Kennedy, Ramdas, "Time-uniform central limit theory
//! and asymptotic confidence sequences" (2024).

/// Value of the one-sided e-process for a sum `s` of variance `v` against a drift above zero. `rho` is the variance at which it is
/// most sensitive, divided by about 13.
pub(crate) fn evidence(s: f64, v: f64, rho: f64) -> f64 {
    if s <= 0.0 {
        return 0.0;
    }
    let all = v + rho;
    2.0 * (rho / all).sqrt() * (s * s / (2.0 * all)).min(700.0).exp() * below(s / all.sqrt())
}

/// Distance from the sum beyond which its drift never lies, but with a probability of `alpha`.
pub(crate) fn radius(v: f64, rho: f64, alpha: f64) -> f64 {
    let all = v + rho;
    (all * (all / (rho * alpha * alpha)).ln()).sqrt()
}

/// Distribution function of the normal distribution, to 1e-7 (Abramowitz and Stegun 26.2.17).
fn below(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * x.abs());
    let series = [0.319_381_530, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
    let sum = series.iter().rev().fold(0.0, |sum, factor| (sum + factor) * t);
    let above = (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt() * sum;
    if x >= 0.0 { 1.0 - above } else { above }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distribution_function_has_its_known_values() {
        for (x, p) in [(0.0, 0.5), (1.0, 0.841_344_7), (-1.96, 0.024_997_9), (3.0, 0.998_650_1)] {
            assert!((below(x) - p).abs() < 1e-6, "{x}: {}", below(x));
        }
    }

    #[test]
    fn evidence_grows_with_the_sum_and_the_interval_with_the_confidence() {
        assert!(evidence(-5.0, 100.0, 10.0) < 1.0);
        assert!(evidence(60.0, 100.0, 10.0) > 1e5);
        assert!(radius(100.0, 10.0, 0.01) > radius(100.0, 10.0, 0.05));
    }
}
