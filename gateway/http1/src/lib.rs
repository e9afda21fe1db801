//! A strict HTTP/1.1 codec (RFC 9112): heads of requests and responses as they stand on the wire, and chunked bodies.
//!
//! Both neighbours of the gateway are input: the client and the worker. What is ambiguous is refused, never repaired,
//! because two parties that read one message differently is how requests are smuggled. What a message means is in
//! `sluice_message`.
//!
//! This crate is pure. It must not know sockets, clocks, the config or the error catalogue.
#![forbid(unsafe_code)]

mod chunked;
mod connection;
mod extension;
mod framing;
mod line;
mod reader;
mod request;
mod response;
mod special;
mod target;
mod version;
mod write;

pub use chunked::{ChunkedDecoder, DecodeStep};
pub use framing::{Framing, ResponseFraming};
pub use reader::{HeadLimits, HeadReader, Parse};
pub use request::{WireHead, parse_request};
pub use response::{ReceivedResponse, parse_response};
pub use version::Version;
pub use write::{
    CHUNK_END, LAST_CHUNK, write_chunk_header, write_decimal, write_field, write_last_chunk, write_request_start,
    write_response_start,
};
