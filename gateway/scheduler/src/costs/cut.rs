//! The cut: the cost at which short requests end and long ones begin. It lies between the two classes where lanes would
//! most reduce the mean slowdown (wait over cost).
//!
//! The formula is that of an M/G/1 queue with two priorities of which the upper pre-empts. A request of the short lane
//! waits only for short ones, one of the long lane for all.
//!
//! Finding two clusters in the histogram of costs (Otsu's method) would be simpler, but puts the cut at the wrong place
//! where long requests are few. With renders of a second among pages of 2 and of 8 ms it separates 2 from 8, because it
//! ignores how clusters delay each other.

/// Load at which lanes are rated, as a part of capacity. The result hardly depends on it.
const LOAD: f64 = 0.75;
/// Wait below which users notice nothing, however cheap the request was, microseconds.
const FELT_US: f64 = 1_000.0;
/// Total arrivals below which there is no cut.
const ARRIVALS_MIN: f64 = 40.0;
/// Bounds for making a cut, and for keeping the present one.
const TO_MAKE: Bar = Bar { ratio_min: 3.0, share_min: 0.02, slowdown_max: 0.8 };
const TO_KEEP: Bar = Bar { ratio_min: 2.4, share_min: 0.01, slowdown_max: 0.9 };
/// Slowdown that another cut must stay below, as a part of the present cut's.
const MOVE_BELOW: f64 = 0.95;
/// Number of bins, each a quarter of an octave, from 1 µs.
const BINS: usize = 160;

/// Load that a class adds to the traffic.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    pub(super) arrivals: f64,
    pub(super) mean_us: f64,
    /// Mean of the squared costs, µs².
    pub(super) mean_square: f64,
}

struct Bar {
    /// Minimum ratio of the long mean to the short mean.
    ratio_min: f64,
    /// Minimum share of the arrivals or of the CPU time, on either side.
    share_min: f64,
    /// Maximum mean slowdown with lanes, as a part of the slowdown without.
    slowdown_max: f64,
}

#[derive(Debug, Default)]
pub(super) struct Cut {
    cut_us: Option<f64>,
    uncut: Uncut,
}

/// Reason why no class is long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Uncut {
    /// Fewer requests have come than are needed to tell.
    #[default]
    TooFew,
    /// The dearest classes cost less than three times as much as the others.
    Alike,
    /// Dear classes are less than 2 % of the requests and of the CPU time.
    Rare,
    /// Users would wait as long if dear classes were kept apart.
    NoGain,
}

/// Sums over classes.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    arrivals: f64,
    /// Arrivals times mean cost.
    work: f64,
    /// Arrivals times mean squared cost.
    squares: f64,
    /// Arrivals over mean cost: the slowdown that one µs of waiting adds.
    felt: f64,
    lowest_us: f64,
    highest_us: f64,
}

impl Cut {
    pub(super) fn cut_us(&self) -> Option<u64> {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Costs are positive and bounded.
        self.cut_us.map(|cut_us| cut_us.ceil() as u64)
    }

    /// Reason for the lack of a cut.
    pub(super) fn uncut(&self) -> Uncut {
        self.uncut
    }

