//! Asks a worker for a page that many may get, and writes its answer for all of them.

mod elsewhere;
mod judge;
mod lone;

use std::cell::Cell;
use std::rc::Rc;

use sluice_cache::{Moment, Reuse, StorageCandidate, StorageRefusal, freshened, is_of_request, joined, renewed};
use sluice_catalog::errors::Code;
use sluice_message::{RequestHead, ResponseHead};
use sluice_tier::Position;

use super::flight::{Flight, READ_BYTES, SharedAnswer, State};
use super::log::Tags;
use super::reasons::Why;
use super::reply;
use super::store::Object;
use crate::answers::{Response, ResponseBody};
use crate::other_hosts;
use crate::own::Own;
use crate::request::passage::Request;
use crate::request::ticket::Call;
use crate::respond::compress::KeptBody;
use crate::road::Road;
use crate::sessions::Arm;
use judge::{PageMetadata, asked_for_all, judge};
pub(crate) use judge::{is_for_all, note_lone};
use sluice_wire::front::exchange::Exchange;
use sluice_wire::front::origin::Origin;
use sluice_wire::ids::to_usize;
use sluice_wire::receive::body::Body;
use sluice_wire::receive::failure::Failure;
use sluice_wire::receive::failure::Refusal;
use sluice_wire::receive::memory::MemoryHold;
use sluice_wire::respond::answer::{Answer, End, Next};
use sluice_wire::respond::encode::Size;
use sluice_wire::respond::fill::Fill;

/// Fetch of a page: the request, the flight that waits for it, and the cached page to revalidate.
struct Fetch {
    road: Rc<Road>,
    flight: Rc<Flight>,
    key: String,
    flight_key: String,
    /// Fields of the client's request on which the page may depend.
    head: RequestHead,
    /// Cached page that may still be current.
    known: Option<Rc<Object>>,
    /// Position for the rendered page among those of other gateways.
    position: Option<Position>,
    /// Whether the page is for visitors who try a version, and whether a worker of the present one had to answer instead.
    is_of_trial: bool,
    is_strayed: Cell<bool>,
}

/// Clients that wait for a render.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum For {
    /// All clients that ask for the page meanwhile.
    All,
    /// One client, because the answer before was for its client alone. Others join if this one turns out to be for all. The position is for
    /// it among the pages of other gateways.
    One(Option<Position>),
}

/// Begins a flight. It runs in the background, without waiting clients, if `known` may be used meanwhile.
pub(crate) fn start(
    road: &Rc<Road>,
    origin: &Origin,
    request: &Request,
    (key, flight_key): (&str, &str),
    known: Option<&Rc<Object>>,
    whom: For,
) -> Rc<Flight> {
    let is_background = known.is_some_and(|object| {
        matches!(
            object.policy.borrow().reuse(road.pages.moment(), road.pages.stale_limits()),
            Reuse::WhileRevalidating(_)
        )
    });
    let is_lone = matches!(whom, For::One(_));
    let flight = Flight::new(key, road.pages.cache.log.since_now(), is_background, is_lone);
    if !is_lone {
        road.pages.cache.flights.add(flight_key, &flight);
    }
    let fetch = Fetch {
        road: Rc::clone(road),
        flight: Rc::clone(&flight),
        key: key.to_owned(),
        flight_key: flight_key.to_owned(),
        head: asked_for_all(&request.head, &road.pages.cache.keys.rules),
        known: known.cloned(),
        position: if let For::One(position) = whom { position } else { None },
        is_of_trial: request.visit.arm == Some(Arm::Trial),
        is_strayed: Cell::new(false),
    };
    let (asked, origin) = (request.for_many(fetch.head.clone()), origin.clone());
    tokio::task::spawn_local(async move { fetch.run(asked, &origin).await });
    flight
}

/// Request head with the conditions that revalidate the cached page.
fn conditional(head: &RequestHead, known: Option<&Rc<Object>>) -> RequestHead {
    let mut head = head.clone();
    if let Some(object) = known {
        for (validator, condition) in [("etag", "If-None-Match"), ("last-modified", "If-Modified-Since")] {
            if let Some(value) = object.head.fields.get(validator) {
                head.fields.push(condition, value);
            }
        }
    }
    head
}

impl Drop for Fetch {
    /// Ends the flight. This also runs if the task has panicked: no client must wait for ever.
    fn drop(&mut self) {
        self.road.pages.cache.flights.remove(&self.flight_key, &self.flight);
        let state = self.flight.state.borrow().clone();
        match state {
            State::Asked => self.flight.set(State::Failed(Refusal::of(Code::GatewayFailed))),
            State::Shared(shared) if !shared.has_ended() => shared.fail(Code::GatewayFailed),
            _ => {}
        }
    }
}

