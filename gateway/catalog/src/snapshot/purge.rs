//! Selection of pages to drop from the page cache.

use serde::{Deserialize, Serialize};

/// Selection of a purge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purge {
    /// Everything.
    All,
    /// The page of this URL, `https://host/path?query`, in all variants.
    Url(String),
    /// All pages whose URL begins so.
    Prefix(String),
    /// All that the app gave this tag.
    Tag(String),
}
