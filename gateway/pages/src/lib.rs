//! Pages outside of one gateway's memory: on disk ([`disk`]).
//!
//! A disk may fail at any time. Files are used on a thread of their own; what a gateway's thread holds is a handle that never blocks.
//! What a page may be used for is decided by `sluice_cache`. This must not know requests, workers, or where pages are in memory.
#![forbid(unsafe_code)]

mod clock;
pub mod disk;
mod outgoing;

pub use clock::{Clock, clock_ms};
pub use outgoing::Outgoing;
