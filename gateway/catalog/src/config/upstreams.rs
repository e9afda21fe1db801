//! `[[upstreams.routes]]`: routes to other hosts, each with its targets, limits and TLS files.

use serde::{Deserialize, Serialize};
use toml::de::DeValue;

use super::checks::is_host_name;
use super::duration::parse_ms;
use super::route::{ROUTES_MAX, Route};
use super::table::Bounds;
use super::value_error::ValueError;
use super::values::{Column, Form, Kind, Value, elements};

/// Upstreams in one config. Each is a value of the metrics' label `upstream`.
const UPSTREAMS_MAX: usize = 64;
/// Targets of one upstream.
const TARGETS_MAX: usize = 32;
/// Longest time limit, milliseconds. An hour.
const TIME_MS_MAX: u64 = 3_600_000;
/// Maximum number of connections to one target.
const CONNECTIONS_MAX: u64 = 10_000;
/// Maximum number of retries of a request.
const RETRIES_MAX: u64 = 5;

/// Another host for some routes, as the file has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Upstream {
    /// Name in logs, metrics and `sluice status`.
    pub name: String,
    /// Requests that it gets, as in `classes.routes`.
    pub paths: Vec<String>,
    /// Targets, each with its settings: see [`Target::parse`].
    pub to: Vec<String>,
    /// `keep` or `target`.
    pub host: String,
    /// Longest time for a connection, with its TLS handshake.
    pub connect_timeout: String,
    /// Longest time until the answer begins, and between two pieces of it.
    pub first_byte_timeout: String,
    /// Longest time of the whole exchange; `0s` for no limit.
    pub timeout: String,
    /// Times that a request may be sent again.
    pub retries: u64,
    /// Connections to one target.
    pub connections_max: u64,
    /// Path of the active health check; empty for none.
    pub health: String,
    /// `v1` or `v2`; empty for none.
    pub proxy_protocol: String,
    /// File with the certificates of the CA; empty for those of the system.
    pub ca: String,
    /// File with the client's certificate; empty for none.
    pub cert: String,
    /// File with its key.
    pub key: String,
    /// Name that the target's certificate must have; empty for the target's host.
    pub server_name: String,
}

impl Default for Upstream {
    fn default() -> Self {
        Upstream {
            name: String::new(),
            paths: Vec::new(),
            to: Vec::new(),
            host: "keep".to_owned(),
            connect_timeout: "2s".to_owned(),
            first_byte_timeout: "30s".to_owned(),
            timeout: "0s".to_owned(),
            retries: 1,
            connections_max: 100,
            health: String::new(),
            proxy_protocol: String::new(),
            ca: String::new(),
            cert: String::new(),
            key: String::new(),
            server_name: String::new(),
        }
    }
}

/// `Host` of the requests that an upstream gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostHeader {
    /// The client's.
    Keep,
    /// Host and port of the target.
    Target,
}

/// Version of the PROXY protocol by which a connection begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxyProtocol {
    /// A line of text.
    V1,
    /// Binary.
    V2,
}

/// One target of an upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Whether it speaks TLS.
    pub is_tls: bool,
    /// Name or address of the host, without brackets.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Share of the requests, 1 to 1000.
    pub weight: u32,
    /// The target gets requests only while no other one is healthy.
    pub is_backup: bool,
}

/// Rule for targets, as a part of a sentence.
const TARGET_FORM: &str = "like \"http://10.0.0.5:8080\", \"https://old.example weight=2\" or \"http://10.0.0.6:8080 \
                           backup\", with a weight from 1 to 1000 and without a path";

