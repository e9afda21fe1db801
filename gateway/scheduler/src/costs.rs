//! What requests cost, by class: CPU microseconds in a worker, learned from what workers report.
//!
//! A class that is new or rare is guessed from what all requests cost, and less so with each of its own reports. A class
//! that is known is expected to cost its decaying mean. [`Costs::cut_us`] says where short ends and long begins, if the
//! traffic is of two kinds at all. Nothing here allocates for a report of a class that was seen before. It must not know
//! what a class is: rows have numbers, and whoever gives the numbers may give one to another class ([`Costs::forget`]).

mod cut;
mod low;
mod sketch;

use sluice_sketch::Mean;

use crate::interface::Time;
use cut::{Cut, Load};
use low::Low;
use sketch::Sketch;

/// Rows that are kept; numbers beyond count as [`ClassId::OTHER`]. Whoever gives the numbers has a lower bound.
const CLASSES_MAX: usize = 1024;
/// Reports after which a class is known.
const KNOWN_RECORDS: u32 = 12;
/// Reports that the decaying mean of a class looks back on: enough to be within some percent, and few enough to follow a
/// new version of the app, or a cold worker that has warmed up, within seconds of real traffic.
const MEMORY_RECORDS: u32 = 100;
/// Those of the two means that tell a drift: far enough apart to see one, and long enough not to see one in chance.
const DRIFT_SHORT_RECORDS: u32 = 300;
const DRIFT_LONG_RECORDS: u32 = 3_000;
/// Reports before which a drift is not looked for.
const DRIFT_RECORDS_MIN: u32 = 1_000;
/// Reports that the mean over all classes looks back on.
const OVERALL_RECORDS: u32 = 1_000;
/// What the guess weighs against a class's own reports, in reports.
const PRIOR_RECORDS: f64 = 2.0;
/// The guess while nothing is known at all.
const PRIOR_US: f64 = 10_000.0;
/// Reports that a restored row counts for at most, so that what it costs now soon weighs more than what it cost then.
const RESTORED_RECORDS_MAX: u32 = 30;
/// The quantile that stands for nearly all of a class, and how often it is looked at.
const HIGH: f64 = 0.99;
const HIGH_EVERY_RECORDS: u32 = 10;
/// Cost that nearly all requests of a light class stay below.
const LIGHT_US_MAX: u64 = 1_500;
/// Reports before which no class is light.
const LIGHT_RECORDS_MIN: u32 = 60;
/// Reports after which a class can be light again, since a request of it took long.
const DOUBTED_RECORDS: u32 = 60;
/// Arrivals after which the cut is looked for again.
const LOOK_EVERY_ARRIVALS: u32 = 16;
/// Arrivals are halved when there were as many since the last time and it is as long ago, so that neither a burst nor a
/// quiet night decides alone what the traffic is.
const HALVE_ARRIVALS: u32 = 4_000;
const HALVE_AFTER_US: u64 = 60_000_000;
/// So long ago, few arrivals are enough.
const HALVE_SELDOM_AFTER_US: u64 = 1_200_000_000;
const HALVE_SELDOM_ARRIVALS: u32 = 200;
/// What a request can cost at most; what is over is a slip of a clock.
const COST_US_MAX: u64 = 1 << 40;

/// A class of requests that are expected to cost alike, as a row of somebody's bounded table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassId(pub u16);

impl ClassId {
    /// Requests for which there was no room in the table.
    pub const OTHER: ClassId = ClassId(0);
}

/// What is kept of a row across restarts; see [`Costs::export`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SavedCosts {
    /// Reports so far.
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
    /// Of costs, µs, and of their squares.
    mean: Mean<MEMORY_RECORDS>,
    square: Mean<MEMORY_RECORDS>,
    /// The two that tell a drift.
    short: Mean<DRIFT_SHORT_RECORDS>,
    long: Mean<DRIFT_LONG_RECORDS>,
    /// Decaying; see [`HALVE_ARRIVALS`].
    arrivals: f64,
    expected_us: u64,
    /// What service times are above that where nobody shares the worker.
    wait: Low,
    /// What nearly all of the latest cost at most; looked at now and then.
    high_us: u64,
    /// Reports before which the class is not light again.
    doubted: u32,
    sketch: Sketch,
}

