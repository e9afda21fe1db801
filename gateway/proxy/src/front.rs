//! Sockets and connections: accepting clients, and the lifetime of each connection. It must not know what requests are
//! for.

#[cfg(test)]
mod allocations;
pub(crate) mod own;
pub mod renew;
pub mod watch;
