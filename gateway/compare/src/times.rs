//! Times of requests, compared class by class within short stretches of time.
//!
//! - Heavy tails: logarithms, clipped at twice the class's scale around its centre (Huber), so that a pause of the garbage collector counts
//!   as much as any other slow request.
//! - Mix of requests: requests are compared with those of their class only.
//! - Drift of both versions: only requests of one block are compared, which has [`BLOCK`] requests of the version on trial.
//! - Noise that one version has for a while: the variance between blocks is used where it exceeds the one within.
//! - Processes: two of one version differ, however many requests they serve. Their variance is added to that of the change.
//! - Visitors: all requests of a visitor go to one version. The variance between [`GROUPS`] groups of visitors is used where it is larger.

use std::collections::HashMap;

use sluice_sketch::median;

use crate::normal::{evidence, radius};
use crate::{Arm, CLASSES_MAX, Change, Finding, Measure, Verdict, sure};

/// Requests of the version on trial in a block.
const BLOCK: u64 = 20;
/// Maximum number of blocks without requests of one version before the class's requests of the other version are
/// dropped.
const BLOCKS_ALONE_MAX: u32 = 8;
/// Requests of a class, of both versions, from which centre and scale are taken.
const FIRST: usize = 24;
/// Distance from the centre at which times are clipped, in scales.
const CLIP: f64 = 2.0;
/// Smallest scale of a class, natural logarithm: several times the difference between two processes of one version, which would be many
/// deviations of a class that hardly varies.
const SCALE_MIN: f64 = 0.15;
/// Maximum ratio of the weight of a class's request to that of the median class.
const WEIGHT_MAX: f64 = 2.0;
/// Groups that visitors are put into by chance.
const GROUPS: usize = 64;
/// Blocks from which the variance between them says something.
const BLOCKS_MIN: u64 = 8;
/// Standard deviation of the difference between two processes of one version beyond the margin, natural logarithm: compiled code and caches
/// differ, and stay different. With it, no number of requests calls a version worse that is less than 5.9 % above.
pub(crate) const PROCESSES: f64 = 0.01;
/// Inverse of the variance at which the test is most sensitive, divided by 13: for a change of 7 % beyond the margin.
pub(crate) const RHO: f64 = 285.0;
/// Change below which two versions count as equal, natural logarithm.
const ALIKE: f64 = 0.1;

/// Sums of one version in a block, all of them weighted.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    weight: f64,
    squares: f64,
    sum: f64,
    inner: f64,
}

impl Cell {
    /// Number of requests of weight 1 that would say as much.
    fn count(&self) -> f64 {
        if self.squares > 0.0 { self.weight * self.weight / self.squares } else { 0.0 }
    }
}

/// A request whose time is taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    pub arm: Arm,
    pub visitor: Option<u64>,
    pub weight: f64,
}

/// A class.
#[derive(Debug, Default)]
struct Stratum {
    /// First times, until there is a scale.
    first: Vec<(Taken, f64, usize)>,
    center: f64,
    scale: f64,
    /// Weight of its requests over what their scale gives, at most 1, so that a class that hardly varies does not decide alone.
    bound: f64,
    /// Mean square of clipped deviations, in scales.
    variance: f64,
    cells: [Cell; 2],
    blocks_alone: u32,
}

/// Sums over all blocks.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    blocks: u64,
    difference: f64,
    weight: f64,
    variance: f64,
    /// Sums of squares of differences and weights of blocks, and of their products.
    squares: [f64; 3],
}

/// Weight and weighted sum of deviations of a group of visitors.
type Group = (f64, f64);

#[derive(Debug)]
pub(crate) struct Times {
    alpha: f64,
    margin: f64,
    classes: HashMap<Box<str>, Stratum>,
    in_block: u64,
    sums: Sums,
    groups: [[Group; GROUPS]; 2],
    counts: [u64; 2],
}

