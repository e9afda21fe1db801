//! Costs of requests by class: CPU microseconds in a worker, learned from the workers' reports.
//!
//! The cost of a new or rare class is guessed from the mean over all requests, and less so with each of its own
//! reports. A known class is expected to cost its decaying mean. [`Costs::cut_us`] is the cost from which requests are
//! long, if the traffic has short and long ones. A report of a class that was seen before allocates nothing.
//!
//! This module must not know what a class is: rows have numbers, and the caller may give a number to another class
//! ([`Costs::forget`]).

mod cut;
mod low;
mod sketch;

use sluice_sketch::Mean;

use crate::interface::Time;
pub use cut::Uncut;
use cut::{Cut, Load};
use low::Low;
use sketch::Sketch;

/// Maximum number of rows; higher numbers count as [`ClassId::OTHER`]. The caller's own bound is lower.
const CLASSES_MAX: usize = 1024;
/// Reports after which a class is known.
const KNOWN_RECORDS: u32 = 12;
/// Reports in the decaying mean of a class. Enough for an error of some percent, and few enough to follow a new version
/// of the app, or a worker that warms up, within seconds of real traffic.
const MEMORY_RECORDS: u32 = 100;
/// Reports in each of the two means that reveal a drift. They differ enough to show one, and are too long to show one
/// by chance.
const DRIFT_SHORT_RECORDS: u32 = 300;
const DRIFT_LONG_RECORDS: u32 = 3_000;
/// Reports before which no drift is reported.
const DRIFT_RECORDS_MIN: u32 = 1_000;
/// Reports that the mean over all classes looks back on.
const OVERALL_RECORDS: u32 = 1_000;
/// Weight of the guess against a class's own reports, in reports.
const PRIOR_RECORDS: f64 = 2.0;
/// Guessed cost before the first report, microseconds.
const PRIOR_US: f64 = 10_000.0;
/// Maximum number of reports that a restored row counts for, so that new costs soon override old ones.
const RESTORED_RECORDS_MAX: u32 = 30;
/// Quantile that stands for nearly all requests of a class, and the number of reports between two computations of it.
const HIGH: f64 = 0.99;
const HIGH_EVERY_RECORDS: u32 = 10;
/// Reports before which no class is light.
const LIGHT_RECORDS_MIN: u32 = 60;
/// Reports after which a class can be light again, counted from a request of it that took long.
const DOUBTED_RECORDS: u32 = 60;
/// Arrivals after which the cut is computed again.
const LOOK_EVERY_ARRIVALS: u32 = 16;
/// Minimum arrivals and time between two halvings of the arrival counts. Both must have passed, so that neither a burst
/// nor a quiet night alone decides what the traffic is.
const HALVE_ARRIVALS: u32 = 4_000;
const HALVE_AFTER_US: u64 = 60_000_000;
/// Longer time after which [`HALVE_SELDOM_ARRIVALS`] are enough for a halving.
const HALVE_SELDOM_AFTER_US: u64 = 1_200_000_000;
const HALVE_SELDOM_ARRIVALS: u32 = 200;
/// Maximum cost of a request, microseconds; a higher value is an error of a clock.
const COST_US_MAX: u64 = 1 << 40;

/// A class of requests that are expected to cost alike, as a row of the caller's bounded table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassId(pub u16);

impl ClassId {
    /// Requests for which there was no room in the table.
    pub const OTHER: ClassId = ClassId(0);
}

/// Learned costs of a class, saved across restarts; see [`Costs::export`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SavedCosts {
    /// Number of reports.
    pub records: u32,
    /// Decaying mean, µs.
    pub mean_us: f64,
    /// Decaying mean of the squares, µs².
    pub mean_square: f64,
    /// The long-term mean against which a drift is seen, µs.
    pub long_mean_us: f64,
    /// Reports by bucket of [`Costs::quantile_us`], of those buckets that hold any.
    pub buckets: Vec<(u8, u16)>,
}

