//! Headers of a request for the access log. It must not know how lines are written.

use std::rc::Rc;

use sluice_catalog::config::Config;
use sluice_journal::{HIDDEN, Journal, LoggedHeader};
use sluice_message::Fields;

/// Maximum size of a header's value that waits for its log line, bytes. The line has less.
const VALUE_BYTES_MAX: usize = 1024;
/// Headers with credentials, of which the log says only that they were there.
const SECRET: [&str; 9] = [
    "authorization",
    "proxy-authorization",
    "cookie",
    "x-api-key",
    "x-auth-token",
    "x-csrf-token",
    "x-xsrf-token",
    "x-amz-security-token",
    "x-goog-iap-jwt-assertion",
];
/// Headers whose values are URLs, with query strings of their own.
const URLS: [&str; 3] = ["referer", "x-original-url", "x-rewrite-url"];

/// The headers that `log.headers` names.
pub(crate) struct LoggedHeaders(Vec<Rc<str>>);

impl LoggedHeaders {
    pub(crate) fn new(config: &Config) -> Self {
        LoggedHeaders(config.log.headers.iter().map(|name| Rc::from(name.as_str())).collect())
    }

    /// Configured headers that the request has. Values of a repeated header are joined with commas, as HTTP defines.
    pub(crate) fn of(&self, journal: &Journal, fields: &Fields) -> Vec<LoggedHeader> {
        let names = self.0.iter().filter(|name| fields.contains(name));
        let value = |name: &str| {
            if SECRET.contains(&name) {
                return HIDDEN.to_owned();
            }
            let value = joined(fields.get_all(name));
            if URLS.contains(&name) { journal.shown(&value).into_owned() } else { value }
        };
        names.map(|name| LoggedHeader { name: Rc::clone(name), value: value(name) }).collect()
    }
}

fn joined<'f>(values: impl Iterator<Item = &'f [u8]>) -> String {
    let mut joined = Vec::new();
    for value in values {
        if !joined.is_empty() {
            joined.extend_from_slice(b", ");
        }
        joined.extend_from_slice(value);
        if joined.len() > VALUE_BYTES_MAX {
            joined.truncate(VALUE_BYTES_MAX);
            break;
        }
    }
    String::from_utf8_lossy(&joined).into_owned()
}
