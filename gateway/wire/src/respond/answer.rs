//! A response on its way from a worker to a client: the bounded buffer between the two, so that neither waits for the
//! other (I2). The worker's side writes ([`Answer::push`] and friends), the client's side reads ([`Answer::next`]).
//!
//! Its body is a [`Fill`], of which the client is the first reader. It overflows to a temporary file where the answer's own bound or
//! the one of all answers ([`crate::receive::memory`]) is reached, or where the client takes nothing for a while
//! ([`Answer::set_aside`]).

use std::any::Any;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::VecDeque;
use std::io;
use std::ops::Deref;
use std::rc::{Rc, Weak};

use bytes::Bytes;
use sluice_cache::{PARTS_FIELD, Parts};
use sluice_catalog::errors::Code;
use sluice_http1::ReceivedResponse;
use sluice_journal::Step;
use sluice_message::{Fields, ResponseHead};
use sluice_scheduler::WorkerId;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;
use tokio::time::Instant;

use crate::receive::spool::TempStore;
use crate::respond::fill::{Fill, Key, Part};
use crate::signal::Signal;
use crate::socket::Socket;

/// Maximum number of interim responses that wait for a client. More are dropped, as they are hints.
const INFORMATIONAL_MAX: usize = 8;
/// Way in which a response ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The worker finished it.
    Complete,
    /// The response cannot be finished. Before the head was sent the client gets this error, after it a closed connection.
    Failed(Code),
    /// The client had closed its side, and the worker closed its connection, as it would have closed the client's.
    Left,
}

/// Part of its connection that the client has closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departure {
    /// No part.
    None,
    /// The client's sending side (FIN): it has most likely left, and Node takes it for that.
    Half,
    /// All of it; also if no client waits for the answer for another reason.
    Gone,
}

/// Next item for the client's side.
pub enum Next {
    /// Interim head.
    Informational(ResponseHead),
    /// Head of the response.
    Head(ReceivedResponse),
    /// Bytes of the body.
    Data(Bytes),
    /// Data waits in the file: read it with [`Answer::read_back`]. Bytes that were set aside framed are to be sent as they are.
    Spilled {
        /// The bytes were set aside framed.
        is_framed: bool,
    },
    /// End of the response.
    End(End),
}

/// Connection of an upstream, whatever carries it.
pub trait Duplex: AsyncRead + AsyncWrite + Unpin {}

impl<S: AsyncRead + AsyncWrite + Unpin> Duplex for S {}

/// Connection that carries another protocol.
pub enum UpgradedStream {
    /// A worker's connection.
    Worker(Socket<UnixStream>),
    /// An upstream's connection.
    Upstream(Box<dyn Duplex>),
}

/// An upgraded connection, with the bytes that the worker or upstream sent after its head.
pub struct UpgradedConnection {
    /// The connection.
    pub stream: UpgradedStream,
    /// Bytes that the worker sent after its head.
    pub first: Bytes,
    /// Counts the stream until it is dropped.
    pub counted: Box<dyn Any>,
}

#[derive(Default)]
struct Inner {
    informational: VecDeque<ResponseHead>,
    head: Option<ReceivedResponse>,
    head_taken: bool,
    trailers: Vec<(String, Vec<u8>)>,
    end: Option<End>,
    upgraded: Option<UpgradedConnection>,
}

/// Times of a response's events, from which queue wait and service time are computed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    /// A worker got the request.
    pub dispatched: Option<Instant>,
    /// The head was complete.
    pub head: Option<Instant>,
    /// The worker finished the response.
    pub finished: Option<Instant>,
}

/// Body of the answer alone, or one that other answers share.
#[allow(clippy::large_enum_variant, reason = "nearly all are of the large kind, and a box would be an allocation each")]
enum Body {
    Own(Fill),
    Shared(Rc<Fill>),
}

impl Deref for Body {
    type Target = Fill;

    fn deref(&self) -> &Fill {
        match self {
            Body::Own(fill) => fill,
            Body::Shared(fill) => fill,
        }
    }
}

/// Request for a worker that an answer belongs to, which hears what the client does.
pub trait Origin {
    /// The rest of the answer is not needed.
    fn answer_unwanted(&self);
    /// The client has closed its sending side.
    fn client_half_closed(&self);
    /// The client reads no more.
    fn client_left(&self);
}

