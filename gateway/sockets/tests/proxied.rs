//! The PROXY header under any input: what is written is read again, and nothing else is taken for a client.

#[path = "common/invariants.rs"]
mod invariants;

use std::net::{IpAddr, SocketAddr};

use proptest::prelude::*;
use sluice_sockets::proxied::{self, Proxied, ProxyVersion, Reading};

fn address() -> impl Strategy<Value = SocketAddr> {
    (any::<IpAddr>(), any::<u16>()).prop_map(|(ip, port)| SocketAddr::new(ip, port))
}

fn version() -> impl Strategy<Value = ProxyVersion> {
    prop_oneof![Just(ProxyVersion::V1), Just(ProxyVersion::V2)]
}

/// A written header with some bytes changed.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4);
    (version(), address(), address(), changes).prop_map(|(version, source, destination, changes)| {
        let mut header = Vec::new();
        proxied::write(&mut header, version, source, destination);
        for (at, byte) in changes {
            let at = at.index(header.len());
            header[at] = byte;
        }
        header
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read(version in version(), source in address(), destination in address()) {
        let mut header = Vec::new();
        proxied::write(&mut header, version, source, destination);
        let Ok(Reading::Done(Proxied::Client { source: read, destination: to })) = proxied::judge(&header) else {
            panic!("{header:?}");
        };
        let canonical = |address: SocketAddr| (address.ip().to_canonical(), address.port());
        prop_assert_eq!((canonical(read), canonical(to)), (canonical(source), canonical(destination)));
        invariants::proxy_header(&header);
    }

    #[test]
    fn a_local_connection_is_read(version in version()) {
        let mut header = Vec::new();
        proxied::write_local(&mut header, version);
        prop_assert_eq!(proxied::judge(&header), Ok(Reading::Done(Proxied::Local)));
        invariants::proxy_header(&header);
    }

    #[test]
    fn any_bytes_keep_the_invariants(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        invariants::proxy_header(&bytes);
    }

    #[test]
    fn damaged_headers_keep_the_invariants(bytes in damaged()) {
        invariants::proxy_header(&bytes);
    }
}
