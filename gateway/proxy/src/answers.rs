//! Answers that need no worker.

pub mod edge;
pub(crate) mod files;
pub(crate) mod refuse;