impl Times {
    pub(crate) fn new(alpha: f64, margin: f64) -> Self {
        Times {
            alpha,
            margin: margin.ln_1p(),
            classes: HashMap::new(),
            in_block: 0,
            sums: Sums::default(),
            groups: [[(0.0, 0.0); GROUPS]; 2],
            counts: [0; 2],
        }
    }

    #[allow(clippy::cast_precision_loss)] // Microseconds of a request.
    pub(crate) fn take(&mut self, taken: &Taken, class: &str, us: u64) {
        if !self.classes.contains_key(class) {
            if self.classes.len() >= CLASSES_MAX {
                return;
            }
            self.classes.insert(class.into(), Stratum::default());
        }
        let count = &mut self.counts[taken.arm as usize];
        *count += 1;
        let group =
            usize::try_from(taken.visitor.unwrap_or(*count).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58).unwrap_or(0);
        let Some(stratum) = self.classes.get_mut(class) else { return };
        let log = (us.max(1) as f64).ln();
        if stratum.scale > 0.0 {
            stratum.add(taken, log, group, &mut self.groups);
        } else {
            stratum.first.push((*taken, log, group));
            if stratum.first.len() >= FIRST {
                stratum.begin(&mut self.groups);
            }
        }
        if taken.arm == Arm::Trial {
            self.in_block += 1;
            if self.in_block >= BLOCK {
                self.in_block = 0;
                self.end_block();
            }
        }
    }

    /// Takes the time of one whose visitor is not known.
    pub(crate) fn take_view(&mut self, arm: Arm, class: &str, us: u64) {
        self.take(&Taken { arm, visitor: None, weight: 1.0 }, class, us);
    }

    /// Whether any request came.
    pub(crate) fn has_any(&self) -> bool {
        self.counts != [0; 2]
    }

    fn end_block(&mut self) {
        let scales: Vec<f64> =
            self.classes.values().map(|stratum| stratum.scale).filter(|scale| *scale > 0.0).collect();
        let Some(middle) = median(scales) else { return };
        let (mut difference, mut weight, mut variance) = (0.0, 0.0, 0.0);
        for stratum in self.classes.values_mut().filter(|stratum| stratum.scale > 0.0) {
            let [present, trial] = stratum.cells;
            let (of_present, of_trial) = (present.count(), trial.count());
            if of_present > 0.0 && of_trial > 0.0 {
                let pairs = of_present * of_trial / (of_present + of_trial);
                let inner = (present.inner + trial.inner) / (present.weight + trial.weight);
                let apart = trial.sum / trial.weight - present.sum / present.weight;
                let Stratum { scale, bound, variance: of_class, .. } = *stratum;
                difference += bound * pairs / scale * apart;
                weight += bound * pairs / (scale * scale) * inner.max(0.3);
                variance += bound * bound * pairs / (scale * scale) * of_class;
            } else if of_present + of_trial > 0.0 && stratum.blocks_alone < BLOCKS_ALONE_MAX {
                stratum.blocks_alone += 1;
                continue;
            }
            stratum.bound = (WEIGHT_MAX * (stratum.scale / middle).powi(2)).min(1.0);
            stratum.end_block();
        }
        let sums = &mut self.sums;
        sums.blocks += 1;
        sums.difference += difference;
        sums.weight += weight;
        sums.variance += variance;
        for (sum, square) in
            sums.squares.iter_mut().zip([difference * difference, difference * weight, weight * weight])
        {
            *sum += square;
        }
    }

    /// Variance of the sum of differences, the largest of three estimates.
    #[allow(clippy::cast_precision_loss)] // Blocks.
    fn variance(&self) -> f64 {
        let Sums { blocks, difference, weight, variance, squares } = self.sums;
        let mean = difference / weight.max(f64::MIN_POSITIVE);
        let between = squares[0] - 2.0 * mean * squares[1] + mean * mean * squares[2];
        let between = if blocks >= BLOCKS_MIN { between * blocks as f64 / (blocks - 1) as f64 } else { 0.0 };
        variance.max(between).max(self.variance_of_visitors())
    }

