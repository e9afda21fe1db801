//! Counter of frequent items (Misra and Gries).

/// Counts things by their hash. A thing whose part is greater than one in `MAX` and one more is always counted, and a flood in
/// which nothing comes twice leaves nothing. Two of the same hash count as one: a client that makes two meet has a made-up thing
/// counted.
#[derive(Debug, Default)]
pub struct Frequent<const MAX: usize>(Vec<HitCount>);

#[derive(Debug)]
struct HitCount {
    hash: u32,
    hits: u32,
}

impl<const MAX: usize> Frequent<MAX> {
    /// Counts one. Returns how often it came of late, or somewhat less.
    pub fn count(&mut self, hash: u32) -> u32 {
        if let Some(counted) = self.0.iter_mut().find(|counted| counted.hash == hash) {
            counted.hits = counted.hits.saturating_add(1);
            return counted.hits;
        }
        if self.0.len() < MAX {
            self.0.push(HitCount { hash, hits: 1 });
            return 1;
        }
        self.0.iter_mut().for_each(|counted| counted.hits -= 1);
        self.0.retain(|counted| counted.hits > 0);
        0
    }

    /// Forgets a thing that is counted elsewhere from now on.
    pub fn forget(&mut self, hash: u32) {
        self.0.retain(|counted| counted.hash != hash);
    }

    /// Halves all counts, so that old ones fade.
    pub fn halve(&mut self) {
        self.0.iter_mut().for_each(|counted| counted.hits /= 2);
        self.0.retain(|counted| counted.hits > 0);
    }

    /// Makes room in a list for one that is not there: in a full list that of the rarest, once this one came more often.
    /// Returns how often this one came, if there is room. `hits` is `None` for what may not go.
    pub fn make_room<T>(
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

/// A text as a number (FNV-1a).
pub fn hash(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flood_of_things_that_come_once_does_not_hide_what_comes_often() {
        let mut frequent = Frequent::<4>::default();
        let mut often = 0;
        for once in 0..1_000 {
            frequent.count(hash(&format!("once {once}")));
            if once % 3 == 0 {
                often = frequent.count(hash("often"));
            }
        }
        assert!(often > 20, "{often}");
        assert!(frequent.0.len() <= 4);
        frequent.forget(hash("often"));
        assert!(frequent.count(hash("often")) <= 1);
    }

    #[test]
    fn rarest_makes_room_for_what_came_more_often() {
        let mut frequent = Frequent::<4>::default();
        let mut list = vec![("fixed", None), ("rare", Some(2)), ("usual", Some(9))];
        let mut came = || frequent.make_room(&mut list, 3, 7, |(_, hits)| *hits);
        assert_eq!((came(), came(), came()), (None, None, Some(3)));
        assert_eq!(list, [("fixed", None), ("usual", Some(9))]);
    }
}
