//! The operator's side of the gateway: the control socket that the command line talks to, the metrics address, and that of agent checks.
//!
//! It asks an [`Operator`] and the journal, and must not know how either comes by its answers. Everything that is sent
//! to it is input, so every line, head, connection and wait has a bound. Nobody who can reach it can hold up the data
//! plane that it shares a thread with.

mod access;
mod actions;
mod agent;
mod cache;
mod control;
mod dashboard_page;
pub mod descriptors;
mod host;
mod http;
mod live;
mod metrics;
mod packed;
pub mod protocol;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sluice_catalog::profiles::{ProfileFile, Wish};
use sluice_catalog::refusals::{
    DialError, FlameError, ProfileError, ReloadError, ScaleError, TrialError, UpgradeError,
};
use sluice_catalog::snapshot::{
    CacheSnapshot, ClassesSnapshot, DeploySnapshot, DialSnapshot, KeptSnapshot, Purge, QuarantinedRequest,
    ReportSnapshot, Snapshot, TrialSnapshot, UnkeptSnapshot,
};
use sluice_journal::Page;
use tokio::sync::{mpsc, oneshot};

use protocol::{TrialAction, TrialWish};

pub use access::Token;
pub use agent::{Agent, Standing};
pub use control::ControlSocket;
pub use http::{MetricsHttp, Secret};
pub use live::Live;
pub use metrics::page;

/// Questions and commands of the operator's side to the gateway.
pub trait Operator {
    /// State of the gateway now.
    fn snapshot(&self) -> Snapshot;
    /// Begin to leave: stop accepting, finish, go. Returns at once; a second call leaves at once.
    fn request_stop(&self);
    /// Want this many workers from now on. `Ok` holds the number wanted before.
    ///
    /// # Errors
    /// If that many cannot be had.
    fn scale(&self, workers: u32) -> Result<u32, ScaleError>;
    /// Render on the server for other shares of visitors, until the next reload; with `replaces`, entries that are not named go.
    ///
    /// # Errors
    /// If an entry cannot be used; then none is.
    fn turn(&self, server: &BTreeMap<String, String>, replaces: bool) -> Result<DialSnapshot, DialError>;
    /// Put a new version of the app in place of the present one. Returns at once; how it goes comes through the receiver,
    /// [`Progress::Ended`] last. Who drops the receiver stops nothing.
    /// With a trial, the version takes over when it has passed.
    fn reload(&self, trial: Option<TrialWish>) -> mpsc::Receiver<Progress>;
    /// Decides about the version on trial. The receiver gets the latest trial as it is then, or an error if there is nothing to decide.
    fn trial(&self, action: Option<TrialAction>) -> oneshot::Receiver<Result<Option<TrialSnapshot>, TrialError>>;
    /// Costs of requests, by class.
    fn classes(&self) -> ClassesSnapshot;
    /// Changes since the latest version of the app came; `None` while only one has served.
    fn deploy(&self) -> Option<DeploySnapshot>;
    /// Time and CPU that requests took since this version of the app or so many milliseconds ago, and before.
    fn report(&self, generation: Option<u64>, ago_ms: Option<u64>) -> ReportSnapshot;
    /// The page cache, and what it keeps of the page with this URL.
    fn cache(&self, url: Option<&str>) -> (CacheSnapshot, Vec<KeptSnapshot>);
    /// Reason why the latest answer for the page with this URL was not stored, if it was not.
    fn unkept(&self, url: &str) -> Option<UnkeptSnapshot>;
    /// Drops what is meant from the page cache, or with `is_soft` lets it count as stale. Nobody gets it from now on; the receiver gets
    /// how many variants of pages that were, once all is done.
    fn purge(&self, purge: &Purge, is_soft: bool) -> oneshot::Receiver<u64>;
    /// Requests that are answered without a worker, because workers died with them.
    fn quarantined(&self) -> Vec<QuarantinedRequest>;
    /// Releases the request with this id, or `all`. Returns how many there were.
    fn release_quarantined(&self, which: &str) -> u64;
    /// Start a new gateway that takes this one's place. The receiver gets its process id once it serves, or what was in
    /// the way; then this gateway continues as before.
    fn upgrade(&self, wanted: Upgrade) -> oneshot::Receiver<Result<u32, UpgradeError>>;
    /// Lets workers write profiles. Dropping the receiver ends that, and nothing is left.
    fn profile(&self, wish: Wish) -> oneshot::Receiver<Result<Vec<ProfileFile>, ProfileError>>;
    /// Draws a flame graph: JSON as `packages/flame` reads it. Who drops the receiver ends that, and nothing is left.
    fn flame(&self, of: FlameOf) -> oneshot::Receiver<Result<Vec<u8>, FlameError>>;
    /// The gateway's latest seconds.
    fn live(&self) -> &Live;
    /// Whether work gets done.
    fn readiness(&self) -> Readiness;
    /// Whether a balancer should send requests, and how many.
    fn standing(&self) -> Standing;
    /// Writes the metrics that neither the snapshot nor the journal knows.
    fn write_metrics(&self, _page: &mut Page) {}
}

/// Profile of which a flame graph is drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FlameOf {
    /// Profiles that workers are to take now.
    Workers(Wish),
    /// The kept profile of the slow request with this number.
    Tail(u64),
}

/// News of a reload for the client that asked for it.
#[derive(Debug, Clone)]
pub enum Progress {
    /// Progress; a sentence for people.
    Line(String),
    /// End of the reload.
    Ended(Result<(), Arc<ReloadError>>),
}

/// Program and settings that an upgrade starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upgrade {
    /// The program; the one that runs, by its path, unless said.
    pub binary: Option<PathBuf>,
    /// The directory to start it in; the one that the gateway is in unless said.
    pub cwd: Option<PathBuf>,
    /// Longest time until its workers are ready.
    pub timeout: Duration,
}

/// Whether the gateway should be sent requests, and why not.
#[derive(Debug, Clone, PartialEq)]
pub struct Readiness {
    /// Send requests here.
    pub ready: bool,
    /// One word or sentence for people.
    pub reason: String,
    /// Workers that listen.
    pub workers_ready: u32,
    /// Requests that wait.
    pub queue_length: u64,
    /// Milliseconds since a worker last finished a request; `None` if none has yet.
    pub last_progress_ms: Option<u64>,
}

#[cfg(test)]
mod tests_support;
