//! Under which name a page is kept: its URL, without what must not tell two pages apart.

use sluice_message::{RequestHead, starts_with};

/// A longer one is not kept: it could only be meant to fill the memory.
pub const MAX_KEY_BYTES: usize = 4096;

/// What of a query counts.
#[derive(Clone, Debug, Default)]
pub struct KeyRules {
    /// Names of parameters that count for nothing; one that ends in `*` stands for all that begin so.
    pub ignored_params: Vec<String>,
}

impl KeyRules {
    fn ignores(&self, name: &str) -> bool {
        self.ignored_params.iter().any(|ignored| match ignored.strip_suffix('*') {
            Some(prefix) => name.starts_with(prefix),
            None => name == ignored,
        })
    }
}

/// The key: `https://host/path?a=1&b=2`. Parameters are sorted by name; those of one name keep their order, which apps can see.
/// None where it is too long.
#[must_use]
pub fn key_of(head: &RequestHead, is_https: bool, rules: &KeyRules) -> Option<String> {
    let (path, query) = head.path_and_query.split_once('?').unwrap_or((&head.path_and_query, ""));
    if head.authority.len() + head.path_and_query.len() > MAX_KEY_BYTES {
        return None;
    }
    let mut key = String::with_capacity(head.authority.len() + head.path_and_query.len() + 9);
    key.push_str(if is_https { "https://" } else { "http://" });
    key.push_str(&head.authority);
    key.push_str(path);
    if query.is_empty() {
        return Some(key);
    }
    let name_of = |param: &'_ str| param.split_once('=').map_or(param.len(), |(name, _)| name.len());
    let mut params: Vec<&str> = query.split('&').filter(|param| !param.is_empty()).collect();
    params.retain(|param| !rules.ignores(&param[..name_of(param)]));
    params.sort_by_key(|param| &param[..name_of(param)]);
    for (at, param) in params.iter().enumerate() {
        key.push(if at == 0 { '?' } else { '&' });
        key.push_str(param);
    }
    Some(key)
}

/// Whether an app could write what this field says into its page although no two pages are told apart by it: a render for many is
/// asked for without such fields.
#[must_use]
pub fn is_reflected(name: &str) -> bool {
    const REFLECTED: [&str; 11] = [
        "x-original-url",
        "x-original-host",
        "x-rewrite-url",
        "x-http-method-override",
        "x-http-method",
        "x-method-override",
        "x-host",
        "x-forwarded-server",
        "x-forwarded-prefix",
        "x-forwarded-scheme",
        "x-forwarded-port",
    ];
    REFLECTED.iter().any(|known| name.eq_ignore_ascii_case(known)) || starts_with(name, "x-middleware-")
}
