//! The part of an answer's body that its client has not been sent yet: pieces in memory, then pieces in the file. It must
//! not know how the file is written.

use std::collections::VecDeque;
use std::rc::Rc;

use bytes::Bytes;

use crate::receive::memory::{Held, Memory};

/// What a piece costs besides its bytes: its own allocation and its place in the list.
const PIECE_BYTES: usize = 128;

/// Shorter pieces that share their allocation with others are copied: they would keep all of it in memory.
const SHARED_BYTES_MIN: usize = 16 * 1024;

fn cost(data: &Bytes) -> usize {
    data.len() + PIECE_BYTES
}

enum Piece {
    Memory(Bytes),
    File(Spilled),
}

/// A piece in the file. What was set aside framed is to be sent as it is.
#[derive(Clone, Copy)]
pub(super) struct Spilled {
    pub(super) offset: u64,
    pub(super) len: u64,
    pub(super) is_framed: bool,
}

/// The first of the pieces.
pub(super) enum First {
    Data(Bytes),
    Spilled(Spilled),
}

#[derive(Default)]
pub(super) struct Pieces {
    queue: VecDeque<Piece>,
    held: Held,
}

impl Pieces {
    pub(super) fn of(memory: &Rc<Memory>) -> Self {
        Pieces { queue: VecDeque::new(), held: Held::of(memory) }
    }

    /// Gives the data back where the bounds, or pieces in the file, stand against it.
    pub(super) fn push_to_memory(&mut self, data: Bytes, own_bytes_max: usize) -> Result<(), Bytes> {
        let follows_a_file = matches!(self.queue.back(), Some(Piece::File(_)));
        if follows_a_file || !self.held.try_grow(cost(&data), own_bytes_max) {
            return Err(data);
        }
        let is_pinned = data.len() < SHARED_BYTES_MIN && !data.is_unique();
        self.queue.push_back(Piece::Memory(if is_pinned { Bytes::copy_from_slice(&data) } else { data }));
        Ok(())
    }

    /// What follows without a gap in the file is one piece.
    pub(super) fn push_spilled(&mut self, offset: u64, len: u64) {
        if let Some(Piece::File(last)) = self.queue.back_mut()
            && !last.is_framed
            && last.offset + last.len == offset
        {
            last.len += len;
            return;
        }
        self.queue.push_back(Piece::File(Spilled { offset, len, is_framed: false }));
    }

    /// Takes the first piece out, unless that is in the file.
    pub(super) fn pop(&mut self) -> Option<First> {
        if let Some(spilled) = self.spilled() {
            return Some(First::Spilled(spilled));
        }
        let Piece::Memory(data) = self.queue.pop_front()? else { return None };
        self.held.shrink(cost(&data));
        if self.queue.is_empty() {
            self.queue.shrink_to(8);
        }
        Some(First::Data(data))
    }

    /// The first piece, if it is in the file.
    pub(super) fn spilled(&self) -> Option<Spilled> {
        match self.queue.front() {
            Some(Piece::File(spilled)) => Some(*spilled),
            _ => None,
        }
    }

    /// So much of the first piece, which is in the file, has been read back.
    pub(super) fn advance(&mut self, read: u64) {
        let Some(Piece::File(first)) = self.queue.front_mut() else { return };
        first.offset += read;
        first.len = first.len.saturating_sub(read);
        if first.len == 0 {
            self.queue.pop_front();
        }
    }

    /// What is in memory, as it is there.
    pub(super) fn in_memory(&self) -> Vec<Bytes> {
        let pieces = self.queue.iter().map_while(|piece| match piece {
            Piece::Memory(data) => Some(data.clone()),
            Piece::File(_) => None,
        });
        pieces.collect()
    }

    /// The first `count` pieces stand in the file now, at `offset`, behind `framed` bytes that are to be sent before them.
    pub(super) fn moved_to_file(&mut self, count: usize, offset: u64, len: u64, framed: u64) {
        let mut moved_cost = 0;
        for piece in self.queue.drain(..count.min(self.queue.len())) {
            if let Piece::Memory(data) = piece {
                moved_cost += cost(&data);
            }
        }
        self.held.shrink(moved_cost);
        let rest = Spilled { offset: offset + framed, len: len - framed, is_framed: false };
        let first = Spilled { offset, len: framed, is_framed: true };
        for spilled in [rest, first].into_iter().filter(|spilled| spilled.len > 0) {
            self.queue.push_front(Piece::File(spilled));
        }
    }

    pub(super) fn clear(&mut self) {
        self.queue = VecDeque::new();
        self.held.set(0);
    }
}