impl Fetch {
    async fn run(mut self, mut request: Request, origin: &Origin) {
        // It was looked for when the page was marked, and whatever is kept since then has ended the mark.
        if !self.flight.is_lone && !self.is_of_trial && self.is_found_elsewhere().await {
            return;
        }
        let condition = self.known.as_ref().filter(|_| !self.flight.is_lone);
        request.head = conditional(&self.head, condition);
        let (road, flight) = (&self.road, &self.flight);
        let began = road.pages.moment();
        let mut exchange = Exchange::Own(Box::new(Own::for_many(request.head.clone(), flight)));
        let answered = other_hosts::fetch(&mut exchange, origin, road, &mut request, Body::default()).await;
        let response = match answered {
            Ok(response) => response,
            Err(failure) => {
                if let Failure::Refused(refusal) = &failure {
                    self.unkept(0, Why::Failed(refusal.code));
                }
                self.leave(request);
                return flight.set(match failure {
                    Failure::Refused(refusal) => State::Failed(refusal),
                    Failure::Gone(_) => State::Over,
                });
            }
        };
        if self.is_of_trial {
            // An upstream has one version for all.
            let ticket = request.call.as_ref().and_then(Call::ticket);
            let is_tried = |worker| road.workers().sessions().trial.has(worker);
            self.is_strayed.set(ticket.is_some_and(|ticket| !ticket.answer.facts.worker.get().is_some_and(is_tried)));
        }
        let came = road.pages.moment();
        if response.head.status == 304
            && let Some(known) = self.known.as_ref().filter(|_| !self.flight.is_lone)
        {
            return self.freshen(known, request, &response.head, began, came);
        }
        // An error that may be kept must not take the place of a page that may still be used.
        let is_usable =
            |object: &Rc<Object>| object.policy.borrow().reuse(came, road.pages.stale_limits()) != Reuse::Never;
        let is_worse = is_of_request(response.head.status) && self.known.as_ref().is_some_and(is_usable);
        let judged = judge(road, &self.head, &response, (began, came));
        let judged = judged.and_then(|told| if is_worse { Err(Why::Worse) } else { Ok(told) });
        match (judged, response.body) {
            (Ok(told), ResponseBody::Fill(answer, size)) => {
                self.share(told, response.head, (answer, size), request).await;
            }
            (judged, body) => {
                let why = judged.err().unwrap_or(Why::Endless);
                self.unkept(response.head.status, why);
                self.private(why, request, Response { head: response.head, body });
            }
        }
    }

    /// Marks the cached page as fresh again, because it has not changed.
    fn freshen(&self, known: &Rc<Object>, request: Request, not_modified: &ResponseHead, began: Moment, came: Moment) {
        let road = &self.road;
        let head = freshened(&known.head, not_modified, came);
        let rule = road.pages.cache.rule(self.head.path());
        let chosen = &road.pages.cache.vary_by;
        let answered = StorageCandidate { request: &self.head, response: &head, chosen, rule, asked: began, came };
        let policy = match renewed(answered) {
            Ok(policy) => policy,
            Err(refused) => {
                self.unkept(not_modified.status, Why::Refused(refused));
                // One that waits asks for the page itself.
                self.mark(self.private_time());
                // What the app says of this client alone says nothing of the page.
                if !matches!(
                    refused,
                    StorageRefusal::SetCookie | StorageRefusal::Cookie | StorageRefusal::Authorization
                ) {
                    self.drop_known();
                }
                self.leave(request);
                return self.flight.set(State::Over);
            }
        };
        let object = Rc::new(Object {
            head: reply::cleaned(head, came),
            body: Rc::clone(&known.body),
            policy: policy.into(),
            tags: known.tags.clone(),
            born: self.flight.since.number,
        });
        road.pages.cache.marks.end(&self.flight_key);
        self.keep(&object);
        self.leave(request);
        self.flight.set(State::Kept(object));
    }

