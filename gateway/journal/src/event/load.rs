//! Words for overload: steps down from a render, and alarms.

/// Step that a request for a worker was served at, from the best downwards.
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
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Render => "render",
            Self::Stale => "stale",
            Self::Shell => "shell",
            Self::Refuse => "refuse",
        }
    }
}

/// Relation between the worker that got a request and its client's session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Session {
    /// The worker that keeps the session.
    Kept,
    /// Another worker, because the one that kept the session is gone.
    Moved,
    /// Any worker: there was no session yet.
    New,
}

impl Session {
    /// Every word, in the order of their discriminants.
    pub const ALL: [Self; 3] = [Self::Kept, Self::Moved, Self::New];

    /// The name in logs and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Moved => "moved",
            Self::New => "new",
        }
    }
}

/// Result of the page cache for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum CacheUse {
    /// Answered with a fresh cached page.
    Hit,
    /// Answered with a stale cached page.
    Stale,
    /// Answered with a page that was being rendered for another request.
    Joined,
    /// A page was rendered for it.
    Miss,
    /// The request bypassed the cache.
    Bypass,
}

impl CacheUse {
    /// Every word, in the order of their discriminants.
    pub const ALL: [Self; 5] = [Self::Hit, Self::Stale, Self::Joined, Self::Miss, Self::Bypass];

    /// The name in logs and metrics.
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

/// Result of an include of a composed page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum IncludeEnd {
    /// The include is in the page.
    Sent,
    /// The include's `alt` is in the page.
    Alt,
    /// The include was too late, and nothing is in its place.
    Late,
    /// The include had an error, no end, or too many bytes.
    Failed,
    /// The include was not requested: a bound, or another host.
    Refused,
    /// The tag could not be read.
    Malformed,
}

impl IncludeEnd {
    /// Every word, in the order of their discriminants.
    pub const ALL: [Self; 6] = [Self::Sent, Self::Alt, Self::Late, Self::Failed, Self::Refused, Self::Malformed];

    /// The name in metrics.
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

/// Results of the includes of one page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Includes {
    /// Includes that the page requested.
    pub asked: u32,
    /// Includes that were replaced by their `alt` or by nothing.
    pub failed: u32,
}

/// Kind of an alarm.
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
    /// Memory, open files or the cost of requests grow steadily with the age of workers.
    GrowsWithAge,
    /// A certificate is about to expire, or a name gets none.
    Certificates,
    /// A worker has ended unexpectedly.
    Crash,
    /// Requests are answered without a worker, because workers died with them.
    Quarantine,
    /// A component often leaves a hole in pages.
    Holes,
    /// Nothing can be kept in the state directory.
    StateDir,
}

impl Alarm {
    /// Every alarm, in the order of their discriminants.
    pub const ALL: [Self; 12] = [
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
        Self::Holes,
        Self::StateDir,
    ];

    /// The name in logs, metrics and `status --json`.
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
            Self::Holes => "holes",
            Self::StateDir => "state_dir",
        }
    }
}
