//! The page cache: what it holds, and what it did.

use serde::{Deserialize, Serialize};

/// The page cache at one moment. Counts are since the start of the gateway.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheSnapshot {
    /// Whether pages are kept at all (`cache.enabled`).
    pub enabled: bool,
    /// Pages that are kept; variants of one count as one.
    pub pages: u64,
    /// Memory that they take, bytes.
    pub bytes: u64,
    /// Memory that they may take, bytes.
    pub bytes_max: u64,
    /// Requests that got a fresh page that was kept.
    pub hits: u64,
    /// Requests that got a stale one, within what it or the config allows.
    pub stale: u64,
    /// Requests that got a page while it was rendered for another.
    pub joined: u64,
    /// Requests for which a page was rendered.
    pub misses: u64,
    /// Requests that the cache had nothing to do with.
    pub bypassed: u64,
    /// Answers that were kept.
    pub stored: u64,
    /// Variants that were purged.
    pub purged: u64,
    /// Pages on disk; `None` where there are none.
    #[serde(default)]
    pub disk: Option<DiskCacheSnapshot>,
    /// The cache that it shares with other gateways; `None` where it shares none.
    #[serde(default)]
    pub shared: Option<SharedCacheSnapshot>,
}

/// Pages on disk, which outlive the gateway. Counts are since the start of the gateway.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskCacheSnapshot {
    /// Directory (`cache.disk_dir`).
    pub dir: String,
    /// Whether it is in use: no other gateway has it, and it can be used.
    pub in_use: bool,
    /// Pages there.
    pub pages: u64,
    /// Size of its files, bytes.
    pub bytes: u64,
    /// Largest size of its files, bytes.
    pub bytes_max: u64,
    /// Look-ups that found a page.
    pub hits: u64,
    /// Look-ups that found none.
    pub misses: u64,
    /// Look-ups that took too long.
    pub timeouts: u64,
    /// Pages that were damaged or could not be read.
    pub errors: u64,
    /// Look-ups that were left out while it was not in use or owed others an answer.
    pub skipped: u64,
    /// Pages that were written.
    pub written: u64,
    /// Pages that were not written, because too many waited, or it was not in use.
    pub dropped: u64,
    /// Pages and purges that the disk refused.
    pub refused: u64,
}

/// A server in which several gateways share their pages. Counts are since the start of the gateway.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedCacheSnapshot {
    /// Address, without user and password.
    pub address: String,
    /// Whether it is in use: it answers, and in time.
    pub up: bool,
    /// Look-ups that found a page.
    pub hits: u64,
    /// Look-ups that found none.
    pub misses: u64,
    /// Look-ups that took longer than `cache.shared_timeout_ms`.
    pub timeouts: u64,
    /// Look-ups that failed at once, and pages that were damaged.
    pub errors: u64,
    /// Look-ups that were left out while it was not in use.
    pub skipped: u64,
    /// Pages that it took.
    pub written: u64,
    /// Pages that it was not given, because too many waited or the connection was lost.
    pub dropped: u64,
    /// Pages that it refused.
    pub refused: u64,
    /// Purges that the other gateways were told.
    pub purges_told: u64,
    /// Purges that other gateways told.
    pub purges_heard: u64,
}

/// Reason why the latest answer for a page was not stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnkeptSnapshot {
    /// Reason in a few words.
    pub why: String,
    /// Status of the answer; 0 where there was none.
    pub status: u16,
    /// Time since then, seconds.
    pub age_s: u64,
}

/// Stored variant of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptSnapshot {
    /// Status of the answer.
    pub status: u16,
    /// Length of its body, bytes.
    pub bytes: u64,
    /// Age, seconds.
    pub age_s: u64,
    /// Time for which it is fresh from now on, seconds.
    pub fresh_s: u64,
    /// Time for which it is useful from now on, seconds.
    pub useful_s: u64,
    /// Tags that the app gave it.
    pub tags: Vec<String>,
}