impl Target {
    /// Reads a URL without a path, and the words `weight=N` and `backup` behind it.
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_ascii_whitespace();
        let url = words.next()?;
        let (scheme, rest) = url.split_once("://")?;
        let is_tls = match scheme {
            "http" => false,
            "https" => true,
            _ => return None,
        };
        let authority = rest.strip_suffix('/').unwrap_or(rest);
        let (host, port) = if let Some(rest) = authority.strip_prefix('[') {
            let (host, port) = rest.split_once(']')?;
            host.parse::<std::net::Ipv6Addr>().ok()?;
            (host, if port.is_empty() { None } else { Some(port.strip_prefix(':')?) })
        } else {
            let (host, port) = authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port)));
            is_host_name(host).then_some(())?;
            (host, port)
        };
        let default_port = if is_tls { 443 } else { 80 };
        let port = port.map_or(Some(default_port), |port| port.parse().ok().filter(|port| *port > 0))?;
        let mut target = Target { is_tls, host: host.to_ascii_lowercase(), port, weight: 1, is_backup: false };
        for word in words {
            match word.split_once('=') {
                Some(("weight", weight)) => {
                    target.weight = weight.parse().ok().filter(|weight| (1..=1000).contains(weight))?;
                }
                None if word == "backup" => target.is_backup = true,
                _ => return None,
            }
        }
        Some(target)
    }

    /// Host and port as in a URL, without the scheme's own port.
    pub fn authority(&self) -> String {
        let brackets = self.host.contains(':');
        let host = if brackets { format!("[{}]", self.host) } else { self.host.clone() };
        match (self.is_tls, self.port) {
            (true, 443) | (false, 80) => host,
            (_, port) => format!("{host}:{port}"),
        }
    }
}

impl Upstream {
    /// Targets. Those that do not parse were refused before.
    pub fn targets(&self) -> Vec<Target> {
        self.to.iter().filter_map(|text| Target::parse(text)).collect()
    }

    /// `Host` of its requests.
    pub fn host_header(&self) -> HostHeader {
        if self.host == "target" { HostHeader::Target } else { HostHeader::Keep }
    }

    /// PROXY protocol of its connections.
    pub fn proxy(&self) -> Option<ProxyProtocol> {
        match self.proxy_protocol.as_str() {
            "v1" => Some(ProxyProtocol::V1),
            "v2" => Some(ProxyProtocol::V2),
            _ => None,
        }
    }

    /// Files that it names.
    pub fn files(&mut self) -> impl Iterator<Item = &mut String> {
        [&mut self.ca, &mut self.cert, &mut self.key].into_iter().filter(|file| !file.is_empty())
    }
}

/// Reads a time that was checked before, milliseconds.
pub(super) fn time_ms(text: &str) -> Option<u64> {
    parse_ms(text).ok().filter(|time_ms| *time_ms <= TIME_MS_MAX)
}

impl Upstream {
    /// Longest time for a connection, milliseconds.
    pub fn connect_timeout_ms(&self) -> u64 {
        time_ms(&self.connect_timeout).unwrap_or(2_000)
    }

    /// Longest time until the answer begins, and between two pieces of it, milliseconds.
    pub fn first_byte_timeout_ms(&self) -> u64 {
        time_ms(&self.first_byte_timeout).unwrap_or(30_000)
    }

    /// Longest time of the whole exchange, milliseconds; `None` for no limit.
    pub fn timeout_ms(&self) -> Option<u64> {
        time_ms(&self.timeout).filter(|time_ms| *time_ms > 0)
    }
}

const fn column(name: &'static str, form: Form, text: &'static str) -> Column {
    Column { name, form, is_required: false, text }
}

