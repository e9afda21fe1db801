//! Counts what has no place yet, of which there may be anything: what comes often is known, and a flood in which nothing
//! comes twice leaves nothing (Misra and Gries). It must not know what that is.

/// What has a greater part than one in so many and one more is always counted.
const COUNTED_MAX: usize = 24;

/// Two of the same hash count as one: who makes two meet gets a made-up thing a place, and nothing else.
#[derive(Debug)]
struct Counted {
    hash: u32,
    hits: u32,
}

#[derive(Debug, Default)]
pub(super) struct Newcomers(Vec<Counted>);

impl Newcomers {
    /// Counts one. Returns how often it came of late, or somewhat less.
    pub(super) fn count(&mut self, hash: u32) -> u32 {
        if let Some(counted) = self.0.iter_mut().find(|counted| counted.hash == hash) {
            counted.hits = counted.hits.saturating_add(1);
            return counted.hits;
        }
        if self.0.len() < COUNTED_MAX {
            self.0.push(Counted { hash, hits: 1 });
            return 1;
        }
        self.0.iter_mut().for_each(|counted| counted.hits -= 1);
        self.0.retain(|counted| counted.hits > 0);
        0
    }

    /// It has a place now.
    pub(super) fn forget(&mut self, hash: u32) {
        self.0.retain(|counted| counted.hash != hash);
    }

    pub(super) fn halve(&mut self) {
        self.0.iter_mut().for_each(|counted| counted.hits /= 2);
        self.0.retain(|counted| counted.hits > 0);
    }

    /// Makes room in a list for one that is not there: in a full list that of the rarest, once this one came more often.
    /// Returns how often this one came, if there is room. `hits` is `None` for what may not go.
    pub(super) fn make_room<T>(
        &mut self,
        list: &mut Vec<T>,
        max: usize,
        hash: u32,
        hits: impl Fn(&T) -> Option<u32>,
    ) -> Option<u32> {
        let came = self.count(hash);
        if list.len() >= max {
            let going = list.iter().enumerate().filter_map(|(at, held)| Some((at, hits(held)?)));
            let (rarest, _) = going.min_by_key(|(_, hits)| *hits).filter(|(_, hits)| came > *hits)?;
            list.remove(rarest);
        }
        self.forget(hash);
        Some(came.max(1))
    }
}
