//! Rules that hold for any bytes at the beginning of a connection; shared with the fuzz target.

use sluice_sockets::proxied::{self, Proxied, ProxyVersion, Reading};

/// Longest header that is read.
const BYTES_MAX: usize = 16 + 4096;

/// Reads a header as a connection would deliver it, in the pieces that the judgement asks for.
///
/// # Panics
/// If more is asked for than may be read, if a byte behind the header is taken, or if a client of a valid header is not the one that a
/// header written for it names.
pub fn proxy_header(bytes: &[u8]) {
    let mut len = 0;
    let proxied = loop {
        let wanted = match proxied::judge(&bytes[..len]) {
            Err(_) => return,
            Ok(Reading::Done(proxied)) => break proxied,
            Ok(Reading::Bytes(wanted)) => wanted,
            Ok(Reading::Line(wanted)) => {
                let left = &bytes[len..];
                let ahead = &left[..left.len().min(wanted)];
                ahead.iter().position(|byte| *byte == b'\n').map_or(ahead.len(), |at| at + 1)
            }
        };
        if len == bytes.len() {
            return;
        }
        assert!(wanted > 0, "a reader would wait forever");
        len = (len + wanted).min(bytes.len());
        assert!(len <= BYTES_MAX);
    };
    if len > 0 {
        assert!(!matches!(proxied::judge(&bytes[..len - 1]), Ok(Reading::Done(_))), "it was complete before");
    }
    let Proxied::Client { source, destination } = proxied else { return };
    for version in [ProxyVersion::V1, ProxyVersion::V2] {
        let mut header = Vec::new();
        proxied::write(&mut header, version, source, destination);
        assert_eq!(proxied::judge(&header), Ok(Reading::Done(proxied)));
    }
}
