//! Plan of a run: the JSON that the caller passes, and the checks that it must pass before a byte is sent. It knows
//! nothing of sockets.

use std::net::SocketAddr;

use serde::Deserialize;

/// Everything one run of the generator does.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Loopback addresses, `127.0.0.1:3000`. Connections are spread over them in turn.
    pub targets: Vec<SocketAddr>,
    /// Timing of the requests.
    pub mode: Mode,
    /// Requests to send; picked by weight. Not needed in `slow` mode.
    #[serde(default)]
    pub routes: Vec<Route>,
    /// Requests given up at random.
    #[serde(default)]
    pub abort: Option<Abort>,
    /// Time after which a request without a whole answer failed, milliseconds.
    #[serde(default = "default_timeout_ms")]
    pub timeout_ms: u64,
    /// Sends `x-load-id` and counts answers that do not carry the same value back.
    #[serde(default)]
    pub check_echo: bool,
    /// Sends a request again when a kept connection turns out to be closed before any byte of an answer, as browsers do.
    /// Without it such a request failed, unless the connection was seen to be closed before the request was sent.
    #[serde(default = "yes")]
    pub resend: bool,
    /// Lists every request in the result, so that runs can be put together and their percentiles stay exact.
    #[serde(default)]
    pub samples: bool,
    /// Same seed, same sequence of routes, delays and aborts.
    #[serde(default = "default_seed")]
    pub seed: u64,
}

/// Timing of requests.
#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Mode {
    /// Closed loop: so many connections, each sending its next request when the last was answered.
    Closed {
        /// Connections at once.
        connections: usize,
        /// Requests over all connections.
        requests: u64,
        /// Whether a connection is used again.
        #[serde(default = "yes")]
        keep_alive: bool,
        /// Stops early after this long.
        #[serde(default = "default_duration_ms_max")]
        duration_ms_max: u64,
    },
    /// Poisson arrivals at a rate, whether or not earlier ones were answered. Latency counts from the intended arrival.
    Open {
        /// Mean arrivals per second.
        rate_per_s: f64,
        /// Arrivals last this long.
        duration_ms: u64,
        /// Largest number of requests.
        requests_max: u64,
        /// Requests under way at once; arrivals beyond it count as `generator_limit`.
        #[serde(default = "default_connections_max")]
        connections_max: usize,
        /// Time before which completed answers are left out of the goodput, milliseconds.
        #[serde(default)]
        measure_from_ms: u64,
        /// Whether a connection is used again.
        #[serde(default = "yes")]
        keep_alive: bool,
    },
    /// Burst: so many connections that ask for the first route at once.
    Burst {
        /// Connections to open before the first asks.
        connections: usize,
    },
    /// Idle keep-alive connections.
    Hold {
        /// Connections to open.
        connections: usize,
        /// Requests each makes before it falls silent.
        #[serde(default = "one")]
        requests_per_connection: u64,
        /// New connections per second while they are being opened.
        #[serde(default = "default_ramp")]
        connections_per_s: u64,
        /// Stops after this long, or on SIGTERM.
        duration_ms_max: u64,
    },
    /// Clients that drip and sip.
    Slow {
        /// The kinds of slowness.
        groups: Vec<SlowGroup>,
        /// New connections per second while they are being opened.
        #[serde(default = "default_ramp")]
        connections_per_s: u64,
        /// Stops after this long, or on SIGTERM.
        duration_ms_max: u64,
    },
}

/// One kind of request.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// Results are kept apart by this name.
    #[serde(default = "default_class")]
    pub class: String,
    /// Path and query.
    pub path: String,
    /// Method.
    #[serde(default = "default_method")]
    pub method: String,
    /// Share among all routes.
    #[serde(default = "default_weight")]
    pub weight: f64,
    /// Further header lines.
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    /// Length of the body to send; no body when 0.
    #[serde(default)]
    pub body_bytes: usize,
    /// Body to send, in place of `body_bytes`.
    #[serde(default)]
    pub body: String,
    /// Length that the body of an answer with a status of 200 to 399 must have; any other length is a failure.
    #[serde(default)]
    pub answer_bytes: Option<u64>,
}

/// Requests given up at random.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Abort {
    /// Share of requests, 0 to 1.
    pub fraction: f64,
    /// Earliest moment after sending.
    #[serde(default)]
    pub after_ms_min: f64,
    /// Latest moment after sending.
    pub after_ms_max: f64,
    /// Share of the aborts that reset the connection instead of closing it.
    #[serde(default)]
    pub reset_fraction: f64,
}

/// A number of clients that are slow in the same way.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlowGroup {
    /// Kind of slowness.
    pub slow: Slowness,
    /// Number of connections.
    pub connections: usize,
    /// Pause between two pieces.
    pub interval_ms: u64,
    /// Length of a piece.
    pub bytes: usize,
    /// Path asked for.
    pub path: String,
    /// Declared length of the body (`body` only).
    #[serde(default)]
    pub body_bytes: u64,
    /// The receive buffer of a client that does not read (`read` only); small unless said, so that the server
    /// soon notices that nobody reads.
    #[serde(default = "default_receive_buffer")]
    pub receive_buffer_bytes: u32,
}

