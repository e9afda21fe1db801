//! What a worker does with a request: the job it is given, and the exchange as the sweep for time-outs sees it.
//!
//! The slots that carry jobs out are in `slots`, one request and its response in `exchange`, the connection in `wire`.

mod broken;
mod exchange;
pub(crate) mod forward;
mod given;
mod handed;
mod lease;
mod mailbox;
mod reader;
mod slots;
#[cfg(test)]
mod tests;
pub(crate) mod token;
mod upgrades;
mod wire;

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use sluice_catalog::errors::Code;
use sluice_catalog::snapshot::CurrentRequest;
use sluice_message::Method;
use sluice_scheduler::RequestId;
use tokio::sync::Notify;

use crate::gate::{Orphan, Pass};
use crate::receive::body::Body;
use crate::record::account::Account;
use crate::respond::answer::Answer;
use crate::sessions::POLL;
use crate::signal::Signal;
use crate::upstream::token::Token;
use sluice_classes::Class;
use tokio::time::Instant;

/// The most of a path that operators are shown.
const PATH_CHARS_MAX: usize = 200;

pub(crate) use broken::EXIT_TIMEOUT;
pub(crate) use handed::{AHEAD_MAX, Ahead};
pub(crate) use lease::{Lease, Lost, StreamLease};
pub(crate) use slots::Slots;

/// A whole request, ready for a worker.
pub(crate) struct Job {
    pub(crate) request: RequestId,
    /// What the head of its answer has to carry.
    pub(crate) token: Token,
    /// Its head, written afresh.
    pub(crate) head: Rc<Vec<u8>>,
    pub(crate) body: Body,
    pub(crate) method: Method,
    /// It asks for another protocol.
    pub(crate) is_upgrade: bool,
    pub(crate) request_id: Rc<str>,
    pub(crate) class: Class,
    pub(crate) answer: Rc<Answer>,
    /// The gateway's own, to warm a worker: it never waits in the queue.
    pub(crate) is_own: bool,
    /// How it came through quarantine. It stays with the job, as a client that leaves ends no probe.
    pub(crate) _pass: Pass,
}

impl Job {
    /// Path and query, as they stand in the head's first line.
    pub(crate) fn target(&self) -> &str {
        method_and_target(&self.head).1
    }
}

/// The first two words of a head that the gateway wrote.
fn method_and_target(head: &[u8]) -> (&str, &str) {
    let mut words = head.split(|byte| matches!(byte, b' ' | b'\r'));
    let mut word = || words.next().and_then(|word| std::str::from_utf8(word).ok()).unwrap_or_default();
    (word(), word())
}

/// A request that a worker was given: for as long as this lasts, the slot is taken.
pub(crate) struct Given {
    pub(crate) lease: Lease,
    pub(crate) job: Box<Job>,
    pub(crate) exchange: Rc<InFlight>,
}

/// How long is waited for what, from the config.
pub(crate) struct Patience {
    /// For a worker that sends nothing.
    pub(crate) silence_max: Duration,
    /// For a worker whose response nobody waits for.
    pub(crate) abandoned_max: Duration,
    /// For a stream that carries nothing.
    pub(crate) idle_max: Option<Duration>,
}

/// A request in a slot, as the sweep for time-outs sees it.
pub(crate) struct InFlight {
    pub(crate) request: RequestId,
    pub(crate) answer: Rc<Answer>,
    pub(crate) last_heard: Cell<Instant>,
    unwanted_since: Cell<Option<Instant>>,
    /// The worker has reported the end of the request.
    pub(crate) is_confirmed: Cell<bool>,
    /// Set when that report comes.
    pub(crate) confirmed: Signal,
    /// Wakes who waits just then for the report, or for the worker's end.
    pub(crate) ended: Notify,
    /// Set when nobody waits any more and the worker has had its time: the connection is closed.
    pub(crate) cut: Signal,
    /// The worker's connection was closed, or its sending side, because the client's was: the app is to see it.
    pub(crate) has_left: Cell<bool>,
    /// The app has the upgrade in its hands, has begun an event stream, or waits with a poll: what it writes to the connection,
    /// and when, is its own affair. A stream's head may come with its first event.
    pub(crate) is_taken: Cell<bool>,
    /// Set when that is reported.
    pub(crate) taken: Signal,
    /// Set when the worker says that the app waits with its answer: the request leaves its slot.
    pub(crate) leaves: Signal,
    /// The worker gave the request back unseen by the app, which has not ended this other one.
    pub(crate) busy_with: Cell<Option<RequestId>>,
    /// Whether it was handed to its worker ahead of time.
    pub(crate) ahead: Cell<Ahead>,
    /// The number of that.
    pub(crate) handed_as: Cell<u64>,
    /// It was taken back, and the app will never see it: its connection is to be closed.
    pub(crate) is_withdrawn: Cell<bool>,
    /// Set then.
    pub(crate) withdrawn: Signal,
    /// The gateway's own, to warm a worker.
    pub(crate) is_own: bool,
    /// What the scheduler said of it when its worker died.
    pub(crate) orphaned: Cell<Option<Orphan>>,
    /// Set some time after the worker's death: nothing more can come from it, whoever keeps its connection open.
    pub(crate) died: Signal,
    /// What is to come of it when it has ended.
    pub(crate) account: Account,
    request_id: Rc<str>,
    pub(crate) class: Class,
    /// As the worker got it, for who has to name a request that went wrong.
    head: Rc<Vec<u8>>,
    /// When the worker got it, and when it began there.
    pub(crate) given: Instant,
    pub(crate) started: Cell<Instant>,
}