/// Tags of the parts that a page was made of, and that the worker has named by now. They are between the worker and the gateway.
#[derive(Default)]
pub struct NamedParts(RefCell<Parts>);

impl NamedParts {
    /// Notes those of the worker's head.
    pub fn note(&self, head: &Fields) {
        head.get_all(PARTS_FIELD).for_each(|value| self.0.borrow_mut().read(value));
    }

    /// Notes those of the trailers, and removes them from there.
    fn take_from(&self, trailers: &mut Vec<(String, Vec<u8>)>) {
        for (_, value) in trailers.extract_if(.., |(name, _)| name.eq_ignore_ascii_case(PARTS_FIELD)) {
            self.0.borrow_mut().read(&value);
        }
    }

    /// Parts named so far.
    pub fn named(&self) -> Parts {
        self.0.borrow().clone()
    }
}

/// Facts of an answer that its record and the gate read, whichever side has noted them.
pub struct Facts {
    /// Worker that gives the answer.
    pub worker: Cell<Option<WorkerId>>,
    /// Times of its events.
    pub times: Cell<Times>,
    /// Time in seconds after which the client may ask again, if it is refused.
    pub retry_after_s: Cell<Option<u32>>,
    /// Step of the ladder that the request got.
    pub step: Cell<Option<Step>>,
    /// A worker has died with the request, and a second one gets or got it.
    pub was_retried: Cell<bool>,
    /// CPU time that workers which died with the request used for it, microseconds: no worker has reported it.
    pub untold_cpu_us: Cell<u64>,
    /// The answer has left its slot: it is an event stream or an upgraded connection.
    pub is_stream: Cell<bool>,
    /// Time at which a byte last went either way on a stream that has left its slot.
    pub last_moved: Cell<Instant>,
}

impl Facts {
    fn new() -> Self {
        Facts {
            worker: Cell::new(None),
            times: Cell::default(),
            retry_after_s: Cell::new(None),
            step: Cell::new(None),
            was_retried: Cell::new(false),
            untold_cpu_us: Cell::new(0),
            is_stream: Cell::new(false),
            last_moved: Cell::new(Instant::now()),
        }
    }
}

/// A response on its way from a worker to a client.
pub struct Answer {
    inner: RefCell<Inner>,
    body: Body,
    /// Reader for the client that has asked for the answer.
    reader: Key,
    /// Request that this answers, if a worker gives the answer.
    origin: OnceCell<Weak<dyn Origin>>,
    /// The client reads no more of the body.
    has_left: Cell<bool>,
    /// Set when the client's side has something new to read.
    pub changed: Signal,
    /// Set when the client's side has taken some of the body.
    pub taken: Signal,
    client_gone: Cell<bool>,
    client_half_closed: Cell<bool>,
    /// Set with each step of the client's departure: see [`Answer::departure`].
    pub departing: Signal,
    /// Facts for its record.
    pub facts: Facts,
    /// Parts that the page was made of.
    pub parts: NamedParts,
    /// Ends the stream, which has left its slot, when this is set.
    pub(crate) closing: Signal,
    /// Only the end of the worker's connection ends the body; a worker that dies ends it as well.
    pub is_until_close: Cell<bool>,
}

impl Answer {
    /// Answer whose body may take these many bytes in memory, and in a file.
    pub fn new(store: &Rc<TempStore>, memory_bytes_max: usize, file_bytes_max: u64) -> Rc<Self> {
        Self::of(Body::Own(Fill::new(store, memory_bytes_max, file_bytes_max)), Inner::default())
    }

    /// Further reader of a shared body, from its first byte on. Its head is known already.
    pub fn reading(body: &Rc<Fill>) -> Rc<Self> {
        Self::of(Body::Shared(Rc::clone(body)), Inner { head_taken: true, ..Inner::default() })
    }

    /// Body that is not a worker's. Its head is known already.
    pub fn body(store: &Rc<TempStore>, memory_bytes_max: usize, file_bytes_max: u64) -> Rc<Self> {
        let inner = Inner { head_taken: true, ..Inner::default() };
        Self::of(Body::Own(Fill::new(store, memory_bytes_max, file_bytes_max)), inner)
    }

