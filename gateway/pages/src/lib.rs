//! Pages outside of one gateway's memory: on their way to the gateway after it ([`relay`]), and on disk ([`disk`]).
//!
//! Both may fail. Sockets and files are used on threads of their own; what a gateway's thread holds is a handle that
//! never blocks. What a page may be used for is decided by `sluice_cache`. This must not know requests, workers, or where pages are in
//! memory.
#![forbid(unsafe_code)]

mod clock;
pub mod disk;
mod outgoing;
pub mod relay;

pub use clock::{Clock, clock_ms};
pub use outgoing::Outgoing;
