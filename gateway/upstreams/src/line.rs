//! Line of the requests that wait for a free place.
//!
//! A place that becomes free is offered to the first of them. One that has no use for it (a retry that avoids the address) or leaves passes
//! it on to those behind it. A newcomer may take a place at once only while none is on offer: those who wait then have no use for what is free.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use sluice_wire::signal::Signal;

/// A request that waits.
#[derive(Default)]
struct Waiter {
    signal: Signal,
    /// A place may be free for it, and it has not looked yet.
    is_offered: Cell<bool>,
}

/// See the module's text.
#[derive(Default)]
pub(crate) struct Line(RefCell<VecDeque<Rc<Waiter>>>);

/// A request's place in the line, which it leaves when this is dropped.
pub(crate) struct InLine<'l> {
    line: &'l Line,
    waiter: Rc<Waiter>,
}

impl Line {
    /// Requests that wait.
    pub(crate) fn len(&self) -> usize {
        self.0.borrow().len()
    }

    /// Whether a place is on offer that its request has not looked at yet.
    pub(crate) fn has_offer(&self) -> bool {
        self.0.borrow().iter().any(|waiter| waiter.is_offered.get())
    }

    /// Adds a request at the end.
    pub(crate) fn enter(&self) -> InLine<'_> {
        let waiter = Rc::new(Waiter::default());
        self.0.borrow_mut().push_back(Rc::clone(&waiter));
        InLine { line: self, waiter }
    }

    /// Offers a free place to the first request.
    pub(crate) fn offer(&self) {
        self.offer_from(0);
    }

    /// Offers places to all requests: more than one may be free.
    pub(crate) fn offer_all(&self) {
        self.0.borrow().iter().for_each(|waiter| waiter.offer());
    }

    /// Offers a free place to the first request from this position on that has no offer yet.
    fn offer_from(&self, position: usize) {
        let line = self.0.borrow();
        if let Some(waiter) = line.iter().skip(position).find(|waiter| !waiter.is_offered.get()) {
            waiter.offer();
        }
    }
}

impl Waiter {
    fn offer(&self) {
        self.is_offered.set(true);
        self.signal.set();
    }
}

impl InLine<'_> {
    /// Waits for an offer. Then the request must call [`InLine::accept`] or [`InLine::pass_on`], or leave.
    pub(crate) async fn offered(&self) {
        self.waiter.signal.wait().await;
    }

    /// Notes that the request has taken the place.
    pub(crate) fn accept(&self) {
        self.waiter.is_offered.set(false);
    }

    /// Passes the offer on to those behind, if there is one.
    pub(crate) fn pass_on(&self) {
        if !self.waiter.is_offered.get() {
            return;
        }
        let position = self.line.0.borrow().iter().position(|waiter| Rc::ptr_eq(waiter, &self.waiter));
        self.line.offer_from(position.map_or(0, |position| position + 1));
        self.waiter.is_offered.set(false);
    }
}

impl Drop for InLine<'_> {
    fn drop(&mut self) {
        self.pass_on();
        self.line.0.borrow_mut().retain(|other| !Rc::ptr_eq(other, &self.waiter));
    }
}
