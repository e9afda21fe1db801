//! What workers and classes do over time: uninterrupted runs of main threads, route tables that grow. Pure: what workers tell and a clock go in. It must
//! not know sockets, processes, or who asks.

mod routes;
mod runs;

pub use routes::{Adder, GrowingRoutes, RouteGrowth};
pub use runs::{LongRun, Runs, Totals};
