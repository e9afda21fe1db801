//! The open connections, counted, and told when the gateway drains.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use slab::Slab;

use crate::signal::Signal;

/// Every open client connection, so that a drain can end the idle ones.
#[derive(Default)]
pub(crate) struct ConnectionHandles {
    open: RefCell<Slab<Rc<Signal>>>,
    total: Cell<u64>,
}

impl ConnectionHandles {
    pub(crate) fn len(&self) -> usize {
        self.open.borrow().len()
    }

    pub(crate) fn total(&self) -> u64 {
        self.total.get()
    }

    pub(crate) fn add(&self) -> (usize, Rc<Signal>) {
        let signal = Rc::new(Signal::default());
        self.total.set(self.total.get() + 1);
        (self.open.borrow_mut().insert(Rc::clone(&signal)), signal)
    }

    pub(crate) fn remove(&self, key: usize) {
        self.open.borrow_mut().try_remove(key);
    }

    pub(crate) fn close_idle(&self) {
        for (_, draining) in self.open.borrow().iter() {
            draining.set();
        }
    }
}
