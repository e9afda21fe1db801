//! What the road asks the page cache: an answer from what is kept, or from a render that is under way or begins.

use std::rc::Rc;

use sluice_cache::{Moment, Reuse, StaleLimits, key_of};
use sluice_journal::{CacheUse, Outcome};
use sluice_message::{Method, RequestHead, ResponseHead, elements, starts_with};

use super::flight::{self, State, Waiting};
use super::reply::{self, Source};
use super::store::Object;
use super::{fetch, purge};
use crate::answers::Response;
use crate::front::exchange::{Exchange, Woke};
use crate::gate::Gate;
use crate::request::passage::{Failure, Request};
use crate::upstream::forward::Origin;

/// What the cache has for a client.
pub(crate) struct Found {
    pub(crate) response: Response,
    /// The render that was begun for this client: when it has ended, it knows what the client's log line says of the worker.
    pub(crate) waiting: Option<Waiting>,
}

impl From<Response> for Found {
    fn from(response: Response) -> Self {
        Found { response, waiting: None }
    }
}

/// What a render gives one of those who waited for it.
enum Given {
    Answer(Found),
    /// It is for another alone: this client has a worker asked for itself.
    Nothing,
    /// It is for others: this client looks again.
    Again,
}

impl Gate {
    /// Now, by both clocks.
    pub(crate) fn moment(&self) -> Moment {
        let wall = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let steady_ms = self.elapsed().as_millis();
        Moment { wall_s: wall.as_secs(), steady_ms: u64::try_from(steady_ms).unwrap_or(u64::MAX) }
    }

    pub(super) fn stale_limits(&self) -> StaleLimits {
        StaleLimits { if_error_s: self.config().cache.stale_if_error_s }
    }
}

/// Answers from what is kept, or with a render that others get too; `None` where a worker is to be asked for this client alone.
/// The request is whole.
pub(crate) async fn answer(
    exchange: &mut Exchange<'_>,
    origin: &Origin,
    gate: &Rc<Gate>,
    request: &mut Request,
) -> Result<Option<Found>, Failure> {
    let found = look_up(exchange, origin, gate, request).await;
    if let Some(how) = request.cached {
        gate.cache.counts.count(how);
    }
    found
}

async fn look_up(
    exchange: &mut Exchange<'_>,
    origin: &Origin,
    gate: &Rc<Gate>,
    request: &mut Request,
) -> Result<Option<Found>, Failure> {
    let cache = &gate.cache;
    if !cache.is_on || exchange.is_own() || request.upgrade.is_some() || request.bytes_in > 0 {
        return Ok(None);
    }
    request.cached = Some(CacheUse::Bypass);
    let (is_get, is_https) = (request.head.method == Method::Get, origin.is_https(&request.head));
    let key = if is_get || request.head.method == Method::Head { cache.key(&request.head, is_https) } else { None };
    let Some(key) = key else { return Ok(None) };
    let flight_key = flight::key_of(&key, &request.head.fields);
    loop {
        let kept = cache.store.borrow().find(&key, &request.head.fields);
        let mut stale = None;
        if let Some(object) = &kept {
            let reuse = object.policy.borrow().reuse(gate.moment(), gate.stale_limits());
            match reuse {
                Reuse::Fresh(_) => return Ok(Some(served(gate, request, object, Source::Hit).into())),
                Reuse::WhileRevalidating(_) => {
                    if cache.flights.is_free(&flight_key) {
                        fetch::start(gate, origin, request, (&key, &flight_key), Some(object));
                    }
                    return Ok(Some(served(gate, request, object, Source::Stale).into()));
                }
                Reuse::IfError(_) => stale = Some(Rc::clone(object)),
                Reuse::Never => {}
            }
        }
        if !is_get || cache.is_private(&flight_key) {
            return Ok(None);
        }
        let joined = cache.flights.open_to(&flight_key, &request.head.fields);
        let is_leader = joined.is_none();
        let flight = joined.unwrap_or_else(|| fetch::start(gate, origin, request, (&key, &flight_key), kept.as_ref()));
        let waiting = Waiting::new(gate.new_answer(), &flight, is_leader);
        wait(exchange, &waiting).await?;
        match given(gate, request, waiting, stale.as_deref())? {
            Given::Answer(found) => return Ok(Some(found)),
            Given::Nothing => return Ok(None),
            Given::Again => {}
        }
    }
}

