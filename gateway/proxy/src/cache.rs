//! Pages that are rendered once and sent to many: what is kept, and who waits for a render that is under way (I7).
//!
//! What HTTP says of all that is in the crate `sluice_cache`; here are the memory ([`store`]), renders for many ([`flight`]), and
//! heads of what is sent ([`reply`]). The road asks [`answer`] before it asks a worker. This must not know how a worker is chosen.

mod fetch;
mod flight;
mod purge;
mod reply;
mod store;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use sluice_cache::{KeyRules, Moment, Reuse, Rule, StaleLimits, key_of};
use sluice_catalog::config::{self, Span};
use sluice_journal::CacheUse;
use sluice_message::{Method, RequestHead, elements};
use tokio::time::Instant;

use crate::answers::refuse::Refusal;
use crate::answers::{Response, ResponseBody};
use crate::front::exchange::{Exchange, Woke};
use crate::gate::Gate;
use crate::ids::to_usize;
use crate::request::passage::{Failure, Request};
use crate::upstream::forward::Origin;
pub(crate) use flight::Flight;
pub(crate) use flight::Waiting;
use flight::{Flights, State};
use reply::Source;
use store::{Object, Store};

/// Keys that are remembered as private.
const PRIVATE_MAX: usize = 20_000;

/// All that is kept, and all that is being fetched.
pub(crate) struct Cache {
    is_on: bool,
    key_rules: KeyRules,
    vary_by: Vec<String>,
    /// Longest prefix first.
    ttl_s: Vec<(String, u64)>,
    bypass: Vec<String>,
    store: RefCell<Store>,
    flights: Flights,
    /// Keys whose pages turned out not to be for all, and until when that is remembered.
    private: RefCell<quick_cache::unsync::Cache<String, Instant>>,
    pub(crate) counts: Counts,
}

/// What came of requests that were looked up, since the start.
#[derive(Default)]
pub(crate) struct Counts {
    uses: [Cell<u64>; CacheUse::ALL.len()],
    pub(crate) stored: Cell<u64>,
    pub(crate) purged: Cell<u64>,
}

impl Counts {
    fn count(&self, how: CacheUse) {
        self.uses[how as usize].update(|count| count + 1);
    }

    pub(crate) fn of(&self, how: CacheUse) -> u64 {
        self.uses[how as usize].get()
    }
}

impl Cache {
    pub(crate) fn new(settings: &config::PageCache) -> Self {
        let seconds = |text: &String| Span::parse(text).map_or(0, |span| span.seconds);
        let mut ttl_s: Vec<_> = settings.ttl.iter().map(|(prefix, time)| (prefix.clone(), seconds(time))).collect();
        ttl_s.sort_by_key(|(prefix, _)| std::cmp::Reverse(prefix.len()));
        Cache {
            is_on: settings.enabled,
            key_rules: KeyRules { ignored_params: settings.ignored_params.clone() },
            vary_by: settings.vary_by.clone(),
            ttl_s,
            bypass: settings.bypass.clone(),
            store: RefCell::new(Store::new(to_usize(settings.bytes_max))),
            flights: Flights::default(),
            private: RefCell::new(quick_cache::unsync::Cache::new(PRIVATE_MAX)),
            counts: Counts::default(),
        }
    }

    pub(crate) fn is_on(&self) -> bool {
        self.is_on
    }

    fn rule(&self, path: &str) -> Rule {
        let found = self.ttl_s.iter().find(|(prefix, _)| path.starts_with(prefix));
        Rule { ttl_s: found.map(|(_, seconds)| *seconds) }
    }

    /// The key of a page that may be kept; none for other requests.
    fn key(&self, head: &RequestHead, origin: &Origin) -> Option<String> {
        let path = head.path();
        if self.bypass.iter().any(|prefix| path.starts_with(prefix)) {
            return None;
        }
        key_of(head, origin.is_https(head), &self.key_rules)
    }

    fn is_private(&self, key: &str) -> bool {
        self.private.borrow().get(key).is_some_and(|until| Instant::now() < *until)
    }

    fn remember_private(&self, key: &str, until: Instant) {
        self.private.borrow_mut().insert(key.to_owned(), until);
    }
}

impl Gate {
    /// Now, by both clocks.
    pub(crate) fn moment(&self) -> Moment {
        let wall = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let steady_ms = self.elapsed().as_millis();
        Moment { wall_s: wall.as_secs(), steady_ms: u64::try_from(steady_ms).unwrap_or(u64::MAX) }
    }

    fn stale_limits(&self) -> StaleLimits {
        StaleLimits { if_error_s: u64::from(self.config().cache.stale_if_error_s) }
    }
}

/// Answers from what is kept, or with a render that others get too; `None` where a worker is to be asked for this client alone.
/// The request is whole.
pub(crate) async fn answer(
    exchange: &mut Exchange<'_>,
    origin: &Origin,
    gate: &Rc<Gate>,
    request: &mut Request,
) -> Result<Option<Response>, Failure> {
    let answered = look_up(exchange, origin, gate, request).await;
    if let Some(how) = request.cached {
        gate.cache.counts.count(how);
    }
    answered
}

