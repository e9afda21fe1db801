//! Answers on their way from a worker, an upstream or a file to a client.

pub mod answer;
pub mod encode;
pub mod fill;
pub(crate) mod outgoing;
pub mod reader;
