//! Actions for events, rule by rule.

mod answers;
mod clients;
mod crashes;
mod fate;
mod slots;
mod streams;
mod support;
