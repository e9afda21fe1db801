//! A request's way to its answer: which answer it gets, and from where. It ends at the workers' side, which it knows as a trait.
//!
//! The modules are named after the steps. They read in this order: `request` with the main road, `route`, [`answers`] that need no worker,
//! `cache`, `admit`, `respond`. It must not know how a worker is chosen, nor how its answer comes.

#![forbid(unsafe_code)]

mod active;
pub mod admit;
pub mod answers;
pub mod cache;
pub mod certificates;
mod other_hosts;
pub mod outgoing;
pub mod own;
pub mod request;
pub mod respond;
mod road;
pub mod route;
pub mod sessions;
pub mod trace;
mod unusable;

pub use active::ActiveConfig;
pub use road::Road;
pub use road::workers;
pub use unusable::Unusable;
