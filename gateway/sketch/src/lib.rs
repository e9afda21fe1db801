//! Summary of a stream in memory that does not grow: means of the latest values, histograms on a logarithmic scale, and
//! frequent items. Pure; it must not know what is counted.

mod frequent;
mod mean;
pub mod scale;
mod times;

pub use frequent::{Frequent, hash};
pub use mean::{Fading, Mean};
pub use times::Times;

/// Median; `None` of no values.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    let middle = values.len() / 2;
    let is_odd = !values.len().is_multiple_of(2);
    let (lower, upper, _) = (!values.is_empty()).then(|| values.select_nth_unstable_by(middle, f64::total_cmp))?;
    let below = || lower.iter().copied().max_by(f64::total_cmp);
    Some(if is_odd { *upper } else { f64::midpoint(below()?, *upper) })
}

#[cfg(test)]
mod tests {
    #[test]
    fn median_is_the_middle_one_or_between_the_two() {
        let median = |values: &[f64]| super::median(values.to_vec());
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[5.0]), Some(5.0));
        assert_eq!(median(&[9.0, 1.0, 5.0]), Some(5.0));
        assert_eq!(median(&[9.0, 1.0, 4.0, 5.0]), Some(4.5));
    }
}
