//! What workers say on the control channel. Generated from gateway/catalog by `make generate`; do not edit.

use serde::Deserialize;

/// The fields of all kinds of lines, of which each kind fills its own. Flat, because a tagged enum would make serde look at
/// every line twice, and `done` lines come with every few requests.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
#[allow(clippy::struct_excessive_bools)] // Each is a fact of another kind of line.
pub(crate) struct Line {
    #[serde(rename = "type")]
    pub(crate) kind: Kind,
    pub(crate) worker: u64,
    /// Heads of responses carry the tokens of their requests.
    pub(crate) marks: bool,
    /// Requests may be handed over ahead of time: the pipe for their numbers is open.
    pub(crate) takes_ahead: bool,
    pub(crate) requested: Requested,
    /// It is an HTTPS server, to which the gateway talks in clear.
    pub(crate) tls: bool,
    /// How long it was waited for a server on another port, in vain; null where this one was meant.
    pub(crate) waited_ms: Option<u64>,
    /// Servers of the app that might have been meant as well.
    pub(crate) others: Vec<Requested>,
    pub(crate) port: Option<u16>,
    pub(crate) host: Option<String>,
    pub(crate) path: Option<String>,
    /// Path of the unix socket where the worker takes its connections.
    pub(crate) socket: String,
    /// Connections there begin with the addresses of their clients.
    pub(crate) preface: bool,
    pub(crate) requests: Vec<Done>,
    /// Requests whose responses have ended and of which nothing else is told: their CPU time was not to be measured.
    pub(crate) ended: Vec<u64>,
    pub(crate) id: u64,
    pub(crate) by: u64,
    /// Whether it has closed.
    pub(crate) closed: bool,
    /// Its `X-Request-Id`.
    pub(crate) request: String,
    pub(crate) method: String,
    pub(crate) target: String,
    /// How many were over.
    pub(crate) bytes: u64,
    /// Such responses before it of which no line told.
    pub(crate) more: u64,
    /// What of it was dropped, as it could have been another's answer.
    pub(crate) dropped_bytes: u64,
    /// All that the app holds waits.
    pub(crate) rests: bool,
    /// Time that it has run by then, and a microsecond for each request that came or went.
    pub(crate) run_us: u64,
    /// Time for which its event loop was active.
    pub(crate) active_us: u64,
    pub(crate) rss_bytes: u64,
    pub(crate) heap_used_bytes: u64,
    /// Utilization of the event loop, from 0 to 1.
    pub(crate) elu: f64,
    /// The longest time for which the event loop was blocked.
    pub(crate) loop_delay_ms_max: f64,
    /// Requests that the app got beyond what it may hold.
    pub(crate) overlaps_total: u64,
    pub(crate) cpu_us_total: u64,
    /// The collector's part of the CPU time in the latest windows in which requests shared the worker.
    pub(crate) gc_share: Option<f64>,
    /// The part of it that was no request's.
    pub(crate) lost_share: Option<f64>,
    /// Limit of the heap, without its young generation.
    pub(crate) heap_bytes_max: u64,
    /// Runs by duration, in the buckets of `RUN_BOUNDS_US`; the last is for longer ones.
    pub(crate) counts: Vec<u64>,
    /// Time in the runs of each bucket.
    pub(crate) time_us: Vec<u64>,
    /// For how long was watched.
    pub(crate) observed_us: u64,
    /// Pauses of the garbage collector.
    pub(crate) collections: u64,
    /// Time in them.
    pub(crate) collected_us: u64,
    /// Runs since the line before: those above 1 s, and the longest of those from 10 ms that were no request's.
    pub(crate) long: Vec<LongRun>,
    /// Its first line.
    pub(crate) text: String,
    pub(crate) renders: u64,
    pub(crate) reasons: std::collections::BTreeMap<String, u64>,
    pub(crate) hits: u64,
    pub(crate) misses: u64,
    /// Entries that made room for others.
    pub(crate) evictions: u64,
    pub(crate) entries: u64,
    /// What they may take.
    pub(crate) bytes_max: u64,
    /// Entries of all tables.
    pub(crate) size: u64,
    /// How many of them are more than then.
    pub(crate) added: u64,
    /// Those that have added most.
    pub(crate) places: Vec<Adder>,
    pub(crate) why: String,
    /// Counts what the gateway asks of this worker in the way of profiles.
    pub(crate) number: u64,
    pub(crate) taken: Option<Taken>,
    pub(crate) error: Option<String>,
    pub(crate) file: String,
    /// Its size.
    pub(crate) file_bytes: u64,
    /// CPU time of the process from its begin to its end.
    pub(crate) used_us: u64,
    /// From its begin to its end.
    pub(crate) service_us: u64,
    /// What the profile took of the worker before and after it.
    pub(crate) overhead_us: u64,
    pub(crate) components: Vec<Rendered>,
    pub(crate) settings: Vec<Spent>,
    /// Labels of variants that pages carried.
    pub(crate) variants: Vec<String>,
    /// With its version, where it has one.
    pub(crate) component: String,
    /// It went over its budget.
    pub(crate) over: bool,
    pub(crate) message: serde_json::Value,
    /// Counts such lines, so that the answer names its own.
    pub(crate) serial: u64,
    pub(crate) purges: Vec<Wanted>,
}

