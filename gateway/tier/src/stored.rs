//! Form and name of a page in the server.
//!
//! The name of a URL holds its page, or, if it has variants, the names of the fields that distinguish them; each variant has a
//! name of its own then. Names are hashes, so that they are short and no URL is a part of a command.

use bytes::Bytes;
use ring::digest::{Context, SHA256};
use sluice_cache::{Dimensions, Moment, Page, PageRecord, Unreadable, decode, encode};
use sluice_message::Fields;

use crate::log::{Id, Position};

const PAGE: u8 = b'P';
const NAMES: u8 = b'N';
/// Bytes before a page: its kind, the number of the log, the id in it, and the checksum of these.
const FRONT_BYTES: usize = 1 + 3 * 8 + 4;
/// Bytes of a hash that make a name.
const NAME_BYTES: usize = 16;

/// Names of everything that gateways with one prefix have in common.
pub(crate) struct Names {
    prefix: String,
}

impl Names {
    pub(crate) fn new(prefix: &str) -> Self {
        Names { prefix: prefix.to_owned() }
    }

    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }

    pub(crate) fn log(&self) -> String {
        format!("{}purges", self.prefix)
    }

    /// Name of a URL.
    pub(crate) fn page(&self, url: &str) -> String {
        self.name(&[url.as_bytes()])
    }

    /// Name of a variant.
    pub(crate) fn variant(&self, url: &str, dimensions: &Dimensions) -> String {
        let parts = dimensions.parts().flat_map(|(name, _, value)| {
            let is_there: &[u8] = if value.is_some() { b"1" } else { b"0" };
            [name.as_bytes(), is_there, value.unwrap_or_default()]
        });
        self.name(&std::iter::once(url.as_bytes()).chain(parts).collect::<Vec<_>>())
    }

    fn name(&self, parts: &[&[u8]]) -> String {
        let mut hash = Context::new(&SHA256);
        for part in parts {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        format!("{}page:{}", self.prefix, hex(&hash.finish().as_ref()[..NAME_BYTES]))
    }
}

/// Bytes in lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut digits = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}

/// Value under a name.
pub(crate) enum Value {
    Page(Position, Bytes),
    /// The names of the fields by which the variants are distinguished.
    Names(Vec<String>),
}

impl Value {
    /// `None` where it is neither.
    pub(crate) fn read(value: &Bytes) -> Option<Self> {
        match *value.first()? {
            PAGE => {
                let (front, checksum) = value.get(..FRONT_BYTES)?.split_at(FRONT_BYTES - 4);
                if crc(front) != checksum {
                    return None;
                }
                let (numbers, _) = front[1..].as_chunks::<8>();
                let [log, ms, number] = <[[u8; 8]; 3]>::try_from(numbers).ok()?.map(u64::from_le_bytes);
                Some(Value::Page(Position { log, id: Id { ms, number } }, value.slice(FRONT_BYTES..)))
            }
            NAMES => {
                let (checksum, names) = value[1..].split_at_checked(4)?;
                if crc(names) != checksum {
                    return None;
                }
                Some(Value::Names(std::str::from_utf8(names).ok()?.split('\n').map(str::to_owned).collect()))
            }
            _ => None,
        }
    }
}

fn crc(bytes: &[u8]) -> [u8; 4] {
    sluice_cache::checksum(bytes).to_le_bytes()
}

/// A page as it is stored.
pub(crate) fn page(position: Position, page: &PageRecord<'_>, now: Moment, clock_ms: u64) -> Vec<u8> {
    let mut value = vec![PAGE];
    for number in [position.log, position.id.ms, position.id.number] {
        value.extend_from_slice(&number.to_le_bytes());
    }
    value.extend_from_slice(&crc(&value));
    value.extend_from_slice(&encode(page, now, clock_ms));
    value
}

/// Value that is stored beside variants.
pub(crate) fn names(dimensions: &Dimensions) -> Vec<u8> {
    let names: Vec<&str> = dimensions.parts().map(|(name, ..)| name).collect();
    let names = names.join("\n");
    let mut value = vec![NAMES];
    value.extend_from_slice(&crc(names.as_bytes()));
    value.extend_from_slice(names.as_bytes());
    value
}

/// The page that was stored for this URL and this request. `None` where it is another's.
///
/// # Errors
/// When it is damaged, of another version, or from the future.
pub(crate) fn read(
    value: &Bytes,
    url: &str,
    request: &Fields,
    now: Moment,
    clock_ms: u64,
) -> Result<Option<Page>, Unreadable> {
    let page = decode(value, now, clock_ms)?;
    Ok(Some(page).filter(|page| page.key == url && page.policy.is_for(request)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dimensions(values: &[(&str, &str)]) -> Dimensions {
        let request: Fields = values.iter().map(|(name, value)| (*name, value.as_bytes())).collect();
        let names: Vec<_> = values.iter().map(|(name, _)| (*name).to_owned()).collect();
        Dimensions::of(&request, &Fields::default(), &names).unwrap()
    }

    #[test]
    fn each_variant_has_a_name_of_its_own() {
        let names = Names::new("shop:");
        let de = names.variant("https://a.test/", &dimensions(&[("x-lang", "de")]));
        assert!(de.starts_with("shop:page:") && de.len() == "shop:page:".len() + 32, "{de}");
        for other in [
            names.page("https://a.test/"),
            names.variant("https://a.test/", &dimensions(&[("x-lang", "fr")])),
            names.variant("https://a.test/", &dimensions(&[("x-land", "de")])),
            names.variant("https://a.test/x", &dimensions(&[("x-lang", "de")])),
            names.variant("https://a.test/x-lang", &dimensions(&[("", "de")])),
            Names::new("other:").variant("https://a.test/", &dimensions(&[("x-lang", "de")])),
        ] {
            assert_ne!(de, other);
        }
        assert_eq!(de, names.variant("https://a.test/", &dimensions(&[("x-lang", "de")])));
    }

    #[test]
    fn names_of_variants_are_read_as_they_were_written_and_damaged_ones_are_not() {
        let value = names(&dimensions(&[("x-lang", "de"), ("cookie:currency", "")]));
        let read = |value: &[u8]| match Value::read(&Bytes::copy_from_slice(value)) {
            Some(Value::Names(names)) => Some(names),
            _ => None,
        };
        assert_eq!(read(&value), Some(vec!["x-lang".to_owned(), "cookie:currency".to_owned()]));
        for len in 0..value.len() {
            assert_eq!(read(&value[..len]), None, "{len}");
        }
    }

    #[test]
    fn the_position_of_a_page_is_read_as_it_was_written_and_a_damaged_one_is_not() {
        let position = Position { log: 7, id: Id { ms: 1_700_000_000_000, number: 3 } };
        let mut value = vec![PAGE];
        for number in [7, 1_700_000_000_000, 3_u64] {
            value.extend_from_slice(&number.to_le_bytes());
        }
        value.extend_from_slice(&crc(&value));
        value.extend_from_slice(b"page");
        let read = |value: &[u8]| match Value::read(&Bytes::copy_from_slice(value)) {
            Some(Value::Page(position, rest)) => Some((position, rest)),
            _ => None,
        };
        assert_eq!(read(&value), Some((position, Bytes::from_static(b"page"))));
        for place in 0..FRONT_BYTES {
            let mut other = value.clone();
            other[place] ^= 1;
            assert_eq!(read(&other), None, "{place}");
        }
    }
}
