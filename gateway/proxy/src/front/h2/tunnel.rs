//! A WebSocket on a stream (RFC 8441): bytes go both ways, as in [`crate::front::tunnel`].

use std::future::poll_fn;
use std::pin::pin;
use std::time::Duration;

use h2::{Reason, RecvStream};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::time::Instant;

use super::sending::{Room, Sending};
use crate::respond::answer::{Answer, Upgraded};

const COPY_BYTES: usize = 16 * 1024;
/// How long the worker may still say something after the client's end.
const LAST_WORDS: Duration = Duration::from_secs(5);

pub(super) async fn run(receive: &mut RecvStream, sending: &mut Sending, upgraded: Upgraded, answer: &Answer) {
    let Upgraded { stream: mut worker, first, counted: _counted } = upgraded;
    answer.last_moved.set(Instant::now());
    let (mut worker_read, mut worker_write) = worker.split();
    let is_ended = {
        let up = take(receive, &mut worker_write, answer);
        let down = give(&first, &mut worker_read, sending, answer);
        let (mut up, mut down) = (pin!(up), pin!(down));
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
    };
    if !is_ended {
        sending.reset(Reason::CANCEL);
    }
}

/// Copies what the client sends to the worker, until the client ends it.
async fn take(receive: &mut RecvStream, to: &mut (impl AsyncWrite + Unpin), answer: &Answer) {
    while let Some(Ok(data)) = poll_fn(|cx| receive.poll_data(cx)).await {
        answer.last_moved.set(Instant::now());
        if to.write_all(&data).await.is_err() || receive.flow_control().release_capacity(data.len()).is_err() {
            break;
        }
    }
    let _ = to.shutdown().await;
}

/// Copies what the worker sends to the client. Returns whether the client has all of it and knows its end.
async fn give(first: &[u8], from: &mut (impl AsyncRead + Unpin), sending: &mut Sending, answer: &Answer) -> bool {
    if !send(first, sending).await {
        return false;
    }
    let mut buffer = vec![0; COPY_BYTES];
    while let Ok(len @ 1..) = from.read(&mut buffer).await {
        answer.last_moved.set(Instant::now());
        if !send(&buffer[..len], sending).await {
            return false;
        }
    }
    sending.data(&[], true).is_ok()
}

async fn send(mut data: &[u8], sending: &mut Sending) -> bool {
    while !data.is_empty() {
        let Room::Bytes(len) = sending.room(data.len()).await else { return false };
        if sending.data(&data[..len], false).is_err() {
            return false;
        }
        data = &data[len..];
    }
    true
}
