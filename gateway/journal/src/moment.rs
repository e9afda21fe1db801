//! What requests were like since somebody last asked.

use sluice_sketch::Times;

use crate::event::AccessRecord;

/// Counts and times since the last [`crate::Journal::take_moment`].
#[derive(Clone, Debug, Default)]
pub struct Moment {
    /// Requests that workers answered.
    pub answered: u64,
    /// Requests that the gateway refused.
    pub refused: u64,
    /// Requests whose client got a status of 500 or above, refused ones among them.
    pub failed: u64,
    /// Queue waits, of requests that a worker took.
    pub queue_wait: Times,
    /// Service times.
    pub service_time: Times,
}

impl Moment {
    pub(crate) fn count(&mut self, record: &AccessRecord<'_>) {
        self.answered += u64::from(record.outcome.is_answered());
        self.refused += u64::from(record.outcome.is_refused());
        self.failed += u64::from(record.status >= 500);
    }

    pub(crate) fn clear(&mut self) {
        (self.answered, self.refused, self.failed) = (0, 0, 0);
        self.queue_wait.clear();
        self.service_time.clear();
    }
}
