//! An upgraded connection: bytes go both ways until either side ends it or nothing has moved for too long.

use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::answer::{Answer, Upgraded};
use crate::client::Client;
use crate::gate::Gate;

const COPY_BYTES: usize = 16 * 1024;

pub(crate) async fn run(client: &mut Client, upgraded: Upgraded, gate: &Rc<Gate>, answer: &Answer) {
    let idle_ms = gate.config.streams.idle_timeout_ms;
    let idle_max = Duration::from_millis(if idle_ms == 0 { u64::MAX / 2_000_000 } else { idle_ms });
    let Upgraded { stream: mut worker, first, counted: _counted } = upgraded;
    let unread = client.unread.split();
    if worker.write_all(&unread).await.is_err() || client.stream.write_all(&first).await.is_err() {
        return;
    }
    let (mut worker_read, mut worker_write) = worker.split();
    let (mut client_read, mut client_write) = tokio::io::split(&mut client.stream);
    let up = copy(&mut client_read, &mut worker_write, idle_max);
    let down = copy(&mut worker_read, &mut client_write, idle_max);
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

/// Copies until the end or until nothing has come for `idle_max`, then ends the writing side.
async fn copy(
    from: &mut (impl tokio::io::AsyncRead + Unpin),
    to: &mut (impl tokio::io::AsyncWrite + Unpin),
    idle_max: Duration,
) {
    let mut buffer = vec![0; COPY_BYTES];
    loop {
        match tokio::time::timeout(idle_max, from.read(&mut buffer)).await {
            Ok(Ok(len)) if len > 0 => {
                let sent = tokio::time::timeout(idle_max, to.write_all(&buffer[..len])).await;
                if !matches!(sent, Ok(Ok(()))) {
                    break;
                }
            }
            _ => break,
        }
    }
    let _ = to.shutdown().await;
}
