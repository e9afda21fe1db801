//! A client's connection of HTTP/2: concurrent requests, and a graceful end for both sides.

use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use h2::server::{Connection, SendResponse};
use h2::{Reason, RecvStream};
use http::Request;
use tokio::time::{Instant, Sleep};

use super::H2;
use super::metered::{Meter, MeteredStream};
use crate::front::client::{self, Client, ClientStream, For};
use crate::front::connection::{ConnectionCount, send_timeout};
use crate::front::exchange::Exchange;
use crate::front::h2::shared::{ConnectionState, Piece, Running};
use crate::front::handles::Handle;
use crate::front::lobby::Lobby;
use crate::front::origin::Origin;
use crate::front::service::Service;

/// Bytes of a request's body that a client may send before the gateway asks for more.
pub(crate) const STREAM_WINDOW_BYTES: u32 = 128 * 1024;
/// Maximum size of small data frames that are read before a request's task has read them, bytes. Frames that hold
/// next to nothing cost memory too.
const SMALL_FRAMES_BYTES_MAX: usize = 128 * 1024;
/// Maximum number of streams that the gateway reset and that may still get frames.
const RESET_STREAMS_MAX: usize = 50;
/// Maximum number of requests cancelled before the gateway has read them.
const RESET_UNSEEN_MAX: usize = 50;
/// Maximum number of protocol faults on single streams. Clients without a fault of their own have none.
const FAULTS_MAX: usize = 100;
/// Size in bytes of a field in a list beyond its own bytes (RFC 9113 §6.5.2).
const FIELD_BYTES: u64 = 32;
/// Time that a client without requests has to close its connection, after it was told to open no further ones.
const LAST_WORDS: Duration = Duration::from_secs(2);

type AcceptedStream = (Request<RecvStream>, SendResponse<Piece>);

enum Woke {
    Request(Box<AcceptedStream>),
    Closed,
    /// The gateway drains, the connection is to make room, or a request has ended.
    Told,
    Deadline,
}

/// Serves one connection until it ends. Its handle counts it from before the TLS handshake until after the last byte.
pub async fn serve<S: Service>(stream: ClientStream, origin: Origin, service: Rc<S>, handle: Handle) {
    let lobby = service.lobby();
    let _counted = ConnectionCount::new(lobby, &handle);
    lobby.connections.rests(handle.key);
    let meter = Meter::new(stream, lobby.store.memory.unsent_bytes_max());
    let shared = ConnectionState::new(lobby);
    let patience = Duration::from_millis(lobby.config().bounds.headers_timeout_ms);
    let handshake = builder(lobby, &shared).handshake(MeteredStream(Rc::clone(&meter)));
    if let Ok(Ok(connection)) = tokio::time::timeout(patience, handshake).await {
        let driver = Driver {
            connection,
            meter: Rc::clone(&meter),
            shared,
            idle_since: Instant::now(),
            is_used: false,
            leaving_since: None,
            sleep: Box::pin(tokio::time::sleep(patience)),
            service: &service,
            lobby,
            origin: Rc::new(origin),
            handle: &handle,
        };
        Box::pin(driver.run()).await;
    }
    let Ok(meter) = Rc::try_unwrap(meter) else { return };
    let is_stalled = meter.stalled_since.get().is_some();
    let (stream, unsent) = meter.into_parts();
    let mut client = Client::new(stream, Rc::default(), lobby.store.memory.unsent_bytes_max());
    client.set_deadline(Some(Instant::now() + LAST_WORDS));
    let mut at = 0;
    while at < unsent.len() && !is_stalled {
        match client.wait(For { write: &unsent[at..], ..For::default() }).await {
            client::Woke::Wrote(len) => at += len,
            _ => break,
        }
    }
    // What the client still sends would otherwise reset the connection, and could eat the last of an answer.
    client.close(!is_stalled, send_timeout(lobby)).await;
}

fn builder(lobby: &Lobby, shared: &ConnectionState) -> h2::server::Builder {
    let config = lobby.config();
    let streams_max = config.bounds.http2_streams_max;
    // The gateway judges the fields by itself, and says what is wrong; this is for what is out of all proportion.
    let list_bytes = config.request_line_bytes_max()
        + config.server.headers_bytes_max
        + FIELD_BYTES * (config.bounds.headers_count_max + 4);
    let window = STREAM_WINDOW_BYTES.saturating_mul(streams_max).min((1 << 31) - 1);
    let mut builder = h2::server::Builder::new();
    builder
        .enable_connect_protocol()
        .max_concurrent_streams(streams_max)
        .initial_window_size(STREAM_WINDOW_BYTES)
        .initial_connection_window_size(window)
        .max_header_list_size(u32::try_from(list_bytes).unwrap_or(u32::MAX))
        .max_send_buffer_size(shared.unsent_bytes_max())
        .max_concurrent_reset_streams(RESET_STREAMS_MAX)
        .max_pending_accept_reset_streams(RESET_UNSEEN_MAX)
        .max_local_error_reset_streams(Some(FAULTS_MAX))
        .data_frame_budget(SMALL_FRAMES_BYTES_MAX);
    builder
}