/// Waits until the render's head is there, or will never be.
async fn wait(exchange: &mut Exchange<'_>, waiting: &Waiting) -> Result<(), Failure> {
    let gone = || Failure::Gone(Outcome::ClientGoneInService);
    loop {
        if waiting.is_leader {
            for head in waiting.flight.take_informational() {
                exchange.inform(&head);
            }
        }
        if !matches!(*waiting.flight.state.borrow(), State::Asked) {
            return Ok(());
        }
        exchange.flush(None).await.map_err(|_| gone())?;
        // One that closes its sending side has most likely gone.
        if exchange.is_half_closed() || exchange.changed(&waiting.answer).await != Woke::Again {
            return Err(gone());
        }
    }
}

fn given(gate: &Gate, request: &mut Request, waiting: Waiting, stale: Option<&Object>) -> Result<Given, Failure> {
    let is_leader = waiting.is_leader;
    let state = waiting.flight.state.borrow().clone();
    let response = match state {
        State::Shared(shared) if is_leader || shared.policy.is_for(&request.head.fields) => {
            let source = if is_leader { Source::Miss } else { Source::Joined };
            request.cached = Some(source.as_use());
            reply::shared(gate, &request.head, &shared, source)
        }
        State::Kept(object) if is_leader || object.policy.borrow().is_for(&request.head.fields) => {
            served(gate, request, &object, Source::Revalidated)
        }
        State::Shared(_) | State::Kept(_) | State::Asked | State::Over => return Ok(Given::Again),
        State::Failed(_) | State::AppError if stale.is_some() => {
            let Some(object) = stale else { return Ok(Given::Again) };
            served(gate, request, object, Source::StaleIfError)
        }
        State::Failed(refusal) => {
            request.cached = Some(CacheUse::Miss);
            request.settle(&waiting);
            return Err(Failure::Refused(refusal));
        }
        State::Private | State::AppError => {
            let Some(response) = waiting.take_private() else { return Ok(Given::Nothing) };
            request.cached = Some(CacheUse::Miss);
            request.settle(&waiting);
            return Ok(Given::Answer(reply::private(gate, request, response).into()));
        }
    };
    Ok(Given::Answer(Found { response, waiting: is_leader.then_some(waiting) }))
}

fn served(gate: &Gate, request: &mut Request, object: &Object, source: Source) -> Response {
    request.cached = Some(source.as_use());
    reply::kept(gate, &request.head, object, source)
}

/// What a worker's answer to one client says to the cache: after a change, what is kept of the page is old (RFC 9111 §4.4).
pub(crate) fn note(gate: &Gate, origin: &Origin, request: &Request, response: &mut Response) {
    let cache = &gate.cache;
    if !cache.is_on {
        return;
    }
    let head = &request.head;
    if !head.method.is_safe() && (200..400).contains(&response.head.status) {
        let fields = &response.head.fields;
        let named = ["location", "content-location"].iter().filter_map(|name| fields.get(name));
        let targets = named.filter_map(|place| purge::target_of(place, &head.authority));
        for target in std::iter::once(head.path_and_query.clone()).chain(targets) {
            let changed = RequestHead { method: Method::Get, path_and_query: target, ..head.clone() };
            if let Some(key) = key_of(&changed, origin.is_https(head), &cache.key_rules) {
                cache.outdate(&key);
            }
        }
    }
    if request.cached.is_some() && !elements_have(&response.head, "sluice") {
        let why = if matches!(head.method, Method::Get | Method::Head) { "bypass" } else { "method" };
        response.head.fields.push("Cache-Status", format!("Sluice; fwd={why}"));
    }
    purge::hide_tags(&mut response.head);
}

/// Whether a gateway has said already what its cache did.
fn elements_have(head: &ResponseHead, name: &str) -> bool {
    let mut words = head.fields.get_all("cache-status").flat_map(elements);
    words.any(|word| starts_with(&String::from_utf8_lossy(word), name))
}
