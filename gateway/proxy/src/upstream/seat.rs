//! The place in a client's task for the request that this client waits for. The task carries it out itself, in the same turn in which it
//! writes the answer. A slow client or a disk blocks nothing (I2): the request is carried on while the task waits for them.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use super::driver::Driver;

/// See the module's text. One a client's connection.
#[derive(Default)]
pub(crate) struct Seat {
    /// Driver that is being polled. It stays in place meanwhile: moving it costs more than the rest of the poll.
    driver: RefCell<Option<Driver>>,
    /// Driver of the request's retry, which arrived while the first one was polled.
    next: RefCell<Option<Driver>>,
    /// Waker of the task, while it waits.
    waker: RefCell<Option<Waker>>,
    is_attended: Cell<bool>,
    has_new: Cell<bool>,
}

impl Seat {
    /// Carries the request out, in the client's task if that is there.
    pub(super) fn take(seat: Option<&Rc<Self>>, driver: Driver) {
        match seat {
            Some(seat) if seat.is_attended.get() => seat.put(driver),
            _ => drop(tokio::task::spawn_local(driver)),
        }
    }

    fn put(&self, driver: Driver) {
        self.has_new.set(true);
        let Ok(mut place) = self.driver.try_borrow_mut() else {
            self.next.replace(Some(driver));
            return;
        };
        if place.is_some() {
            // The client asks twice within one request, and the first answer is not read to its end.
            drop(tokio::task::spawn_local(driver));
            return;
        }
        *place = Some(driver);
        drop(place);
        // In the turn of another task: its bytes leave when this one has its turn, together with those of other requests. Written at
        // once, they wake a worker for each, and the gateway's loop after each answer.
        if let Some(waker) = &*self.waker.borrow() {
            waker.wake_by_ref();
        }
    }
}

impl sluice_wire::front::seat::Seat for Seat {
    fn attend(&self) {
        self.is_attended.set(true);
    }

    /// Polls the driver. A panic ends the driver, not the client's task: the lost lease reports it.
    fn poll(&self, cx: &mut Context<'_>) {
        loop {
            self.has_new.set(false);
            let is_over = {
                let mut place = self.driver.borrow_mut();
                let Some(driver) = place.as_mut() else { return };
                let polled = catch_unwind(AssertUnwindSafe(|| Pin::new(driver).poll(cx)));
                !matches!(polled, Ok(Poll::Pending))
            };
            if !is_over {
                if let Some(next) = self.next.take() {
                    tokio::task::spawn_local(next);
                }
                return;
            }
            // Dropped outside of the borrow: it may tell the gate, which may give this client's request to the next worker.
            let ended = self.driver.replace(self.next.take());
            drop(ended);
        }
    }

    fn has_new(&self) -> bool {
        self.has_new.get()
    }

    fn set_waker(&self, waker: Option<Waker>) {
        self.waker.replace(waker);
    }

    /// Moves the driver to a task of its own.
    fn leave(&self) {
        self.is_attended.set(false);
        self.waker.replace(None);
        let left = self.driver.try_borrow_mut().ok().and_then(|mut place| place.take());
        for driver in left.into_iter().chain(self.next.take()) {
            tokio::task::spawn_local(driver);
        }
    }

    fn as_any(self: Rc<Self>) -> Rc<dyn Any> {
        self
    }
}
