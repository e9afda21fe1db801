//! Records of the log as bytes: a front of fixed length, what the record says, and a body. A record that is cut off, as by a kill, is
//! distinguished from one that is damaged, which may have been a purge.
//!
//! One damaged place costs no more than the page that it is in. Fronts and purges stand in the log twice, and what is said of a page
//! follows from the page.

use std::io::{self, Read};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sluice_cache::{Dimensions, Page};
use sluice_catalog::snapshot::Purge;

/// Kind, two lengths, the checksum of what the record says, and that of all these.
const FRONT_BYTES: usize = 1 + 4 + 4 + 4 + 4;
/// The same twice.
pub(super) const FRONTS_BYTES: usize = 2 * FRONT_BYTES;

/// Kinds of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The first one of a segment: by whom it was written.
    Start,
    /// A page; its body is in the form of [`sluice_cache::encode`], with a checksum of its own.
    Page,
    /// A purge of what stands before it.
    Purge,
}

impl Kind {
    const ALL: [(Kind, u8); 3] = [(Kind::Start, b'S'), (Kind::Page, b'P'), (Kind::Purge, b'U')];

    fn byte(self) -> u8 {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or(0, |(_, byte)| *byte)
    }

    fn of(byte: u8) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == byte).map(|(kind, _)| *kind)
    }
}

/// Facts about a page besides the page itself, so that nobody need read that to know where it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PageMeta {
    pub(super) key: String,
    pub(super) tags: Vec<Box<str>>,
    /// Variant of the key: another one with this number takes its place.
    pub(super) variant: u32,
}

impl PageMeta {
    pub(super) fn new(key: &str, tags: &[Box<str>], dimensions: &Dimensions) -> Self {
        PageMeta { key: key.to_owned(), tags: tags.to_vec(), variant: variant_of(dimensions) }
    }

    /// Facts about a page that can be read itself.
    pub(super) fn of(page: &Page) -> Self {
        Self::new(&page.key, &page.tags, &page.policy.dimensions)
    }
}

/// A number of a page's variant: what it depends on and what its request said of that.
fn variant_of(dimensions: &Dimensions) -> u32 {
    let mut bytes = Vec::new();
    for (name, _, value) in dimensions.parts() {
        bytes.extend_from_slice(name.as_bytes());
        bytes.push(u8::from(value.is_some()));
        bytes.extend_from_slice(&(value.unwrap_or_default().len() as u64).to_le_bytes());
        bytes.extend_from_slice(value.unwrap_or_default());
    }
    crc32fast::hash(&bytes)
}

/// A purge, and when it was by [`crate::clock_ms`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PurgeMeta {
    pub(super) purge: Purge,
    pub(super) is_soft: bool,
    pub(super) clock_ms: u64,
}

/// A record's bytes, without its body.
pub(super) fn head(kind: Kind, meta: &impl Serialize, body_len: usize) -> io::Result<Vec<u8>> {
    written(kind, &serde_json::to_vec(meta)?, body_len)
}

/// A record whose body says the same once more.
pub(super) fn twice(kind: Kind, meta: &impl Serialize) -> io::Result<Vec<u8>> {
    let meta = serde_json::to_vec(meta)?;
    let mut bytes = written(kind, &meta, meta.len())?;
    bytes.extend_from_slice(&meta);
    Ok(bytes)
}

fn written(kind: Kind, meta: &[u8], body_len: usize) -> io::Result<Vec<u8>> {
    let len = |len: usize| u32::try_from(len).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput));
    let mut bytes = Vec::with_capacity(FRONTS_BYTES + 2 * meta.len());
    bytes.push(kind.byte());
    bytes.extend_from_slice(&len(meta.len())?.to_le_bytes());
    bytes.extend_from_slice(&len(body_len)?.to_le_bytes());
    bytes.extend_from_slice(&crc32fast::hash(meta).to_le_bytes());
    bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
    bytes.extend_from_within(..);
    bytes.extend_from_slice(meta);
    Ok(bytes)
}

/// The next record of a segment.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    Record(Record),
    /// The segment ends here, or what follows was not written to its end.
    End,
    /// Bytes that are not what was written.
    Damaged,
}

/// A record as it was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) kind: Kind,
    /// Content of the record; `None` if that is damaged.
    pub(super) meta: Option<Vec<u8>>,
    pub(super) meta_len: u32,
    pub(super) body_len: u32,
    /// Bytes of the body that were not read.
    pub(super) body_left: u32,
}

struct Front {
    kind: Kind,
    meta_len: u32,
    body_len: u32,
    meta_checksum: u32,
}

impl Front {
    fn read(bytes: &[u8]) -> Option<Self> {
        let (said, checksum) = bytes.split_at_checked(FRONT_BYTES - 4)?;
        let number = |at: usize| said.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes);
        if crc32fast::hash(said).to_le_bytes() != checksum {
            return None;
        }
        let kind = Kind::of(*said.first()?)?;
        Some(Front { kind, meta_len: number(1)?, body_len: number(5)?, meta_checksum: number(9)? })
    }
}

/// Reads the next record but for its body. `left`: bytes of the segment from here on.
///
/// # Errors
/// What the file says.
pub(super) fn next(from: &mut impl Read, left: u64) -> io::Result<Next> {
    if left < FRONTS_BYTES as u64 {
        return Ok(Next::End);
    }
    let mut fronts = [0; FRONTS_BYTES];
    from.read_exact(&mut fronts)?;
    let (first, second) = fronts.split_at(FRONT_BYTES);
    let Some(front) = Front::read(first).or_else(|| Front::read(second)) else { return Ok(Next::Damaged) };
    let Front { kind, meta_len, body_len, meta_checksum } = front;
    if left - (FRONTS_BYTES as u64) < u64::from(meta_len) + u64::from(body_len) {
        return Ok(Next::End);
    }
    let mut text = |len: u32| {
        let mut text = Vec::new();
        from.take(u64::from(len)).read_to_end(&mut text)?;
        Ok::<_, io::Error>(Some(text).filter(|text| crc32fast::hash(text) == meta_checksum))
    };
    let (mut meta, mut body_left) = (text(meta_len)?, body_len);
    if meta.is_none() && kind != Kind::Page {
        (meta, body_left) = (text(body_len)?, 0);
    }
    Ok(Next::Record(Record { kind, meta, meta_len, body_len, body_left }))
}

/// Content of a record; none if its form is another.
pub(super) fn read<T: DeserializeOwned>(meta: &[u8]) -> Option<T> {
    serde_json::from_slice(meta).ok()
}
