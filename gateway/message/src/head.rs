//! Heads of requests and responses. They must not know how a body is delimited or whether a connection continues.

use crate::fields::Fields;
use crate::method::Method;

/// Whether the client's connection is encrypted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Scheme {
    /// Scheme without TLS.
    #[default]
    Http,
    /// Scheme with TLS.
    Https,
}

impl Scheme {
    /// The scheme of a side that speaks TLS or does not.
    pub fn of(is_tls: bool) -> Self {
        if is_tls { Self::Https } else { Self::Http }
    }

    /// The scheme as URLs write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }
}

/// A request head that is in order, or an empty one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestHead {
    /// The method.
    pub method: Method,
    /// The scheme of the connection that the request came on.
    pub scheme: Scheme,
    /// Host and perhaps port, validated, in lower case; empty if an HTTP/1.0 request sent none.
    pub authority: String,
    /// Path and query as sent, in origin form; `*` for `OPTIONS *`.
    pub path_and_query: String,
    /// All fields as sent, also those that [`crate::forwardable`] leaves out.
    pub fields: Fields,
}

/// A response head that is in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResponseHead {
    /// 100 to 599.
    pub status: u16,
    /// The reason phrase where it is not that of [`reason_of`]; it may be empty and need not be UTF-8. HTTP/1 alone has one.
    pub reason: Option<Box<[u8]>>,
    /// The fields.
    pub fields: Fields,
}

impl RequestHead {
    /// The path, without the query.
    pub fn path(&self) -> &str {
        path_of(&self.path_and_query)
    }
}

/// The path of a target, without the query.
pub fn path_of(target: &str) -> &str {
    target.split_once('?').map_or(target, |(path, _)| path)
}

impl ResponseHead {
    /// A head with the reason phrase of its status.
    pub fn new(status: u16, fields: Fields) -> Self {
        Self { status, reason: None, fields }
    }

    /// The reason phrase.
    pub fn reason(&self) -> &[u8] {
        self.reason.as_deref().unwrap_or_else(|| reason_of(self.status).as_bytes())
    }
}

/// The reason phrase of a status, as RFC 9110 §15 and Node.js have it; empty for one without.
pub fn reason_of(status: u16) -> &'static str {
    match status {
        100 => "Continue",
        101 => "Switching Protocols",
        102 => "Processing",
        103 => "Early Hints",
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        204 => "No Content",
        206 => "Partial Content",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        409 => "Conflict",
        410 => "Gone",
        412 => "Precondition Failed",
        413 => "Content Too Large",
        414 => "URI Too Long",
        416 => "Range Not Satisfiable",
        417 => "Expectation Failed",
        422 => "Unprocessable Entity",
        425 => "Too Early",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        505 => "HTTP Version Not Supported",
        _ => "",
    }
}
