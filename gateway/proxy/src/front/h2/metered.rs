//! A client's connection as the `h2` crate sees it, and since when the client has taken nothing of what waits for it.

use std::cell::{Cell, RefCell};
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

use crate::front::client::ClientStream;

pub(super) struct Meter {
    pub(super) stream: RefCell<ClientStream>,
    /// Since when a write waits for the client.
    pub(super) stalled_since: Cell<Option<Instant>>,
    /// What is written at once: see [`crate::receive::memory::Memory::unsent_bytes_max`].
    write_bytes_max: usize,
}

pub(super) struct Metered(pub(super) Rc<Meter>);

impl Meter {
    pub(super) fn new(stream: ClientStream, write_bytes_max: usize) -> Rc<Self> {
        Rc::new(Meter { stream: RefCell::new(stream), stalled_since: Cell::default(), write_bytes_max })
    }

    fn note<T>(&self, polled: &Poll<T>) {
        let since = if polled.is_ready() { None } else { self.stalled_since.get().or_else(|| Some(Instant::now())) };
        self.stalled_since.set(since);
    }
}

impl AsyncRead for Metered {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0.stream.borrow_mut()).poll_read(cx, buf)
    }
}

impl AsyncWrite for Metered {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        let data = &data[..data.len().min(self.0.write_bytes_max)];
        let wrote = Pin::new(&mut *self.0.stream.borrow_mut()).poll_write(cx, data);
        self.0.note(&wrote);
        Poll::Ready(ready!(wrote))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut *self.0.stream.borrow_mut()).poll_flush(cx);
        self.0.note(&flushed);
        flushed
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0.stream.borrow_mut()).poll_shutdown(cx)
    }
}
