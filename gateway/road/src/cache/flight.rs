//! A render for many: one request is with a worker, and all clients of the same page wait for it and read it as it is written.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::rc::Rc;

use bytes::{Bytes, BytesMut};
use sluice_cache::{Dimensions, Moment, Policy, Reuse, StaleLimits, is_switch};
use sluice_catalog::errors::Code;
use sluice_message::{Fields, ResponseHead};
use tokio::sync::Notify;

use super::log::{Since, Tags};
use super::source::Source;
use super::store::Object;
use crate::answers::Response;
use sluice_wire::ids::to_usize;
use sluice_wire::receive::failure::Refusal;
use sluice_wire::respond::answer::Answer;
use sluice_wire::respond::encode::Size;
use sluice_wire::respond::fill::{Fill, FillReader, Key};

/// Maximum number of interim responses stored for the first client.
const INFORMATIONAL_MAX: usize = 8;
/// Bytes of a file that are read back at once.
pub(crate) const READ_BYTES: usize = 64 * 1024;

/// Key of a flight. Requests with one key may wait together. They ask for the same page, have cookies, or credentials, or neither, and
/// agree in all fields on which the page is known to depend.
pub(crate) fn key_of(key: &str, request: &Fields, known: Option<&Dimensions>) -> String {
    let has = |name| if request.contains(name) { '1' } else { '0' };
    let mut hasher = DefaultHasher::new();
    for (name, _) in request.iter().filter(|(name, _)| is_switch(name)) {
        name.to_ascii_lowercase().hash(&mut hasher);
    }
    if let Some(known) = known {
        known.hash_request(request, &mut hasher);
    }
    format!("{key} {}{}{:x}", has("cookie"), has("authorization"), hasher.finish())
}

/// Progress of a flight.
#[derive(Clone)]
pub(crate) enum State {
    /// No head has arrived yet.
    Asked,
    /// The page is for all who match, and is being written or is complete.
    Shared(Rc<SharedAnswer>),
    /// The cached page has not changed.
    Kept(Rc<Object>),
    /// The page is on disk, or another gateway has stored it and this one has found it.
    Found(Rc<Object>, Source),
    /// The answer is for the first client alone, which takes it.
    Private,
    /// The app has answered with an error of its own, which is for the first client alone.
    AppError,
    /// The render failed.
    Failed(Refusal),
    /// No client waited for it any more.
    Over,
}

pub(crate) struct Flight {
    pub(crate) state: RefCell<State>,
    /// Answer for the first client alone.
    private: RefCell<Option<Response>>,
    /// The request that was at the worker, for the first client's log line. This must not know what a request is.
    fetched: RefCell<Option<Box<dyn Any>>>,
    informational: RefCell<Vec<ResponseHead>>,
    waiting: RefCell<Vec<Rc<Answer>>>,
    /// The flight continues without waiting clients.
    pub(crate) is_background: bool,
    /// The flight was begun for one client, because the answer before was for its client alone.
    pub(crate) is_lone: bool,
    /// The client for which it was begun is still there.
    pub(crate) has_leader: Cell<bool>,
    is_unwanted: Notify,
    /// Page on disk or from another gateway, which is used only if there is no other.
    pub(crate) fallback: RefCell<Option<Rc<Object>>>,
    /// Key of the page.
    pub(crate) key: String,
    /// Start of the flight, in numbers of purges.
    pub(crate) since: Since,
    /// The page that it fetched is cached.
    pub(crate) is_kept: Cell<bool>,
}

impl Flight {
    pub(crate) fn new(key: &str, since: Since, is_background: bool, is_lone: bool) -> Rc<Self> {
        Rc::new(Flight {
            state: RefCell::new(State::Asked),
            private: RefCell::default(),
            fetched: RefCell::default(),
            informational: RefCell::default(),
            waiting: RefCell::default(),
            is_background,
            is_lone,
            has_leader: Cell::new(false),
            is_unwanted: Notify::new(),
            fallback: RefCell::default(),
            key: key.to_owned(),
            since,
            is_kept: Cell::new(false),
        })
    }

    pub(crate) fn inform(&self, head: &ResponseHead) {
        let mut informational = self.informational.borrow_mut();
        if informational.len() < INFORMATIONAL_MAX {
            informational.push(head.clone());
            self.wake();
        }
    }

    pub(crate) fn take_informational(&self) -> Vec<ResponseHead> {
        self.informational.take()
    }

    /// Waits until no client waits for the flight.
    pub(crate) async fn unwanted(&self) {
        self.is_unwanted.notified().await;
    }

    pub(crate) fn set(&self, state: State) {
        *self.state.borrow_mut() = state;
        self.wake();
    }

    /// Offers the answer to the first client, if it is still there.
    pub(crate) fn offer(&self, state: State, response: Response) {
        if self.has_leader.get() {
            *self.private.borrow_mut() = Some(response);
        }
        self.set(state);
    }

    /// Leaves the request at the worker to the first client, if that is still there; no other client needs it.
    pub(crate) fn leave(&self, fetched: Box<dyn Any>) {
        if self.has_leader.get() {
            *self.fetched.borrow_mut() = Some(fetched);
        }
    }

