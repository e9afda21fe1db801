//! A client's connection: its stream, what was read from it and not used yet, and one deadline.
//!
//! All waiting for a client happens in [`Client::wait`], which checks reading, writing, the answer and the deadline together, so that
//! nothing is missed. An idle client costs no buffer.

use std::cell::Cell;
use std::future::Future as _;
use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::BytesMut;
use sluice_message::Scheme;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep};
use tokio_rustls::server::TlsStream;

use super::seat::Seat;
use crate::respond::answer::Answer;
use crate::signal::Signal;
use crate::socket::Socket;

/// Bytes that one read from a client takes at most.
const READ_BYTES: usize = 8 * 1024;
/// Room in bytes below which the buffer grows before a read.
const READ_BYTES_MIN: usize = 1024;

/// Size from which a write is sealed, so that the kernel adds nothing to its segment. Otherwise it would append write after write to the
/// unsent bytes, up to 64 KiB, before it checks `TCP_NOTSENT_LOWAT` again. Sealing smaller writes would cost too much.
#[cfg(target_os = "linux")]
const SEALED_BYTES_MIN: usize = 4 * 1024;
/// `MSG_EOR | MSG_NOSIGNAL`.
#[cfg(target_os = "linux")]
const SEALED: i32 = 0x80 | 0x4000;

thread_local! {
    /// Buffer of the client that has used one last.
    static SPARE: Cell<BytesMut> = Cell::new(BytesMut::new());
}

/// The transport: plain or TLS.
pub enum ClientStream {
    /// Socket without TLS.
    Plain(Socket<TcpStream>),
    /// Socket with TLS.
    Tls(Box<TlsStream<TcpStream>>),
}

/// Event that ended a wait.
pub(crate) enum Woke {
    /// More bytes are in `unread`.
    Read,
    /// The client has closed its side.
    Eof,
    /// The client took this many bytes of the output.
    Wrote(usize),
    /// The client takes bytes again.
    Writable,
    /// The connection is broken.
    Broken,
    /// The answer has changed.
    Answer,
    /// The deadline has passed.
    Deadline,
    /// The gateway drains.
    Draining,
}

/// Events to wait for, besides the deadline.
#[derive(Default)]
pub(crate) struct For<'a> {
    /// The client sends more.
    pub(crate) read: bool,
    /// The client takes some of these bytes.
    pub(crate) write: &'a [u8],
    /// The client takes bytes again, after a write that it did not take.
    pub(crate) writable: bool,
    /// The answer changes.
    pub(crate) answer: Option<&'a Answer>,
    /// The gateway drains.
    pub(crate) draining: bool,
}

/// A client's connection.
pub(crate) struct Client {
    /// The transport.
    pub(crate) stream: ClientStream,
    /// Bytes that were read and not used yet.
    pub(crate) unread: BytesMut,
    /// Place for the work of this client's request.
    pub(crate) seat: Option<Rc<dyn Seat>>,
    deadline: Option<Instant>,
    sleep: Pin<Box<Sleep>>,
    draining: Rc<Signal>,
    /// The client has closed its sending side.
    pub(crate) eof: bool,
    /// Bytes that are written at once: see [`crate::receive::memory::Memory::unsent_bytes_max`].
    write_bytes_max: usize,
    /// TLS may hold bytes that it has taken; they must leave even when no more are written.
    must_flush: bool,
}

impl Client {
    /// Connection over this transport. `draining` wakes it when the gateway drains; one write takes `write_bytes_max` bytes at most.
    pub(crate) fn new(stream: ClientStream, draining: Rc<Signal>, write_bytes_max: usize) -> Self {
        let sleep = Box::pin(tokio::time::sleep(Duration::from_secs(3600)));
        Client {
            stream,
            unread: BytesMut::new(),
            seat: None,
            deadline: None,
            sleep,
            draining,
            eof: false,
            write_bytes_max,
            must_flush: false,
        }
    }

    /// Scheme of the connection, as its client sees it.
    pub(crate) fn scheme(&self) -> Scheme {
        Scheme::of(self.is_tls())
    }

    fn is_tls(&self) -> bool {
        matches!(self.stream, ClientStream::Tls(_))
    }

