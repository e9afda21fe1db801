//! Bookkeeping of a [`Fill`](super::Fill): the pieces that it still has and the position of each reader. It has no file and no writer that
//! waits.

use std::collections::VecDeque;

use bytes::{Buf as _, Bytes};
use smallvec::SmallVec;

use crate::ids::to_usize;
use crate::receive::memory::MemoryHold;

/// Cost in bytes of a piece besides its data: its own allocation and its place in the list.
const PIECE_BYTES: usize = 128;
/// Size below which pieces that share their allocation with others are copied: they would hold all of it in memory.
const SHARED_BYTES_MIN: usize = 16 * 1024;
/// Maximum size of unread pieces that are joined, bytes.
pub(crate) const JOINED_BYTES_MAX: usize = 4 * 1024;

/// Next part for a reader.
#[derive(Debug)]
pub enum Part {
    /// Bytes in memory.
    Data(Bytes),
    /// The part waits in the file: [`super::Fill::read_back`]. Bytes that were set aside framed are to be sent as they are.
    Spilled {
        /// The bytes were set aside framed.
        is_framed: bool,
    },
}

/// One reader of a fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(usize);

pub(crate) struct Pieces {
    pieces: VecDeque<Piece>,
    /// Bytes written in all.
    len: u64,
    held: MemoryHold,
    /// Nearly always one.
    readers: SmallVec<[Option<ReadPosition>; 1]>,
}

/// Bytes from `at` on, counted from the first that was written.
struct Piece {
    at: u64,
    data: Data,
}

enum Data {
    Memory(Bytes),
    File(Stretch),
}

/// A stretch of the file.
#[derive(Clone, Copy)]
pub(crate) struct Stretch {
    pub(crate) offset: u64,
    pub(crate) len: u64,
}

/// Position of a reader.
#[derive(Default)]
struct ReadPosition {
    at: u64,
    /// Stretches of the file that this reader had framed and could not send. They are read before all else.
    framed: VecDeque<Stretch>,
}

impl Piece {
    fn end(&self) -> u64 {
        self.at
            + match &self.data {
                Data::Memory(data) => data.len() as u64,
                Data::File(stretch) => stretch.len,
            }
    }
}

fn cost(data: &Bytes) -> usize {
    data.len() + PIECE_BYTES
}

impl Pieces {
    pub(crate) fn new(held: MemoryHold) -> Self {
        Pieces { pieces: VecDeque::new(), len: 0, held, readers: SmallVec::new() }
    }

    /// Bytes written in all.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Start of the first piece that is still held.
    pub(crate) fn first(&self) -> u64 {
        self.pieces.front().map_or(self.len, |piece| piece.at)
    }

    pub(crate) fn add_reader(&mut self) -> Key {
        let at = self.first();
        let free = self.readers.iter().position(Option::is_none).unwrap_or(self.readers.len());
        if free == self.readers.len() {
            self.readers.push(None);
        }
        self.readers[free] = Some(ReadPosition { at, ..ReadPosition::default() });
        Key(free)
    }

    pub(crate) fn leave(&mut self, reader: Key) {
        if let Some(place) = self.readers.get_mut(reader.0) {
            *place = None;
        }
        self.drop_passed();
    }

    /// Bytes that this reader has still to read.
    pub(crate) fn unread_bytes(&self, reader: Key) -> u64 {
        let place = self.readers.get(reader.0).and_then(Option::as_ref);
        place.map_or(0, |place| self.len - place.at + place.framed.iter().map(|stretch| stretch.len).sum::<u64>())
    }

    pub(crate) fn has_framed(&self, reader: Key) -> bool {
        self.readers.get(reader.0).and_then(Option::as_ref).is_some_and(|place| !place.framed.is_empty())
    }

    /// Pieces in memory, which all precede those in the file, and the start of each.
    pub(crate) fn in_memory(&self) -> impl Iterator<Item = (u64, &Bytes)> {
        self.pieces.iter().map_while(|piece| match &piece.data {
            Data::Memory(data) => Some((piece.at, data)),
            Data::File(_) => None,
        })
    }

    pub(crate) fn push_to_memory(&mut self, data: Bytes, own_bytes_max: usize) -> Result<(), Bytes> {
        let (at, len) = (self.len, data.len());
        if len == 0 || self.readers.iter().all(Option::is_none) {
            self.len += len as u64;
            return Ok(());
        }
        let last = self.pieces.back_mut();
        if last.as_ref().is_some_and(|last| matches!(last.data, Data::File(_))) {
            return Err(data);
        }
        if let Some(Piece { data: Data::Memory(last), .. }) = last
            && last.len() + len <= JOINED_BYTES_MAX
            && self.held.try_grow(len, own_bytes_max)
        {
            let mut joined = std::mem::take(last).try_into_mut().unwrap_or_else(|last| last[..].into());
            joined.extend_from_slice(&data);
            *last = joined.freeze();
        } else if self.held.try_grow(cost(&data), own_bytes_max) {
            let is_pinned = len < SHARED_BYTES_MIN && !data.is_unique();
            let data = if is_pinned { Bytes::copy_from_slice(&data) } else { data };
            self.pieces.push_back(Piece { at, data: Data::Memory(data) });
        } else {
            return Err(data);
        }
        self.len += len as u64;
        Ok(())
    }

