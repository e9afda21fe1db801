//! The admin address: the dashboard, `/metrics`, `/ping`, `/ready` and `/status.json` over plain HTTP/1.
//!
//! Questions are GET and HEAD; what changes something is POST below `/actions/` and at `/cache/purge`, and needs the token. Heads, connections and
//! their lives are bounded. It must not know how metrics are counted, nor what the dashboard shows.

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd as _, OwnedFd};
use std::pin::pin;
use std::rc::Rc;
use std::str::FromStr;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, Version};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde::Serialize;
use sluice_journal::{Exposition, Journal};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::access::{self, Asker, Token};
use crate::dashboard_page::{DASHBOARD, accepts_gzip};
use crate::live::Events;
use crate::{FlameOf, Operator, Readiness, actions, cache, host, metrics, packed};

/// Connections to the admin address.
const CONNECTIONS_MAX: usize = 64;
/// Headers of a request to the admin address.
const HEADERS_MAX: usize = 64;
/// Maximum size of the headers of a request to the admin address, bytes. Hyper's smallest buffer is 8 KiB.
const HEAD_BYTES_MAX: usize = 16 * 1024;
/// Maximum wait for the headers of a request, and maximum pause before the next request on the same connection.
const HEAD_WAIT_MAX: Duration = Duration::from_secs(30);
/// Age of a connection after which it ends with its current answer. After [`LAST_ANSWER_MAX`] more it is cut.
const CONNECTION_MAX: Duration = Duration::from_secs(300);
/// Maximum time for the last answer of such a connection.
const LAST_ANSWER_MAX: Duration = Duration::from_secs(10);
/// The type of what programs read.
pub(crate) const JSON: &str = "application/json";
const ACCEPT_AGAIN_AFTER: Duration = Duration::from_millis(100);

/// The metrics address, bound but not yet served.
#[derive(Debug)]
pub struct MetricsHttp {
    listener: TcpListener,
    name: Option<String>,
}

/// Secret that opens the dashboard from elsewhere, and allows actions.
#[derive(Debug)]
pub struct Secret {
    /// The token.
    pub token: Token,
    /// The file that holds it; `None` where the config says it.
    pub file: Option<String>,
}

struct Context {
    operator: Rc<dyn Operator>,
    journal: Journal,
    name: Option<String>,
    secret: Secret,
}

type Body = Either<Full<Bytes>, Events>;

/// A client's connection.
struct Connection {
    peer: IpAddr,
    /// Ends the connection.
    cut: Rc<Notify>,
}

impl MetricsHttp {
    /// Binds `address` (`host:port`; `admin.address` of the config, other than `off`). A name in it may be asked for in
    /// `Host` from then on.
    ///
    /// # Errors
    /// What the operating system says, or that the address cannot be read.
    pub async fn bind(address: &str) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let name = host::host_of(address).filter(|name| !name.is_empty()).map(str::to_owned);
        Ok(Self { listener, name })
    }

    /// Serves on a socket that another gateway bound to `address`.
    ///
    /// # Errors
    /// When it is no socket that listens.
    pub fn adopt(socket: OwnedFd, address: &str) -> io::Result<Self> {
        let listener = std::net::TcpListener::from(socket);
        listener.set_nonblocking(true)?;
        let name = host::host_of(address).filter(|name| !name.is_empty()).map(str::to_owned);
        Ok(Self { listener: TcpListener::from_std(listener)?, name })
    }

    /// The socket once more, for a gateway that takes over.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn try_clone_socket(&self) -> io::Result<OwnedFd> {
        self.listener.as_fd().try_clone_to_owned()
    }

    /// Address on which it really listens, for port 0.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves it for as long as the future is polled; dropping it closes every connection. Needs a `LocalSet`. Once
    /// `stop` is ready it accepts no more, answers what it was asked, closes what is idle, and ends.
    pub async fn serve(
        self,
        operator: Rc<dyn Operator>,
        journal: Journal,
        secret: Secret,
        stop: impl Future<Output = ()>,
    ) {
        let context = Rc::new(Context { operator, journal, name: self.name, secret });
        let (stopping, stopped) = watch::channel(false);
        let mut connections = JoinSet::new();
        let mut stop = pin!(stop);
        loop {
            let accepted = tokio::select! {
                () = &mut stop => break,
                accepted = self.listener.accept() => accepted,
                Some(_) = connections.join_next() => continue,
            };
            match accepted {
                Ok((stream, peer)) if connections.len() < CONNECTIONS_MAX => {
                    connections.spawn_local(serve_connection(stream, peer.ip(), Rc::clone(&context), stopped.clone()));
                }
                Ok(_) => {}
                Err(_) => sleep(ACCEPT_AGAIN_AFTER).await,
            }
        }
        drop(self.listener);
        context.operator.live().close();
        let _ = stopping.send(true);
        while connections.join_next().await.is_some() {}
    }
}

