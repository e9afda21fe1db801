//! One slot of a worker as its task sees it: the next job, and what wakes the task.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use sluice_scheduler::RequestId;

use super::wire::Wire;
use super::{Exchange, Job};
use crate::signal::Signal;

/// One slot's mailbox; its task takes jobs out of it.
#[derive(Default)]
pub(super) struct Slot {
    pub(super) job: RefCell<Option<(Job, Rc<Exchange>)>>,
    pub(super) is_busy: Cell<bool>,
    /// The request that it was given last.
    pub(super) held: Cell<Option<RequestId>>,
    /// The latest request on the connection that it keeps, where it keeps one.
    pub(super) carried: Cell<Option<RequestId>>,
    pub(super) changed: Signal,
}

#[derive(PartialEq, Eq)]
pub(super) enum Idle {
    Woken,
    Disturbed,
}

impl Slot {
    /// Waits for a job, or until the idle connection is disturbed.
    pub(super) async fn wait(&self, wire: Option<&mut Wire>) -> Idle {
        let Some(wire) = wire else {
            self.changed.wait().await;
            return Idle::Woken;
        };
        std::future::poll_fn(|cx| {
            if self.changed.poll(cx).is_ready() {
                return std::task::Poll::Ready(Idle::Woken);
            }
            wire.poll_disturbed(cx).map(|()| Idle::Disturbed)
        })
        .await
    }
}
