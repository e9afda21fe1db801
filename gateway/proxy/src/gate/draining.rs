//! The end of the gateway's service: it is reported as not ready, closes connections, or leaves new ones to another gateway.

use std::cell::Cell;
use std::rc::Rc;

use sluice_journal::Event as Happening;
use sluice_road::Road;

/// Steps of the gateway towards its end.
pub struct Draining {
    leaving: Cell<bool>,
    road: Rc<Road>,
}

impl Draining {
    pub(super) fn new(road: &Rc<Road>) -> Self {
        Draining { leaving: Cell::new(false), road: Rc::clone(road) }
    }

    /// Reports the gateway as not ready from now on, while it still serves all requests.
    pub fn leave_soon(&self, reason: &str) {
        if !self.leaving.replace(true) {
            self.road.observer.emit(Happening::Draining { reason });
        }
    }

    /// Whether the gateway is about to end.
    pub fn is_leaving(&self) -> bool {
        self.leaving.get()
    }

    /// Closes connections after their request from now on, and reports the gateway as not ready.
    pub fn drain(&self, reason: &str) {
        self.leave_soon(reason);
        if self.road.lobby.drain() {
            self.road.lobby.connections.close_idle();
        }
    }

    /// Leaves new connections to another gateway from now on. Open connections are closed with the answer to their next
    /// request, not before: a client may be sending on an idle one at that moment. [`Draining::close_idle`] ends the
    /// waiting.
    pub fn hand_over(&self, reason: &str) {
        self.road.lobby.set_handed_over(true);
        self.road.observer.tails.hand_over();
        if self.road.lobby.drain() {
            self.road.observer.emit(Happening::Draining { reason });
        }
    }

    /// Closes connections without a request. It is called after [`Draining::hand_over`].
    pub fn close_idle(&self) {
        self.road.lobby.set_handed_over(false);
        self.road.lobby.connections.close_idle();
    }

    /// Whether [`Draining::drain`] or [`Draining::hand_over`] was called.
    pub fn is_draining(&self) -> bool {
        self.road.lobby.is_draining()
    }

    /// Whether the service is no longer ready because it ends. After a handover it is as ready as it was.
    pub(super) fn is_ending(&self) -> bool {
        (self.is_leaving() || self.is_draining()) && !self.road.lobby.is_handed_over()
    }
}
