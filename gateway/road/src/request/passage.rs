//! Request as the steps of its way fill it in. It must not know these steps.

use std::net::IpAddr;
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use sluice_classes::{Class, Traits};
use sluice_journal::{CacheUse, Step};
use sluice_message::RequestHead;
use sluice_upstreams::Upstream;
use tokio::time::Instant;

use super::id;
use super::ticket::Call;
use crate::cache::flight::Waiting;
use crate::respond::compose::part::{IncludeRequest, Tally};
use crate::road::Road;
use crate::road::workers::Workers;
use crate::sessions::{SessionQuery, Visit};
use crate::trace::{self, Trace};
use sluice_wire::front::origin::Origin;
use sluice_wire::receive::failure::UpgradeOffer;

/// Times of a request.
#[derive(Clone, Copy)]
pub struct RequestTimes {
    /// Time of its first byte.
    pub started: Instant,
    /// The same time by the wall clock, milliseconds since 1970.
    pub time_unix_ms: u64,
    /// Time at which enough of it had arrived for its answer.
    pub received: Option<Instant>,
}

/// Request with the facts that were gathered on its way.
pub struct Request {
    /// Times of it so far.
    pub times: RequestTimes,
    /// Request id in logs and answers.
    pub id: Rc<str>,
    /// Address of the client, or the one that a trusted peer reports.
    pub peer: IpAddr,
    /// Trace to which it belongs, if any.
    pub trace: Option<Trace>,
    /// Request head; empty until it is received.
    pub head: RequestHead,
    /// Protocols to which the client offers to switch.
    pub upgrade: Option<String>,
    /// Bytes of its body.
    pub bytes_in: u64,
    /// Class by which its cost is estimated.
    pub class: Class,
    /// Session to which it belongs, if any.
    pub visit: Visit,
    /// Worker that answers it, once it was asked, or upstream, once the route is known.
    pub call: Option<Call>,
    /// Result of the cache lookup, if there was one.
    pub cached: Option<CacheUse>,
    /// Cache key of the page, if that may be for this client alone and the cache leaves it to the app.
    pub(crate) lone_key: Option<String>,
    /// Fallback that it got in place of a render, if that is not an error.
    pub step: Option<Step>,
    /// The request had a user's password, or is an include of a page whose request had.
    pub(crate) is_logged_in: bool,
    /// Results of its answer's includes, if that is composed.
    pub includes: Option<Rc<Tally>>,
}

impl Request {
    /// Request of this client, of which nothing else is known.
    pub fn new(peer: IpAddr) -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Request {
            times: RequestTimes {
                started: Instant::now(),
                time_unix_ms: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
                received: None,
            },
            id: id::new_request_id(),
            peer,
            trace: None,
            head: RequestHead::default(),
            upgrade: None,
            bytes_in: 0,
            class: Class::default(),
            visit: Visit::default(),
            call: None,
            cached: None,
            lone_key: None,
            step: None,
            is_logged_in: false,
            includes: None,
        }
    }

    /// Request for an include: its page's client is known.
    pub(crate) fn of_include(peer: IpAddr, wanted: &IncludeRequest) -> Self {
        let visit = Visit::of_arm(wanted.arm);
        Request { id: Rc::clone(&wanted.id), is_logged_in: wanted.is_logged_in, visit, ..Request::new(peer) }
    }

    /// Copy of the request for all that want the page: with this head and the same route, and without an answer.
    pub(crate) fn for_many(&self, head: RequestHead) -> Self {
        let (id, visit) = (Rc::clone(&self.id), Visit::of_arm(self.visit.arm));
        let call = self.upstream().cloned().map(Call::Routed);
        Request { times: self.times, id, trace: self.trace, head, visit, call, ..Request::new(self.peer) }
    }

    /// The upstream that the route leads to, if it leads to one. A reload meanwhile does not change it.
    pub(crate) fn upstream(&self) -> Option<&Rc<Upstream>> {
        self.call.as_ref().and_then(Call::upstream)
    }

    /// Takes over the facts and the call of the request for all, if that was sent for this one and has ended.
    pub(crate) fn settle(&mut self, waiting: &Waiting) {
        if let Some(fetched) = waiting.take_fetched()
            && let Ok(fetched) = fetched.downcast::<Request>()
        {
            let Request { class, visit, call, times, .. } = *fetched;
            (self.class, self.visit, self.call, self.times.received) = (class, visit, call, times.received);
        }
    }

    /// Takes the head, and sets request id, client address and trace from it. What an untrusted peer says of these is
    /// ignored.
    pub(crate) fn take_head(&mut self, asked: UpgradeOffer, origin: &Origin, road: &Road) {
        (self.head, self.upgrade) = asked;
        if let Some(id) = id::trusted_request_id(&self.head, origin) {
            self.id = id;
        }
        self.peer = origin.client(&road.lobby.trust(), &self.head.fields);
        let parent = trace::parent(road.config().server.trace_context, origin.is_trusted, &self.head.fields);
        self.trace = if origin.is_own() { None } else { trace::of(parent, &road.observer.traces) };
    }

    /// Whether it says who its client is, so that the answer may be for this one alone.
    pub fn has_credentials(&self) -> bool {
        self.is_logged_in || ["Cookie", "Authorization"].iter().any(|name| self.head.fields.contains(name))
    }

    /// Facts about its client's session.
    pub fn session_query(&self, origin: &Origin) -> SessionQuery<'_> {
        SessionQuery {
            head: &self.head,
            is_upgrade: self.upgrade.is_some(),
            client: self.peer,
            is_secure: origin.is_https(&self.head),
        }
    }

    /// Looks its class up. What an upstream answers is of a class with its name, of which workers learn nothing.
    pub fn classify(&mut self, workers: &dyn Workers) {
        let name = self.upstream().map(|upstream| Rc::clone(&upstream.name));
        if let Some(name) = name {
            self.class = Class::default();
            self.class.name = name;
        } else {
            self.class = workers.classify(&Traits::of(&self.head, self.bytes_in));
        }
    }
}
