//! The page cache's second tier: pages in a server of Redis or Valkey that several gateways share, and the purges that they tell
//! each other there.
//!
//! The tier may be slow, full of garbage or dead. A look-up has a time limit, and a tier that misses it is left alone until it
//! answers in time again. Pages that wait to be written have a queue with a bound. All of it runs on a thread of its own with its
//! own runtime. [`Tier`] is what the thread that serves requests holds, and [`TierEvent`] what that thread is told. The uses of a page
//! are decided by `sluice_cache`. This must not know requests, workers, or where pages are in memory.
#![forbid(unsafe_code)]

mod address;
mod breaker;
mod client;
mod clock;
mod counts;
mod link;
mod log;
mod outbox;
mod resp;
mod session;
mod stored;
mod thread;

pub use address::{Address, NoAddress};
pub use client::{Answer, Settings, Tier, TierEvent, ToStore};
pub use counts::Counts;
pub use log::Position;

#[cfg(test)]
mod tests;
