//! Certificates while the gateway serves: changed files, and those of a CA.

pub mod renew;
pub mod watch;
