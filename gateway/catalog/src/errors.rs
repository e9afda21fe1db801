//! The error catalogue: every way in which Sluice refuses or fails a request, or fails to start.
//!
//! A code, once released, is never reused for something else. This module must not know where errors arise.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use serde::Deserialize;

/// Party that causes an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// The client sent something that Sluice must not accept.
    Client,
    /// The gateway is out of room or time, or is not set up right.
    Gateway,
    /// The app or its process.
    Worker,
    /// Another host that answers in place of the app (`upstreams.routes`).
    Upstream,
}

impl Source {
    /// The word used in docs and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Gateway => "gateway",
            Self::Worker => "worker",
            Self::Upstream => "upstream",
        }
    }
}

/// Entry of the catalogue about one error.
#[derive(Debug, PartialEq, Eq)]
pub struct Entry {
    /// Error that this is about.
    pub id: Code,
    /// The stable code, for example `SLU-QUEUE-FULL`.
    pub code: &'static str,
    /// HTTP status of the answer; 0 for errors that only the operator sees.
    pub status: u16,
    /// Whether sending the same request again, later, is sensible and safe.
    pub retryable: bool,
    /// Party that causes it.
    pub source: Source,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Texts {
    public: String,
    operator: String,
}

/// Texts of every error, by its code.
static TEXTS: LazyLock<BTreeMap<String, Texts>> =
    LazyLock::new(|| toml::from_str(include_str!("../errors.toml")).expect("the file is of this version"));

impl Entry {
    /// Text for clients. Says nothing about the inside.
    pub fn public(&self) -> &'static str {
        &TEXTS[self.code].public
    }

    /// Meaning for the operator, and what to do about it.
    pub fn operator(&self) -> &'static str {
        &TEXTS[self.code].operator
    }
}

macro_rules! errors {
    ($($id:ident $code:literal $status:literal $retry:ident $source:ident)+) => {
        /// Every error of the catalogue.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code {
            $(
                #[doc = concat!("`", $code, "`")]
                $id,
            )+
        }

        /// The whole catalogue, in the order of a request's way through the gateway.
        pub static ALL: &[Entry] = &[$(Entry {
            id: Code::$id,
            code: $code,
            status: $status,
            retryable: errors!(@retry $retry),
            source: Source::$source,
        }),+];
    };
    (@retry retry) => { true };
    (@retry final) => { false };
}

errors! {
    HeadMalformed "SLU-HEAD-MALFORMED" 400 final Client
    HostInvalid "SLU-HOST-INVALID" 400 final Client
    LengthInvalid "SLU-LENGTH-INVALID" 400 final Client
    CodingUnknown "SLU-CODING-UNKNOWN" 501 final Client
    ChunkMalformed "SLU-CHUNK-MALFORMED" 400 final Client
    TargetInvalid "SLU-TARGET-INVALID" 400 final Client
    MethodUnsupported "SLU-METHOD-UNSUPPORTED" 501 final Client
    VersionUnsupported "SLU-VERSION-UNSUPPORTED" 505 final Client
    HeaderAlias "SLU-HEADER-ALIAS" 400 final Client
    TargetTooLong "SLU-TARGET-TOO-LONG" 414 final Client
    HeadersTooLarge "SLU-HEADERS-TOO-LARGE" 431 final Client
    HeadersTooMany "SLU-HEADERS-TOO-MANY" 431 final Client
    BodyTooLarge "SLU-BODY-TOO-LARGE" 413 final Client
    ExpectationUnknown "SLU-EXPECTATION-UNKNOWN" 417 final Client
    AccessDenied "SLU-ACCESS-DENIED" 403 final Client
    LoginRequired "SLU-LOGIN-REQUIRED" 401 final Client
    LoginLimited "SLU-LOGIN-LIMITED" 429 retry Client
    RateLimited "SLU-RATE-LIMITED" 429 retry Client
    VitalsRefused "SLU-VITALS-REFUSED" 400 final Client
    VitalsLimited "SLU-VITALS-LIMITED" 429 retry Client
    HeadersTimeout "SLU-HEADERS-TIMEOUT" 408 retry Client
    BodyTooSlow "SLU-BODY-TOO-SLOW" 408 final Client
    QueueFull "SLU-QUEUE-FULL" 503 retry Gateway
    QueueWaitPredicted "SLU-QUEUE-WAIT" 503 retry Gateway
    QueueOverBudget "SLU-QUEUE-BUDGET" 503 retry Gateway
    QueueDeadline "SLU-QUEUE-DEADLINE" 503 retry Gateway
    Draining "SLU-DRAINING" 503 retry Gateway
    AppDown "SLU-APP-DOWN" 503 retry Worker
    ConnectionsFull "SLU-CONNECTIONS-FULL" 503 retry Gateway
    TempFull "SLU-TEMP-FULL" 503 retry Gateway
    StreamsFull "SLU-STREAMS-FULL" 503 retry Gateway
    GatewayFailed "SLU-GATEWAY-FAILED" 500 final Gateway
    RequestQuarantined "SLU-REQUEST-QUARANTINED" 500 final Worker
    WorkerDied "SLU-WORKER-DIED" 502 final Worker
    WorkerAnswerMalformed "SLU-WORKER-ANSWER-MALFORMED" 502 final Worker
    WorkerAnswerTruncated "SLU-WORKER-ANSWER-TRUNCATED" 502 final Worker
    WorkerTimeout "SLU-WORKER-TIMEOUT" 504 final Worker
    WorkerStuck "SLU-WORKER-STUCK" 504 final Worker
    UpstreamUnreachable "SLU-UPSTREAM-UNREACHABLE" 502 retry Upstream
    UpstreamFull "SLU-UPSTREAM-FULL" 503 retry Upstream
    UpstreamTimeout "SLU-UPSTREAM-TIMEOUT" 504 final Upstream
    UpstreamAnswerMalformed "SLU-UPSTREAM-ANSWER-MALFORMED" 502 final Upstream
    UpstreamAnswerTruncated "SLU-UPSTREAM-ANSWER-TRUNCATED" 502 final Upstream

    StreamIdle "SLU-STREAM-IDLE" 0 final Gateway

    AppNeverListened "SLU-APP-NEVER-LISTENED" 0 final Worker
    AppNeverReady "SLU-APP-NEVER-READY" 0 final Worker
    AppExited "SLU-APP-EXITED" 0 final Worker
    WorkerOutOfMemory "SLU-WORKER-OUT-OF-MEMORY" 0 final Worker
    AppNotStarted "SLU-APP-NOT-STARTED" 0 final Gateway
    PortInUse "SLU-PORT-IN-USE" 0 final Gateway
    ConfigInvalid "SLU-CONFIG-INVALID" 0 final Gateway
    RunDirBusy "SLU-RUN-DIR-BUSY" 0 final Gateway
    RunDirPath "SLU-RUN-DIR-PATH" 0 final Gateway
    EntryMissing "SLU-ENTRY-MISSING" 0 final Gateway
}

