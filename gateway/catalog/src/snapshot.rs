//! Answer of `sluice status --json`: the gateway's state at one moment, as plain data. These types cross the control
//! socket, so fields are only ever added. They must not know who fills or draws them.
//!
//! These types cross the control socket, so fields are only ever added. They must not know who fills or draws them.

mod cache;
mod calls;
mod deploy;
mod graph;
mod machine;
mod purge;
mod render;
mod runs;
mod trial;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use cache::{CacheSnapshot, DiskCacheSnapshot, KeptSnapshot, SharedCacheSnapshot, UnkeptSnapshot};
pub use calls::CalledHostSnapshot;
pub use deploy::{ClassChangeSnapshot, DeploySnapshot};
pub use graph::{GraphPathSnapshot, GraphRouteSnapshot, GraphSnapshot};
pub use machine::{LatelySnapshot, MachineSnapshot};
pub use purge::Purge;
pub use render::{
    ArmSnapshot, ComponentSnapshot, DialSnapshot, EffectsSnapshot, ExperimentSnapshot, HoleSnapshot, SettingSnapshot,
    VitalsSnapshot,
};
pub use runs::{LongRunSnapshot, RUN_BOUNDS_US, RUN_BUCKETS, RUN_CLASSES, RUN_CLASSES_US, RunsSnapshot};
pub use trial::{FindingSnapshot, PageClassSnapshot, PagesSnapshot, TrialSnapshot, TrialState};

/// State of the gateway at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Version of the `sluice` binary.
    pub version: String,
    /// Process id of the gateway.
    pub pid: u32,
    /// State of the gateway.
    pub state: GatewayState,
    /// Address at which clients reach the app, for example `http://localhost:3000`.
    pub url: String,
    /// Address at which metrics are served; `None` when the admin address is off.
    pub admin_url: Option<String>,
    /// Directory with this instance's sockets.
    pub run_dir: String,
    /// Seconds since the gateway started.
    pub uptime_s: f64,
    /// Counts versions of the app, from 1.
    pub generation: u64,
    /// The latest reload; `None` before the first.
    #[serde(default)]
    pub reload: Option<ReloadSnapshot>,
    /// Workers, in the order of their positions in the pool.
    pub workers: Vec<WorkerSnapshot>,
    /// Desired number of workers, without those of the long lane; `None` from a gateway that does not report it.
    #[serde(default)]
    pub workers_wanted: Option<u32>,
    /// Resident memory above which a worker is replaced (`recycle.memory_bytes_max`), bytes; `None` for no limit.
    #[serde(default)]
    pub worker_memory_bytes_max: Option<u64>,
    /// CPU and memory of the machine; `None` until they are first read.
    #[serde(default)]
    pub machine: Option<MachineSnapshot>,
    /// Requests of the last minute, by outcome.
    #[serde(default)]
    pub lately: LatelySnapshot,
    /// Workers that start after another one has booted; `None` if there are none.
    #[serde(default)]
    pub boots: Option<BootsSnapshot>,
    /// The one queue.
    pub queue: QueueSnapshot,
    /// Requests since the start, and current ones.
    pub requests: RequestsSnapshot,
    /// Queue wait in milliseconds, over about the last minute, without requests that reached no worker.
    pub queue_wait_ms: Percentiles,
    /// Milliseconds until a request that reached no worker was refused or its client left, over about the last minute.
    #[serde(default)]
    pub unserved_ms: Percentiles,
    /// Service time in milliseconds, over about the last minute.
    pub service_time_ms: Percentiles,
    /// Times that a worker had more requests than slots; any value but 0 is a bug.
    pub overlaps_total: u64,
    /// Client connections open now.
    pub connections: u64,
    /// Upgraded connections and event streams open now.
    pub streams: u64,
    /// Requests in quarantine, because they crashed workers.
    #[serde(default)]
    pub quarantined: u64,
    /// Raised alarms.
    #[serde(default)]
    pub alarms: Vec<AlarmSnapshot>,
    /// Unexpected exits of serving workers, the latest first, at most 5.
    #[serde(default)]
    pub crashes: Vec<CrashSnapshot>,
    /// Certificates, at most 100: missing ones first, then by expiry.
    #[serde(default)]
    pub certificates: Vec<CertificateSnapshot>,
    /// Hosts that answer requests instead of the app.
    #[serde(default)]
    pub upstreams: Vec<UpstreamSnapshot>,
    /// Measurements that grow steadily with the age of workers.
    #[serde(default)]
    pub growing: Vec<GrowthSnapshot>,
    /// Renders by `@sluice/react` since the start; `None` before the first.
    #[serde(default)]
    pub react: Option<ReactSnapshot>,
    /// Caches of `<Cached>` of `@sluice/react`; `None` before their first use.
    #[serde(default)]
    pub component_cache: Option<ComponentCacheSnapshot>,
    /// Share of visitors for whom the server renders (`render.server`).
    #[serde(default)]
    pub dial: DialSnapshot,
    /// Reports of `@sluice/render` and browsers; `None` while there are none.
    #[serde(default)]
    pub effects: Option<EffectsSnapshot>,
    /// Reports of `@sluice/graph`; `None` while there are none.
    #[serde(default)]
    pub graph: Option<GraphSnapshot>,
    /// Hosts that the app calls by HTTP, those with the most time in the last minute first.
    #[serde(default)]
    pub called: Vec<CalledHostSnapshot>,
    /// Page cache; `None` if `cache.enabled` is `false`.
    #[serde(default)]
    pub page_cache: Option<CacheSnapshot>,
    /// Number of requests per worker (`workers.concurrency`), and whether it fits the app.
    #[serde(default)]
    pub concurrency: ConcurrencySnapshot,
    /// Uninterrupted runs of the main threads of all workers since the start, including workers that have exited.
    #[serde(default)]
    pub runs: RunsSnapshot,
    /// Profiles of unusually slow requests, the slowest first.
    #[serde(default)]
    pub tails: Vec<crate::profiles::Tail>,
}

