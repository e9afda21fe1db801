//! Matches paths with the beginnings of paths in the config, in any spelling. An app may read a path otherwise than it is written:
//! `/blog/..%2faccount` is below `/blog/` for one and the account for another. This must not know what the config says of a path.

use crate::admit::rate::paths::readings;

/// Whether every app reads this path as one that begins with the prefix.
pub(crate) fn lies_surely_below(path: &str, prefix: &str) -> bool {
    path.starts_with(prefix)
        && readings(path).iter().all(|reading| reading.starts_with(prefix.as_bytes()) && !is_ambiguous(reading))
}

/// Whether an app could read this path as one that begins with one of these, which are in lower case: many routers ignore case.
pub(crate) fn may_lie_below(path: &str, prefixes: &[String]) -> bool {
    let begins = |reading: &[u8]| {
        prefixes.iter().any(|prefix| {
            reading.get(..prefix.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(prefix.as_bytes()))
        })
    };
    begins(path.as_bytes()) || readings(path).iter().any(|reading| begins(reading) || is_ambiguous(reading))
}

/// Whether there is an escaped slash, backslash or percent sign, or a `;` that some take for the end of a name.
fn is_ambiguous(reading: &[u8]) -> bool {
    reading.contains(&b';') || reading.windows(3).any(|three| matches!(three, b"%2F" | b"%5C" | b"%25"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_may_be_read_as_another_is_surely_below_nothing() {
        for path in ["/blog/", "/blog/a", "/blog/a/", "/blog/%61", "/blog/a.b"] {
            assert!(lies_surely_below(path, "/blog/"), "{path}");
        }
        for path in [
            "/blog",
            "/Blog/a",
            "/blog/../account",
            "/blog/%2e%2e/account",
            "/blog/..%2faccount",
            "/blog/..%5Caccount",
            "/blog/..\\account",
            "/blog/%252e%252e/account",
            "/blog/..;/account",
            "/blog/a//../../account",
            "//blog/account",
            "/blog/a/..",
        ] {
            assert!(!lies_surely_below(path, "/blog/"), "{path}");
        }
    }

    #[test]
    fn no_spelling_of_a_path_dodges_what_is_said_of_it() {
        let prefixes = ["/account".to_owned()];
        for path in [
            "/account/1",
            "/Account",
            "/%61ccount",
            "//account",
            "/./account",
            "/a/../account",
            "/a/..\\account",
            "/a%2f..%2faccount",
            "/x;/account",
        ] {
            assert!(may_lie_below(path, &prefixes), "{path}");
        }
        for path in ["/", "/blog/account", "/accoun"] {
            assert!(!may_lie_below(path, &prefixes), "{path}");
        }
    }
}
