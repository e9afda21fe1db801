//! Accepts clients: TLS, and the limit on connections.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd as _;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use sluice_message::Scheme;
use sluice_sockets::proxied::{self, Proxied};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

use super::lobby::Lobby;
use super::origin::Origin;
use super::service::Service;
use crate::front::client::ClientStream;
use crate::front::handles::{Full, Handle};
use crate::front::tls;
use crate::front::{connection, h2};
use crate::socket::Socket;

/// Maximum number of refused connections per tick that get an answer. Further ones are closed without an answer.
const REFUSALS_AT_ONCE_MAX: u64 = 100;

/// Fate of the socket when accepting stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocketFate {
    /// The socket is closed after its pending connections were accepted.
    Close,
    /// Another process continues to accept from it.
    HandOver,
}

/// Accepts until `stop` is ready.
pub async fn accept<S: Service>(listener: TcpListener, service: Rc<S>, stop: impl Future<Output = SocketFate>) {
    let mut stop = std::pin::pin!(stop);
    let mut noted = None;
    let then = loop {
        let accepted = tokio::select! {
            biased;
            then = &mut stop => break then,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => welcome(stream, peer, &service),
            Err(error) if is_the_connections_fault(&error) => {}
            Err(error) => {
                // Out of descriptors or memory: others must end first, trying at once would only burn the CPU.
                if noted.is_none_or(|at: Instant| at.elapsed() >= Duration::from_secs(10)) {
                    noted = Some(Instant::now());
                    service.cannot_accept(&error);
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    };
    if then == SocketFate::HandOver {
        return;
    }
    // The kernel has completed the handshakes of those that still wait; closing the socket now would reset them.
    let pending = || std::future::poll_fn(|cx| Poll::Ready(listener.poll_accept(cx)));
    while let Poll::Ready(Ok((stream, peer))) = pending().await {
        welcome(stream, peer, &service);
    }
}

/// Bounds the unsent bytes in the kernel. Without the bound it takes megabytes for a client that does not read, and
/// counts them in the cgroup. Bytes on their way to a fast client are not bounded by it.
#[cfg_attr(not(target_os = "linux"), allow(unused_variables, reason = "other systems have no such bound"))]
fn bound_unsent(stream: &TcpStream, lobby: &Lobby) {
    #[cfg(target_os = "linux")]
    if let Ok(bytes_max) = u32::try_from(lobby.store.memory.unsent_bytes_max()) {
        let _ = socket2::SockRef::from(stream).set_tcp_notsent_lowat(bytes_max);
    }
}

fn is_the_connections_fault(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset | io::ErrorKind::Interrupted
    )
}

fn welcome<S: Service>(stream: TcpStream, peer: SocketAddr, service: &Rc<S>) {
    let (_, lobby) = (stream.set_nodelay(true), service.lobby());
    bound_unsent(&stream, lobby);
    let Ok(local) = stream.local_addr() else { return };
    let is_tls = lobby.tls().is_some() && !lobby.redirects_at(local.port());
    let address = peer.ip().to_canonical();
    let handle = match lobby.take_in(address) {
        Ok(handle) => handle,
        Err(full) => return refuse_for(full, stream, address, is_tls, service),
    };
    lobby.connections.opened(handle.key, stream.as_raw_fd());
    let (ends, service) = (Ends { peer, local, is_tls }, Rc::clone(service));
    if lobby.is_proxied(address) {
        tokio::task::spawn_local(serve_proxied(stream, ends, service, handle));
    } else if is_tls {
        tokio::task::spawn_local(serve_tls(stream, ends.origin(lobby), service, handle));
    } else {
        let origin = ends.origin(lobby);
        tokio::task::spawn_local(connection::serve(ClientStream::Plain(Socket::Os(stream)), origin, service, handle));
    }
}

/// Ends of an accepted connection.
struct Ends {
    peer: SocketAddr,
    local: SocketAddr,
    is_tls: bool,
}

impl Ends {
    fn origin(&self, lobby: &Lobby) -> Origin {
        origin(lobby, self.peer, self.local, Scheme::of(self.is_tls))
    }
}

/// Serves the connection of a proxy that names its client first. From then on the connection is that client's.
async fn serve_proxied<S: Service>(mut stream: TcpStream, mut ends: Ends, service: Rc<S>, handle: Handle) {
    let lobby = service.lobby();
    let deadline = Duration::from_millis(lobby.config().bounds.headers_timeout_ms);
    let told = match tokio::time::timeout(deadline, proxied::read(&mut stream)).await {
        Ok(Ok(Some(told))) => told,
        Ok(Ok(None)) => return lobby.connections.remove(handle.key),
        Ok(Err(error)) => {
            service.without_proxy_header(ends.peer.ip().to_canonical(), &error);
            return lobby.connections.remove(handle.key);
        }
        Err(_) => {
            service.without_proxy_header(ends.peer.ip().to_canonical(), &"it sent no complete PROXY header in time");
            return lobby.connections.remove(handle.key);
        }
    };
    let is_named = matches!(told, Proxied::Client { .. });
    if let Proxied::Client { source, .. } = told {
        let client = source.ip().to_canonical();
        if let Err(full) = lobby.take_over(&handle, client) {
            lobby.connections.remove(handle.key);
            return refuse_for(full, stream, client, ends.is_tls, &service);
        }
        ends.peer = source;
    }
    let origin = ends.origin(lobby);
    let origin = if is_named { origin } else { origin.unnamed() };
    if ends.is_tls {
        serve_tls(stream, origin, service, handle).await;
    } else {
        connection::serve(ClientStream::Plain(Socket::Os(stream)), origin, service, handle).await;
    }
}

/// Origin of an accepted connection.
pub fn origin(lobby: &Lobby, peer: SocketAddr, local: SocketAddr, scheme: Scheme) -> Origin {
    let mut origin = Origin::new(&lobby.trust(), canonical(peer), canonical(local), scheme);
    origin.is_redirected = scheme == Scheme::Http && lobby.redirects_at(local.port());
    origin
}

/// Address in its canonical form: an IPv4 client on a dual-stack socket gets its IPv4 address.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

async fn serve_tls<S: Service>(stream: TcpStream, origin: Origin, service: Rc<S>, handle: Handle) {
    let lobby = service.lobby();
    let deadline = Duration::from_millis(lobby.config().bounds.headers_timeout_ms);
    let accepted = async { lobby.tls()?.accept(stream).await };
    let Ok(Some(stream)) = tokio::time::timeout(deadline, accepted).await else {
        return lobby.connections.remove(handle.key);
    };
    let protocol = stream.get_ref().1.alpn_protocol().unwrap_or_default().to_owned();
    let stream = ClientStream::Tls(Box::new(stream));
    match &protocol[..] {
        tls::HTTP2 => h2::connection::serve(stream, origin, service, handle).await,
        // The certificate was all that the CA wanted to see.
        tls::ACME => lobby.connections.remove(handle.key),
        _ => connection::serve(stream, origin, service, handle).await,
    }
}

/// Refuses a connection for which this bound leaves no room.
fn refuse_for<S: Service>(full: Full, stream: TcpStream, address: IpAddr, is_tls: bool, service: &Rc<S>) {
    let refused = service.refused_connection(Some(address).filter(|_| full == Full::Address));
    if !is_tls && refused <= REFUSALS_AT_ONCE_MAX {
        let stream = ClientStream::Plain(Socket::Os(stream));
        tokio::task::spawn_local(connection::refuse_connection(stream, address, full, Rc::clone(service)));
    }
}
