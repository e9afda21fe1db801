//! Entry for callers: bodies are begun here, or refused if too many are on their way already.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use sluice_message::Coding;
use tokio::sync::oneshot;

use crate::coder::{Coder, Effort, Step};
use crate::counts::Counts;
use crate::threads::{Encode, EncodeResult, Job, Source, Work};

/// Maximum number of queued jobs per thread at the start of a body. A job takes about a millisecond, so that a piece
/// waits for 8 ms at most.
const QUEUED_PER_THREAD_MAX: usize = 8;
/// Bytes of a whole body that are one job: others get their turn in between.
const PIECE_BYTES: usize = 64 * 1024;

/// Limits of compression.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Threads, and so CPUs.
    pub threads: usize,
    /// Addition to the nice value of the process for them.
    pub nice: i32,
    /// Bodies at once; each has a coder of about 1 MiB.
    pub bodies_max: usize,
}

/// The compressor gave up, and the rest of the body cannot be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompressionFailure;

/// Refusal of a body that is to be sent as it is, because too many others are on their way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy;

/// Threads that compress. They are started with the first body.
pub struct Pool {
    work: Arc<Work>,
    limits: Limits,
    bodies_max: AtomicUsize,
    jobs: OnceLock<Option<Sender<Job>>>,
}

impl Pool {
    /// A pool without threads yet.
    pub fn new(limits: Limits) -> Self {
        Pool {
            work: Work::new(limits.threads),
            limits,
            bodies_max: AtomicUsize::new(limits.bodies_max),
            jobs: OnceLock::new(),
        }
    }

    /// Another bound on bodies, for those that are not begun yet.
    pub fn set_bodies_max(&self, bodies_max: usize) {
        self.bodies_max.store(bodies_max, Ordering::Relaxed);
    }

    /// Counts of the work so far.
    pub fn counts(&self) -> &Counts {
        &self.work.counts
    }

    /// Begins a body. `None` where too much is on its way, or no thread can be started: it is to be sent as it is.
    pub fn begin(&self, coding: Coding, effort: Effort) -> Option<Stream> {
        let has_room = self.work.queued.load(Ordering::Relaxed) < self.limits.threads * QUEUED_PER_THREAD_MAX
            && self.work.bodies.load(Ordering::Relaxed) < self.bodies_max.load(Ordering::Relaxed);
        let start = || self.work.start(self.limits.threads, self.limits.nice);
        let jobs = has_room.then(|| self.jobs.get_or_init(start).clone()).flatten();
        let Some(jobs) = jobs else {
            self.work.counts.fell_back();
            return None;
        };
        self.work.counts.begun(coding);
        self.work.bodies.fetch_add(1, Ordering::Relaxed);
        Some(Stream { work: Arc::clone(&self.work), jobs, state: State::New(coding, effort) })
    }

    /// Compresses a whole body. `None` where it became no smaller, or could not be compressed.
    ///
    /// # Errors
    /// Where [`Pool::begin`] would refuse it.
    pub async fn whole(&self, data: &Bytes, coding: Coding, effort: Effort) -> Result<Option<Bytes>, Busy> {
        let mut stream = self.begin(coding, effort).ok_or(Busy)?;
        let mut out = Vec::new();
        let mut at = 0;
        while at < data.len() {
            let end = data.len().min(at + PIECE_BYTES);
            let step = if end == data.len() { Step::Finish } else { Step::More };
            let Ok(mut encoded) = stream.encode(vec![data.slice(at..end)], step).await else { return Ok(None) };
            out.append(&mut encoded);
            at = end;
        }
        Ok((out.len() < data.len()).then(|| out.into()))
    }
}

/// A body that is being compressed. Dropped before its end, it is given up.
pub struct Stream {
    work: Arc<Work>,
    jobs: Sender<Job>,
    state: State,
}

enum State {
    New(Coding, Effort),
    Begun(Coder),
    /// End of the body, or loss of its coder.
    Over,
}

impl Stream {
    /// Gives pieces of the body to a thread and waits for what comes of them, which may be nothing before [`Step::Flush`] or
    /// [`Step::Finish`].
    ///
    /// # Errors
    /// When the compressor has failed, or the body has ended.
    pub async fn encode(&mut self, data: Vec<Bytes>, step: Step) -> Result<Vec<u8>, CompressionFailure> {
        let coder = match std::mem::replace(&mut self.state, State::Over) {
            State::New(coding, effort) => Source::New(coding, effort),
            State::Begun(coder) => Source::Begun(coder),
            State::Over => return Err(CompressionFailure),
        };
        let (reply, replied) = oneshot::channel();
        self.work.queued.fetch_add(1, Ordering::Relaxed);
        self.jobs.send(Job::Encode(Encode { coder, data, step, reply })).map_err(|_| CompressionFailure)?;
        let EncodeResult { bytes, coder } = replied.await.map_err(|_| CompressionFailure)?;
        if let Some(coder) = coder {
            self.state = State::Begun(coder);
        }
        Ok(bytes)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.work.bodies.fetch_sub(1, Ordering::Relaxed);
        if let State::Begun(coder) = std::mem::replace(&mut self.state, State::Over) {
            // To end it costs CPU time, which is the threads' business.
            let _ = self.jobs.send(Job::Discard(coder));
        }
    }
}

#[cfg(test)]
#[path = "pool/tests.rs"]
mod tests;
