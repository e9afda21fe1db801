//! One connection to a worker: the stream and what was read from it and not used yet.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::BytesMut;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::UnixStream;

use super::StreamGuard;
use crate::answer::Upgraded;

/// How much is read from a worker at once.
pub(crate) const READ_BYTES: usize = 32 * 1024;

pub(crate) struct Wire {
    pub(crate) stream: UnixStream,
    pub(crate) unread: BytesMut,
}

impl Wire {
    /// # Errors
    /// When nobody listens on the socket.
    pub(crate) async fn connect(socket: &Path) -> io::Result<Self> {
        Ok(Wire { stream: UnixStream::connect(socket).await?, unread: BytesMut::new() })
    }

    /// Ready when an idle connection is closed or sends anything.
    pub(crate) fn poll_disturbed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut byte = [0];
        Pin::new(&mut self.stream).poll_read(cx, &mut ReadBuf::new(&mut byte)).map(|_| ())
    }

    pub(crate) fn into_upgraded(self, counted: StreamGuard) -> Upgraded {
        Upgraded { stream: self.stream, first: self.unread.freeze(), counted }
    }
}
