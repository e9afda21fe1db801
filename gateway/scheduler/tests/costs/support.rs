//! Traffic of classes with given costs, arriving at random from a seed.

use sluice_scheduler::{ClassId, Costs, Time};

/// A small generator (xorshift64*), so that a seed replays a run.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// From 0 up to 1.
    pub fn part(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A cost around `mean_us`, spread by the part `spread` to either side.
    pub fn around(&mut self, mean_us: f64, spread: f64) -> u64 {
        (mean_us * (1.0 + spread * (2.0 * self.part() - 1.0))).max(1.0) as u64
    }
}

/// Classes from 1, each with its weight among the arrivals and its mean cost in ms.
pub struct Traffic {
    pub costs: Costs,
    pub dice: Dice,
    pub now_us: u64,
    pub per_second: f64,
}

impl Traffic {
    pub fn new(seed: u64) -> Self {
        Traffic { costs: Costs::default(), dice: Dice::new(seed), now_us: 0, per_second: 100.0 }
    }

    /// So many requests; calls `after` with each one's number.
    pub fn run(&mut self, requests: u32, classes: &[(f64, f64)], mut after: impl FnMut(u32, &Costs)) {
        let weights: f64 = classes.iter().map(|(weight, _)| weight).sum();
        for number in 0..requests {
            self.now_us += (1e6 / self.per_second * 2.0 * self.dice.part()) as u64;
            let mut pick = self.dice.part() * weights;
            let mut at = 0;
            while at + 1 < classes.len() && pick >= classes[at].0 {
                pick -= classes[at].0;
                at += 1;
            }
            let class = ClassId(u16::try_from(at + 1).expect("classes are few"));
            let (now, cost_us) = (Time(self.now_us), self.dice.around(classes[at].1 * 1000.0, 0.3));
            self.costs.arrived(now, class);
            self.costs.record(now, class, cost_us);
            after(number, &self.costs);
        }
    }

    pub fn cut_ms(&self) -> Option<f64> {
        self.costs.cut_us().map(|cut_us| cut_us as f64 / 1000.0)
    }
}

/// Every test of chance runs with these seeds.
pub fn seeds() -> impl Iterator<Item = u64> {
    1..=20
}
