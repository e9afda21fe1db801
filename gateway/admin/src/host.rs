//! Check of the `Host` that a request to the metrics address may name.
//!
//! The address is usually only reachable from this machine. A web page in a browser here is on this machine too, and could
//! read the answers by pointing a name of its own at 127.0.0.1 ("DNS rebinding"). Such a request carries that name, so only
//! names that nobody else can point anywhere are accepted. It must not know what is asked for.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether `authority` (`host` or `host:port`) is an IP literal, `localhost`, or the configured name.
pub(crate) fn allowed(authority: &str, configured: Option<&str>) -> bool {
    let Some(host) = host_of(authority) else { return false };
    if let Some(inside) = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return inside.parse::<Ipv6Addr>().is_ok();
    }
    let host = host.strip_suffix('.').unwrap_or(host);
    host.parse::<Ipv4Addr>().is_ok()
        || host.eq_ignore_ascii_case("localhost")
        || configured.is_some_and(|name| host.eq_ignore_ascii_case(name))
}

/// Whether `authority` names this machine for those who are on it: a loopback address, `localhost`, or the configured name.
pub(crate) fn is_local(authority: &str, configured: Option<&str>) -> bool {
    let Some(host) = host_of(authority) else { return false };
    let inside = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    match inside.parse::<IpAddr>() {
        Ok(address) => address.to_canonical().is_loopback() || configured == Some(host),
        Err(_) => allowed(authority, configured),
    }
}

/// The part before the port; `None` if what should be a port is none.
pub(crate) fn host_of(authority: &str) -> Option<&str> {
    let after_host = authority.rfind(']').map_or(0, |at| at + 1);
    let Some(colon) = authority[after_host..].find(':') else {
        return Some(authority);
    };
    let (host, port) = authority.split_at(after_host + colon);
    let port = &port[1..];
    (port.len() <= 5 && port.bytes().all(|byte| byte.is_ascii_digit())).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_localhost_and_the_configured_name_are_taken() {
        for authority in
            ["127.0.0.1:7584", "127.0.0.1", "[::1]:7584", "[2001:db8::1]", "localhost:7584", "LOCALHOST", "localhost."]
        {
            assert!(allowed(authority, None), "{authority}");
        }
        assert!(allowed("Metrics.internal:7584", Some("metrics.internal")));
    }

    #[test]
    fn a_name_that_somebody_else_can_point_here_is_not() {
        for authority in [
            "evil.example:7584",
            "127.0.0.1.evil.example",
            "localhost.evil.example",
            "[::1].evil.example",
            "evil.example#[::1]",
            "[::1]evil:80",
            "localhost:80:80",
            "localhost:port",
            "user@localhost:1x",
            "[not-an-address]",
            "]:",
            "::1",
            "",
            ":",
            "é:80",
        ] {
            assert!(!allowed(authority, Some("metrics.internal")), "{authority}");
        }
    }
}