    fn of(body: Body, inner: Inner) -> Rc<Self> {
        Rc::new(Answer {
            inner: RefCell::new(inner),
            reader: body.add_reader(),
            body,
            origin: OnceCell::new(),
            has_left: Cell::new(false),
            changed: Signal::default(),
            taken: Signal::default(),
            client_gone: Cell::new(false),
            client_half_closed: Cell::new(false),
            departing: Signal::default(),
            facts: Facts::new(),
            parts: NamedParts::default(),
            closing: Signal::default(),
            is_until_close: Cell::new(false),
        })
    }

    // The worker's side.

    /// Takes an interim head from the worker.
    pub fn inform(&self, head: ResponseHead) {
        let mut inner = self.inner.borrow_mut();
        if inner.informational.len() < INFORMATIONAL_MAX && !self.client_gone.get() {
            inner.informational.push_back(head);
            self.changed.set();
        }
    }

    /// Takes the head from the worker.
    pub fn begin(&self, head: ReceivedResponse) {
        // It came with the latest bytes.
        self.facts.times.update(|times| Times { head: Some(self.facts.last_moved.get()), ..times });
        self.inner.borrow_mut().head = Some(head);
        self.changed.set();
    }

    /// Takes a piece of the body, or returns it if it has to go to the disk.
    ///
    /// # Errors
    /// Returns the piece.
    pub fn push_to_memory(&self, data: Bytes) -> Result<(), Bytes> {
        if data.is_empty() || !self.is_wanted() {
            return Ok(());
        }
        self.body.push_to_memory(data)?;
        self.changed.set();
        Ok(())
    }

    /// Takes a piece of the body. Waits for the disk at most, never for the client.
    pub async fn push(&self, data: Bytes) {
        if data.is_empty() || !self.is_wanted() {
            return;
        }
        if self.body.push(data).await.is_err() {
            self.inner.borrow_mut().end = Some(End::Failed(Code::TempFull));
            self.tell_worker(|request| request.answer_unwanted());
        }
        self.changed.set();
    }

    /// Ends the answer with these trailers.
    pub fn complete(&self, mut trailers: Vec<(String, Vec<u8>)>) {
        self.parts.take_from(&mut trailers);
        let mut inner = self.inner.borrow_mut();
        if inner.end.is_none() {
            inner.trailers = trailers;
            inner.end = Some(if self.body.has_lost() { End::Failed(Code::TempFull) } else { End::Complete });
            self.changed.set();
        }
    }

    /// Fails the response, which cannot be finished. The error replaces all that the client has not been sent yet.
    pub fn fail(&self, code: Code) {
        let mut inner = self.inner.borrow_mut();
        if inner.end.is_none() || (inner.end == Some(End::Complete) && !inner.head_taken) {
            inner.end = Some(End::Failed(code));
            drop(inner);
            self.changed.set();
            self.tell_worker(|request| request.answer_unwanted());
        }
    }

    /// Connects the answer to the worker's request, which is told when the client leaves.
    pub fn comes_from(&self, request: Weak<dyn Origin>) {
        let _ = self.origin.set(request);
    }

    fn tell_worker(&self, tell: impl FnOnce(&dyn Origin)) {
        if let Some(request) = self.origin.get().and_then(Weak::upgrade) {
            tell(&*request);
        }
    }

    /// Ends the stream that the answer has become.
    pub fn close(&self) {
        self.closing.set();
        self.tell_worker(|request| request.answer_unwanted());
    }

    /// Takes the upgraded connection from the worker.
    pub fn upgrade(&self, upgraded: UpgradedConnection) {
        if !self.is_wanted() {
            return;
        }
        self.inner.borrow_mut().upgraded = Some(upgraded);
        self.changed.set();
    }

    /// Error for which the response could not be finished, if there was one.
    pub fn failure(&self) -> Option<Code> {
        match self.inner.borrow().end {
            Some(End::Failed(code)) => Some(code),
            _ => None,
        }
    }

    /// Whether a client will still read the worker's bytes.
    pub fn is_wanted(&self) -> bool {
        !self.client_gone.get() && !matches!(self.inner.borrow().end, Some(End::Failed(_) | End::Left))
    }

