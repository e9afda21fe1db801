//! Maps keyed by the gateway's own numbers. No client chooses them, so they need no hash that resists attacks.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use sluice_scheduler::{RequestId, WorkerId};

/// Spreads a counter over all bits; the map uses both ends of the word.
#[derive(Default)]
pub struct CounterHasher(u64);

impl Hasher for CounterHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0 ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
    }
}

/// Map with a value for each request.
pub type RequestMap<T> = HashMap<RequestId, T, BuildHasherDefault<CounterHasher>>;

/// Map with a value for each worker.
pub type WorkerMap<T> = HashMap<WorkerId, T, BuildHasherDefault<CounterHasher>>;

/// Converts a bound from the config, which fits the address space of any machine that this runs on.
pub fn to_usize(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}
