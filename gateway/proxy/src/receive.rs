//! Trace of a request, as its client sends it.

pub(crate) mod trace;