    /// Writes the answer for all, and caches it when it is complete.
    async fn share(
        &self,
        (policy, tags): PageMetadata,
        head: ResponseHead,
        (answer, size): (Rc<Answer>, Size),
        request: Request,
    ) {
        let road = &self.road;
        let limits = road.config();
        let bytes_max = limits.bounds.page_bytes_max;
        let memory_bytes_max = to_usize(limits.bounds.response_memory_bytes_max);
        let body = Fill::new(&road.store, memory_bytes_max, limits.response_file_bytes_max());
        let may_get_tags = answer.parts.named().may_grow;
        let head = reply::cleaned(head, road.pages.moment());
        let shared = SharedAnswer::new(head, size, policy, (tags, may_get_tags), body);
        self.flight.set(State::Shared(Rc::clone(&shared)));
        road.pages.cache.marks.end(&self.flight_key);
        if self.flight.is_lone {
            road.pages.cache.flights.add(&self.flight_key, &self.flight);
        }
        match copy(&answer, &shared, bytes_max).await {
            Ok(trailers) => {
                self.leave(request);
                let why = if !trailers.is_empty() {
                    Why::HasTrailers
                } else if shared.len() > bytes_max {
                    Why::TooLarge
                } else {
                    Why::NoRoom
                };
                // Parts that were rendered after the head have theirs in the trailers.
                let tags = joined(shared.tags.clone(), &answer.parts.named());
                match (shared.complete(trailers), tags) {
                    (true, Some(tags)) => self.keep_whole(&shared, tags).await,
                    (true, None) => self.unkept(shared.head.status, Why::Refused(StorageRefusal::Tags)),
                    (false, _) => self.unkept(shared.head.status, why),
                }
            }
            Err(code) => {
                self.unkept(shared.head.status, Why::Failed(code));
                self.leave(request);
                shared.fail(code);
            }
        }
    }

    /// Caches an answer that was written for all. One page at a time is gathered, so that this takes the memory of one, however many end at
    /// once.
    async fn keep_whole(&self, shared: &SharedAnswer, tags: Vec<Box<str>>) {
        let road = &self.road;
        let Ok(_turn) = road.pages.cache.gathers.acquire().await else { return };
        let mut held = MemoryHold::of(&road.store.memory);
        held.set(to_usize(shared.len()));
        match shared.gather().await {
            Ok(body) => {
                let body = KeptBody::new(body, road.transforms.compression.is_enabled());
                let (head, policy) = (shared.head.clone(), shared.policy.clone().into());
                self.keep(&Rc::new(Object { head, body, policy, tags, born: self.flight.since.number }));
            }
            Err(_) => self.unkept(shared.head.status, Why::Failed(Code::TempFull)),
        }
    }

    /// Caches a page that was rendered, here and for other gateways.
    fn keep(&self, object: &Rc<Object>) {
        if self.put(object) {
            self.road.pages.cache.unkept.forget(&self.key);
            self.road.pages.cache.counts.stored.update(|count| count + 1);
            let (now, limits) = (self.road.pages.moment(), self.road.pages.stale_limits());
            if self.is_of_trial {
                return;
            }
            self.road.pages.cache.disk.kept(now, limits, &self.key, object);
            if let (Some(tier), Some(position)) = (&self.road.pages.cache.tier, self.position) {
                tier.store((now, limits), &self.key, object, position);
            }
        } else {
            self.unkept(object.head.status, Why::Outdated);
        }
    }

    /// Stores a page in memory. Returns whether no purge affected it meanwhile.
    fn put(&self, object: &Rc<Object>) -> bool {
        let is_left = !self.is_strayed.get() && !self.flight.since.is_purged(&self.key, Tags::All(&object.tags));
        if is_left {
            self.flight.is_kept.set(true);
            self.road.pages.cache.store.borrow_mut().put(&self.key, &self.head.fields, Rc::clone(object));
        }
        is_left
    }

    fn unkept(&self, status: u16, why: Why) {
        self.road.pages.cache.unkept.note(&self.key, status, why);
    }

    fn leave(&self, request: Request) {
        self.flight.leave(Box::new(request));
    }
}

/// Copies the worker's body. Returns the trailers.
///
/// # Errors
/// Reason why the body is incomplete.
async fn copy(answer: &Answer, shared: &SharedAnswer, bytes_max: u64) -> Result<Vec<(String, Vec<u8>)>, Code> {
    loop {
        if !shared.is_wanted() {
            answer.abandon();
            return Err(Code::Draining);
        }
        match answer.next() {
            Some(Next::Data(data)) => shared.push(data, bytes_max).await?,
            Some(Next::Spilled { .. }) => {
                let data = answer.read_back(READ_BYTES).await.map_err(|_| Code::TempFull)?;
                shared.push(data, bytes_max).await?;
            }
            Some(Next::End(End::Complete)) => return Ok(answer.take_trailers()),
            Some(Next::End(End::Failed(code))) => return Err(code),
            // A worker that closes because its client left: it has none here.
            Some(Next::End(End::Left)) => return Err(Code::WorkerDied),
            Some(Next::Informational(_) | Next::Head(_)) => {}
            None => answer.changed.wait().await,
        }
    }
}
