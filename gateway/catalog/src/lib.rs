//! Facts that Sluice states about itself, once: config keys, errors, metrics, log fields and the snapshot that the
//! operator's commands read. Parsers, reference pages, the JSON Schema and the TypeScript types all come from here.
//!
//! It knows names, types, bounds and texts. It must not know how anything is done: no sockets, no processes, no clock.

pub mod config;
pub mod dashboard;
pub mod errors;
pub mod generate;
pub mod logfields;
pub mod metrics;
pub mod profiles;
pub mod protocol;
pub mod refusals;
pub mod snapshot;
