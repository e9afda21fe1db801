//! Pages outside of one gateway's memory: on disk ([`disk`]).
//!
//! A disk can always fail. Files are used on a thread of their own; a gateway's thread holds a handle that never blocks.
//! `sluice_cache` decides about the use of a page. This must not know requests, workers, or where pages are in memory.
#![forbid(unsafe_code)]

mod clock;
pub mod disk;
mod outgoing;

pub use clock::{Clock, clock_ms};
pub use outgoing::Outgoing;
