//! Carries one request out. It turns readiness of its worker's connection into events of the exchange, and performs the actions of the
//! exchange. It decides nothing: that is in [`sluice_dispatch::Exchange`].

use std::borrow::Cow;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use sluice_dispatch::{Action, Cause, Event, Judgement, Note, Phase};
use sluice_http1::ReceivedResponse;
use sluice_journal::{Event as Happening, Level};
use tokio::time::{Instant, Sleep};

use super::lease::{Lease, StreamLease};
use super::owner::SlotOwner;
use super::request::WorkerRequest;
use super::slots::Slots;
use super::wire::Wire;
use super::writer::{WriteOutcome, Writer};
use sluice_wire::respond::answer::Times;
use sluice_wire::respond::reader::{AnswerFault, Progress, Proof, Reader, is_event_stream};

type Boxed<T> = Pin<Box<dyn Future<Output = T>>>;

/// Futures that the driver polls.
#[derive(Default)]
struct Futures {
    connecting: Option<Boxed<io::Result<Wire>>>,
    /// A piece of the body on its way to the disk.
    spilling: Option<Boxed<()>>,
    judging: Option<Boxed<Judgement>>,
    sleep: Option<Pin<Box<Sleep>>>,
}

/// See the module's text.
pub(crate) struct Driver {
    slots: Rc<Slots>,
    request: Rc<WorkerRequest>,
    /// Slot of the request, until it is freed.
    lease: Option<Lease>,
    /// Place of the request among streams, after it has left its slot.
    stream: Option<StreamLease>,
    wire: Option<Wire>,
    era: u32,
    writer: Option<Writer>,
    reader: Option<Reader>,
    futures: Futures,
    /// The head of a stream or of another protocol.
    head: Option<ReceivedResponse>,
    /// Description of the fault in the answer; empty without one.
    detail: &'static str,
    /// Time of the current turn, read once for all its events.
    now: Instant,
    /// The answer is complete.
    is_whole: bool,
    is_over: bool,
}

impl Driver {
    pub(super) fn new(slots: Rc<Slots>, request: Rc<WorkerRequest>, lease: Lease, wire: Option<Wire>) -> Self {
        Driver {
            era: slots.era(),
            slots,
            request,
            lease: Some(lease),
            stream: None,
            wire,
            writer: None,
            reader: None,
            futures: Futures::default(),
            head: None,
            detail: "",
            now: Instant::now(),
            is_whole: false,
            is_over: false,
        }
    }
}

impl Future for Driver {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let driver = self.get_mut();
        let Some(owner) = driver.slots.owner.upgrade() else { return Poll::Ready(()) };
        driver.now = Instant::now();
        loop {
            let is_stirred = driver.request.poll_stirred(cx).is_ready();
            while let Some(action) = driver.request.next_action() {
                driver.carry_out(&*owner, action);
                if driver.is_over {
                    return Poll::Ready(());
                }
            }
            let moved = driver.poll_io(cx);
            if !moved && !is_stirred && driver.poll_timer(cx).is_pending() {
                return Poll::Pending;
            }
        }
    }
}

impl Driver {
    /// Polls all I/O of the request. Returns whether anything has happened.
    fn poll_io(&mut self, cx: &mut Context<'_>) -> bool {
        self.poll_connect(cx) || self.poll_write(cx) || self.poll_read(cx) || self.poll_judging(cx)
    }

    fn poll_connect(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(connecting) = &mut self.futures.connecting else { return false };
        let Poll::Ready(connected) = connecting.as_mut().poll(cx) else { return false };
        self.futures.connecting = None;
        match connected {
            Ok(wire) => {
                self.wire = Some(wire);
                self.request.tell_at(self.now, Event::Connected);
            }
            Err(_) => self.request.tell_at(self.now, Event::ConnectFailed),
        }
        true
    }

    fn poll_write(&mut self, cx: &mut Context<'_>) -> bool {
        let (Some(writer), Some(wire)) = (&mut self.writer, &mut self.wire) else { return false };
        let Poll::Ready(written) = writer.poll(cx, wire, &self.request.message.head) else { return false };
        match written {
            WriteOutcome::Some { is_whole, is_one_piece } => {
                if is_whole {
                    self.writer = None;
                }
                let wrote = &self.request.times.wrote;
                wrote.set(wrote.get().or_else(|| Some(Instant::now())));
                self.request.tell_at(self.now, Event::Wrote { is_whole, is_one_piece });
            }
            WriteOutcome::Refused => self.writer = None,
            WriteOutcome::Lost => {
                self.writer = None;
                self.request.tell_at(self.now, Event::BodyLost);
            }
        }
        true
    }

