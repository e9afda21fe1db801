//! Rehearsal of a deployment: which loads and faults there are, when requests are sent, what became of them, and the report.
//!
//! [`Matrix`] says what is tried, [`Mix`] which paths, [`send`] sends to a gateway on loopback, [`Tally`] counts,
//! [`Rehearsal`] is the outcome. The crate must not know how a gateway is started, or how a worker is killed.

mod arrivals;
mod client;
mod findings;
mod matrix;
mod mix;
mod report;
mod send;
mod tally;

pub use arrivals::Poisson;
pub use client::Client;
pub use findings::findings;
pub use matrix::{Fault, Load, LoadError, Matrix};
pub use mix::{Mix, MixError, Weighted};
pub use report::{Capacity, Cell, PathTime, Rehearsal, html, text};
pub use send::{Drive, Sending, send};
pub use tally::{Failure, GatewayTally, Tally};
