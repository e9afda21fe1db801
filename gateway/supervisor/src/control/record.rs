//! Records of workers on the control channel; `docs/reference/worker-protocol.md` has the meaning of each field. Generated from gateway/catalog by `make generate`; do not edit.

use serde::Deserialize;

/// Fingerprint of the protocol, as the preload says it.
pub(crate) const PROTOCOL: &str = "c019ef70a629c1c5";

/// The fields of all kinds of lines, of which each kind fills its own. Flat, because a tagged enum would make serde look at
/// every line twice, and `done` lines come with every few requests.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
#[allow(clippy::struct_excessive_bools)] // Each is a fact of another kind of line.
pub(crate) struct ControlRecord {
    #[serde(rename = "type")]
    pub(crate) kind: Kind,
    pub(crate) worker: u64,
    pub(crate) marks: bool,
    pub(crate) takes_ahead: bool,
    pub(crate) protocol: String,
    pub(crate) requested: ListenAddress,
    pub(crate) tls: bool,
    pub(crate) waited_ms: Option<u64>,
    pub(crate) others: Vec<ListenAddress>,
    pub(crate) port: Option<u16>,
    pub(crate) host: Option<String>,
    pub(crate) path: Option<String>,
    pub(crate) socket: String,
    pub(crate) preface: bool,
    pub(crate) requests: Vec<RequestEnd>,
    pub(crate) ended: Vec<u64>,
    pub(crate) id: u64,
    pub(crate) by: u64,
    pub(crate) closed: bool,
    pub(crate) request: String,
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) bytes: u64,
    pub(crate) more: u64,
    pub(crate) dropped_bytes: u64,
    pub(crate) rests: bool,
    pub(crate) run_us: u64,
    pub(crate) active_us: u64,
    pub(crate) rss_bytes: u64,
    pub(crate) heap_used_bytes: u64,
    pub(crate) elu: f64,
    pub(crate) loop_delay_ms_max: f64,
    pub(crate) overlaps_total: u64,
    pub(crate) cpu_us_total: u64,
    pub(crate) gc_share: Option<f64>,
    pub(crate) lost_share: Option<f64>,
    pub(crate) heap_bytes_max: u64,
    pub(crate) handles_sigusr1: bool,
    pub(crate) counts: Vec<u64>,
    pub(crate) time_us: Vec<u64>,
    pub(crate) observed_us: u64,
    pub(crate) collections: u64,
    pub(crate) collected_us: u64,
    pub(crate) long: Vec<LongRun>,
    pub(crate) text: String,
    pub(crate) renders: u64,
    pub(crate) reasons: std::collections::BTreeMap<String, u64>,
    pub(crate) hits: u64,
    pub(crate) misses: u64,
    pub(crate) evictions: u64,
    pub(crate) entries: u64,
    pub(crate) bytes_max: u64,
    pub(crate) size: u64,
    pub(crate) added: u64,
    pub(crate) places: Vec<Adder>,
    pub(crate) why: String,
    pub(crate) library: String,
    pub(crate) mount: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) shared: bool,
    pub(crate) number: u64,
    pub(crate) taken: Option<ProfileRecord>,
    pub(crate) error: Option<String>,
    pub(crate) file: String,
    pub(crate) file_bytes: u64,
    pub(crate) used_us: u64,
    pub(crate) service_us: u64,
    pub(crate) overhead_us: u64,
    pub(crate) components: Vec<ComponentReport>,
    pub(crate) settings: Vec<SettingReport>,
    pub(crate) variants: Vec<String>,
    pub(crate) graph_routes: Vec<GraphRouteReport>,
    pub(crate) graph_paths: Vec<GraphPathReport>,
    pub(crate) pages: u64,
    pub(crate) page_requests: u64,
    pub(crate) fetches: u64,
    pub(crate) hosts: Vec<CalledHost>,
    pub(crate) component: String,
    pub(crate) over: bool,
    pub(crate) message: serde_json::Value,
    pub(crate) serial: u64,
    pub(crate) purges: Vec<PurgeTarget>,
}

