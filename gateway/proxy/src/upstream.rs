//! Upstream side of the gateway: a [`WorkerRequest`] from the queue to its end, and the [`driver::Driver`] that carries it out.
//!
//! The pure [`sluice_dispatch::Exchange`] decides what each event leads to. The driver turns readiness of sockets into its events, and its
//! actions into system calls. Connections are in `slots`.

mod driver;
pub(crate) mod forward;
mod given;
mod handed;
mod handing;
mod lease;
mod owner;
mod request;
mod seat;
mod slots;
#[cfg(test)]
mod tests;
pub(crate) mod token;
mod wire;
mod writer;

pub(crate) use handed::AHEAD_MAX;
pub(crate) use lease::{Lease, LostLease, StreamCounts, StreamLease};
pub(crate) use owner::SlotOwner;
pub(crate) use request::{Orphan, RequestParts, WorkerMessage, WorkerRequest, time_since};
pub(crate) use seat::Seat;
pub(crate) use slots::Slots;
pub(crate) use wire::Wire;
