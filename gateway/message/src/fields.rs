//! The fields of a head, in one owned block. It must not know what any field means.

use std::cell::RefCell;
use std::io::Write as _;
use std::ops::Range;

/// Places of a field's name and value in the blocks of [`Fields`].
type FieldSpans = (Range<usize>, Range<usize>);

/// Blocks of dropped fields, for the next ones of this thread: six allocations fewer for a request and its answer.
struct Blocks {
    names: String,
    values: Vec<u8>,
    places: Vec<FieldSpans>,
}

/// Maximum number of blocks that a thread stores.
const BLOCKS_MAX: usize = 32;
/// Maximum size of a stored block, bytes.
const BLOCK_BYTES_MAX: usize = 4096;
/// Maximum number of fields in a stored block.
const PLACES_MAX: usize = 128;

thread_local! {
    static SPARE: RefCell<Vec<Blocks>> = const { RefCell::new(Vec::new()) };
}

/// Header or trailer fields in the order and the case in which they were sent.
///
/// Names are tokens; values are without white space around them and hold no control byte but HTAB.
#[derive(Default)]
pub struct Fields {
    names: String,
    values: Vec<u8>,
    /// Places of each field's name and value in the two blocks above.
    places: Vec<FieldSpans>,
}

impl Fields {
    /// Room for `count` fields of `bytes` bytes together.
    pub fn with_capacity(count: usize, bytes: usize) -> Self {
        let mut fields = Self::spare();
        fields.names.reserve(count.saturating_mul(16).min(bytes));
        fields.values.reserve(bytes);
        fields.places.reserve(count);
        fields
    }

    /// No fields, in the blocks of dropped ones if there are any.
    fn spare() -> Self {
        let spare = SPARE.try_with(|spare| spare.borrow_mut().pop()).ok().flatten();
        spare.map_or_else(Self::default, |Blocks { names, values, places }| Self { names, values, places })
    }

    /// The caller vouches that `name` is a token, and that `value` has no white space around it and holds no control byte but
    /// HTAB.
    pub fn push(&mut self, name: &str, value: impl AsRef<[u8]>) {
        let from = (self.names.len(), self.values.len());
        self.names.push_str(name);
        self.values.extend_from_slice(value.as_ref());
        self.places.push((from.0..self.names.len(), from.1..self.values.len()));
    }

    /// The same with a value that is made in place. What is said of [`Fields::push`] holds here too.
    pub fn push_written(&mut self, name: &str, value: std::fmt::Arguments<'_>) {
        let from = (self.names.len(), self.values.len());
        self.names.push_str(name);
        // Writing to a `Vec` cannot fail.
        let _ = self.values.write_fmt(value);
        self.places.push((from.0..self.names.len(), from.1..self.values.len()));
    }

    /// A copy with room for `count` fields more, of `bytes` bytes together.
    pub fn clone_with_room(&self, count: usize, bytes: usize) -> Self {
        let mut copy = Self::spare();
        copy.names.reserve(self.names.len() + bytes);
        copy.names.push_str(&self.names);
        copy.values.reserve(self.values.len() + bytes);
        copy.values.extend_from_slice(&self.values);
        copy.places.reserve(self.places.len() + count);
        copy.places.extend_from_slice(&self.places);
        copy
    }

    /// Removes the fields for which `keeps` is false.
    pub fn retain(&mut self, mut keeps: impl FnMut(&str, &[u8]) -> bool) {
        let Self { names, values, places } = self;
        places.retain(|(name, value)| keeps(&names[name.clone()], &values[value.clone()]));
    }

    /// All fields: names as sent, values without the white space around them.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> + Clone {
        self.places.iter().map(|(name, value)| (&self.names[name.clone()], &self.values[value.clone()]))
    }

    /// The value of the first field of that name, in whatever case.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.get_all(name).next()
    }

    /// The values of all fields of that name, in whatever case.
    pub fn get_all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        self.iter().filter(move |(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// True if there is a field of that name, in whatever case.
    pub fn contains(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// True if a name holds `_`, or one that was removed; see [`crate::check_underscores`].
    pub fn has_underscore(&self) -> bool {
        memchr::memchr(b'_', self.names.as_bytes()).is_some()
    }

    /// The number of fields.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// True if there is no field.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }
}

impl Clone for Fields {
    fn clone(&self) -> Self {
        self.clone_with_room(0, 0)
    }
}

impl Drop for Fields {
    fn drop(&mut self) {
        let is_worth_it = (1..=PLACES_MAX).contains(&self.places.capacity())
            && self.values.capacity() <= BLOCK_BYTES_MAX
            && self.names.capacity() <= BLOCK_BYTES_MAX;
        if !is_worth_it {
            return;
        }
        let (mut names, mut values) = (std::mem::take(&mut self.names), std::mem::take(&mut self.values));
        let mut places = std::mem::take(&mut self.places);
        names.clear();
        values.clear();
        places.clear();
        // Where the thread ends, its store may be gone.
        let _ = SPARE.try_with(|spare| {
            let mut spare = spare.borrow_mut();
            if spare.len() < BLOCKS_MAX {
                spare.push(Blocks { names, values, places });
            }
        });
    }
}

impl PartialEq for Fields {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Fields {}

impl std::fmt::Debug for Fields {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter().map(|(name, value)| format!("{name}: {}", value.escape_ascii()))).finish()
    }
}

impl<'f> FromIterator<(&'f str, &'f [u8])> for Fields {
    fn from_iter<T: IntoIterator<Item = (&'f str, &'f [u8])>>(fields: T) -> Self {
        let mut made = Fields::spare();
        for (name, value) in fields {
            made.push(name, value);
        }
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_in_the_blocks_of_dropped_ones_have_nothing_of_them() {
        drop([("Cookie", &b"of another client"[..]), ("A", b"1")].into_iter().collect::<Fields>());
        let made = Fields::with_capacity(1, 10);
        assert!(made.is_empty() && !made.has_underscore() && made.get("cookie").is_none());
        assert_eq!((made.names.len(), made.values.len()), (0, 0));
    }

    #[test]
    fn removed_fields_are_gone_and_the_others_keep_their_order() {
        let mut fields: Fields = [("A", &b"1"[..]), ("b", b"2"), ("a", b"3"), ("c", b"")].into_iter().collect();
        fields.retain(|name, value| !name.eq_ignore_ascii_case("a") || value == b"3");
        assert_eq!(fields.iter().collect::<Vec<_>>(), [("b", &b"2"[..]), ("a", b"3"), ("c", b"")]);
        assert_eq!((fields.len(), fields.get("A"), fields.contains("d")), (3, Some(&b"3"[..]), false));
        let same: Fields = fields.iter().collect();
        assert_eq!(fields, same, "what was removed counts for nothing");
    }
}
