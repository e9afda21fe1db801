//! Accepts clients: TLS, and the limit on connections.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd as _;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use sluice_journal::{Event, Level};
use sluice_message::Scheme;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

use crate::front::client::ClientStream;
use crate::front::handles::Handle;
use crate::front::{connection, h2, tls};
use crate::gate::Gate;
use crate::socket::Socket;
use crate::upstream::forward::Origin;

/// Connections a tick that are told why they are closed; further ones are closed without an answer.
const REFUSALS_AT_ONCE_MAX: u64 = 100;

/// Fate of the socket when accepting stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// The socket is closed after its pending connections were accepted.
    Close,
    /// Another process continues to accept from it.
    HandOver,
}

/// Accepts until `stop` is ready.
pub async fn accept(listener: TcpListener, gate: Rc<Gate>, stop: impl Future<Output = Then>) {
    let mut stop = std::pin::pin!(stop);
    let mut noted = None;
    let then = loop {
        let accepted = tokio::select! {
            biased;
            then = &mut stop => break then,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => welcome(stream, peer, &gate),
            Err(error) if is_the_connections_fault(&error) => {}
            Err(error) => {
                // Out of descriptors or memory: others must end first, trying at once would only burn the CPU.
                if noted.is_none_or(|at: Instant| at.elapsed() >= Duration::from_secs(10)) {
                    noted = Some(Instant::now());
                    let text = format!("cannot accept connections: {error}");
                    gate.observer.emit(Event::Note { level: Level::Error, text: &text });
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    };
    if then == Then::HandOver {
        return;
    }
    // The kernel has completed the handshakes of those that still wait; closing the socket now would reset them.
    let pending = || std::future::poll_fn(|cx| Poll::Ready(listener.poll_accept(cx)));
    while let Poll::Ready(Ok((stream, peer))) = pending().await {
        welcome(stream, peer, &gate);
    }
}

/// Bounds the unsent bytes in the kernel. Without the bound it takes megabytes for a client that does not read, and
/// counts them in the cgroup. Bytes on their way to a fast client are not bounded by it.
#[cfg_attr(not(target_os = "linux"), allow(unused_variables, reason = "other systems have no such bound"))]
fn bound_unsent(stream: &TcpStream, gate: &Gate) {
    #[cfg(target_os = "linux")]
    if let Ok(bytes_max) = u32::try_from(gate.store.memory.unsent_bytes_max()) {
        let _ = socket2::SockRef::from(stream).set_tcp_notsent_lowat(bytes_max);
    }
}

fn is_the_connections_fault(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset | io::ErrorKind::Interrupted
    )
}

fn welcome(stream: TcpStream, peer: SocketAddr, gate: &Rc<Gate>) {
    let _ = stream.set_nodelay(true);
    bound_unsent(&stream, gate);
    let Ok(local) = stream.local_addr() else { return };
    let is_tls = gate.tls().is_some() && !gate.redirects_at(local.port());
    let handle = match gate.take_in(peer.ip().to_canonical()) {
        Ok(handle) => handle,
        Err(refused) => return refuse(stream, peer.ip(), is_tls, refused, Rc::clone(gate)),
    };
    gate.lobby.connections.opened(handle.key, stream.as_raw_fd());
    let (origin, gate) = (origin(gate, peer, local, Scheme::of(is_tls)), Rc::clone(gate));
    if is_tls {
        tokio::task::spawn_local(serve_tls(stream, origin, gate, handle));
    } else {
        tokio::task::spawn_local(connection::serve(ClientStream::Plain(Socket::Os(stream)), origin, gate, handle));
    }
}

/// Origin of an accepted connection.
pub(crate) fn origin(gate: &Gate, peer: SocketAddr, local: SocketAddr, scheme: Scheme) -> Origin {
    let mut origin = Origin::new(&gate.trust(), canonical(peer), canonical(local), scheme);
    origin.is_redirected = scheme == Scheme::Http && gate.redirects_at(local.port());
    origin
}

/// Address in its canonical form: an IPv4 client on a dual-stack socket gets its IPv4 address.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

async fn serve_tls(stream: TcpStream, origin: Origin, gate: Rc<Gate>, handle: Handle) {
    let deadline = Duration::from_millis(gate.config().bounds.headers_timeout_ms);
    let accepted = async { gate.tls()?.accept(stream).await };
    let Ok(Some(stream)) = tokio::time::timeout(deadline, accepted).await else {
        return gate.lobby.connections.remove(handle.key);
    };
    let protocol = stream.get_ref().1.alpn_protocol().unwrap_or_default().to_owned();
    let stream = ClientStream::Tls(Box::new(stream));
    match &protocol[..] {
        tls::HTTP2 => h2::connection::serve(stream, origin, gate, handle).await,
        // The certificate was all that the CA wanted to see.
        tls::ACME => gate.lobby.connections.remove(handle.key),
        _ => connection::serve(stream, origin, gate, handle).await,
    }
}

/// Refuses a connection. `refused` is the number of refused ones since the operator was told.
fn refuse(stream: TcpStream, peer: IpAddr, is_tls: bool, refused: u64, gate: Rc<Gate>) {
    if !is_tls && refused <= REFUSALS_AT_ONCE_MAX {
        tokio::task::spawn_local(connection::refuse_connection(ClientStream::Plain(Socket::Os(stream)), peer, gate));
    }
}