    fn poll_read(&mut self, cx: &mut Context<'_>) -> bool {
        if let Some(spilling) = &mut self.futures.spilling {
            if spilling.as_mut().poll(cx).is_pending() {
                return false;
            }
            self.futures.spilling = None;
        }
        // A worker that takes no byte of the request may have closed the connection.
        if !self.request.forwards() && self.request.phase() != Phase::Handed {
            return false;
        }
        let (Some(reader), Some(wire)) = (&mut self.reader, &mut self.wire) else { return false };
        match reader.step(&mut wire.unread, &self.request.answer_to()) {
            Ok(Progress::Short) => {}
            Ok(progress) => {
                self.take(progress);
                return true;
            }
            Err(broken) => {
                self.reader = None;
                match broken {
                    AnswerFault::Malformed(detail) => {
                        self.detail = detail;
                        self.request.tell_at(self.now, Event::Malformed);
                    }
                    AnswerFault::Foreign => self.request.tell_at(self.now, Event::Foreign),
                }
                return true;
            }
        }
        let Poll::Ready(read) = wire.poll_read(cx) else { return false };
        match read {
            Ok(len) if len > 0 => {
                self.now = Instant::now();
                self.request.answer.facts.last_moved.set(self.now);
                self.request.tell_at(self.now, Event::Heard);
            }
            read => {
                self.wire = None;
                self.writer = None;
                // What Linux answers when the other side has closed with bytes that it had not read. Another runtime than Node may have
                // read a part of them.
                let is_reset = read.is_err_and(|error| error.kind() == io::ErrorKind::ConnectionReset);
                self.request.tell_at(self.now, Event::Closed { is_reset: is_reset && self.slots.marks });
            }
        }
        true
    }

    fn take(&mut self, progress: Progress) {
        let answer = &self.request.answer;
        match progress {
            Progress::Short => {}
            Progress::Interim(head) => answer.inform(head),
            Progress::Head(received) if received.head.status == 101 => {
                self.head = Some(received);
                self.request.tell_at(self.now, Event::Switched);
            }
            Progress::Head(received) if is_event_stream(&received) => {
                if self.stream.is_some() {
                    answer.begin(received);
                } else {
                    self.head = Some(received);
                }
                self.request.tell_at(self.now, Event::StreamCame);
            }
            Progress::Head(received) => {
                let is_until_close = received.framing == sluice_http1::ResponseFraming::UntilClose;
                answer.begin(received);
                self.request.tell_at(self.now, Event::HeadCame { is_until_close });
            }
            Progress::Piece(piece) => self.push(piece),
            Progress::Whole { trailers, is_reusable } => {
                self.reader = None;
                self.is_whole = true;
                answer.complete(trailers);
                self.request.tell_at(self.now, Event::Completed { is_reusable });
            }
        }
    }

    /// Adds a piece to the answer. Nothing more is read while a piece waits for the disk; the client is never waited for.
    fn push(&mut self, piece: Bytes) {
        if let Err(piece) = self.request.answer.push_to_memory(piece) {
            let answer = Rc::clone(&self.request.answer);
            self.futures.spilling = Some(Box::pin(async move { answer.push(piece).await }));
        }
    }

    fn poll_judging(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(judging) = &mut self.futures.judging else { return false };
        let Poll::Ready(judged) = judging.as_mut().poll(cx) else { return false };
        self.futures.judging = None;
        self.request.tell_at(self.now, Event::Judged(judged));
        true
    }