impl Code {
    /// Entry of the catalogue about this error.
    pub fn entry(self) -> &'static Entry {
        // The macro writes variants and entries in one order, so the discriminant is the index.
        &ALL[self as usize]
    }

    /// The stable code, for example `SLU-QUEUE-FULL`.
    pub fn as_str(self) -> &'static str {
        self.entry().code
    }

    /// HTTP status of the answer; 0 for errors that only the operator sees.
    pub fn status(self) -> u16 {
        self.entry().status
    }
}

impl fmt::Display for Code {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_code_finds_its_own_entry() {
        for entry in ALL {
            assert_eq!(entry.id.entry(), entry);
        }
    }

    #[test]
    fn codes_are_unique_and_spelled_alike() {
        let codes: BTreeSet<_> = ALL.iter().map(|entry| entry.code).collect();
        assert_eq!(codes.len(), ALL.len());
        assert_eq!(codes, TEXTS.keys().map(String::as_str).collect());
        for code in codes {
            let tail = code.strip_prefix("SLU-").unwrap();
            assert!(!tail.is_empty() && tail.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-'), "{code}");
        }
    }

    #[test]
    fn statuses_fit_their_source() {
        for entry in ALL {
            match entry.source {
                _ if entry.status == 0 => {}
                Source::Client => assert!((400..=505).contains(&entry.status), "{}", entry.code),
                // 500 is for a fault of its own, which waiting does not mend.
                Source::Gateway => assert!([500, 503].contains(&entry.status), "{}", entry.code),
                // 503 is for an app in development that is down until a file changes.
                Source::Worker | Source::Upstream => {
                    assert!([500, 502, 503, 504].contains(&entry.status), "{}", entry.code);
                }
            }
        }
    }

    #[test]
    fn what_a_client_is_told_says_nothing_about_the_inside() {
        for entry in ALL.iter().filter(|entry| entry.status != 0) {
            for word in ["worker", "queue", "sluice", "`"] {
                assert!(!entry.public().to_lowercase().contains(word), "{} says {word}", entry.code);
            }
        }
    }

    #[test]
    fn config_keys_that_errors_mention_exist() {
        let sections: BTreeSet<_> = crate::config::keys().map(|key| key.section).collect();
        for entry in ALL {
            for quoted in entry.operator().split('`').skip(1).step_by(2) {
                if let Some((section, _)) = quoted.split_once('.')
                    && sections.contains(section)
                {
                    assert!(crate::config::key(quoted).is_some(), "{} names {quoted}", entry.code);
                }
            }
        }
    }
}
