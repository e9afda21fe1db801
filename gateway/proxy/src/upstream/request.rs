//! A request for a worker, from the queue to the worker's last report on it.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use sluice_catalog::config::Config;
use sluice_catalog::errors::Code;
use sluice_catalog::snapshot::CurrentRequest;
use sluice_dispatch::{Action, Actions, Ahead, Event, Exchange, Kind, Patience, Phase};
use sluice_message::Method;
use sluice_observe::RequestName;
use sluice_scheduler::{Need, RequestId, Time};
use tokio::time::Instant;

use crate::quarantine::deaths::Pass;
use crate::record::account::Account;
use crate::record::reporters::Reporters;
use crate::upstream::token::Token;
use sluice_classes::Class;
use sluice_road::sessions::POLL;
use sluice_wire::front::seat::Seat;
use sluice_wire::receive::body::Body;
use sluice_wire::respond::answer::{Answer, Origin};
use sluice_wire::respond::reader::AnswerTo;
use sluice_wire::signal::Signal;

/// Maximum shown length of a path, characters.
const PATH_CHARS_MAX: usize = 200;

/// Last bytes of every request head.
const END_OF_HEAD: &[u8] = b"\r\n\r\n";

/// Facts from the scheduler about a request whose worker has died.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Orphan {
    pub(crate) arrived: Time,
    /// Whether the worker held other requests too.
    pub(crate) shared: bool,
    /// The request was seen to wait for I/O.
    pub(crate) is_parked: bool,
}

/// A request as it is written to a worker.
pub(crate) struct WorkerMessage {
    /// Token that the head of its answer has to carry.
    pub(crate) token: Token,
    /// Request head, encoded for the worker.
    pub(crate) head: Vec<u8>,
    pub(crate) body: RefCell<Body>,
    pub(crate) method: Method,
    /// The request asks to upgrade to another protocol.
    pub(crate) is_upgrade: bool,
    pub(crate) request_id: Rc<str>,
}

/// Data from which a worker's request is made.
pub(crate) struct RequestParts {
    pub(crate) request: RequestId,
    pub(crate) message: WorkerMessage,
    pub(crate) class: Class,
    pub(crate) answer: Rc<Answer>,
    /// The request is the gateway's own, to warm a worker: it never waits in the queue.
    pub(crate) is_own: bool,
    /// Pass from quarantine. It stays with the request, as a client that leaves ends no probe.
    pub(crate) pass: Option<Pass>,
    /// Place in its client's task, which carries it out beside its own work.
    pub(crate) seat: Option<Rc<dyn Seat>>,
}

/// The exchange of a request, and its actions that are still to be carried out.
struct Machine {
    epoch: Instant,
    exchange: RefCell<Exchange>,
    /// Outstanding actions of the exchange, in order.
    actions: RefCell<Actions>,
    /// Set when there is a new action, or another time to wait for.
    stirred: Signal,
}

/// Times of a request on its way to a worker.
pub(crate) struct RequestTimes {
    /// Time at which it came to the queue.
    pub(crate) arrived: Cell<Option<Instant>>,
    /// Times at which the request was given to its worker and began there.
    pub(crate) given: Cell<Instant>,
    pub(crate) started: Cell<Instant>,
    /// Time at which the first of its bytes was written to its worker.
    pub(crate) wrote: Cell<Option<Instant>>,
}

/// A complete request for a worker.
pub(crate) struct WorkerRequest {
    pub(crate) request: RequestId,
    pub(crate) message: WorkerMessage,
    pub(crate) class: Class,
    pub(crate) need: Cell<Need>,
    pub(crate) answer: Rc<Answer>,
    pub(crate) is_own: bool,
    pass: Cell<Option<Pass>>,
    pub(crate) seat: Option<Rc<dyn Seat>>,
    /// Workers that report the ends of requests.
    reporters: Rc<Reporters>,
    machine: Machine,
    pub(crate) times: RequestTimes,
    /// Number by which it was handed ahead to its worker.
    pub(crate) handed_as: Cell<u64>,
    /// Facts from the scheduler about the request when its worker died.
    pub(crate) orphaned: Cell<Option<Orphan>>,
    /// No worker works on its answer any more.
    pub(crate) is_answered: Cell<bool>,
    /// Pending cost and record of the request, until it has ended.
    pub(crate) account: Account,
}

