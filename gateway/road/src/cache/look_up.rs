//! Entry to the page cache: an answer from a cached page, or from a render that is under way or begins.

use std::rc::Rc;

use sluice_cache::{Dimensions, Reuse};
use sluice_journal::{CacheUse, Outcome, Step};
use sluice_message::{Method, RequestHead, ResponseHead, elements, starts_with};

use super::fetch::{self, For, is_for_all};
use super::flight::{self, State, Waiting};
use super::log::Tags;
use super::purge;
use super::reply;
use super::source::Source;
use super::store::Object;
use crate::answers::Response;
use crate::request::passage::Request;
use crate::road::Road;
use crate::sessions::{Arm, Visit};
use sluice_wire::front::exchange::{Exchange, Woke};
use sluice_wire::front::origin::Origin;
use sluice_wire::receive::failure::Failure;

/// Answer of the cache for a client.
pub(crate) struct CacheLookup {
    pub(crate) response: Response,
    /// Wait for the render that was begun for this client. When the render has ended, it has the worker's part of the client's log line.
    pub(crate) waiting: Option<Waiting>,
}

impl From<Response> for CacheLookup {
    fn from(response: Response) -> Self {
        CacheLookup { response, waiting: None }
    }
}

/// Result of a render for one of the clients that waited for it.
enum RenderOutcome {
    Answer(CacheLookup),
    /// The render failed for another client: this client has a worker asked for itself.
    Nothing,
    /// The answer is for another client alone: this client waits for no other render.
    Alone,
    /// The answer is for others, who differ in the fields that it depends on, if these are known: this client looks again.
    Again(Option<Dimensions>),
}

/// Maximum number of shared renders that a client waits for before it gets its own.
const WAITS_MAX: u32 = 3;

/// Answers from the cache, or with a render that others get too; `None` if a worker is to be asked for this client alone. The request is
/// complete.
pub(crate) async fn answer(
    exchange: &mut Exchange<'_>,
    origin: &Origin,
    road: &Rc<Road>,
    request: &mut Request,
) -> Result<Option<CacheLookup>, Failure> {
    let found = look_up(exchange, origin, road, request).await;
    if let Some(how) = request.cached {
        road.pages.cache.counts.count(how);
    }
    found
}

