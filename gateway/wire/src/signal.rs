//! Wakes the one task that waits for an event, on one thread: no lock, no allocation.

use std::cell::{Cell, RefCell};
use std::task::{Context, Poll, Waker};

/// Event that is set from any place on the thread and awaited by one task. A set without a waiting task is stored until
/// the next wait.
#[derive(Default)]
pub struct Signal {
    set: Cell<bool>,
    waiting: RefCell<Option<Waker>>,
}

impl Signal {
    /// Wakes the task that waits, now or when it waits next.
    pub fn set(&self) {
        self.set.set(true);
        if let Some(waker) = self.waiting.borrow_mut().take() {
            waker.wake();
        }
    }

    /// Ready once for each time it was set since the last `Ready`.
    pub fn poll(&self, cx: &mut Context<'_>) -> Poll<()> {
        if self.set.replace(false) {
            return Poll::Ready(());
        }
        let mut waiting = self.waiting.borrow_mut();
        if !waiting.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            *waiting = Some(cx.waker().clone());
        }
        Poll::Pending
    }

    /// Waits for the signal.
    pub async fn wait(&self) {
        std::future::poll_fn(|cx| self.poll(cx)).await;
    }
}