impl WorkerRequest {
    /// Request head, with the number by which it was handed ahead at the end of the private field for the preload.
    pub(super) fn marked_head(&self) -> Cow<'_, [u8]> {
        if self.ahead() == Ahead::No {
            return Cow::Borrowed(&self.message.head);
        }
        let mark = format!(";handed={}\r\n\r\n", self.handed_as.get());
        Cow::Owned([&self.message.head[..self.message.head.len() - END_OF_HEAD.len()], mark.as_bytes()].concat())
    }

    /// Facts about the request that its answer has to fit.
    pub(super) fn answer_to(&self) -> AnswerTo<'_> {
        AnswerTo {
            method: &self.message.method,
            is_upgrade: self.message.is_upgrade,
            token: self.message.token.as_bytes(),
            answer: &self.answer,
        }
    }

    pub(crate) fn new(reporters: &Rc<Reporters>, epoch: Instant, limits: &Config, parts: RequestParts) -> Rc<Self> {
        let RequestParts { request, message, class, answer, is_own, pass, seat } = parts;
        let kind = match () {
            () if is_own => Kind::Own,
            () if message.is_upgrade => Kind::Upgrade,
            () if message.head.ends_with(POLL) => Kind::Poll,
            () => Kind::Plain,
        };
        let now = Instant::now();
        let us = |ms: u64| ms.saturating_mul(1000);
        let patience = Patience {
            silence_us: us(limits.response.worker_timeout_ms),
            abandoned_us: us(limits.response.worker_timeout_ms),
        };
        let request = Rc::new(WorkerRequest {
            request,
            message,
            need: Cell::new(class.need),
            class,
            answer,
            is_own,
            pass: Cell::new(pass),
            seat,
            reporters: Rc::clone(reporters),
            machine: Machine {
                epoch,
                exchange: RefCell::new(Exchange::new(kind, patience)),
                actions: RefCell::default(),
                stirred: Signal::default(),
            },
            times: RequestTimes {
                arrived: Cell::new(None),
                given: Cell::new(now),
                started: Cell::new(now),
                wrote: Cell::new(None),
            },
            handed_as: Cell::new(0),
            orphaned: Cell::new(None),
            is_answered: Cell::new(false),
            account: Account::new(is_own),
        });
        request.answer.comes_from(Rc::downgrade(&request) as Weak<dyn Origin>);
        request
    }

    /// Passes an event to the exchange. The task that carries the request out performs the resulting actions.
    pub(crate) fn tell(&self, event: Event) {
        self.tell_at(Instant::now(), event);
    }

    /// Passes an event with a time that was read within this turn.
    pub(crate) fn tell_at(&self, at: Instant, event: Event) {
        let mut actions = self.machine.actions.borrow_mut();
        let mut exchange = self.machine.exchange.borrow_mut();
        let (count, wake_at) = (actions.len(), exchange.wake_at());
        exchange.on(self.time_of(at), event, &mut actions);
        if actions.len() > count || exchange.wake_at() != wake_at {
            self.machine.stirred.set();
        }
    }

    fn time_of(&self, at: Instant) -> Time {
        time_since(self.machine.epoch, at)
    }

    /// Next action of the exchange, removed from the list.
    pub(super) fn next_action(&self) -> Option<Action> {
        let mut actions = self.machine.actions.borrow_mut();
        (!actions.is_empty()).then(|| actions.remove(0))
    }

    /// Ready when there is a new action.
    pub(super) fn poll_stirred(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.machine.stirred.poll(cx)
    }

    /// Time at which the exchange next needs an event for passed time.
    pub(super) fn wake_at(&self) -> Option<Instant> {
        self.machine.exchange.borrow().wake_at().map(|at| self.machine.epoch + Duration::from_micros(at.0))
    }

    pub(crate) fn phase(&self) -> Phase {
        self.machine.exchange.borrow().phase()
    }

    pub(crate) fn is_queued(&self) -> bool {
        self.phase() == Phase::Queued
    }

    pub(super) fn forwards(&self) -> bool {
        self.machine.exchange.borrow().forwards()
    }

    /// Whether its worker has reported its end.
    pub(crate) fn is_reported(&self) -> bool {
        self.machine.exchange.borrow().is_reported()
    }

    /// Whether nobody waits for its answer any more; `None` if it holds no slot.
    pub(crate) fn is_for_nobody(&self) -> Option<bool> {
        let exchange = self.machine.exchange.borrow();
        exchange.holds_slot().then(|| !exchange.is_wanted())
    }

    /// Whether its app writes at will: to another protocol, to an event stream, or to a long poll.
    pub(crate) fn is_taken(&self) -> bool {
        self.machine.exchange.borrow().is_taken()
    }

    pub(crate) fn ahead(&self) -> Ahead {
        self.machine.exchange.borrow().ahead()
    }

    /// Whether the worker may have begun it: no request that the worker was handed precedes it.
    pub(crate) fn has_begun(&self) -> bool {
        self.ahead() != Ahead::Handed
    }

    /// Begins the request, which is now first in its worker: from here on its time counts.
    pub(crate) fn begin(&self, at: Instant) {
        self.times.started.set(at);
        self.tell_at(at, Event::Begun);
    }

    /// Records that the worker has exited, and that the app has not seen the requests that were handed ahead by these numbers.
    pub(crate) fn worker_is_gone(&self, unseen: &[u64], cause: sluice_dispatch::Cause) {
        self.account.close();
        let is_unseen = self.ahead() != Ahead::No && unseen.contains(&self.handed_as.get());
        self.tell(Event::Exited { is_unseen, cause });
    }

    // Its client.

    /// Whether the app sees that a client leaves. A worker that reports no end of the app's reaction would have to be replaced each time,
    /// and a warm-up has no client.
    fn shows_departures(&self) -> bool {
        let worker = self.answer.facts.worker.get();
        !self.is_own && worker.is_some_and(|worker| self.reporters.reports(worker))
    }

    /// Checks the config's timeouts. They are long, so that requests pay for no timers of their own.
    pub(crate) fn check(&self, now: Instant, stream_idle_max: Option<Duration>) {
        let answer = &self.answer;
        if answer.facts.is_stream.get()
            && stream_idle_max.is_some_and(|max| now.saturating_duration_since(answer.facts.last_moved.get()) >= max)
        {
            answer.fail(Code::StreamIdle);
            answer.close();
        }
        let ends = self.machine.exchange.borrow().patience_ends();
        if ends.is_some_and(|end| end <= self.time_of(now)) {
            self.tell_at(now, Event::TimedOut);
        }
    }

    /// Takes the pass from quarantine, which releases the request's probe.
    pub(crate) fn take_pass(&self) -> Option<Pass> {
        self.pass.take()
    }

    // Views for operators.

    /// Path and query.
    pub(crate) fn target(&self) -> &str {
        method_and_target(&self.message.head).1
    }

    /// Request id in logs and answers.
    pub(crate) fn id(&self) -> &str {
        &self.message.request_id
    }

    /// Identification for reports.
    pub(crate) fn named(&self) -> RequestName {
        let (method, target) = method_and_target(&self.message.head);
        RequestName {
            request_id: self.message.request_id.to_string(),
            method: method.to_owned(),
            target: target.to_owned(),
            class: Rc::clone(&self.class.name),
        }
    }

    /// Description of the request for operators. The query may hold secrets, and so is left out.
    pub(crate) fn describe(&self) -> CurrentRequest {
        let (method, target) = method_and_target(&self.message.head);
        let path = target.split(['?', '#']).next().unwrap_or_default();
        CurrentRequest {
            id: self.message.request_id.to_string(),
            class: self.class.name.to_string(),
            for_ms: u64::try_from(self.times.started.get().elapsed().as_millis()).unwrap_or(u64::MAX),
            method: method.to_owned(),
            path: path.chars().take(PATH_CHARS_MAX).collect(),
        }
    }
}

/// Time on the clock of scheduler and exchanges, which begins at `epoch`.
pub(crate) fn time_since(epoch: Instant, at: Instant) -> Time {
    Time(u64::try_from(at.saturating_duration_since(epoch).as_micros()).unwrap_or(u64::MAX))
}

/// First two words of a head that the gateway wrote.
fn method_and_target(head: &[u8]) -> (&str, &str) {
    let mut words = head.split(|byte| matches!(byte, b' ' | b'\r'));
    let mut word = || words.next().and_then(|word| std::str::from_utf8(word).ok()).unwrap_or_default();
    (word(), word())
}

impl Origin for WorkerRequest {
    fn answer_unwanted(&self) {
        self.tell(Event::Unwanted);
    }

    fn client_left(&self) {
        self.tell(Event::ClientLeft { is_shown: self.shows_departures() });
    }

    fn client_half_closed(&self) {
        self.tell(Event::ClientHalfClosed { is_shown: self.shows_departures() });
    }
}