    /// Adds a stretch of the file, joined with the one before if they are adjacent. Returns whether a reader is left for it.
    pub(crate) fn push_stretch(&mut self, stretch: Stretch) -> bool {
        let at = self.len;
        self.len += stretch.len;
        if self.readers.iter().all(Option::is_none) {
            return false;
        }
        match self.pieces.back_mut() {
            Some(Piece { data: Data::File(last), .. }) if last.offset + last.len == stretch.offset => {
                last.len += stretch.len;
            }
            _ => self.pieces.push_back(Piece { at, data: Data::File(stretch) }),
        }
        true
    }

    /// Whether no reader has anything left to read.
    pub(crate) fn is_read(&self) -> bool {
        self.pieces.is_empty() && self.readers.iter().flatten().all(|place| place.framed.is_empty())
    }

    /// Index of the piece that contains this offset.
    fn index(&self, at: u64) -> usize {
        self.pieces.partition_point(|piece| piece.end() <= at)
    }

    pub(crate) fn next(&mut self, reader: Key) -> Option<Part> {
        let place = self.readers.get(reader.0)?.as_ref()?;
        if !place.framed.is_empty() {
            return Some(Part::Spilled { is_framed: true });
        }
        let at = place.at;
        let index = self.index(at);
        let piece = self.pieces.get(index)?;
        let Data::Memory(data) = &piece.data else { return Some(Part::Spilled { is_framed: false }) };
        let (begin, end) = (to_usize(at - piece.at), piece.end());
        let is_others = |(key, place): (usize, &Option<ReadPosition>)| {
            key != reader.0 && place.as_ref().is_some_and(|place| place.at < end)
        };
        let is_shared = index > 0 || self.readers.iter().enumerate().any(is_others);
        if is_shared {
            let data = data.slice(begin..);
            self.advance(reader, data.len() as u64);
            return Some(Part::Data(data));
        }
        // Nearly always: moved, as sharing would cost an allocation.
        let Some(Piece { data: Data::Memory(mut data), .. }) = self.pieces.pop_front() else { return None };
        self.held.shrink(cost(&data));
        data.advance(begin);
        self.readers[reader.0].as_mut()?.at = end;
        if self.pieces.is_empty() {
            self.pieces.shrink_to(8);
        }
        Some(Part::Data(data))
    }

    /// Next stretch of the file for this reader.
    pub(crate) fn stretch(&self, reader: Key) -> Option<Stretch> {
        let place = self.readers.get(reader.0)?.as_ref()?;
        if let Some(framed) = place.framed.front() {
            return Some(*framed);
        }
        let piece = self.pieces.get(self.index(place.at))?;
        let Data::File(Stretch { offset, len }) = piece.data else { return None };
        let read = place.at - piece.at;
        Some(Stretch { offset: offset + read, len: len - read })
    }

    /// Advances the reader's position by the bytes that it has read.
    pub(crate) fn advance(&mut self, reader: Key, read: u64) {
        let Some(Some(place)) = self.readers.get_mut(reader.0) else { return };
        if let Some(framed) = place.framed.front_mut() {
            framed.offset += read;
            framed.len -= read;
            if framed.len == 0 {
                place.framed.pop_front();
            }
            return;
        }
        place.at += read;
        self.drop_passed();
    }

    /// Drops the pieces that every reader has had.
    fn drop_passed(&mut self) {
        let watermark = self.readers.iter().flatten().map(|place| place.at).min().unwrap_or(u64::MAX);
        while self.pieces.front().is_some_and(|piece| piece.end() <= watermark) {
            if let Some(Piece { data: Data::Memory(data), .. }) = self.pieces.pop_front() {
                self.held.shrink(cost(&data));
            }
        }
    }

    /// Records that the bytes from `at` on are in the file now, behind `framed` bytes that are this reader's. Readers may have passed the
    /// first of them meanwhile.
    pub(crate) fn moved_to_file(&mut self, reader: Key, at: u64, stretch: Stretch, framed: u64) {
        let (offset, end) = (stretch.offset + framed, at + stretch.len - framed);
        if let Some(Some(place)) = self.readers.get_mut(reader.0)
            && framed > 0
        {
            place.framed.push_front(Stretch { offset: stretch.offset, len: framed });
        }
        let Some(first) = self.pieces.front().map(|piece| piece.at).filter(|first| *first < end) else { return };
        while self.pieces.front().is_some_and(|piece| piece.end() <= end) {
            if let Some(Piece { data: Data::Memory(data), .. }) = self.pieces.pop_front() {
                self.held.shrink(cost(&data));
            }
        }
        let moved = Stretch { offset: offset + (first - at), len: end - first };
        self.pieces.push_front(Piece { at: first, data: Data::File(moved) });
    }
}
