//! Answers on their way from a worker or a file to a client.

pub mod answer;
pub mod encode;
pub mod fill;
pub(crate) mod outgoing;
