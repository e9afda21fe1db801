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

/// Whether a request that got an error may be sent again, and where. Every error answer says it in `X-Sluice-Retry`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Retry {
    /// Another instance may get it at once: no worker has seen the request.
    Elsewhere,
    /// Later: it would get the same answer now, here and elsewhere.
    Later,
    /// Only its sender can decide: it is faulty, or the app may have acted upon it.
    No,
}

impl Retry {
    /// The word in `X-Sluice-Retry` and in docs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Elsewhere => "elsewhere",
            Self::Later => "later",
            Self::No => "no",
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
    /// Whether the same request may be sent again, and where.
    pub retry: Retry,
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
            retry: Retry::$retry,
            source: Source::$source,
        }),+];
    };
}

errors! {
    HeadMalformed "SLU-HEAD-MALFORMED" 400 No Client
    HostInvalid "SLU-HOST-INVALID" 400 No Client
    LengthInvalid "SLU-LENGTH-INVALID" 400 No Client
    CodingUnknown "SLU-CODING-UNKNOWN" 501 No Client
    ChunkMalformed "SLU-CHUNK-MALFORMED" 400 No Client
    TargetInvalid "SLU-TARGET-INVALID" 400 No Client
    MethodUnsupported "SLU-METHOD-UNSUPPORTED" 501 No Client
    VersionUnsupported "SLU-VERSION-UNSUPPORTED" 505 No Client
    HeaderAlias "SLU-HEADER-ALIAS" 400 No Client
    TargetTooLong "SLU-TARGET-TOO-LONG" 414 No Client
    HeadersTooLarge "SLU-HEADERS-TOO-LARGE" 431 No Client
    HeadersTooMany "SLU-HEADERS-TOO-MANY" 431 No Client
    BodyTooLarge "SLU-BODY-TOO-LARGE" 413 No Client
    ExpectationUnknown "SLU-EXPECTATION-UNKNOWN" 417 No Client
    AccessDenied "SLU-ACCESS-DENIED" 403 No Client
    LoginRequired "SLU-LOGIN-REQUIRED" 401 No Client
    LoginLimited "SLU-LOGIN-LIMITED" 429 Later Client
    RateLimited "SLU-RATE-LIMITED" 429 Later Client
    VitalsRefused "SLU-VITALS-REFUSED" 400 No Client
    VitalsLimited "SLU-VITALS-LIMITED" 429 Later Client
    HeadersTimeout "SLU-HEADERS-TIMEOUT" 408 No Client
    BodyTooSlow "SLU-BODY-TOO-SLOW" 408 No Client
    QueueFull "SLU-QUEUE-FULL" 503 Elsewhere Gateway
    QueueWaitPredicted "SLU-QUEUE-WAIT" 503 Elsewhere Gateway
    QueueOverBudget "SLU-QUEUE-BUDGET" 503 Elsewhere Gateway
    QueueDeadline "SLU-QUEUE-DEADLINE" 503 Later Gateway
    Draining "SLU-DRAINING" 503 Elsewhere Gateway
    AppDown "SLU-APP-DOWN" 503 Later Worker
    ConnectionsFull "SLU-CONNECTIONS-FULL" 503 Elsewhere Gateway
    TempFull "SLU-TEMP-FULL" 503 Elsewhere Gateway
    StreamsFull "SLU-STREAMS-FULL" 503 No Gateway
    GatewayFailed "SLU-GATEWAY-FAILED" 500 No Gateway
    RequestQuarantined "SLU-REQUEST-QUARANTINED" 500 No Worker
    WorkerDied "SLU-WORKER-DIED" 502 No Worker
    WorkerAnswerMalformed "SLU-WORKER-ANSWER-MALFORMED" 502 No Worker
    WorkerAnswerTruncated "SLU-WORKER-ANSWER-TRUNCATED" 502 No Worker
    WorkerTimeout "SLU-WORKER-TIMEOUT" 504 No Worker
    WorkerStuck "SLU-WORKER-STUCK" 504 No Worker
    UpstreamUnreachable "SLU-UPSTREAM-UNREACHABLE" 502 Later Upstream
    UpstreamFull "SLU-UPSTREAM-FULL" 503 Later Upstream
    UpstreamTimeout "SLU-UPSTREAM-TIMEOUT" 504 No Upstream
    UpstreamAnswerMalformed "SLU-UPSTREAM-ANSWER-MALFORMED" 502 No Upstream
    UpstreamAnswerTruncated "SLU-UPSTREAM-ANSWER-TRUNCATED" 502 No Upstream

    StreamIdle "SLU-STREAM-IDLE" 0 No Gateway

    AppNeverListened "SLU-APP-NEVER-LISTENED" 0 No Worker
    AppNeverReady "SLU-APP-NEVER-READY" 0 No Worker
    AppExited "SLU-APP-EXITED" 0 No Worker
    WorkerOutOfMemory "SLU-WORKER-OUT-OF-MEMORY" 0 No Worker
    AppNotStarted "SLU-APP-NOT-STARTED" 0 No Gateway
    PortInUse "SLU-PORT-IN-USE" 0 No Gateway
    ConfigInvalid "SLU-CONFIG-INVALID" 0 No Gateway
    RunDirBusy "SLU-RUN-DIR-BUSY" 0 No Gateway
    RunDirPath "SLU-RUN-DIR-PATH" 0 No Gateway
    EntryMissing "SLU-ENTRY-MISSING" 0 No Gateway
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
    fn only_what_waiting_mends_may_be_sent_again() {
        for entry in ALL {
            // No target had a byte of the request.
            let is_unseen = entry.code == "SLU-UPSTREAM-UNREACHABLE";
            let may_retry = is_unseen || [429, 503].contains(&entry.status);
            assert!(may_retry || entry.retry == Retry::No, "{}", entry.code);
            // A client that is over its limit would escape it elsewhere.
            assert!(entry.status != 429 || entry.retry == Retry::Later, "{}", entry.code);
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
