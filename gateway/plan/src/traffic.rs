//! More of the same traffic: copies of a stretch, each shifted by some seconds and wrapped around at its end. So bursts stay
//! as they were within a copy, the peak of one copy is with the peak of the others, and no request takes longer than it did.

use crate::arrivals::{Request, Stretch};

/// Shift of the second copy at least: longer than requests are in a worker. It is no multiple of a round period, in which
/// apps poll.
const SHIFT_US: u64 = 11_700_000;

struct Copy {
    /// Index of the next request, and how many are left.
    at: usize,
    left: usize,
    shift_us: u64,
    /// Thousandths of the requests that the copy has.
    part: u64,
}

/// Arrivals in their order, as times in microseconds and requests.
pub(crate) struct Traffic<'a> {
    requests: &'a [Request],
    span_us: u64,
    seed: u64,
    copies: Vec<Copy>,
}

impl<'a> Traffic<'a> {
    /// `thousandths` of the stretch's traffic: so many whole copies, and one of the rest that chance picks by `seed`.
    pub(crate) fn new(stretch: &'a Stretch, thousandths: u64, seed: u64) -> Self {
        let span_us = stretch.span_us() + 1;
        let count = thousandths.div_ceil(1_000).max(1);
        let apart_us = SHIFT_US.max(stretch.p99_us * 2).min(span_us / count);
        let copies = (0..count).map(|copy| {
            let shift_us = apart_us * copy;
            Copy {
                at: stretch.requests.partition_point(|it| it.at_us() + shift_us < span_us) % stretch.len().max(1),
                left: stretch.len(),
                shift_us,
                part: (thousandths - copy * 1_000).min(1_000),
            }
        });
        Self { requests: &stretch.requests, span_us, seed, copies: copies.collect() }
    }

    fn time_us(&self, copy: &Copy) -> u64 {
        (self.requests[copy.at].at_us() + copy.shift_us) % self.span_us
    }
}

/// A number from 0 to 999 that depends on both.
fn thousandth(seed: u64, at: usize) -> u64 {
    fastrand::Rng::with_seed(seed ^ (at as u64).wrapping_mul(0xD6E8_FEB8_6659_FD93)).u64(..1_000)
}

impl Iterator for Traffic<'_> {
    type Item = (u64, Request);

    fn next(&mut self) -> Option<(u64, Request)> {
        loop {
            let open = self.copies.iter().enumerate().filter(|(_, copy)| copy.left > 0);
            let (time_us, first) = open.map(|(at, copy)| (self.time_us(copy), at)).min()?;
            let copy = &mut self.copies[first];
            let at = copy.at;
            copy.at = (at + 1) % self.requests.len();
            copy.left -= 1;
            if copy.part == 1_000 || thousandth(self.seed, at) < copy.part {
                return Some((time_us, self.requests[at]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::arrivals::Knows;

    fn stretch(times_us: &[u64]) -> Stretch {
        let requests = times_us.iter().map(|at_us| Request::new(*at_us, 1, 10, 10)).collect();
        Stretch { requests, names: Vec::new(), began_us: 0, ended_us: 0, p99_us: 10, knows: Knows::default() }
    }

    #[test]
    fn twice_the_traffic_is_each_request_twice_some_seconds_apart() {
        let of = stretch(&[0, 10, 20, 99]);
        let times = |thousandths| Traffic::new(&of, thousandths, 1).map(|(at_us, _)| at_us).collect::<Vec<_>>();
        assert_eq!(times(1_000), [0, 10, 20, 99]);
        assert_eq!(times(2_000), [0, 10, 20, 49, 50, 60, 70, 99]);
        // A day's peak stays a peak.
        let hour = 3_600_000_000;
        let peaks = stretch(&[0, 12 * hour, 24 * hour]);
        let times: Vec<u64> = Traffic::new(&peaks, 2_000, 1).map(|(at_us, _)| at_us).collect();
        assert_eq!(times[3..5], [12 * hour, 12 * hour + SHIFT_US]);
    }

    proptest! {
        #[test]
        fn copies_come_in_order_and_have_as_many_requests_as_asked(
            mut times in prop::collection::vec(0_u64..1_000_000, 400..600),
            thousandths in 100_u64..4_000,
            seed: u64,
        ) {
            times.sort_unstable();
            times[0] = 0;
            let of = stretch(&times);
            let all: Vec<u64> = Traffic::new(&of, thousandths, seed).map(|(at_us, _)| at_us).collect();
            prop_assert!(all.is_sorted());
            let wanted = times.len() as u64 * thousandths / 1_000;
            prop_assert!((all.len() as u64).abs_diff(wanted) <= 100, "{} of {wanted}", all.len());
        }
    }
}
