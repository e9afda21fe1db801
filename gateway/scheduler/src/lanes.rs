//! Lanes: how many workers the long one has, and which worker a request may have.
//!
//! Short requests have the short lane. Long ones have the long lane, whose workers get the CPU time that the others leave,
//! and beyond it workers of the short lane, but never the last free one. Where short requests need most of their lane by
//! themselves, a long one there would make them wait, and a single long-lane worker would leave cores idle in between:
//! then the long lane gets a second one and the short lane is left to what it is for.
//! `docs/decisions/0020-order-and-lanes.md` has the figures behind each rule.

use crate::{Lane, Time, WorkerId};

/// How long a worker of the long lane is kept when nothing asks for it any more.
const KEPT_MS: u64 = 300_000;
/// Over how long the short requests' need of workers is averaged, in microseconds.
const NEED_OVER_US: f64 = 2_000_000.0;
/// Added to that need, because it varies.
const NEED_MARGIN: f64 = 0.25;
/// Long-lane workers that there may be: as many as it takes to use two cores in turn.
pub(crate) const LONG_WORKERS_MAX: u32 = 2;

/// What the workers look like to a request that wants one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Offer {
    /// The worker of each lane that would be chosen, of those with a free slot.
    pub short: Option<WorkerId>,
    pub long: Option<WorkerId>,
    /// Workers of the short lane with a free slot, those that hold a short request, and those that hold a long one.
    pub short_free: u32,
    pub short_with_short: u32,
    pub short_with_long: u32,
    /// Workers of each lane that take requests.
    pub short_ready: u32,
    pub long_ready: u32,
    /// Workers of the long lane that hold a request.
    pub long_held: u32,
}

#[derive(Debug, Default)]
pub(crate) struct Lanes {
    /// Until when the first and the second worker of the long lane are kept.
    kept_until: [Option<Time>; LONG_WORKERS_MAX as usize],
    /// Short requests that hold a worker or wait for one, on average.
    need: f64,
    /// How many they are, and since when that is taken in.
    short_now: u32,
    taken_in: Time,
}

/// What a step has left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Situation {
    /// The config leaves room for lanes.
    pub may_be: bool,
    /// Lanes are wanted: there are short and long requests.
    pub is_mixed: bool,
    pub short_waiting: usize,
    pub long_waiting: usize,
    /// Workers that the short lane is to have.
    pub short_wanted: u32,
}

impl Lanes {
    /// Notes how a step has ended. Returns how many workers the long lane is to have.
    pub(crate) fn note(&mut self, now: Time, offer: &Offer, left: &Situation) -> u32 {
        self.take_in(now, offer, left);
        if !left.may_be && offer.short_ready > 0 {
            // Whoever says so does not want to pay for them any longer.
            self.kept_until = [None; LONG_WORKERS_MAX as usize];
        }
        let is_needed = left.is_mixed && left.short_wanted > 0;
        let waits = left.short_waiting + left.long_waiting > 0;
        let has_first = self.kept_until[0].is_some_and(|until| until > now);
        let is_crowded = offer.long_held > 0 && left.long_waiting > 0 && self.leaves_no_room();
        let asks = [is_needed && (has_first || waits), is_needed && has_first && is_crowded];
        for (until, asks) in self.kept_until.iter_mut().zip(asks) {
            if asks {
                *until = Some(now.plus_ms(KEPT_MS));
            }
            *until = until.filter(|until| *until > now);
        }
        u32::try_from(self.kept_until.iter().take_while(|until| until.is_some()).count()).unwrap_or(0)
    }

    #[allow(clippy::cast_precision_loss)] // Time apart in µs, far below 2^53.
    fn take_in(&mut self, now: Time, offer: &Offer, left: &Situation) {
        let weight = 1.0 - (-(now.since_us(self.taken_in) as f64) / NEED_OVER_US).exp();
        self.need += (f64::from(self.short_now) - self.need) * weight;
        self.taken_in = now;
        let waiting = u32::try_from(left.short_waiting).unwrap_or(u32::MAX);
        self.short_now = offer.short_with_short.saturating_add(waiting).min(offer.short_ready);
    }

    /// When a worker of the long lane may be let go.
    pub(crate) fn next_deadline(&self) -> Option<Time> {
        self.kept_until.iter().copied().flatten().min()
    }

    /// Workers that short requests need for themselves.
    fn needed(&self) -> f64 {
        (self.need + NEED_MARGIN).ceil()
    }

    fn leaves_no_room(&self) -> bool {
        self.needed() >= 2.0
    }

    /// The worker for a request of this side, if it may have one. Both lanes have workers that take requests.
    pub(crate) fn place(&self, side: Lane, is_overdue: bool, offer: &Offer) -> Option<WorkerId> {
        if side == Lane::Short {
            return offer.short;
        }
        let has_second = offer.long_ready >= 2;
        let is_crowded = has_second && self.leaves_no_room();
        // The second one is not for more long requests at a time, which would only share what the first one gets.
        let of_long = offer.long.filter(|_| offer.long_held == 0 || is_crowded);
        let has_room = !is_crowded || f64::from(offer.short_with_long) < f64::from(offer.short_ready) - self.needed();
        let leaves_one = offer.short_free >= 2;
        // Nobody waits for ever: one that has waited for far too long may have the last.
        let of_short = offer.short.filter(|_| has_room && leaves_one || is_overdue);
        of_long.or(of_short)
    }
}