/// Number of requests per worker (`workers.concurrency`), and whether it fits the app.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ConcurrencySnapshot {
    /// `workers.concurrency`: `while-waiting`, or a number.
    pub mode: String,
    /// Share of the time with requests in which the main threads of workers sleep, 0 to 1, over about the last minute; `None`
    /// with too few observations.
    pub asleep: Option<f64>,
    /// Mode that fits, as a sentence; `None` with too few observations.
    pub advice: Option<String>,
}

/// Renders by `@sluice/react` since the start, including workers that have exited.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReactSnapshot {
    /// Requested renders.
    pub renders_total: u64,
    /// Renders that fell back to react-dom, by reason.
    pub fallbacks: BTreeMap<String, u64>,
}

/// Counts of the component caches of all workers since the start, including workers that have exited, and their current
/// contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComponentCacheSnapshot {
    /// Components whose cached HTML was reused.
    pub hits_total: u64,
    /// Components that were rendered because the cache had no matching HTML.
    pub misses_total: u64,
    /// Evicted entries.
    pub evictions_total: u64,
    /// Entries in running workers.
    pub entries: u64,
    /// Approximate memory of the entries, bytes.
    pub bytes: u64,
    /// Limit of the memory of the entries, sum of all workers.
    pub bytes_max: u64,
}

/// A raised alarm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AlarmSnapshot {
    /// Name of the alarm, as in the log's `alarm`.
    pub alarm: String,
    /// Class that the alarm is about, if it is about one class.
    pub class: Option<String>,
    /// Observation and remedy.
    pub text: String,
    /// Seconds since it was raised.
    pub age_s: f64,
}

/// An unexpected exit of a serving worker.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CrashSnapshot {
    /// Time, Unix time in milliseconds.
    pub at_unix_ms: u64,
    /// Id of the worker.
    pub worker: u64,
    /// Exit status in words.
    pub status: String,
    /// First line of the exception that crashed it; `None` if there was none, or it is unknown.
    pub exception: Option<String>,
    /// Number of requests in the worker.
    pub held: u64,
    /// `X-Request-Id` of the request during which it exited; `None` if the worker held none, or several and the cause is
    /// unknown.
    pub request: Option<String>,
    /// Method of that request.
    pub method: Option<String>,
    /// Path of that request, without the query.
    pub path: Option<String>,
    /// Class of that request.
    pub class: Option<String>,
    /// Function, file, line and column of the run in which it exited; `None` if unknown.
    pub place: Option<String>,
    /// Evidence of the crash, in words: the file of its diagnostic report, the path of its core dump, or the reason why there
    /// is none.
    pub evidence: Option<String>,
}

/// A certificate for clients, or a name for which a CA issues one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CertificateSnapshot {
    /// First name in the certificate, else its file.
    pub name: String,
    /// Config key of the certificate: `server.tls_cert`, `server.certificates` or `acme.names`.
    pub key: String,
    /// File of the certificate; `None` if the CA has not issued it yet.
    pub file: Option<String>,
    /// Seconds until it expires, negative if it has expired; `None` without a certificate.
    pub expires_in_s: Option<f64>,
    /// Seconds until the next request to the CA; `None` for your own files.
    pub asked_in_s: Option<f64>,
    /// Reason why the CA issued none at the last request; `None` if it did.
    pub problem: Option<String>,
}

