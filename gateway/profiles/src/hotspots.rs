//! Line of the app that holds up the thread, by what profiles say of it.
//!
//! A *line* is a function, named by the line on which it begins, as V8 samples functions; the lines within it that were hit are
//! told beside it. A *run* of a line is a stretch of consecutive samples that have it on their stacks: recursion counts once. A
//! run ends where the stack is empty or the line is off it. It also ends where the stack has another entry, which is another
//! callback of Node.js. The garbage collector interrupts what runs and is no end: its time is in the run if the line is there
//! afterwards.

mod budget;
mod compare;
mod figures;
mod runs;
mod view;

use serde::Serialize;

use crate::owner::Owner;
use crate::profile::Profile;

pub use budget::{Budget, Figure, NotABudget, NotATime, Over, milliseconds};
pub use compare::{Change, Figures, compare};

/// Settings for reading a profile.
#[derive(Clone, Debug)]
pub struct Options {
    /// Runs above that are long, microseconds.
    pub threshold_us: u64,
    /// Code of packages, of Node.js and native code counts for the line of the app that called it, and has no lines of its own.
    pub folds: bool,
    /// Files below this directory are named relative to it. Empty for none.
    pub directory: String,
}

/// Figures of profiles, line by line. Times in milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Hotspots {
    /// The threads that were watched.
    pub profiles: Vec<ThreadWatch>,
    /// Time for which they were watched, all together.
    pub duration_ms: f64,
    /// The part of it in which anything ran.
    pub busy_ms: f64,
    /// The part in which the garbage collector did.
    pub gc_ms: f64,
    /// The part in which native code did that no JavaScript had called.
    pub program_ms: f64,
    /// CPU time of the processes meanwhile, their helper threads included; absent for profiles from files, which do not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used_ms: Option<f64>,
    /// Runs above that are long.
    pub threshold_ms: f64,
    /// The longest worst run first.
    pub lines: Vec<HotLine>,
}

/// A thread that was watched.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ThreadWatch {
    /// The file or the worker.
    pub name: String,
    /// Duration.
    pub duration_ms: f64,
    /// Number of samples.
    pub samples: usize,
    /// The median time between two samples: no time here is more exact than that.
    pub interval_ms: f64,
}

/// Place of code.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct CodeLocation {
    /// The function; empty for an anonymous one, and where a package stands for all of its code.
    pub function: String,
    /// File; empty for V8's entries and for packages.
    pub file: String,
    /// Line, from 1; 0 if there is no file.
    pub line: u32,
    /// Column, from 1; 0 if there is no file.
    pub column: u32,
    /// The package, `app`, `node`, `native`, or V8's entry.
    pub owner: String,
}

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HotLine {
    /// Place of the line.
    #[serde(flatten)]
    pub place: CodeLocation,
    /// The longest single run, milliseconds.
    pub worst_ms: f64,
    /// Beginning of that, since the first sample of its profile.
    pub worst_at_ms: f64,
    /// The profile that it is in.
    pub worst_in: String,
    /// Number of runs.
    pub runs: u64,
    /// Runs of them that were longer than the threshold.
    pub runs_over: u64,
    /// Time with it on the stack.
    pub total_ms: f64,
    /// Time with it on top; with what is folded into it, where that is folded.
    pub self_ms: f64,
    /// Time of the garbage collector within its runs.
    pub gc_ms: f64,
    /// Different stacks that called it.
    pub stacks: u64,
    /// Lines of the function that were hit while it was on top, those with most time first.
    pub hit: Vec<Hit>,
}

/// A line within a function.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hit {
    /// Line, from 1.
    pub line: u32,
    /// Time with it on top, milliseconds.
    pub self_ms: f64,
}

impl Hotspots {
    /// Looks at all tracks of a profile together.
    pub fn of(profile: &Profile, options: &Options) -> Self {
        let view = view::View::of(profile, options.folds);
        let mut tallies = vec![runs::Tally::default(); view.rows.len()];
        let mut times = runs::Times::default();
        let mut profiles = Vec::new();
        for (at, track) in profile.tracks.iter().enumerate() {
            times.add(&runs::sweep(profile, &view, at, options.threshold_us, &mut tallies));
            profiles.push(ThreadWatch {
                name: track.name.clone(),
                duration_ms: ms(track.duration_us()),
                samples: track.samples.len(),
                interval_ms: ms(track.interval_us().into()),
            });
        }
        Self {
            duration_ms: profiles.iter().map(|watched| watched.duration_ms).sum(),
            profiles,
            busy_ms: ms(times.busy_us),
            gc_ms: ms(times.collector_us),
            program_ms: ms(times.program_us),
            used_ms: None,
            threshold_ms: ms(options.threshold_us),
            lines: figures::lines(profile, &view, &tallies, options),
        }
    }
}

impl CodeLocation {
    /// Whether somebody can fix it: code of the app or of a package.
    pub fn is_code(&self) -> bool {
        let platform = [Owner::Native, Owner::Kernel, Owner::Node];
        !self.owner.starts_with('(') && !platform.iter().any(|owner| owner.name() == self.owner)
    }
}

#[allow(clippy::cast_precision_loss, reason = "times of profiles are far below 2^53 µs")]
fn ms(us: u64) -> f64 {
    us as f64 / 1000.0
}

#[cfg(test)]
mod tests;
