//! Whose word is taken for where a request came from.
//!
//! `X-Forwarded-*`, `Forwarded`, `X-Request-Id` and `traceparent` are taken over from peers that the config trusts, and
//! made afresh for everybody else.

use std::net::IpAddr;

use ipnet::IpNet;

pub(crate) struct Trust {
    peers: Vec<IpNet>,
}

impl Trust {
    /// # Errors
    /// Names the first entry that is neither an address nor a network in CIDR notation.
    pub(crate) fn parse(peers: &[String]) -> Result<Self, String> {
        let parse = |text: &String| {
            text.parse::<IpNet>().or_else(|_| text.parse::<IpAddr>().map(IpNet::from)).map_err(|_| {
                format!("server.trusted_peers: `{text}` is neither an address nor a network such as 10.0.0.0/8")
            })
        };
        Ok(Trust { peers: peers.iter().map(parse).collect::<Result<_, _>>()? })
    }

    pub(crate) fn allows(&self, peer: IpAddr) -> bool {
        self.peers.iter().any(|net| net.contains(&peer))
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
            let Ok(address) = element.trim().parse::<IpAddr>() else { break };
            client = address.to_canonical();
            if !self.allows(client) {
                break;
            }
        }
        client
    }
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
    }

    #[test]
    fn entry_that_is_no_network_is_named() {
        assert!(Trust::parse(&["10.0.0.0/99".to_owned()]).is_err_and(|error| error.contains("10.0.0.0/99")));
    }
}
