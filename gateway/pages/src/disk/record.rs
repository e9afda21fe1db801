//! What stands in the log, as bytes: a front of fixed length, what the record says, and a body. A record that is cut off, as by a kill, is
//! told from one that is damaged: the latter may have been a purge.

use std::io::{self, Read};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sluice_catalog::snapshot::Purge;

/// Kind, two lengths, and the checksums of these and of what the record says.
pub(super) const FRONT_BYTES: usize = 1 + 4 + 4 + 4 + 4;

/// What kind of record it is.
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

/// What is said of a page besides the page itself, so that nobody need read that to know where it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PageMeta {
    pub(super) key: String,
    pub(super) tags: Vec<Box<str>>,
    /// Which of the key's variants it is: another one with this number takes its place.
    pub(super) variant: u32,
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
    let meta = serde_json::to_vec(meta)?;
    let len = |len: usize| u32::try_from(len).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput));
    let mut bytes = Vec::with_capacity(FRONT_BYTES + meta.len());
    bytes.push(kind.byte());
    bytes.extend_from_slice(&len(meta.len())?.to_le_bytes());
    bytes.extend_from_slice(&len(body_len)?.to_le_bytes());
    bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
    bytes.extend_from_slice(&crc32fast::hash(&meta).to_le_bytes());
    bytes.extend_from_slice(&meta);
    Ok(bytes)
}

/// The next record of a segment.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Its kind, what it says, and the length of the body that follows.
    Record(Kind, Vec<u8>, u32),
    /// The segment ends here, or what follows was not written to its end.
    End,
    /// It is not what was written.
    Damaged,
}

/// Reads the next record but for its body. `left`: bytes of the segment from here on.
///
/// # Errors
/// What the file says.
pub(super) fn next(from: &mut impl Read, left: u64) -> io::Result<Next> {
    if left < FRONT_BYTES as u64 {
        return Ok(Next::End);
    }
    let mut front = [0; FRONT_BYTES];
    from.read_exact(&mut front)?;
    let number = |at: usize| u32::from_le_bytes([front[at], front[at + 1], front[at + 2], front[at + 3]]);
    let (meta_len, body_len) = (number(1), number(5));
    let Some(kind) = Kind::of(front[0]).filter(|_| crc32fast::hash(&front[..9]) == number(9)) else {
        return Ok(Next::Damaged);
    };
    if left - (FRONT_BYTES as u64) < u64::from(meta_len) + u64::from(body_len) {
        return Ok(Next::End);
    }
    let mut meta = Vec::new();
    from.take(u64::from(meta_len)).read_to_end(&mut meta)?;
    if crc32fast::hash(&meta) != number(13) {
        return Ok(Next::Damaged);
    }
    Ok(Next::Record(kind, meta, body_len))
}

/// What a record says; none where its form is another.
pub(super) fn read<T: DeserializeOwned>(meta: &[u8]) -> Option<T> {
    serde_json::from_slice(meta).ok()
}
