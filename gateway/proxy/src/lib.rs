//! A request's way through the gateway, from the client's socket to a worker's and back.
//!
//! The modules are named after the steps and read in this order: [`listen`], `connection` (the main road), `receive`,
//! `route`, `forward`, [`gate`] (queue and dispatch), `upstream`, `answer`, `respond`. What decides is in
//! `sluice_scheduler`; what is said about it goes to `sluice_journal`.

#![forbid(unsafe_code)]

mod answer;
mod client;
mod connection;
pub mod edge;
mod forward;
pub mod gate;
mod ids;
pub mod listen;
mod receive;
mod record;
mod refuse;
mod respond;
mod route;
mod signal;
mod spool;
mod trust;
mod tunnel;
mod upstream;

use std::path::PathBuf;
use std::rc::Rc;

use sluice_catalog::config::Config;
use sluice_journal::Journal;
use sluice_scheduler::{Choice, Limits, Scheduler};

use gate::{Gate, to_usize};

/// Puts the gate together from the config.
///
/// # Errors
/// When a value is well formed but means nothing: says which.
pub fn gate(config: Rc<Config>, journal: Journal) -> Result<Rc<Gate>, String> {
    let trust = trust::Trust::parse(&config.server.trusted_peers)?;
    let temp_dir = config.temp.dir.as_ref().map_or_else(std::env::temp_dir, PathBuf::from);
    let store = spool::TempStore::new(temp_dir, config.temp.bytes_max);
    let scheduler = Scheduler::new(limits(&config));
    Ok(Gate::assemble(config, journal, scheduler, trust, store))
}

fn limits(config: &Config) -> Limits {
    Limits {
        queue_length_max: to_usize(config.queue.length_max),
        queue_wait_ms_max: config.queue.wait_ms_max,
        concurrency: config.workers.concurrency,
        choice: match config.workers.choice {
            sluice_catalog::config::Choice::First => Choice::First,
            sluice_catalog::config::Choice::RoundRobin => Choice::RoundRobin,
            sluice_catalog::config::Choice::LeastRecent => Choice::LeastRecent,
        },
        start_timeout_ms: config.workers.start_timeout_ms,
        stop_timeout_ms: config.workers.stop_timeout_ms,
        backoff_ms_min: config.workers.backoff_ms_min,
        backoff_ms_max: config.workers.backoff_ms_max,
        healthy_after_ms: 10_000,
        streams_per_worker_max: u32::try_from(config.streams.per_worker_max).unwrap_or(u32::MAX),
    }
}
