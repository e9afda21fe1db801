//! Figures of workers and classes over time: uninterrupted runs of main threads, route tables that grow, figures that grow with a
//! worker's age, costs of requests before and after. Pure: what workers tell and a clock go in. It must not know sockets, processes, or
//! who asks.

mod age;
mod parts;
mod routes;
mod runs;
mod spending;
mod totals;
mod trend;

pub use age::{AgeGrowth, Ages, Figure, Needs, Took, WorkerLife};
pub use routes::{Adder, GrowingRoutes, RouteGrowth};
pub use runs::{LongRun, Runs, Totals};
pub use spending::{ClassParts, RequestCost, SideParts, Since, Spending};
