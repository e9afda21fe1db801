//! Messages of two gateways about pages, as bytes: a kind, a length, and what belongs to it.

use std::io::{self, Read, Write};

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use sluice_catalog::snapshot::Purge;

/// Counted up when two gateways could misunderstand each other, or the form of pages changes.
const VERSION: u32 = 1;
/// Everything but pages is shorter.
const TEXT_BYTES_MAX: usize = 256 * 1024;

const HELLO: u8 = b'H';
const PAGE: u8 = b'P';
const PURGE: u8 = b'U';
const DONE: u8 = b'D';
const ALL_SENT: u8 = b'A';
const BYE: u8 = b'B';

/// The first thing that each side says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    version: u32,
    /// Rules by which pages are kept. Pages that were kept by other rules are dropped.
    pub rules: String,
    /// Whether this side takes pages.
    pub wants_pages: bool,
}

impl Hello {
    /// Greeting of this version.
    #[must_use]
    pub fn new(rules: String, wants_pages: bool) -> Self {
        Hello { version: VERSION, rules, wants_pages }
    }
}

/// A purge that one side carries out and the other is to carry out too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// Number among the purges of this side.
    pub number: u64,
    /// Selection of pages, as keys are written.
    pub purge: Purge,
    /// True if pages count as stale.
    pub is_soft: bool,
    /// True if the parts of pages that workers keep are purged too.
    pub has_parts: bool,
}

impl Told {
    /// Bytes that it takes, about.
    pub(crate) fn bytes(&self) -> usize {
        let name = match &self.purge {
            Purge::All => 0,
            Purge::Url(name) | Purge::Prefix(name) | Purge::Tag(name) => name.len(),
        };
        128 + name
    }
}

/// One thing that is said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    Hello(Hello),
    /// Page in the form of [`sluice_cache::encode`].
    Page(Bytes),
    Purge(Told),
    /// The purge of this number is in force on this side.
    Done(u64),
    AllSent,
    Bye,
}

/// Reason why nothing more is understood of the other side.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The socket fails.
    #[error("the connection has failed: {0}")]
    Io(#[from] io::Error),
    /// The other side is gone, and has not said that it goes.
    #[error("the other gateway has gone without a word")]
    Gone,
    /// Other version.
    #[error("the other gateway speaks version {0}, and this one {VERSION}")]
    Version(u32),
    /// Bytes that no gateway sends.
    #[error("the other gateway has said something that is no page and no purge")]
    Garbage,
    /// A page cannot be read.
    #[error("a page cannot be used: {0}")]
    Page(#[from] sluice_cache::Unreadable),
    /// Backlog of messages that the other side has not taken.
    #[error("the other gateway does not listen")]
    Deaf,
}

/// Writes one frame.
///
/// # Errors
/// What the socket says.
pub(crate) fn write(to: &mut impl Write, frame: &Frame) -> io::Result<()> {
    let text: Vec<u8>;
    let (kind, payload): (u8, &[u8]) = match frame {
        Frame::Hello(hello) => {
            text = serde_json::to_vec(hello)?;
            (HELLO, &text)
        }
        Frame::Page(page) => (PAGE, page),
        Frame::Purge(told) => {
            text = serde_json::to_vec(told)?;
            (PURGE, &text)
        }
        Frame::Done(number) => {
            text = number.to_le_bytes().to_vec();
            (DONE, &text)
        }
        Frame::AllSent => (ALL_SENT, &[]),
        Frame::Bye => (BYE, &[]),
    };
    let len = u32::try_from(payload.len()).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    let mut front = [kind, 0, 0, 0, 0];
    front[1..].copy_from_slice(&len.to_le_bytes());
    to.write_all(&front)?;
    to.write_all(payload)
}

/// Reads one frame. A page of more than `page_bytes_max` is passed over, and gives none.
///
/// # Errors
/// When it is none, or the other side is gone.
pub(crate) fn read(from: &mut impl Read, page_bytes_max: usize) -> Result<Option<Frame>, Fault> {
    let mut front = [0; 5];
    match from.read_exact(&mut front) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Err(Fault::Gone),
        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Err(Fault::Gone),
        read => read?,
    }
    let [kind, len @ ..] = front;
    let len = u32::from_le_bytes(len) as usize;
    if kind == PAGE && len > page_bytes_max {
        let passed = io::copy(&mut from.take(len as u64), &mut io::sink())?;
        return if passed == len as u64 { Ok(None) } else { Err(Fault::Gone) };
    }
    if kind != PAGE && len > TEXT_BYTES_MAX {
        return Err(Fault::Garbage);
    }
    let mut payload = Vec::with_capacity(len);
    from.take(len as u64).read_to_end(&mut payload)?;
    if payload.len() < len {
        return Err(Fault::Gone);
    }
    let frame = match kind {
        HELLO => {
            let hello: Hello = serde_json::from_slice(&payload).map_err(|_| Fault::Garbage)?;
            if hello.version != VERSION {
                return Err(Fault::Version(hello.version));
            }
            Frame::Hello(hello)
        }
        PAGE => Frame::Page(payload.into()),
        PURGE => Frame::Purge(serde_json::from_slice(&payload).map_err(|_| Fault::Garbage)?),
        DONE => Frame::Done(u64::from_le_bytes(payload.try_into().map_err(|_| Fault::Garbage)?)),
        ALL_SENT => Frame::AllSent,
        BYE => Frame::Bye,
        _ => return Err(Fault::Garbage),
    };
    Ok(Some(frame))
}