    /// Compares every possible cut with the present one.
    pub(super) fn look(&mut self, loads: impl Iterator<Item = Load>) {
        let mut bins = [Sums::default(); BINS];
        let mut all = Sums::default();
        for load in loads {
            // Classes of one bin are on one side, so that noise between two that cost alike parts nobody.
            let bin = &mut bins[bin(load.mean_us)];
            bin.add(&load);
            all.add(&load);
        }
        if all.arrivals < ARRIVALS_MIN {
            return;
        }
        let mut best: Option<(f64, Sums, Sums)> = None;
        let mut present: Option<(f64, Sums, Sums)> = None;
        let mut short = Sums::default();
        for at in 0..BINS {
            if bins[at].arrivals > 0.0 && short.arrivals > 0.0 {
                let mut long = Sums::default();
                bins[at..].iter().for_each(|bin| long.join(bin));
                let slowdown = slowdown(&short, &long);
                if self.cut_us.is_some_and(|cut_us| short.highest_us < cut_us && cut_us <= long.lowest_us) {
                    present = Some((slowdown, short, long));
                }
                if best.as_ref().is_none_or(|(least, ..)| slowdown < *least) {
                    best = Some((slowdown, short, long));
                }
            }
            short.join(&bins[at]);
        }
        let alone = slowdown_alone(&all);
        let kept = present.filter(|(least, short, long)| TO_KEEP.missed(short, long, least / alone).is_none());
        self.uncut = best.as_ref().map_or(Uncut::Alike, |(least, short, long)| {
            TO_MAKE.missed(short, long, least / alone).unwrap_or(Uncut::NoGain)
        });
        let made = best.filter(|(least, short, long)| TO_MAKE.missed(short, long, least / alone).is_none());
        let chosen = match (kept, made) {
            (Some(kept), Some(made)) if made.0 < kept.0 * MOVE_BELOW => Some(made),
            (Some(kept), _) => Some(kept),
            (None, made) => made,
        };
        self.cut_us = chosen.map(|(_, short, long)| {
            // In the middle of the gap, so that neither side is near it; moved only when that is elsewhere by now.
            let middle_us = (short.highest_us * long.lowest_us).sqrt();
            let is_near = |cut_us: &f64| (0.8..1.25).contains(&(cut_us / middle_us));
            let is_between = |cut_us: &f64| short.highest_us < *cut_us && *cut_us <= long.lowest_us;
            self.cut_us.filter(is_near).filter(is_between).unwrap_or(middle_us)
        });
    }
}

impl Sums {
    fn add(&mut self, load: &Load) {
        let Load { arrivals, mean_us, mean_square } = *load;
        self.join(&Sums {
            arrivals,
            work: arrivals * mean_us,
            squares: arrivals * mean_square,
            felt: arrivals / mean_us.max(FELT_US),
            lowest_us: mean_us,
            highest_us: mean_us,
        });
    }

    fn join(&mut self, other: &Sums) {
        if other.arrivals <= 0.0 {
            return;
        }
        self.lowest_us = if self.arrivals > 0.0 { self.lowest_us.min(other.lowest_us) } else { other.lowest_us };
        self.highest_us = self.highest_us.max(other.highest_us);
        self.arrivals += other.arrivals;
        self.work += other.work;
        self.squares += other.squares;
        self.felt += other.felt;
    }
}

impl Bar {
    /// The first bound that is missed; `None` if all are met.
    fn missed(&self, short: &Sums, long: &Sums, slowdown: f64) -> Option<Uncut> {
        let share =
            |side: &Sums| (side.arrivals / (short.arrivals + long.arrivals)).max(side.work / (short.work + long.work));
        let ratio = (long.work / long.arrivals) / (short.work / short.arrivals);
        if ratio < self.ratio_min {
            return Some(Uncut::Alike);
        }
        if share(short).min(share(long)) < self.share_min {
            return Some(Uncut::Rare);
        }
        (slowdown > self.slowdown_max).then_some(Uncut::NoGain)
    }
}

/// Sum over all requests of wait over cost, first come first served (Pollaczek–Khinchine formula).
fn slowdown_alone(all: &Sums) -> f64 {
    let per_us = LOAD / all.work;
    all.felt * per_us * all.squares / (2.0 * (1.0 - LOAD))
}

/// Sum over all requests of wait over cost, with short requests that pre-empt the long ones (Cobham; pre-emptive
/// resume).
fn slowdown(short: &Sums, long: &Sums) -> f64 {
    let per_us = LOAD / (short.work + long.work);
    let load_short = short.work * per_us;
    let short_wait = per_us * short.squares / (2.0 * (1.0 - load_short));
    let long_wait = per_us * (short.squares + long.squares) / (2.0 * (1.0 - load_short) * (1.0 - LOAD));
    // While it runs, a long one is stretched by the short ones that come.
    let stretched = load_short / (1.0 - load_short);
    short.felt * short_wait + long.felt * long_wait + long.arrivals * stretched
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Costs are positive and bounded.
fn bin(mean_us: f64) -> usize {
    ((mean_us.max(1.0).log2() * 4.0) as usize).min(BINS - 1)
}
