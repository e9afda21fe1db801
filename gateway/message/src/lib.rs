//! Meaning of an HTTP message in any version (RFC 9110): heads of requests and responses, their fields, and what may be
//! passed on.
//!
//! Validation of hosts, targets, names and values lives here, because every version of HTTP needs the same one. What is
//! ambiguous is refused, never repaired.
//!
//! This crate is pure. It must not know a wire format, sockets, clocks, the config or the error catalogue; callers map
//! [`Reject`] to a code and a status.
#![forbid(unsafe_code)]

pub mod bytes;
mod coding;
mod fields;
mod forward;
mod head;
mod host;
mod html;
mod media;
mod method;
mod reject;
mod target;
mod underscores;

pub use coding::{Coding, CodingChoice};
pub use fields::Fields;
pub use forward::{Forwardable, elements, forwardable, is_hop_by_hop, may_be_trailer, starts_with, strip};
pub use head::{RequestHead, ResponseHead, Scheme, path_of, reason_of};
pub use host::authority;
pub use html::escaped_html;
pub use media::{MediaPreference, liked};
pub use method::Method;
pub use reject::{Reject, Rejection};
pub use target::check_target;
pub use underscores::{Underscores, check_underscores, without_underscores};