const COLUMNS: &[Column] = &[
    Column {
        name: "name",
        form: Form::Text,
        is_required: true,
        text: "Name in logs, metrics and `sluice status`: 1 to 32 lower-case letters, digits and `-`.",
    },
    Column {
        name: "paths",
        form: Form::List,
        is_required: true,
        text: "Requests for this upstream, written as in `classes.routes`: `/old/*`, `GET shop.example/api/*`.",
    },
    Column {
        name: "to",
        form: Form::List,
        is_required: true,
        text: "Targets: `http://10.0.0.5:8080`, `https://old.example weight=2`, `http://10.0.0.6:8080 backup`. If a name has several \
               addresses, each is a target. A target with `backup` gets requests only while no other target is healthy.",
    },
    column(
        "host",
        Form::Text,
        "`Host` of the requests: `keep` for the client's, or `target` for the target's. Default: `keep`.",
    ),
    column(
        "connect_timeout",
        Form::Text,
        "Maximum time to open a connection, with its TLS handshake, or to wait for a free one under `connections_max`. Default: `2s`.",
    ),
    column(
        "first_byte_timeout",
        Form::Text,
        "Maximum time until the answer begins, and for each pause within it. Default: `30s`.",
    ),
    column("timeout", Form::Text, "Maximum time of the whole exchange; `0s` disables the limit. Default: `0s`."),
    column(
        "retries",
        Form::Number,
        "Maximum number of retries on another target, 0 to 5. GET, HEAD and OPTIONS are retried until the answer begins. Other methods are \
         retried only if no connection was made. In total, retries are limited to about a fifth of all requests. Default: 1.",
    ),
    column("connections_max", Form::Number, "Maximum number of connections to each target, 1 to 10000. Default: 100."),
    column(
        "health",
        Form::Text,
        "Path of a health check every 5 s; a target is healthy while it answers 2xx or 3xx. Without this key, only failed requests \
         count.",
    ),
    column(
        "proxy_protocol",
        Form::Text,
        "`v1` or `v2`: connections begin with the client's address (PROXY protocol), and each carries only one request.",
    ),
    column(
        "ca",
        Form::Text,
        "File with the root certificates (PEM) to verify targets, relative to the config file. Default: those of the system.",
    ),
    column("cert", Form::Text, "File with the gateway's client certificate (PEM) for mutual TLS."),
    column("key", Form::Text, "File with the private key (PEM) of `cert`."),
    column(
        "server_name",
        Form::Text,
        "Name that the certificate of each target must have. Default: the target's host.",
    ),
];

impl Value for Vec<Upstream> {
    const KIND: Kind = Kind::Tables(COLUMNS);

    fn from_toml(value: &DeValue<'_>, bounds: Option<Bounds>) -> Result<Self, ValueError> {
        elements(value, Self::KIND, |element| read(element, bounds))
    }

    fn from_text(text: &str, _: Option<Bounds>) -> Result<Self, ValueError> {
        serde_json::from_str(text).map_err(ValueError::NotJsonTables)
    }

    fn to_json(&self) -> serde_json::Value {
        serde_json::json!(self)
    }
}

fn read(value: &DeValue<'_>, bounds: Option<Bounds>) -> Result<Upstream, ValueError> {
    let DeValue::Table(table) = value else { return Err(ValueError::of_type(Kind::TextMap, value)) };
    let mut upstream = Upstream::default();
    for (name, value) in table {
        let (name, value): (&str, _) = (name.get_ref(), value.get_ref());
        let entry = |error| ValueError::Entry { name: name.to_owned(), error: Box::new(error) };
        let number = |max| u64::from_toml(value, Some(Bounds { min: u64::from(max == CONNECTIONS_MAX), max }));
        let text = match name {
            "paths" | "to" => {
                let list = Vec::from_toml(value, bounds).map_err(entry)?;
                *(if name == "to" { &mut upstream.to } else { &mut upstream.paths }) = list;
                continue;
            }
            "retries" => {
                upstream.retries = number(RETRIES_MAX).map_err(entry)?;
                continue;
            }
            "connections_max" => {
                upstream.connections_max = number(CONNECTIONS_MAX).map_err(entry)?;
                continue;
            }
            "name" => &mut upstream.name,
            "host" => &mut upstream.host,
            "connect_timeout" => &mut upstream.connect_timeout,
            "first_byte_timeout" => &mut upstream.first_byte_timeout,
            "timeout" => &mut upstream.timeout,
            "health" => &mut upstream.health,
            "proxy_protocol" => &mut upstream.proxy_protocol,
            "ca" => &mut upstream.ca,
            "cert" => &mut upstream.cert,
            "key" => &mut upstream.key,
            "server_name" => &mut upstream.server_name,
            _ => return Err(ValueError::UnknownColumn { name: name.to_owned(), columns: COLUMNS }),
        };
        *text = String::from_toml(value, bounds).map_err(entry)?;
    }
    for column in COLUMNS.iter().filter(|column| column.is_required) {
        if !table.keys().any(|name| name.get_ref() == column.name) {
            return Err(ValueError::MissingColumn(column.name));
        }
    }
    Ok(upstream)
}

