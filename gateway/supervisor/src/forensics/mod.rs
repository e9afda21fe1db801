//! Examination of a worker whose event loop is blocked: its JavaScript stack and a short CPU profile, taken through
//! Node's own inspector before the worker is killed.
//!
//! It knows process ids and Node.js. It must not know the scheduler, the journal or the purpose; it signals a process
//! to open its inspector and never ends one.

mod inspector;
mod places;
mod profile;
mod session;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::watch;
use tokio::time::{Instant, timeout, timeout_at};

pub(crate) use inspector::{Address, Inspector, InspectorLine, inspector_line};
use places::{RawFrame, Reader, Script, has_map};
pub(crate) use profile::Profile;
use session::Session;

use crate::sample;

/// Time without a new address after which the previous address is used. A process whose inspector is already open
/// prints nothing when it is asked to open it.
const OPEN_ALREADY_TIMEOUT: Duration = Duration::from_millis(300);

/// Microseconds between two samples of the profile.
const SAMPLING_INTERVAL_US: u32 = 1000;

/// Time limits of the parts of an examination.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// Time from the signal to the address on stderr.
    pub(crate) address: Duration,
    /// Time for each answer of the inspector.
    pub(crate) step: Duration,
    /// Duration of the profile.
    pub(crate) profile: Duration,
    /// Time for the whole examination.
    pub(crate) total: Duration,
    /// Time for reading source maps afterwards. After it, places remain those of the code that ran.
    pub(crate) mapping: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            address: Duration::from_millis(1500),
            step: Duration::from_secs(1),
            profile: Duration::from_millis(500),
            total: Duration::from_secs(3),
            mapping: Duration::from_millis(500),
        }
    }
}

/// Process to examine.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    /// Process that runs JavaScript, not a shell or npm above it: SIGUSR1 would end those.
    pub(crate) pid: u32,
    /// Directory relative to which files are named.
    pub(crate) cwd: PathBuf,
    /// Node.js that reads source maps, and the program that it runs for this.
    pub(crate) node: String,
    pub(crate) source_maps: PathBuf,
}

/// Result of a look besides the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Besides {
    Nothing,
    CpuProfile,
    /// Allocations that V8 samples already, for somebody else.
    HeapProfile,
}

/// Results of an examination. It may have a stack without a profile, but not the reverse.
#[derive(Debug)]
pub(crate) struct Examination {
    /// Stack, innermost frame first.
    pub(crate) stack: Result<Vec<Frame>, Why>,
    pub(crate) profile: Result<Profile, Why>,
}

/// A place in the app's code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// V8's name of the function; source maps do not rename functions.
    pub(crate) function: String,
    /// Path of the file, relative to the subject's directory if inside it; `node:…` inside Node.js.
    pub(crate) file: String,
    /// Line from 1; 0 if there is none.
    pub(crate) line: u32,
    /// Column from 1; 0 if there is none.
    pub(crate) column: u32,
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            return f.write_str(&self.function);
        }
        write!(f, "{} ({}:{}:{})", self.function, self.file, self.line, self.column)
    }
}

/// Reason for a missing result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// The process has exited.
    Gone,
    /// The signal would end the process: it is not Node.js, or was told not to open its inspector.
    NotInspectable,
    /// The app handles SIGUSR1 itself, or somebody else may use its inspector.
    NotOurs,
    /// The event loop turned before the inspector was open.
    Turned,
    /// No address came: the main thread does not run JavaScript, or the app handles SIGUSR1 itself.
    NoAddress,
    /// Node.js could not open the port.
    PortNotOpened(String),
    /// The connection failed or ended.
    Connection(String),
    /// No answer came within its time.
    NoAnswer(&'static str),
    /// The inspector answered with an error, or with something that cannot be read.
    BadAnswer(&'static str, String),
    /// The profile is too large to keep.
    TooLarge,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gone => f.write_str("the process has exited"),
            Self::NotInspectable => f.write_str("the process does not open an inspector on SIGUSR1"),
            Self::NotOurs => {
                f.write_str("its inspector is not the gateway's to open: the app handles SIGUSR1 or uses an inspector")
            }
            Self::Turned => f.write_str("it continued before its inspector was open"),
            Self::NoAddress => f.write_str(
                "the inspector did not open: the main thread is not running JavaScript (a synchronous child, file or \
                 native call), or the app handles SIGUSR1 itself",
            ),
            Self::PortNotOpened(reason) => write!(f, "Node.js could not open its inspector: {reason}"),
            Self::Connection(reason) => write!(f, "no connection to the inspector: {reason}"),
            Self::NoAnswer(step) => write!(f, "the inspector did not answer to {step} in time"),
            Self::BadAnswer(step, reason) => write!(f, "the inspector answered to {step}: {reason}"),
            Self::TooLarge => f.write_str("the profile is too large"),
        }
    }
}

