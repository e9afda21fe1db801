//! Messages of the admin address to the dashboard: events of `GET /events`, and `GET /history`. `sluice generate` writes
//! the page's TypeScript types from this file and from [`crate::snapshot`]. It must not know who fills or draws them.
//!
//! `sluice generate` writes the page's TypeScript types from this file and from [`crate::snapshot`]. It must not know who
//! fills or draws them.

use serde::{Deserialize, Serialize};

use crate::snapshot::{ClassesSnapshot, DeploySnapshot, QuarantinedRequest, Snapshot};

/// The first event of a connection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// Start of this gateway's history, Unix time in milliseconds; differs between gateways.
    pub epoch: u64,
    /// Whether the points follow those that the viewer has seen without a gap.
    pub resumed: bool,
    /// Points that the viewer missed, if they are still kept second by second; else nothing, and `GET /history` has
    /// them.
    pub points: Vec<Point>,
    /// Events since the viewer last heard of one, or all that are kept; oldest first.
    pub marks: Vec<Mark>,
    /// The file that holds the token; `None` where the config says the token.
    pub token_file: Option<String>,
}

/// The event of each second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// The gateway's clock, Unix time in milliseconds.
    pub now_ms: u64,
    /// State of the gateway now.
    pub status: Snapshot,
    /// The last second.
    pub point: Point,
    /// Events within it.
    pub marks: Vec<Mark>,
}

/// The event of every few seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Costs {
    /// Costs of requests, by class.
    pub classes: ClassesSnapshot,
    /// Requests that are answered without a worker.
    pub quarantined: Vec<QuarantinedRequest>,
    /// Changes since the latest version of the app came; `None` while only one has served.
    #[serde(default)]
    pub deploy: Option<DeploySnapshot>,
}

/// Figures of one span of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// End of the span, Unix time in milliseconds.
    pub at_ms: u64,
    /// Requests that workers answered, per second.
    pub answered: f32,
    /// Requests that the gateway refused, per second.
    pub refused: f32,
    /// Answers with a status of 500 or above, per second.
    pub failed: f32,
    /// Requests that waited, the most at the end of any second.
    pub queue_length: f32,
    /// Requests in workers, mean.
    pub in_service: f32,
    /// Workers that took requests, at the end.
    pub workers: u32,
    /// CPU time of all workers, in cores.
    pub cpu: f32,
    /// CPU time of the gateway, in cores.
    pub gateway_cpu: f32,
    /// Resident memory of all workers at the end, bytes.
    pub rss_bytes: u64,
    /// Queue wait in milliseconds: 50th, 95th, 99th percentile and maximum; `None` where no worker took a request.
    pub queue_wait_ms: Option<[f32; 4]>,
    /// Service time likewise.
    pub service_time_ms: Option<[f32; 4]>,
    /// Uninterrupted runs of the workers' main threads that were reported in the span, by length; see `runs` of the snapshot.
    pub runs: Vec<u32>,
}

/// The answer to `GET /history`: a list for each field of [`Point`], oldest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Columns {
    /// Start of the history, as in [`Hello`].
    pub epoch: u64,
    /// Length of each span, seconds.
    pub span_s: u32,
    /// Ends of the spans, as in [`Point`]; all fields that follow are as there, too.
    pub at_ms: Vec<u64>,
    /// Requests answered.
    pub answered: Vec<f32>,
    /// Requests refused.
    pub refused: Vec<f32>,
    /// Answers of 500 or above.
    pub failed: Vec<f32>,
    /// Requests that waited.
    pub queue_length: Vec<f32>,
    /// Requests in workers.
    pub in_service: Vec<f32>,
    /// Workers.
    pub workers: Vec<u32>,
    /// CPU of workers.
    pub cpu: Vec<f32>,
    /// CPU of the gateway.
    pub gateway_cpu: Vec<f32>,
    /// Memory.
    pub rss_bytes: Vec<u64>,
    /// Queue wait.
    pub queue_wait_ms: Vec<Option<[f32; 4]>>,
    /// Service time.
    pub service_time_ms: Vec<Option<[f32; 4]>>,
    /// Runs.
    pub runs: Vec<Vec<u32>>,
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// Counts from 1 in one gateway.
    pub id: u64,
    /// Time, Unix time in milliseconds.
    pub at_ms: u64,
    /// Subject of the event.
    pub kind: MarkKind,
    /// The `event` of its line in the log.
    pub event: String,
    /// Importance of the event.
    pub level: MarkLevel,
    /// The worker that it is about.
    pub worker: Option<u64>,
    /// Description in a sentence, whose subject is that worker, if there is one.
    pub text: String,
    /// More, in lines: a stack, or the end of an app's stderr.
    pub detail: Option<String>,
}

/// Subject of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MarkKind {
    /// A new version of the app, or the end of one.
    Deploy,
    /// A worker that died, or did not start.
    Crash,
    /// A worker whose event loop is blocked.
    Stuck,
    /// A request that ends workers.
    Quarantine,
    /// Problem that lasts.
    Alarm,
    /// A worker that comes or goes as it should.
    Worker,
    /// Anything else.
    Note,
}

/// Importance of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MarkLevel {
    /// Normal life.
    Info,
    /// Mark that an operator should look at some day.
    Warn,
    /// Mark that an operator should look at now.
    Error,
}

impl Columns {
    /// Adds a point at the end.
    pub fn push(&mut self, point: &Point) {
        self.at_ms.push(point.at_ms);
        self.answered.push(point.answered);
        self.refused.push(point.refused);
        self.failed.push(point.failed);
        self.queue_length.push(point.queue_length);
        self.in_service.push(point.in_service);
        self.workers.push(point.workers);
        self.cpu.push(point.cpu);
        self.gateway_cpu.push(point.gateway_cpu);
        self.rss_bytes.push(point.rss_bytes);
        self.queue_wait_ms.push(point.queue_wait_ms);
        self.service_time_ms.push(point.service_time_ms);
        self.runs.push(point.runs.clone());
    }
}
