//! Opens a connection: to a socket or a host, with TLS where the address says so, and as the user that it names.

use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpStream, UnixStream};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::{Commands, Fault, Link};
use crate::address::{Address, StoreAddress};
use crate::resp::Reply;

/// Time limit for a usable connection.
const OPEN_TIMEOUT: Duration = Duration::from_secs(2);

/// Opens a connection that can be used at once.
///
/// # Errors
/// When the server is not there, is no such server, or refuses the user.
pub(crate) async fn open(address: &Address, reply_bytes_max: usize) -> Result<Link, Fault> {
    timeout(OPEN_TIMEOUT, connect(address, reply_bytes_max)).await.unwrap_or(Err(Fault::Late(OPEN_TIMEOUT)))
}

async fn connect(address: &Address, reply_bytes_max: usize) -> Result<Link, Fault> {
    let link = match &address.place {
        StoreAddress::Socket(path) => Link::over(UnixStream::connect(path).await?, reply_bytes_max),
        StoreAddress::Host { name, port, is_tls } => {
            let stream = TcpStream::connect((name.as_str(), *port)).await?;
            stream.set_nodelay(true)?;
            if *is_tls {
                let server = ServerName::try_from(name.clone()).map_err(|error| Fault::Tls(error.to_string()))?;
                Link::over(connector()?.connect(server, stream).await?, reply_bytes_max)
            } else {
                Link::over(stream, reply_bytes_max)
            }
        }
    };
    for commands in greeting(address) {
        if let Some(Reply::Error(error)) = link.ask(commands, OPEN_TIMEOUT).await?.into_iter().next() {
            return Err(Fault::Refused(error));
        }
    }
    Ok(link)
}

fn greeting(address: &Address) -> Vec<Commands> {
    let mut commands = Vec::new();
    let password = address.password.as_deref().unwrap_or_default().as_bytes();
    match &address.user {
        Some(user) => commands.push(Commands::of(&[b"AUTH", user.as_bytes(), password])),
        None if address.password.is_some() => commands.push(Commands::of(&[b"AUTH", password])),
        None => {}
    }
    if address.database > 0 {
        commands.push(Commands::of(&[b"SELECT", address.database.to_string().as_bytes()]));
    }
    commands.push(Commands::of(&[b"PING"]));
    commands
}

/// Certificates are those that this system trusts, or that `SSL_CERT_FILE` names.
fn connector() -> Result<TlsConnector, Fault> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| Fault::Tls(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}