fn default_receive_buffer() -> u32 {
    4096
}

/// Ways in which a client is slow.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Slowness {
    /// Sends its headers piece by piece and never ends them.
    Headers,
    /// Sends its body piece by piece.
    Body,
    /// Reads the answer piece by piece.
    Read,
}

/// Connections and requests are bounded so that a wrong plan cannot take the machine down.
const CONNECTIONS_MAX: usize = 50_000;
const REQUESTS_MAX: u64 = 100_000_000;

impl Plan {
    /// Reads and checks a plan. The error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let plan: Self = serde_json::from_str(text).map_err(|error| format!("the plan is not valid: {error}"))?;
        plan.check()?;
        Ok(plan)
    }

    fn check(&self) -> Result<(), String> {
        if self.targets.is_empty() {
            return Err("the plan names no target".into());
        }
        if let Some(outside) = self.targets.iter().find(|target| !target.ip().is_loopback()) {
            return Err(format!("{outside} is not a loopback address, and nothing else may be loaded"));
        }
        if let Some(abort) = &self.abort {
            let shares_fit = [abort.fraction, abort.reset_fraction].iter().all(|share| (0.0..=1.0).contains(share));
            if !shares_fit || abort.after_ms_min < 0.0 || abort.after_ms_max < abort.after_ms_min {
                return Err("abort: shares are 0 to 1, and after_ms_min is at most after_ms_max".into());
            }
        }
        if self.routes.iter().any(|route| !(route.weight.is_finite() && route.weight > 0.0)) {
            return Err("the weight of a route is a number above 0".into());
        }
        let (connections, requests) = match &self.mode {
            Mode::Closed { connections, requests, .. } => (*connections, *requests),
            Mode::Open { rate_per_s, requests_max, connections_max, .. } => {
                if !(rate_per_s.is_finite() && *rate_per_s > 0.0) {
                    return Err("rate_per_s is a number above 0".into());
                }
                (*connections_max, *requests_max)
            }
            Mode::Burst { connections } => (*connections, 1),
            Mode::Hold { connections, connections_per_s, .. } => {
                check_ramp(*connections_per_s)?;
                (*connections, 1)
            }
            Mode::Slow { groups, connections_per_s, .. } => {
                check_ramp(*connections_per_s)?;
                if groups.iter().any(|group| group.bytes == 0 || group.interval_ms == 0) {
                    return Err("a slow group needs bytes and interval_ms above 0".into());
                }
                (groups.iter().map(|group| group.connections).sum(), 1)
            }
        };
        if connections == 0 || connections > CONNECTIONS_MAX {
            return Err(format!("connections must be 1 to {CONNECTIONS_MAX}"));
        }
        if requests == 0 || requests > REQUESTS_MAX {
            return Err(format!("requests must be 1 to {REQUESTS_MAX}"));
        }
        if self.routes.is_empty() && !matches!(self.mode, Mode::Slow { .. }) {
            return Err("the plan names no route".into());
        }
        Ok(())
    }
}

fn check_ramp(connections_per_s: u64) -> Result<(), String> {
    if connections_per_s == 0 { Err("connections_per_s must be above 0".into()) } else { Ok(()) }
}

fn default_timeout_ms() -> u64 {
    30_000
}
fn default_seed() -> u64 {
    1
}
fn default_duration_ms_max() -> u64 {
    1_800_000
}
fn default_connections_max() -> usize {
    10_000
}
fn default_ramp() -> u64 {
    2_000
}
fn default_class() -> String {
    "all".into()
}
fn default_method() -> String {
    "GET".into()
}
fn default_weight() -> f64 {
    1.0
}
fn one() -> u64 {
    1
}
fn yes() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan_for(target: &str) -> String {
        format!(
            r#"{{"targets":["{target}"],"routes":[{{"path":"/"}}],"mode":{{"kind":"closed","connections":1,"requests":1}}}}"#
        )
    }

    #[test]
    fn loopback_targets_are_accepted() {
        assert!(Plan::parse(&plan_for("127.0.0.1:3000")).is_ok());
        assert!(Plan::parse(&plan_for("127.1.2.3:3000")).is_ok());
        assert!(Plan::parse(&plan_for("[::1]:3000")).is_ok());
    }

    #[test]
    fn any_other_target_is_refused() {
        for target in ["192.0.2.1:80", "0.0.0.0:80", "[2001:db8::1]:80", "[::ffff:192.0.2.1]:80", "example.com:80"] {
            assert!(Plan::parse(&plan_for(target)).is_err(), "{target}");
        }
    }

    #[test]
    fn an_unknown_key_is_refused() {
        let text = plan_for("127.0.0.1:1").replacen("\"targets\"", "\"keepalive\":true,\"targets\"", 1);
        assert!(Plan::parse(&text).is_err());
    }
}