/// Calls `problem` with what is wrong with the routes.
pub(super) fn check(upstreams: &[Upstream], mut problem: impl FnMut(String)) {
    if upstreams.len() > UPSTREAMS_MAX {
        problem(format!("must contain at most {UPSTREAMS_MAX} upstreams, not {}", upstreams.len()));
    }
    let mut routes: Vec<(&str, &str, Route)> = Vec::new();
    for (at, upstream) in upstreams.iter().enumerate().take(UPSTREAMS_MAX) {
        let name = upstream.name.as_str();
        let is_name = (1..=32).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        if !is_name {
            problem(format!("must have names of 1 to 32 lower-case letters, digits and '-', not {name:?}"));
        }
        if upstreams[..at].iter().any(|other| other.name == name) {
            problem(format!("has the name {name:?} twice; give each upstream another name"));
        }
        if upstream.paths.is_empty() {
            problem(format!("names no paths for {name:?}; add its requests, like \"/old/*\""));
        }
        for pattern in &upstream.paths {
            match Route::parse(pattern, "") {
                Err(fault) => problem(format!("contains the path {pattern:?} of {name:?}, which must {fault}")),
                Ok(route) if route.method.as_deref() == Some("HEAD") => {
                    problem(format!("contains the path {pattern:?} of {name:?}; write GET, which includes HEAD"));
                }
                Ok(route) => {
                    if let Some((first, of, _)) = routes.iter().find(|(_, _, other)| other.is_for_the_same_as(&route)) {
                        problem(format!(
                            "has {first:?} of {of:?} and {pattern:?} of {name:?}, which are for the same requests; keep one of them"
                        ));
                    }
                    if routes.len() < ROUTES_MAX {
                        routes.push((pattern, name, route));
                    } else {
                        problem(format!("must contain at most {ROUTES_MAX} paths in all"));
                        return;
                    }
                }
            }
        }
        check_targets(upstream, &mut problem);
        check_settings(upstream, &mut problem);
    }
}

fn check_targets(upstream: &Upstream, problem: &mut impl FnMut(String)) {
    let name = &upstream.name;
    if upstream.to.len() > TARGETS_MAX {
        problem(format!("must contain at most {TARGETS_MAX} targets for {name:?}, not {}", upstream.to.len()));
    }
    for text in upstream.to.iter().filter(|text| Target::parse(text).is_none()) {
        problem(format!("must contain targets {TARGET_FORM}, not {text:?} (of {name:?})"));
    }
    let targets = upstream.targets();
    if upstream.to.is_empty() || !targets.is_empty() && targets.iter().all(|target| target.is_backup) {
        problem(format!("names no target without \"backup\" for {name:?}; add one {TARGET_FORM}"));
    }
    let has_tls = targets.iter().any(|target| target.is_tls);
    let tls = [&upstream.ca, &upstream.cert, &upstream.key, &upstream.server_name];
    if !has_tls && !targets.is_empty() && tls.iter().any(|text| !text.is_empty()) {
        problem(format!("has TLS settings for {name:?}, none of whose targets begins with https://; leave them out"));
    }
    match (upstream.cert.is_empty(), upstream.key.is_empty()) {
        (false, true) => problem(format!("names cert for {name:?}, which also needs key")),
        (true, false) => problem(format!("names key for {name:?}, which also needs cert")),
        _ => {}
    }
    let server_name = &upstream.server_name;
    if !server_name.is_empty() && !is_host_name(server_name) {
        problem(format!("must have a host name as server_name of {name:?}, not {server_name:?}"));
    }
}

