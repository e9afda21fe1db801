//! Asks a worker for a page that many may get, and writes what it says for all of them.

mod elsewhere;

use std::rc::Rc;
use std::time::Duration;

use sluice_cache::{
    Answered, KeyRules, Policy, Refused, Reuse, freshened, is_of_request, is_reflected, joined, renewed, storable,
    tags, target_for_all,
};
use sluice_catalog::errors::Code;
use sluice_catalog::snapshot::Purge;
use sluice_message::{Method, RequestHead, ResponseHead, starts_with};
use sluice_tier::Position;
use tokio::time::Instant;

use super::flight::{Flight, Shared, State};
use super::log::Tags;
use super::purge::Purger;
use super::reply;
use super::store::Object;
use super::unkept::Why;
use crate::answers::refuse::Refusal;
use crate::answers::{Response, ResponseBody, Size, worker};
use crate::front::exchange::Exchange;
use crate::front::own::Own;
use crate::gate::Gate;
use crate::ids::to_usize;
use crate::receive::body::Body;
use crate::request::passage::{Failure, Request};
use crate::respond::answer::{Answer, End, Next};
use crate::respond::compress::KeptBody;
use crate::respond::fill::Fill;
use crate::upstream::forward::Origin;

/// For how long at most requests are not gathered after an error that a request may be to blame for: anybody could send such a one
/// whenever a page is about to be fetched.
const BLAMED: Duration = Duration::from_secs(2);
/// How much is read back of a file at once.
const READ_BYTES: usize = 64 * 1024;

/// What is fetched, for whom, and where it goes.
struct Fetch {
    gate: Rc<Gate>,
    flight: Rc<Flight>,
    key: String,
    flight_key: String,
    /// The client's request, as far as the page may depend on it.
    head: RequestHead,
    /// What is kept, and perhaps has not changed.
    known: Option<Rc<Object>>,
    /// Where other gateways may find it once it is rendered.
    position: Option<Position>,
}

/// Begins a flight. With `known` that is still used meanwhile it goes on without anybody who waits.
pub(super) fn start(
    gate: &Rc<Gate>,
    origin: &Origin,
    request: &Request,
    (key, flight_key): (&str, &str),
    known: Option<&Rc<Object>>,
) -> Rc<Flight> {
    let is_background = known.is_some_and(|object| {
        matches!(object.policy.borrow().reuse(gate.moment(), gate.stale_limits()), Reuse::WhileRevalidating(_))
    });
    let flight = Flight::new(key, gate.cache.log.since_now(), is_background);
    gate.cache.flights.add(flight_key, &flight);
    let fetch = Fetch {
        gate: Rc::clone(gate),
        flight: Rc::clone(&flight),
        key: key.to_owned(),
        flight_key: flight_key.to_owned(),
        head: asked_for_all(&request.head, &gate.cache.keys.rules),
        known: known.cloned(),
        position: None,
    };
    let (asked, origin) = (request.for_many(fetch.head.clone()), origin.clone());
    tokio::task::spawn_local(async move { fetch.run(asked, &origin).await });
    flight
}

/// The request without what is this client's alone: its conditions, its range, and what no two pages are told apart by.
fn asked_for_all(head: &RequestHead, rules: &KeyRules) -> RequestHead {
    let path_and_query = target_for_all(&head.path_and_query, rules);
    // HEAD may be what finds that a page is stale.
    let mut head = RequestHead { method: Method::Get, path_and_query, ..head.clone() };
    head.fields.retain(|name, _| {
        let is_condition = starts_with(name, "if-") || name.eq_ignore_ascii_case("range");
        let is_hint = ["cache-control", "pragma"].iter().any(|hint| name.eq_ignore_ascii_case(hint));
        !(is_condition || is_hint || is_reflected(name))
    });
    head
}

