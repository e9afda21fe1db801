//! An upgraded connection: bytes go both ways until either side ends it or nothing has moved for too long.

use std::pin::pin;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::Instant;

use super::client::Client;
use crate::respond::answer::{Answer, Upgraded};

const COPY_BYTES: usize = 16 * 1024;

pub(crate) async fn run(client: &mut Client, upgraded: Upgraded, answer: &Answer) {
    let Upgraded { stream: mut worker, first, counted: _counted } = upgraded;
    answer.last_moved.set(Instant::now());
    let unread = client.unread.split();
    let (mut worker_read, mut worker_write) = worker.split();
    let (mut client_read, mut client_write) = tokio::io::split(&mut client.stream);
    let up = copy(&unread, &mut client_read, &mut worker_write, answer);
    let down = copy(&first, &mut worker_read, &mut client_write, answer);
    let (mut up, mut down) = (pin!(up), pin!(down));
    // The worker's end ends the tunnel. The client's end is passed on, and the worker may still say its last words.
    tokio::select! {
        () = &mut down => {}
        () = answer.closing.wait() => {}
        () = &mut up => {
            tokio::select! {
                () = &mut down => {}
                () = answer.closing.wait() => {}
                () = tokio::time::sleep(Duration::from_secs(5)) => {}
            }
        }
    }
}

/// Writes what was read already, then copies until the end, then ends the writing side. The gate closes a tunnel in which nothing has moved for too long.
async fn copy(
    first: &[u8],
    from: &mut (impl tokio::io::AsyncRead + Unpin),
    to: &mut (impl tokio::io::AsyncWrite + Unpin),
    answer: &Answer,
) {
    let mut buffer = vec![0; COPY_BYTES];
    if to.write_all(first).await.is_err() || to.flush().await.is_err() {
        return;
    }
    while let Ok(len) = from.read(&mut buffer).await {
        answer.last_moved.set(Instant::now());
        if len == 0 || to.write_all(&buffer[..len]).await.is_err() || to.flush().await.is_err() {
            break;
        }
    }
    let _ = to.shutdown().await;
}