fn check_settings(upstream: &Upstream, problem: &mut impl FnMut(String)) {
    let name = &upstream.name;
    for (key, text, min_ms) in [
        ("connect_timeout", &upstream.connect_timeout, 1),
        ("first_byte_timeout", &upstream.first_byte_timeout, 1),
        ("timeout", &upstream.timeout, 0),
    ] {
        if time_ms(text).is_none_or(|time_ms| time_ms < min_ms) {
            let least = if min_ms == 0 { "\"0s\"" } else { "\"1ms\"" };
            problem(format!("must have a time from {least} to \"1h\" as {key} of {name:?}, not {text:?}"));
        }
    }
    for (key, text, words) in [
        ("host", &upstream.host, &["keep", "target"][..]),
        ("proxy_protocol", &upstream.proxy_protocol, &["v1", "v2", ""]),
    ] {
        if !words.contains(&text.as_str()) {
            problem(format!("must have {:?} or {:?} as {key} of {name:?}, not {text:?}", words[0], words[1]));
        }
    }
    let health = &upstream.health;
    let is_path = health.starts_with('/') && health.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#');
    if !health.is_empty() && (!is_path || health.len() > 2048) {
        problem(format!("must have a path that starts with '/' as health of {name:?}, not {health:?}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_urls_without_a_path_and_their_settings() {
        let target = Target::parse("https://Old.example weight=3 backup").unwrap();
        assert_eq!(
            target,
            Target { is_tls: true, host: "old.example".to_owned(), port: 443, weight: 3, is_backup: true }
        );
        assert_eq!(target.authority(), "old.example");
        assert_eq!(Target::parse("http://[::1]:8080").unwrap().authority(), "[::1]:8080");
        assert_eq!(Target::parse("http://10.0.0.5/").unwrap().port, 80);
        for text in [
            "",
            "10.0.0.5:80",
            "ftp://x",
            "http://",
            "http://x:0",
            "http://x:70000",
            "http://x/path",
            "http://user@x",
            "http://x weight=0",
            "http://x weight=1001",
            "http://x weights=1",
            "http://[::1",
            "http://[x]:1",
            "http://x?y",
        ] {
            assert_eq!(Target::parse(text), None, "{text}");
        }
    }

    type Fault = (fn(&mut Upstream), &'static str);

    #[test]
    fn faults_of_a_route_are_told_by_its_name() {
        let told = |change: fn(&mut Upstream)| {
            let mut upstream = Upstream {
                name: "legacy".to_owned(),
                paths: vec!["/old/*".to_owned()],
                to: vec!["http://10.0.0.5:8080".to_owned()],
                ..Upstream::default()
            };
            change(&mut upstream);
            let mut faults = Vec::new();
            check(&[upstream], |fault| faults.push(fault));
            faults
        };
        assert!(told(|_| {}).is_empty());
        let faults: [Fault; 12] = [
            (|u| u.name = "A".to_owned(), "lower-case"),
            (|u| u.paths.clear(), "names no paths"),
            (|u| u.paths.push("x".to_owned()), "which must be written like"),
            (|u| u.paths.push("/old/*".to_owned()), "same requests"),
            (|u| u.to.clear(), "no target without"),
            (|u| u.to = vec!["http://x backup".to_owned()], "no target without"),
            (|u| u.to.push("x".to_owned()), "must contain targets"),
            (|u| u.ca = "ca.pem".to_owned(), "none of whose targets"),
            (|u| u.connect_timeout = "0s".to_owned(), "connect_timeout"),
            (|u| u.timeout = "2h".to_owned(), "\"1h\" as timeout"),
            (|u| u.host = "other".to_owned(), "\"keep\" or \"target\""),
            (|u| u.health = "x".to_owned(), "as health of"),
        ];
        for (change, text) in faults {
            let faults = told(change);
            assert!(faults.len() == 1 && faults[0].contains(text), "{text}: {faults:?}");
        }
    }
}
