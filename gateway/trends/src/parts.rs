//! Parts of a span of time: counts and sums in each, for comparisons. Differences between parts say how sure a comparison is. It must
//! not know what is counted.

/// Parts of a period, of about as many requests each.
pub(crate) const PARTS: usize = 12;

/// A count and a sum in each part: requests and their time, or requests and those that failed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parts {
    counts: [u32; PARTS],
    sums: [u64; PARTS],
}

impl Parts {
    /// Adds so many, and their sum, to a part.
    pub(crate) fn add(&mut self, part: usize, [count, sum]: [u64; 2]) {
        self.counts[part] = self.counts[part].saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
        self.sums[part] = self.sums[part].saturating_add(sum);
    }

    /// Joins parts two by two.
    pub(crate) fn halve(&mut self) {
        let before = std::mem::take(self);
        for at in 0..PARTS {
            self.add(at / 2, before.at(at));
        }
    }

    /// Count and sum of a part.
    pub(crate) fn at(&self, part: usize) -> [u64; 2] {
        [u64::from(self.counts[part]), self.sums[part]]
    }

    /// Count and sum of all parts.
    pub(crate) fn total(&self) -> [u64; 2] {
        (0..PARTS).map(|part| self.at(part)).fold([0, 0], |all, of| [all[0] + of[0], all[1].saturating_add(of[1])])
    }
}