async fn look_up(
    exchange: &mut Exchange<'_>,
    origin: &Origin,
    gate: &Rc<Gate>,
    request: &mut Request,
) -> Result<Option<Response>, Failure> {
    let cache = &gate.cache;
    if !cache.is_on || exchange.is_own() || request.upgrade.is_some() || request.bytes_in > 0 {
        return Ok(None);
    }
    let is_get = request.head.method == Method::Get;
    let key = if is_get || request.head.method == Method::Head { cache.key(&request.head, origin) } else { None };
    let Some(key) = key else {
        request.cached = Some(CacheUse::Bypass);
        return Ok(None);
    };
    // Requests with cookies or credentials may get what is for all, but others' renders wait for none of theirs.
    let flight_key = flight::key_of(&key, &request.head.fields);
    loop {
        let found = cache.store.borrow().find(&key, &request.head.fields);
        let reuse = found
            .as_ref()
            .map_or(Reuse::Never, |object| object.policy.borrow().reuse(gate.moment(), gate.stale_limits()));
        let (object, stale) = match (found, reuse) {
            (Some(object), Reuse::Fresh(_)) => (Some(object), None),
            (Some(object), Reuse::WhileRevalidating(_)) => {
                if cache.flights.of(&flight_key).is_empty() {
                    fetch::start(gate, origin, request, &key, &flight_key, Some(&object));
                }
                (Some(object), None)
            }
            (Some(object), Reuse::IfError(_)) => (None, Some(object)),
            (found, _) => (None, found.filter(|_| false)),
        };
        if let Some(object) = object {
            let source = if matches!(reuse, Reuse::Fresh(_)) { Source::Hit } else { Source::Stale };
            return Ok(Some(served(gate, request, &object, source)));
        }
        if !is_get || cache.is_private(&flight_key) {
            request.cached = Some(CacheUse::Bypass);
            return Ok(None);
        }
        let joined = cache.flights.open_to(&flight_key, &request.head.fields);
        let is_leader = joined.is_none();
        let flight = joined.unwrap_or_else(|| fetch::start(gate, origin, request, &key, &flight_key, stale.as_ref()));
        let waiting = Waiting::new(gate, &flight, is_leader);
        match wait(exchange, &waiting).await? {
            Ended::Begun => {}
            Ended::Again => continue,
        }
        if let Some(response) = taken(gate, request, waiting, stale.as_ref())? {
            return Ok(response);
        }
    }
}

enum Ended {
    /// The flight's head is there, or will never be.
    Begun,
    /// It is for others.
    Again,
}

/// Waits until there is something to send.
async fn wait(exchange: &mut Exchange<'_>, waiting: &Waiting) -> Result<Ended, Failure> {
    loop {
        if waiting.is_leader {
            for head in waiting.flight.take_informational() {
                exchange.inform(&head);
            }
        }
        match &*waiting.flight.state.borrow() {
            State::Asked => {}
            State::Over => return Ok(Ended::Again),
            _ => return Ok(Ended::Begun),
        }
        let gone = || Failure::Gone(sluice_journal::Outcome::ClientGoneInService);
        exchange.flush(None).await.map_err(|_| gone())?;
        // A client that only closes its sending side still gets its answer.
        if exchange.changed(&waiting.answer).await == Woke::Gone {
            return Err(gone());
        }
    }
}

/// What a flight that has begun, or ended, gives this client: `Some(None)` where it has to ask a worker for itself, `None` where it
/// has to look again.
fn taken(
    gate: &Rc<Gate>,
    request: &mut Request,
    waiting: Waiting,
    stale: Option<&Rc<Object>>,
) -> Result<Option<Option<Response>>, Failure> {
    let flight = Rc::clone(&waiting.flight);
    let state = flight.state.borrow().clone();
    match state {
        State::Shared(shared) if shared.policy.is_for(&request.head.fields) => {
            let how = if waiting.is_leader { Source::Miss } else { Source::Joined };
            request.cached = Some(how.use_());
            let response = shared.response(gate, request, how);
            if waiting.is_leader {
                request.waiting = Some(waiting);
            }
            Ok(Some(Some(response)))
        }
        State::Kept(object) if object.policy.borrow().is_for(&request.head.fields) => {
            let response = served(gate, request, &object, Source::Revalidated);
            if waiting.is_leader {
                request.waiting = Some(waiting);
            }
            Ok(Some(Some(response)))
        }
        State::Failed(_) | State::AppError if stale.is_some() => {
            Ok(stale.map(|object| Some(served(gate, request, object, Source::StaleIfError))))
        }
        State::Failed(refusal) => {
            request.cached = Some(CacheUse::Miss);
            if waiting.is_leader {
                request.settle(&waiting);
            }
            Err(Failure::Refused(refusal))
        }
        State::Private | State::AppError => {
            request.cached = Some(CacheUse::Bypass);
            let Some((fetched, response)) = waiting.is_leader.then(|| flight.take_private()).flatten() else {
                return Ok(Some(None));
            };
            request.cached = Some(CacheUse::Miss);
            request.adopt(*fetched);
            Ok(Some(Some(reply::private(gate, request, response))))
        }
        State::Shared(_) | State::Kept(_) | State::Asked | State::Over => Ok(None),
    }
}

fn served(gate: &Gate, request: &mut Request, object: &Object, source: Source) -> Response {
    request.cached = Some(source.use_());
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
fn elements_have(head: &sluice_message::ResponseHead, name: &str) -> bool {
    let mut words = head.fields.get_all("cache-status").flat_map(elements);
    words.any(|word| sluice_message::starts_with(&String::from_utf8_lossy(word), name))
}

/// Whether the body of an answer can be dropped unread.
pub(crate) fn without_body(mut response: Response) -> Response {
    if let ResponseBody::Fill(answer, _) = &response.body {
        answer.abandon();
    }
    response.body = ResponseBody::Empty;
    response
}

/// Why a flight has failed, for those who wait for it.
pub(crate) type Why = Refusal;
