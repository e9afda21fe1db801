//! One connection to a worker: the stream and what was read from it and not used yet.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::BytesMut;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::UnixStream;
use tokio::time::Instant;

use super::StreamLease;
use crate::respond::answer::Upgraded;
use crate::socket::Socket;

/// How much is read from a worker at once.
pub(crate) const READ_BYTES: usize = 32 * 1024;

/// How long a worker may keep its backlog full.
const BACKLOG_TIMEOUT: Duration = Duration::from_secs(30);

/// Errors that say nothing bad of the worker: its backlog is full because it computes, or we are out of descriptors
/// (EMFILE, ENFILE; the numbers are the same on every Unix).
fn is_passing(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock || matches!(error.raw_os_error(), Some(23 | 24))
}

pub(crate) struct Wire {
    pub(crate) stream: Socket<UnixStream>,
    pub(crate) unread: BytesMut,
    /// Requests written to it, or begun to be.
    pub(crate) carried: u32,
}

impl Wire {
    /// # Errors
    /// When nobody listens on the socket.
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

    /// Ready when an idle connection is closed or sends anything.
    pub(crate) fn poll_disturbed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut byte = [0];
        Pin::new(&mut self.stream).poll_read(cx, &mut ReadBuf::new(&mut byte)).map(|_| ())
    }

    pub(crate) fn into_upgraded(self, counted: StreamLease) -> Upgraded {
        Upgraded { stream: self.stream, first: self.unread.freeze(), counted: Box::new(counted) }
    }
}