async fn look_up(
    exchange: &mut Exchange<'_>,
    origin: &Origin,
    road: &Rc<Road>,
    request: &mut Request,
) -> Result<Option<CacheLookup>, Failure> {
    let cache = &road.pages.cache;
    if !cache.is_on
        || cache.successor.is_there()
        || exchange.is_own()
        || request.upgrade.is_some()
        || request.bytes_in > 0
    {
        return Ok(None);
    }
    request.cached = Some(CacheUse::Bypass);
    let is_get = request.head.method == Method::Get;
    let key = if is_get || request.head.method == Method::Head { cache.keys.key(&request.head, origin) } else { None };
    let Some(mut key) = key else { return Ok(None) };
    if let Some(of_trial) = cache.keys.in_trial(&key) {
        let workers = road.workers();
        let is_inner = origin.port_within.is_some_and(|port| workers.is_own_call(port));
        // The address of the app's own call is that of no visitor.
        let arm = request
            .visit
            .arm
            .or_else(|| workers.sessions().arm(&request.session_query(origin), is_inner.then_some(Arm::Present)));
        request.visit = Visit::of_arm(arm);
        if arm == Some(Arm::Trial) {
            key = of_trial;
        }
    }
    if origin.hides_from_worker(&mut request.head.fields) {
        return Ok(None);
    }
    let is_part = request.head.fields.contains("range");
    let (mut depends_on, mut is_alone) = (None, false);
    for _ in 0..WAITS_MAX {
        let kept = cache.store.borrow().find(&key, &request.head.fields);
        let mut stale = None;
        let reuse =
            kept.as_ref().map(|object| object.policy.borrow().reuse(road.pages.moment(), road.pages.stale_limits()));
        if let (Some(object), Some(Reuse::Fresh(_))) = (&kept, reuse) {
            return Ok(Some(served(road, request, object, Source::Hit).into()));
        }
        let known = depends_on.take().or_else(|| cache.store.borrow().dimensions(&key));
        let flight_key = flight::key_of(&key, &request.head.fields, known.as_ref());
        if let (Some(object), Some(reuse)) = (&kept, reuse) {
            match reuse {
                Reuse::WhileRevalidating(_) => {
                    if cache.flights.is_free(&flight_key) {
                        fetch::start(road, origin, request, (&key, &flight_key), Some(object), For::All);
                    }
                    return Ok(Some(served(road, request, object, Source::Stale).into()));
                }
                Reuse::IfError(_) => stale = Some(Rc::clone(object)),
                Reuse::Fresh(_) | Reuse::Never => {}
            }
        }
        // A part of a page that is not kept is for the app: players of films do not take the whole instead.
        if !is_get || is_part {
            return Ok(None);
        }
        let mark = cache.marks.get(&flight_key);
        let is_lone = is_alone || mark.is_some();
        let joined = cache.flights.open_to(&flight_key, &request.head.fields, road.pages.moment(), is_lone);
        let is_leader = joined.is_none();
        // What such a client asks for besides the page is the app's to answer, as far as nobody else gets that.
        if is_leader && is_lone && (exchange.is_half_closed() || !is_for_all(&request.head, &cache.keys.rules)) {
            request.lone_key = Some(flight_key);
            return Ok(None);
        }
        let whom = if is_lone { For::One(mark.and_then(|mark| mark.position)) } else { For::All };
        let start = || fetch::start(road, origin, request, (&key, &flight_key), kept.as_ref(), whom);
        let flight = joined.unwrap_or_else(start);
        let waiting = Waiting::new(road.new_answer(), &flight, is_leader, cache.log.since_now());
        wait(exchange, &waiting).await?;
        match given(road, request, waiting, stale.as_deref())? {
            RenderOutcome::Answer(found) => return Ok(Some(found)),
            RenderOutcome::Nothing => return Ok(None),
            RenderOutcome::Alone => is_alone = true,
            RenderOutcome::Again(other) => depends_on = other,
        }
    }
    Ok(None)
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

fn given(
    road: &Road,
    request: &mut Request,
    waiting: Waiting,
    stale: Option<&Object>,
) -> Result<RenderOutcome, Failure> {
    let fallback = waiting.flight.fallback.borrow().clone();
    let fallback = fallback.filter(|object| object.policy.borrow().is_for(&request.head.fields));
    let stale = stale.or(fallback.as_deref());
    let is_leader = waiting.is_leader;
    let missed = if waiting.flight.is_lone { CacheUse::Bypass } else { CacheUse::Miss };
    let state = waiting.flight.state.borrow().clone();
    let response = match state {
        State::Shared(shared)
            if is_leader || shared.policy.is_for(&request.head.fields) && waiting.may_have(shared.tags()) =>
        {
            let is_stored = waiting.flight.is_kept.get();
            let source = if is_leader { Source::Miss { is_stored } } else { Source::Joined };
            request.cached = Some(source.as_use());
            reply::shared(road, &request.head, &shared, source)
        }
        State::Kept(object)
            if is_leader
                || object.policy.borrow().is_for(&request.head.fields) && waiting.may_have(Tags::All(&object.tags)) =>
        {
            let is_stored = waiting.flight.is_kept.get();
            served(road, request, &object, Source::Revalidated { is_stored })
        }
        State::Found(object, source)
            if object.policy.borrow().is_for(&request.head.fields) && waiting.may_have(Tags::All(&object.tags)) =>
        {
            let is_fresh =
                matches!(object.policy.borrow().reuse(road.pages.moment(), road.pages.stale_limits()), Reuse::Fresh(_));
            // It goes on without this client where it is stale.
            return Ok(RenderOutcome::Answer(
                served(road, request, &object, if is_fresh { source } else { Source::Stale }).into(),
            ));
        }
        State::Shared(shared) => return Ok(RenderOutcome::Again(Some(shared.policy.dimensions.clone()))),
        State::Kept(object) | State::Found(object, _) => {
            return Ok(RenderOutcome::Again(Some(object.policy.borrow().dimensions.clone())));
        }
        State::Asked | State::Over => return Ok(RenderOutcome::Again(None)),
        State::Failed(_) | State::AppError if stale.is_some() => {
            let Some(object) = stale else { return Ok(RenderOutcome::Again(None)) };
            request.step = Some(Step::Stale);
            served(road, request, object, Source::StaleIfError)
        }
        State::Failed(refusal) => {
            request.cached = Some(missed);
            request.settle(&waiting);
            return Err(Failure::Refused(refusal));
        }
        state @ (State::Private | State::AppError) => {
            let Some(response) = waiting.take_private() else {
                return Ok(if matches!(state, State::Private) { RenderOutcome::Alone } else { RenderOutcome::Nothing });
            };
            request.cached = Some(missed);
            request.settle(&waiting);
            return Ok(RenderOutcome::Answer(reply::private(road, request, missed, response).into()));
        }
    };
    Ok(RenderOutcome::Answer(CacheLookup { response, waiting: is_leader.then_some(waiting) }))
}

fn served(road: &Road, request: &mut Request, object: &Object, source: Source) -> Response {
    request.cached = Some(source.as_use());
    reply::kept(road, &request.head, object, source)
}

/// Updates the cache after a worker's answer to one client: after a change, cached variants of the page are outdated (RFC 9111 §4.4).
pub(crate) async fn note(road: &Road, origin: &Origin, request: &Request, response: &mut Response) {
    let cache = &road.pages.cache;
    if !cache.is_on {
        return;
    }
    let head = &request.head;
    if !head.method.is_safe() && (200..400).contains(&response.head.status) {
        let fields = &response.head.fields;
        let named = ["location", "content-location"].iter().filter_map(|name| fields.get(name));
        let targets = named.filter_map(|place| purge::target_of(place, &head.authority));
        let keys = std::iter::once(head.path_and_query.clone()).chain(targets).filter_map(|target| {
            let changed = RequestHead { method: Method::Get, path_and_query: target, ..head.clone() };
            cache.keys.key_of(&changed, origin)
        });
        let keys = keys.flat_map(|key| [cache.keys.in_trial(&key), Some(key)]).flatten();
        purge::known(keys.map(|key| road.pages.outdate(key)).collect()).await;
    }
    fetch::note_lone(road, request, response);
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
