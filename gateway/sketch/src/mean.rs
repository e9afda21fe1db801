//! Means that forget.

/// The mean of all values while they are few, and of about the latest `MEMORY` afterwards. The first few count alike, so that none
/// of them stands for what is normal until it has decayed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mean<const MEMORY: u32> {
    value: f64,
    count: u32,
}

impl<const MEMORY: u32> Mean<MEMORY> {
    /// Mean as if `count` values of this mean had come.
    pub fn of(value: f64, count: u32) -> Self {
        Mean { value, count }
    }

    /// Takes in a value.
    pub fn record(&mut self, value: f64) {
        self.count = self.count.saturating_add(1);
        self.value += (value - self.value) / f64::from(self.count.min(MEMORY));
    }

    /// The mean; `None` before the first value.
    pub fn get(&self) -> Option<f64> {
        (self.count > 0).then_some(self.value)
    }

    /// Values so far.
    pub fn count(&self) -> u32 {
        self.count
    }
}

/// A weighted mean in which values weigh less with every [`Fading::fade`], to be called at even intervals.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fading {
    sum: f64,
    weight: f64,
}

impl Fading {
    /// Takes in values that add up to `sum` and weigh so much together.
    pub fn add(&mut self, sum: f64, weight: f64) {
        self.sum += sum;
        self.weight += weight;
    }

    /// All that came so far weighs this part of what it did, 0 to 1.
    pub fn fade(&mut self, part: f64) {
        self.sum *= part;
        self.weight *= part;
    }

    /// The mean; `None` where all together weighs less than `weight_min`, or nothing.
    pub fn get(&self, weight_min: f64) -> Option<f64> {
        (self.weight > 0.0 && self.weight >= weight_min).then(|| self.sum / self.weight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_value_is_no_measure_for_the_others() {
        let mut mean = Mean::<32>::default();
        assert_eq!(mean.get(), None);
        mean.record(3_000.0);
        (0..9).for_each(|_| mean.record(5.0));
        assert!(mean.get().is_some_and(|mean| (mean - 304.5).abs() < 0.01), "{mean:?}");
    }

    #[test]
    fn mean_follows_when_what_is_normal_changes() {
        let mut mean = Mean::<32>::default();
        (0..1_000).for_each(|_| mean.record(5.0));
        (0..100).for_each(|_| mean.record(50.0));
        assert!(mean.get().is_some_and(|mean| mean > 45.0) && mean.count() == 1_100, "{mean:?}");
    }

    #[test]
    fn faded_values_weigh_less_than_new_ones() {
        let mut mean = Fading::default();
        assert_eq!(mean.get(0.0), None);
        mean.add(100.0, 10.0);
        mean.fade(0.5);
        mean.add(25.0, 5.0);
        assert!(mean.get(10.0).is_some_and(|mean| (mean - 7.5).abs() < 1e-9), "{mean:?}");
        assert_eq!(mean.get(10.1), None, "it weighs too little");
    }
}
