//! The ladder: what a request for a worker is given on its arrival, from the best downwards.
//!
//! A render comes first. If the queue predicts that it would begin later than the class's budget allows, the request is refused here; if
//! the queue is full, it is refused there. The request then takes the next available step: a stale page (`cache::look_up`), a shell
//! (`answers::shell`), or an honest 503, which is always available. It is pure. It must not know where predictions and budgets come from,
//! nor how a step is carried out.

use sluice_journal::Step;
use tokio::time::Instant;

/// Facts about a request at its arrival.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) at: Instant,
    /// Predicted wait for a worker, milliseconds; `None` if there is no prediction.
    pub(crate) wait_ms: Option<u64>,
    /// Longest wait that the class's budget allows, milliseconds.
    pub(crate) budget_ms: Option<u64>,
}

impl Arrival {
    /// Step for the request: a render, or a refusal at once.
    pub(crate) fn step(&self) -> Step {
        if self.over_ms() == 0 { Step::Render } else { Step::Refuse }
    }

    /// Time in milliseconds by which the render would be late; 0 if it is not known, as an unknown wait refuses no request.
    fn over_ms(&self) -> u64 {
        self.wait_ms.zip(self.budget_ms).map_or(0, |(wait_ms, budget_ms)| wait_ms.saturating_sub(budget_ms))
    }

    /// Time in seconds after which a retry makes sense: by then the queue is short enough, if no other requests come.
    pub(crate) fn retry_after_s(&self) -> u32 {
        u32::try_from(self.over_ms().div_ceil(1000).clamp(1, 60)).unwrap_or(60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrival(wait_ms: Option<u64>, budget_ms: Option<u64>) -> Arrival {
        Arrival { at: Instant::now(), wait_ms, budget_ms }
    }

    #[test]
    fn a_request_within_its_budget_is_rendered_and_one_beyond_it_refused() {
        assert_eq!(arrival(Some(0), Some(1)).step(), Step::Render);
        assert_eq!(arrival(Some(200), Some(200)).step(), Step::Render);
        assert_eq!(arrival(Some(201), Some(200)).step(), Step::Refuse);
    }

    #[test]
    fn without_a_budget_or_a_prediction_nothing_is_refused_here() {
        assert_eq!(arrival(Some(3_600_000), None).step(), Step::Render);
        assert_eq!(arrival(None, Some(1)).step(), Step::Render);
    }

    #[test]
    fn who_is_refused_is_told_when_the_queue_will_have_become_short_enough() {
        for (wait_ms, after_s) in [(201, 1), (1_200, 1), (1_201, 2), (9_200, 9), (3_600_000, 60)] {
            assert_eq!(arrival(Some(wait_ms), Some(200)).retry_after_s(), after_s, "{wait_ms}");
        }
    }
}
