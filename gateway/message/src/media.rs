//! Media types that a client accepts, by its `Accept` (RFC 9110 §12.5.1).

use crate::coding::weight;
use crate::elements;

/// Preference of a client for a media type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MediaPreference {
    /// Thousandths; 0 for a type that it does not accept.
    pub weight: u16,
    /// True if it names the type itself, and not only a range with others.
    pub is_named: bool,
}

/// Preferences of the client for each of the types, which are in lower case. Of the ranges that a type is in, the narrowest
/// counts. A client that says nothing likes all alike.
pub fn liked<'a, const N: usize>(accept: impl Iterator<Item = &'a [u8]>, types: [&str; N]) -> [MediaPreference; N] {
    let (mut liked, mut narrowness, mut is_said) = ([MediaPreference::default(); N], [0_u8; N], false);
    for element in accept.flat_map(elements) {
        is_said = true;
        let mut parts = element.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
        let range = parts.next().unwrap_or_default().to_ascii_lowercase();
        let is_weight = |part: &&[u8]| part.get(..2).is_some_and(|start| start.eq_ignore_ascii_case(b"q="));
        // What stands before it belongs to the type, and no type here has parameters.
        let weight = weight(parts.find(is_weight));
        for (nth, name) in types.iter().enumerate() {
            let narrow = fits(&range, name);
            if narrow > narrowness[nth] {
                narrowness[nth] = narrow;
                liked[nth] = MediaPreference { weight, is_named: narrow == NAMED };
            }
        }
    }
    if is_said { liked } else { [MediaPreference { weight: 1_000, is_named: false }; N] }
}

/// Narrowness of a range that names the type itself.
const NAMED: u8 = 3;

/// Narrowness of the range for a type that is in it; 0 for one that is not.
fn fits(range: &[u8], name: &str) -> u8 {
    let kind = name.split_once('/').map_or(name, |(kind, _)| kind).as_bytes();
    match range {
        b"*/*" => 1,
        _ if range == name.as_bytes() => NAMED,
        _ if range.strip_suffix(b"/*") == Some(kind) => 2,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(accept: &str) -> [(u16, bool); 2] {
        let lines = if accept.is_empty() { vec![] } else { vec![accept.as_bytes()] };
        liked(lines.into_iter(), ["text/html", "application/json"]).map(|liked| (liked.weight, liked.is_named))
    }

    #[test]
    fn narrowest_range_counts_wherever_it_stands() {
        for (accept, expected) in [
            ("", [(1000, false), (1000, false)]),
            ("*/*", [(1000, false), (1000, false)]),
            ("text/html", [(1000, true), (0, false)]),
            ("text/*;q=0.5, TEXT/HTML;q=0.2", [(200, true), (0, false)]),
            ("text/html;q=0, */*", [(0, true), (1000, false)]),
            ("application/json;charset=utf-8;q=0.7, text/*;q=0.3", [(300, false), (700, true)]),
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", [(1000, true), (800, false)]),
            ("image/png", [(0, false), (0, false)]),
            ("application/json;q=nonsense", [(0, false), (0, true)]),
            ("text/htm, text/html2, text, /*", [(0, false), (0, false)]),
        ] {
            assert_eq!(of(accept), expected, "{accept}");
        }
    }
}
