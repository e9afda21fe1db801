//! The latest reason for each URL why its page was not cached, for operators. No decision depends on it.

use std::cell::RefCell;
use std::hash::{BuildHasher as _, RandomState};

use sluice_cache::StorageRefusal;
use sluice_catalog::errors::Code;
use sluice_catalog::snapshot::UnkeptSnapshot;
use tokio::time::Instant;

/// Maximum number of pages whose latest reason is remembered.
const UNKEPT_MAX: usize = 20_000;

/// Reason why a page was not cached.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Why {
    /// The rules of HTTP forbid it.
    Refused(StorageRefusal),
    TooLarge,
    /// Memory and temporary files had no room for the page while it was written.
    NoRoom,
    /// The answer is an event stream, or ends with its connection.
    Endless,
    /// The answer is an error, and an older page may still be used.
    Worse,
    HasTrailers,
    /// The page was purged, or changed by another request, while it was rendered.
    Outdated,
    /// The render gave no complete answer.
    Failed(Code),
}

impl Why {
    fn text(self) -> String {
        match self {
            Why::Refused(refused) => refused.as_str().to_owned(),
            Why::TooLarge => "it is larger than 4 MiB".to_owned(),
            Why::NoRoom => "memory.buffers_bytes_max and temp.bytes_max left no room while it was rendered".to_owned(),
            Why::Endless => "it is an event stream, or the end of its body is not marked".to_owned(),
            Why::Worse => "it is an error, and the previous page may still be used".to_owned(),
            Why::HasTrailers => "it has trailers".to_owned(),
            Why::Outdated => "it was purged or changed while it was rendered".to_owned(),
            Why::Failed(code) => format!("its answer is incomplete: {}", code.entry().code),
        }
    }
}

struct Reason {
    why: Why,
    /// Status of the answer; 0 if there was none.
    status: u16,
    at: Instant,
}

pub(crate) struct StorageReasons {
    /// Reasons by the hashes of keys: whole keys could take hundreds of megabytes.
    reasons: RefCell<quick_cache::unsync::Cache<u64, Reason>>,
    hashes: RandomState,
}

impl StorageReasons {
    pub(crate) fn new() -> Self {
        StorageReasons {
            reasons: RefCell::new(quick_cache::unsync::Cache::new(UNKEPT_MAX)),
            hashes: RandomState::new(),
        }
    }

    pub(crate) fn note(&self, key: &str, status: u16, why: Why) {
        self.reasons.borrow_mut().insert(self.hashes.hash_one(key), Reason { why, status, at: Instant::now() });
    }

    /// Removes the reason of a page that was cached.
    pub(crate) fn forget(&self, key: &str) {
        self.reasons.borrow_mut().remove(&self.hashes.hash_one(key));
    }

    pub(crate) fn told(&self, key: &str) -> Option<UnkeptSnapshot> {
        let reasons = self.reasons.borrow();
        let Reason { why, status, at } = reasons.get(&self.hashes.hash_one(key))?;
        Some(UnkeptSnapshot { why: why.text(), status: *status, age_s: at.elapsed().as_secs() })
    }
}
