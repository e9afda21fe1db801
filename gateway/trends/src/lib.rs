//! What workers and classes do over time: uninterrupted runs of main threads. Pure: what workers tell and a clock go in. It must
//! not know sockets, processes, or who asks.

mod runs;

pub use runs::{LongRun, Runs, Totals};
