//! Checks beyond a single value: forms of strings, and keys that must fit each other.
//!
//! This module must not look at the world. The code that uses a file or a port finds out whether it exists or is free.

use std::net::{IpAddr, SocketAddr};

use super::certificates::CERTIFICATES_MAX;
use super::dial::Dial;
use super::rate::{LIMITS_MAX, Rate, path_fault};
use super::route::{ROUTES_MAX, Route};
use super::span::Span;
use super::{Config, Order, access, acme, log, upstreams};

/// Shortest time after which a worker counts as stuck.
const STUCK_AFTER_MS_MIN: u64 = 1_500;
/// Maximum number of media types.
const TYPES_MAX: usize = 256;

/// Calls `problem` with a key and what is wrong with it.
pub(super) fn check(config: &Config, mut problem: impl FnMut(&'static str, String)) {
    if config.app.command.first().is_some_and(String::is_empty) {
        problem("app.command", "must name a program first".to_owned());
    }
    if config.app.entry.as_deref() == Some("") {
        problem("app.entry", "must not be empty".to_owned());
    }
    if config.app.node.is_empty() {
        problem("app.node", "must not be empty".to_owned());
    }
    for name in config.app.env.keys() {
        if name.is_empty() || name.contains(['=', '\0']) {
            problem("app.env", format!("contains {name:?}, which cannot be the name of a variable"));
        } else if name.starts_with("SLUICE_") || name == "PORT" {
            problem("app.env", format!("contains {name}, which Sluice sets itself"));
        }
    }
    if !is_host(&config.server.host) {
        problem("server.host", format!("must be an IP address or a host name, not {:?}", config.server.host));
    }
    check_tls(config, &mut problem);
    acme::check(config, &mut problem);
    check_networks(config, &mut problem);
    check_rates(config, &mut problem);
    access::check(&config.access, &mut problem);
    log::check(&config.log, &mut problem);
    check_routes(config, &mut problem);
    check_sessions(config, &mut problem);
    check_compression(config, &mut problem);
    upstreams::check(&config.upstreams.routes, |fault| problem("upstreams.routes", fault));
    for target in config.warm_up.paths.iter().filter(|target| !is_target(target)) {
        problem("warm_up.paths", format!("must contain paths that start with '/', not {target:?}"));
    }
    let stuck_after_ms = config.workers.stuck_after_ms;
    // Workers tell four times a second that they live; whoever looks sooner sees dead ones everywhere.
    if stuck_after_ms > 0 && stuck_after_ms < STUCK_AFTER_MS_MIN {
        let text = format!("must be 0 or at least {STUCK_AFTER_MS_MIN}, not {stuck_after_ms}");
        problem("workers.stuck_after_ms", text);
    }
    check_own_paths(config, &mut problem);
    for fault in Dial::read(&config.render.server).err().into_iter().flatten() {
        problem("render.server", fault.to_string());
    }
    for (prefix, dir) in &config.files.paths {
        if !is_path(prefix) || !prefix.ends_with('/') {
            problem("files.paths", format!("must contain paths that start and end with '/', not {prefix:?}"));
        }
        if dir.is_empty() {
            problem("files.paths", format!("names no directory for {prefix:?}; \".\" is that of the config file"));
        }
    }
    for (prefix, value) in &config.files.cache_control {
        if !is_path(prefix) {
            problem("files.cache_control", format!("must contain paths that start with '/', not {prefix:?}"));
        }
        if value.is_empty() || !value.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()) {
            problem("files.cache_control", format!("must contain values of a header field, not {value:?}"));
        }
    }
    check_pages(config, &mut problem);
    check_shared_cache(config, &mut problem);
    let admin = &config.admin;
    for (key, written, example) in [
        ("admin.address", &admin.address, "127.0.0.1:7584"),
        ("admin.agent_address", &admin.agent_address, "127.0.0.1:9101"),
    ] {
        if !is_admin_address(written) {
            problem(key, format!("must be off or an address with a port like {example}, not {written:?}"));
        }
    }
    if admin.agent_address == admin.address && admin.address != "off" && !admin.address.ends_with(":0") {
        problem("admin.agent_address", "must differ from admin.address".to_owned());
    }
    if config
        .admin
        .token
        .as_deref()
        .is_some_and(|token| token.len() < 16 || !token.bytes().all(|byte| byte.is_ascii_graphic()))
    {
        problem("admin.token", "must have at least 16 ASCII characters without spaces".to_owned());
    }
}