/// Takes the stack, and what else is wanted. `inspector` is what the process's stderr has said until now (see [`inspector_line`]); its
/// sender is dropped when stderr ends.
///
/// Returns within `patience.total`. The process continues and its inspector stays open, so the caller must end it or close that.
pub(crate) async fn look(
    subject: &Subject,
    mut inspector: watch::Receiver<Inspector>,
    patience: Patience,
    besides: Besides,
) -> Look {
    let end = Instant::now() + patience.total;
    let mut finds = Finds {
        stack: None,
        profile: None,
        heap_profile: None,
        scripts: HashMap::new(),
        reader: None,
        step: "SIGUSR1",
    };
    let outcome = match timeout_at(end, ask(subject, &mut inspector, patience, (end, besides), &mut finds)).await {
        Ok(outcome) => outcome,
        Err(_) => Err(Why::NoAnswer(finds.step)),
    };
    let outcome = match outcome {
        Err(Why::Connection(_)) if sample::has_exited(subject.pid) => Err(Why::Gone),
        other => other,
    };
    Look { finds, why: outcome.err().unwrap_or(Why::NoAnswer("Profiler.stop")) }
}

/// Results of a look, with places in the code that ran.
pub(crate) struct Look {
    finds: Finds,
    /// Reason for missing results.
    why: Why,
}

impl Look {
    /// Sampled allocations as JSON, if they were wanted.
    pub(crate) fn take_heap_profile(&mut self) -> Option<String> {
        self.finds.heap_profile.take()
    }

    /// Stack in the code that ran, innermost frame first.
    pub(crate) fn stack(&self, subject: &Subject) -> Result<Vec<Frame>, Why> {
        let frames = self.finds.stack.as_ref().ok_or_else(|| self.why.clone())?;
        Ok(frames.iter().map(|frame| places::as_it_ran(frame, &self.finds.scripts, &subject.cwd)).collect())
    }

    /// Maps the places to the sources, within `patience.mapping`. The process is not needed for it.
    pub(crate) async fn examine(self, subject: &Subject, patience: Patience) -> Examination {
        let Look { finds: Finds { stack, profile, scripts, reader, .. }, why } = self;
        let has_stack = stack.is_some();
        let mut raw = stack.unwrap_or_default();
        let depth = raw.len();
        // Without a stack there is no profile either, for the same reason.
        let (json, hot) = match profile {
            Some(taken) => {
                let hottest = taken.hottest(&scripts);
                (Ok(taken.json), hottest)
            }
            None => (Err(why.clone()), Vec::new()),
        };
        raw.extend(hot.iter().map(|(frame, _)| frame.clone()));
        let mut frames: Vec<Frame> = raw.iter().map(|frame| places::as_it_ran(frame, &scripts, &subject.cwd)).collect();
        // A map that takes too long costs the places in the sources, not the stack.
        let _ = timeout(patience.mapping, places::map(&mut frames, &raw, &scripts, subject, reader)).await;
        let hottest =
            frames.split_off(depth).into_iter().zip(hot).map(|(frame, (_, self_ms))| (frame, self_ms)).collect();
        Examination {
            stack: if has_stack { Ok(frames) } else { Err(why) },
            profile: json.map(|json| Profile { json, hottest }),
        }
    }
}

/// Results until now; they survive a step that does not return.
struct Finds {
    stack: Option<Vec<RawFrame>>,
    profile: Option<profile::RawProfile>,
    heap_profile: Option<String>,
    /// Scripts by id: those of the stack's frames, then all if a profile is taken.
    scripts: HashMap<String, Script>,
    /// Reader of source maps, started as soon as there is a map if a profile is taken: it boots meanwhile.
    reader: Option<Reader>,
    step: &'static str,
}

async fn ask(
    subject: &Subject,
    inspector: &mut watch::Receiver<Inspector>,
    patience: Patience,
    (end, besides): (Instant, Besides),
    finds: &mut Finds,
) -> Result<(), Why> {
    let address = open(subject.pid, inspector, patience.address).await?;
    finds.step = "the connection";
    let mut session = Session::connect(&address, patience.step).await?;
    let outcome = ask_in(&mut session, subject, patience, (end, besides), finds).await;
    // A look may be kept for a while, and needs the scripts of its frames alone; a profile names others.
    if besides == Besides::CpuProfile {
        finds.scripts = std::mem::take(&mut session.scripts);
    }
    // A closed session also resumes what it has paused.
    session.close().await;
    outcome
}

