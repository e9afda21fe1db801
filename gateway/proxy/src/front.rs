//! Sockets and connections: what clients are accepted, and how long each stays. It must not know what requests are for.

pub(crate) mod client;
pub(crate) mod connection;
pub mod listen;
pub(crate) mod tunnel;
