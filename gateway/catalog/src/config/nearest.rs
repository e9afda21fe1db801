//! Search for the name that was probably meant.

/// Maximum compared length of a name, characters. Names from a file can have any length, but no key is that long.
const CHARS_MAX: usize = 128;

/// The candidate with the fewest insertions, deletions, replacements and swaps of neighbours from `name`; `None` when even that
/// one is too far to be a slip.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name: String = name.to_lowercase().chars().take(CHARS_MAX).collect();
    // The first of equals wins, so that the answer does not depend on more than the order of the table.
    let (distance, best) = candidates
        .into_iter()
        .map(|candidate| (strsim::osa_distance(&name, &candidate.to_lowercase()), candidate))
        .min_by_key(|(distance, _)| *distance)?;
    (distance <= (best.chars().count() / 2).max(2)).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_the_keyboard_find_the_key() {
        let keys = ["host", "port", "send_timeout_ms", "headers_bytes_max"];
        assert_eq!(nearest("prot", keys), Some("port"));
        assert_eq!(nearest("send_timeout", keys), Some("send_timeout_ms"));
        assert_eq!(nearest("HOST", keys), Some("host"));
    }

    #[test]
    fn something_else_altogether_finds_nothing() {
        assert_eq!(nearest("colour", ["host", "port"]), None);
        assert_eq!(nearest("x", []), None);
    }
}