/// Paths that the gateway answers by itself.
fn check_own_paths(config: &Config, problem: &mut impl FnMut(&'static str, String)) {
    let edge = &config.edge;
    let paths = [("edge.ping_path", &edge.ping_path), ("edge.ready_path", &edge.ready_path)];
    for (key, path) in paths.into_iter().filter(|(_, path)| !path.is_empty() && !is_path(path)) {
        problem(key, format!("must be empty or a path that starts with '/', not {path:?}"));
    }
    if !edge.ping_path.is_empty() && edge.ping_path == edge.ready_path {
        problem("edge.ready_path", "must differ from edge.ping_path".to_owned());
    }
}

fn is_error_status(status: &str) -> bool {
    let is_number = status.len() == 3 && status.bytes().all(|byte| byte.is_ascii_digit());
    matches!(status, "4xx" | "5xx") || is_number && matches!(status.as_bytes()[0], b'4' | b'5')
}

/// Checks the keys of cached and composed pages, and of the pages in their place.
fn check_pages(config: &Config, problem: &mut impl FnMut(&'static str, String)) {
    for (key, pages) in [("shell.files", &config.shell.files), ("shell.pages", &config.shell.pages)] {
        for prefix in pages.keys().filter(|prefix| !is_path(prefix)) {
            problem(key, format!("must contain paths that start with '/', not {prefix:?}"));
        }
    }
    for (prefix, file) in &config.shell.files {
        if file.is_empty() {
            problem("shell.files", format!("names no file for {prefix:?}"));
        }
    }
    for (status, file) in &config.errors.pages {
        if !is_error_status(status) {
            problem(
                "errors.pages",
                format!("must contain statuses from 400 to 599, \"4xx\" or \"5xx\", not {status:?}"),
            );
        }
        if file.is_empty() {
            problem("errors.pages", format!("names no file for {status:?}"));
        }
    }
    for (prefix, page) in &config.shell.pages {
        if !is_path(page) {
            problem("shell.pages", format!("must name paths of the app that start with '/', not {page:?}"));
        }
        if config.shell.files.contains_key(prefix) {
            problem("shell.pages", format!("has {prefix:?}, which shell.files has as well; remove one of them"));
        }
    }
    for (prefix, time) in &config.cache.ttl {
        if !is_path(prefix) {
            problem("cache.ttl", format!("must contain paths that start with '/', not {prefix:?}"));
        }
        if let Err(error) = Span::parse(time) {
            problem("cache.ttl", format!("must be {error}, not {time:?}"));
        }
    }
    for prefix in config.cache.bypass.iter().filter(|prefix| !is_path(prefix)) {
        problem("cache.bypass", format!("must contain paths that start with '/', not {prefix:?}"));
    }
    for prefix in config.compose.paths.iter().filter(|prefix| !is_path(prefix)) {
        problem("compose.paths", format!("must contain paths that start with '/', not {prefix:?}"));
    }
}

fn check_shared_cache(config: &Config, problem: &mut impl FnMut(&'static str, String)) {
    let cache = &config.cache;
    if cache.shared_url.is_some() && !cache.enabled {
        problem("cache.shared_url", "also needs cache.enabled = true".to_owned());
    }
    if cache.disk_dir.is_some() && !cache.enabled {
        problem("cache.disk_dir", "also needs cache.enabled = true".to_owned());
    }
    if cache.shared_password_file.is_some() && cache.shared_url.is_none() {
        problem("cache.shared_password_file", "also needs cache.shared_url".to_owned());
    }
    if config.rate.shared && cache.shared_url.is_none() {
        problem("rate.shared", "needs cache.shared_url, the server that the gateways count in".to_owned());
    }
    if config.rate.shared && config.rate.limits.is_empty() {
        problem("rate.shared", "needs a limit in rate.limits, or nothing is counted".to_owned());
    }
    let prefix = &cache.shared_prefix;
    if prefix.is_empty() || prefix.len() > 64 || !prefix.bytes().all(|byte| byte.is_ascii_graphic()) {
        problem("cache.shared_prefix", "must have 1 to 64 ASCII characters without spaces".to_owned());
    }
}

fn check_tls(config: &Config, problem: &mut impl FnMut(&'static str, String)) {
    let server = &config.server;
    match (&server.tls_cert, &server.tls_key) {
        (Some(_), None) => problem("server.tls_cert", "also needs server.tls_key".to_owned()),
        (None, Some(_)) => problem("server.tls_key", "also needs server.tls_cert".to_owned()),
        _ => {}
    }
    if server.certificates.len() > CERTIFICATES_MAX {
        let count = server.certificates.len();
        problem("server.certificates", format!("must contain at most {CERTIFICATES_MAX} certificates, not {count}"));
    }
    for host in server.certificates.iter().flat_map(|certificate| &certificate.hosts) {
        if !is_host_name(host.strip_prefix("*.").unwrap_or(host)) {
            let text = format!("must contain hosts like www.example.com or *.example.com, not {host:?}");
            problem("server.certificates", text);
        }
    }
    if server.redirect_port > 0 && !config.is_tls() {
        problem(
            "server.redirect_port",
            "needs server.tls_cert, server.certificates or acme.names, to redirect to HTTPS".to_owned(),
        );
    }
    if server.redirect_port > 0 && server.redirect_port == server.port {
        problem("server.redirect_port", "must differ from server.port".to_owned());
    }
}

fn check_networks(config: &Config, problem: &mut impl FnMut(&'static str, String)) {
    if config.server.proxy_protocol && config.server.trusted_peers.is_empty() {
        let text = "needs server.trusted_peers, the networks of the proxies that send the header".to_owned();
        problem("server.proxy_protocol", text);
    }
    let networks = [
        ("server.trusted_peers", &config.server.trusted_peers),
        ("rate.exempt", &config.rate.exempt),
        ("access.allow", &config.access.allow),
        ("access.deny", &config.access.deny),
    ];
    for (key, networks) in networks {
        for network in networks.iter().filter(|network| !is_network(network)) {
            problem(key, format!("must contain addresses or networks like 10.0.0.0/8, not {network:?}"));
        }
    }
}

fn check_rates(config: &Config, problem: &mut impl FnMut(&'static str, String)) {
    let limits = &config.rate.limits;
    if limits.len() > LIMITS_MAX {
        problem("rate.limits", format!("must contain at most {LIMITS_MAX} paths, not {}", limits.len()));
    }
    let mut folded = std::collections::HashMap::new();
    for (path, text) in limits {
        if let Some(before) = folded.insert(path.to_lowercase(), path) {
            problem("rate.limits", format!("contains {before:?} and {path:?}, which are one path; remove one of them"));
        }
        if let Some(fault) = path_fault(path) {
            problem("rate.limits", format!("contains the path {path:?}, which must {fault}"));
        }
        if let Err(allowed) = Rate::parse(text) {
            problem("rate.limits", format!("contains {text:?} for {path:?}, which must be {allowed}"));
        }
    }
}

fn check_routes(config: &Config, problem: &mut impl FnMut(&'static str, String)) {
    let routes = &config.classes.routes;
    // Each may be a class of its own, and others need room too.
    let routes_max = ROUTES_MAX.min(config.bounds.classes_count_max as usize / 2);
    if routes.len() > routes_max {
        problem("classes.routes", format!("must contain at most {routes_max} routes, not {}", routes.len()));
    }
    let mut read: Vec<(&String, Route)> = Vec::new();
    for (pattern, settings) in routes {
        match Route::parse(pattern, settings) {
            Ok(route) => read.push((pattern, route)),
            Err(fault) => problem("classes.routes", format!("contains {pattern:?}, which must {fault}")),
        }
    }
    // At most `ROUTES_MAX` of them, or it was refused above.
    for (at, (pattern, route)) in read.iter().enumerate().take(ROUTES_MAX) {
        if let Some((first, _)) = read[..at].iter().find(|(_, other)| other.is_for_the_same_as(route)) {
            let text = format!("contains {first:?} and {pattern:?}, which are for the same requests; keep one of them");
            problem("classes.routes", text);
        }
    }
}

fn check_sessions(config: &Config, problem: &mut impl FnMut(&'static str, String)) {
    let sticky = &config.sticky;
    if sticky.routes.len() > ROUTES_MAX {
        problem("sticky.routes", format!("must contain at most {ROUTES_MAX} routes, not {}", sticky.routes.len()));
    }
    for pattern in &sticky.routes {
        if let Err(fault) = Route::parse(pattern, "") {
            problem("sticky.routes", format!("contains {pattern:?}, which must {fault}"));
        }
    }
    // RFC 6265 §4.1.1: a cookie's name is a token.
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if sticky.cookie.is_empty() || sticky.cookie.len() > 64 || !sticky.cookie.bytes().all(is_token) {
        problem(
            "sticky.cookie",
            format!("must be 1 to 64 letters, digits and signs like '-' and '_', not {:?}", sticky.cookie),
        );
    }
}

fn check_compression(config: &Config, problem: &mut impl FnMut(&'static str, String)) {
    let compression = &config.compression;
    if compression.types.len() > TYPES_MAX {
        problem(
            "compression.types",
            format!("must contain at most {TYPES_MAX} types, not {}", compression.types.len()),
        );
    }
    for media_type in compression.types.iter().filter(|media_type| !is_type_pattern(media_type)) {
        let allowed = "like \"text/html\", \"text/*\" or \"*+json\"";
        problem("compression.types", format!("must contain media types {allowed}, not {media_type:?}"));
    }
    if compression.exclude.len() > ROUTES_MAX {
        let count = compression.exclude.len();
        problem("compression.exclude", format!("must contain at most {ROUTES_MAX} routes, not {count}"));
    }
    for pattern in &compression.exclude {
        if let Err(fault) = Route::parse(pattern, "") {
            problem("compression.exclude", format!("contains {pattern:?}, which must {fault}"));
        }
    }
}

/// `text/html`, `text/*`, `*+json`.
fn is_type_pattern(text: &str) -> bool {
    let is_name = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte))
    };
    match (text.strip_prefix("*+"), text.split_once('/')) {
        (Some(suffix), None) => is_name(suffix),
        (None, Some((kind, subtype))) => is_name(kind) && (subtype == "*" || is_name(subtype)),
        _ => false,
    }
}

/// Warnings about settings that are allowed but have no effect or a surprising one, a sentence each.
pub(super) fn warnings(config: &Config) -> Vec<String> {
    let has_idle_hsts = config.server.hsts_max_age_s > 0 && !config.is_tls();
    let hsts = "server.hsts_max_age_s has no effect without a certificate; name one with server.tls_cert or acme.names, or remove it.";
    let has_priority = |(pattern, settings): (&String, &String)| {
        Route::parse(pattern, settings).is_ok_and(|route| route.priority != 0)
    };
    let is_idle = config.queue.order == Order::Fifo && config.classes.routes.iter().any(has_priority);
    let text = "classes.routes sets a priority, which has no effect while queue.order is \"fifo\"; remove it, or set \
                queue.order to \"shortest\".";
    let is_plain = config.compose.enabled && !config.compression.enabled;
    let plain = "compose.enabled removes Accept-Encoding from requests to the app, so it compresses no answer; set \
        compression.enabled, or \
                 leave compression to the proxy in front.";
    let found = [(is_idle, text), (has_idle_hsts, hsts), (is_plain, plain)];
    let found = found.into_iter().filter(|(is_found, _)| *is_found).map(|(_, text)| text.to_owned());
    found.chain(access::warning(config)).chain(acme::warning(config)).collect()
}

fn is_host(text: &str) -> bool {
    text.parse::<IpAddr>().is_ok() || is_host_name(text)
}

pub(super) fn is_host_name(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 253
        && text.split('.').all(|label| {
            !label.is_empty()
                && label.len() <= 63
                && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        })
}

fn is_network(text: &str) -> bool {
    let (address, length) = match text.split_once('/') {
        Some((address, length)) => (address, Some(length)),
        None => (text, None),
    };
    let Ok(address) = address.parse::<IpAddr>() else { return false };
    let longest = if address.is_ipv4() { 32 } else { 128 };
    length.is_none_or(|length| {
        length.bytes().all(|byte| byte.is_ascii_digit()) && length.parse::<u8>().is_ok_and(|length| length <= longest)
    })
}

fn is_path(text: &str) -> bool {
    text.starts_with('/') && text.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'?' | b'#'))
}

/// A path that a query may follow.
fn is_target(text: &str) -> bool {
    text.starts_with('/') && text.len() <= 2048 && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#')
}

fn is_admin_address(text: &str) -> bool {
    text == "off"
        || text.parse::<SocketAddr>().is_ok()
        || text.rsplit_once(':').is_some_and(|(host, port)| is_host_name(host) && port.parse::<u16>().is_ok())
}
