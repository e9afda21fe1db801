//! Rate limits per client: the limits of the config, and a bounded table of the clients' allowances.
//!
//! Each entry is one timestamp, after GCRA (the generic cell rate algorithm of ITU-T I.371): when the client's allowance
//! would be whole again. The module is pure: the clock is passed in, and it must not know connections or what is answered.

pub(crate) mod paths;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::net::IpAddr;

use sluice_catalog::config::{Config, Rate};

use crate::unusable::Unusable;
use sluice_message::path_of;
use sluice_tier::Allowance;
use sluice_wire::ids::to_usize;
use sluice_wire::receive::trust::Networks;

/// Entries that are checked for each new one, so that no request pays for a whole sweep.
const SAMPLE: usize = 8;
pub(crate) const NS_PER_S: u64 = 1_000_000_000;

/// The limits in force, and the allowances of clients.
pub(crate) struct Rates {
    /// Limits, longest path first: the first match counts.
    limits: Vec<Limit>,
    exempt: Networks,
    table: Table,
    /// Whether the gateways that share a server count there together.
    pub(crate) is_shared: bool,
}

struct Limit {
    /// Path in lower case, as are the readings that it is compared with: many routers ignore case.
    path: String,
    pace: Pace,
}

/// A rate in the form of GCRA.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// Time in nanoseconds that one request uses up.
    interval_ns: u64,
    /// Time in nanoseconds that a client's requests may have used up ahead of the clock.
    tolerance_ns: u64,
}

impl Rates {
    /// Limits of the config; `None` if there are none, so that no request is checked.
    ///
    /// # Errors
    /// Names what is not well formed.
    pub(crate) fn parse(config: &Config) -> Result<Option<Self>, Unusable> {
        if config.rate.limits.is_empty() {
            return Ok(None);
        }
        let mut limits = Vec::with_capacity(config.rate.limits.len());
        for (path, text) in &config.rate.limits {
            let rate = Rate::parse(text).map_err(|source| Unusable::Rate {
                path: path.clone(),
                text: text.clone(),
                source,
            })?;
            let path = paths::lower(path.as_bytes()).into_owned();
            limits.push(Limit { path, pace: Pace::of(rate) });
        }
        limits.sort_by_key(|limit| std::cmp::Reverse(limit.path.len()));
        let exempt = Networks::parse("rate.exempt", &config.rate.exempt)?;
        let table = Table::new(to_usize(config.bounds.rate_clients_max));
        Ok(Some(Rates { limits, exempt, table, is_shared: config.rate.shared }))
    }

    /// Counts a request, and returns the numbers of the limits that count it. The error is for one that comes too early: the
    /// seconds, at least 1, after which the client's next one comes in time.
    pub(crate) fn charge(&mut self, client: IpAddr, target: &str, now_ns: u64) -> Result<Vec<usize>, u32> {
        let client = client.to_canonical();
        if self.exempt.contains(client) {
            return Ok(Vec::new());
        }
        // Several readings of one path mostly meet the same limit, which counts the request once.
        let mut met: Vec<usize> = Vec::with_capacity(1);
        for path in paths::readings(path_of(target)) {
            let path = paths::lower(&path);
            let fitting =
                self.limits.iter().position(|limit| paths::lies_below(path.as_bytes(), limit.path.as_bytes()));
            if let Some(number) = fitting.filter(|number| !met.contains(number)) {
                met.push(number);
            }
        }
        // All are asked before any is charged: a request that is refused costs nothing.
        let wait_ns = met.iter().filter_map(|number| {
            let whole_at_ns = self.table.whole_at_ns(Key::of(*number, client)).unwrap_or(now_ns);
            self.limits[*number].pace.after(whole_at_ns, now_ns).err()
        });
        if let Some(wait_ns) = wait_ns.max() {
            return Err(seconds(wait_ns));
        }
        for &number in &met {
            let _ = self.table.take(Key::of(number, client), self.limits[number].pace, now_ns);
        }
        Ok(met)
    }

    /// The client's allowances of the limits with these numbers, as all gateways with these limits name them.
    pub(crate) fn allowances(&self, numbers: &[usize], client: IpAddr) -> Vec<Allowance> {
        let allowance = |&number: &usize| {
            let (Limit { path, pace }, key) = (self.limits.get(number)?, Key::of(number, client.to_canonical()));
            let (interval_us, tolerance_us) = (pace.interval_ns.div_ceil(1000), pace.tolerance_ns / 1000);
            let (kind, network) = (if key.is_v4 { 4 } else { 6 }, key.network);
            // Gateways with another rate for the same path, such as the one before an upgrade, count apart.
            let name = format!("{path}:{interval_us}:{tolerance_us}:{kind}:{network:x}");
            Some(Allowance { name, interval_us, tolerance_us })
        };
        numbers.iter().filter_map(allowance).collect()
    }
}