    /// Sets the time at which [`Client::wait`] ends with [`Woke::Deadline`]; `None` for never.
    pub(crate) fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.deadline = deadline;
    }

    /// Waits until one of the wanted events happens. Cancel-safe: bytes that were read are in `unread`.
    pub(crate) async fn wait(&mut self, wanted: For<'_>) -> Woke {
        std::future::poll_fn(|cx| self.poll_wait(cx, &wanted)).await
    }

    fn poll_wait(&mut self, cx: &mut Context<'_>, wanted: &For<'_>) -> Poll<Woke> {
        if self.must_flush
            && let Poll::Ready(flushed) = Pin::new(&mut self.stream).poll_flush(cx)
        {
            if flushed.is_err() {
                return Poll::Ready(Woke::Broken);
            }
            self.must_flush = false;
        }
        let write = &wanted.write[..wanted.write.len().min(self.write_bytes_max)];
        if !write.is_empty()
            && let Poll::Ready(wrote) = self.stream.poll_write(cx, write)
        {
            self.must_flush = self.is_tls();
            return Poll::Ready(match wrote {
                Ok(0) | Err(_) => Woke::Broken,
                Ok(len) => Woke::Wrote(len),
            });
        }
        if wanted.writable && !self.must_flush {
            match self.stream.poll_write_ready(cx) {
                Poll::Ready(Ok(())) => return Poll::Ready(Woke::Writable),
                Poll::Ready(Err(_)) => return Poll::Ready(Woke::Broken),
                Poll::Pending => {}
            }
        }
        if let Some(answer) = wanted.answer
            && answer.changed.poll(cx).is_ready()
        {
            return Poll::Ready(Woke::Answer);
        }
        if wanted.read
            && !self.eof
            && let Poll::Ready(read) = self.poll_read(cx)
        {
            return Poll::Ready(match read {
                Ok(0) => {
                    self.eof = true;
                    Woke::Eof
                }
                Ok(_) => Woke::Read,
                Err(_) => Woke::Broken,
            });
        }
        if wanted.draining && self.draining.poll(cx).is_ready() {
            return Poll::Ready(Woke::Draining);
        }
        self.poll_deadline(cx).map(|()| Woke::Deadline)
    }

    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        if let ClientStream::Plain(tcp) = &self.stream {
            // An idle connection waits without a buffer, and one that drips with no more than it has sent; most
            // connections are idle most of the time.
            ready!(tcp.poll_read_ready(cx))?;
        }
        if self.unread.capacity() == 0 {
            self.unread = SPARE.take();
        }
        if self.unread.capacity() - self.unread.len() < READ_BYTES_MIN {
            self.unread.reserve(READ_BYTES);
        }
        let before = self.unread.len();
        // Made for this one look, so that a wait leaves the buffer usable at any point; it keeps nothing between two.
        let read = pin!(self.stream.read_buf(&mut self.unread)).poll(cx);
        if read.is_pending() && self.unread.capacity() - before > READ_BYTES / 2 {
            self.unread = BytesMut::from(&self.unread[..]);
        }
        read
    }

    /// Polls the one timer of a connection, which is moved as seldom as possible: most deadlines are met and never reach the timer.
    fn poll_deadline(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(deadline) = self.deadline else { return Poll::Pending };
        loop {
            if self.sleep.deadline() > deadline {
                self.sleep.as_mut().reset(deadline);
            }
            if self.sleep.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            if Instant::now() >= deadline {
                return Poll::Ready(());
            }
            self.sleep.as_mut().reset(deadline);
        }
    }

    /// True if the client sends nothing more and all that it sent was used.
    pub(crate) fn is_spent(&self) -> bool {
        self.eof && self.unread.is_empty()
    }

    /// Gives the buffer away while it is empty: to the next client of this thread, if it has the size of one read.
    pub(crate) fn shed_buffer(&mut self) {
        if self.unread.is_empty() {
            let mut buffer = std::mem::take(&mut self.unread);
            if buffer.try_reclaim(READ_BYTES) && buffer.capacity() < 2 * READ_BYTES {
                SPARE.set(buffer);
            }
        }
    }

    /// Closes so that the client gets all that was written: first the sending side, then the client's further bytes are read and discarded
    /// for a while. Closing with unread bytes would reset the connection and could destroy the answer.
    pub(crate) async fn close(mut self, linger: bool, send_timeout: Duration) {
        if self.must_flush {
            let flushed = std::future::poll_fn(|cx| Pin::new(&mut self.stream).poll_flush(cx));
            let _ = tokio::time::timeout(send_timeout, flushed).await;
        }
        let shut = std::future::poll_fn(|cx| Pin::new(&mut self.stream).poll_shutdown(cx));
        let _ = tokio::time::timeout(Duration::from_secs(1), shut).await;
        if !linger || self.eof {
            return;
        }
        let end = Instant::now() + Duration::from_secs(2);
        self.set_deadline(Some(end));
        let mut discarded_bytes = 0_usize;
        while discarded_bytes < 1024 * 1024 {
            self.unread.clear();
            match self.wait(For { read: true, ..For::default() }).await {
                Woke::Read => discarded_bytes += self.unread.len(),
                _ => return,
            }
        }
    }
}

impl ClientStream {
    fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            ClientStream::Plain(tcp) => tcp.poll_write_ready(cx),
            ClientStream::Tls(tls) => tls.get_ref().0.poll_write_ready(cx),
        }
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        #[cfg(target_os = "linux")]
        if let ClientStream::Plain(Socket::Os(tcp)) = self
            && data.len() >= SEALED_BYTES_MIN
        {
            return poll_write_sealed(tcp, cx, data);
        }
        AsyncWrite::poll_write(Pin::new(self), cx, data)
    }
}

#[cfg(target_os = "linux")]
fn poll_write_sealed(tcp: &TcpStream, cx: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
    let send = || socket2::SockRef::from(tcp).send_with_flags(data, SEALED);
    loop {
        std::task::ready!(tcp.poll_write_ready(cx))?;
        match tcp.try_io(tokio::io::Interest::WRITABLE, send) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            sent => return Poll::Ready(sent),
        }
    }
}

impl AsyncRead for ClientStream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            ClientStream::Plain(tcp) => Pin::new(tcp).poll_read(cx, buf),
            ClientStream::Tls(tls) => Pin::new(tls).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for ClientStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            ClientStream::Plain(tcp) => Pin::new(tcp).poll_write(cx, data),
            ClientStream::Tls(tls) => Pin::new(tls).poll_write(cx, data),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            ClientStream::Plain(tcp) => Pin::new(tcp).poll_flush(cx),
            ClientStream::Tls(tls) => Pin::new(tls).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            ClientStream::Plain(tcp) => Pin::new(tcp).poll_shutdown(cx),
            ClientStream::Tls(tls) => Pin::new(tls).poll_shutdown(cx),
        }
    }
}