    /// Part of its connection that the client has closed.
    pub fn departure(&self) -> Departure {
        match (self.client_gone.get(), self.client_half_closed.get()) {
            (true, _) => Departure::Gone,
            (false, true) => Departure::Half,
            (false, false) => Departure::None,
        }
    }

    /// Ends the answer, as the worker closed its connection after the client had closed its side.
    pub fn leave(&self) {
        let mut inner = self.inner.borrow_mut();
        if inner.end.is_none() {
            inner.end = Some(End::Left);
            self.changed.set();
        }
    }

    /// Whether the client has no byte of the response's head yet.
    pub fn is_untouched(&self) -> bool {
        !self.inner.borrow().head_taken
    }

    // The client's side.

    /// Next item for the client, or `None` while there is none.
    pub fn next(&self) -> Option<Next> {
        let mut inner = self.inner.borrow_mut();
        if !inner.head_taken {
            if let Some(end @ (End::Failed(_) | End::Left)) = inner.end {
                return Some(Next::End(end));
            }
            if let Some(head) = inner.informational.pop_front() {
                return Some(Next::Informational(head));
            }
            let head = inner.head.take()?;
            inner.head_taken = true;
            return Some(Next::Head(head));
        }
        let next = if self.has_left.get() { None } else { self.body.next(self.reader) };
        match next {
            Some(Part::Data(data)) => {
                self.taken.set();
                Some(Next::Data(data))
            }
            Some(Part::Spilled { is_framed }) => Some(Next::Spilled { is_framed }),
            None if self.body.is_appending() => None,
            None => inner.end.map(Next::End),
        }
    }

    /// Whether the next bytes for the client were set aside framed.
    pub fn has_framed(&self) -> bool {
        !self.has_left.get() && self.body.has_framed(self.reader)
    }

    /// Reads up to `bytes_max` bytes that have overflowed to the file.
    ///
    /// # Errors
    /// Error of the file system.
    pub async fn read_back(&self, bytes_max: usize) -> io::Result<Bytes> {
        let data = self.body.read_back(self.reader, bytes_max).await;
        self.taken.set();
        data
    }

    /// Moves waiting bytes from memory to the file: the client takes nothing for now. `rest` was framed and comes before them.
    ///
    /// # Errors
    /// Fails if the file cannot take them; nothing has changed then.
    pub(crate) async fn set_aside(&self, rest: &[u8]) -> io::Result<()> {
        if self.has_left.get() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.body.set_aside(self.reader, rest).await?;
        self.changed.set();
        Ok(())
    }

    /// Bytes that were written and that this client has not been sent.
    pub fn unread_bytes(&self) -> u64 {
        self.body.unread_bytes(self.reader)
    }

    /// Ends the answer for this client alone: its unsent bytes take too much room, and other clients continue to read.
    pub fn give_up(&self, code: Code) {
        self.fail(code);
        self.leave_body();
    }

    /// Removes this reader from the body. Only the first call does so: its place may be another reader's later.
    fn leave_body(&self) {
        if !self.has_left.replace(true) {
            self.body.leave(self.reader);
        }
    }

    /// Takes the trailers.
    pub fn take_trailers(&self) -> Vec<(String, Vec<u8>)> {
        std::mem::take(&mut self.inner.borrow_mut().trailers)
    }

    /// Takes the upgraded connection.
    pub fn take_upgraded(&self) -> Option<UpgradedConnection> {
        self.inner.borrow_mut().upgraded.take()
    }

    /// Records that the client has closed its sending side. The worker's connection is closed likewise, so that the app sees it.
    pub fn half_close(&self) {
        self.client_half_closed.set(true);
        self.departing.set();
        self.tell_worker(|request| request.client_half_closed());
    }

    /// Records that the client will read no more. This frees only memory: the worker's slot stays with the worker (I1).
    pub fn abandon(&self) {
        self.client_gone.set(true);
        self.leave_body();
        let upgraded = self.inner.borrow_mut().upgraded.take();
        // Dropped outside of the borrow: it tells the gate, which may look at this answer.
        drop(upgraded);
        self.closing.set();
        self.departing.set();
        self.tell_worker(|request| request.client_left());
    }
}
