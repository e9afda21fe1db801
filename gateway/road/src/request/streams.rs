//! Counts of the upgraded connections and event streams of upstreams. Those of workers are counted where their slots are.

use std::cell::Cell;
use std::rc::Rc;

/// See the module's text.
#[derive(Default)]
pub struct StreamCounts {
    open: Cell<u64>,
    total: Cell<u64>,
}

/// An open stream; it is over when this is dropped.
pub(crate) struct OpenStream(Rc<StreamCounts>);

impl StreamCounts {
    pub(crate) fn begin(self: &Rc<Self>) -> OpenStream {
        self.open.update(|count| count + 1);
        self.total.update(|count| count + 1);
        OpenStream(Rc::clone(self))
    }

    /// Streams that are open.
    pub fn open(&self) -> u64 {
        self.open.get()
    }

    /// Streams since the start.
    pub fn total(&self) -> u64 {
        self.total.get()
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.0.open.update(|count| count.saturating_sub(1));
    }
}