    /// Wakes all clients that wait for its head, in the order in which they came.
    fn wake(&self) {
        for answer in &*self.waiting.borrow() {
            answer.changed.set();
        }
    }
}

/// One client's wait for a flight. The last one that leaves before there is a head ends it.
pub(crate) struct Waiting {
    pub(crate) flight: Rc<Flight>,
    pub(crate) is_leader: bool,
    /// Answer whose signal wakes the client.
    pub(crate) answer: Rc<Answer>,
    /// Latest purge at the client's arrival.
    since: Since,
}

impl Waiting {
    pub(crate) fn new(answer: Rc<Answer>, flight: &Rc<Flight>, is_leader: bool, since: Since) -> Self {
        flight.has_leader.set(flight.has_leader.get() || is_leader);
        flight.waiting.borrow_mut().push(Rc::clone(&answer));
        Waiting { flight: Rc::clone(flight), is_leader, answer, since }
    }

    /// Whether the page, if it has these tags, was rendered after all purges of which this client could know.
    pub(crate) fn may_have(&self, tags: Tags<'_>) -> bool {
        self.is_leader || !self.flight.since.is_purged_until(self.since.number, &self.flight.key, tags)
    }

    /// The answer that is for the first client alone, if this is it.
    pub(crate) fn take_private(&self) -> Option<Response> {
        if self.is_leader { self.flight.private.borrow_mut().take() } else { None }
    }

    /// The request that was at the worker, if this is the first client and that has ended.
    pub(crate) fn take_fetched(&self) -> Option<Box<dyn Any>> {
        if self.is_leader { self.flight.fetched.borrow_mut().take() } else { None }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let is_last = {
            let mut waiting = self.flight.waiting.borrow_mut();
            waiting.retain(|answer| !Rc::ptr_eq(answer, &self.answer));
            waiting.is_empty()
        };
        if is_last && !self.flight.is_background && matches!(*self.flight.state.borrow(), State::Asked) {
            self.flight.is_unwanted.notify_one();
        }
        if self.is_leader {
            self.flight.has_leader.set(false);
            // Nobody else can take what was for this client alone. Dropped outside of the cells: it tells the gate.
            let untaken = (self.take_private(), self.take_fetched());
            drop(untaken);
        }
    }
}

/// All flights, by key.
#[derive(Default)]
pub(crate) struct Flights(RefCell<HashMap<String, Vec<Rc<Flight>>>>);

impl Flights {
    /// Whether no flight has this key.
    pub(crate) fn is_free(&self, key: &str) -> bool {
        !self.0.borrow().contains_key(key)
    }

    /// Flight that a request with these fields may wait for. With `has_head` it is one whose page is known to be for all. A page whose
    /// writing outlasts its freshness accepts no further clients.
    pub(crate) fn open_to(&self, key: &str, request: &Fields, now: Moment, has_head: bool) -> Option<Rc<Flight>> {
        let is_open = |flight: &&Rc<Flight>| match &*flight.state.borrow() {
            // Its tags are looked at when they are known.
            State::Asked => !has_head && !flight.since.is_purged(&flight.key, Tags::All(&[])),
            State::Shared(shared) => {
                let reuse = shared.policy.reuse(now, StaleLimits::default());
                let is_usable = matches!(reuse, Reuse::Fresh(_) | Reuse::WhileRevalidating(_));
                let is_old = flight.since.is_purged(&flight.key, shared.tags());
                is_usable && !is_old && shared.is_whole_for_more() && shared.policy.is_for(request)
            }
            State::Found(object, _) => {
                let policy = object.policy.borrow();
                let is_usable = policy.reuse(now, StaleLimits::default()) != Reuse::Never && policy.is_for(request);
                is_usable && !flight.since.is_purged(&flight.key, Tags::All(&object.tags))
            }
            _ => false,
        };
        self.0.borrow().get(key)?.iter().find(is_open).cloned()
    }

    pub(crate) fn add(&self, key: &str, flight: &Rc<Flight>) {
        self.0.borrow_mut().entry(key.to_owned()).or_default().push(Rc::clone(flight));
    }

    pub(crate) fn remove(&self, key: &str, flight: &Rc<Flight>) {
        let mut flights = self.0.borrow_mut();
        if let Some(those) = flights.get_mut(key) {
            those.retain(|other| !Rc::ptr_eq(other, flight));
            if those.is_empty() {
                flights.remove(key);
            }
        }
    }
}

/// An answer that many read while it is written.
pub(crate) struct SharedAnswer {
    pub(crate) head: ResponseHead,
    pub(crate) size: Size,
    pub(crate) policy: Policy,
    pub(crate) tags: Vec<Box<str>>,
    /// Parts that are not rendered yet may add tags.
    may_get_tags: bool,
    body: Rc<Fill>,
    /// Reader that keeps the body for later clients and for the cache, unless the answer is too long to be cached.
    keeper: Cell<Option<Key>>,
    readers: RefCell<Vec<Rc<Answer>>>,
    end: RefCell<Option<End>>,
}