/// A host that answers requests instead of the app.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UpstreamSnapshot {
    /// Name in `upstreams.routes`.
    pub name: String,
    /// Addresses of its targets.
    pub targets: Vec<TargetSnapshot>,
    /// Requests that wait for a free connection now.
    pub waiting: u64,
    /// Requests that ended.
    pub requests_total: u64,
    /// Requests that got an error of the gateway.
    pub failures_total: u64,
    /// Requests retried on another target.
    pub retries_total: u64,
}

/// An address of an upstream's target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetSnapshot {
    /// Host and port, as in the config.
    pub target: String,
    /// Address.
    pub address: String,
    /// `healthy`, `ejected` after failed requests, or `down` by the health check.
    pub health: String,
    /// The target gets requests only while no other target is healthy.
    pub is_backup: bool,
    /// Current requests.
    pub in_flight: u64,
    /// Connections without a request.
    pub idle: u64,
    /// Attempts to send a request to it.
    pub requests_total: u64,
    /// Failed attempts.
    pub failures_total: u64,
    /// Last fault of the address; `None` if it had none.
    pub fault: Option<String>,
}

/// Measurement that grows with the age of workers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GrowthSnapshot {
    /// `service_time`, `cpu_time` or `outside_handler` of a class; `resident_memory`, `heap` or `open_files` of workers.
    pub what: String,
    /// The class, if it is about one.
    pub class: Option<String>,
    /// Unit of the figures: `ms`, `bytes` or `files`.
    pub unit: String,
    /// Value at the minimum age that counts.
    pub from: f64,
    /// Value at the maximum age.
    pub to: f64,
    /// Growth per hour.
    pub per_hour: f64,
    /// Time between those two ages, seconds.
    pub over_s: u64,
    /// First of the consecutive versions of the app in which it grows.
    pub since_generation: u64,
}

/// A request in quarantine, because it crashed workers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuarantinedRequest {
    /// Id for its release.
    pub id: String,
    /// Method.
    pub method: String,
    /// Path and query, cut after 200 characters.
    pub target: String,
    /// Number of workers that it crashed.
    pub deaths: u32,
    /// Names of headers, or `(body)`, that occur in requests that crashed workers, and in no answered request for the page.
    #[serde(default)]
    pub told_by: Vec<String>,
    /// Whether one request at a time is accepted, because others got answers from the page and nothing distinguishes
    /// them.
    #[serde(default)]
    pub probed: bool,
    /// Milliseconds that it has been in quarantine.
    pub for_ms: u64,
    /// Milliseconds until its quarantine ends.
    pub expires_in_ms: u64,
}

/// Costs of requests in two periods.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReportSnapshot {
    /// Costs in the first period; `None` without a history.
    pub before: Option<ReportSide>,
    /// Costs in the second period; `None` if no request has ended.
    pub after: Option<ReportSide>,
    /// Beginning of the history, Unix time in milliseconds.
    pub kept_since_ms: Option<u64>,
    /// Change of CPU time for the same mix of requests; `None` with too few requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<FindingSnapshot>,
}

/// Costs of requests in a period.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReportSide {
    /// End of the first of them, Unix time in milliseconds.
    pub from_ms: u64,
    /// End of the last of them, Unix time in milliseconds.
    pub until_ms: u64,
    /// Versions of the app that answered the requests.
    pub generations: Vec<u64>,
    /// All of them.
    pub all: SpentSnapshot,
    /// Classes, those with most CPU time first.
    pub classes: Vec<SpentSnapshot>,
}

/// Costs of a class's requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpentSnapshot {
    /// Name; empty for all classes together.
    pub class: String,
    /// Requests that workers have ended.
    pub requests: u64,
    /// CPU time, seconds.
    pub cpu_s: f64,
    /// CPU time of a thousand requests, seconds; `None` if unknown.
    pub cpu_s_per_1000: Option<f64>,
    /// Resident memory of workers times how long they held it, for a thousand requests: gigabytes times seconds. Time in which
    /// workers wait for requests is shared among them as well, by the time that they took in workers.
    pub memory_gb_s_per_1000: f64,
    /// Median time in a worker, milliseconds.
    pub service_p50_ms: f64,
    /// 95th percentile of that.
    pub service_p95_ms: f64,
    /// 99th percentile of that.
    pub service_p99_ms: f64,
    /// Uninterrupted runs of 1 to 10 ms, 10 to 100 ms, 100 ms to 1 s, and longer.
    #[serde(default)]
    pub runs: Vec<u64>,
    /// Parts of the span in the order of time, the same ones for all classes of it: requests with known CPU time, and that time in
    /// microseconds. Empty for all classes together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<[u64; 2]>,
}

