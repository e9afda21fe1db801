//! Requests of one class, priority and deadline, in the order of arrival, and which of them becomes overdue first.

use std::collections::VecDeque;

use crate::{RequestId, Time};

#[derive(Debug, Default)]
pub(super) struct Strand {
    /// Requests with the time from which each is overdue.
    requests: VecDeque<(RequestId, Time)>,
    /// Requests that become overdue before all behind them. Times and numbers rise, so the first is the earliest of
    /// all.
    soonest: VecDeque<(RequestId, Time)>,
}

impl Strand {
    pub(super) fn first(&self) -> Option<RequestId> {
        self.requests.front().map(|(request, _)| *request)
    }

    /// Time at which the first of its requests becomes overdue.
    pub(super) fn overdue(&self) -> Time {
        self.soonest.front().map_or(Time(u64::MAX), |(_, overdue)| *overdue)
    }

    pub(super) fn len(&self) -> usize {
        self.requests.len()
    }

    pub(super) fn insert(&mut self, request: RequestId, overdue: Time) {
        if self.requests.back().is_none_or(|(last, _)| *last < request) {
            self.requests.push_back((request, overdue));
            self.note(request, overdue);
            return;
        }
        let at = self.requests.partition_point(|(other, _)| *other < request);
        self.requests.insert(at, (request, overdue));
        self.note_all();
    }

    pub(super) fn remove(&mut self, request: RequestId) {
        let Ok(at) = self.requests.binary_search_by_key(&request, |(other, _)| *other) else { return };
        self.requests.remove(at);
        if at > 0 {
            self.note_all();
        } else if self.soonest.front().is_some_and(|(first, _)| *first == request) {
            self.soonest.pop_front();
        }
    }

    fn note(&mut self, request: RequestId, overdue: Time) {
        while self.soonest.back().is_some_and(|(_, other)| *other >= overdue) {
            self.soonest.pop_back();
        }
        self.soonest.push_back((request, overdue));
    }

    /// Rebuilds [`Strand::soonest`] after a change in the middle, which is rare.
    fn note_all(&mut self) {
        self.soonest.clear();
        for at in 0..self.requests.len() {
            let (request, overdue) = self.requests[at];
            self.note(request, overdue);
        }
    }
}
