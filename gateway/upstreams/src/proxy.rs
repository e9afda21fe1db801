//! First bytes of a connection that begins with the client's address (PROXY protocol, versions 1 and 2).

use std::net::SocketAddr;

use sluice_catalog::config::ProxyProtocol;
use sluice_sockets::proxied::{ProxyVersion, write, write_local};

/// Ends of a client's connection: the client's, and the gateway's.
pub(crate) type Ends = (SocketAddr, SocketAddr);

/// Header for a connection of this client; without a client, the connection is the gateway's own.
pub(crate) fn header(version: ProxyProtocol, ends: Option<Ends>) -> Vec<u8> {
    let version = match version {
        ProxyProtocol::V1 => ProxyVersion::V1,
        ProxyProtocol::V2 => ProxyVersion::V2,
    };
    let plain = |address: SocketAddr| SocketAddr::new(address.ip().to_canonical(), address.port());
    let mut header = Vec::new();
    match ends {
        Some((client, here)) => write(&mut header, version, plain(client), plain(here)),
        None => write_local(&mut header, version),
    }
    header
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    #[test]
    fn headers_of_both_versions_name_the_client() {
        let ends = ("203.0.113.9:51234".parse().unwrap(), "[::ffff:192.0.2.1]:3000".parse().unwrap());
        assert_eq!(header(ProxyProtocol::V1, Some(ends)), b"PROXY TCP4 203.0.113.9 192.0.2.1 51234 3000\r\n");
        let binary = header(ProxyProtocol::V2, Some(ends));
        let expected = [
            b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c".as_slice(),
            &[203, 0, 113, 9, 192, 0, 2, 1],
            &51234_u16.to_be_bytes(),
            &3000_u16.to_be_bytes(),
        ]
        .concat();
        assert_eq!(binary, expected);
        let mixed = ("2001:db8::1:1".parse::<IpAddr>().map(|ip| SocketAddr::new(ip, 0)).unwrap(), ends.1);
        assert_eq!(header(ProxyProtocol::V1, Some(mixed)), b"PROXY TCP6 2001:db8::1:1 ::ffff:192.0.2.1 0 3000\r\n");
    }

    #[test]
    fn connections_of_the_gateways_own_name_nobody() {
        assert_eq!(header(ProxyProtocol::V1, None), b"PROXY UNKNOWN\r\n");
        assert_eq!(header(ProxyProtocol::V2, None), b"\r\n\r\n\0\r\nQUIT\n\x20\x00\0\0");
    }
}