impl InFlight {
    pub(crate) fn new(job: &Job, now: Instant) -> Self {
        InFlight {
            request: job.request,
            answer: Rc::clone(&job.answer),
            last_heard: Cell::new(now),
            unwanted_since: Cell::new(None),
            is_confirmed: Cell::new(false),
            confirmed: Signal::default(),
            ended: Notify::new(),
            cut: Signal::default(),
            has_left: Cell::new(false),
            is_taken: Cell::new(false),
            taken: Signal::default(),
            leaves: Signal::default(),
            busy_with: Cell::new(None),
            ahead: Cell::default(),
            handed_as: Cell::new(0),
            is_withdrawn: Cell::new(false),
            withdrawn: Signal::default(),
            is_own: job.is_own,
            orphaned: Cell::new(None),
            died: Signal::default(),
            account: Account::new(job.is_own),
            request_id: Rc::clone(&job.request_id),
            class: job.class.clone(),
            head: Rc::clone(&job.head),
            given: now,
            started: Cell::new(now),
        }
    }

    /// A silent worker's client is answered; a worker that goes on for nobody is cut off. Neither frees the slot.
    pub(crate) fn check(&self, now: Instant, patience: &Patience) {
        let Patience { silence_max, abandoned_max, idle_max } = *patience;
        if self.answer.is_stream.get() {
            // An upgrade leaves its slot before it is answered, and nobody waits for that for ever.
            if !self.answer.has_head()
                && self.answer.is_wanted()
                && now.saturating_duration_since(self.last_heard.get()) >= silence_max
            {
                self.answer.fail(Code::WorkerTimeout);
            }
            if idle_max.is_some_and(|max| now.saturating_duration_since(self.answer.moved_at()) >= max) {
                self.answer.fail(Code::StreamIdle);
                self.answer.closing.set();
            }
            return;
        }
        if self.answer.is_wanted() {
            if now.saturating_duration_since(self.last_heard.get()) >= silence_max {
                self.answer.fail(Code::WorkerTimeout);
            }
            return;
        }
        match self.unwanted_since.get() {
            None => self.unwanted_since.set(Some(now)),
            Some(since) if now.saturating_duration_since(since) >= abandoned_max => self.cut.set(),
            Some(_) => {}
        }
    }

    /// The worker has gone, and what has one of these numbers it had not shown to the app.
    pub(crate) fn worker_is_gone(&self, unseen: &[u64]) {
        self.account.close();
        self.is_withdrawn.set(self.is_withdrawn.get() || unseen.contains(&self.handed_as.get()));
        self.ended.notify_waiters();
    }

    /// Whether the worker was told that the request is a long poll, which may leave its slot.
    pub(crate) fn is_poll(&self) -> bool {
        self.head.ends_with(POLL)
    }

    /// Whether nothing that it was handed behind stands before it.
    pub(crate) fn has_begun(&self) -> bool {
        self.ahead.get() != Ahead::Handed
    }

    /// None stands before it in its worker any more: from here on time counts.
    pub(crate) fn begin(&self, now: Instant) {
        self.ahead.set(Ahead::Begun);
        self.started.set(now);
        self.last_heard.set(self.last_heard.get().max(now));
    }

    /// Path and query.
    pub(crate) fn target(&self) -> &str {
        method_and_target(&self.head).1
    }

    /// Request id, method, target.
    pub(crate) fn name(&self) -> (String, String, String) {
        let (method, target) = method_and_target(&self.head);
        (self.request_id.to_string(), method.to_owned(), target.to_owned())
    }

    /// What operators see of it. The query may hold secrets, and so is left out.
    pub(crate) fn describe(&self) -> CurrentRequest {
        let (method, target) = method_and_target(&self.head);
        let path = target.split(['?', '#']).next().unwrap_or_default();
        CurrentRequest {
            id: self.request_id.to_string(),
            class: self.class.name.to_string(),
            for_ms: u64::try_from(self.started.get().elapsed().as_millis()).unwrap_or(u64::MAX),
            method: method.to_owned(),
            path: path.chars().take(PATH_CHARS_MAX).collect(),
        }
    }
}
