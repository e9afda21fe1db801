//! A look at what a worker's main thread does: the kernel's word on Linux, the preload's elsewhere. It must not know what follows
//! from it.
//!
//! The preload is asked over the control channel, and answers when its event loop has turned and it has watched that for two
//! milliseconds. A worker that computes answers late, which says the same.

use std::time::Duration;

use tokio::time::Instant;

use crate::process::Process;
use crate::process::known::Asked;
use crate::sample::{self, Sample, Sleep};

/// Has tests on Linux ask the preload, as elsewhere.
const BY_PRELOAD: &str = "SLUICE_TEST_LOOKS_BY_PRELOAD";
/// A preload that has not answered for so long is asked again: it may have had too much to read.
const ANSWER_MAX: Duration = Duration::from_secs(5);

/// What a look finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Looked {
    At(Sample),
    /// The answer is on its way.
    NotYet,
    /// Nobody tells, now or ever.
    Nothing,
}

impl Process {
    /// What the kernel says of its main thread.
    pub(crate) fn sample(&self) -> Option<Sample> {
        sample::main_thread(self.view().pid?)
    }

    /// Whether its main thread is in a loop that lets others in, by the word of its preload.
    pub(crate) fn breathes(&self) -> bool {
        self.breathes_until.get().is_some_and(|until| until > Instant::now())
    }

    /// Looks at its main thread, or at what its preload has last said of it.
    pub(crate) fn look(&self) -> Looked {
        if cfg!(target_os = "linux") && std::env::var_os(BY_PRELOAD).is_none() {
            return self.sample().filter(|sample| sample.is_exact).map_or(Looked::Nothing, Looked::At);
        }
        let Asked { at, said } = self.asked.replace(Asked { said: None, ..self.asked.get() });
        let now = Instant::now();
        let is_awaited = at.is_some_and(|asked| now.saturating_duration_since(asked) < ANSWER_MAX);
        if !is_awaited {
            let control = self.control.borrow();
            let Some(control) = &*control else { return Looked::Nothing };
            // A few bytes to a socket that the preload reads. What does not fit is asked for again.
            if control.say(r#"{"type":"look"}"#) {
                self.asked.set(Asked { at: Some(now), said: None });
            }
        }
        said.map_or(Looked::NotYet, Looked::At)
    }

    /// What the preload has said before is of no use any more.
    pub(crate) fn forget_look(&self) {
        self.asked.set(Asked { said: None, ..self.asked.get() });
    }

    /// The preload's answer: whether all that the app holds waits, the time that it has run by now, and for which its event
    /// loop was active.
    pub(crate) fn heard_look(&self, rests: bool, run_us: u64, active_us: u64) {
        let (state, sleeps) = if rests { ('S', Some(Sleep::Elsewhere)) } else { ('R', None) };
        let said = Some(Sample { state, cpu_us: run_us, wanted_us: active_us, sleeps, is_exact: true });
        self.asked.set(Asked { at: None, said });
    }
}
