//! Versions of messages, and what they mean for the connection.

use sluice_message::{Reject, Rejection};

/// The version of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// HTTP/1.0
    Http10,
    /// HTTP/1.1
    Http11,
}

/// Whether the connection stays open after the message (RFC 9112 §9.3).
pub(crate) fn keep_alive(version: Version, close: bool, keep_alive: bool) -> bool {
    !close && (version == Version::Http11 || keep_alive)
}

/// Parses `HTTP/1.0` and `HTTP/1.1` (RFC 9112 §2.3).
pub(crate) fn version(bytes: &[u8]) -> Result<Version, Rejection> {
    match bytes {
        b"HTTP/1.1" => Ok(Version::Http11),
        b"HTTP/1.0" => Ok(Version::Http10),
        [b'H', b'T', b'T', b'P', b'/', major, b'.', minor] if major.is_ascii_digit() && minor.is_ascii_digit() => {
            Err(Rejection::new(Reject::VersionUnsupported, "a version other than HTTP/1.0 and HTTP/1.1"))
        }
        _ => Err(Rejection::malformed("not an HTTP version")),
    }
}