/// Whole seconds, at least 1, that are no shorter.
pub(crate) fn seconds(wait_ns: u64) -> u32 {
    u32::try_from(wait_ns.div_ceil(NS_PER_S).max(1)).unwrap_or(u32::MAX)
}

impl Pace {
    /// Converts a rate. The interval is rounded up, so that the rate is never exceeded.
    pub(crate) fn of(rate: Rate) -> Self {
        let interval_ns = (rate.period_s * NS_PER_S).div_ceil(rate.count);
        Pace { interval_ns, tolerance_ns: interval_ns.saturating_mul(rate.burst - 1) }
    }

    /// Time at which the allowance is full again after one more request. The error is the time by which that request
    /// comes too early.
    pub(crate) fn after(self, whole_at_ns: u64, now_ns: u64) -> Result<u64, u64> {
        let whole_at_ns = whole_at_ns.max(now_ns);
        let too_early_ns = (whole_at_ns - now_ns).saturating_sub(self.tolerance_ns);
        if too_early_ns > 0 { Err(too_early_ns) } else { Ok(whole_at_ns.saturating_add(self.interval_ns)) }
    }
}

/// Client and limit of an entry. An IPv6 client has a whole /64 to draw addresses from, so that is one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    network: u64,
    limit: u32,
    is_v4: bool,
}

impl Key {
    pub(crate) fn of(limit: usize, client: IpAddr) -> Self {
        let limit = u32::try_from(limit).unwrap_or(u32::MAX);
        match client {
            IpAddr::V4(address) => Key { network: address.to_bits().into(), limit, is_v4: true },
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments().map(u64::from);
                Key { network: a << 48 | b << 32 | c << 16 | d, limit, is_v4: false }
            }
        }
    }
}

struct Entry {
    key: Key,
    whole_at_ns: u64,
}

/// Entries in a list, so that any few can be examined, with their places by key. The map's hasher is keyed: clients
/// choose their addresses.
pub(crate) struct Table {
    entries: Vec<Entry>,
    places: HashMap<Key, usize>,
    entries_max: usize,
    /// Index at which the next check of some entries begins.
    cursor: usize,
}

impl Table {
    pub(crate) fn new(entries_max: usize) -> Self {
        Table { entries: Vec::new(), places: HashMap::new(), entries_max: entries_max.max(1), cursor: 0 }
    }

    pub(crate) fn whole_at_ns(&self, key: Key) -> Option<u64> {
        self.places.get(&key).map(|place| self.entries[*place].whole_at_ns)
    }

    /// Lets a request of this key through, or returns the time in nanoseconds by which it comes too early. A new key
    /// always finds room.
    pub(crate) fn take(&mut self, key: Key, pace: Pace, now_ns: u64) -> Result<(), u64> {
        if let Some(&place) = self.places.get(&key) {
            let entry = &mut self.entries[place];
            entry.whole_at_ns = pace.after(entry.whole_at_ns, now_ns)?;
            return Ok(());
        }
        let whole_at_ns = pace.after(now_ns, now_ns)?;
        self.make_room(now_ns);
        self.places.insert(key, self.entries.len());
        self.entries.push(Entry { key, whole_at_ns });
        Ok(())
    }

    /// Examines the next few entries and drops those whose allowance is full, which are as good as absent. If the table
    /// is full of others, the one that would be full first goes: it says least about its client.
    fn make_room(&mut self, now_ns: u64) {
        let looked_at = self.entries.len().min(SAMPLE);
        for _ in 0..looked_at {
            self.cursor = if self.cursor < self.entries.len() { self.cursor } else { 0 };
            match self.entries.get(self.cursor) {
                Some(entry) if entry.whole_at_ns <= now_ns => self.remove(self.cursor),
                _ => self.cursor += 1,
            }
        }
        let len = self.entries.len();
        if len < self.entries_max {
            return;
        }
        let sample = (1..=looked_at).map(|back| (self.cursor + len - back) % len);
        if let Some(place) = sample.min_by_key(|place| self.entries[*place].whole_at_ns) {
            self.remove(place);
        }
    }

    fn remove(&mut self, place: usize) {
        let removed = self.entries.swap_remove(place);
        self.places.remove(&removed.key);
        if let Some(moved) = self.entries.get(place) {
            self.places.insert(moved.key, place);
        }
    }
}
