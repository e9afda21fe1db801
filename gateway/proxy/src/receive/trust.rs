//! Whose word is taken for where a request came from.
//!
//! `X-Forwarded-*`, `Forwarded` and `X-Request-Id` are taken over from peers that the config trusts, and made afresh for
//! everybody else.

use std::net::{IpAddr, SocketAddr};

use ipnet::IpNet;

use crate::unusable::Unusable;

/// A list of networks from the config.
#[derive(Clone)]
pub(crate) struct Networks(Vec<IpNet>);

impl Networks {
    /// # Errors
    /// Names the first entry that is neither an address nor a network in CIDR notation.
    pub(crate) fn parse(key: &'static str, texts: &[String]) -> Result<Self, Unusable> {
        let parse = |text: &String| {
            text.parse::<IpNet>()
                .or_else(|_| text.parse::<IpAddr>().map(IpNet::from))
                .map_err(|_| Unusable::Network { key, entry: text.clone() })
        };
        Ok(Networks(texts.iter().map(parse).collect::<Result<_, _>>()?))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn contains(&self, address: IpAddr) -> bool {
        self.0.iter().any(|net| net.contains(&address))
    }
}

#[derive(Clone)]
pub(crate) struct Trust {
    peers: Networks,
}

impl Trust {
    /// # Errors
    /// Names the first entry that is neither an address nor a network in CIDR notation.
    pub(crate) fn parse(peers: &[String]) -> Result<Self, Unusable> {
        Ok(Trust { peers: Networks::parse("server.trusted_peers", peers)? })
    }

    pub(crate) fn allows(&self, peer: IpAddr) -> bool {
        self.peers.contains(peer)
    }

    /// The client's address as trusted peers' `X-Forwarded-For` lines tell it, in the order of the lines: from the right,
    /// the first that is not itself trusted.
    pub(crate) fn client<'v>(&self, peer: IpAddr, forwarded_for: impl Iterator<Item = &'v [u8]>) -> IpAddr {
        if !self.allows(peer) {
            return peer;
        }
        let chain: Vec<&str> =
            forwarded_for.flat_map(|line| std::str::from_utf8(line).unwrap_or("?").split(',')).collect();
        let mut client = peer;
        for element in chain.into_iter().rev() {
            let Some(address) = address_of(element.trim()) else { break };
            client = address.to_canonical();
            if !self.allows(client) {
                break;
            }
        }
        client
    }
}

/// `192.0.2.1`, `2001:db8::1` or `[2001:db8::1]`, with or without a port: proxies write them all.
fn address_of(element: &str) -> Option<IpAddr> {
    let bare = element.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(element);
    bare.parse().ok().or_else(|| element.parse::<SocketAddr>().ok().map(|address| address.ip()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forwarded_for_is_believed_from_the_right_as_long_as_the_speakers_are_trusted() {
        let trust = Trust::parse(&["10.0.0.0/8".to_owned(), "192.0.2.7".to_owned()]).unwrap();
        let client = |peer: &str, chain: &str| {
            trust.client(peer.parse().unwrap(), chain.split('|').map(str::as_bytes)).to_string()
        };
        assert_eq!(client("10.1.1.1", "203.0.113.9"), "203.0.113.9");
        assert_eq!(client("10.1.1.1", "6.6.6.6, 203.0.113.9, 192.0.2.7"), "203.0.113.9");
        assert_eq!(client("10.1.1.1", "6.6.6.6|203.0.113.9"), "203.0.113.9");
        assert_eq!(client("198.51.100.1", "6.6.6.6"), "198.51.100.1");
        assert_eq!(client("10.1.1.1", "nonsense"), "10.1.1.1");
        assert_eq!(client("10.1.1.1", "203.0.113.9:4711"), "203.0.113.9");
        assert_eq!(client("10.1.1.1", "[2001:db8::1]:443, 10.2.2.2:80"), "2001:db8::1");
        assert_eq!(client("10.1.1.1", "[2001:db8::2]"), "2001:db8::2");
    }

    #[test]
    fn entry_that_is_no_network_is_named() {
        assert!(
            Trust::parse(&["10.0.0.0/99".to_owned()]).is_err_and(|error| error.to_string().contains("10.0.0.0/99"))
        );
    }
}
