//! A strict HTTP/1.1 codec (RFC 9112): heads of requests and responses, chunked bodies, and what may be passed on.
//!
//! Both neighbours of the gateway are input: the client and the worker. What is ambiguous is refused, never repaired,
//! because two parties that read one message differently is how requests are smuggled.
//!
//! This crate is pure. It must not know sockets, clocks, the config or the error catalogue; callers map [`Reject`] to
//! a code and a status.
#![forbid(unsafe_code)]

mod bytes;
mod chunked;
mod connection;
mod extension;
mod fields;
mod forward;
mod framing;
mod host;
mod method;
mod reader;
mod reject;
mod request;
mod response;
mod special;
mod target;
mod underscores;
mod write;

pub use chunked::{ChunkedDecoder, Decoded};
pub use fields::Fields;
pub use forward::{Forwardable, forwardable, is_hop_by_hop};
pub use framing::{Framing, ResponseFraming};
pub use method::Method;
pub use reader::{HeadLimits, HeadReader, Parse};
pub use reject::{Reject, Rejection};
pub use request::{RequestHead, Version, parse_request};
pub use response::{ResponseHead, parse_response};
pub use underscores::{Underscores, check_underscores};
pub use write::{
    CHUNK_END, LAST_CHUNK, write_chunk_header, write_decimal, write_field, write_last_chunk, write_request_start,
    write_response_start,
};
