//! Counts of consecutive renders of a component that exceeded its CPU budget, over all workers. Workers count too, but a
//! worker whose event loop was blocked for long is replaced, and its counts are lost. It must not know when a component
//! is suspended.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tokio::time::Instant;

/// Maximum number of known components; the one reported longest ago is evicted.
const COMPONENTS_MAX: usize = 500;
/// Longest name, in bytes.
const NAME_BYTES_MAX: usize = 256;

#[derive(Clone, Copy, Debug)]
struct Count {
    overruns: u32,
    latest: Instant,
}

/// The counts of all workers.
#[derive(Debug, Default)]
pub(crate) struct Overruns {
    counts: BTreeMap<String, Count>,
    version: u64,
}

impl Overruns {
    /// Changes with the counts; 0 before the first.
    pub(super) fn version(&self) -> u64 {
        self.version
    }

    pub(super) fn note(&mut self, component: &str, is_over: bool, now: Instant) {
        if component.is_empty() || component.len() > NAME_BYTES_MAX {
            return;
        }
        // The worker waits for the line that says its word was heard, even if that changes nothing.
        self.version += 1;
        if !is_over {
            self.counts.remove(component);
            return;
        }
        if !self.counts.contains_key(component) && self.counts.len() >= COMPONENTS_MAX {
            self.forget_oldest();
        }
        let count = self.counts.entry(component.to_owned()).or_insert(Count { overruns: 0, latest: now });
        *count = Count { overruns: count.overruns.saturating_add(1), latest: now };
    }

    fn forget_oldest(&mut self) {
        let oldest = self.counts.iter().min_by_key(|(_, count)| count.latest).map(|(name, _)| name.clone());
        if let Some(name) = oldest {
            self.counts.remove(&name);
        }
    }

    /// Counts in the format of the protocol.
    pub(super) fn told(&self, now: Instant) -> Value {
        let counts = self.counts.iter().map(|(name, count)| {
            let ago = now.saturating_duration_since(count.latest).as_millis();
            (name.clone(), json!({ "count": count.overruns, "ago_ms": u64::try_from(ago).unwrap_or(u64::MAX) }))
        });
        Value::Object(counts.collect())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn counts_of_all_workers_add_up_until_a_render_keeps_to_its_budget() {
        let mut overruns = Overruns::default();
        let start = Instant::now();
        for second in 0..3 {
            overruns.note("Search", true, start + Duration::from_secs(second));
        }
        overruns.note("Card@1.0.0", true, start);
        let now = start + Duration::from_secs(4);
        let expected =
            json!({ "Card@1.0.0": { "count": 1, "ago_ms": 4000 }, "Search": { "count": 3, "ago_ms": 2000 } });
        assert_eq!(overruns.told(now), expected);
        overruns.note("Search", false, now);
        assert_eq!(overruns.told(now), json!({ "Card@1.0.0": { "count": 1, "ago_ms": 4000 } }));
    }

    #[test]
    fn i6_components_and_their_names_are_bounded() {
        let mut overruns = Overruns::default();
        let start = Instant::now();
        for number in 0..COMPONENTS_MAX + 10 {
            overruns.note(&format!("C{number}"), true, start + Duration::from_millis(number as u64));
        }
        overruns.note(&"x".repeat(NAME_BYTES_MAX + 1), true, start);
        overruns.note("", true, start);
        assert_eq!(overruns.counts.len(), COMPONENTS_MAX);
        assert!(!overruns.counts.contains_key("C9") && overruns.counts.contains_key("C10"));
    }
}
