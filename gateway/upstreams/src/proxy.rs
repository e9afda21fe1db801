//! First bytes of a connection that begins with the client's address (PROXY protocol, versions 1 and 2).

use std::net::{IpAddr, SocketAddr};

use ppp::{v1, v2};
use sluice_catalog::config::ProxyProtocol;

/// Ends of a client's connection: the client's, and the gateway's.
pub(crate) type Ends = (SocketAddr, SocketAddr);

/// Header for a connection of this client; without a client, the connection is the gateway's own.
pub(crate) fn header(version: ProxyProtocol, ends: Option<Ends>) -> Vec<u8> {
    let ends = ends.map(in_one_family);
    match version {
        ProxyProtocol::V1 => match ends {
            Some((client, here)) => v1::Addresses::from((client, here)).to_string().into_bytes(),
            None => v1::Addresses::Unknown.to_string().into_bytes(),
        },
        ProxyProtocol::V2 => {
            let builder = match ends {
                Some(ends) => {
                    v2::Builder::with_addresses(v2::Version::Two | v2::Command::Proxy, v2::Protocol::Stream, ends)
                }
                None => v2::Builder::with_addresses(
                    v2::Version::Two | v2::Command::Local,
                    v2::Protocol::Unspecified,
                    v2::Addresses::Unspecified,
                ),
            };
            builder.build().unwrap_or_default()
        }
    }
}

/// Both ends as addresses of one family: a client of another one than the gateway's end was reported by a proxy in front.
fn in_one_family((client, here): Ends) -> Ends {
    let plain = |address: SocketAddr| SocketAddr::new(address.ip().to_canonical(), address.port());
    let (client, here) = (plain(client), plain(here));
    match (client.ip(), here.ip()) {
        (IpAddr::V4(_), IpAddr::V4(_)) | (IpAddr::V6(_), IpAddr::V6(_)) => (client, here),
        (IpAddr::V4(v4), _) => (SocketAddr::new(v4.to_ipv6_mapped().into(), client.port()), here),
        (_, IpAddr::V4(v4)) => (client, SocketAddr::new(v4.to_ipv6_mapped().into(), here.port())),
    }
}

#[cfg(test)]
mod tests {
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
