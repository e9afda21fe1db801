//! Counts and times of requests since the last query.

use sluice_sketch::Times;

use crate::event::AccessRecord;

/// Counts and times since the last [`crate::Journal::take_moment`].
#[derive(Clone, Debug, Default)]
pub struct Moment {
    /// Requests that workers answered.
    pub answered: u64,
    /// Requests that the gateway refused.
    pub refused: u64,
    /// Requests whose client got a status of 500 or above, refused ones among them, or an answer that was cut short.
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
        self.failed += u64::from(is_failed(record));
    }

    pub(crate) fn clear(&mut self) {
        (self.answered, self.refused, self.failed) = (0, 0, 0);
        self.queue_wait.clear();
        self.service_time.clear();
    }
}

/// Whether a request counts as failed. An answer that was cut short after a status of 200 does; a refusal of the client's fault
/// (4xx) does not.
fn is_failed(record: &AccessRecord<'_>) -> bool {
    record.status >= 500 || record.outcome.is_failure() && record.status < 400
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Outcome, tests_support::record};

    #[test]
    fn requests_in_quarantine_and_answers_that_were_cut_short_are_failures() {
        let failed = |status, outcome| {
            let mut moment = Moment::default();
            moment.count(&AccessRecord { status, outcome, ..record() });
            moment.failed == 1
        };
        assert!(failed(500, Outcome::Quarantined) && failed(200, Outcome::WorkerDied) && failed(0, Outcome::TimedOut));
        assert!(!failed(200, Outcome::Answered) && !failed(429, Outcome::Shed) && !failed(400, Outcome::Rejected));
    }
}
