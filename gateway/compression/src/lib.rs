//! Compression of bodies: coders that take a body piece by piece ([`Coder`]), and the threads that they run on ([`Pool`]).
//!
//! The thread that serves requests never compresses. It must not know HTTP but for the names of codings, nor what is worth to be
//! compressed.
#![forbid(unsafe_code)]

mod coder;
mod counts;
mod pool;
mod threads;

pub use coder::{Coder, Effort, Step};
pub use counts::Counts;
pub use pool::{Busy, CompressionFailure, Limits, Pool, Stream};
