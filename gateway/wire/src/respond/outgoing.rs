//! Bytes of a response that are gathered for one write: framed, small pieces together, and counted as memory of a slow client.

use std::rc::Rc;
use std::time::Duration;

use sluice_http1::{CHUNK_END, write_chunk_header, write_last_chunk};
use tokio::time::Instant;

use crate::receive::memory::{Memory, MemoryHold};
use crate::respond::answer::Answer;

/// Bytes that are gathered before a write, if several pieces are ready at once.
const GATHER_BYTES: usize = 64 * 1024;
/// Bytes that are gathered if memory is scarce, or the client slow.
const GATHER_BYTES_SCARCE: usize = 8 * 1024;
/// Size above which pieces are framed separately, without a copy, bytes.
const SMALL_BYTES_MAX: usize = 4096;

/// Size below which a write waits for more, soon after the one before it. It is about what fits into a packet.
const CRUMB_BYTES: usize = 1400;
/// Longest delay of a small write after the one before it. It is invisible in an event stream, and an app that writes byte by byte costs
/// 200 writes a second at most.
const CRUMB_WAIT: Duration = Duration::from_millis(5);

/// Maximum size that stays in memory for a client that reads nothing, bytes. A file would cost more.
const KEPT_BYTES_MAX: usize = 2048;
/// Size beyond which a buffer is freed after its write.
const KEPT_BYTES: usize = 16 * 1024;

/// Framing of a body.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyFraming {
    /// Number of bytes that was announced, or none.
    Plain,
    /// Chunked coding (RFC 9112 §7.1).
    Chunked,
    /// HTTP/1.0: the end of the connection ends the body.
    UntilClose,
}

/// Bytes of an answer that are written and not sent yet.
pub(crate) struct Outgoing {
    /// The bytes.
    pub(crate) bytes: Vec<u8>,
    /// Framing of the body.
    pub(crate) framed: BodyFraming,
    /// Small pieces that go into one chunk.
    small: Vec<u8>,
    held: MemoryHold,
    gather_bytes: usize,
    is_prepared: bool,
    /// The client has left memory to others before.
    is_slow: bool,
    written: Option<Instant>,
    memory: Rc<Memory>,
}

impl Drop for Outgoing {
    fn drop(&mut self) {
        self.memory.give_buffer(std::mem::take(&mut self.bytes));
    }
}

impl Outgoing {
    /// Empty, in this memory.
    pub(crate) fn new(memory: &Rc<Memory>) -> Self {
        Outgoing {
            bytes: memory.take_buffer(),
            framed: BodyFraming::Plain,
            small: Vec::new(),
            held: MemoryHold::of(memory),
            gather_bytes: GATHER_BYTES_SCARCE,
            is_prepared: false,
            is_slow: false,
            written: None,
            memory: Rc::clone(memory),
        }
    }

    /// Bytes that may still be gathered for the next write.
    pub(crate) fn room(&mut self) -> usize {
        if !self.is_prepared {
            self.prepare();
        }
        self.gather_bytes.saturating_sub(self.bytes.len() + self.small.len())
    }

    /// Decides how many bytes are gathered for the next write.
    fn prepare(&mut self) {
        self.is_prepared = true;
        let is_wide =
            !self.is_slow && (self.held.bytes() >= GATHER_BYTES || self.held.try_grow(GATHER_BYTES, usize::MAX));
        self.gather_bytes = if is_wide { GATHER_BYTES } else { GATHER_BYTES_SCARCE };
    }

    /// Adds bytes of the body.
    pub(crate) fn push(&mut self, data: &[u8]) {
        if self.framed != BodyFraming::Chunked {
            self.bytes.extend_from_slice(data);
        } else if data.len() <= SMALL_BYTES_MAX {
            self.small.extend_from_slice(data);
        } else {
            self.seal();
            self.chunk(data);
        }
    }

    /// Frames the gathered small pieces; nothing else may be written before that.
    pub(crate) fn seal(&mut self) {
        if !self.small.is_empty() {
            let small = std::mem::take(&mut self.small);
            self.chunk(&small);
            self.small = small;
            self.small.clear();
        }
    }

    /// Takes bytes that were framed before.
    pub(crate) fn push_framed(&mut self, data: &[u8]) {
        self.seal();
        self.bytes.extend_from_slice(data);
    }

