//! Field names with `_`, which readers in the manner of CGI (RFC 3875 §4.1.18) take for `-`.
//!
//! Node.js keeps the two apart, so a name with `_` is an ordinary one. It is a forgery where such a reader would take it for
//! another field that somebody relies on.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::fields::Fields;
use crate::forward::{is_hop_by_hop, starts_with};
use crate::reject::{Reject, Rejection};

/// Requests with `_` in a field name that are in order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Underscores {
    /// Requests in which no such name stands for another field of the request, or for one that the gateway sets or acts
    /// on.
    #[default]
    Distinct,
    /// None.
    Refuse,
    /// All but aliases of the gateway's private fields.
    Pass,
}

/// Fields besides the hop-by-hop ones that the gateway sets or acts on.
const RELIED_ON: [&str; 5] = ["host", "content-length", "x-real-ip", "x-request-id", "sluice-warm-up"];

/// Refuses a request by the names of its fields.
///
/// # Errors
/// [`Reject::HeaderAlias`].
pub fn check_underscores(fields: &Fields, rule: Underscores) -> Result<(), Rejection> {
    if !fields.has_underscore() {
        return Ok(());
    }
    if rule == Underscores::Refuse {
        return Err(alias("a field name with an underscore"));
    }
    let mut meant: HashMap<String, &str> = HashMap::with_capacity(fields.len());
    for (name, _) in fields.iter() {
        let as_read = without_underscores(name);
        if name.contains('_') && (is_private(&as_read) || rule == Underscores::Distinct && is_relied_on(&as_read)) {
            return Err(alias("a field name with an underscore stands for one that the gateway sets"));
        }
        match meant.entry(as_read) {
            Entry::Vacant(entry) => {
                entry.insert(name);
            }
            Entry::Occupied(entry) if rule == Underscores::Distinct && !entry.get().eq_ignore_ascii_case(name) => {
                return Err(alias("two field names differ only in underscores"));
            }
            Entry::Occupied(_) => {}
        }
    }
    Ok(())
}

/// The name in lower case, as a reader takes it for which `_` is `-`.
pub fn without_underscores(name: &str) -> String {
    name.chars().map(|c| if c == '_' { '-' } else { c.to_ascii_lowercase() }).collect()
}

fn is_private(name: &str) -> bool {
    starts_with(name, "x-sluice-") || name == "sluice-warm-up"
}

fn is_relied_on(name: &str) -> bool {
    is_hop_by_hop(name) || starts_with(name, "x-forwarded-") || RELIED_ON.contains(&name)
}

fn alias(detail: &'static str) -> Rejection {
    Rejection::new(Reject::HeaderAlias, detail)
}
