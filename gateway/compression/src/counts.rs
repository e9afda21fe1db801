//! Work and cost of compression since the start.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sluice_message::Coding;

/// Counters; any thread adds to them.
#[derive(Debug, Default)]
pub struct Counts {
    bodies: [AtomicU64; Coding::ALL.len()],
    input_bytes: AtomicU64,
    output_bytes: AtomicU64,
    cpu_ns: AtomicU64,
    fallbacks: AtomicU64,
}

impl Counts {
    /// Bodies that were begun in this coding.
    pub fn bodies(&self, coding: Coding) -> u64 {
        self.bodies[coding as usize].load(Ordering::Relaxed)
    }

    /// Bytes before compression.
    pub fn input_bytes(&self) -> u64 {
        self.input_bytes.load(Ordering::Relaxed)
    }

    /// Bytes after it.
    pub fn output_bytes(&self) -> u64 {
        self.output_bytes.load(Ordering::Relaxed)
    }

    /// CPU time of it.
    pub fn cpu(&self) -> Duration {
        Duration::from_nanos(self.cpu_ns.load(Ordering::Relaxed))
    }

    /// Bodies that were not compressed because too many others were.
    pub fn fallbacks(&self) -> u64 {
        self.fallbacks.load(Ordering::Relaxed)
    }

    pub(crate) fn begun(&self, coding: Coding) {
        self.bodies[coding as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn fell_back(&self) {
        self.fallbacks.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn encoded(&self, input_bytes: usize, output_bytes: usize, cpu: Duration) {
        self.input_bytes.fetch_add(input_bytes as u64, Ordering::Relaxed);
        self.output_bytes.fetch_add(output_bytes as u64, Ordering::Relaxed);
        self.cpu_ns.fetch_add(u64::try_from(cpu.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}
