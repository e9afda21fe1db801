//! A WebSocket on a stream (RFC 8441): bytes go both ways, as in [`crate::front::tunnel`].

use std::future::poll_fn;
use std::pin::pin;
use std::time::Duration;

use h2::{Reason, RecvStream};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::UnixStream;

use super::sending::{Room, Sending};
use crate::front::course::Course;
use crate::socket::Socket;

const COPY_BYTES: usize = 16 * 1024;
/// How long the worker may still say something after the client's end.
const LAST_WORDS: Duration = Duration::from_secs(5);

pub(super) async fn run(
    receive: &mut RecvStream,
    sending: &mut Sending,
    mut worker: Socket<UnixStream>,
    first: &[u8],
    course: Course<'_>,
) {
    course.note_moved();
    let (mut worker_read, mut worker_write) = worker.split();
    let is_ended = {
        let up = take(receive, &mut worker_write, course);
        let down = give(first, &mut worker_read, sending, course);
        let (mut up, mut down) = (pin!(up), pin!(down));
        tokio::select! {
            is_ended = &mut down => is_ended,
            () = course.closing() => false,
            () = &mut up => {
                tokio::select! {
                    is_ended = &mut down => is_ended,
                    () = course.closing() => false,
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
async fn take(receive: &mut RecvStream, to: &mut (impl AsyncWrite + Unpin), course: Course<'_>) {
    while let Some(Ok(data)) = poll_fn(|cx| receive.poll_data(cx)).await {
        course.note_moved();
        if to.write_all(&data).await.is_err() || receive.flow_control().release_capacity(data.len()).is_err() {
            break;
        }
    }
    let _ = to.shutdown().await;
}

/// Copies what the worker sends to the client. Returns whether the client has all of it and knows its end.
async fn give(first: &[u8], from: &mut (impl AsyncRead + Unpin), sending: &mut Sending, course: Course<'_>) -> bool {
    if !send(first, sending).await {
        return false;
    }
    let mut buffer = vec![0; COPY_BYTES];
    while let Ok(len @ 1..) = from.read(&mut buffer).await {
        course.note_moved();
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
