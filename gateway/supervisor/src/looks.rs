//! Checks of a worker's main thread: by the kernel on Linux, by the preload elsewhere. This module must not know the
//! consequences.
//!
//! The preload is asked over the control channel. It answers when its event loop has turned and it has watched that for
//! two milliseconds. A worker that computes answers late, which gives the same result.

use std::time::Duration;

use tokio::time::Instant;

use crate::process::Process;
use crate::process::facts::ProfileQuestion;
use crate::sample::{self, Sample, Sleep};

/// Environment variable with which tests on Linux ask the preload, as on other systems.
const BY_PRELOAD: &str = "SLUICE_TEST_LOOKS_BY_PRELOAD";
/// Time after which a preload without an answer gets another request. It may have had too much to read.
const ANSWER_MAX: Duration = Duration::from_secs(5);

/// Result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LookResult {
    At(Sample),
    /// The answer has not arrived yet.
    NotYet,
    /// No result is available, now or later.
    Nothing,
}

impl Process {
    /// Sample of its main thread from the kernel.
    pub(crate) fn sample(&self) -> Option<Sample> {
        sample::main_thread(self.serving_pid())
    }

    /// Whether its main thread is in a loop that lets others in, as reported by its preload.
    pub(crate) fn breathes(&self) -> bool {
        self.breathes_until.get().is_some_and(|until| until > Instant::now())
    }

    /// Checks its main thread, or returns the preload's latest answer about it.
    pub(crate) fn look(&self) -> LookResult {
        if cfg!(target_os = "linux") && std::env::var_os(BY_PRELOAD).is_none() {
            return self.sample().filter(|sample| sample.is_exact).map_or(LookResult::Nothing, LookResult::At);
        }
        let ProfileQuestion { at, said } = self.asked.replace(ProfileQuestion { said: None, ..self.asked.get() });
        let now = Instant::now();
        let is_awaited = at.is_some_and(|asked| now.saturating_duration_since(asked) < ANSWER_MAX);
        if !is_awaited {
            let control = self.control.borrow();
            let Some(control) = &*control else { return LookResult::Nothing };
            // A few bytes to a socket that the preload reads. What does not fit is asked for again.
            if control.say(r#"{"type":"look"}"#) {
                self.asked.set(ProfileQuestion { at: Some(now), said: None });
            }
        }
        said.map_or(LookResult::NotYet, LookResult::At)
    }

    /// Discards the preload's earlier answer.
    pub(crate) fn forget_look(&self) {
        self.asked.set(ProfileQuestion { said: None, ..self.asked.get() });
    }

    /// Records the preload's answer: whether all that the app holds waits, the time that it has run, and the time for
    /// which its event loop was active, microseconds.
    pub(crate) fn heard_look(&self, rests: bool, run_us: u64, active_us: u64) {
        let (state, sleeps) = if rests { ('S', Some(Sleep::Elsewhere)) } else { ('R', None) };
        let said = Some(Sample { state, cpu_us: run_us, wanted_us: active_us, sleeps, is_exact: true });
        self.asked.set(ProfileQuestion { at: None, said });
    }
}
