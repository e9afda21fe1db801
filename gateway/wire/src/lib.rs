//! Bytes to messages and back: sockets, TLS, connections and their deadlines, buffers in memory and in files, and answers on their way.
//!
//! It must not know a request's way: neither which source answers, nor which worker, nor any log line.

#![forbid(unsafe_code)]

pub mod front;
pub mod ids;
pub mod receive;
pub mod respond;
pub mod signal;
pub mod socket;
mod unusable;

pub use unusable::{PairOfFiles, Unusable};
