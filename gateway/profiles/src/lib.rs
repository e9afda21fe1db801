//! CPU profiles as V8 takes them: read from `.cpuprofile` files and Chrome traces, merged, and judged line by line.
//!
//! It is pure but for the reader that it is given: it opens no file and starts no process. It must not know where a profile comes
//! from, nor how its findings are shown.

mod checkout;
pub mod hotspots;
mod merge;
mod owner;
mod perf;
mod places;
mod profile;
mod read;
#[cfg(test)]
mod testing;
mod trace;

pub use merge::Wrong;
pub use owner::{Owner, path_of};
pub use perf::{PERF_FIELDS, PerfFacts};
pub use places::{Original, Places};
pub use profile::{Frame, Node, Profile, ROOT, Ticks, Track};
pub use read::ReadError;
