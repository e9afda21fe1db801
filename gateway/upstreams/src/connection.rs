//! One connection to a target: the stream, and the bytes that were read from it and not used yet.

use std::future::Future as _;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use bytes::BytesMut;
use sluice_wire::respond::answer::Duplex;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::ServerName;

use crate::settings::Tls;

/// Bytes that one read takes at most.
const READ_BYTES: usize = 32 * 1024;

/// Maximum idle time of a connection. Node closes idle connections after 5 s.
pub(crate) const IDLE_TIMEOUT: Duration = Duration::from_secs(4);

/// Stream to a target.
pub(crate) enum Stream {
    Tcp(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// A connection.
pub(crate) struct Connection {
    stream: Stream,
    pub(crate) unread: BytesMut,
    /// Requests that were written to it, at least in part.
    pub(crate) carried: u32,
    /// Time since which it carries none.
    pub(crate) idle_since: Instant,
    /// Longest time for which it may carry none.
    pub(crate) idle_max: Duration,
    /// TLS may hold bytes that it has taken.
    must_flush: bool,
}

impl Connection {
    /// Connects, sends `first` (the PROXY protocol's header), and makes the TLS handshake.
    ///
    /// # Errors
    /// Error of the system or of TLS.
    pub(crate) async fn open(
        address: std::net::SocketAddr,
        first: &[u8],
        tls: Option<(&Tls, ServerName<'static>)>,
    ) -> io::Result<Self> {
        let mut tcp = TcpStream::connect(address).await?;
        tcp.set_nodelay(true)?;
        if !first.is_empty() {
            tcp.write_all(first).await?;
        }
        let stream = match tls {
            None => Stream::Tcp(tcp),
            Some((tls, name)) => {
                let connector = TlsConnector::from(std::sync::Arc::clone(&tls.config));
                Stream::Tls(Box::new(connector.connect(name, tcp).await?))
            }
        };
        Ok(Connection {
            stream,
            unread: BytesMut::new(),
            carried: 0,
            idle_since: Instant::now(),
            idle_max: IDLE_TIMEOUT,
            must_flush: false,
        })
    }

    /// Notes for how long the target lets it be idle, by the field `Keep-Alive` of an answer. A fifth of the time is left for the way.
    pub(crate) fn note_keep_alive(&mut self, value: &[u8]) {
        let parameters = value.split(|byte| *byte == b',').filter_map(|part| std::str::from_utf8(part).ok());
        let timeout_s = parameters
            .filter_map(|parameter| parameter.trim().split_once('='))
            .find(|(name, _)| name.eq_ignore_ascii_case("timeout"))
            .and_then(|(_, value)| value.trim_matches('"').parse::<u32>().ok());
        if let Some(timeout_s) = timeout_s {
            self.idle_max = IDLE_TIMEOUT.min(Duration::from_secs(timeout_s.into()) * 4 / 5);
        }
    }

    /// Whether it can carry another request: an idle connection that is closed, sends anything or is idle for too long cannot.
    pub(crate) fn is_usable(&mut self) -> bool {
        if self.idle_since.elapsed() >= self.idle_max {
            return false;
        }
        let mut byte = [0];
        let mut cx = Context::from_waker(Waker::noop());
        Pin::new(&mut self.stream).poll_read(&mut cx, &mut ReadBuf::new(&mut byte)).is_pending()
    }

    /// Reads the available bytes. 0 bytes are the end of the connection.
    pub(crate) fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        if self.unread.capacity() - self.unread.len() < READ_BYTES / 4 {
            self.unread.reserve(READ_BYTES);
        }
        pin!(self.stream.read_buf(&mut self.unread)).poll(cx)
    }

    /// Writes some of the bytes.
    pub(crate) fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.must_flush = true;
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    /// Sends bytes that TLS has taken and not sent.
    pub(crate) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.must_flush {
            ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
            self.must_flush = false;
        }
        Poll::Ready(Ok(()))
    }

    /// The stream alone, with the unread bytes.
    pub(crate) fn into_parts(self) -> (Box<dyn Duplex>, BytesMut) {
        (Box::new(self.stream), self.unread)
    }
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Tcp(tcp) => Pin::new(tcp).poll_read(cx, buf),
            Stream::Tls(tls) => Pin::new(tls).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Stream::Tcp(tcp) => Pin::new(tcp).poll_write(cx, data),
            Stream::Tls(tls) => Pin::new(tls).poll_write(cx, data),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Tcp(tcp) => Pin::new(tcp).poll_flush(cx),
            Stream::Tls(tls) => Pin::new(tls).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Tcp(tcp) => Pin::new(tcp).poll_shutdown(cx),
            Stream::Tls(tls) => Pin::new(tls).poll_shutdown(cx),
        }
    }
}
