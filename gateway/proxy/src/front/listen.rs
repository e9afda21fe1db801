//! Accepts clients: TLS, the limit on connections.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use sluice_catalog::config::Config;
use sluice_journal::{Event, Level};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::front::client::ClientStream;
use crate::front::connection;
use crate::gate::Gate;

/// Connections a tick that are told why they are closed; a flood of them is just closed.
const REFUSALS_AT_ONCE_MAX: u64 = 100;

/// What TLS may hold encrypted for a client: a record.
const TLS_BYTES_MAX: usize = 16 * 1024;

/// A certificate or key that cannot be used.
#[derive(Debug)]
pub struct TlsError {
    /// The key of the config that names the file.
    pub key: &'static str,
    /// What is wrong with it and what to do, following the key.
    pub message: String,
}

/// TLS from the config, if it names a certificate.
///
/// # Errors
/// When a file cannot be read, is not what it should be, or the two do not belong together.
pub fn tls(config: &Config) -> Result<Option<TlsAcceptor>, TlsError> {
    let (Some(cert), Some(key)) = (&config.server.tls_cert, &config.server.tls_key) else { return Ok(None) };
    let no_cert = |why: &dyn std::fmt::Display| TlsError {
        key: "server.tls_cert",
        message: format!(
            "names {cert}, which cannot be used: {why}. Name a PEM file with the certificate and its chain that this user may read"
        ),
    };
    let chain = CertificateDer::pem_file_iter(cert)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| no_cert(&error))?;
    if chain.is_empty() {
        return Err(no_cert(&"it holds no certificate"));
    }
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| TlsError {
        key: "server.tls_key",
        message: format!(
            "names {key}, which cannot be used: {error}. Name a PEM file with the private key, without a passphrase, that this user may read"
        ),
    })?;
    let mut tls =
        ServerConfig::builder().with_no_client_auth().with_single_cert(chain, private).map_err(|error| TlsError {
            key: "server.tls_key",
            message: format!("names {key}, which does not go with {cert}: {error}. Name the key of that certificate"),
        })?;
    tls.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Some(TlsAcceptor::from(Arc::new(tls))))
}

/// What becomes of the socket when accepting stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// It is closed, and with it what waits there.
    Close,
    /// Another process goes on accepting from it.
    HandOver,
}

/// Accepts until `stop` is ready.
pub async fn accept(listener: TcpListener, tls: Option<TlsAcceptor>, gate: Rc<Gate>, stop: impl Future<Output = Then>) {
    let mut stop = std::pin::pin!(stop);
    let mut noted = None;
    let then = loop {
        let accepted = tokio::select! {
            biased;
            then = &mut stop => break then,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => welcome(stream, peer, tls.clone(), &gate),
            Err(error) if is_the_connections_fault(&error) => {}
            Err(error) => {
                // Out of descriptors or memory: others must end first, trying at once would only burn the CPU.
                if noted.is_none_or(|at: Instant| at.elapsed() >= Duration::from_secs(10)) {
                    noted = Some(Instant::now());
                    let text = format!("cannot accept connections: {error}");
                    gate.journal.emit(Event::Note { level: Level::Error, text: &text });
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
        welcome(stream, peer, tls.clone(), &gate);
    }
}

/// Without it the kernel takes megabytes for a client that does not read, and counts them in the cgroup. What is on its way
/// to a fast client is not bounded by it.
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

fn welcome(stream: TcpStream, peer: SocketAddr, tls: Option<TlsAcceptor>, gate: &Rc<Gate>) {
    let gate = Rc::clone(gate);
    let _ = stream.set_nodelay(true);
    bound_unsent(&stream, &gate);
    let handle = match gate.take_in(peer.ip().to_canonical()) {
        Ok(handle) => handle,
        Err(refused) => return refuse(stream, peer.ip(), tls.is_some(), refused, gate),
    };
    let Ok(local) = stream.local_addr() else { return gate.connections.remove(handle.key) };
    let Some(tls) = tls else {
        tokio::task::spawn_local(connection::serve(ClientStream::Plain(stream), peer, local, gate, handle));
        return;
    };
    tokio::task::spawn_local(async move {
        let deadline = Duration::from_millis(gate.config().server.headers_timeout_ms);
        match tokio::time::timeout(deadline, tls.accept(stream)).await {
            Ok(Ok(mut stream)) => {
                stream.get_mut().1.set_buffer_limit(Some(TLS_BYTES_MAX));
                connection::serve(ClientStream::Tls(Box::new(stream)), peer, local, gate, handle).await;
            }
            _ => gate.connections.remove(handle.key),
        }
    });
}

/// `refused`: how many have been, since the operator was told.
fn refuse(stream: TcpStream, peer: IpAddr, is_tls: bool, refused: u64, gate: Rc<Gate>) {
    if !is_tls && refused <= REFUSALS_AT_ONCE_MAX {
        tokio::task::spawn_local(connection::refuse_connection(ClientStream::Plain(stream), peer, gate));
    }
}