#[derive(Clone, Debug, Default)]
struct Row {
    /// Decaying means of the costs, µs, and of their squares.
    mean: Mean<MEMORY_RECORDS>,
    square: Mean<MEMORY_RECORDS>,
    /// Short-term and long-term mean, whose ratio is the drift.
    short: Mean<DRIFT_SHORT_RECORDS>,
    long: Mean<DRIFT_LONG_RECORDS>,
    /// Decaying number of arrivals; see [`HALVE_ARRIVALS`].
    arrivals: f64,
    expected_us: u64,
    /// Service time above [`Row::expected_us`] in a worker that the request does not share.
    wait: Low,
    /// Cost that nearly all of the latest requests stay below, µs; computed from time to time.
    high_us: u64,
    /// Reports left before the class can be light again.
    doubted: u32,
    sketch: Sketch,
}

/// Table of costs by class. See the module's text.
#[derive(Debug, Default)]
pub struct Costs {
    rows: Vec<Row>,
    mean: Mean<OVERALL_RECORDS>,
    arrivals: f64,
    arrivals_since_look: u32,
    arrivals_since_halving: u32,
    halved: Time,
    cut: Cut,
}

impl Costs {
    /// Counts a request of this class that has arrived, even if it is refused later.
    pub fn arrived(&mut self, _now: Time, class: ClassId) {
        let at = self.row(class);
        self.rows[at].arrivals += 1.0;
        self.arrivals += 1.0;
        self.arrivals_since_halving = self.arrivals_since_halving.saturating_add(1);
        self.arrivals_since_look = self.arrivals_since_look.saturating_add(1);
    }

    /// Records the CPU time of a request of this class, in microseconds. Only this method changes the cut.
    pub fn record(&mut self, now: Time, class: ClassId, cost_us: u64) {
        #[allow(clippy::cast_precision_loss)] // Far below 2^53.
        let cost = cost_us.clamp(1, COST_US_MAX) as f64;
        let at = self.row(class);
        self.mean.record(cost);
        let prior_us = self.prior_us();
        let row = &mut self.rows[at];
        row.mean.record(cost);
        row.square.record(cost * cost);
        row.short.record(cost);
        row.long.record(cost);
        row.sketch.record(cost_us);
        row.expected_us = row.expect(prior_us);
        row.look_for_high();
        row.doubted = row.doubted.saturating_sub(1);
        if self.arrivals_since_look >= LOOK_EVERY_ARRIVALS {
            self.arrivals_since_look = 0;
            self.look(now);
        }
    }

    /// Records the service time of a request that did not share its worker, in microseconds.
    pub fn served_alone(&mut self, class: ClassId, service_us: u64) {
        let wait_us = service_us.saturating_sub(self.expected_us(class));
        let at = self.row(class);
        self.rows[at].wait.record(wait_us);
    }

    /// Records a lower bound of the wait of a request in a shared worker, in microseconds.
    pub fn waited(&mut self, class: ClassId, waited_us: u64) {
        let at = self.row(class);
        self.rows[at].wait.record(waited_us);
    }

    /// Time that requests of this class wait for something else than the CPU, microseconds: the lower bound for nine of
    /// ten. `None` until enough of them had a worker to themselves or were seen to wait in a shared one.
    pub fn wait_us(&self, class: ClassId) -> Option<u64> {
        self.get(class)?.wait.get_us()
    }

    /// Expected cost of a request of this class, microseconds.
    pub fn expected_us(&self, class: ClassId) -> u64 {
        match self.get(class) {
            Some(row) if row.records() > 0 => row.expected_us,
            _ => whole(self.prior_us()),
        }
    }

    /// Whether the class has enough reports to be judged by them alone.
    pub fn is_known(&self, class: ClassId) -> bool {
        self.get(class).is_some_and(Row::is_known)
    }

    /// Number of reports of the class.
    pub fn records(&self, class: ClassId) -> u32 {
        self.get(class).map_or(0, Row::records)
    }

    /// Decaying mean of the class's own reports, microseconds.
    pub fn class_mean_us(&self, class: ClassId) -> Option<u64> {
        self.get(class)?.mean.get().map(whole)
    }

    /// Cost that the part `q` of the class's latest reports stayed below, microseconds, within a tenth.
    pub fn quantile_us(&self, class: ClassId, q: f64) -> Option<u64> {
        self.get(class)?.sketch.quantile_us(q)
    }

