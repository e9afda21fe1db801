//! One request and its answer on a stream of a client's connection of HTTP/2.

pub mod connection;
mod frames;
mod metered;
mod receive;
mod sending;
mod shared;
mod tunnel;

use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::Poll;
use std::time::{Duration, SystemTime};

use h2::server::SendResponse;
use h2::{Reason, RecvStream};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode};
use sluice_message::ResponseHead;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, timeout_at};

use self::tunnel::StreamSource;
use super::exchange::Woke;
use crate::front::h2::sending::{Room, Sending};
use crate::front::h2::shared::{ConnectionState, Piece};
use crate::front::lobby::Lobby;
use crate::receive::failure::{Failure, GONE};
use crate::respond::answer::{Answer, UpgradedConnection};
use crate::respond::encode::Size;
use crate::respond::outgoing::Outgoing;

/// Maximum number of interim responses to one request. More are dropped, as they are hints, and no flow control
/// bounds them.
const INTERIM_MAX: u32 = 16;
/// Fields that belong to a connection of HTTP/1 (RFC 9113 §8.2.2).
const OF_HTTP1: [&str; 5] = ["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"];

#[derive(Clone, Copy, PartialEq, Eq)]
enum AsksFor {
    Answer,
    /// Head of an answer, without its body.
    Head,
    /// Upgrade of the stream to a WebSocket.
    WebSocket,
}

/// One request and its answer on a stream.
pub struct H2<'c> {
    lobby: &'c Lobby,
    /// Parts of the request, until its head is taken.
    parts: Option<Parts>,
    asks_for: AsksFor,
    receive: RecvStream,
    declared_bytes: Option<u64>,
    expects_continue: bool,
    /// Room that the request's body has taken on the connection.
    blocks: Option<OwnedSemaphorePermit>,
    sending: Sending,
    /// Head of the answer, until it is sent with the first bytes of the body.
    head: Option<Response<()>>,
    /// Bytes of the body that are still to be sent, if the length is known.
    missing_bytes: Option<u64>,
    /// Trailers of a body that is complete.
    trailers: Option<HeaderMap>,
    /// The client knows that the answer is complete, or that it never will be.
    is_over: bool,
    informed: u32,
    pub(crate) out: Outgoing,
    send_timeout: Duration,
}

impl<'c> H2<'c> {
    pub(crate) fn new(
        request: Request<RecvStream>,
        respond: SendResponse<Piece>,
        lobby: &'c Lobby,
        shared: &Rc<ConnectionState>,
    ) -> Self {
        let (parts, receive) = request.into_parts();
        H2 {
            lobby,
            asks_for: if parts.method == http::Method::HEAD { AsksFor::Head } else { AsksFor::Answer },
            parts: Some(parts),
            receive,
            declared_bytes: None,
            expects_continue: false,
            blocks: None,
            sending: Sending::new(respond, shared),
            head: None,
            missing_bytes: None,
            trailers: None,
            is_over: false,
            informed: 0,
            out: Outgoing::new(&lobby.store.memory),
            send_timeout: Duration::from_millis(lobby.config().server.send_timeout_ms),
        }
    }

    pub(crate) fn is_head(&self) -> bool {
        self.asks_for == AsksFor::Head
    }

    /// Tells the client to send the body.
    fn go_on(&mut self) {
        let mut response = Response::new(());
        *response.status_mut() = StatusCode::CONTINUE;
        self.sending.inform(response);
    }

    pub(crate) fn inform(&mut self, head: &ResponseHead) {
        if self.informed < INTERIM_MAX {
            self.informed += 1;
            self.sending.inform(response(head, false));
        }
    }

    pub(crate) fn begin(&mut self, head: &ResponseHead, size: Size, request_id: &str) {
        let mut made = response(head, size == Size::Unknown);
        if self.asks_for == AsksFor::WebSocket {
            settle(&mut made);
        }
        let fields = made.headers_mut();
        if !fields.contains_key("x-request-id") {
            add(fields, "x-request-id", request_id.as_bytes());
        }
        if !fields.contains_key("date") {
            add(fields, "date", httpdate::HttpDate::from(SystemTime::now()).to_string().as_bytes());
        }
        if let Size::Known(bytes) = size
            && head.status != 204
        {
            add(fields, "content-length", bytes.to_string().as_bytes());
        }
        self.missing_bytes = match size {
            _ if self.is_head() || matches!(head.status, 204 | 304) => Some(0),
            _ if head.status == 101 => None,
            Size::Known(bytes) => Some(bytes),
            Size::Untold => Some(0),
            Size::Unknown => None,
        };
        self.head = Some(made);
    }

    pub(crate) fn end(&mut self, trailers: &[(String, Vec<u8>)]) {
        let mut fields = HeaderMap::new();
        for (name, value) in trailers {
            add(&mut fields, name, value);
        }
        self.trailers = Some(fields);
    }

    /// Ends the stream before the answer's end, which is all that tells the client.
    pub(crate) fn break_off(&mut self) {
        if !std::mem::replace(&mut self.is_over, true) {
            self.sending.reset(Reason::INTERNAL_ERROR);
        }
    }

    pub(crate) async fn gathers_more(&mut self, answer: &Answer) -> bool {
        let Some(until) = self.out.waits_until() else { return false };
        let changed = poll_fn(|cx| answer.changed.poll(cx));
        timeout_at(until, changed).await.is_ok()
    }