/// Costs of requests, by class.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClassesSnapshot {
    /// Cost from which on classes are long; `None` while all requests are alike.
    pub cut_ms: Option<f64>,
    /// Reason why no class is long, in a sentence; `None` while some are.
    #[serde(default)]
    pub uncut: Option<String>,
    /// Classes, those that take most CPU time first.
    pub classes: Vec<ClassSnapshot>,
}

/// A class: requests that are expected to cost alike. Costs are CPU time in a worker, of the latest requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassSnapshot {
    /// Name.
    pub class: String,
    /// Requests since it was first seen.
    pub requests: u64,
    /// Expected cost of the next request, milliseconds.
    pub expected_ms: f64,
    /// Mean of what was reported, milliseconds; `None` before the first report.
    pub cost_mean_ms: Option<f64>,
    /// Median, milliseconds.
    pub cost_p50_ms: Option<f64>,
    /// 95th percentile, milliseconds.
    pub cost_p95_ms: Option<f64>,
    /// 99th percentile, milliseconds.
    #[serde(default)]
    pub cost_p99_ms: Option<f64>,
    /// Mean time before a worker took the request, milliseconds.
    pub queue_wait_ms: f64,
    /// Mean time in a worker, milliseconds.
    pub service_time_ms: f64,
    /// Mean time in the handler of the route, milliseconds; absent where the router does not show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handler_ms: Option<f64>,
    /// Part of the CPU time of all classes since the start, from 0 to 1.
    pub cpu_share: f64,
    /// Whether it has had enough reports to go by them alone.
    pub known: bool,
    /// Whether it is kept away from what is short.
    pub long: bool,
    /// Latest cost as a multiple of the long-term mean; `None` before there is one.
    pub drift: Option<f64>,
    /// The class that this is a part of; absent for most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split_from: Option<String>,
}

/// State of the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GatewayState {
    /// No worker has been ready yet.
    Starting,
    /// Requests are taken.
    Serving,
    /// No new connections; accepted requests are being finished.
    Draining,
}

/// A reload, under way or over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReloadSnapshot {
    /// The generation that it brought, or was to bring.
    pub generation: u64,
    /// State of the reload.
    pub state: ReloadState,
    /// Reason why it was given up, if it was.
    pub reason: Option<String>,
    /// Seconds since it was asked for.
    pub age_s: f64,
    /// Trial of the version, if it was to be tried first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<TrialSnapshot>,
}

/// State of a reload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReloadState {
    /// Workers are being replaced.
    Running,
    /// All of them were.
    Done,
    /// The new generation was given up.
    Abandoned,
}

impl ReloadState {
    /// The word used in JSON and on the terminal.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Done => "done",
            Self::Abandoned => "abandoned",
        }
    }
}

/// One worker.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkerSnapshot {
    /// Unique id, never reused while the gateway lives.
    pub id: u64,
    /// Place in the pool, from 0; a replacement takes over the place.
    pub instance: u32,
    /// Process id, when a process runs.
    pub pid: Option<u32>,
    /// Version of the app that it runs; 0 where no process runs.
    #[serde(default)]
    pub generation: u64,
    /// Stage of the worker's life.
    pub state: WorkerState,
    /// Seconds since its process started.
    pub age_s: f64,
    /// Resident memory, once reported.
    pub rss_bytes: Option<u64>,
    /// JavaScript heap in use, once reported.
    #[serde(default)]
    pub heap_used_bytes: Option<u64>,
    /// Requests that it has answered.
    pub requests_total: u64,
    /// Times that the process in this position has been started again.
    pub restarts_total: u64,
    /// Requests that it holds now; at most one in strict mode.
    pub current: Vec<CurrentRequest>,
    /// CPU milliseconds used so far, once reported.
    pub cpu_ms_total: Option<f64>,
    /// CPU time over the last seconds, in cores; `None` until it is known.
    #[serde(default)]
    pub cpu: Option<f64>,
    /// Share of time that its event loop was busy, 0 to 1, once reported.
    #[serde(default)]
    pub event_loop_utilization: Option<f64>,
    /// Longest delay of its event loop within the last second, milliseconds, once reported.
    #[serde(default)]
    pub event_loop_delay_ms: Option<f64>,
    /// Milliseconds since its last sign of life, of which there are four a second; `None` before the first.
    #[serde(default)]
    pub silent_ms: Option<u64>,
    /// Upgraded connections and event streams it holds.
    pub streams: u64,
    /// True if its operating-system priority was lowered, because its event loop was blocked.
    #[serde(default)]
    pub lowered: bool,
    /// Requests that it is for; `None` if no process runs.
    #[serde(default)]
    pub lane: Option<Lane>,
    /// Uninterrupted runs of its main thread, without `longest`; `None` until it tells of them.
    #[serde(default)]
    pub runs: Option<RunsSnapshot>,
}

