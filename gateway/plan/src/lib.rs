//! Capacity from access logs: what p50, p95 and p99 of the log's own traffic would be with other numbers of workers.
//!
//! [`LogReader`] turns logs into arrivals, [`replay`](fn@replay) puts them through the real scheduler, [`plan`](fn@plan)
//! makes the replays that a [`Question`] needs, [`text`](fn@text) and [`html`](fn@html) show the [`Plan`]. The crate knows
//! no sockets, files or time of day: the same log and seed give the same plan.

mod arrivals;
mod autoscaler;
mod html;
mod instance;
mod log;
mod looks;
mod machine;
pub mod page;
mod plan;
mod replay;
mod scaling;
mod text;
mod traffic;

pub use arrivals::{Knows, OTHERS, Stretch};
pub use autoscaler::{Autoscaler, Pace};
pub use html::html;
pub use log::{Asked, Counts, Format, FormatError, LogReader, PathCounts, PathReader};
pub use plan::{Answer, ClassRow, FleetRow, Latency, PERCENTILES, Plan, Question, Row, Target, plan};
pub use replay::{Balancer, Outcome, Replayed, Setup, replay};
pub use scaling::{Fleet, Scaled, scaling};
pub use text::text;

/// Consecutive requests that are replayed unless more are asked for: the busiest of the log.
pub const REQUESTS: usize = 200_000;
