//! One request between its front and the core: the core gives one order at a time, the front says what came of it, and either learns
//! when the other has left. At most one order and one reply wait here, so neither side can flood the other.

use std::cell::Cell;
use std::future::poll_fn;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use super::words::{Departed, Order, Reply};

/// The core's end. Dropped, it tells the front that nothing follows.
pub(crate) struct CoreEnd(Arc<Link>);

/// The front's end. Dropped, it tells the core that the client has gone.
pub(crate) struct FrontEnd(Arc<Link>);

#[derive(Default)]
struct Link(Mutex<State>);

#[derive(Default)]
struct State {
    order: Option<Order>,
    reply: Option<Reply>,
    /// News of the client's leaving that the core has not had.
    departed: Option<Departed>,
    core: Side,
    front: Side,
}

#[derive(Default)]
struct Side {
    waker: Option<Waker>,
    has_left: bool,
}

impl Side {
    fn wait(&mut self, cx: &Context<'_>) {
        if !self.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            self.waker = Some(cx.waker().clone());
        }
    }
}

impl Link {
    fn look(&self) -> MutexGuard<'_, State> {
        // What a panic has left is whole: nothing is done here that could panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, and wakes who is named once the state is free again.
    fn change(&self, change: impl FnOnce(&mut State), waker_of: fn(&mut State) -> &mut Side) {
        let waker = {
            let mut state = self.look();
            change(&mut state);
            waker_of(&mut state).waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn change_for_core(&self, change: impl FnOnce(&mut State)) {
        self.change(change, |state| &mut state.core);
    }

    fn change_for_front(&self, change: impl FnOnce(&mut State)) {
        self.change(change, |state| &mut state.front);
    }
}

pub(crate) fn link() -> (CoreEnd, FrontEnd) {
    let link = Arc::<Link>::default();
    (CoreEnd(Arc::clone(&link)), FrontEnd(link))
}

impl CoreEnd {
    /// Gives the order. The one before it was replied to, or needs no reply.
    pub(super) fn order(&self, order: Order) {
        self.0.change_for_front(|state| state.order = Some(order));
    }

    /// The reply to the latest order, or `None` where the front has left without one.
    pub(super) async fn reply(&self) -> Option<Reply> {
        poll_fn(|cx| {
            let mut state = self.0.look();
            if let Some(reply) = state.reply.take() {
                return Poll::Ready(Some(reply));
            }
            if state.front.has_left {
                return Poll::Ready(None);
            }
            state.core.wait(cx);
            Poll::Pending
        })
        .await
    }

    /// Ready with each step of the client's leaving.
    pub(super) fn poll_departed(&self, cx: &Context<'_>) -> Poll<Departed> {
        let mut state = self.0.look();
        if state.front.has_left {
            return Poll::Ready(Departed::Gone);
        }
        if let Some(departed) = state.departed.take() {
            return Poll::Ready(departed);
        }
        state.core.wait(cx);
        Poll::Pending
    }
}

impl Drop for CoreEnd {
    fn drop(&mut self) {
        self.0.change_for_front(|state| {
            state.core.has_left = true;
            // Nothing else says that the answer is not whole.
            if std::thread::panicking() {
                state.order = Some(Order::BreakOff);
            }
        });
    }
}

impl FrontEnd {
    /// The next order, or `None` where none follows.
    pub(super) async fn order(&self) -> Option<Order> {
        poll_fn(|cx| {
            let mut state = self.0.look();
            if let Some(order) = state.order.take() {
                return Poll::Ready(Some(order));
            }
            if state.core.has_left {
                return Poll::Ready(None);
            }
            state.front.wait(cx);
            Poll::Pending
        })
        .await
    }

    pub(super) fn reply(&self, reply: Reply) {
        self.0.change_for_core(|state| state.reply = Some(reply));
    }

    pub(super) fn departed(&self, departed: Departed) {
        self.0.change_for_core(|state| state.departed = Some(departed));
    }

    /// Waits until the core ends what it let go on.
    pub(crate) async fn closing(&self) {
        while let Some(order) = self.order().await {
            if matches!(order, Order::BreakOff) {
                return;
            }
        }
    }
}

impl Drop for FrontEnd {
    fn drop(&mut self) {
        self.0.change_for_core(|state| state.front.has_left = true);
    }
}

/// The answer of a request, which the core has.
pub(crate) struct AtCore<'e> {
    end: &'e FrontEnd,
    has_framed: Cell<bool>,
}

impl<'e> AtCore<'e> {
    pub(super) fn new(end: &'e FrontEnd, has_framed: bool) -> Self {
        AtCore { end, has_framed: Cell::new(has_framed) }
    }

    /// # Errors
    /// When the core cannot take them.
    pub(crate) async fn set_aside(&self, rest: &[u8]) -> io::Result<()> {
        self.end.reply(Reply::Aside(rest.to_vec()));
        match self.end.order().await {
            Some(Order::Aside(true)) => {
                self.has_framed.set(self.has_framed.get() || !rest.is_empty());
                Ok(())
            }
            _ => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    pub(crate) fn has_framed(&self) -> bool {
        self.has_framed.get()
    }
}

#[cfg(test)]
#[path = "link_tests.rs"]
mod tests;