async fn serve_connection(stream: TcpStream, peer: IpAddr, context: Rc<Context>, mut stopped: watch::Receiver<bool>) {
    let cut = Rc::new(Notify::new());
    let own = Rc::new(Connection { peer, cut: Rc::clone(&cut) });
    let service = service_fn(move |request| {
        let (context, own) = (Rc::clone(&context), Rc::clone(&own));
        async move { Ok::<_, Infallible>(answer(&context, &own, request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_WAIT_MAX)
        .max_headers(HEADERS_MAX)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    // Errors are the client's doing: it went away, sent garbage, or was too slow.
    let has_ended = tokio::select! {
        ended = timeout(CONNECTION_MAX, connection.as_mut()) => ended.is_ok(),
        _ = stopped.wait_for(|stopped| *stopped) => false,
        // What it was sent it did not read, and will not.
        () = cut.notified() => true,
    };
    if !has_ended {
        connection.as_mut().graceful_shutdown();
        let _ = timeout(LAST_ANSWER_MAX, connection).await;
    }
}

async fn answer(context: &Context, connection: &Connection, request: Request<Incoming>) -> Response<Body> {
    if let Err((status, why)) = check_host(&request, context.name.as_deref()) {
        return text(status, why).map(Either::Left);
    }
    let path = request.uri().path();
    let action = if path == "/cache/purge" { Some(actions::PURGE) } else { path.strip_prefix("/actions/") };
    if let (&Method::POST, Some(action)) = (request.method(), action) {
        if let Err(refusal) = access::may_act(request.headers(), &context.secret.token) {
            return refuse(refusal).map(Either::Left);
        }
        let (action, accepts_gzip) = (action.to_owned(), accepts_gzip(request.headers()));
        let done = actions::act(&action, request.into_body(), connection.peer, &*context.operator, &context.journal);
        let (status, answer) = done.await;
        return packed::respond(accepts_gzip, status, answer).await.map(Either::Left);
    }
    if *request.method() == Method::GET && matches!(path, "/flame" | "/history" | "/cache/show") {
        return look(context, connection, &request).await.map(Either::Left);
    }
    if path == "/events" && *request.method() == Method::GET {
        return events(context, connection, &request);
    }
    ask(context, connection, &request).map(Either::Left)
}

/// Answers a question.
fn ask(context: &Context, connection: &Connection, request: &Request<Incoming>) -> Response<Full<Bytes>> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut response = text(
            StatusCode::METHOD_NOT_ALLOWED,
            "Only GET and HEAD are supported, and POST below /actions/ and at \
                /cache/purge.\n",
        );
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
        return response;
    }
    match request.uri().path() {
        "/" => DASHBOARD.answer(request.headers()),
        "/metrics" => {
            let accept = request.headers().get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
            let format = Exposition::wanted(accept.unwrap_or_default());
            respond(StatusCode::OK, format.content_type(), metrics::page(&*context.operator, &context.journal, format))
        }
        "/ping" => text(StatusCode::OK, "ok\n"),
        "/ready" => {
            let readiness = context.operator.readiness();
            let status = if readiness.ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
            json(status, &ReadinessJson::from(readiness))
        }
        // It names requests with their queries.
        "/status.json" => match may_read(context, connection, request) {
            Ok(()) => json(StatusCode::OK, &context.operator.snapshot()),
            Err(refusal) => refuse(refusal),
        },
        _ => text(
            StatusCode::NOT_FOUND,
            "Available paths: / (the dashboard), /metrics, /ping, /ready and \
            /status.json.\n",
        ),
    }
}

/// The dashboard's events, for as long as the client stays.
fn events(context: &Context, connection: &Connection, request: &Request<Incoming>) -> Response<Body> {
    if let Err(refusal) = may_read(context, connection, request) {
        return refuse(refusal).map(Either::Left);
    }
    let last_event = request.headers().get("last-event-id").and_then(|id| id.to_str().ok());
    let (operator, file) = (&*context.operator, context.secret.file.as_deref());
    match operator.live().join(operator, file, last_event, Rc::clone(&connection.cut)) {
        Some(events) => respond(StatusCode::OK, "text/event-stream", Bytes::new()).map(|_| Either::Right(events)),
        None => text(StatusCode::SERVICE_UNAVAILABLE, "Too many dashboards are open, or the gateway is stopping.\n")
            .map(Either::Left),
    }
}

/// Answers further reads: the history, the flame graph of a slow request that was profiled, and the stored variants of a
/// page.
async fn look(context: &Context, connection: &Connection, request: &Request<Incoming>) -> Response<Full<Bytes>> {
    if let Err(refusal) = may_read(context, connection, request) {
        return refuse(refusal);
    }
    let query = request.uri().query().unwrap_or_default();
    let (status, answer) = if request.uri().path() == "/history" {
        let columns = context.operator.live().columns(parameter(query, "span=").unwrap_or(1));
        // These types have string keys and plain values.
        (StatusCode::OK, serde_json::to_vec(&columns).unwrap_or_default())
    } else if request.uri().path() == "/cache/show" {
        cache::show(query, &*context.operator)
    } else if let Some(number) = parameter(query, "tail=") {
        actions::flame(FlameOf::Tail(number), &*context.operator).await
    } else {
        return text(StatusCode::BAD_REQUEST, "Name a profile from /status.json: /flame?tail=NUMBER.\n");
    };
    packed::respond(accepts_gzip(request.headers()), status, answer).await
}

fn may_read(context: &Context, connection: &Connection, request: &Request<Incoming>) -> Result<(), access::Refusal> {
    let asker = Asker { peer: connection.peer, version: request.version(), name: context.name.as_deref() };
    access::may_read(request.headers(), asker, &context.secret.token)
}

/// The number that follows `name` in a query.
fn parameter<T: FromStr>(query: &str, name: &str) -> Option<T> {
    query.split('&').find_map(|pair| pair.strip_prefix(name)?.parse().ok())
}

fn refuse((status, why): access::Refusal) -> Response<Full<Bytes>> {
    let mut response = text(status, why);
    if status == StatusCode::UNAUTHORIZED {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

fn check_host(request: &Request<Incoming>, name: Option<&str>) -> Result<(), (StatusCode, &'static str)> {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let in_target = request.uri().authority().map(hyper::http::uri::Authority::as_str);
    let in_header = match (hosts.next(), hosts.next()) {
        (Some(host), None) => Some(host.to_str().unwrap_or_default()),
        // Browsers always send one, and HTTP/1.0 did not have to.
        (None, _) if request.version() == Version::HTTP_10 => None,
        _ => return Err((StatusCode::BAD_REQUEST, "Exactly one Host header is required.\n")),
    };
    if in_target.into_iter().chain(in_header).all(|authority| host::allowed(authority, name)) {
        return Ok(());
    }
    let why = "The Host header must be an IP address, localhost or the name in admin.address.\n";
    Err((StatusCode::MISDIRECTED_REQUEST, why))
}

#[derive(Serialize)]
struct ReadinessJson {
    ready: bool,
    reason: String,
    workers_ready: u32,
    queue_length: u64,
    last_progress_ms: Option<u64>,
}

impl From<Readiness> for ReadinessJson {
    fn from(readiness: Readiness) -> Self {
        let Readiness { ready, reason, workers_ready, queue_length, last_progress_ms } = readiness;
        Self { ready, reason, workers_ready, queue_length, last_progress_ms }
    }
}

fn json(status: StatusCode, value: &impl Serialize) -> Response<Full<Bytes>> {
    match serde_json::to_vec(value) {
        Ok(body) => respond(status, JSON, body),
        Err(_) => text(StatusCode::INTERNAL_SERVER_ERROR, "The answer cannot be written as JSON.\n"),
    }
}

fn text(status: StatusCode, body: &'static str) -> Response<Full<Bytes>> {
    respond(status, "text/plain; charset=utf-8", body)
}

pub(crate) fn respond(status: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

#[cfg(test)]
#[path = "http_tests.rs"]
mod tests;
