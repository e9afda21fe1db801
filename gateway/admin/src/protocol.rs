//! The control protocol: one JSON object a line, both ways. The command line uses the same types.
//!
//! A request gets one [`Reply`] line. `reload` gets any number of [`ProgressLine`] lines first. `logs` gets any number of [`LogLine`] lines first, and with `follow` a [`LogLive`] line after those that were there, and no reply at all.
//! `upgrade` is answered when the new gateway serves or has failed.
//! After the reply to `stop` the connection stays open until the gateway is gone. It must not know who sends or answers.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sluice_catalog::dashboard::{Costs, Mark, Point};
use sluice_catalog::profiles::{ProfileFile, Wish};
use sluice_catalog::snapshot::{
    CacheSnapshot, ClassesSnapshot, DialSnapshot, KeptSnapshot, Purge, QuarantinedRequest, ReportSnapshot, Snapshot,
    TrialSnapshot, UnkeptSnapshot,
};

/// Maximum size of a request line, bytes. Requests are far shorter.
pub const REQUEST_BYTES_MAX: usize = 64 * 1024;

/// Request of the command line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "lowercase")]
pub enum Request {
    /// State of the gateway.
    Status,
    /// State of the gateway, the history, and the events that the asker has not seen.
    Watch(HistoryCursor),
    /// Leave.
    Stop,
    /// Change the number of workers.
    Scale {
        /// Number of workers from now on.
        workers: u32,
    },
    /// Change for whom the server renders, until the next reload.
    Dial {
        /// Shares by entry, as in `render.server`.
        server: BTreeMap<String, String>,
        /// Whether entries that are not named go.
        #[serde(default)]
        replaces: bool,
    },
    /// Put a new version of the app in place of the present one. Closing the connection does not stop it.
    Reload {
        /// Trial that the version has to pass first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trial: Option<TrialWish>,
    },
    /// Show the version on trial, or decide about it.
    Canary {
        /// Decision; none to look only.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        action: Option<TrialAction>,
    },
    /// Costs of requests, by class.
    Classes,
    /// Costs of requests, before and after.
    Report {
        /// Version of the app that is compared with the one before it; the latest unless said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        generation: Option<u64>,
        /// Length of both spans that are compared, milliseconds; the later one ends now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ago_ms: Option<u64>,
    },
    /// The page cache.
    Cache {
        /// The URL of a page, as pages are kept: what is kept of it is told too.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        url: Option<String>,
    },
    /// Drop pages from the cache.
    Purge {
        /// Pages to purge.
        pages: Purge,
        /// Whether they stay as stale ones.
        #[serde(default)]
        soft: bool,
    },
    /// Profiles of workers; answered after the time that it asks for. Closing the connection ends them.
    Profile(Wish),
    /// Requests in quarantine; releases those that are named first.
    Quarantine {
        /// The id of one of them, or `all`.
        #[serde(default)]
        release: Option<String>,
    },
    /// Replaces this gateway by a new process; answered when that serves, or has failed.
    Upgrade {
        /// The program to start; the one that runs, by its path, unless said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        binary: Option<PathBuf>,
        /// The directory to start it in; the one that this gateway is in unless said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cwd: Option<PathBuf>,
        /// Longest time until its workers are ready.
        timeout_ms: u64,
    },
    /// Lines of the log.
    Logs {
        /// Number of the latest lines.
        #[serde(default = "lines_default")]
        lines: u64,
        /// Whether to continue with later lines.
        #[serde(default)]
        follow: bool,
        /// Only lines about this worker.
        #[serde(default)]
        worker: Option<u64>,
        /// Only lines of this kind: `access`, `app` or `gateway`.
        #[serde(default)]
        kind: Option<String>,
    },
}

/// Trial of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrialWish {
    /// Share of visitors who get the version from workers beside the present ones, millionths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share_millionths: Option<u32>,
    /// Batches of workers that are replaced before the trial, where no share is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batches: Option<u32>,
    /// Time for which both versions are compared at least, milliseconds.
    pub lasts_ms: u64,
    /// Requests that the version must have served before it passes.
    pub requests_min: u64,
    /// Whether a person says if it passes.
    pub asks: bool,
    /// Share of pages that both versions render for a comparison, millionths; 0 for none.
    #[serde(default)]
    pub html_millionths: u32,
}

/// Decision about a version on trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TrialAction {
    /// The version takes the other places over.
    Promote,
    /// The trial continues until a person ends it.
    Hold,
    /// The version is rolled back.
    Back,
}

fn lines_default() -> u64 {
    100
}

/// Last item that a watcher has seen: the gateway's history, the end of a point in it, and a mark. All zero for nothing yet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HistoryCursor {
    /// Start of the history, as in [`WatchReply`].
    pub epoch: u64,
    /// End of the latest point, Unix time in milliseconds.
    pub at_ms: u64,
    /// The latest mark.
    pub mark: u64,
}

/// The answer to `watch`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WatchReply {
    /// Start of this gateway's history, Unix time in milliseconds; differs between gateways.
    pub epoch: u64,
    /// The gateway's clock, Unix time in milliseconds.
    pub now_ms: u64,
    /// State of the gateway now.
    pub status: Snapshot,
    /// Seconds that the asker has not seen, oldest first; all that are kept where it has seen nothing.
    pub points: Vec<Point>,
    /// Marks likewise.
    pub marks: Vec<Mark>,
    /// Costs by class, and quarantined requests.
    pub costs: Costs,
}