    /// Ends the body.
    pub(crate) fn end(&mut self, trailers: &[(String, Vec<u8>)]) {
        self.seal();
        if self.framed == BodyFraming::Chunked {
            write_last_chunk(&mut self.bytes, trailers);
        }
    }

    fn chunk(&mut self, data: &[u8]) {
        write_chunk_header(&mut self.bytes, data.len());
        self.bytes.extend_from_slice(data);
        self.bytes.extend_from_slice(CHUNK_END);
    }

    /// Time until which few bytes may wait for more, if they may.
    pub(crate) fn waits_until(&self) -> Option<Instant> {
        let until = self.written? + CRUMB_WAIT;
        (self.bytes.len() + self.small.len() < CRUMB_BYTES && Instant::now() < until).then_some(until)
    }

    /// Counts the bytes as memory; the client may take them slowly.
    pub(crate) fn hold(&mut self) {
        self.held.set(self.bytes.capacity() + self.small.capacity());
    }

    /// Clears the buffers, after all bytes were written or set aside; there may have been none.
    pub(crate) fn clear(&mut self, written: Instant) {
        if !self.bytes.is_empty() {
            self.written = Some(written);
        }
        self.bytes.clear();
        self.bytes.shrink_to(KEPT_BYTES);
        self.small.shrink_to(KEPT_BYTES);
        self.held.set(0);
        self.is_prepared = false;
    }

    /// Moves the bytes from `at`, and those that the answer has in memory, to the answer's file. Returns the offset from which to write the
    /// bytes that stay here. If the file takes nothing, the memory stays taken, up to its bound.
    pub(crate) async fn set_aside(&mut self, answer: &Answer, at: usize) -> usize {
        let rest = &self.bytes[at..];
        let is_kept = rest.len() <= KEPT_BYTES_MAX;
        if answer.set_aside(if is_kept { &[] } else { rest }).await.is_err() {
            return at;
        }
        self.keep_only(if is_kept { rest.to_vec() } else { Vec::new() });
        0
    }

    /// Releases the buffers, for a client that has taken nothing for a while; `rest` stays.
    fn keep_only(&mut self, rest: Vec<u8>) {
        self.is_slow = true;
        self.small = Vec::new();
        self.bytes = rest;
        self.hold();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_pieces_go_into_one_chunk_and_keep_their_order() {
        let mut out = Outgoing::new(&Memory::new(1 << 20));
        out.framed = BodyFraming::Chunked;
        let large = vec![b'x'; SMALL_BYTES_MAX + 1];
        for piece in [&b"a"[..], b"b", b"c", &large, b"d"] {
            out.push(piece);
        }
        out.seal();
        let expected = [&b"3\r\nabc\r\n1001\r\n"[..], &large, b"\r\n1\r\nd\r\n"].concat();
        assert_eq!(out.bytes, expected);
    }

    #[test]
    fn only_little_that_soon_follows_a_write_waits() {
        let mut out = Outgoing::new(&Memory::new(1 << 20));
        out.clear(Instant::now());
        out.push(b"first");
        assert!(out.waits_until().is_none(), "the first byte goes at once, also after a wait for it");
        out.clear(Instant::now());
        out.push(b"second");
        let until = out.waits_until();
        assert!(until.is_none_or(|until| until <= Instant::now() + CRUMB_WAIT));
        out.push(&[b'x'; CRUMB_BYTES]);
        assert!(out.waits_until().is_none());
        out.bytes.clear();
        out.written = Instant::now().checked_sub(CRUMB_WAIT);
        assert!(out.waits_until().is_none(), "what comes now and then goes at once");
    }

    #[test]
    fn buffers_are_counted_while_their_client_has_not_taken_them() {
        let memory = Memory::new(32 << 20);
        let mut out = Outgoing::new(&memory);
        assert_eq!(out.room(), GATHER_BYTES);
        out.push(&vec![b'x'; 40_000]);
        out.hold();
        assert!(memory.used_bytes() >= 40_000);
        out.keep_only(vec![b'x'; 10]);
        assert!(memory.used_bytes() <= 64);
        out.clear(Instant::now());
        assert!(out.room() < GATHER_BYTES);
        drop(out);
        assert_eq!(memory.used_bytes(), 0);
    }
}