    /// Cost that 99 % of the class's latest reports stayed below, microseconds. `None` while the class is not known.
    pub fn high_us(&self, class: ClassId) -> Option<u64> {
        self.get(class).filter(|row| row.is_known()).map(|row| row.high_us)
    }

    /// Counts the latest recorded request of this class as `times` further ones. They count only for the drift, whose
    /// means are over times and not over reports.
    pub fn repeat(&mut self, class: ClassId, cost_us: u64, times: u32) {
        #[allow(clippy::cast_precision_loss)] // Far below 2^53.
        let cost = cost_us.clamp(1, COST_US_MAX) as f64;
        let at = self.row(class);
        for _ in 0..times {
            self.rows[at].short.record(cost);
            self.rows[at].long.record(cost);
        }
    }

    /// Whether requests of this class are certainly so cheap that a sample of reports is enough: nearly all of them cost at
    /// most `light_us`.
    pub fn is_light(&self, class: ClassId, light_us: u64) -> bool {
        let is_light = |row: &Row| row.records() >= LIGHT_RECORDS_MIN && row.doubted == 0 && row.high_us <= light_us;
        self.get(class).is_some_and(is_light)
    }

    /// Marks a class as not light for its next reports, because a request of it took long without a usable report: the
    /// class may have changed.
    pub fn doubt(&mut self, class: ClassId) {
        let at = self.row(class);
        self.rows[at].doubted = DOUBTED_RECORDS;
    }

    /// Cost from which requests are long, microseconds. `None` while all requests cost about the same.
    pub fn cut_us(&self) -> Option<u64> {
        self.cut.cut_us()
    }

    /// Reason why no class is long; `None` while some are.
    pub fn uncut(&self) -> Option<Uncut> {
        self.cut_us().is_none().then(|| self.cut.uncut())
    }

    /// Whether requests of this class are long. While there is a cut, those of an unknown class count as long for the
    /// lanes: they must not hold up requests that are known to be short.
    pub fn is_long(&self, class: ClassId) -> bool {
        let Some(cut_us) = self.cut_us() else { return false };
        match self.get(class) {
            Some(row) if row.is_known() => row.expected_us >= cut_us,
            _ => true,
        }
    }

    /// Mean cost of the latest requests of all classes. `None` before the first report.
    pub fn mean_us(&self) -> Option<u64> {
        self.mean.get().map(whole)
    }

    /// Whether 99 % of the requests of each known class cost at most `us` microseconds. False while no class is known.
    #[must_use]
    pub fn are_at_most(&self, us: u64) -> bool {
        let mut known = self.rows.iter().filter(|row| row.is_known()).peekable();
        let is_at_most = |row: &Row| row.sketch.quantile_us(0.99).is_some_and(|cost_us| cost_us <= us);
        known.peek().is_some() && known.all(is_at_most)
    }

    /// The class's share of the arrivals of the latest minutes, from 0 to 1.
    pub fn share_of_arrivals(&self, class: ClassId) -> f64 {
        let arrivals = self.get(class).map_or(0.0, |row| row.arrivals);
        if self.arrivals > 0.0 { arrivals / self.arrivals } else { 0.0 }
    }

    /// Ratio of the class's recent mean cost to its long-term mean. `None` before there is a long-term mean.
    pub fn drift(&self, class: ClassId) -> Option<f64> {
        let row = self.get(class).filter(|row| row.long.count() >= DRIFT_RECORDS_MIN)?;
        Some(row.short.get()? / row.long.get()?)
    }

    /// Clears the row, whose number belongs to another class from now on.
    pub fn forget(&mut self, class: ClassId) {
        if let Some(row) = self.rows.get_mut(usize::from(class.0)) {
            self.arrivals -= row.arrivals;
            *row = Row::default();
        }
    }

    /// Learned costs of a class, for saving. `None` if it has no report.
    pub fn export(&self, class: ClassId) -> Option<SavedCosts> {
        let row = self.get(class)?;
        Some(SavedCosts {
            records: row.records(),
            mean_us: row.mean.get()?,
            mean_square: row.square.get()?,
            long_mean_us: row.long.get()?,
            buckets: row.sketch.export(),
        })
    }

