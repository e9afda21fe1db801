//! Finds the name that somebody probably meant.

/// The candidate with the fewest edits from `name`; `None` when even that one is too far to be a slip.
#[must_use]
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    // The first of equals wins, so that the answer does not depend on more than the order of the table.
    let (distance, best) = candidates
        .into_iter()
        .map(|candidate| (edits(&name, &candidate.to_lowercase()), candidate))
        .min_by_key(|(distance, _)| *distance)?;
    (distance <= (best.chars().count() / 2).max(2)).then_some(best)
}

/// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
fn edits(left: &str, right: &str) -> usize {
    // Names from a file can be of any length; nobody means a key with one this long.
    const LONGEST: usize = 128;
    let left: Vec<char> = left.chars().take(LONGEST).collect();
    let right: Vec<char> = right.chars().take(LONGEST).collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (row, from) in left.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, to) in right.iter().enumerate() {
            let mut cost = (last[column] + usize::from(from != to)).min(last[column + 1] + 1).min(current[column] + 1);
            if row > 0 && column > 0 && from == &right[column - 1] && &left[row - 1] == to {
                cost = cost.min(before_last[column - 1] + 1);
            }
            current.push(cost);
        }
        before_last = std::mem::replace(&mut last, current);
    }
    last[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_the_keyboard_find_the_key() {
        let keys = ["host", "port", "headers_timeout_ms", "headers_bytes_max"];
        assert_eq!(nearest("prot", keys), Some("port"));
        assert_eq!(nearest("headers_timeout", keys), Some("headers_timeout_ms"));
        assert_eq!(nearest("HOST", keys), Some("host"));
    }

    #[test]
    fn something_else_altogether_finds_nothing() {
        assert_eq!(nearest("colour", ["host", "port"]), None);
        assert_eq!(nearest("x", []), None);
    }

    #[test]
    fn edits_are_counted() {
        assert_eq!(edits("", "abc"), 3);
        assert_eq!(edits("abc", "acb"), 1);
        assert_eq!(edits("kitten", "sitting"), 3);
    }
}
