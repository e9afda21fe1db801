//! The road of requests, whole, on a paused clock: a real gate between a client and workers that make one fault each, over pipes in
//! memory. Each test says what the client gets, what becomes of the slot, what the log says, and at which millisecond.
//!
//! [`world`] has the gate and who stands for the supervisor, [`worker`] and [`client`] the two sides.

mod ahead;
mod allocations;
mod beacons;
mod bodies;
mod cache_attacks;
mod cache_simulation;
mod cached_pages;
mod client;
mod clients;
mod composed;
mod connections;
mod deaths;
mod heads;
mod http2;
mod lone_pages;
mod panics;
mod purges;
mod readiness;
mod reuse;
mod shadows;
mod silence;
mod streams;
mod tickets;
mod warm_up;
mod worker;
mod world;