/// The answer to a request.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// Whether it was done.
    pub ok: bool,
    /// The answer to `status`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Snapshot>,
    /// The answer to `watch`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watched: Option<Box<WatchReply>>,
    /// Workers wanted before, after `scale`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workers_before: Option<u32>,
    /// Dial that is in force, after `dial`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dial: Option<DialSnapshot>,
    /// The latest trial, after `canary`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<TrialSnapshot>,
    /// The answer to `classes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes: Option<ClassesSnapshot>,
    /// The answer to `report`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<ReportSnapshot>,
    /// The answer to `cache`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheSnapshot>,
    /// Stored variants of the page, after `cache` with a URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<Vec<KeptSnapshot>>,
    /// The same: why its latest answer was not kept, if it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unkept: Option<UnkeptSnapshot>,
    /// Number of variants of pages, after `purge`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purged: Option<u64>,
    /// The answer to `profile`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profiles: Option<Vec<ProfileFile>>,
    /// Requests that are in it now, after `quarantine`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quarantined: Option<Vec<QuarantinedRequest>>,
    /// Number of released requests, after `quarantine` with `release`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released: Option<u64>,
    /// Process that serves from now on, after `upgrade`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Reason for a failure, for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Reason for a failure, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Reply {
    /// Answer for a success.
    pub fn done() -> Self {
        Self { ok: true, ..Self::default() }
    }

    /// Answer for a failure.
    pub fn failed(code: &str, error: impl Display) -> Self {
        Self { code: Some(code.to_owned()), error: Some(error.to_string()), ..Self::default() }
    }
}

/// Progress of a reload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgressLine {
    /// Text for people.
    pub progress: String,
}

/// One line of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLine {
    /// The line as JSON, with the names of the reference, whatever stdout gets.
    pub line: String,
}

/// Mark before the first line that was not there yet when a follower asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLive {
    /// True, always.
    pub live: bool,
}

/// Lines that were overwritten before this reader took them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogGap {
    /// Number of lines.
    pub missed: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_what_the_protocol_says() {
        for (text, request) in [
            (r#"{"command":"status"}"#, Request::Status),
            (
                r#"{"command":"watch","epoch":1,"at_ms":2,"mark":3}"#,
                Request::Watch(HistoryCursor { epoch: 1, at_ms: 2, mark: 3 }),
            ),
            (r#"{"command":"stop"}"#, Request::Stop),
            (r#"{"command":"reload"}"#, Request::Reload { trial: None }),
            (r#"{"command":"canary"}"#, Request::Canary { action: None }),
            (r#"{"command":"canary","action":"back"}"#, Request::Canary { action: Some(TrialAction::Back) }),
            (r#"{"command":"classes"}"#, Request::Classes),
            (r#"{"command":"cache"}"#, Request::Cache { url: None }),
            (r#"{"command":"purge","pages":"all","soft":false}"#, Request::Purge { pages: Purge::All, soft: false }),
            (
                r#"{"command":"purge","pages":{"tag":"a"},"soft":true}"#,
                Request::Purge { pages: Purge::Tag("a".to_owned()), soft: true },
            ),
            (r#"{"command":"report"}"#, Request::Report { generation: None, ago_ms: None }),
            (r#"{"command":"report","ago_ms":9}"#, Request::Report { generation: None, ago_ms: Some(9) }),
            (
                r#"{"command":"profile","kind":"cpu","worker":3,"all":false,"duration_ms":9}"#,
                Request::Profile(Wish { worker: Some(3), duration_ms: 9, ..Wish::default() }),
            ),
            (r#"{"command":"scale","workers":4}"#, Request::Scale { workers: 4 }),
            (
                r#"{"command":"dial","server":{"*":"5%"},"replaces":false}"#,
                Request::Dial { server: BTreeMap::from([("*".to_owned(), "5%".to_owned())]), replaces: false },
            ),
            (r#"{"command":"quarantine","release":null}"#, Request::Quarantine { release: None }),
            (r#"{"command":"upgrade","timeout_ms":9}"#, Request::Upgrade { binary: None, cwd: None, timeout_ms: 9 }),
            (
                r#"{"command":"logs","lines":7,"follow":true,"worker":null,"kind":"app"}"#,
                Request::Logs { lines: 7, follow: true, worker: None, kind: Some("app".to_owned()) },
            ),
        ] {
            assert_eq!(serde_json::from_str::<Request>(text).unwrap(), request);
            assert_eq!(serde_json::to_string(&request).unwrap(), text);
        }
        assert_eq!(
            serde_json::from_str::<Request>(r#"{"command":"watch"}"#).unwrap(),
            Request::Watch(HistoryCursor::default())
        );
        let short = Request::Logs { lines: 100, follow: false, worker: None, kind: None };
        assert_eq!(serde_json::from_str::<Request>(r#"{"command":"logs"}"#).unwrap(), short);
    }

    #[test]
    fn replies_leave_out_what_they_do_not_hold() {
        assert_eq!(serde_json::to_string(&Reply::done()).unwrap(), r#"{"ok":true}"#);
        let failed = Reply::failed("scale-refused", "Too many.");
        let text = r#"{"ok":false,"code":"scale-refused","error":"Too many."}"#;
        assert_eq!(serde_json::to_string(&failed).unwrap(), text);
    }
}
