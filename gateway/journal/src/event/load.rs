//! Words for what the gateway does when there is more to do than workers: steps down from a render, and alarms.

/// What a request for a worker was given, from the best downwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Step {
    /// A worker renders it.
    Render,
    /// A kept page that is stale.
    Stale,
    /// A page that the browser fills.
    Shell,
    /// 503 with `Retry-After`.
    Refuse,
}

impl Step {
    /// Every step, from the best downwards.
    pub const ALL: [Self; 4] = [Self::Render, Self::Stale, Self::Shell, Self::Refuse];

    /// The name in logs, metrics and `status --json`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Render => "render",
            Self::Stale => "stale",
            Self::Shell => "shell",
            Self::Refuse => "refuse",
        }
    }
}

/// Which worker got the request of a client whose session one of them keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Session {
    /// The one that keeps it.
    Kept,
    /// Another, because that one has gone.
    Moved,
    /// Any: there was none yet.
    New,
}

impl Session {
    /// Every word, in the order of their discriminants.
    pub const ALL: [Self; 3] = [Self::Kept, Self::Moved, Self::New];

    /// The name in logs and metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Moved => "moved",
            Self::New => "new",
        }
    }
}

/// What the page cache made of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum CacheUse {
    /// It got a page that is kept, and fresh.
    Hit,
    /// It got one that is kept, and stale.
    Stale,
    /// It got one while that was rendered for another request.
    Joined,
    /// A page was rendered for it.
    Miss,
    /// It went by the cache.
    Bypass,
}

impl CacheUse {
    /// Every word, in the order of their discriminants.
    pub const ALL: [Self; 5] = [Self::Hit, Self::Stale, Self::Joined, Self::Miss, Self::Bypass];

    /// The name in logs and metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hit => "hit",
            Self::Stale => "stale",
            Self::Joined => "joined",
            Self::Miss => "miss",
            Self::Bypass => "bypass",
        }
    }
}

/// What came of an include of a composed page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum IncludeEnd {
    /// It is in the page.
    Sent,
    /// Its `alt` is.
    Alt,
    /// It came too late, and nothing is in its place.
    Late,
    /// It had an error, no end, or too many bytes.
    Failed,
    /// It was not asked for: a bound, or another host.
    Refused,
    /// Its tag could not be read.
    Malformed,
}

impl IncludeEnd {
    /// Every word, in the order of their discriminants.
    pub const ALL: [Self; 6] = [Self::Sent, Self::Alt, Self::Late, Self::Failed, Self::Refused, Self::Malformed];

    /// The name in metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Alt => "alt",
            Self::Late => "late",
            Self::Failed => "failed",
            Self::Refused => "refused",
            Self::Malformed => "malformed",
        }
    }
}

/// What came of the includes of one page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Includes {
    /// Those that it asked for.
    pub asked: u32,
    /// Those of them that left their `alt`, or nothing.
    pub failed: u32,
}

/// What an operator is alarmed about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Alarm {
    /// The queue does not become empty, or what leaves it has waited for long: too few workers.
    SteadyQueue,
    /// A class costs much more than it used to.
    CostDrift,
    /// A worker held more than it may (I1).
    Overlap,
    /// Workers sleep with the requests that they hold while others queue.
    WorkersAsleep,
    /// A worker's main thread ran for longer than a second without a break.
    LongRun,
    /// The route tables of a worker grow while it serves.
    RoutesGrow,
    /// Something grows steadily with the age of workers.
    GrowsWithAge,
    /// A certificate is about to expire, or a name gets none.
    Certificates,
    /// A worker has ended unexpectedly.
    Crash,
    /// Requests are answered without a worker, because workers died with them.
    Quarantine,
}

impl Alarm {
    /// Every alarm, in the order of their discriminants.
    pub const ALL: [Self; 10] = [
        Self::SteadyQueue,
        Self::CostDrift,
        Self::Overlap,
        Self::WorkersAsleep,
        Self::LongRun,
        Self::RoutesGrow,
        Self::GrowsWithAge,
        Self::Certificates,
        Self::Crash,
        Self::Quarantine,
    ];

    /// The name in logs, metrics and `status --json`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SteadyQueue => "steady_queue",
            Self::CostDrift => "cost_drift",
            Self::Overlap => "overlap",
            Self::WorkersAsleep => "workers_asleep",
            Self::LongRun => "long_run",
            Self::RoutesGrow => "routes_grow",
            Self::GrowsWithAge => "grows_with_age",
            Self::Certificates => "certificates",
            Self::Crash => "crash",
            Self::Quarantine => "quarantine",
        }
    }
}