/// The table. See the module's text.
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
    /// A request of this class has arrived, whatever becomes of it.
    pub fn arrived(&mut self, _now: Time, class: ClassId) {
        let at = self.row(class);
        self.rows[at].arrivals += 1.0;
        self.arrivals += 1.0;
        self.arrivals_since_halving = self.arrivals_since_halving.saturating_add(1);
        self.arrivals_since_look = self.arrivals_since_look.saturating_add(1);
    }

    /// A request of this class took so much CPU time in its worker. Only here does the cut change.
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

    /// A request of this class took so long in a worker that it shared with nobody.
    pub fn served_alone(&mut self, class: ClassId, service_us: u64) {
        let wait_us = service_us.saturating_sub(self.expected_us(class));
        let at = self.row(class);
        self.rows[at].wait.record(wait_us);
    }

    /// A request of this class waited for so long at least, in a worker that it shared.
    pub fn waited(&mut self, class: ClassId, waited_us: u64) {
        let at = self.row(class);
        self.rows[at].wait.record(waited_us);
    }

    /// How long requests of this class wait for something else than the CPU: what nine of ten take at least. `None` while too few
    /// had a worker to themselves or were seen to wait in a shared one.
    #[must_use]
    pub fn wait_us(&self, class: ClassId) -> Option<u64> {
        self.get(class)?.wait.get_us()
    }

    /// What a request of this class is expected to cost.
    #[must_use]
    pub fn expected_us(&self, class: ClassId) -> u64 {
        match self.get(class) {
            Some(row) if row.records() > 0 => row.expected_us,
            _ => whole(self.prior_us()),
        }
    }

    /// Whether the class has had enough reports to go by them alone.
    #[must_use]
    pub fn is_known(&self, class: ClassId) -> bool {
        self.get(class).is_some_and(Row::is_known)
    }

    /// Reports of the class so far.
    #[must_use]
    pub fn records(&self, class: ClassId) -> u32 {
        self.get(class).map_or(0, Row::records)
    }

    /// The decaying mean of the class's own reports.
    #[must_use]
    pub fn class_mean_us(&self, class: ClassId) -> Option<u64> {
        self.get(class)?.mean.get().map(whole)
    }

    /// What the part `q` of the class's latest reports stayed below, within a tenth.
    #[must_use]
    pub fn quantile_us(&self, class: ClassId, q: f64) -> Option<u64> {
        self.get(class)?.sketch.quantile_us(q)
    }

    /// What nearly all of the class's latest reports stayed below: 99 of a hundred. `None` while too little is known.
    #[must_use]
    pub fn high_us(&self, class: ClassId) -> Option<u64> {
        self.get(class).filter(|row| row.is_known()).map(|row| row.high_us)
    }

    /// The latest request of this class that was recorded stands for so many further ones. They count where a drift is looked for, whose
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

    /// Whether so little is spent on requests of this class, as is known for certain, that a sample of reports tells enough.
    #[must_use]
    pub fn is_light(&self, class: ClassId) -> bool {
        let is_light =
            |row: &Row| row.records() >= LIGHT_RECORDS_MIN && row.doubted == 0 && row.high_us <= LIGHT_US_MAX;
        self.get(class).is_some_and(is_light)
    }

    /// A request of this class took long without a report that teaches: the class may have changed, so it is not light for
    /// the next reports.
    pub fn doubt(&mut self, class: ClassId) {
        let at = self.row(class);
        self.rows[at].doubted = DOUBTED_RECORDS;
    }

    /// What costs at least that is long. `None` while the traffic is of a kind.
    #[must_use]
    pub fn cut_us(&self) -> Option<u64> {
        self.cut.cut_us()
    }

    /// Whether requests of this class are long. While there is a cut, those of a class that is not known yet are, for the
    /// lanes: they must not hold up what is known to be short.
    #[must_use]
    pub fn is_long(&self, class: ClassId) -> bool {
        let Some(cut_us) = self.cut_us() else { return false };
        match self.get(class) {
            Some(row) if row.is_known() => row.expected_us >= cut_us,
            _ => true,
        }
    }

    /// Mean cost of the latest requests of all classes. `None` before the first report.
    #[must_use]
    pub fn mean_us(&self) -> Option<u64> {
        self.mean.get().map(whole)
    }

    /// Whether requests cost no more than that, save one of a hundred of each class that is known. Not while none is.
    #[must_use]
    pub fn are_at_most(&self, us: u64) -> bool {
        let mut known = self.rows.iter().filter(|row| row.is_known()).peekable();
        let is_at_most = |row: &Row| row.sketch.quantile_us(0.99).is_some_and(|cost_us| cost_us <= us);
        known.peek().is_some() && known.all(is_at_most)
    }

    /// The class's part of the arrivals of the latest minutes.
    #[must_use]
    pub fn share_of_arrivals(&self, class: ClassId) -> f64 {
        let arrivals = self.get(class).map_or(0.0, |row| row.arrivals);
        if self.arrivals > 0.0 { arrivals / self.arrivals } else { 0.0 }
    }

    /// How many times its long-term mean the class costs lately. `None` before there is a long term.
    #[must_use]
    pub fn drift(&self, class: ClassId) -> Option<f64> {
        let row = self.get(class).filter(|row| row.long.count() >= DRIFT_RECORDS_MIN)?;
        Some(row.short.get()? / row.long.get()?)
    }

    /// The number belongs to another class from now on.
    pub fn forget(&mut self, class: ClassId) {
        if let Some(row) = self.rows.get_mut(usize::from(class.0)) {
            self.arrivals -= row.arrivals;
            *row = Row::default();
        }
    }

    /// What is worth keeping of a class. `None` where there is nothing.
    #[must_use]
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

    /// Goes on from what was exported, perhaps long ago and from another version of the app: it counts as few reports.
    /// What cannot be is ignored, and so is a class that has reports of its own.
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

    /// The guess for a class of which nothing is known: what requests cost on average. It is right on average, so it
    /// neither lets every new class in front of those that are known to be short nor puts it behind the long ones.
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

    /// Looking costs more than all else about a report, so not each one is looked at.
    fn look_for_high(&mut self) {
        if self.records().is_multiple_of(HIGH_EVERY_RECORDS) {
            self.high_us = self.sketch.quantile_us(HIGH).unwrap_or(u64::MAX);
        }
    }

    /// Between the guess and the class's own mean, in proportion and not in sum, so that being ten times too high and ten
    /// times too low are corrected alike.
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