#[derive(Clone)]
enum End {
    Whole(Vec<(String, Vec<u8>)>),
    Broken(Code),
}

impl SharedAnswer {
    pub(crate) fn new(
        head: ResponseHead,
        size: Size,
        policy: Policy,
        (tags, may_get_tags): (Vec<Box<str>>, bool),
        body: Fill,
    ) -> Rc<Self> {
        let body = Rc::new(body);
        Rc::new(SharedAnswer {
            head,
            size,
            policy,
            tags,
            may_get_tags,
            keeper: Cell::new(Some(body.add_reader())),
            body,
            readers: RefCell::default(),
            end: RefCell::default(),
        })
    }

    /// Tags of the page, if they are known.
    pub(crate) fn tags(&self) -> Tags<'_> {
        if self.may_get_tags { Tags::Unknown } else { Tags::All(&self.tags) }
    }

    /// Whether a new reader still gets all of it.
    fn is_whole_for_more(&self) -> bool {
        self.keeper.get().is_some() && !matches!(*self.end.borrow(), Some(End::Broken(_)))
    }

    /// Whether a client reads it, or it is still to be cached.
    pub(crate) fn is_wanted(&self) -> bool {
        self.keeper.get().is_some() || self.readers.borrow().iter().any(|reader| reader.is_wanted())
    }

    /// # Errors
    /// Fails if neither memory nor the file has room for it.
    pub(crate) async fn push(&self, data: Bytes, bytes_max: u64) -> Result<(), Code> {
        if self.body.bytes() + data.len() as u64 > bytes_max {
            self.keep_no_more();
        }
        while self.body.push(data.clone()).await.is_err() {
            self.make_room()?;
            // Those who only have not come to it yet read on meanwhile.
            self.wake();
            tokio::task::yield_now().await;
        }
        self.wake();
        Ok(())
    }

    /// Frees the largest holder: first the copy for the cache, then the slowest reader, so that a reader which takes nothing does not slow
    /// the others.
    fn make_room(&self) -> Result<(), Code> {
        if self.keeper.get().is_some() {
            self.keep_no_more();
            return Ok(());
        }
        let mut readers = self.readers.borrow_mut();
        readers.retain(|reader| reader.is_wanted());
        let slowest = readers.iter().enumerate().max_by_key(|(_, reader)| reader.unread_bytes()).map(|(at, _)| at);
        readers.swap_remove(slowest.ok_or(Code::TempFull)?).give_up(Code::TempFull);
        Ok(())
    }

    /// Stops keeping the body for the cache: from now on only its readers have it.
    fn keep_no_more(&self) {
        if let Some(keeper) = self.keeper.take() {
            self.body.leave(keeper);
        }
    }

    /// Bytes written in all.
    pub(crate) fn len(&self) -> u64 {
        self.body.bytes()
    }

    /// Marks the body as complete. Returns whether all of it is still there to be cached.
    pub(crate) fn complete(&self, trailers: Vec<(String, Vec<u8>)>) -> bool {
        if !trailers.is_empty() {
            self.keep_no_more();
        }
        *self.end.borrow_mut() = Some(End::Whole(trailers));
        self.tell_end();
        self.keeper.get().is_some()
    }

    /// Copies a complete body into one piece, with an allocation of its own: a part of a larger buffer would hold that in memory.
    ///
    /// # Errors
    /// Error of the file system, if part of it is in a file.
    pub(crate) async fn gather(&self) -> io::Result<Bytes> {
        let reader = FillReader::new(&self.body);
        let len = to_usize(self.body.bytes());
        let mut all = BytesMut::with_capacity(len);
        while let Some(data) = reader.read(READ_BYTES).await? {
            all.extend_from_slice(&data);
        }
        if all.len() == len { Ok(all.freeze()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    /// Marks the body as broken: it will never be complete.
    pub(crate) fn fail(&self, code: Code) {
        *self.end.borrow_mut() = Some(End::Broken(code));
        self.tell_end();
        self.keep_no_more();
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.end.borrow().is_some()
    }

    fn tell_end(&self) {
        for reader in &*self.readers.borrow() {
            self.end_of(reader);
        }
    }

    fn end_of(&self, reader: &Answer) {
        match &*self.end.borrow() {
            Some(End::Whole(trailers)) => reader.complete(trailers.clone()),
            Some(End::Broken(code)) => reader.fail(*code),
            None => {}
        }
    }

    fn wake(&self) {
        let mut readers = self.readers.borrow_mut();
        readers.retain(|reader| reader.is_wanted());
        for reader in &*readers {
            reader.changed.set();
        }
    }

    /// Adds a reader of the whole body.
    pub(crate) fn reader(&self) -> Rc<Answer> {
        let reader = Answer::reading(&self.body);
        self.end_of(&reader);
        self.readers.borrow_mut().push(Rc::clone(&reader));
        reader
    }
}

#[cfg(test)]
#[path = "flight/tests.rs"]
mod tests;
