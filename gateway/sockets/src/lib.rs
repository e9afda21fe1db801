//! Listening sockets: the public one, and further ones that apps ask for. Also [`lines`] over any socket, and the header by
//! which a proxy names its client ([`proxied`]). This must not know what they carry.

#![forbid(unsafe_code)]

pub mod lines;
pub mod proxied;

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs as _};
use std::os::fd::OwnedFd;

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::TcpListener;

/// Pending connections that the kernel keeps for us.
const BACKLOG: i32 = 4096;

/// Binds an address. An IPv6 wildcard takes IPv4 clients too; where there is no IPv6, IPv4 alone is used.
///
/// # Errors
/// When the address is taken, not ours, or not an address.
pub fn bind(host: &str, port: u16) -> io::Result<TcpListener> {
    let ip = address_of(host)?;
    match bind_socket(SocketAddr::new(ip, port)) {
        Err(error) if ip.is_ipv6() && ip.is_unspecified() && is_without_ipv6(&error) => {
            bind_socket(SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), port))
        }
        bound => bound,
    }
}

/// Host and port as people write them: IPv6 in brackets.
pub fn display(host: &str, port: u16) -> String {
    match host.parse::<IpAddr>() {
        Ok(ip) => SocketAddr::new(ip, port).to_string(),
        Err(_) => format!("{host}:{port}"),
    }
}

/// An address, or a name that leads to one.
fn address_of(host: &str) -> io::Result<IpAddr> {
    if let Ok(ip) = host.trim_matches(['[', ']']).parse() {
        return Ok(ip);
    }
    let found = (host, 0).to_socket_addrs()?.next();
    let missing = || io::Error::new(io::ErrorKind::InvalidInput, format!("{host} leads to no address"));
    found.map(|address| address.ip()).ok_or_else(missing)
}

fn is_without_ipv6(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::AddrNotAvailable | io::ErrorKind::Unsupported)
        || error.raw_os_error() == Some(97)
}

/// A listening socket that another gateway bound.
///
/// # Errors
/// When it is no socket that listens.
pub fn adopt(socket: OwnedFd) -> io::Result<TcpListener> {
    let listener = std::net::TcpListener::from(socket);
    listener.set_nonblocking(true)?;
    TcpListener::from_std(listener)
}

fn bind_socket(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    if address.is_ipv6() {
        socket.set_only_v6(false)?;
    }
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
}
