//! Request methods. It must not know which of them the app serves.

use crate::bytes::{ascii, is_token};
use crate::reject::{Reject, Rejection};

/// Maximum length of a method, bytes.
const METHOD_BYTES_MAX: usize = 32;

/// A request method; case matters (RFC 9110 §9.1), so `get` is [`Method::Other`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are the methods")]
pub enum Method {
    Get,
    Head,
    Post,
    Put,
    Delete,
    Options,
    Patch,
    /// Any other token of at most 32 bytes.
    Other(Box<str>),
}

impl Default for Method {
    /// No method, as of a request that was not received.
    fn default() -> Self {
        Self::Other(Box::default())
    }
}

impl Method {
    /// Reads a method.
    ///
    /// # Errors
    /// When it is no token, or one that is never served.
    pub fn parse(bytes: &[u8]) -> Result<Self, Rejection> {
        Ok(match bytes {
            b"GET" => Self::Get,
            b"HEAD" => Self::Head,
            b"POST" => Self::Post,
            b"PUT" => Self::Put,
            b"DELETE" => Self::Delete,
            b"OPTIONS" => Self::Options,
            b"PATCH" => Self::Patch,
            b"CONNECT" => return Err(Rejection::new(Reject::MethodUnsupported, "CONNECT is for proxies")),
            b"TRACE" => return Err(Rejection::new(Reject::MethodUnsupported, "TRACE would echo private fields")),
            other if !is_token(other) => return Err(Rejection::malformed("the method is not a token")),
            other if other.len() > METHOD_BYTES_MAX => {
                return Err(Rejection::new(Reject::MethodUnsupported, "the method is too long"));
            }
            other => Self::Other(ascii(other).into()),
        })
    }

    /// The method as sent.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Delete => "DELETE",
            Self::Options => "OPTIONS",
            Self::Patch => "PATCH",
            Self::Other(name) => name,
        }
    }

    /// True for methods that ask for no change (RFC 9110 §9.2.1). Unknown ones count as unsafe.
    pub fn is_safe(&self) -> bool {
        matches!(self, Self::Get | Self::Head | Self::Options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_say_what_they_are_and_whether_they_are_safe() {
        for (name, safe) in [
            ("GET", true),
            ("HEAD", true),
            ("OPTIONS", true),
            ("PUT", false),
            ("DELETE", false),
            ("POST", false),
            ("PATCH", false),
            ("PROPFIND", false),
            ("get", false),
        ] {
            let method = Method::parse(name.as_bytes()).unwrap();
            assert_eq!(method.as_str(), name);
            assert_eq!(method.is_safe(), safe, "{name}");
        }
    }
}
