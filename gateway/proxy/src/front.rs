//! Sockets and connections: accepting clients, and the lifetime of each connection. It must not know what requests are
//! for.

#[cfg(test)]
mod allocations;
pub(crate) mod client;
pub(crate) mod connection;
pub(crate) mod exchange;
pub(crate) mod h1;
pub(crate) mod h2;
pub(crate) mod handles;
pub mod listen;
pub(crate) mod lobby;
pub(crate) mod own;
pub mod tls;
mod tunnel;