    #[allow(clippy::cast_precision_loss)] // 64.
    fn variance_of_visitors(&self) -> f64 {
        let totals = self.groups.map(|groups| groups.iter().fold((0.0, 0.0), |all, of| (all.0 + of.0, all.1 + of.1)));
        let share = totals[1].0 / (totals[0].0 + totals[1].0).max(f64::MIN_POSITIVE);
        let of_arm = |groups: &[Group; GROUPS], (weight, sum): Group, other: f64| {
            let mean = sum / weight.max(f64::MIN_POSITIVE);
            let squares = groups.iter().map(|(weight, sum)| (sum - mean * weight).powi(2)).sum::<f64>();
            squares * other * other * GROUPS as f64 / (GROUPS - 1) as f64
        };
        of_arm(&self.groups[0], totals[0], share) + of_arm(&self.groups[1], totals[1], 1.0 - share)
    }

    pub(crate) fn finding(&self, measure: Measure) -> Finding {
        let Sums { blocks, difference, weight, .. } = self.sums;
        if blocks < BLOCKS_MIN || weight <= 0.0 {
            return Finding { measure, verdict: Verdict::Unknown, change: None, sure: 0.0 };
        }
        // More requests tell more of these processes, and nothing of how far two processes of one version are apart.
        let known = 1.0 / (self.variance() / (weight * weight) + PROCESSES * PROCESSES);
        let value = difference / weight;
        let worse = evidence(known * (value - self.margin), known, RHO);
        let better = evidence(known * (-value - self.margin), known, RHO);
        let apart = radius(known, RHO, 0.01) / known;
        let (low, high) = (value - apart, value + apart);
        let verdict = if worse >= 1.0 / self.alpha {
            Verdict::Worse
        } else if better >= 1.0 / self.alpha {
            Verdict::Better
        } else if low > -ALIKE && high < ALIKE {
            Verdict::Equal
        } else {
            Verdict::Unknown
        };
        let change = Change { value: value.exp_m1(), low: low.exp_m1(), high: high.exp_m1() };
        Finding { measure, verdict, change: Some(change), sure: sure(worse, better) }
    }
}

impl Stratum {
    /// Takes centre and scale from the first times, of both versions alike.
    fn begin(&mut self, groups: &mut [[Group; GROUPS]; 2]) {
        let first = std::mem::take(&mut self.first);
        let logs: Vec<f64> = first.iter().map(|(_, log, _)| *log).collect();
        self.center = median(logs.clone()).unwrap_or_default();
        let apart: Vec<f64> = logs.iter().map(|log| (log - self.center).abs()).collect();
        self.scale = (median(apart).unwrap_or_default() * 1.4826).max(SCALE_MIN);
        (self.variance, self.bound) = (0.8, 1.0);
        for (taken, log, group) in first {
            self.add(&taken, log, group, groups);
        }
    }

    fn add(&mut self, taken: &Taken, log: f64, group: usize, groups: &mut [[Group; GROUPS]; 2]) {
        let Taken { arm, weight, .. } = *taken;
        let apart = (log - self.center) / self.scale;
        let clipped = apart.clamp(-CLIP, CLIP);
        let cell = &mut self.cells[arm as usize];
        cell.weight += weight;
        cell.squares += weight * weight;
        cell.sum += weight * clipped;
        if apart.abs() < CLIP {
            cell.inner += weight;
        }
        self.variance += (clipped * clipped - self.variance) / 200.0;
        let group = &mut groups[arm as usize][group];
        let weight = weight * self.bound / self.scale;
        *group = (group.0 + weight, group.1 + weight * clipped);
    }

    /// Moves the centre with both versions, and begins the next block.
    fn end_block(&mut self) {
        let [present, trial] = std::mem::take(&mut self.cells);
        let weight = present.weight + trial.weight;
        if weight > 0.0 {
            self.center += self.scale * (present.sum + trial.sum) / weight * (weight / (weight + 50.0));
        }
        self.blocks_alone = 0;
    }
}
