//! Rules of HTTP caching: what a shared cache may store, for how long, and for whom it may use it again (RFC 9111, 5861, 9211 and
//! 9213).
//!
//! This crate is pure: heads and a [`Moment`] go in, answers come out, and one seed replays a simulated day. It must not know where
//! responses are kept, who renders them, sockets, clocks or the config file.
#![forbid(unsafe_code)]

mod directives;
mod encode;
mod freshness;
mod index;
mod key;
mod storable;
mod stored;
mod tags;
mod update;
mod vary;

pub use directives::{Directives, of_request, of_response};
pub use encode::{Page, PageRecord, Unreadable, checksum, decode, encode};
pub use freshness::{Moment, Stamp};
pub use index::{Index, Walk};
pub use key::{
    KeyRules, MAX_KEY_BYTES, Site, begins, coarse, is_page, is_path, is_reflected, is_switch, key_of, names_of,
    prefix_of, site_of, target_for_all,
};
pub use storable::{RULES_VERSION, Rule, StorageCandidate, StorageRefusal, is_of_request, renewed, storable};
pub use stored::{Policy, Reuse, StaleLimits};
pub use tags::{PARTS_FIELD, Parts, TAG_FIELDS, TAGS_MAX, joined, tags};
pub use update::freshened;
pub use vary::{Dimensions, VARY_FIELDS_MAX};

#[cfg(test)]
mod encode_tests;
#[cfg(test)]
mod tests;