    /// Restores exported costs, which may be old and from another version of the app: they count as few reports.
    /// Ignores invalid values, and classes that have reports of their own.
    pub fn restore(&mut self, class: ClassId, saved: &SavedCosts) {
        #[allow(clippy::cast_precision_loss)] // A power of two.
        let max = COST_US_MAX as f64;
        let is_cost = |cost: f64| (1.0..=max).contains(&cost);
        let at = self.row(class);
        if saved.records == 0
            || !is_cost(saved.mean_us)
            || !is_cost(saved.long_mean_us)
            || !is_cost(saved.mean_square.sqrt())
            || self.rows[at].records() > 0
        {
            return;
        }
        let records = saved.records.min(RESTORED_RECORDS_MAX);
        let prior_us = self.prior_us();
        let row = &mut self.rows[at];
        row.mean = Mean::of(saved.mean_us, records);
        row.square = Mean::of(saved.mean_square, records);
        row.short = Mean::of(saved.mean_us, records);
        row.long = Mean::of(saved.long_mean_us, records);
        row.sketch = Sketch::restored(&saved.buckets);
        row.high_us = row.sketch.quantile_us(HIGH).unwrap_or(u64::MAX);
        row.expected_us = row.expect(prior_us);
        self.mean = Mean::of(self.mean.get().unwrap_or(saved.mean_us), self.mean.count().saturating_add(records - 1));
        self.mean.record(saved.mean_us);
    }

    /// Guessed cost of an unknown class, microseconds: the mean over all requests. It is right on average, so new
    /// classes neither overtake the known short ones nor queue behind the long ones.
    fn prior_us(&self) -> f64 {
        self.mean.get().unwrap_or(PRIOR_US)
    }

    fn row(&mut self, class: ClassId) -> usize {
        let at = usize::from(class.0);
        let at = if at < CLASSES_MAX { at } else { usize::from(ClassId::OTHER.0) };
        if at >= self.rows.len() {
            self.rows.resize_with(at + 1, Row::default);
        }
        at
    }

    fn get(&self, class: ClassId) -> Option<&Row> {
        let at = usize::from(class.0);
        self.rows.get(if at < CLASSES_MAX { at } else { 0 })
    }

    fn look(&mut self, now: Time) {
        let loads = self.rows.iter().filter(|row| row.is_known() && row.arrivals > 0.0);
        self.cut.look(loads.filter_map(|row| {
            Some(Load { arrivals: row.arrivals, mean_us: row.mean.get()?, mean_square: row.square.get()? })
        }));
        let since_us = now.since_us(self.halved);
        let is_due = (self.arrivals_since_halving >= HALVE_ARRIVALS && since_us >= HALVE_AFTER_US)
            || (self.arrivals_since_halving >= HALVE_SELDOM_ARRIVALS && since_us >= HALVE_SELDOM_AFTER_US);
        if is_due {
            self.arrivals_since_halving = 0;
            self.halved = now;
            self.arrivals = 0.0;
            for row in &mut self.rows {
                row.arrivals /= 2.0;
                self.arrivals += row.arrivals;
            }
        }
    }
}

impl Row {
    fn records(&self) -> u32 {
        self.mean.count()
    }

    fn is_known(&self) -> bool {
        self.records() >= KNOWN_RECORDS
    }

    /// Computes the high quantile on every tenth report only, because that costs more than the rest of a report.
    fn look_for_high(&mut self) {
        if self.records().is_multiple_of(HIGH_EVERY_RECORDS) {
            self.high_us = self.sketch.quantile_us(HIGH).unwrap_or(u64::MAX);
        }
    }

    /// Geometric mean of the guess and the class's own mean, weighted by reports. It corrects a guess that is ten times
    /// too high like one that is ten times too low.
    fn expect(&self, prior_us: f64) -> u64 {
        let mean_us = self.mean.get().unwrap_or(prior_us);
        if self.is_known() {
            return whole(mean_us);
        }
        let own = f64::from(self.records());
        whole(((PRIOR_RECORDS * prior_us.ln() + own * mean_us.ln()) / (PRIOR_RECORDS + own)).exp())
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Costs are positive and bounded.
fn whole(cost_us: f64) -> u64 {
    cost_us.round() as u64
}
