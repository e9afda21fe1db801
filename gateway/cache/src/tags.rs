//! The tags by which an app calls its pages, and by which it purges them.

use percent_encoding::percent_decode;
use sluice_message::{Fields, elements};

/// Fields that name the tags of a response; they are not sent to clients.
pub const TAG_FIELDS: [&str; 2] = ["cache-tag", "surrogate-key"];
/// The field, or trailer, by which a worker names the tags of the parts that a page was made of.
pub const PARTS_FIELD: &str = "x-sluice-tags";
/// Maximum number of tags of a stored page. It could not be purged by those that are left out.
pub const TAGS_MAX: usize = 1000;

/// Tags of the parts that a page was made of, as a worker names them: encoded as in URLs, separated by commas.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    tags: Vec<Box<str>>,
    /// Parts that are still to be rendered may add tags, up to the end of the response.
    pub may_grow: bool,
    /// True if there are more than are named.
    pub are_cut: bool,
}

impl Parts {
    /// Takes a value of [`PARTS_FIELD`]: `+` stands for more to come, `*` for more than are named.
    pub fn read(&mut self, value: &[u8]) {
        for element in value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
            match element {
                b"" => {}
                b"+" => self.may_grow = true,
                b"*" => self.are_cut = true,
                _ if self.tags.len() >= TAGS_MAX => self.are_cut = true,
                _ => self.tags.push(percent_decode(element).decode_utf8_lossy().into()),
            }
        }
    }
}

/// The tags of a response, sorted: separated by commas or spaces in `Cache-Tag` and `Surrogate-Key`, and those of its parts. None where they
/// are too many.
pub fn tags(fields: &Fields, parts: &Parts) -> Option<Vec<Box<str>>> {
    let lines = TAG_FIELDS.iter().flat_map(|name| fields.get_all(name));
    let words = lines.flat_map(elements).flat_map(|element| element.split(|byte| *byte == b' '));
    let words = words.filter(|word| !word.is_empty()).filter_map(|word| std::str::from_utf8(word).ok());
    joined(words.map(Into::into).collect(), parts)
}

/// Joins these tags with those of the parts, sorted. None if they are too many.
pub fn joined(mut tags: Vec<Box<str>>, parts: &Parts) -> Option<Vec<Box<str>>> {
    tags.extend(parts.tags.iter().cloned());
    tags.sort_unstable();
    tags.dedup();
    (!parts.are_cut && tags.len() <= TAGS_MAX).then_some(tags)
}