struct Driver<'c, S> {
    connection: Connection<MeteredStream, Piece>,
    meter: Rc<Meter>,
    shared: Rc<ConnectionState>,
    /// Time since which no request is under way.
    idle_since: Instant,
    is_used: bool,
    /// Time since which the client knows that it is to open no further requests.
    leaving_since: Option<Instant>,
    sleep: Pin<Box<Sleep>>,
    service: &'c Rc<S>,
    lobby: &'c Lobby,
    origin: Rc<Origin>,
    handle: &'c Handle,
}

impl<S: Service> Driver<'_, S> {
    async fn run(mut self) {
        let streams_max = self.lobby.config().bounds.http2_streams_max as usize;
        let mut is_idle = true;
        loop {
            if self.shared.is_flooded() || self.meter.is_flooded() {
                self.calm().await;
                return;
            }
            if is_idle != (self.shared.running() == 0) {
                is_idle = !is_idle;
                self.idle_since = Instant::now();
                let connections = &self.lobby.connections;
                if is_idle { connections.rests(self.handle.key) } else { connections.works(self.handle.key) }
            }
            if self.lobby.is_draining() || is_idle && self.handle.makes_room() {
                self.leave();
            }
            // Who takes requests back leaves their tasks behind for a moment.
            let may_accept = self.shared.running() < streams_max.saturating_mul(2);
            match std::future::poll_fn(|cx| self.poll(cx, may_accept, is_idle)).await {
                Woke::Request(accepted) => {
                    self.is_used = true;
                    self.start(*accepted);
                }
                Woke::Told => {}
                Woke::Deadline if self.is_unasked(is_idle) => self.leave(),
                Woke::Closed | Woke::Deadline => return,
            }
        }
    }

    fn start(&mut self, (request, respond): AcceptedStream) {
        let trust = self.lobby.trust();
        if self.origin.is_trusted != self.origin.is_trusted_by(&trust) {
            Rc::make_mut(&mut self.origin).judge(&trust);
        }
        let (service, origin, running) = (Rc::clone(self.service), Rc::clone(&self.origin), Running::new(&self.shared));
        tokio::task::spawn_local(async move {
            let mut exchange = Exchange::H2(Box::new(H2::new(request, respond, service.lobby(), &running.0)));
            service.serve(&mut exchange, &origin).await;
        });
    }

    /// Whether the deadline is that of an idle connection whose client was not asked to close yet.
    fn is_unasked(&self, is_idle: bool) -> bool {
        is_idle && self.leaving_since.is_none() && self.stalled_until().is_none_or(|until| until > Instant::now())
    }

    /// Asks the client to open no further requests; those under way are answered.
    fn leave(&mut self) {
        if self.leaving_since.is_none() {
            self.leaving_since = Some(Instant::now());
            self.connection.graceful_shutdown();
        }
    }

    /// Ends the connection of a client that only causes harm.
    async fn calm(&mut self) {
        self.connection.abrupt_shutdown(Reason::ENHANCE_YOUR_CALM);
        let closed = std::future::poll_fn(|cx| {
            let closed = self.connection.poll_closed(cx);
            // Whatever came of that, the client is to learn of it.
            let _ = self.meter.poll_send(cx);
            closed
        });
        let _ = tokio::time::timeout(Duration::from_secs(1), closed).await;
    }

    fn poll(&mut self, cx: &mut Context<'_>, may_accept: bool, is_idle: bool) -> Poll<Woke> {
        if may_accept {
            match self.connection.poll_accept(cx) {
                Poll::Ready(Some(Ok(accepted))) => return Poll::Ready(Woke::Request(Box::new(accepted))),
                Poll::Ready(None | Some(Err(_))) => return Poll::Ready(Woke::Closed),
                Poll::Pending => {}
            }
        } else if self.connection.poll_closed(cx).is_ready() {
            return Poll::Ready(Woke::Closed);
        }
        if matches!(self.meter.poll_send(cx), Poll::Ready(Err(_))) {
            return Poll::Ready(Woke::Closed);
        }
        if self.meter.is_flooded()
            || self.shared.changed.poll(cx).is_ready()
            || self.handle.draining.poll(cx).is_ready()
        {
            return Poll::Ready(Woke::Told);
        }
        let Some(deadline) = self.deadline(is_idle) else { return Poll::Pending };
        if self.sleep.deadline() != deadline {
            self.sleep.as_mut().reset(deadline);
        }
        self.sleep.as_mut().poll(cx).map(|()| Woke::Deadline)
    }

    /// Time at which a client that takes nothing is disconnected.
    fn stalled_until(&self) -> Option<Instant> {
        self.meter.stalled_since.get().map(|since| since + send_timeout(self.lobby))
    }

    fn deadline(&self, is_idle: bool) -> Option<Instant> {
        let config = self.lobby.config();
        let idle_ms = if self.is_used { config.server.keep_alive_timeout_ms } else { config.bounds.headers_timeout_ms };
        let idle = match self.leaving_since {
            _ if !is_idle => None,
            Some(leaving_since) => Some(self.idle_since.max(leaving_since) + LAST_WORDS),
            None => Some(self.idle_since + Duration::from_millis(idle_ms)),
        };
        self.stalled_until().into_iter().chain(idle).min()
    }
}
