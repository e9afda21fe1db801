//! Asks for one include, by a request of the gateway's own that takes the same steps as any: files, cache, ladder, queue. It must not know
//! these steps, nor where the include stands.

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

use sluice_esi::Include;
use sluice_journal::{IncludeEnd, Outcome};
use sluice_message::RequestHead;
use tokio::time::Instant;

use super::part::{Body, Bounds, IncludeRequest, Page, Tally};
use super::target;
use crate::own::Own;
use crate::respond::SendOutcome;
use crate::road::Road;
use crate::sessions::Arm;
use sluice_wire::front::origin::Origin;
use sluice_wire::ids::to_usize;
use sluice_wire::signal::Signal;

/// Function that serves a request of the gateway's own.
pub(crate) type Ask = fn(Own, Origin, Rc<Road>) -> Pin<Box<dyn Future<Output = SendOutcome>>>;

/// Answer that has includes.
pub(crate) struct Parent {
    pub(crate) road: Rc<Road>,
    pub(crate) origin: Origin,
    pub(crate) ask: Ask,
    /// Head of the page's request, with the fields that its includes repeat.
    pub(crate) head: RequestHead,
    pub(crate) id: Rc<str>,
    pub(crate) page: Rc<Page>,
    /// Depth of the answer; 0 if a client asked for it.
    pub(crate) depth: u32,
    pub(crate) is_logged_in: bool,
    /// Version of the page, while one is tried.
    pub(crate) arm: Option<Arm>,
    pub(crate) tally: Rc<Tally>,
    /// Number of requests that were made for includes.
    pub(crate) asked: Cell<u32>,
}

/// Place of an include in a page.
pub(crate) struct IncludePosition {
    /// The body is known, which may be none.
    is_settled: Cell<bool>,
    body: RefCell<Option<Body>>,
    wanted: RefCell<Option<Rc<IncludeRequest>>>,
    /// No client reads the page any more.
    is_left: Cell<bool>,
    changed: Rc<Signal>,
}

impl IncludePosition {
    pub(crate) fn is_settled(&self) -> bool {
        self.is_settled.get()
    }

    /// Body for this place, if it is known and there is one.
    pub(crate) fn take(&self) -> Option<Body> {
        self.body.borrow_mut().take()
    }

    pub(crate) fn leave(&self) {
        self.is_left.set(true);
        if let Some(wanted) = &*self.wanted.borrow() {
            wanted.give_up();
        }
    }

    fn settle(&self, body: Option<Body>) {
        *self.body.borrow_mut() = body;
        self.is_settled.set(true);
        self.changed.set();
    }
}

/// Guard that settles the place even if the task panics.
struct Settles(Rc<IncludePosition>);

impl Drop for Settles {
    fn drop(&mut self) {
        if !self.0.is_settled() {
            self.0.settle(None);
        }
    }
}

impl Parent {
    /// Begins to ask for the include; `changed` is set when its result is known.
    pub(crate) fn start(self: &Rc<Self>, include: Include, changed: &Rc<Signal>) -> Rc<IncludePosition> {
        let place = Rc::new(IncludePosition {
            is_settled: Cell::new(false),
            body: RefCell::default(),
            wanted: RefCell::default(),
            is_left: Cell::new(false),
            changed: Rc::clone(changed),
        });
        self.tally.ask();
        if !self.has_room() {
            self.end(IncludeEnd::Refused);
            place.settle(None);
            return place;
        }
        let (parent, settles) = (Rc::clone(self), Settles(Rc::clone(&place)));
        tokio::task::spawn_local(async move {
            let (end, body) = parent.fetch(&settles.0, &include).await;
            if !settles.0.is_left.get() {
                parent.end(end);
                settles.0.settle(body);
            }
        });
        place
    }

    /// Counts one more include of the page. Returns false if the bound on their depth or number is reached.
    fn has_room(&self) -> bool {
        let bounds = &self.road.config().bounds;
        let has_room = self.depth < bounds.include_depth_max && self.page.includes.get() < bounds.includes_max;
        self.page.includes.update(|includes| includes + u32::from(has_room));
        has_room
    }

    fn end(&self, end: IncludeEnd) {
        self.road.transforms.composer.count(end, 1);
        if end != IncludeEnd::Sent {
            self.tally.fail();
        }
    }

    async fn fetch(&self, place: &IncludePosition, include: &Include) -> (IncludeEnd, Option<Body>) {
        let why = match self.bring(place, &include.src).await {
            Ok(body) => return (IncludeEnd::Sent, Some(body)),
            Err(why) => why,
        };
        let alt = include.alt.as_ref().filter(|_| !place.is_left.get());
        let Some(alt) = alt else { return (why, None) };
        match self.bring(place, alt).await {
            Ok(body) => (IncludeEnd::Alt, Some(body)),
            Err(_) => (why, None),
        }
    }

    /// # Errors
    /// Reason why there is no answer that could be put into the page.
    async fn bring(&self, place: &IncludePosition, reference: &str) -> Result<Body, IncludeEnd> {
        let target = target::of_reference(reference, &self.head).ok_or(IncludeEnd::Refused)?;
        self.asked.update(|asked| asked + 1);
        let config = self.road.config();
        let wanted = IncludeRequest::new(
            format!("{}-{}", self.id, self.asked.get()).into(),
            (&self.page, self.depth + 1),
            (self.is_logged_in, self.arm),
            Bounds {
                until: Instant::now() + Duration::from_millis(config.compose.include_ms_max),
                bytes_max: to_usize(config.bounds.include_bytes_max),
            },
            &self.road.store.memory,
        );
        *place.wanted.borrow_mut() = Some(Rc::clone(&wanted));
        let head = RequestHead { path_and_query: target, ..self.head.clone() };
        let sent = (self.ask)(Own::include(head, &wanted), self.origin.clone(), Rc::clone(&self.road)).await;
        let is_whole = sent.error.is_none() && matches!(sent.outcome, Outcome::Answered | Outcome::Edge);
        let is_of_use = is_whole && (200..300).contains(&sent.status);
        let body = wanted.take_body().filter(|_| is_of_use);
        body.ok_or_else(|| if wanted.is_late() { IncludeEnd::Late } else { IncludeEnd::Failed })
    }
}
