//! One connection to a worker: the stream, and the bytes that were read from it and not used yet.

use std::future::Future as _;
use std::io;
use std::path::Path;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};
use tokio::net::UnixStream;
use tokio::time::Instant;

use super::StreamLease;
use sluice_wire::respond::answer::{UpgradedConnection, UpgradedStream};
use sluice_wire::socket::Socket;

/// Bytes that one read from a worker takes at most.
pub(crate) const READ_BYTES: usize = 32 * 1024;

/// Maximum time for which a worker may leave its backlog full.
const BACKLOG_TIMEOUT: Duration = Duration::from_secs(30);

/// True for errors that do not mean that the worker failed: its backlog is full because it computes, or the gateway is
/// out of descriptors. These are EMFILE and ENFILE, whose numbers are the same on every Unix.
fn is_passing(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock || matches!(error.raw_os_error(), Some(23 | 24))
}

pub(crate) struct Wire {
    pub(crate) stream: Socket<UnixStream>,
    pub(crate) unread: BytesMut,
    /// Number of requests that were written to it, at least in part.
    pub(crate) carried: u32,
}

impl Wire {
    /// # Errors
    /// Fails if no process listens on the socket.
    pub(crate) async fn connect(socket: &Path) -> io::Result<Self> {
        let deadline = Instant::now() + BACKLOG_TIMEOUT;
        loop {
            match Socket::connect(socket).await {
                Ok(stream) => return Ok(Wire { stream, unread: BytesMut::new(), carried: 0 }),
                Err(error) if is_passing(&error) && Instant::now() < deadline => {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether the connection can carry another request: an idle one that is closed, or sends anything, cannot.
    pub(super) fn is_quiet(&mut self) -> bool {
        let mut byte = [0];
        let mut cx = Context::from_waker(Waker::noop());
        Pin::new(&mut self.stream).poll_read(&mut cx, &mut ReadBuf::new(&mut byte)).is_pending()
    }

    /// Reads the available bytes, up to the room of the buffer. 0 bytes are the end of the connection.
    pub(super) fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        if self.unread.capacity() - self.unread.len() < READ_BYTES / 4 {
            self.unread.reserve(READ_BYTES);
        }
        // Made for this one look; it keeps nothing between two.
        pin!(self.stream.read_buf(&mut self.unread)).poll(cx)
    }

    pub(super) fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    /// Closes the sending side, at once.
    pub(super) fn shut_down(&mut self) {
        let mut cx = Context::from_waker(Waker::noop());
        let _ = Pin::new(&mut self.stream).poll_shutdown(&mut cx);
    }

    pub(super) fn into_upgraded(self, counted: StreamLease) -> UpgradedConnection {
        UpgradedConnection {
            stream: UpgradedStream::Worker(self.stream),
            first: self.unread.freeze(),
            counted: Box::new(counted),
        }
    }
}
