//! The fields of a head, in one owned block. It must not know what any field means.

use crate::bytes::{Name, classify_name, has_control, trim_ows};
use crate::reject::Rejection;

/// Header or trailer fields in the order and the case in which they were sent.
///
/// Names are tokens; values are without white space around them and hold no control byte but HTAB.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields {
    names: String,
    values: Vec<u8>,
    /// Where each field's name and value end in the two blocks above.
    ends: Vec<(usize, usize)>,
    has_underscore: bool,
}

impl Fields {
    pub(crate) fn with_capacity(count: usize, bytes: usize) -> Self {
        Self {
            names: String::with_capacity(count.saturating_mul(16).min(bytes)),
            values: Vec::with_capacity(bytes),
            ends: Vec::with_capacity(count),
            has_underscore: false,
        }
    }

    /// `name` is the line's, as text.
    pub(crate) fn push(&mut self, line: &Line<'_>, name: &str) {
        self.has_underscore |= line.has_underscore;
        self.names.push_str(name);
        self.values.extend_from_slice(line.value);
        self.ends.push((self.names.len(), self.values.len()));
    }

    /// All fields: names as sent, values without the white space around them.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> + Clone {
        let mut from = (0, 0);
        self.ends.iter().map(move |&to| {
            let field = (&self.names[from.0..to.0], &self.values[from.1..to.1]);
            from = to;
            field
        })
    }

    /// The value of the first field of that name, in whatever case.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.get_all(name).next()
    }

    /// The values of all fields of that name, in whatever case.
    pub fn get_all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        self.iter().filter(move |(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// True if there is a field of that name, in whatever case.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// True if a name holds `_`; see [`crate::check_underscores`].
    #[must_use]
    pub fn has_underscore(&self) -> bool {
        self.has_underscore
    }

    /// The number of fields.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True if there is no field.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

/// One field line that is in order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'b> {
    pub name: &'b [u8],
    /// Without the white space around it.
    pub value: &'b [u8],
    /// All that stood after the colon.
    pub raw: &'b [u8],
    pub has_underscore: bool,
}

impl<'b> Line<'b> {
    /// Parses a line without its CRLF. The caller sees to control bytes, with [`check_control`], for many lines at once.
    pub(crate) fn parse(line: &'b [u8]) -> Result<Self, Rejection> {
        if let Some(b' ' | b'\t') = line.first() {
            return Err(Rejection::malformed("a folded field line"));
        }
        let Some(colon) = memchr::memchr(b':', line) else {
            return Err(Rejection::malformed("a field line without a colon"));
        };
        let (name, raw) = (&line[..colon], &line[colon + 1..]);
        let has_underscore = match classify_name(name) {
            Name::Token => false,
            Name::TokenWithUnderscore => true,
            Name::NoToken => return Err(Rejection::malformed("a field name is not a token")),
        };
        Ok(Self { name, value: trim_ows(raw), raw, has_underscore })
    }
}

/// Refuses control bytes in field lines whose line ends are known to be in order.
pub(crate) fn check_control(lines: &[u8]) -> Result<(), Rejection> {
    if has_control(lines) {
        return Err(Rejection::malformed("a control byte in a field"));
    }
    Ok(())
}
