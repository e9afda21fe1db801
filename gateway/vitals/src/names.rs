//! Tables by name in bounded number. It must not know what a row holds.

use std::collections::BTreeMap;
use std::time::Duration;

/// Row of all that has no row of its own.
pub(crate) const OTHER: &str = "other";
/// A name that nobody has used for so long makes room for a new one.
pub(crate) const UNUSED: Duration = Duration::from_secs(3600);

/// Rows by name. Beyond `MAX` names, one that has not been used for an hour makes room, else the new one counts as [`OTHER`].
#[derive(Debug)]
pub(crate) struct Names<T, const MAX: usize> {
    rows: BTreeMap<String, Row<T>>,
    other: T,
    has_other: bool,
}

#[derive(Debug)]
struct Row<T> {
    used: Duration,
    value: T,
}

impl<T: Default, const MAX: usize> Default for Names<T, MAX> {
    fn default() -> Self {
        Self { rows: BTreeMap::new(), other: T::default(), has_other: false }
    }
}

impl<T: Default, const MAX: usize> Names<T, MAX> {
    /// The row of a name that a trusted sender uses; made where there is none.
    pub(crate) fn used(&mut self, name: &str, now: Duration) -> &mut T {
        let makes = name != OTHER && !self.rows.contains_key(name) && (self.rows.len() < MAX || self.makes_room(now));
        if makes {
            self.rows.insert(name.to_owned(), Row { used: now, value: T::default() });
        }
        if let Some(row) = self.rows.get_mut(name) {
            row.used = now;
            return &mut row.value;
        }
        self.has_other = true;
        &mut self.other
    }

    /// Whether a name that a trusted sender uses has a row by now.
    pub(crate) fn has(&mut self, name: &str, now: Duration) -> bool {
        self.used(name, now);
        self.rows.contains_key(name)
    }

    /// The row of a name that a stranger uses.
    pub(crate) fn found(&mut self, name: &str) -> &mut T {
        if let Some(row) = self.rows.get_mut(name) {
            return &mut row.value;
        }
        self.has_other = true;
        &mut self.other
    }

    /// Name of the row that a name counts under now.
    pub(crate) fn name_of<'a>(&self, name: &'a str) -> &'a str {
        if self.rows.contains_key(name) { name } else { OTHER }
    }

    /// All rows that were used, in the order of their names, [`OTHER`] last.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        let rows = self.rows.iter().map(|(name, row)| (name.as_str(), &row.value));
        rows.chain(self.has_other.then_some((OTHER, &self.other)))
    }

    /// The same, to be changed.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut T)> {
        let rows = self.rows.iter_mut().map(|(name, row)| (name.as_str(), &mut row.value));
        rows.chain(self.has_other.then_some((OTHER, &mut self.other)))
    }

    fn makes_room(&mut self, now: Duration) -> bool {
        let longest = self.rows.iter().min_by_key(|(_, row)| row.used).map(|(name, row)| (name.clone(), row.used));
        let unused = longest.filter(|(_, used)| now.saturating_sub(*used) >= UNUSED);
        unused.is_some_and(|(name, _)| self.rows.remove(&name).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(table: &Names<u64, 3>) -> Vec<(&str, u64)> {
        table.iter().map(|(name, count)| (name, *count)).collect()
    }

    #[test]
    fn i6_names_are_bounded_and_the_rest_counts_as_other() {
        let (mut table, now) = (Names::<u64, 3>::default(), Duration::ZERO);
        assert_eq!(names(&table), []);
        for name in ["a", "b", "c", "d", "e", "a"] {
            *table.used(name, now) += 1;
        }
        assert_eq!(names(&table), [("a", 2), ("b", 1), ("c", 1), ("other", 2)]);
    }

    #[test]
    fn strangers_add_no_name_and_keep_none_alive() {
        let (mut table, hour) = (Names::<u64, 3>::default(), Duration::from_secs(3600));
        for name in ["a", "b", "c"] {
            table.used(name, Duration::ZERO);
        }
        table.used("b", hour / 2);
        *table.found("a") += 1;
        *table.found("x") += 1;
        assert_eq!(names(&table), [("a", 1), ("b", 0), ("c", 0), ("other", 1)]);
        *table.used("d", hour) += 1;
        assert_eq!(names(&table), [("b", 0), ("c", 0), ("d", 1), ("other", 1)], "the one unused for longest has gone");
    }

    #[test]
    fn a_name_that_is_other_is_the_rest() {
        let mut table = Names::<u64, 3>::default();
        *table.used(OTHER, Duration::ZERO) += 1;
        *table.found(OTHER) += 1;
        assert_eq!(names(&table), [("other", 2)]);
    }
}
