//! Accepts clients: TLS, and the limit on connections.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd as _;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use sluice_message::Scheme;
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

/// Connections a tick that are told why they are closed; further ones are closed without an answer.
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
        Err(full) => {
            let refused = service.refused_connection(Some(address).filter(|_| full == Full::Address));
            return refuse(stream, peer.ip(), is_tls, refused, Rc::clone(service));
        }
    };
    lobby.connections.opened(handle.key, stream.as_raw_fd());
    let (origin, service) = (origin(lobby, peer, local, Scheme::of(is_tls)), Rc::clone(service));
    if is_tls {
        tokio::task::spawn_local(serve_tls(stream, origin, service, handle));
    } else {
        tokio::task::spawn_local(connection::serve(ClientStream::Plain(Socket::Os(stream)), origin, service, handle));
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

/// Refuses a connection. `refused` is the number of refused ones since the operator was told.
fn refuse<S: Service>(stream: TcpStream, peer: IpAddr, is_tls: bool, refused: u64, service: Rc<S>) {
    if !is_tls && refused <= REFUSALS_AT_ONCE_MAX {
        tokio::task::spawn_local(connection::refuse_connection(ClientStream::Plain(Socket::Os(stream)), peer, service));
    }
}
