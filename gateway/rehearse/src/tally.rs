//! Counts of what became of requests, in memory that does not grow with them.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::time::Duration;

use serde::{Serialize, Serializer};
use sluice_sketch::Times;

/// Maximum number of distinguished kinds of failures. More than the error catalogue has codes. Further ones are
/// counted together.
const KINDS_MAX: usize = 64;

/// Codes of requests that were refused before a worker got them, for lack of room or time.
const REFUSALS: [&str; 6] = [
    "SLU-QUEUE-FULL",
    "SLU-QUEUE-WAIT",
    "SLU-QUEUE-BUDGET",
    "SLU-QUEUE-DEADLINE",
    "SLU-STREAMS-FULL",
    "SLU-CONNECTIONS-FULL",
];

/// Reason why a request has no good answer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Failure {
    /// The gateway answered with an error.
    Gateway {
        /// Status.
        status: u16,
        /// Code of the error catalogue.
        code: String,
    },
    /// The app answered with a status of 500 or above.
    App(u16),
    /// No connection could be opened.
    Unconnected,
    /// The connection closed before the answer began.
    Closed,
    /// The answer began and did not end.
    Cut,
    /// No answer within the client's patience.
    Timeout,
    /// The generator held as many open requests as it may when this one was due.
    Unsent,
    /// An answer of the app with one more status of 500 or above, where too many are counted apart.
    OtherOfApp,
    /// Any other failure where too many are counted apart.
    Other,
}

/// Statuses by which the gateway rejects a request for what it is, whatever the load.
const REJECTIONS: [u16; 5] = [400, 403, 413, 414, 431];

impl Failure {
    /// Whether it was refused for lack of room or time, or never sent.
    pub fn is_refusal(&self) -> bool {
        match self {
            Self::Gateway { code, .. } => REFUSALS.contains(&code.as_str()),
            Self::Unsent => true,
            _ => false,
        }
    }

    /// Whether it is the app's own answer.
    pub fn is_of_app(&self) -> bool {
        matches!(self, Self::App(_) | Self::OtherOfApp)
    }

    /// Whether the gateway rejected the request for what it is, such as a malformed target. The app would not get it in production
    /// either.
    pub fn is_rejection(&self) -> bool {
        matches!(self, Self::Gateway { status, .. } if REJECTIONS.contains(status))
    }

    /// The kind under which it is counted where there is no room for its own.
    fn together(self) -> Self {
        match self {
            refused if refused.is_refusal() => refused,
            own if own.is_of_app() => Self::OtherOfApp,
            _ => Self::Other,
        }
    }
}

impl Display for Failure {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gateway { status, code } => write!(out, "{status} {code}"),
            Self::App(status) => write!(out, "{status} by the app"),
            Self::Unconnected => out.write_str("no connection"),
            Self::Closed => out.write_str("connection closed without an answer"),
            Self::Cut => out.write_str("answer cut off"),
            Self::Timeout => out.write_str("no answer in time"),
            Self::Unsent => out.write_str("not sent: too many open requests"),
            Self::OtherOfApp => out.write_str("other status by the app"),
            Self::Other => out.write_str("other"),
        }
    }
}

impl Serialize for Failure {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// Counts on the side of the clients.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Requests that were due.
    pub requests: u64,
    /// Requests that were answered with a status from 400 to 499.
    pub client_errors: u64,
    /// Failures by their kind.
    pub failures: BTreeMap<Failure, u64>,
    /// Times of requests that were answered, from the moment at which they were due, microseconds.
    pub times: Times,
    /// The longest time until an answer or a failure.
    pub longest: Duration,
    /// Delays of the generator itself, microseconds: they are part of `times`.
    pub late: Times,
}

impl Tally {
    /// Takes in a request: its status or failure, and the time since it was due.
    pub fn record(&mut self, outcome: Result<u16, Failure>, took: Duration) {
        self.requests += 1;
        self.longest = self.longest.max(took);
        match outcome {
            Ok(status) => {
                self.client_errors += u64::from((400..500).contains(&status));
                self.times.record(us(took));
            }
            Err(failure) => {
                if failure.is_of_app() {
                    self.times.record(us(took));
                }
                let has_room = self.failures.len() < KINDS_MAX || self.failures.contains_key(&failure);
                let kind = if has_room { failure } else { failure.together() };
                *self.failures.entry(kind).or_insert(0) += 1;
            }
        }
    }