/// Which line it is.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    Hello,
    Listening,
    Closing,
    Aux,
    AuxClosed,
    Done,
    Busy,
    AsksItself,
    Idle,
    Overlong,
    Raw,
    Resets,
    Breathes,
    Look,
    Beat,
    Memory,
    Runs,
    Threw,
    Turn,
    React,
    ComponentCache,
    RoutesGrown,
    ReactOff,
    Profiled,
    Tailed,
    Rendered,
    Overrun,
    HearsMessages,
    Send,
    Purge,
    PartsPurged,
    /// Of a version that knows more.
    #[default]
    #[serde(other)]
    Unknown,
}

/// How a request left the app.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Leaving {
    End,
    Stream,
    Upgrade,
    Wait,
    Abandoned,
    /// Of a version that knows more.
    #[default]
    #[serde(other)]
    Unknown,
}

/// An address that the app asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Requested {
    pub(crate) port: Option<u16>,
    pub(crate) host: Option<String>,
    pub(crate) path: Option<String>,
}

/// A request that the app has let go.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Done {
    pub(crate) id: u64,
    pub(crate) cpu_us: u64,
    /// CPU time of others is in it: what the request used itself is not known.
    pub(crate) shared: bool,
    /// Requests of its class for which its CPU time stands, as the label said; 1 where it is absent. 0: the CPU time was not to be measured, and is told because the request took 5 ms or longer.
    pub(crate) weight: Option<u64>,
    /// Its response ended; it became an event stream or a raw connection; the app waits with its answer; or it never had it. The head of a stream may be sent with the first event; the app has a raw connection in its hands.
    pub(crate) left: Leaving,
    /// The template of the app's router, where this worker has not named it before.
    pub(crate) route: Option<String>,
    /// How many of its uninterrupted runs took 1 to 10 ms, 10 to 100 ms, 100 ms to 1 s, and longer.
    pub(crate) runs: Vec<u64>,
    /// The longest of them, from 10 ms.
    pub(crate) longest: Option<LongRun>,
    /// Time since the handler of its route began, where the router shows that. Only the first request of a line has it.
    pub(crate) handler_us: Option<u64>,
}

/// An uninterrupted run of the main thread.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct LongRun {
    pub(crate) us: u64,
    /// How much of it the garbage collector took.
    pub(crate) collected_us: u64,
    /// CPU time of the main thread meanwhile, where that is known.
    pub(crate) cpu_us: Option<u64>,
    /// How long the main thread could have run and got no CPU. Linux alone tells.
    pub(crate) queued_us: Option<u64>,
    /// How long ago it ended.
    pub(crate) ago_ms: u64,
    /// The request whose run it was, where that is known.
    pub(crate) id: Option<u64>,
}

/// A place in the app that adds routes.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Adder {
    /// A path, or a `file:` URL.
    pub(crate) file: String,
    /// From 1.
    pub(crate) line: u64,
    /// From 1.
    pub(crate) column: u64,
    /// Entries that it has added while the worker served.
    pub(crate) added: u64,
}

/// A profile that a worker has written.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Taken {
    /// From its start to its end.
    pub(crate) duration_ms: f64,
    /// CPU time of the process meanwhile, its helper threads included.
    pub(crate) used_ms: f64,
    /// React renders that `@sluice/react` began meanwhile.
    pub(crate) renders: u64,
    /// Path of the Node.js that runs the worker.
    pub(crate) node: String,
}

/// Renders of one component that ended alike.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Rendered {
    pub(crate) component: String,
    /// `rendered`, `cached`, `error` and the like.
    pub(crate) outcome: String,
    pub(crate) count: u64,
    pub(crate) cpu_us: u64,
}

/// Pages with one setting of the dial.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Spent {
    /// The label that the pages carry.
    pub(crate) setting: String,
    pub(crate) pages: u64,
    /// CPU time of their components.
    pub(crate) cpu_us: u64,
}

/// Pages that the app wants purged: one of the first four.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Wanted {
    /// A URL, or a path on all hosts.
    pub(crate) url: Option<String>,
    /// The beginning of URLs, or of paths on all hosts.
    pub(crate) prefix: Option<String>,
    pub(crate) tag: Option<String>,
    pub(crate) all: bool,
    /// They stay as stale ones.
    pub(crate) soft: bool,
}
