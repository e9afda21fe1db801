//! Sources of the cache's answers, and how they are told to the client and in the log.

use sluice_cache::Reuse;
use sluice_journal::CacheUse;
use sluice_message::Fields;

/// Source of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A cached page that is fresh.
    Hit,
    /// A fresh page from disk.
    Disk,
    /// A fresh page that another gateway has stored.
    Shared,
    /// A cached page that is stale, while a new one is on its way.
    Stale,
    /// A cached page that is stale, as no other is available.
    StaleIfError,
    /// A stale page of which the app says that it has not changed.
    Revalidated { is_stored: bool },
    /// A page that was rendered for this client, and that others may get. Whether it is cached is often not known
    /// before its end.
    Miss { is_stored: bool },
    /// A page that was rendered for another client, which had asked first.
    Joined,
}

impl Source {
    pub(crate) fn as_use(self) -> CacheUse {
        match self {
            Source::Hit | Source::Disk | Source::Shared => CacheUse::Hit,
            Source::Stale | Source::StaleIfError => CacheUse::Stale,
            Source::Miss { .. } | Source::Revalidated { .. } => CacheUse::Miss,
            Source::Joined => CacheUse::Joined,
        }
    }

    /// Adds the cache's status (RFC 9211 §2). It changes the fields in place: a hit should cost no more than it must.
    pub(crate) fn tell(self, reuse: Reuse, fields: &mut Fields) {
        let ttl = match reuse {
            Reuse::Fresh(s) => i64::try_from(s).unwrap_or(i64::MAX),
            Reuse::WhileRevalidating(s) | Reuse::IfError(s) => -i64::try_from(s).unwrap_or(i64::MAX),
            Reuse::Never => 0,
        };
        let mut tell = |value: std::fmt::Arguments<'_>| fields.push_written("Cache-Status", value);
        match self {
            Source::Hit => tell(format_args!("Sluice; hit; ttl={ttl}")),
            Source::Disk => tell(format_args!("Sluice; hit; ttl={ttl}; detail=disk")),
            Source::Shared => tell(format_args!("Sluice; hit; ttl={ttl}; detail=shared")),
            Source::Stale => tell(format_args!("Sluice; hit; ttl={ttl}; detail=revalidating")),
            Source::StaleIfError => tell(format_args!("Sluice; hit; ttl={ttl}; detail=error")),
            Source::Revalidated { is_stored } => {
                tell(format_args!("Sluice; fwd=stale; fwd-status=304; ttl={ttl}{}", stored(is_stored)));
            }
            Source::Miss { is_stored } => tell(format_args!("Sluice; fwd=uri-miss; ttl={ttl}{}", stored(is_stored))),
            Source::Joined => tell(format_args!("Sluice; fwd=uri-miss; ttl={ttl}; collapsed")),
        }
    }
}

fn stored(is_stored: bool) -> &'static str {
    if is_stored { "; stored" } else { "" }
}
