//! Decision to leave a slow or broken second tier alone. It is pure.

/// Weight of a failure; an answer in time takes one away. So five failures in a row open it, as does more than one in five.
const FAILURE_WEIGHT: u32 = 4;
/// The weight at which it opens.
const OPEN_AT: u32 = 20;

/// Counts the results of look-ups, and says when they are to stop. A probe says when they may resume.
#[derive(Debug)]
pub(crate) struct Breaker {
    weight: u32,
    is_open: bool,
}

impl Breaker {
    /// Breaker that is open until the server was found to answer.
    pub(crate) fn open() -> Self {
        Breaker { weight: 0, is_open: true }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    pub(crate) fn answered(&mut self) {
        self.weight = self.weight.saturating_sub(1);
    }

    /// Returns whether this opens it.
    pub(crate) fn failed(&mut self) -> bool {
        self.weight += FAILURE_WEIGHT;
        let opens = self.weight >= OPEN_AT && !self.is_open;
        self.is_open |= opens;
        opens
    }

    /// The server is lost.
    pub(crate) fn trip(&mut self) {
        self.is_open = true;
    }

    /// The server answers in time.
    pub(crate) fn close(&mut self) {
        *self = Breaker { weight: 0, is_open: false };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_open_until_the_server_has_answered() {
        let mut breaker = Breaker::open();
        assert!(breaker.is_open());
        breaker.close();
        assert!(!breaker.is_open());
    }

    #[test]
    fn five_failures_in_a_row_open_it_once() {
        let mut breaker = Breaker::open();
        breaker.close();
        let opened: Vec<_> = (0..7).map(|_| breaker.failed()).collect();
        assert_eq!(opened, [false, false, false, false, true, false, false]);
        breaker.close();
        assert!(!breaker.failed(), "what was before it closed is forgotten");
    }

    #[test]
    fn failures_now_and_then_open_nothing_and_every_third_does() {
        let mut breaker = Breaker::open();
        breaker.close();
        for _ in 0..1_000 {
            (0..9).for_each(|_| breaker.answered());
            assert!(!breaker.failed());
        }
        let opened = (0..20).position(|_| {
            (0..2).for_each(|_| breaker.answered());
            breaker.failed()
        });
        assert!(opened.is_some());
    }

    #[test]
    fn a_lost_server_opens_it_at_once() {
        let mut breaker = Breaker::open();
        breaker.close();
        breaker.trip();
        assert!(breaker.is_open());
        assert!(!(0..9).any(|_| breaker.failed()), "it is told once");
    }
}
