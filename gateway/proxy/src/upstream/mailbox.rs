//! One slot of a worker as its task sees it: the next request, and what wakes the task.

use std::cell::RefCell;
use std::rc::Rc;
use std::task::Poll;

use super::wire::Wire;
use super::{Given, InFlight};
use crate::signal::Signal;

/// One slot's mailbox; its task takes requests out of it.
#[derive(Default)]
pub(super) struct Slot {
    pub(super) given: RefCell<Option<Given>>,
    /// What it is busy with.
    pub(super) holds: RefCell<Option<Rc<InFlight>>>,
    /// The latest request on the connection that it keeps, where it keeps one.
    pub(super) carried: RefCell<Option<Rc<InFlight>>>,
    pub(super) changed: Signal,
}

impl Slot {
    /// It may be given another request.
    pub(super) fn free(&self) {
        self.holds.replace(None);
    }

    /// Waits for a request, or until the idle connection is disturbed. Returns whether it was.
    pub(super) async fn wait(&self, wire: &mut Option<Wire>) -> bool {
        std::future::poll_fn(|cx| match (self.changed.poll(cx), wire.as_mut()) {
            (Poll::Ready(()), _) => Poll::Ready(false),
            (Poll::Pending, Some(wire)) => wire.poll_disturbed(cx).map(|()| true),
            (Poll::Pending, None) => Poll::Pending,
        })
        .await
    }
}