async fn ask_in(
    session: &mut Session,
    subject: &Subject,
    patience: Patience,
    (end, besides): (Instant, Besides),
    finds: &mut Finds,
) -> Result<(), Why> {
    finds.step = "Debugger.paused";
    session.send("Debugger.enable", json!({})).await?;
    session.send("Debugger.pause", json!({})).await?;
    let stack = session.paused().await?;
    // Were the rest to be cut off by the time limit, these would be lost with the session.
    for frame in &stack {
        if let Some(script) = session.scripts.get(&frame.script) {
            finds.scripts.insert(frame.script.clone(), script.clone());
        }
    }
    finds.stack = Some(stack);
    match besides {
        Besides::Nothing => return Ok(()),
        Besides::HeapProfile => {
            let step = "HeapProfiler.getSamplingProfile";
            finds.step = step;
            finds.heap_profile = Some(heap_profile(&session.call(step, json!({})).await?)?);
            return Ok(());
        }
        Besides::CpuProfile if !patience.mapping.is_zero() && finds.scripts.values().any(has_map) => {
            finds.reader = Reader::start(subject);
        }
        Besides::CpuProfile => {}
    }
    session.send("Profiler.enable", json!({})).await?;
    session.send("Profiler.setSamplingInterval", json!({ "interval": SAMPLING_INTERVAL_US })).await?;
    // A loop that was optimised while it ran is code the profiler has no name for, so its time would go to its caller.
    // Starting coverage throws optimised code away; what V8 then optimises anew, under the profiler's eyes, it can name.
    session.send("Profiler.startPreciseCoverage", json!({ "callCount": true, "detailed": false })).await?;
    session.send("Profiler.stopPreciseCoverage", json!({})).await?;
    let mut call = async |step: &'static str, params| {
        finds.step = step;
        session.call(step, params).await
    };
    call("Profiler.start", json!({})).await?;
    call("Debugger.resume", json!({})).await?;
    // V8 answers in a tight loop and in a regular expression too, without being paused.
    let left = end.saturating_duration_since(Instant::now());
    tokio::time::sleep(patience.profile.min(left / 2)).await;
    let answer = call("Profiler.stop", json!({})).await?;
    finds.profile = Some(profile::read(&answer)?);
    Ok(())
}

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    result: Sampled<'a>,
}

#[derive(Deserialize)]
struct Sampled<'a> {
    /// Tree as deep as the app's stacks, so that it is not parsed.
    #[serde(borrow)]
    profile: &'a RawValue,
}

/// The profile in the answer to `HeapProfiler.getSamplingProfile`.
fn heap_profile(answer: &str) -> Result<String, Why> {
    let unreadable = |error: &dyn fmt::Display| Why::BadAnswer("HeapProfiler.getSamplingProfile", error.to_string());
    let answer: Answer<'_> = serde_json::from_str(answer).map_err(|error| unreadable(&error))?;
    Ok(answer.result.profile.get().to_owned())
}

/// Asks the process to open its inspector and returns its address.
async fn open(pid: u32, inspector: &mut watch::Receiver<Inspector>, patience: Duration) -> Result<Address, Why> {
    let before = inspector.borrow_and_update().address();
    if sample::has_exited(pid) {
        return Err(Why::Gone);
    }
    if sample::catches(pid, Signal::SIGUSR1) == Some(false) && before.is_none() {
        return Err(Why::NotInspectable);
    }
    let raw = i32::try_from(pid).ok().filter(|pid| *pid > 1).ok_or(Why::Gone)?;
    match kill(Pid::from_raw(raw), Signal::SIGUSR1) {
        Ok(()) => {}
        Err(Errno::ESRCH) => return Err(Why::Gone),
        Err(error) => return Err(Why::Connection(error.desc().to_owned())),
    }
    let patience = if before.is_some() { patience.min(OPEN_ALREADY_TIMEOUT) } else { patience };
    match timeout(patience, inspector.changed()).await {
        Ok(Ok(())) => match &*inspector.borrow() {
            Inspector::Listening(address) => Ok(address.clone()),
            Inspector::Failed(reason) => Err(Why::PortNotOpened(reason.clone())),
            Inspector::Silent => Err(Why::NoAddress),
        },
        // Whoever reads stderr has come to its end.
        Ok(Err(_)) => Err(Why::Gone),
        Err(_) => before.ok_or(if sample::has_exited(pid) { Why::Gone } else { Why::NoAddress }),
    }
}
