//! A request on its way to a worker: its head, and its body from memory or from the file.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;

use super::wire::{READ_BYTES, Wire};
use sluice_wire::receive::body::Body;
use sluice_wire::respond::fill::FillReader;

/// Maximum size of a request that is written and read in one piece, bytes. Less than a runtime takes in one read.
const PIECE_BYTES_MAX: usize = 4096;

type Reading = Pin<Box<dyn Future<Output = (FillReader, io::Result<Option<Bytes>>)>>>;

/// Source of the body's next bytes.
enum Rest {
    None,
    Ready(FillReader),
    Reading(Reading),
}

/// See the module's text.
pub(super) struct Writer {
    /// Next bytes to write. `None` is the request's head as it stands.
    piece: Option<Bytes>,
    at: usize,
    next: Option<Bytes>,
    rest: Rest,
    end: Vec<u8>,
    total: u64,
    wrote: usize,
    is_first: bool,
}

/// Result of a write.
pub(super) enum WriteOutcome {
    /// Bytes were sent. All of them: `is_whole`; in one small write: `is_one_piece`.
    Some { is_whole: bool, is_one_piece: bool },
    /// The worker's connection takes no more; its reading side gives the reason.
    Refused,
    /// The body could not be read back.
    Lost,
}

impl Writer {
    /// Writer of a request with this head and body. `is_own` is true if it is the head that each poll brings along.
    pub(super) fn new(head: &[u8], is_own: bool, body: &Body) -> Self {
        let (chunk, end) = body.chunk_around();
        let reader = body.reader();
        let mut next = reader.as_ref().and_then(FillReader::in_memory);
        let is_plain = chunk.is_empty() && next.is_none() && is_own;
        let total = head.len() as u64 + body.bytes() + (chunk.len() + end.len()) as u64;
        let piece = (!is_plain).then(|| {
            let head_len = head.len();
            let mut first = [head, &chunk].concat();
            // As much as a worker takes at once goes with the head.
            while let Some(piece) = next.take_if(|piece| first.len() + piece.len() <= head_len + READ_BYTES) {
                first.extend_from_slice(&piece);
                next = reader.as_ref().and_then(FillReader::in_memory);
            }
            Bytes::from(first)
        });
        let rest = reader.map_or(Rest::None, Rest::Ready);
        Writer { piece, at: 0, next, rest, end, total, wrote: 0, is_first: true }
    }

    /// Writes as many bytes as the worker takes.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>, wire: &mut Wire, head: &[u8]) -> Poll<WriteOutcome> {
        loop {
            let bytes = self.piece.as_deref().unwrap_or(head);
            if self.at < bytes.len() {
                match ready!(wire.poll_write(cx, &bytes[self.at..])) {
                    Ok(len) if len > 0 => {
                        self.at += len;
                        self.wrote += len;
                        let was_first = std::mem::replace(&mut self.is_first, false);
                        let is_whole = self.wrote as u64 == self.total;
                        if was_first || is_whole {
                            let is_one_piece = was_first && is_whole && len <= PIECE_BYTES_MAX;
                            return Poll::Ready(WriteOutcome::Some { is_whole, is_one_piece });
                        }
                    }
                    _ => return Poll::Ready(WriteOutcome::Refused),
                }
                continue;
            }
            match ready!(self.poll_next(cx)) {
                Ok(Some(piece)) => (self.piece, self.at) = (Some(piece), 0),
                // All that was announced has been told of before.
                Ok(None) => return Poll::Pending,
                Err(_) => return Poll::Ready(WriteOutcome::Lost),
            }
        }
    }

    /// Next piece after the one that was written.
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<Bytes>>> {
        if let Some(next) = self.next.take() {
            return Poll::Ready(Ok(Some(next)));
        }
        loop {
            match std::mem::replace(&mut self.rest, Rest::None) {
                Rest::None => break,
                Rest::Ready(reader) => {
                    if let Some(piece) = reader.in_memory() {
                        self.rest = Rest::Ready(reader);
                        return Poll::Ready(Ok(Some(piece)));
                    }
                    self.rest = Rest::Reading(Box::pin(async move {
                        let read = reader.read(READ_BYTES).await;
                        (reader, read)
                    }));
                }
                Rest::Reading(mut reading) => {
                    let Poll::Ready((reader, read)) = reading.as_mut().poll(cx) else {
                        self.rest = Rest::Reading(reading);
                        return Poll::Pending;
                    };
                    match read {
                        Ok(Some(piece)) => {
                            self.rest = Rest::Ready(reader);
                            return Poll::Ready(Ok(Some(piece)));
                        }
                        Ok(None) => break,
                        Err(error) => return Poll::Ready(Err(error)),
                    }
                }
            }
        }
        let end = std::mem::take(&mut self.end);
        Poll::Ready(Ok((!end.is_empty()).then(|| end.into())))
    }
}
