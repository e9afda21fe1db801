//! Peers that are trusted to name the origin of a request.
//!
//! `X-Forwarded-*`, `Forwarded` and `X-Request-Id` are taken over from peers that the config trusts, and made afresh for
//! everybody else.

use std::net::{IpAddr, SocketAddr};

use ipnet::IpNet;
use sluice_message::Fields;

use crate::unusable::Unusable;

/// A list of networks from the config.
pub struct Networks(Vec<IpNet>);

impl Networks {
    /// # Errors
    /// Names the first entry that is neither an address nor a network in CIDR notation.
    pub fn parse(key: &'static str, texts: &[String]) -> Result<Self, Unusable> {
        let parse = |text: &String| {
            text.parse::<IpNet>()
                .or_else(|_| text.parse::<IpAddr>().map(IpNet::from))
                .map_err(|_| Unusable::Network { key, entry: text.clone() })
        };
        Ok(Networks(texts.iter().map(parse).collect::<Result<_, _>>()?))
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a network of the list has this address.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.iter().any(|net| net.contains(&address))
    }
}

/// Peers that the config trusts.
pub struct Trust {
    peers: Networks,
}

impl Trust {
    /// # Errors
    /// Names the first entry that is neither an address nor a network in CIDR notation.
    pub fn parse(peers: &[String]) -> Result<Self, Unusable> {
        Ok(Trust { peers: Networks::parse("server.trusted_peers", peers)? })
    }

    /// Whether this peer is trusted.
    pub(crate) fn allows(&self, peer: IpAddr) -> bool {
        self.peers.contains(peer)
    }

    /// Address of the client, as trusted peers report it in lines of `X-Forwarded-For`, or if there is none, of `Forwarded`. It is the
    /// first from the right that is not itself trusted.
    pub fn client(&self, peer: IpAddr, fields: &Fields) -> IpAddr {
        if !self.allows(peer) {
            return peer;
        }
        let (name, read): (_, fn(&str) -> Option<IpAddr>) =
            if fields.contains("x-forwarded-for") { ("x-forwarded-for", address_of) } else { ("forwarded", node_of) };
        // Commas in quotes part elements too: no quote that a client opens may swallow what a proxy has written behind it.
        let chain: Vec<&str> =
            fields.get_all(name).flat_map(|line| std::str::from_utf8(line).unwrap_or("?").split(',')).collect();
        let mut client = peer;
        for element in chain.into_iter().rev() {
            let Some(address) = read(element.trim()) else { break };
            client = address.to_canonical();
            if !self.allows(client) {
                break;
            }
        }
        client
    }
}

/// Address in an element such as `192.0.2.1`, `2001:db8::1` or `[2001:db8::1]`, with or without a port: proxies write them all.
fn address_of(element: &str) -> Option<IpAddr> {
    let bare = element.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(element);
    bare.parse().ok().or_else(|| element.parse::<SocketAddr>().ok().map(|address| address.ip()))
}

/// The node after `for=` in an element of `Forwarded` (RFC 7239 §4), where it is an address: `for="[2001:db8::1]:443";proto=https`.
fn node_of(element: &str) -> Option<IpAddr> {
    let is_for = |pair: &str| pair.split_once('=').is_some_and(|(name, _)| name.trim().eq_ignore_ascii_case("for"));
    let mut nodes = element.split(';').filter(|pair| is_for(pair));
    let (Some(pair), None) = (nodes.next(), nodes.next()) else { return None };
    let node = pair.split_once('=')?.1.trim();
    address_of(node.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(node))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(name: &str, lines: &str) -> Fields {
        lines.split('|').map(|line| (name, line.as_bytes())).collect()
    }

    #[test]
    fn forwarded_for_is_believed_from_the_right_as_long_as_the_speakers_are_trusted() {
        let trust = Trust::parse(&["10.0.0.0/8".to_owned(), "192.0.2.7".to_owned()]).unwrap();
        let client = |peer: &str, chain: &str| {
            trust.client(peer.parse().unwrap(), &fields("x-forwarded-for", chain)).to_string()
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
    fn forwarded_is_believed_in_the_same_way_where_no_other_field_tells() {
        let trust = Trust::parse(&["10.0.0.0/8".to_owned()]).unwrap();
        let client =
            |peer: &str, chain: &str| trust.client(peer.parse().unwrap(), &fields("forwarded", chain)).to_string();
        for (chain, expected) in [
            ("for=203.0.113.9", "203.0.113.9"),
            ("For=\"203.0.113.9:4711\";proto=https;by=10.1.1.1", "203.0.113.9"),
            ("proto=https; for = \"[2001:db8::1]:443\"", "2001:db8::1"),
            ("for=6.6.6.6, for=203.0.113.9;host=\"app.test\", for=10.2.2.2", "203.0.113.9"),
            ("for=6.6.6.6|for=203.0.113.9", "203.0.113.9"),
            ("for=\"[::ffff:203.0.113.9]\"", "203.0.113.9"),
            // A client's quote takes nothing of what the proxy wrote behind it.
            ("for=\"6.6.6.6, for=203.0.113.9", "203.0.113.9"),
            ("for=6.6.6.6;x=\", for=\"203.0.113.9\"", "203.0.113.9"),
            // Who is not named is nobody.
            ("for=6.6.6.6, for=unknown", "10.1.1.1"),
            ("for=_hidden", "10.1.1.1"),
            ("proto=https", "10.1.1.1"),
            ("for=6.6.6.6;for=7.7.7.7", "10.1.1.1"),
            ("by=6.6.6.6", "10.1.1.1"),
            ("forx=6.6.6.6", "10.1.1.1"),
            ("", "10.1.1.1"),
        ] {
            assert_eq!(client("10.1.1.1", chain), expected, "{chain}");
        }
        assert_eq!(client("198.51.100.1", "for=6.6.6.6"), "198.51.100.1");
        let both: Fields =
            [("Forwarded", &b"for=6.6.6.6"[..]), ("X-Forwarded-For", b"203.0.113.9")].into_iter().collect();
        assert_eq!(trust.client("10.1.1.1".parse().unwrap(), &both).to_string(), "203.0.113.9");
    }

    #[test]
    fn entry_that_is_no_network_is_named() {
        assert!(
            Trust::parse(&["10.0.0.0/99".to_owned()]).is_err_and(|error| error.to_string().contains("10.0.0.0/99"))
        );
    }
}
