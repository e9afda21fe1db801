//! State of one include, shared by the page that waits for it and the request that fetches it. It must not know how either works.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use bytes::Bytes;
use sluice_journal::Includes;
use sluice_message::ResponseHead;
use tokio::time::Instant;

use super::rules;
use crate::sessions::Arm;
use sluice_wire::receive::memory::{Memory, MemoryHold};
use sluice_wire::signal::Signal;

/// State that all includes of a page share, nested ones too.
#[derive(Default)]
pub(crate) struct Page {
    /// Number of includes so far.
    pub(crate) includes: Cell<u32>,
}

/// Results of the includes of one answer, while it is composed.
#[derive(Default)]
pub struct Tally(Cell<Includes>);

impl Tally {
    pub(crate) fn ask(&self) {
        self.0.update(|includes| Includes { asked: includes.asked + 1, ..includes });
    }

    pub(crate) fn fail(&self) {
        self.0.update(|includes| Includes { failed: includes.failed + 1, ..includes });
    }

    pub fn get(&self) -> Includes {
        self.0.get()
    }
}

/// Body of an include, counted as memory until it stands in the page.
pub(crate) struct Body {
    pub(crate) data: Bytes,
    _held: MemoryHold,
}

/// An include that is being requested.
pub(crate) struct IncludeRequest {
    /// Request id of the include in logs.
    pub(crate) id: Rc<str>,
    pub(crate) page: Rc<Page>,
    /// Depth of the include; 1 if its page was asked for by a client.
    pub(crate) depth: u32,
    /// The page's own request had the password of a user.
    pub(crate) is_logged_in: bool,
    /// Version of the page, while one is tried.
    pub(crate) arm: Option<Arm>,
    until: Instant,
    bytes_max: usize,
    got: RefCell<Got>,
    /// The answer cannot be used: it broke off, is too long, or is in another form than asked for.
    is_broken: Cell<bool>,
    is_given_up: Cell<bool>,
    given_up: Signal,
}

#[derive(Default)]
struct Got {
    data: Vec<u8>,
    held: MemoryHold,
}

/// Limits of an include.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) until: Instant,
    pub(crate) bytes_max: usize,
}

impl IncludeRequest {
    pub(crate) fn new(
        id: Rc<str>,
        (page, depth): (&Rc<Page>, u32),
        (is_logged_in, arm): (bool, Option<Arm>),
        Bounds { until, bytes_max }: Bounds,
        memory: &Rc<Memory>,
    ) -> Rc<Self> {
        Rc::new(IncludeRequest {
            id,
            page: Rc::clone(page),
            depth,
            is_logged_in,
            arm,
            until,
            bytes_max,
            got: RefCell::new(Got { data: Vec::new(), held: MemoryHold::of(memory) }),
            is_broken: Cell::new(false),
            is_given_up: Cell::new(false),
            given_up: Signal::default(),
        })
    }

    // The request's side.

    pub(crate) fn begin(&self, head: &ResponseHead) {
        if rules::is_encoded(head) {
            self.break_off();
        }
    }

    pub(crate) fn take(&self, data: &[u8]) {
        let mut got = self.got.borrow_mut();
        if self.is_broken.get() || !got.held.try_grow(data.len(), self.bytes_max) {
            self.is_broken.set(true);
            *got = Got::default();
            return;
        }
        got.data.extend_from_slice(data);
    }

    pub(crate) fn break_off(&self) {
        self.is_broken.set(true);
    }

    /// Whether no page waits for the rest.
    pub(crate) fn is_over(&self) -> bool {
        self.is_broken.get() || self.is_given_up.get() || self.is_late()
    }

    /// Waits until no page waits for the include any more.
    pub(crate) async fn unwanted(&self) {
        if self.is_over() {
            return;
        }
        tokio::select! {
            biased;
            () = self.given_up.wait() => {}
            () = tokio::time::sleep_until(self.until) => {}
        }
    }

    // The page's side.

    pub(crate) fn is_late(&self) -> bool {
        Instant::now() >= self.until
    }

    pub(crate) fn give_up(&self) {
        self.is_given_up.set(true);
        self.given_up.set();
    }

    /// Body of the include, if it is complete.
    pub(crate) fn take_body(&self) -> Option<Body> {
        let Got { data, held } = self.got.take();
        (!self.is_broken.get()).then(|| Body { data: data.into(), _held: held })
    }
}
