//! Receives a complete request from a client: the head under one deadline, the body at a minimum rate, into memory and
//! then a temporary file. No worker gets a request before it is complete (I2).

pub mod body;
pub mod failure;
pub mod memory;
pub(crate) mod pace;
pub mod spool;
pub mod trust;

use std::time::Duration;

use bytes::{Buf as _, Bytes};
use sluice_catalog::config::UnderscoreHeaders;
use sluice_catalog::errors::Code;
use sluice_http1::{ChunkedDecoder, Framing, HeadLimits, HeadReader, Parse, WireHead};
use sluice_message::{Method, Underscores, check_underscores};
use tokio::time::Instant;

use crate::front::client::{Client, For, Woke};
use crate::front::h1::H1;
use crate::front::lobby::Lobby;
use crate::ids::to_usize;
use crate::receive::body::Body;
use crate::receive::failure::{Failure, GONE, UpgradeOffer, refused};
use crate::receive::pace::Pace;

/// Size of the part of a body that stays in memory even if the client is slow, bytes. A file would cost more.
pub(crate) const KEPT_BYTES_MAX: usize = 2048;

pub(crate) fn head_limits(lobby: &Lobby) -> HeadLimits {
    let config = lobby.config();
    HeadLimits {
        request_line_bytes_max: to_usize(config.request_line_bytes_max()),
        headers_bytes_max: to_usize(config.server.headers_bytes_max),
        headers_count_max: to_usize(config.bounds.headers_count_max),
    }
}

impl H1<'_> {
    /// Head of the next request, whose first byte has arrived; the whole head must follow within the deadline.
    pub(crate) async fn head(&mut self) -> Result<UpgradeOffer, Failure> {
        let H1 { client, lobby, .. } = self;
        let limits = head_limits(lobby);
        let mut reader = HeadReader::new();
        client.set_deadline(Some(Instant::now() + Duration::from_millis(lobby.config().bounds.headers_timeout_ms)));
        let received = loop {
            match reader.request(&client.unread, &limits)? {
                Parse::Complete { received, consumed } => {
                    client.unread.advance(consumed);
                    break received;
                }
                Parse::Incomplete => match client.wait(For { read: true, ..For::default() }).await {
                    Woke::Read => {}
                    Woke::Deadline if reader.has_begun() => {
                        return Err(refused(Code::HeadersTimeout, "the headers took too long"));
                    }
                    _ => return Err(GONE),
                },
            }
        };
        let WireHead { mut head, version, framing, keep_alive, expect_continue, upgrade } = received;
        check_underscores(&head.fields, underscores(lobby.config().server.underscore_headers))?;
        if !is_known(&head.method) {
            return Err(refused(Code::MethodUnsupported, "Node.js does not know this method"));
        }
        head.scheme = client.scheme();
        (self.version, self.framing, self.expects_continue) = (version, framing, expect_continue);
        self.keep_alive = keep_alive;
        self.persists = keep_alive && !self.has_body();
        Ok((head, upgrade))
    }

    /// Receives the complete body. A body whose announced length is too large is refused at once. If the client waits
    /// for `100 Continue`, it is told to send.
    pub(crate) async fn body(&mut self, bytes_max: u64) -> Result<Body, Failure> {
        if !self.has_body() {
            return Ok(Body::empty(self.framing != Framing::None));
        }
        let body = take(self.client, self.lobby, self.framing, bytes_max, self.expects_continue).await?;
        self.persists = self.keep_alive;
        Ok(body)
    }
}

pub(crate) fn underscores(rule: UnderscoreHeaders) -> Underscores {
    match rule {
        UnderscoreHeaders::Distinct => Underscores::Distinct,
        UnderscoreHeaders::Refuse => Underscores::Refuse,
        UnderscoreHeaders::Pass => Underscores::Pass,
    }
}

/// Methods that Node.js knows besides those of `Method`; it closes the connection on any other.
const NODE_METHODS: [&str; 28] = [
    "ACL",
    "BIND",
    "CHECKOUT",
    "COPY",
    "LINK",
    "LOCK",
    "M-SEARCH",
    "MERGE",
    "MKACTIVITY",
    "MKCALENDAR",
    "MKCOL",
    "MOVE",
    "NOTIFY",
    "PROPFIND",
    "PROPPATCH",
    "PURGE",
    "QUERY",
    "REBIND",
    "REPORT",
    "SEARCH",
    "SOURCE",
    "SUBSCRIBE",
    "UNBIND",
    "UNLINK",
    "UNLOCK",
    "UNSUBSCRIBE",
    "TRACE",
    "CONNECT",
];