    /// Median of the times, milliseconds.
    pub fn median_ms(&self) -> Option<f64> {
        Times::percentiles(&std::iter::once(&self.times), [50]).map(|[us]| us / 1_000.0)
    }

    /// Sum of the failures for which this holds.
    pub fn failed(&self, is_meant: impl Fn(&Failure) -> bool) -> u64 {
        self.failures.iter().filter(|(failure, _)| is_meant(failure)).map(|(_, count)| count).sum()
    }
}

/// Microseconds, at most as many as fit.
pub(crate) fn us(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// Counts of the same requests on the side of the gateway.
#[derive(Clone, Debug, Default)]
pub struct GatewayTally {
    /// Requests that ended.
    pub requests: u64,
    /// Requests that went to a second worker after the first had crashed with them.
    pub retried: u64,
    /// Queue waits, microseconds.
    pub waits: Times,
    /// The longest of them, milliseconds.
    pub longest_wait_ms: f64,
}

impl GatewayTally {
    /// Takes in a request: milliseconds in the queue if a worker got it, and how many workers did.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded below")]
    pub fn record(&mut self, queue_ms: Option<f64>, tries: u64) {
        self.requests += 1;
        self.retried += u64::from(tries > 1);
        if let Some(queue_ms) = queue_ms {
            self.waits.record((queue_ms.clamp(0.0, 1e9) * 1_000.0) as u64);
            self.longest_wait_ms = self.longest_wait_ms.max(queue_ms);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_failures_and_refusals_are_counted_apart() {
        let mut tally = Tally::default();
        let gateway = |status, code: &str| Err(Failure::Gateway { status, code: code.to_owned() });
        for outcome in [
            Ok(200),
            Ok(404),
            Err(Failure::App(500)),
            gateway(502, "SLU-WORKER-DIED"),
            gateway(503, "SLU-QUEUE-FULL"),
            Err(Failure::Cut),
        ] {
            tally.record(outcome, Duration::from_millis(10));
        }
        tally.record(Err(Failure::Timeout), Duration::from_secs(3));
        assert_eq!((tally.requests, tally.client_errors, tally.times.total()), (7, 1, 3));
        assert_eq!(tally.failed(Failure::is_of_app), 1);
        assert_eq!(tally.failed(Failure::is_refusal), 1);
        assert_eq!(tally.failed(|_| true), 5);
        assert_eq!(tally.longest, Duration::from_secs(3));
    }

    #[test]
    fn kinds_of_failures_are_bounded() {
        let mut tally = Tally::default();
        for status in 500..700 {
            tally.record(Err(Failure::App(status)), Duration::ZERO);
        }
        assert_eq!((tally.failures.len(), tally.requests), (KINDS_MAX + 1, 200));
        assert_eq!(tally.failures[&Failure::OtherOfApp], 200 - KINDS_MAX as u64);
        let gateway = |code: &str| Err(Failure::Gateway { status: 503, code: code.to_owned() });
        for outcome in [Err(Failure::Cut), gateway("SLU-WORKER-DIED"), gateway("SLU-QUEUE-FULL")] {
            tally.record(outcome, Duration::ZERO);
        }
        assert_eq!((tally.failed(Failure::is_of_app), tally.failures[&Failure::Other]), (200, 2));
        assert_eq!(tally.failed(Failure::is_refusal), 1, "at a load above the capacity these are no loss");
        assert_eq!(tally.failed(|_| true), tally.requests, "none is dropped");
    }

    #[test]
    fn gateway_counts_second_tries_and_waits_of_those_that_a_worker_got() {
        let mut tally = GatewayTally::default();
        tally.record(Some(1.5), 1);
        tally.record(Some(4.0), 2);
        tally.record(None, 0);
        assert_eq!((tally.requests, tally.retried, tally.waits.total()), (3, 1, 2));
        assert!((tally.longest_wait_ms - 4.0).abs() < 1e-9);
    }
}
