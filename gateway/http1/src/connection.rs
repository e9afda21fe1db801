//! `Connection` and `Upgrade` (RFC 9110 §7.6.1, §7.8).

use sluice_message::bytes::{ascii, is_token};
use sluice_message::{Rejection, elements};

/// Maximum number of options in `Connection`. The forwarding filter compares every field with each of them.
const OPTIONS_MAX: usize = 32;

/// Words of `Connection` about the connection itself.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ConnectionOptions {
    pub close: bool,
    pub keep_alive: bool,
    pub upgrade: bool,
    count: usize,
}

impl ConnectionOptions {
    pub(crate) fn add(&mut self, value: &[u8]) -> Result<(), Rejection> {
        for option in elements(value) {
            if !is_token(option) {
                return Err(Rejection::malformed("a Connection option is not a token"));
            }
            self.count += 1;
            if self.count > OPTIONS_MAX {
                return Err(Rejection::malformed("too many Connection options"));
            }
            self.close |= option.eq_ignore_ascii_case(b"close");
            self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
            self.upgrade |= option.eq_ignore_ascii_case(b"upgrade");
        }
        Ok(())
    }
}

/// The protocols that the client offers to switch to, as one `Upgrade` value, or `None` if none is left.
///
/// HTTP itself and TLS are not passed on: behind an upgrade to h2c the gateway would see no requests any more.
pub(crate) fn upgrade_protocols(values: &[&[u8]]) -> Result<Option<String>, Rejection> {
    let mut protocols = String::new();
    for element in values.iter().flat_map(|value| elements(value)) {
        let mut parts = element.splitn(2, |&b| b == b'/');
        let name = parts.next().unwrap_or_default();
        if !is_token(name) || parts.next().is_some_and(|version| !is_token(version)) {
            return Err(Rejection::malformed("an Upgrade protocol is not a token"));
        }
        let is_transport = [&b"h2c"[..], b"h2", b"h3", b"http", b"tls"].iter().any(|t| name.eq_ignore_ascii_case(t));
        if !is_transport {
            if !protocols.is_empty() {
                protocols.push_str(", ");
            }
            protocols.push_str(ascii(element));
        }
    }
    Ok((!protocols.is_empty()).then_some(protocols))
}
