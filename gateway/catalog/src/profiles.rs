//! Profiles of workers that serve: what may be asked for, and what is answered. Plain data that crosses the control socket; fields
//! are only ever added.

use serde::{Deserialize, Serialize};

/// Directory of profiles, in the state directory.
pub const PROFILES_DIR: &str = "profiles";
/// Directory of profiles of the tail, in the state directory, and the list of them there.
pub const TAILS_DIR: &str = "profiles/tail";
/// A list of [`Tail`]s.
pub const TAILS_INDEX: &str = "index.json";

/// Subject of a profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// CPU time by function.
    #[default]
    Cpu,
    /// Everything on the heap. The worker is blocked meanwhile.
    Snapshot,
    /// A sample of the app's allocations that are still alive at the end.
    Sampling,
    /// The same with what was collected.
    Allocations,
    /// The tables of the app's routers.
    Routes,
}

impl Kind {
    /// The word in the worker protocol and on the terminal.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Snapshot => "snapshot",
            Self::Sampling => "sampling",
            Self::Allocations => "allocations",
            Self::Routes => "routes",
        }
    }

    /// Extension of its files, as developer tools know it.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Cpu => "cpuprofile",
            Self::Snapshot => "heapsnapshot",
            Self::Sampling | Self::Allocations => "heapprofile",
            Self::Routes => "json",
        }
    }
}

/// Profile that an operator asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wish {
    /// Subject of the profile.
    #[serde(default)]
    pub kind: Kind,
    /// Worker; the one that has answered most requests unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<u64>,
    /// Every worker that serves.
    #[serde(default)]
    pub all: bool,
    /// Duration; meaningless for a snapshot.
    pub duration_ms: u64,
    /// The class, or the path of classes, whose requests are to be distinguished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<String>,
}

/// File that one worker has written, or the reason for its lack.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProfileFile {
    /// The worker.
    pub worker: u64,
    /// File of the profile; the program that asked deletes it with its directory.
    pub file: String,
    /// Duration from its start to its end, milliseconds.
    pub duration_ms: f64,
    /// CPU time of the process meanwhile, milliseconds.
    pub used_ms: f64,
    /// React renders that `@sluice/react` began meanwhile.
    pub renders: u64,
    /// Path of the Node.js that runs the worker.
    #[serde(default)]
    pub node: String,
    /// Numbers of the requests of the route that was asked for.
    #[serde(default)]
    pub requests: Vec<u64>,
    /// True if there were more of them than are noted.
    #[serde(default)]
    pub requests_cut: bool,
    /// Reason for the lack of a file from this worker, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl From<Tail> for ProfileFile {
    fn from(tail: Tail) -> Self {
        Self {
            worker: tail.worker,
            file: tail.file,
            duration_ms: tail.service_ms,
            used_ms: tail.cpu_ms,
            node: "node".to_owned(),
            ..Self::default()
        }
    }
}

/// The profile of one request that took longer than its class usually does.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tail {
    /// Number by which it is opened, and by which its file is named.
    pub id: u64,
    /// The request's class.
    pub class: String,
    /// Method, path and query; cut after 200 characters.
    pub target: String,
    /// The request id of the access log.
    pub request_id: String,
    /// Worker that wrote it.
    pub worker: u64,
    /// End of the request, milliseconds since 1970.
    pub at_unix_ms: u64,
    /// Time in the worker, without the profile's own, milliseconds.
    pub service_ms: f64,
    /// CPU time of the worker's process meanwhile, milliseconds.
    pub cpu_ms: f64,
    /// Cost that 99 of 100 requests of the class do not exceed, milliseconds.
    pub usual_ms: f64,
    /// Size of its file.
    pub bytes: u64,
    /// The profile, a `.cpuprofile` in the state directory.
    pub file: String,
}
