//! What one key alone cannot tell: forms of strings, and keys that must fit each other. It must not look at the world;
//! whether a file exists or a port is free is found out by whoever uses it.

use std::net::{IpAddr, SocketAddr};

use super::Config;

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
            problem("app.env", format!("holds {name:?}, which cannot be the name of a variable"));
        } else if name.starts_with("SLUICE_") || name == "PORT" {
            problem("app.env", format!("holds {name}, which Sluice sets itself"));
        }
    }
    if !is_host(&config.server.host) {
        problem("server.host", format!("must be an IP address or a host name, not {:?}", config.server.host));
    }
    match (&config.server.tls_cert, &config.server.tls_key) {
        (Some(_), None) => problem("server.tls_cert", "needs server.tls_key beside it".to_owned()),
        (None, Some(_)) => problem("server.tls_key", "needs server.tls_cert beside it".to_owned()),
        _ => {}
    }
    for network in &config.server.trusted_peers {
        if !is_network(network) {
            problem(
                "server.trusted_peers",
                format!("must hold addresses or networks like 10.0.0.0/8, not {network:?}"),
            );
        }
    }
    if config.workers.backoff_ms_min > config.workers.backoff_ms_max {
        problem("workers.backoff_ms_min", "must not be over workers.backoff_ms_max".to_owned());
    }
    for (key, path) in [("edge.ping_path", &config.edge.ping_path), ("edge.ready_path", &config.edge.ready_path)] {
        if !path.is_empty() && !is_path(path) {
            problem(key, format!("must be empty or a path that starts with '/', not {path:?}"));
        }
    }
    if !config.edge.ping_path.is_empty() && config.edge.ping_path == config.edge.ready_path {
        problem("edge.ready_path", "must differ from edge.ping_path".to_owned());
    }
    if !is_admin_address(&config.admin.address) {
        let written = &config.admin.address;
        problem("admin.address", format!("must be off or an address with a port like 127.0.0.1:9090, not {written:?}"));
    }
}

fn is_host(text: &str) -> bool {
    text.parse::<IpAddr>().is_ok() || is_host_name(text)
}

fn is_host_name(text: &str) -> bool {
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

fn is_admin_address(text: &str) -> bool {
    text == "off"
        || text.parse::<SocketAddr>().is_ok()
        || text.rsplit_once(':').is_some_and(|(host, port)| is_host_name(host) && port.parse::<u16>().is_ok())
}
