//! What is done for what happens, rule by rule.

mod answers;
mod clients;
mod crashes;
mod fate;
mod slots;
mod streams;
mod support;