pub(crate) fn is_known(method: &Method) -> bool {
    !matches!(method, Method::Other(name) if !NODE_METHODS.contains(&&**name))
}

async fn take(
    client: &mut Client,
    lobby: &Lobby,
    framing: Framing,
    bytes_max: u64,
    expects_continue: bool,
) -> Result<Body, Failure> {
    if matches!(framing, Framing::Length(len) if len > bytes_max) {
        return Err(refused(Code::BodyTooLarge, "the declared length is over the limit"));
    }
    let mut body = Body::new(&lobby.store, to_usize(lobby.config().bounds.body_memory_bytes_max));
    if expects_continue && client.unread.is_empty() {
        write_continue(client).await?;
    }
    let mut pace = Pace::start(lobby);
    client.set_deadline(Some(pace.deadline()));
    match framing {
        Framing::Length(len) => {
            let mut missing = len;
            while missing > 0 {
                let here = client.unread.len().min(to_usize(missing));
                if here == 0 {
                    more(client, lobby, &body, &mut pace).await?;
                    continue;
                }
                let piece = client.unread.split_to(here);
                missing -= here as u64;
                store(&body, piece.freeze()).await?;
            }
        }
        Framing::Chunked => chunked(client, lobby, &mut body, &mut pace, bytes_max).await?,
        Framing::None => {}
    }
    Ok(body)
}

async fn chunked(
    client: &mut Client,
    lobby: &Lobby,
    body: &mut Body,
    pace: &mut Pace,
    bytes_max: u64,
) -> Result<(), Failure> {
    let mut decoder = ChunkedDecoder::for_request(&head_limits(lobby));
    loop {
        let decoded = decoder.decode(&client.unread)?;
        let data = client.unread.split_to(decoded.consumed).freeze().slice(decoded.data);
        // An announced chunk is as good as a declared length: there is no point in taking what will be refused.
        let announced = (data.len() as u64).saturating_add(decoder.announced_bytes());
        if body.bytes().saturating_add(announced) > bytes_max {
            return Err(refused(Code::BodyTooLarge, "the chunks add up to more than the limit"));
        }
        store(body, data).await?;
        if decoded.done {
            body.set_trailers(decoder.trailers().to_vec());
            return Ok(());
        }
        if decoded.consumed == 0 || client.unread.is_empty() {
            more(client, lobby, body, pace).await?;
        }
    }
}

async fn more(client: &mut Client, lobby: &Lobby, body: &Body, pace: &mut Pace) -> Result<(), Failure> {
    let before = client.unread.len();
    let mut may_spill = true;
    loop {
        let deadline = pace.deadline();
        let patience = pace.started + lobby.store.memory.patience();
        let spills = may_spill && body.memory_bytes() > KEPT_BYTES_MAX;
        client.set_deadline(Some(if spills { deadline.min(patience) } else { deadline }));
        match client.wait(For { read: true, ..For::default() }).await {
            Woke::Read => {
                pace.received(client.unread.len() - before);
                client.set_deadline(Some(pace.deadline()));
                return Ok(());
            }
            // A body that comes slowly leaves the memory to others. Where the file takes nothing, it stays, up to the bound.
            Woke::Deadline if Instant::now() < deadline => may_spill = body.spill().await.is_ok(),
            Woke::Deadline => {
                return Err(refused(Code::BodyTooSlow, "the body came slower than the minimum rate"));
            }
            _ => return Err(GONE),
        }
    }
}

pub(crate) async fn store(body: &Body, data: Bytes) -> Result<(), Failure> {
    body.append(data).await.map_err(|_| refused(Code::TempFull, "the temporary file could not be written"))
}

async fn write_continue(client: &mut Client) -> Result<(), Failure> {
    let mut out: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";
    while !out.is_empty() {
        match client.wait(For { write: out, ..For::default() }).await {
            Woke::Wrote(len) => out = &out[len..],
            _ => return Err(GONE),
        }
    }
    Ok(())
}