    /// Sends all that was gathered, within the client's windows and the room of the connection. Bytes that the client does not take go to
    /// the answer's file, as in [`super::h1::H1`].
    pub(crate) async fn flush(&mut self, aside: Option<&Answer>) -> io::Result<()> {
        self.out.hold();
        if self.is_over {
            self.out.clear(Instant::now());
            return Ok(());
        }
        self.send_head()?;
        let (mut at, mut moved) = (0, Instant::now());
        let mut waits_since = moved;
        while at < self.out.bytes.len() {
            let patience = self.lobby.store.memory.patience().min(self.send_timeout);
            let room = match timeout_at(waits_since + patience, self.sending.room(self.out.bytes.len() - at)).await {
                Ok(room) => room,
                Err(_) if moved.elapsed() >= self.send_timeout => return self.lost(io::ErrorKind::TimedOut),
                Err(_) => {
                    if let Some(answer) = aside {
                        at = self.out.set_aside(answer, at).await;
                    }
                    let wanted = (self.out.bytes.len() - at).max(1);
                    match timeout_at(moved + self.send_timeout, self.sending.room(wanted)).await {
                        Ok(Room::Bytes(_)) => {
                            waits_since = Instant::now();
                            continue;
                        }
                        Ok(Room::Gone) => Room::Gone,
                        Err(_) => return self.lost(io::ErrorKind::TimedOut),
                    }
                }
            };
            let Room::Bytes(len) = room else { return self.lost(io::ErrorKind::BrokenPipe) };
            self.send_data(at, len)?;
            at += len;
            if at < self.out.bytes.len() {
                moved = Instant::now();
                waits_since = moved;
            }
        }
        // What was set aside comes before the end.
        if !aside.is_some_and(Answer::has_framed) {
            self.send_end()?;
        }
        self.out.clear(moved);
        Ok(())
    }

    /// Sends the head, if it was not sent before; it also ends the stream if nothing follows.
    fn send_head(&mut self) -> io::Result<()> {
        let Some(head) = self.head.take() else { return Ok(()) };
        let is_whole = self.trailers.as_ref().is_some_and(HeaderMap::is_empty) && self.out.bytes.is_empty();
        self.is_over = self.missing_bytes == Some(0) || self.missing_bytes.is_none() && is_whole;
        self.sending.head(head, self.is_over).or_else(|_| self.lost(io::ErrorKind::BrokenPipe))
    }

    /// Sends `len` bytes from `at`, for which there is room; they also end the stream if nothing follows.
    fn send_data(&mut self, at: usize, len: usize) -> io::Result<()> {
        self.missing_bytes = self.missing_bytes.map(|missing| missing.saturating_sub(len as u64));
        let is_end = self.missing_bytes == Some(0);
        self.is_over |= is_end;
        let sent = self.sending.data(&self.out.bytes[at..at + len], is_end);
        sent.or_else(|_| self.lost(io::ErrorKind::BrokenPipe))
    }

    /// Ends a body whose length was not announced.
    fn send_end(&mut self) -> io::Result<()> {
        if self.is_over || self.missing_bytes.is_some() {
            return Ok(());
        }
        let Some(trailers) = self.trailers.take() else { return Ok(()) };
        self.is_over = true;
        let sent = if trailers.is_empty() { self.sending.data(&[], true) } else { self.sending.trailers(trailers) };
        sent.or_else(|_| self.lost(io::ErrorKind::BrokenPipe))
    }

    fn lost(&mut self, kind: io::ErrorKind) -> io::Result<()> {
        if kind == io::ErrorKind::TimedOut {
            self.sending.reset(Reason::CANCEL);
        } else {
            self.sending.shared.note_reset();
        }
        self.is_over = true;
        Err(kind.into())
    }

    /// Failure for a client that has cancelled the request, or has gone.
    fn gone(&mut self) -> Failure {
        self.sending.shared.note_reset();
        self.is_over = true;
        GONE
    }

    /// Carries a WebSocket over the stream until either side ends it.
    pub(crate) async fn switch(&mut self, upgraded: UpgradedConnection, answer: &Answer) {
        let source = StreamSource::new(&mut self.receive);
        if !super::tunnel::run(source, &mut self.sending, upgraded, answer).await {
            self.sending.reset(Reason::CANCEL);
        }
        self.is_over = true;
    }

    pub(crate) async fn changed(&mut self, answer: &Answer) -> Woke {
        let woke = poll_fn(|cx| {
            if answer.changed.poll(cx).is_ready() {
                return Poll::Ready(Woke::Again);
            }
            self.sending.poll_reset(cx).map(|()| Woke::Gone)
        });
        let woke = woke.await;
        if woke == Woke::Gone {
            let _ = self.gone();
        }
        woke
    }
}

/// Converts the answer to an extended CONNECT (RFC 8441 §5): 200 replaces 101, and so no other status may be 2xx.
fn settle(head: &mut Response<()>) {
    let status = head.status();
    if status == StatusCode::SWITCHING_PROTOCOLS {
        *head.status_mut() = StatusCode::OK;
        head.headers_mut().remove("sec-websocket-accept");
    } else if status.is_success() {
        *head.status_mut() = StatusCode::NOT_IMPLEMENTED;
    }
}

/// Converts a head to HTTP/2, without the fields that belong to a connection of HTTP/1.
fn response(head: &ResponseHead, has_trailers: bool) -> Response<()> {
    let mut response = Response::new(());
    if let Ok(status) = StatusCode::from_u16(head.status) {
        *response.status_mut() = status;
    }
    for (name, value) in head.fields.iter() {
        let is = |other: &&str| name.eq_ignore_ascii_case(other);
        if !OF_HTTP1.iter().any(is) && (has_trailers || !is(&"trailer")) {
            add(response.headers_mut(), name, value);
        }
    }
    response
}

/// Adds a field; the parser of workers' answers has refused invalid ones.
fn add(fields: &mut HeaderMap, name: &str, value: &[u8]) {
    if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_bytes(value)) {
        let _ = fields.try_append(name, value);
    }
}
