//! Origin of a connection's requests, and its form for workers.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use sluice_message::{Fields, Forwardable, RequestHead, Scheme, starts_with};

use crate::receive::trust::Trust;
use sluice_http1::write_field;

/// Origin of a connection's requests and its encoding for workers; made once for all its requests.
#[derive(Clone)]
pub struct Origin {
    /// Address of the peer.
    pub peer: IpAddr,
    /// Whether the config trusts this peer.
    pub is_trusted: bool,
    /// The connection came to the port that redirects to HTTPS.
    pub is_redirected: bool,
    /// Port of a peer at the gateway's own address, which may be a worker.
    pub port_within: Option<u16>,
    /// Ends of the connection: the peer's, and the gateway's.
    pub ends: (SocketAddr, SocketAddr),
    /// The gateway itself makes the requests.
    is_own: bool,
    /// Address of the peer.
    pub peer_text: String,
    /// Beginning of `Forwarded`: client and protocol.
    pub forwarded: String,
    /// Private parameters for the preload, after the request's number.
    pub private: String,
}

impl Origin {
    /// Origin of the requests of a client at `peer`, which has connected to `local`.
    pub(crate) fn new(trust: &Trust, peer: SocketAddr, local: SocketAddr, scheme: Scheme) -> Self {
        let proto = scheme.as_str();
        Origin {
            peer: peer.ip(),
            is_trusted: trust.allows(peer.ip()),
            is_redirected: false,
            port_within: (peer.ip() == local.ip()).then_some(peer.port()),
            ends: (peer, local),
            is_own: false,
            peer_text: peer.ip().to_string(),
            forwarded: format!("for={};proto={proto}", NodeName(peer.ip())),
            private: format!(";peer={peer};local={local};proto={proto}"),
        }
    }

    /// Checks again whether the peer is trusted, which a reload may have changed since the last request.
    pub(crate) fn judge(&mut self, trust: &Trust) {
        self.is_trusted = trust.allows(self.peer);
    }

    /// Origin of the gateway's own requests; `port` is its own.
    pub fn own(trust: &Trust, port: u16, scheme: Scheme) -> Self {
        let here = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        Origin { is_trusted: true, is_own: true, ..Origin::new(trust, here, here, scheme) }
    }

    /// Whether the gateway makes the requests itself.
    pub fn is_own(&self) -> bool {
        self.is_own
    }

    /// Removes the fields that a worker must not see from this client, so that no page depends on them. True if `Connection` names fields
    /// that the app may read: pages must not depend on those either.
    pub fn hides_from_worker(&self, fields: &mut Fields) -> bool {
        let is_hidden = |name: &str| !self.is_trusted && is_about_origin(name);
        if fields.iter().any(|(name, _)| is_hidden(name)) {
            fields.retain(|name, _| !is_hidden(name));
        }
        Forwardable::new(fields).removes_any()
    }

    /// Writes the fields about the request's origin (`X-Forwarded-*`, `Forwarded`), without those that a trusted peer has set.
    pub fn write_forwarded(&self, out: &mut Vec<u8>, head: &RequestHead) {
        let is_made = |name| !self.is_trusted || !head.fields.contains(name);
        if is_made("x-forwarded-for") {
            write_field(out, "X-Forwarded-For", self.peer_text.as_bytes());
        }
        if is_made("x-forwarded-proto") {
            write_field(out, "X-Forwarded-Proto", head.scheme.as_str().as_bytes());
        }
        if is_made("x-forwarded-host") && !head.authority.is_empty() {
            write_field(out, "X-Forwarded-Host", head.authority.as_bytes());
        }
        if is_made("forwarded") {
            for part in ["Forwarded: ", &self.forwarded] {
                out.extend_from_slice(part.as_bytes());
            }
            if !head.authority.is_empty() {
                for part in [";host=\"", &head.authority, "\""] {
                    out.extend_from_slice(part.as_bytes());
                }
            }
            out.extend_from_slice(b"\r\n");
        }
    }

    /// Whether the gateway forwards a field of this client to the app or to an upstream. It sets some of them itself.
    pub fn forwards(&self, name: &str) -> bool {
        let is = |own: &str| name.eq_ignore_ascii_case(own);
        if starts_with(name, "x-sluice-") || is("x-request-id") || is("sluice-warm-up") && !self.is_own {
            return false;
        }
        self.is_trusted || !is_about_origin(name)
    }

    /// Whether the client speaks HTTPS, to the gateway or, as a trusted peer reports, to that peer.
    pub fn is_https(&self, head: &RequestHead) -> bool {
        let told = head.fields.get("x-forwarded-proto").filter(|_| self.is_trusted);
        told.map_or(head.scheme == Scheme::Https, |proto| proto.eq_ignore_ascii_case(b"https"))
    }
}

/// Whether the field is about the origin of a request.
pub fn is_about_origin(name: &str) -> bool {
    starts_with(name, "x-forwarded-") || ["forwarded", "x-real-ip"].iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Address in the form of `Forwarded` (RFC 7239 §6): IPv6 in brackets and quotes.
struct NodeName(IpAddr);

impl std::fmt::Display for NodeName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            IpAddr::V4(v4) => write!(f, "{v4}"),
            IpAddr::V6(v6) => write!(f, "\"[{v6}]\""),
        }
    }
}
