//! A client's connection as the `h2` crate sees it. It gathers frames that directly follow one another, counts those that are nothing but
//! work, and knows since when the client has taken none of the waiting bytes.

use std::cell::{Cell, RefCell};
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

use crate::front::client::ClientStream;
use crate::front::h2::frames::QuietFrames;

/// Bytes up to which frames are gathered: an answer of a usual size, whose last frame is short, with its head.
const GATHER_BYTES: usize = 32 * 1024;

pub(crate) struct Meter {
    pub(crate) stream: RefCell<ClientStream>,
    gathered: RefCell<FrameBatch>,
    /// Time since which a write waits for the client.
    pub(crate) stalled_since: Cell<Option<Instant>>,
    frames: RefCell<QuietFrames>,
    /// Bytes that are written at once: see [`crate::receive::memory::Memory::unsent_bytes_max`].
    write_bytes_max: usize,
}

/// Frames of several answers that leave together, so that each costs no record and no write of its own. An idle connection has no
/// buffer for them.
#[derive(Default)]
struct FrameBatch {
    bytes: Vec<u8>,
    /// Number of bytes that are written.
    at: usize,
}

pub(crate) struct MeteredStream(pub(crate) Rc<Meter>);

impl Meter {
    pub(crate) fn new(stream: ClientStream, write_bytes_max: usize) -> Rc<Self> {
        Rc::new(Meter {
            stream: RefCell::new(stream),
            gathered: RefCell::default(),
            stalled_since: Cell::default(),
            frames: RefCell::new(QuietFrames::new(Instant::now())),
            write_bytes_max,
        })
    }

    /// Sends the gathered bytes. The task that drives the connection calls it last, when it has no other work.
    pub(crate) fn poll_send(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let (mut stream, mut gathered) = (self.stream.borrow_mut(), self.gathered.borrow_mut());
        while gathered.at < gathered.bytes.len() {
            let end = gathered.bytes.len().min(gathered.at + self.write_bytes_max);
            let wrote = Pin::new(&mut *stream).poll_write(cx, &gathered.bytes[gathered.at..end]);
            self.note(&wrote);
            match ready!(wrote)? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                len => gathered.at += len,
            }
        }
        *gathered = FrameBatch::default();
        let flushed = Pin::new(&mut *stream).poll_flush(cx);
        self.note(&flushed);
        flushed
    }

    /// Whether the client has sent more overhead frames than it may. The connection is no longer read then.
    pub(crate) fn is_flooded(&self) -> bool {
        self.frames.borrow().is_flooded()
    }

    /// The stream, and the gathered bytes that were not sent.
    pub(crate) fn into_parts(self) -> (ClientStream, Vec<u8>) {
        let FrameBatch { mut bytes, at } = self.gathered.into_inner();
        (self.stream.into_inner(), bytes.split_off(at))
    }

    fn note<T>(&self, polled: &Poll<T>) {
        let since = if polled.is_ready() { None } else { self.stalled_since.get().or_else(|| Some(Instant::now())) };
        self.stalled_since.set(since);
    }
}

impl AsyncRead for MeteredStream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.0.is_flooded() {
            // Whoever drives the connection looks when nothing else is left to do.
            return Poll::Pending;
        }
        let before = buf.filled().len();
        let read = Pin::new(&mut *self.0.stream.borrow_mut()).poll_read(cx, buf);
        self.0.frames.borrow_mut().received(&buf.filled()[before..], Instant::now);
        // In the handshake nobody else sends the first frames.
        if read.is_pending()
            && let Poll::Ready(Err(error)) = self.0.poll_send(cx)
        {
            return Poll::Ready(Err(error));
        }
        read
    }
}

impl AsyncWrite for MeteredStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        let meter = &self.0;
        let gathered_bytes = meter.gathered.borrow().bytes.len();
        if gathered_bytes + data.len() > GATHER_BYTES && gathered_bytes > 0 {
            ready!(meter.poll_send(cx))?;
        }
        if data.len() < GATHER_BYTES {
            let bytes = &mut meter.gathered.borrow_mut().bytes;
            if bytes.capacity() == 0 {
                bytes.reserve_exact(GATHER_BYTES);
            }
            bytes.extend_from_slice(data);
            meter.frames.borrow_mut().sent(data);
            return Poll::Ready(Ok(data.len()));
        }
        let data = &data[..data.len().min(meter.write_bytes_max)];
        let wrote = Pin::new(&mut *meter.stream.borrow_mut()).poll_write(cx, data);
        meter.note(&wrote);
        if let Poll::Ready(Ok(len)) = wrote {
            meter.frames.borrow_mut().sent(&data[..len]);
        }
        wrote
    }

    /// Returns at once, as no bytes wait for long: see [`Meter::poll_send`].
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.0.poll_send(cx))?;
        Pin::new(&mut *self.0.stream.borrow_mut()).poll_shutdown(cx)
    }
}
