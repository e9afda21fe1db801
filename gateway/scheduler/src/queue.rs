//! Requests that wait, in the order of their arrival.
//!
//! A tree rather than a ring, because a client may leave from the middle and a request that no worker has seen returns
//! to where it stood; both cost the same few comparisons at any length.

use std::collections::BTreeMap;

use crate::{RequestId, Time};

#[derive(Debug, Default)]
pub(crate) struct Queue {
    waiting: BTreeMap<RequestId, Time>,
}

impl Queue {
    pub(crate) fn push(&mut self, request: RequestId, arrived: Time) {
        self.waiting.insert(request, arrived);
    }

    /// Like `push`; named apart because the length limit does not apply to a request that was admitted before.
    pub(crate) fn put_back(&mut self, request: RequestId, arrived: Time) {
        self.waiting.insert(request, arrived);
    }

    pub(crate) fn pop(&mut self) -> Option<(RequestId, Time)> {
        self.waiting.pop_first()
    }

    pub(crate) fn remove(&mut self, request: RequestId) -> bool {
        self.waiting.remove(&request).is_some()
    }

    pub(crate) fn oldest(&self) -> Option<Time> {
        self.waiting.first_key_value().map(|(_, arrived)| *arrived)
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}