    fn poll_timer(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(at) = self.request.wake_at() else { return Poll::Pending };
        if self.futures.spilling.is_some() && self.request.forwards() {
            // Bytes that are in the socket by then are read before any time counts as over.
            return Poll::Pending;
        }
        let sleep = self.futures.sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(at)));
        if sleep.deadline() != at {
            sleep.as_mut().reset(at);
        }
        std::task::ready!(sleep.as_mut().poll(cx));
        self.futures.sleep = None;
        self.now = Instant::now().max(at);
        self.request.tell_at(self.now, Event::TimedOut);
        Poll::Ready(())
    }

    fn carry_out(&mut self, owner: &dyn SlotOwner, action: Action) {
        match action {
            Action::Connect => {
                self.wire = None;
                self.era = self.slots.era();
                let socket = self.slots.socket.clone();
                self.futures.connecting = Some(Box::pin(async move { Wire::connect(&socket).await }));
            }
            Action::Write => self.begin_to_write(owner),
            Action::ShutDown => {
                if let Some(wire) = &mut self.wire {
                    wire.shut_down();
                }
            }
            Action::Close => self.close(),
            Action::Fail(code) => self.request.answer.fail(code),
            Action::Leave => self.request.answer.leave(),
            Action::Complete => {
                self.is_whole = true;
                self.request.answer.complete(Vec::new());
            }
            Action::TakeBack => owner.withdraw(self.slots.worker, &self.slots.take_unseen()),
            Action::Detach => self.detach(owner),
            Action::GiveUpWorker => {
                self.slots.ends_for(Cause::Gateway);
                owner.give_up_worker(self.slots.worker);
            }
            Action::Judge { seen, cause } => self.futures.judging = Some(owner.judge(&self.request, seen, cause)),
            Action::Note(note) => self.note(owner, note),
            Action::Finish { .. }
            | Action::GiveBack { .. }
            | Action::PassTo { .. }
            | Action::EndStream
            | Action::SwitchOver
            | Action::Retry { .. }
            | Action::Bury => self.end(owner, action),
        }
    }

    /// Performs the last action: returns the slot or the stream, and ends the answer.
    fn end(&mut self, owner: &dyn SlotOwner, action: Action) {
        self.is_over = true;
        let request = &self.request;
        // Before the slot is free, as the next request may be given to it within that call.
        self.slots.free(request.request);
        if action == (Action::Finish { keeps: true })
            && let Some(wire) = self.wire.take()
        {
            self.slots.keep(wire, self.era, request);
        }
        match action {
            Action::EndStream => drop((self.wire.take(), self.stream.take())),
            Action::SwitchOver => {
                let (Some(head), Some(wire), Some(stream)) = (self.head.take(), self.wire.take(), self.stream.take())
                else {
                    return;
                };
                drop((request.take_pass(), request.message.body.take()));
                request.answer.begin(head);
                request.answer.upgrade(wire.into_upgraded(stream));
            }
            _ => {}
        }
        if let Some(lease) = self.lease.take() {
            self.give_back(owner, action, lease);
        }
        // One that waits again has its body and its pass still to keep.
        if self.request.is_answered.get() {
            drop((self.request.take_pass(), self.request.message.body.take()));
        }
    }

    fn give_back(&mut self, owner: &dyn SlotOwner, action: Action, lease: Lease) {
        let request = &self.request;
        match action {
            Action::Finish { .. } => {
                if self.is_whole {
                    self.slots.finished_total.set(self.slots.finished_total.get() + 1);
                    request.answer.facts.times.update(|times| Times { finished: Some(self.now), ..times });
                }
                owner.finished(lease, self.now);
                if self.is_whole {
                    owner.proven(request);
                }
            }
            Action::GiveBack { is_fault: true } => owner.undelivered(lease, request),
            Action::GiveBack { is_fault: false } => owner.returned(lease, request),
            Action::PassTo { by } => owner.pass_to(&self.slots, lease, request, by, self.wire.take()),
            Action::Retry { was_sent, is_suspect } => owner.retry(lease, request, was_sent, is_suspect),
            _ => owner.bury(lease, request),
        }
    }

    fn begin_to_write(&mut self, owner: &dyn SlotOwner) {
        let Some(wire) = &mut self.wire else { return };
        wire.carried += 1;
        let proof = match (self.slots.marks, wire.carried) {
            (false, _) => Proof::None,
            // Nobody else has ever written to the connection.
            (true, 1) => Proof::Connection,
            (true, _) => Proof::Token,
        };
        self.reader = Some(Reader::new(proof, owner.head_limits()));
        let head = self.request.marked_head();
        let is_own = matches!(head, Cow::Borrowed(_));
        self.writer = Some(Writer::new(&head, is_own, &self.request.message.body.borrow()));
    }

    fn close(&mut self) {
        (self.wire, self.futures.connecting, self.writer, self.reader) = (None, None, None, None);
    }

    /// Moves the request from its slot, which becomes free, to the streams. The lifetime of a stream does not count as the worker's service
    /// time.
    fn detach(&mut self, owner: &dyn SlotOwner) {
        let Some(lease) = self.lease.take() else { return };
        let answer = &self.request.answer;
        self.slots.free(self.request.request);
        self.slots.finished_total.set(self.slots.finished_total.get() + 1);
        let now = self.now;
        answer.facts.times.update(|times| Times { finished: Some(now), ..times });
        answer.facts.is_stream.set(true);
        answer.facts.last_moved.set(now);
        self.stream = Some(owner.detached(lease));
        if self.head.is_some() {
            // It is never sent again, however long its answer lasts.
            drop((self.request.take_pass(), self.request.message.body.take()));
        }
        let is_stream = self.head.as_ref().is_some_and(|head| head.head.status != 101);
        if let Some(head) = self.head.take_if(|_| is_stream) {
            answer.begin(head);
        }
    }

    fn note(&self, owner: &dyn SlotOwner, note: Note) {
        let (id, worker) = (self.request.id(), self.slots.worker.0);
        let text = match note {
            Note::Malformed => {
                let detail = self.detail;
                format!(
                    "worker {worker} answered request {id} with {detail}; the client got 502 unless its response had begun"
                )
            }
            Note::Foreign => format!(
                "worker {worker} sent bytes before the response to request {id}, on a connection that an earlier \
                 request used; the client got 502 and none of these bytes"
            ),
            Note::Short => format!(
                "the app at worker {worker} ended the response to request {id} with fewer bytes than its Content-Length"
            ),
            Note::NotEnded if self.request.account.is_finished() => {
                format!("worker {worker} answered request {id} but never ended it; Sluice replaces the worker")
            }
            Note::NotEnded => format!("worker {worker} never ended request {id}; Sluice replaces the worker"),
        };
        owner.observer().emit(Happening::Note { level: Level::Warn, text: &text });
    }
}
