//! A slot whose task has panicked: its request gets an honest error, and its worker is replaced. Nobody else would free it.

use std::rc::Rc;

use sluice_journal::{Event as Happening, Level};

use super::mailbox::Slot;
use super::slots::Slots;
use crate::faults;
use crate::gate::Cause;

impl Slots {
    /// Starts a slot's task, and the one that sees to what it leaves.
    pub(super) fn start_slot(self: &Rc<Self>, slot: &Rc<Slot>) {
        let running = tokio::task::spawn_local(Rc::clone(self).serve_slot(Rc::clone(slot)));
        let (slots, slot) = (Rc::clone(self), Rc::clone(slot));
        tokio::task::spawn_local(async move {
            if running.await.is_err_and(|error| error.is_panic()) {
                slots.lost(&slot);
            }
        });
    }

    /// Whatever the task was at, the app may still hold the request: only the worker's end frees the slot (I1).
    fn lost(&self, slot: &Slot) {
        let Some(gate) = self.gate.upgrade() else { return };
        let worker = self.worker;
        let text = format!(
            "a slot of worker {} was lost to a fault in the gateway, at {}; the worker is replaced",
            worker.0,
            faults::place()
        );
        gate.journal.emit(Happening::Note { level: Level::Error, text: &text });
        slot.job.borrow_mut().take();
        if let Some(request) = slot.held.take() {
            gate.lost(request);
        }
        self.ends_for(Cause::Gateway);
        gate.faulted(worker);
    }
}