/// Workers that share an operating-system priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lane {
    /// Lane of `workers.count`.
    Short,
    /// Started for long requests, beyond `workers.count`.
    Long,
}

impl Lane {
    /// The name in status and log.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Short => "short",
            Self::Long => "long",
        }
    }
}

/// Stage of a worker's life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WorkerState {
    /// The process runs but does not listen yet.
    #[default]
    Starting,
    /// Worker that listens and is being warmed.
    Warming,
    /// Worker with a free slot and nothing to do.
    Ready,
    /// Worker with at least one request.
    Busy,
    /// Worker that gets nothing while a heap snapshot blocks it.
    Paused,
    /// Worker that gets nothing new and is about to exit.
    Leaving,
    /// Worker that has exited; the next start waits.
    Backoff,
}

/// A request that a worker holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CurrentRequest {
    /// The request id of the access log.
    pub id: String,
    /// Requests expected to cost alike.
    pub class: String,
    /// Milliseconds since it was handed to the worker.
    pub for_ms: u64,
    /// Method.
    #[serde(default)]
    pub method: String,
    /// Path without query, cut after 200 characters.
    #[serde(default)]
    pub path: String,
}

/// Workers that are not started yet, because another one boots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BootsSnapshot {
    /// Number of workers that wait.
    pub waiting: u64,
    /// The worker whose boot they wait for.
    pub awaited: u64,
}

/// The one queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QueueSnapshot {
    /// Requests waiting.
    pub length: u64,
    /// Bound from the config.
    pub length_max: u64,
    /// Wait of the request at the head so far; 0 when empty.
    pub oldest_wait_ms: f64,
    /// Wait that is expected of a request that arrives now.
    pub predicted_wait_ms: Option<f64>,
}

/// Requests since the start, and current ones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RequestsSnapshot {
    /// Answered by a worker.
    pub answered_total: u64,
    /// Begun by workers now.
    pub in_service: u64,
    /// Handed to workers ahead of time and not begun now: neither queued nor in service.
    #[serde(default)]
    pub handed: u64,
    /// Handed to workers ahead of time since the start.
    #[serde(default)]
    pub handed_total: u64,
    /// Requests of them that were taken back unseen by the app.
    #[serde(default)]
    pub taken_back_total: u64,
    /// Rate of answers over the last seconds.
    pub per_second: f64,
    /// Refused by the gateway.
    pub refused_total: u64,
    /// Count by outcome, with the names of the access log's `outcome`.
    pub outcomes: BTreeMap<String, u64>,
    /// Count by error code.
    #[serde(default)]
    pub errors: BTreeMap<String, u64>,
    /// Count by what requests for workers were given, with the names of the access log's `step`.
    #[serde(default)]
    pub steps: BTreeMap<String, u64>,
}

/// Three quantiles; `None` while nothing was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Percentiles {
    /// Half are at or below.
    pub p50: Option<f64>,
    /// 95 of 100 are at or below.
    pub p95: Option<f64>,
    /// 99 of 100 are at or below.
    pub p99: Option<f64>,
}

impl GatewayState {
    /// The word used in JSON, logs and on the terminal.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Serving => "serving",
            Self::Draining => "draining",
        }
    }
}

impl WorkerState {
    /// Every state, in the order of a life; the values of the metric label `state`.
    pub const ALL: [Self; 7] =
        [Self::Starting, Self::Warming, Self::Ready, Self::Busy, Self::Paused, Self::Leaving, Self::Backoff];

    /// The word used in JSON, logs, metrics and on the terminal.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Warming => "warming",
            Self::Ready => "ready",
            Self::Busy => "busy",
            Self::Paused => "paused",
            Self::Leaving => "leaving",
            Self::Backoff => "backoff",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_written_with_the_same_word_in_json_and_in_text() {
        for state in WorkerState::ALL {
            let json = serde_json::to_value(state).unwrap();
            assert_eq!(json, state.as_str());
        }
        for state in [GatewayState::Starting, GatewayState::Serving, GatewayState::Draining] {
            assert_eq!(serde_json::to_value(state).unwrap(), state.as_str());
        }
    }
}
