//! The place in a client's task for the work that this client waits for. The task carries the work out itself, in the same turn in which
//! it writes the answer. A slow client or a disk blocks nothing (I2): the work continues while the task waits for them.

use std::any::Any;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Waker};

/// Work that a client's task carries out beside its own. One a client's connection.
pub trait Seat {
    /// The client's task is there, and polls the work from now on.
    fn attend(&self);
    /// Polls the work.
    fn poll(&self, cx: &mut Context<'_>);
    /// Whether work has come since the last poll.
    fn has_new(&self) -> bool;
    /// Sets the waker of the task, while it waits.
    fn set_waker(&self, waker: Option<Waker>);
    /// The client's task goes: the work needs another one.
    fn leave(&self);
    /// The seat as a value of its own type, for the code that gives it work.
    fn as_any(self: Rc<Self>) -> Rc<dyn Any>;
}

/// Runs a task of the client, and beside it the work that the task waits for.
pub(crate) async fn attend<F: Future + Unpin>(seat: &dyn Seat, mut task: F) -> F::Output {
    seat.attend();
    let _leaving = Leaving(seat);
    std::future::poll_fn(|cx| {
        seat.set_waker(None);
        seat.poll(cx);
        let polled = Pin::new(&mut task).poll(cx);
        if polled.is_pending() {
            if seat.has_new() {
                seat.poll(cx);
            }
            seat.set_waker(Some(cx.waker().clone()));
        }
        polled
    })
    .await
}

/// Guard that takes the work from the client's task when that stops waiting.
struct Leaving<'s>(&'s dyn Seat);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.leave();
    }
}
