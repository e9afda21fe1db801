//! A socket of a client or of a worker. In tests it may be one end of a pipe in memory, so that the whole road runs on a paused clock.
//! Release builds have the socket alone, and no branch. It must not know what the bytes mean.

#[cfg(any(test, feature = "memory-sockets"))]
pub mod memory;

use std::io::{self, IoSlice};
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::unix::{ReadHalf, WriteHalf};
use tokio::net::{TcpStream, UnixStream};

/// A socket of a client or of a worker.
pub enum Socket<S> {
    /// Socket of the operating system.
    Os(S),
    /// One end of a pipe in memory.
    #[cfg(any(test, feature = "memory-sockets"))]
    Memory(memory::End),
}

impl Socket<TcpStream> {
    /// Ready when there are bytes to read; no buffer is needed before.
    pub(crate) fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Socket::Os(tcp) => tcp.poll_read_ready(cx),
            #[cfg(any(test, feature = "memory-sockets"))]
            Socket::Memory(end) => end.poll_read_ready(cx).map(Ok),
        }
    }

    /// Polls whether the socket takes bytes.
    pub(crate) fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Socket::Os(tcp) => tcp.poll_write_ready(cx),
            #[cfg(any(test, feature = "memory-sockets"))]
            Socket::Memory(end) => end.poll_write_ready(cx).map(Ok),
        }
    }
}

impl Socket<UnixStream> {
    /// # Errors
    /// Fails if no process listens there, or the backlog is full.
    pub async fn connect(path: &Path) -> io::Result<Self> {
        #[cfg(any(test, feature = "memory-sockets"))]
        if let Some(dialled) = memory::dial(path) {
            return dialled.map(Socket::Memory);
        }
        UnixStream::connect(path).await.map(Socket::Os)
    }

    /// Reading and writing side.
    pub(crate) fn split(&mut self) -> (Socket<ReadHalf<'_>>, Socket<WriteHalf<'_>>) {
        match self {
            Socket::Os(unix) => {
                let (read, write) = unix.split();
                (Socket::Os(read), Socket::Os(write))
            }
            #[cfg(any(test, feature = "memory-sockets"))]
            Socket::Memory(end) => (Socket::Memory(end.clone()), Socket::Memory(end.clone())),
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Socket<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Socket::Os(socket) => Pin::new(socket).poll_read(cx, buf),
            #[cfg(any(test, feature = "memory-sockets"))]
            Socket::Memory(end) => Pin::new(end).poll_read(cx, buf),
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Socket<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Socket::Os(socket) => Pin::new(socket).poll_write(cx, data),
            #[cfg(any(test, feature = "memory-sockets"))]
            Socket::Memory(end) => Pin::new(end).poll_write(cx, data),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Socket::Os(socket) => Pin::new(socket).poll_write_vectored(cx, slices),
            #[cfg(any(test, feature = "memory-sockets"))]
            Socket::Memory(end) => Pin::new(end).poll_write_vectored(cx, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Socket::Os(socket) => socket.is_write_vectored(),
            #[cfg(any(test, feature = "memory-sockets"))]
            Socket::Memory(end) => end.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Socket::Os(socket) => Pin::new(socket).poll_flush(cx),
            #[cfg(any(test, feature = "memory-sockets"))]
            Socket::Memory(end) => Pin::new(end).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Socket::Os(socket) => Pin::new(socket).poll_shutdown(cx),
            #[cfg(any(test, feature = "memory-sockets"))]
            Socket::Memory(end) => Pin::new(end).poll_shutdown(cx),
        }
    }
}
