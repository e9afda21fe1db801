//! The threads that compress: a fixed number, below the gateway in priority. They must not know who waits for what they make.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use nix::sys::signal::SigSet;
use rustix::time::{ClockId, clock_gettime};
use sluice_message::Coding;
use tokio::sync::oneshot;

use crate::coder::{Coder, Effort, Step};
use crate::counts::Counts;

/// Stack of a thread: the compressors keep what is large on the heap, but builds without optimisation need more than they say.
const STACK_BYTES: usize = 1024 * 1024;
/// Maximum number of unused encoders per thread, stored for their memory.
const SPARE_PER_THREAD_MAX: usize = 4;

pub(crate) enum Job {
    Encode(Encode),
    /// A coder in the middle of a body that nobody wants any more.
    Discard(Coder),
}

pub(crate) struct Encode {
    pub(crate) coder: Source,
    pub(crate) data: Vec<Bytes>,
    pub(crate) step: Step,
    pub(crate) reply: oneshot::Sender<EncodeResult>,
}

pub(crate) enum Source {
    New(Coding, Effort),
    Begun(Coder),
}

/// Result of a job: bytes, and the coder if the body continues.
pub(crate) struct EncodeResult {
    pub(crate) bytes: Vec<u8>,
    pub(crate) coder: Option<Coder>,
}

/// State that the threads share with their callers.
#[derive(Default)]
pub(crate) struct Work {
    pub(crate) counts: Counts,
    /// Jobs that wait or are worked on.
    pub(crate) queued: AtomicUsize,
    /// Bodies that are being compressed.
    pub(crate) bodies: AtomicUsize,
    spare: Mutex<Vec<Coder>>,
    spare_max: usize,
}

impl Work {
    pub(crate) fn new(threads: usize) -> Arc<Self> {
        Arc::new(Work { spare_max: threads * SPARE_PER_THREAD_MAX, ..Work::default() })
    }

    /// Coders without a body; only the threads, and tests, wait for the lock.
    pub(crate) fn spare(&self) -> MutexGuard<'_, Vec<Coder>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the threads, `count` of them. They end when the last sender of jobs is dropped. `None` where none can be started.
    pub(crate) fn start(self: &Arc<Self>, count: usize, nice: i32) -> Option<Sender<Job>> {
        let (sender, receiver) = channel();
        let receiver = Arc::new(Mutex::new(receiver));
        let start = |_: usize| {
            let (work, jobs) = (Arc::clone(self), Arc::clone(&receiver));
            let thread = thread::Builder::new().name("compress".to_owned()).stack_size(STACK_BYTES);
            thread.spawn(move || work.run(&jobs, nice)).is_ok()
        };
        let started = (0..count).map(start).filter(|is_started| *is_started).count();
        (started > 0).then_some(sender)
    }

    fn run(&self, jobs: &Mutex<Receiver<Job>>, nice: i32) {
        // Signals are for the main thread.
        let _ = SigSet::all().thread_block();
        lower_priority(nice);
        loop {
            let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok(job) = job else { return };
            let is_encode = matches!(job, Job::Encode(_));
            // A compressor that panics loses its body and nothing else: whoever waits finds the reply gone.
            let _ = catch_unwind(AssertUnwindSafe(|| self.work(job)));
            if is_encode {
                self.queued.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }

    fn work(&self, job: Job) {
        let mut clock = Clock(cpu());
        match job {
            Job::Discard(coder) => self.keep(coder),
            Job::Encode(job) => self.encode(job, &mut clock),
        }
        self.counts.encoded(0, 0, clock.lap());
    }

    fn encode(&self, job: Encode, clock: &mut Clock) {
        let Encode { coder, data, step, reply } = job;
        let coder = match coder {
            Source::Begun(coder) => Some(coder),
            // Who asked has left.
            Source::New(..) if reply.is_closed() => return,
            Source::New(coding, effort) => self.coder(coding, effort),
        };
        let Some(mut coder) = coder else { return };
        if reply.is_closed() {
            return self.keep(coder);
        }
        let mut bytes = Vec::new();
        let mut rest = data.iter().peekable();
        while let Some(piece) = rest.next() {
            let step = if rest.peek().is_some() { Step::More } else { step };
            if coder.encode(piece, step, &mut bytes).is_err() {
                return;
            }
        }
        if data.is_empty() && coder.encode(&[], step, &mut bytes).is_err() {
            return;
        }
        // Before the reply, so that whoever has it finds it counted.
        self.counts.encoded(data.iter().map(Bytes::len).sum(), bytes.len(), clock.lap());
        let (begun, ended) = if step == Step::Finish { (None, Some(coder)) } else { (Some(coder), None) };
        let refused = reply.send(EncodeResult { bytes, coder: begun }).err().and_then(|unsent| unsent.coder);
        if let Some(coder) = ended.or(refused) {
            self.keep(coder);
        }
    }

    fn coder(&self, coding: Coding, effort: Effort) -> Option<Coder> {
        let spare = {
            let mut spare = self.spare();
            let at = spare.iter().rposition(|coder| coder.is_of(coding, effort));
            at.map(|at| spare.swap_remove(at))
        };
        spare.or_else(|| Coder::new(coding, effort).ok())
    }

    fn keep(&self, coder: Coder) {
        let Some(coder) = coder.renew() else { return };
        let mut spare = self.spare();
        if spare.len() >= self.spare_max {
            // The one that was of no use for longest.
            spare.remove(0);
        }
        spare.push(coder);
    }
}

/// CPU time of this thread as of the latest look.
struct Clock(Duration);

impl Clock {
    /// CPU time since the look before.
    fn lap(&mut self) -> Duration {
        let now = cpu();
        now.saturating_sub(std::mem::replace(&mut self.0, now))
    }
}

/// CPU time of this thread.
fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
}

/// Lowers the priority of this thread below that of requests. Priorities are those of threads on Linux alone.
#[cfg(target_os = "linux")]
fn lower_priority(nice: i32) {
    use rustix::process::{getpriority_process, setpriority_process};
    let usual = getpriority_process(None).unwrap_or(0);
    // What is refused is let be.
    let _ = setpriority_process(Some(rustix::thread::gettid()), (usual + nice).min(19));
}

#[cfg(not(target_os = "linux"))]
fn lower_priority(_nice: i32) {}
