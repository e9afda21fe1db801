//! TLS of the public port: certificates, session tickets and handshakes. It must not know what is sent through a connection.

mod certificates;
mod handshakes;
mod tickets;

use std::io;
use std::sync::Arc;

use sluice_catalog::config::Config;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::server::TlsStream;

use certificates::CertificateStore;
pub use certificates::{CertificateValidity, Certificates, Stamp, stamps};
use handshakes::Handshakes;
pub use tickets::TicketKeys;
use tickets::Tickets;

/// Names of the port's protocols in ALPN (RFC 7301).
pub(crate) const HTTP2: &[u8] = b"h2";
const HTTP1: &[u8] = b"http/1.1";
/// Protocol of a CA that looks for the answer to its challenge (RFC 8737): a handshake, and nothing after it.
pub(crate) const ACME: &[u8] = b"acme-tls/1";

/// Maximum size of encrypted data that TLS holds for a client, bytes. A record.
const UNSENT_BYTES_MAX: usize = 16 * 1024;

/// TLS state for all connections: certificates, session tickets and handshakes.
pub struct Tls {
    acceptor: TlsAcceptor,
    served: Arc<CertificateStore>,
    tickets: Arc<Tickets>,
    handshakes: Handshakes,
}

impl Tls {
    /// # Errors
    /// Fails if the operating system gives no thread for handshakes.
    pub fn start(config: &Config, certificates: Arc<Certificates>) -> io::Result<Self> {
        let (served, tickets) = (Arc::new(CertificateStore::new(certificates)), Arc::new(Tickets::new()?));
        let mut tls = ServerConfig::builder().with_no_client_auth().with_cert_resolver(Arc::clone(&served) as _);
        let protocols = if config.server.http2 { &[HTTP2, HTTP1, ACME][..] } else { &[HTTP1, ACME] };
        tls.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        tls.ticketer = Arc::clone(&tickets) as _;
        let handshakes = Handshakes::start(config.bounds.handshakes_max)?;
        Ok(Tls { acceptor: TlsAcceptor::from(Arc::new(tls)), served, tickets, handshakes })
    }

    /// Uses these certificates for new handshakes. Open connections keep theirs.
    pub fn serve(&self, certificates: Arc<Certificates>) {
        self.served.replace(certificates);
    }

    /// Connection after its handshake; `None` if the handshake failed.
    pub(crate) async fn accept(&self, stream: TcpStream) -> Option<TlsStream<TcpStream>> {
        let mut stream = self.handshakes.make(self.acceptor.clone(), stream).await?;
        stream.get_mut().1.set_buffer_limit(Some(UNSENT_BYTES_MAX));
        Some(stream)
    }

    /// Ticket keys for the gateway that takes over.
    pub fn ticket_keys(&self) -> TicketKeys {
        self.tickets.keys()
    }

    /// Adopts the ticket keys of the gateway before this one.
    pub fn adopt_ticket_keys(&self, keys: TicketKeys) {
        self.tickets.adopt(keys);
    }
}
