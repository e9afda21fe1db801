//! Limit on the beacons of one address. Pure: the clock is passed in. It must not know what a beacon says.

use std::net::IpAddr;

use sluice_catalog::config::Rate;

use super::rate::{Key, NS_PER_S, Pace, Table};

/// Limit for one address. A page sends one beacon when it is left, so this suffices for whole offices behind one
/// address.
const RATE: Rate = Rate { count: 60, period_s: 60, burst: 60 };
/// Maximum number of remembered addresses, each of about 50 bytes.
const ADDRESSES_MAX: usize = 10_000;

/// Allowance of each address.
pub(crate) struct Beacons {
    table: Table,
    pace: Pace,
}

impl Default for Beacons {
    fn default() -> Self {
        Self { table: Table::new(ADDRESSES_MAX), pace: Pace::of(RATE) }
    }
}

impl Beacons {
    /// Counts a beacon. If it comes too early, returns the seconds, at least 1, after which the next one comes in time.
    pub(crate) fn refuses(&mut self, client: IpAddr, now_ns: u64) -> Option<u32> {
        let wait_ns = self.table.take(Key::of(0, client.to_canonical()), self.pace, now_ns).err()?;
        Some(u32::try_from(wait_ns.div_ceil(NS_PER_S).max(1)).unwrap_or(u32::MAX))
    }
}