/// With the conditions of what is kept.
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
    /// Also where the task has panicked: nobody must wait for ever.
    fn drop(&mut self) {
        self.gate.cache.flights.remove(&self.flight_key, &self.flight);
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
        if self.is_found_elsewhere().await {
            return;
        }
        request.head = conditional(&self.head, self.known.as_ref());
        let (gate, flight) = (&self.gate, &self.flight);
        let began = gate.moment();
        let mut exchange = Exchange::Own(Own::for_many(request.head.clone(), flight));
        let answered = worker::fetch(&mut exchange, origin, gate, &mut request, Body::default()).await;
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
        let came = gate.moment();
        if response.head.status == 304
            && let Some(known) = &self.known
        {
            return self.freshen(known, request, &response.head, began, came);
        }
        let rule = gate.cache.rule(self.head.path());
        let answered = Answered {
            request: &self.head,
            response: &response.head,
            chosen: &gate.cache.vary_by,
            rule,
            asked: began,
            came,
        };
        let tags = tags_of(&response).ok_or(Refused::Tags);
        let policy = storable(answered).and_then(|policy| Ok((policy, tags?)));
        let bytes_max = gate.config().cache.page_bytes_max;
        let is_too_large = matches!(&response.body, ResponseBody::Fill(_, Size::Known(bytes)) if *bytes > bytes_max);
        let is_endless = |answer: &Answer| answer.is_stream.get() || answer.is_until_close.get();
        let is_stream = matches!(&response.body, ResponseBody::Fill(answer, _) if is_endless(answer));
        // An error that may be kept must not take the place of a page that may still be used.
        let is_usable = |object: &Rc<Object>| object.policy.borrow().reuse(came, gate.stale_limits()) != Reuse::Never;
        let is_worse = is_of_request(response.head.status) && self.known.as_ref().is_some_and(is_usable);
        match (policy, response.body) {
            (Ok(told), ResponseBody::Fill(answer, size)) if !is_too_large && !is_stream && !is_worse => {
                self.share(told, response.head, (answer, size), request, bytes_max).await;
            }
            (policy, body) => {
                let why = match (policy.as_ref().err(), is_too_large, is_stream) {
                    (Some(refused), ..) => Why::Refused(*refused),
                    (None, true, _) => Why::TooLarge,
                    (None, _, true) => Why::Endless,
                    (None, ..) => Why::Worse,
                };
                self.unkept(response.head.status, why);
                self.private(policy.err(), request, Response { head: response.head, body });
            }
        }
    }

    /// The page has not changed: what is kept is fresh again.
    fn freshen(
        &self,
        known: &Rc<Object>,
        request: Request,
        not_modified: &ResponseHead,
        began: sluice_cache::Moment,
        came: sluice_cache::Moment,
    ) {
        let gate = &self.gate;
        let head = freshened(&known.head, not_modified, came);
        let rule = gate.cache.rule(self.head.path());
        let chosen = &gate.cache.vary_by;
        let answered = Answered { request: &self.head, response: &head, chosen, rule, asked: began, came };
        let policy = match renewed(answered) {
            Ok(policy) => policy,
            Err(refused) => {
                self.unkept(not_modified.status, Why::Refused(refused));
                // It is not for all any more, so nobody gets the old one either.
                self.drop_kept();
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
        self.keep(&object);
        self.leave(request);
        self.flight.set(State::Kept(object));
    }

    /// Writes the answer for all, and keeps it when it is whole.
    async fn share(
        &self,
        (policy, tags): (Policy, Vec<Box<str>>),
        head: ResponseHead,
        (answer, size): (Rc<Answer>, Size),
        request: Request,
        bytes_max: u64,
    ) {
        let gate = &self.gate;
        let limits = gate.config();
        let body = Fill::new(&gate.store, to_usize(limits.response.memory_bytes_max), limits.response.file_bytes_max);
        let may_get_tags = answer.parts().may_grow;
        let head = reply::cleaned(head, gate.moment());
        let shared = Shared::new(head, size, policy, (tags, may_get_tags), body);
        self.flight.set(State::Shared(Rc::clone(&shared)));
        match copy(&answer, &shared, bytes_max).await {
            Ok(trailers) => {
                self.leave(request);
                let why = if trailers.is_empty() { Why::TooLarge } else { Why::HasTrailers };
                let body = shared.complete(trailers);
                if body.is_none() {
                    self.unkept(shared.head.status, why);
                }
                // Parts that were rendered after the head have theirs in the trailers.
                let tags = joined(shared.tags.clone(), &answer.parts());
                if let (Some(body), Some(tags)) = (body, tags) {
                    let body = KeptBody::new(body, gate.compression.is_enabled());
                    let policy = shared.policy.clone().into();
                    let born = self.flight.since.number;
                    self.keep(&Rc::new(Object { head: shared.head.clone(), body, policy, tags, born }));
                }
            }
            Err(code) => {
                self.unkept(shared.head.status, Why::Failed(code));
                self.leave(request);
                shared.fail(code);
            }
        }
    }

    /// Keeps a page that was rendered, here and for other gateways.
    fn keep(&self, object: &Rc<Object>) {
        if self.put(object) {
            self.gate.cache.unkept.forget(&self.key);
            self.gate.cache.counts.stored.update(|count| count + 1);
            self.gate.cache.disk.kept(&self.gate, &self.key, object);
            if let (Some(tier), Some(position)) = (&self.gate.cache.tier, self.position) {
                tier.store(&self.gate, &self.key, object, position);
            }
        } else {
            self.unkept(object.head.status, Why::Outdated);
        }
    }

    /// Returns whether no purge meant it meanwhile.
    fn put(&self, object: &Rc<Object>) -> bool {
        let is_left = !self.flight.since.is_purged(&self.key, Tags::All(&object.tags));
        if is_left {
            self.flight.is_kept.set(true);
            self.gate.cache.store.borrow_mut().put(&self.key, &self.head.fields, Rc::clone(object));
            self.gate.cache.neighbour.kept(&self.gate, &self.key, object);
        }
        is_left
    }

    /// The answer is for the first client alone. Whoever else waits asks for itself, and so do others for a while.
    fn private(&self, why: Option<Refused>, request: Request, response: Response) {
        let status = response.head.status;
        let is_error = status >= 500;
        if !is_error {
            let is_blamed = status >= 400 && !matches!(status, 404 | 410);
            let time = Duration::from_secs(self.gate.config().cache.private_s);
            let time = if is_blamed { time.min(BLAMED) } else { time };
            self.gate.cache.remember_private(&self.flight_key, Instant::now() + time);
            // What is kept was for all, and the page no longer is.
            if !is_blamed && matches!(why, Some(Refused::NoStore | Refused::Private)) {
                self.drop_kept();
            }
        }
        // From here on new requests begin a flight of their own.
        self.gate.cache.flights.remove(&self.flight_key, &self.flight);
        // The log line first: whoever takes the answer takes that too.
        self.leave(request);
        self.flight.offer(if is_error { State::AppError } else { State::Private }, response);
    }

    /// What is kept of the page is not for all any more, wherever it is.
    fn drop_kept(&self) {
        let cache = &self.gate.cache;
        let is_kept = !cache.store.borrow().variants(&self.key).is_empty() || self.known.is_some();
        let purge = Purge::Url(self.key.clone());
        if is_kept {
            cache.tell_others(&purge, false);
        }
        if is_kept || cache.neighbour.is_there() {
            drop(self.gate.purge_pages(&purge, false, Purger::Own));
        } else {
            // There may be a variant for other requests.
            drop(cache.disk.purge(&purge, false));
        }
    }

    fn unkept(&self, status: u16, why: Why) {
        self.gate.cache.unkept.note(&self.key, status, why);
    }

    fn leave(&self, request: Request) {
        self.flight.leave(Box::new(request));
    }
}

/// The tags of an answer, as far as they are known by its head; none where they are too many.
fn tags_of(response: &Response) -> Option<Vec<Box<str>>> {
    let ResponseBody::Fill(answer, _) = &response.body else { return Some(Vec::new()) };
    tags(&response.head.fields, &answer.parts())
}

/// Copies what a worker writes. Returns the trailers.
///
/// # Errors
/// Why it did not become whole.
async fn copy(answer: &Answer, shared: &Shared, bytes_max: u64) -> Result<Vec<(String, Vec<u8>)>, Code> {
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
