//! The reading side of a worker's connection during one exchange: pieces as they come, and a body to its end, however that
//! is told. It must not know what heads mean.

use std::future::Future as _;
use std::io;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use bytes::{Buf as _, Bytes, BytesMut};
use sluice_http1::{ChunkedDecoder, HeadLimits, ResponseFraming};
use sluice_message::Rejection;
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::ReadHalf;
use tokio::time::{Instant, Sleep};

use super::InFlight;
use super::exchange::Fault;
use super::wire::READ_BYTES;
use crate::gate::{Seen, to_usize};
use crate::respond::answer::Answer;
use crate::socket::Socket;

/// Up to here copying is cheaper than sharing the buffer.
const COPY_BYTES_MAX: usize = 4096;
/// How long the report of a worker's end, or of a response's, may take after its connection has closed.
const LAST_WORD_TIMEOUT: Duration = Duration::from_millis(60);
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// How long bytes of a response may be on their way after the worker has reported its end. They are in the socket by then,
/// but the report comes on another one.
const LAST_BYTES_TIMEOUT: Duration = Duration::from_millis(10);

/// What is read of a worker's connection, and whom it is for.
pub(super) struct Reader<'r, 's> {
    pub(super) half: &'r mut Socket<ReadHalf<'s>>,
    pub(super) unread: &'r mut BytesMut,
    pub(super) exchange: &'r InFlight,
    pub(super) heard: bool,
    /// Nothing comes after the worker has reported the end of the request, as it does of a stream at its head.
    pub(super) ends_with_report: bool,
}

impl Reader<'_, '_> {
    /// Reads more, however little. `Ok(false)` is the end of the connection.
    pub(super) async fn more(&mut self) -> Result<bool, Fault> {
        if self.unread.capacity() - self.unread.len() < READ_BYTES / 4 {
            self.unread.reserve(READ_BYTES);
        }
        let (exchange, heard, ends_with_report) = (self.exchange, self.heard, self.ends_with_report);
        let mut last_bytes: Option<Pin<Box<Sleep>>> = None;
        let mut reading = pin!(self.half.read_buf(self.unread));
        let read = std::future::poll_fn(|cx| {
            if let Poll::Ready(read) = reading.as_mut().poll(cx) {
                return Poll::Ready(Ok(read));
            }
            if exchange.died.poll(cx).is_ready() {
                return Poll::Ready(Err(Fault::Closed(Seen { sent: true, heard, unread: false })));
            }
            if exchange.cut.poll(cx).is_ready() {
                return Poll::Ready(Err(Fault::Cut));
            }
            if !ends_with_report
                || exchange.is_taken.get()
                || (exchange.confirmed.poll(cx).is_pending() && !exchange.is_confirmed.get())
            {
                return Poll::Pending;
            }
            let last_bytes = last_bytes.get_or_insert_with(|| Box::pin(tokio::time::sleep(LAST_BYTES_TIMEOUT)));
            last_bytes.as_mut().poll(cx).map(|()| Err(Fault::Short))
        })
        .await?;
        match read {
            Ok(0) => Ok(false),
            Ok(_) => {
                self.heard = true;
                let now = Instant::now();
                exchange.last_heard.set(now);
                exchange.answer.last_moved.set(now);
                Ok(true)
            }
            // What Linux answers when the other side has closed with bytes that it had not read.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
                Err(Fault::Closed(Seen { sent: false, heard, unread: !heard }))
            }
            Err(_) => Err(self.closed()),
        }
    }

    pub(super) fn closed(&self) -> Fault {
        Fault::Closed(Seen { sent: false, heard: self.heard, unread: false })
    }
}

pub(super) fn malformed(rejection: &Rejection) -> Fault {
    Fault::Malformed(rejection.detail)
}

/// The first `len` bytes. A small piece is copied, so that the buffer it came in can be used again at once.
fn take(unread: &mut BytesMut, len: usize) -> Bytes {
    if len <= COPY_BYTES_MAX {
        let piece = Bytes::copy_from_slice(&unread[..len]);
        unread.advance(len);
        return piece;
    }
    unread.split_to(len).freeze()
}

pub(super) type Trailers = Vec<(String, Vec<u8>)>;

pub(super) async fn read_body(
    reader: &mut Reader<'_, '_>,
    answer: &Answer,
    framing: ResponseFraming,
    limits: &HeadLimits,
) -> Result<Trailers, Fault> {
    match framing {
        ResponseFraming::None => Ok(Vec::new()),
        ResponseFraming::Length(len) => read_sized(reader, answer, len).await,
        ResponseFraming::Chunked => read_chunked(reader, answer, limits).await,
        ResponseFraming::UntilClose => loop {
            if !reader.unread.is_empty() {
                answer.push(reader.unread.split().freeze()).await;
            }
            let more = match reader.more().await {
                // Its end was reported before that of its connection was seen.
                Err(Fault::Short) => return Ok(Vec::new()),
                more => more?,
            };
            if !more {
                // The end of such a body and the death of its worker look alike, and so does the end of its client.
                let is_cut_off = reader.exchange.has_left.get();
                return if is_cut_off || ended_by_death(reader.exchange).await {
                    Err(reader.closed())
                } else {
                    Ok(Vec::new())
                };
            }
        },
    }
}

/// Whether the worker has died with this exchange rather than reported its end. Where neither is heard soon, it has not.
async fn ended_by_death(exchange: &InFlight) -> bool {
    let end = Instant::now() + LAST_WORD_TIMEOUT;
    while Instant::now() < end && !exchange.is_confirmed.get() {
        if exchange.orphaned.get().is_some() {
            return true;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    false
}

async fn read_sized(reader: &mut Reader<'_, '_>, answer: &Answer, len: u64) -> Result<Trailers, Fault> {
    let mut missing = len;
    while missing > 0 {
        let here = reader.unread.len().min(to_usize(missing));
        if here > 0 {
            missing -= here as u64;
            answer.push(take(reader.unread, here)).await;
        } else if !reader.more().await? {
            return Err(reader.closed());
        }
    }
    Ok(Vec::new())
}

async fn read_chunked(reader: &mut Reader<'_, '_>, answer: &Answer, limits: &HeadLimits) -> Result<Trailers, Fault> {
    let mut decoder = ChunkedDecoder::for_response(limits);
    // Small chunks that came together go on together: an app that writes a byte at a time must not cost one step a byte.
    let mut gathered = BytesMut::new();
    loop {
        let decoded = decoder.decode(reader.unread).map_err(|rejection| malformed(&rejection))?;
        let len = decoded.data.len();
        if len > COPY_BYTES_MAX {
            answer.push(gathered.split().freeze()).await;
            reader.unread.advance(decoded.data.start);
            answer.push(take(reader.unread, len)).await;
            reader.unread.advance(decoded.consumed - decoded.data.end);
        } else {
            gathered.extend_from_slice(&reader.unread[decoded.data.clone()]);
            reader.unread.advance(decoded.consumed);
        }
        let is_stuck = decoded.consumed == 0 || reader.unread.is_empty();
        if decoded.done || is_stuck {
            answer.push(gathered.split().freeze()).await;
        }
        if decoded.done {
            return Ok(decoder.trailers().to_vec());
        }
        if is_stuck && !reader.more().await? {
            return Err(reader.closed());
        }
    }
}
