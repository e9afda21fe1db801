//! The target that an event names, and the same event with another one. It must not know why a target is replaced.

use super::{AccessRecord, Event, HeldRequest};

impl<'a> Event<'a> {
    /// Path and query of the request that it is about, if it is about one.
    pub(crate) fn target(&self) -> Option<&'a str> {
        match *self {
            Event::Access(ref record) => Some(record.target),
            Event::WorkerExited { request, .. }
            | Event::WorkerOverdue { request, .. }
            | Event::WorkerStuck { request, .. }
            | Event::WorkerBlocked { request, .. }
            | Event::LongRun { request, .. } => request.map(|held| held.target),
            _ => None,
        }
    }

    /// The event with this target in place of its own.
    pub(crate) fn with_target<'t>(self, target: &'t str) -> Event<'t>
    where
        'a: 't,
    {
        let mut event: Event<'t> = self;
        match &mut event {
            Event::Access(record) => *record = AccessRecord { target, ..*record },
            Event::WorkerExited { request, .. }
            | Event::WorkerOverdue { request, .. }
            | Event::WorkerStuck { request, .. }
            | Event::WorkerBlocked { request, .. }
            | Event::LongRun { request, .. } => *request = request.map(|held| HeldRequest { target, ..held }),
            _ => {}
        }
        event
    }
}
