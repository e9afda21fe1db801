//! Address of the server, and the user, from a URL. Passwords are never shown.

use std::fmt;
use std::path::PathBuf;

use percent_encoding::percent_decode_str;

const PORT_DEFAULT: u16 = 6379;

/// A server of Redis or Valkey.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    pub(crate) place: StoreAddress,
    pub(crate) user: Option<String>,
    /// A secret.
    pub(crate) password: Option<String>,
    pub(crate) database: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StoreAddress {
    Socket(PathBuf),
    Host { name: String, port: u16, is_tls: bool },
}

/// A URL that names no server. It does not show the URL, in which a password may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be redis://host:port/database, rediss://host:port/database (TLS) or unix:///path/of/socket?db=0, with user:password@ before the \
     host where one is needed; special characters of a password are written as %40"
)]
pub struct NoAddress;

impl Address {
    /// Reads a URL. A `password` takes the place of the URL's own.
    ///
    /// # Errors
    /// When the URL names no server.
    pub fn parse(url: &str, password: Option<&str>) -> Result<Self, NoAddress> {
        let (scheme, rest) = url.split_once("://").ok_or(NoAddress)?;
        let (rest, query) = rest.split_once('?').map_or((rest, None), |(rest, query)| (rest, Some(query)));
        let (login, rest) = rest.rsplit_once('@').map_or((None, rest), |(login, rest)| (Some(login), rest));
        let (place, path) = match scheme {
            "unix" | "redis+unix" => (StoreAddress::Socket(socket(rest)?), None),
            "redis" | "rediss" => {
                let (host, path) = rest.split_once('/').map_or((rest, None), |(host, path)| (host, Some(path)));
                let (name, port) = host_and_port(host)?;
                (StoreAddress::Host { name, port, is_tls: scheme == "rediss" }, path)
            }
            _ => return Err(NoAddress),
        };
        let (user, own_password) = login.map_or(Ok((None, None)), read_login)?;
        let database = match (query, path.filter(|path| !path.is_empty())) {
            (None, None) => 0,
            (Some(query), None) => query.strip_prefix("db=").and_then(|number| number.parse().ok()).ok_or(NoAddress)?,
            (None, Some(path)) => path.parse().map_err(|_| NoAddress)?,
            (Some(_), Some(_)) => return Err(NoAddress),
        };
        Ok(Address { place, user, password: password.map(str::to_owned).or(own_password), database })
    }
}

fn socket(path: &str) -> Result<PathBuf, NoAddress> {
    let path = decoded(path)?;
    if path.starts_with('/') && path.len() > 1 { Ok(PathBuf::from(path)) } else { Err(NoAddress) }
}

fn host_and_port(host: &str) -> Result<(String, u16), NoAddress> {
    let (name, port) = match host.strip_prefix('[') {
        Some(rest) => {
            let (name, port) = rest.split_once(']').ok_or(NoAddress)?;
            (name, port.strip_prefix(':').or(port.is_empty().then_some("")).ok_or(NoAddress)?)
        }
        None => host.split_once(':').unwrap_or((host, "")),
    };
    let port = if port.is_empty() { PORT_DEFAULT } else { port.parse().map_err(|_| NoAddress)? };
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._:".contains(&byte));
    if is_name && port > 0 { Ok((name.to_owned(), port)) } else { Err(NoAddress) }
}

type Login = (Option<String>, Option<String>);

fn read_login(login: &str) -> Result<Login, NoAddress> {
    let (user, password) = login.split_once(':').map_or((login, None), |(user, password)| (user, Some(password)));
    let user = decoded(user)?;
    Ok((Some(user).filter(|user| !user.is_empty()), password.map(decoded).transpose()?))
}

fn decoded(text: &str) -> Result<String, NoAddress> {
    percent_decode_str(text).decode_utf8().map(Into::into).map_err(|_| NoAddress)
}

impl fmt::Display for Address {
    /// Writes the address without user and password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            StoreAddress::Socket(path) => write!(f, "unix://{}", path.display())?,
            StoreAddress::Host { name, port, is_tls } => {
                let scheme = if *is_tls { "rediss" } else { "redis" };
                let (open, close) = if name.contains(':') { ("[", "]") } else { ("", "") };
                write!(f, "{scheme}://{open}{name}{close}:{port}")?;
            }
        }
        if self.database > 0 { write!(f, ", database {}", self.database) } else { Ok(()) }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(url: &str) -> String {
        Address::parse(url, None).map_or_else(|_| "none".to_owned(), |address| address.to_string())
    }

    #[test]
    fn urls_name_hosts_and_sockets() {
        for (url, expected) in [
            ("redis://cache", "redis://cache:6379"),
            ("redis://10.0.0.7:6380/", "redis://10.0.0.7:6380"),
            ("rediss://u:p@cache.example:6390/3", "rediss://cache.example:6390, database 3"),
            ("redis://[::1]:1/2", "redis://[::1]:1, database 2"),
            ("redis://[::1]", "redis://[::1]:6379"),
            ("unix:///run/redis.sock", "unix:///run/redis.sock"),
            ("unix:///run/a%20b.sock?db=4", "unix:///run/a b.sock, database 4"),
            ("redis://cache?db=1", "redis://cache:6379, database 1"),
        ] {
            assert_eq!(shown(url), expected, "{url}");
        }
        for url in [
            "",
            "cache",
            "cache:6379",
            "http://cache",
            "redis://",
            "redis://:p@",
            "redis://cache:x",
            "redis://cache:0",
            "redis://cache/x",
            "redis://cache/1?db=2",
            "redis://a b",
            "unix://run/redis.sock",
            "unix:///",
            "redis://[::1",
            "redis://%ff@cache",
            "redis://cache?x=1",
        ] {
            assert_eq!(shown(url), "none", "{url}");
        }
    }

    #[test]
    fn passwords_are_read_and_never_shown() {
        let address = Address::parse("redis://app:s%40cret@cache", None).unwrap();
        assert_eq!((address.user.as_deref(), address.password.as_deref()), (Some("app"), Some("s@cret")));
        assert!(!format!("{address} {address:?} {NoAddress}").contains("cret"));
        let address = Address::parse("redis://:old@cache", Some("new")).unwrap();
        assert_eq!((address.user, address.password.as_deref()), (None, Some("new")));
    }
}
