//! An upgraded connection: bytes are copied both ways until either side ends it or is idle for too long. The client's side is a connection
//! of its own or a stream of HTTP/2 (`h2/tunnel.rs`).

use std::pin::pin;
use std::time::Duration;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, WriteHalf};
use tokio::time::Instant;

use super::client::Client;
use crate::respond::answer::{Answer, UpgradedConnection, UpgradedStream};

/// Bytes that are copied at once.
const COPY_BYTES: usize = 16 * 1024;
/// Longest time that the worker may still send data after the client's end.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Bytes from a client.
pub(crate) trait Source {
    /// The next bytes; `None` at the client's end.
    async fn read(&mut self) -> Option<&[u8]>;
}

/// Sending side to a client. Both methods return false when the client is gone.
pub(crate) trait Sink {
    async fn write(&mut self, data: &[u8]) -> bool;
    /// Tells the client that nothing follows.
    async fn end(&mut self) -> bool;
}

/// Copies bytes between a client and a worker, which has sent the first of them already. Returns whether the client has all of the worker's
/// bytes, and knows their end.
pub(crate) async fn run(source: impl Source, sink: impl Sink, upgraded: UpgradedConnection, answer: &Answer) -> bool {
    let UpgradedConnection { stream, first, counted: _counted } = upgraded;
    match stream {
        UpgradedStream::Worker(mut worker) => {
            let (read, write) = worker.split();
            carry(source, sink, (read, write), &first, answer).await
        }
        UpgradedStream::Upstream(upstream) => carry(source, sink, tokio::io::split(upstream), &first, answer).await,
    }
}

async fn carry(
    mut source: impl Source,
    mut sink: impl Sink,
    (mut worker_read, mut worker_write): (impl AsyncRead + Unpin, impl AsyncWrite + Unpin),
    first: &[u8],
    answer: &Answer,
) -> bool {
    let note_moved = || answer.facts.last_moved.set(Instant::now());
    note_moved();
    let up = async {
        while let Some(data) = source.read().await {
            note_moved();
            if worker_write.write_all(data).await.is_err() {
                break;
            }
        }
        let _ = worker_write.shutdown().await;
    };
    let down = async {
        if !sink.write(first).await {
            return false;
        }
        let mut buffer = vec![0; COPY_BYTES];
        while let Ok(len @ 1..) = worker_read.read(&mut buffer).await {
            note_moved();
            if !sink.write(&buffer[..len]).await {
                return false;
            }
        }
        sink.end().await
    };
    let (mut up, mut down) = (pin!(up), pin!(down));
    // The worker's end ends the tunnel. The client's end is passed on, and the worker may still say its last words.
    tokio::select! {
        is_ended = &mut down => is_ended,
        () = answer.closing.wait() => false,
        () = &mut up => {
            tokio::select! {
                is_ended = &mut down => is_ended,
                () = answer.closing.wait() => false,
                () = tokio::time::sleep(LAST_WORDS) => false,
            }
        }
    }
}

/// Copies bytes for a client that has its connection to itself, as [`run`] does.
pub(crate) async fn run_alone(client: &mut Client, upgraded: UpgradedConnection, answer: &Answer) {
    let unread = client.unread.split();
    let (reading, writing) = tokio::io::split(&mut client.stream);
    let source = ConnectionSource { reading, is_unread: !unread.is_empty(), buffer: unread };
    run(source, writing, upgraded, answer).await;
}

struct ConnectionSource<R> {
    reading: R,
    buffer: BytesMut,
    /// The buffer holds bytes that were read with the request.
    is_unread: bool,
}

impl<R: AsyncRead + Unpin> Source for ConnectionSource<R> {
    async fn read(&mut self) -> Option<&[u8]> {
        if !std::mem::take(&mut self.is_unread) {
            self.buffer.clear();
            self.buffer.reserve(COPY_BYTES);
            let len = self.reading.read_buf(&mut self.buffer).await.ok()?;
            if len == 0 {
                return None;
            }
        }
        Some(&self.buffer)
    }
}

impl<W: AsyncWrite> Sink for WriteHalf<W> {
    async fn write(&mut self, data: &[u8]) -> bool {
        self.write_all(data).await.is_ok() && self.flush().await.is_ok()
    }

    async fn end(&mut self) -> bool {
        self.shutdown().await.is_ok()
    }
}
