//! One request and its answer on a client's connection of HTTP/1.

use std::io;
use std::time::Duration;

use sluice_http1::{Framing, Version};
use sluice_message::ResponseHead;
use tokio::time::Instant;

use super::client::{self, Client, For};
use super::exchange::Woke;
use crate::front::lobby::Lobby;
use crate::respond::answer::Answer;
use crate::respond::encode::Size;
use crate::respond::encode::{Carriage, write_head, write_interim};
use crate::respond::outgoing::{BodyFraming, Outgoing};

/// Maximum size of pipelined requests that arrive during an answer, bytes.
const PIPELINE_BYTES_MAX: usize = 16 * 1024;

pub struct H1<'c> {
    pub(crate) client: &'c mut Client,
    pub(crate) lobby: &'c Lobby,
    pub(crate) out: Outgoing,
    pub(crate) version: Version,
    /// Delimitation of the request's body.
    pub(crate) framing: Framing,
    pub(crate) expects_continue: bool,
    /// The client wants to use the connection again.
    pub(crate) keep_alive: bool,
    /// The connection can carry another request. False while bytes of this request may be unread: the beginning of the next one would be
    /// unknown.
    pub(crate) persists: bool,
    send_timeout: Duration,
}

impl<'c> H1<'c> {
    pub(crate) fn new(client: &'c mut Client, lobby: &'c Lobby) -> Self {
        H1 {
            client,
            lobby,
            out: Outgoing::new(&lobby.store.memory),
            version: Version::Http11,
            framing: Framing::None,
            expects_continue: false,
            keep_alive: false,
            persists: false,
            send_timeout: Duration::from_millis(lobby.config().server.send_timeout_ms),
        }
    }

    /// Whether the request has a body, which may still be unread.
    pub(crate) fn has_body(&self) -> bool {
        !matches!(self.framing, Framing::None | Framing::Length(0))
    }

    pub(crate) fn inform(&mut self, head: &ResponseHead) {
        // RFC 9110 §15.2: an HTTP/1.0 client does not know interim responses.
        if self.version == Version::Http11 {
            write_interim(&mut self.out.bytes, head);
        }
    }

    pub(crate) fn begin(&mut self, head: &ResponseHead, size: Size, request_id: &str) {
        self.out.framed = match (size, self.version) {
            (Size::Unknown, Version::Http11) => BodyFraming::Chunked,
            (Size::Unknown, Version::Http10) => BodyFraming::UntilClose,
            _ => BodyFraming::Plain,
        };
        let goes_on = self.out.framed != BodyFraming::UntilClose && head.status != 101;
        self.persists &= goes_on && !self.lobby.is_draining() && !self.client.is_spent();
        let carriage = Carriage { version: self.version, framed: self.out.framed, persists: self.persists };
        write_head(&mut self.out.bytes, head, size, carriage, request_id);
    }

    pub(crate) fn break_off(&mut self) {
        self.out.seal();
        self.persists = false;
    }

    pub(crate) async fn gathers_more(&mut self, answer: &Answer) -> bool {
        let Some(until) = self.out.waits_until() else { return false };
        self.client.set_deadline(Some(until));
        matches!(self.client.wait(For { answer: Some(answer), ..For::default() }).await, client::Woke::Answer)
    }

    /// Writes all gathered bytes. A client that takes nothing for a while leaves its memory to others: its waiting bytes go to the answer's
    /// file until it takes bytes again.
    pub(crate) async fn flush(&mut self, aside: Option<&Answer>) -> io::Result<()> {
        self.out.seal();
        self.out.hold();
        let (mut at, mut moved) = (0, Instant::now());
        let mut waits_since = moved;
        while at < self.out.bytes.len() {
            let patience = self.lobby.store.memory.patience().min(self.send_timeout);
            self.client.set_deadline(Some(waits_since + patience));
            match self.client.wait(For { write: &self.out.bytes[at..], ..For::default() }).await {
                client::Woke::Wrote(len) => {
                    at += len;
                    // Nearly always all of it, and then the clock is of no use.
                    if at < self.out.bytes.len() {
                        moved = Instant::now();
                        waits_since = moved;
                    }
                }
                client::Woke::Deadline if moved.elapsed() >= self.send_timeout => {
                    return self.lost(io::ErrorKind::TimedOut);
                }
                client::Woke::Deadline => {
                    if let Some(answer) = aside {
                        at = self.out.set_aside(answer, at).await;
                    }
                    self.client.set_deadline(Some(moved + self.send_timeout));
                    match self.client.wait(For { writable: true, ..For::default() }).await {
                        client::Woke::Writable => waits_since = Instant::now(),
                        client::Woke::Deadline => return self.lost(io::ErrorKind::TimedOut),
                        _ => return self.lost(io::ErrorKind::BrokenPipe),
                    }
                }
                _ => return self.lost(io::ErrorKind::BrokenPipe),
            }
        }
        self.out.clear(moved);
        Ok(())
    }

    fn lost(&mut self, kind: io::ErrorKind) -> io::Result<()> {
        self.persists = false;
        Err(kind.into())
    }

    pub(crate) async fn changed(&mut self, answer: &Answer) -> Woke {
        self.client.set_deadline(None);
        let read = self.client.unread.len() < PIPELINE_BYTES_MAX;
        match self.client.wait(For { read, answer: Some(answer), ..For::default() }).await {
            client::Woke::Eof => {
                self.persists &= !self.client.unread.is_empty();
                Woke::HalfClosed
            }
            client::Woke::Broken => Woke::Gone,
            _ => Woke::Again,
        }
    }
}
