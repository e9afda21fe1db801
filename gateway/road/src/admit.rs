//! Checks that may stop a request before the queue.

pub(crate) mod access;
pub(crate) mod beacons;
pub(crate) mod rate;
