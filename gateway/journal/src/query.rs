//! Query strings in log lines: as they came, hidden, or without the values of parameters that look like secrets.
//!
//! It must not know which events have a target.

use std::borrow::Cow;
use std::rc::Rc;

/// Stands where a value is hidden.
pub const HIDDEN: &str = "***";

/// Treatment of query strings in lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Query {
    /// All of it.
    #[default]
    Keep,
    /// Nothing.
    Drop,
    /// All but the values of parameters with one of these words in their names. Words are in lower case.
    Mask(Rc<[String]>),
}

impl Query {
    /// The target or URL as lines show it.
    pub fn shown<'t>(&self, target: &'t str) -> Cow<'t, str> {
        let Some((path, query)) = target.split_once('?') else { return Cow::Borrowed(target) };
        match self {
            Self::Keep => Cow::Borrowed(target),
            Self::Drop => Cow::Borrowed(path),
            Self::Mask(words) => {
                let is_secret = |part: &str| {
                    let parameter = part.trim_end_matches(['&', ';']).split_once('=');
                    parameter.is_some_and(|(name, value)| !value.is_empty() && names_secret(words, name))
                };
                // Either separates parameters, as servers differ in it.
                let parts = query.split_inclusive(['&', ';']);
                if !parts.clone().any(is_secret) {
                    return Cow::Borrowed(target);
                }
                let mut shown = format!("{path}?");
                for part in parts {
                    let (name, value) = part.split_once('=').unwrap_or((part, ""));
                    if is_secret(part) {
                        shown.extend([name, "=", HIDDEN]);
                        shown.push_str(&value[value.trim_end_matches(['&', ';']).len()..]);
                    } else {
                        shown.push_str(part);
                    }
                }
                Cow::Owned(shown)
            }
        }
    }
}

/// Whether one of the words is one of the name's: of `access_token`, `accessToken`, `X-Amz-Signature` or `user[password]`.
fn names_secret(words: &[String], name: &str) -> bool {
    let decoded = decoded(name);
    let is_known = |word: &str| words.iter().any(|known| known.eq_ignore_ascii_case(word));
    decoded
        .split(|character: char| !character.is_alphanumeric())
        .any(|part| is_known(part) || humps(part).any(is_known))
}

/// The words of `accessToken`: each begins with a capital letter that follows a small one.
fn humps(part: &str) -> impl Iterator<Item = &str> {
    let mut rest = part;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let is_edge = |pair: &[u8]| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase();
        let at = rest.as_bytes().windows(2).position(is_edge).map_or(rest.len(), |at| at + 1);
        let (word, after) = rest.split_at(at);
        rest = after;
        Some(word)
    })
}

/// The name without percent-encoding, so that `%74oken` is `token`. Bytes that are no UTF-8 are replaced.
fn decoded(name: &str) -> Cow<'_, str> {
    if !name.contains('%') {
        return Cow::Borrowed(name);
    }
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let [first, after @ ..] = rest {
        let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        match after {
            [high, low, after @ ..] if *first == b'%' && digit(high).is_some() && digit(low).is_some() => {
                bytes.push(digit(high).unwrap_or(0) << 4 | digit(low).unwrap_or(0));
                rest = after;
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask() -> Query {
        Query::Mask(["token", "key", "password", "signature"].map(str::to_owned).into())
    }

    #[test]
    fn values_of_secrets_are_hidden_and_all_else_stays() {
        for (target, shown) in [
            ("/reset?token=abc&page=2", "/reset?token=***&page=2"),
            ("/?a=1&access_token=x=y;b=2", "/?a=1&access_token=***;b=2"),
            ("/?accessToken=a&X-Amz-Signature=b", "/?accessToken=***&X-Amz-Signature=***"),
            (
                "/?%74oken=a&user%5Bpassword%5D=b&user[password]=c",
                "/?%74oken=***&user%5Bpassword%5D=***&user[password]=***",
            ),
            ("/?TOKEN=a&Api-Key=b", "/?TOKEN=***&Api-Key=***"),
            ("/?token&token=&keyboard=x&monkey=y&%zz=1&%", "/?token&token=&keyboard=x&monkey=y&%zz=1&%"),
            ("https://shop.example/a?key=1#top", "https://shop.example/a?key=***"),
            ("/token=1", "/token=1"),
            ("/?", "/?"),
            ("", ""),
        ] {
            assert_eq!(mask().shown(target), shown);
        }
    }

    #[test]
    fn query_strings_may_be_dropped_or_kept_as_a_whole() {
        assert_eq!(Query::Drop.shown("/reset?token=abc?x"), "/reset");
        assert_eq!(Query::Keep.shown("/reset?token=abc"), "/reset?token=abc");
        assert_eq!(Query::Drop.shown("/reset"), "/reset");
    }
}
