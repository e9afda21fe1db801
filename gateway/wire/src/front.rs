//! Sockets and connections: accepting clients, and the lifetime of each connection. It must not know what requests are
//! for.

pub mod client;
pub mod connection;
pub mod exchange;
pub(crate) mod h1;
pub mod h2;
pub mod handles;
pub mod listen;
pub mod lobby;
pub mod origin;
pub mod own;
pub mod seat;
pub mod service;
pub mod tls;
mod tunnel;