/// Kind of a line.
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
    InspectorClosed,
    Runs,
    Threw,
    Turn,
    React,
    ComponentCache,
    RoutesGrown,
    ReactOff,
    KeepsState,
    Profiled,
    Tailed,
    Rendered,
    Graph,
    Called,
    Overrun,
    HearsMessages,
    Send,
    Purge,
    PartsPurged,
    /// Word of a version that knows more.
    #[default]
    #[serde(other)]
    Unknown,
}

/// Way in which a request left the app.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Leaving {
    End,
    Stream,
    Upgrade,
    Wait,
    Abandoned,
    /// Word of a version that knows more.
    #[default]
    #[serde(other)]
    Unknown,
}

/// An address that the app asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ListenAddress {
    pub(crate) port: Option<u16>,
    pub(crate) host: Option<String>,
    pub(crate) path: Option<String>,
}

/// A request that has left its slot.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RequestEnd {
    pub(crate) id: u64,
    pub(crate) cpu_us: u64,
    pub(crate) shared: bool,
    pub(crate) weight: Option<u64>,
    pub(crate) left: Leaving,
    pub(crate) route: Option<String>,
    pub(crate) runs: Vec<u64>,
    pub(crate) longest: Option<LongRun>,
    pub(crate) handler_us: Option<u64>,
}

/// An uninterrupted run of the main thread.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct LongRun {
    pub(crate) us: u64,
    pub(crate) collected_us: u64,
    pub(crate) cpu_us: Option<u64>,
    pub(crate) queued_us: Option<u64>,
    pub(crate) ago_ms: u64,
    pub(crate) id: Option<u64>,
}

/// A position in the app's code that adds routes.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Adder {
    pub(crate) file: String,
    pub(crate) line: u64,
    pub(crate) column: u64,
    pub(crate) added: u64,
}

/// A profile that a worker has written.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ProfileRecord {
    pub(crate) duration_ms: f64,
    pub(crate) used_ms: f64,
    pub(crate) renders: u64,
    pub(crate) node: String,
}

/// Renders of one component with the same outcome.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ComponentReport {
    pub(crate) component: String,
    pub(crate) outcome: String,
    pub(crate) count: u64,
    pub(crate) cpu_us: u64,
}

/// Calls of one route of a graph by one method.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct GraphRouteReport {
    pub(crate) route: String,
    pub(crate) method: String,
    pub(crate) calls: u64,
    pub(crate) paths: u64,
    pub(crate) time_us: u64,
    pub(crate) time_us_max: u64,
    pub(crate) failures: u64,
    pub(crate) denied: u64,
    pub(crate) unanswered: u64,
    pub(crate) error: Option<String>,
}

/// Paths of a graph with one pattern.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct GraphPathReport {
    pub(crate) path: String,
    pub(crate) asked: u64,
    pub(crate) fetched: u64,
    pub(crate) brought: u64,
    pub(crate) unread: u64,
    pub(crate) again: u64,
}

/// HTTP calls of the app to one host since the previous line, and those without an answer now.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct CalledHost {
    pub(crate) host: String,
    pub(crate) calls: u64,
    pub(crate) errors: u64,
    pub(crate) failed: u64,
    pub(crate) waiting: u64,
    pub(crate) oldest_us: u64,
    pub(crate) times_us: Vec<u64>,
    pub(crate) counts: Vec<u64>,
}

/// Pages with one setting of the dial.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SettingReport {
    pub(crate) setting: String,
    pub(crate) pages: u64,
    pub(crate) cpu_us: u64,
}

/// Pages that the app wants purged. One of the first four fields is present.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct PurgeTarget {
    pub(crate) url: Option<String>,
    pub(crate) prefix: Option<String>,
    pub(crate) tag: Option<String>,
    pub(crate) all: bool,
    pub(crate) soft: bool,
}
