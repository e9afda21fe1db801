//! The page cache's second tier: a server of Redis or Valkey that several gateways share. Pages are in it, the purges that the gateways
//! tell each other, and the allowances of clients that they charge together.
//!
//! The tier may be slow, full of garbage or dead. A look-up has a time limit, and a tier that misses it is left alone until it
//! answers in time again. Pages that wait to be written have a queue with a bound. All of it runs on a thread of its own with its
//! own runtime. [`Tier`] is what the thread that serves requests holds, and [`TierEvent`] what that thread is told. The uses of a page
//! are decided by `sluice_cache`. This must not know requests, workers, or where pages are in memory.
#![forbid(unsafe_code)]

mod address;
mod allowance;
mod breaker;
mod client;
mod clock;
mod counts;
mod interface;
mod link;
mod log;
mod outbox;
mod resp;
mod session;
mod stored;
mod thread;

pub use address::{Address, NoAddress};
pub use allowance::Allowance;
pub use client::Tier;
pub use counts::Counts;
pub use interface::{Answer, Settings, TierEvent, ToStore};
pub use log::Position;

#[cfg(test)]
mod tests;
