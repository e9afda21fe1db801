//! A worker's slots, with the requests in them, and its idle connections: HTTP/1.1 on its unix socket, one request at a time on each. It
//! must not know clients.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::rc::{Rc, Weak};

use sluice_dispatch::{Cause, Event};
use sluice_journal::Event as Happening;
use sluice_scheduler::{RequestId, WorkerId};
use tokio::time::Instant;

use super::driver::Driver;
use super::given::Counter;
use super::handed::Pipe;
use super::lease::Lease;
use super::owner::SlotOwner;
use super::request::WorkerRequest;
use super::seat::Seat;
use super::wire::Wire;
use sluice_wire::ids::RequestMap;
use sluice_wire::respond::answer::{Departure, Origin as _};

/// An idle connection.
struct Idle {
    wire: Wire,
    /// Latest request on the connection.
    carried: Rc<WorkerRequest>,
}

/// The slots of one worker.
pub(crate) struct Slots {
    pub(super) owner: Weak<dyn SlotOwner>,
    pub(super) worker: WorkerId,
    pub(super) socket: PathBuf,
    /// Pipe with the numbers of requests that the worker was handed ahead.
    pub(super) pipe: RefCell<Option<Pipe>>,
    /// Counter of requests that it is given while it is in a loop that lets others in.
    pub(super) counter: RefCell<Option<Counter>>,
    /// Heads of answers carry the tokens of their requests.
    pub(super) marks: bool,
    /// The app writes to connections itself, so each may carry one request only.
    pub(crate) is_raw: Cell<bool>,
    pub(crate) finished_total: Cell<u64>,
    held: RefCell<RequestMap<Rc<WorkerRequest>>>,
    idle: RefCell<Vec<Idle>>,
    /// Number of times that the worker has listened anew; older connections are dead.
    era: Cell<u32>,
    is_closed: Cell<bool>,
    /// The process that serves has gone, or the gateway has given the worker up.
    pub(crate) is_dying: Cell<bool>,
    /// Cause recorded if the worker exits now.
    cause: Cell<Cause>,
}

impl Slots {
    pub(crate) fn new(owner: Weak<dyn SlotOwner>, worker: WorkerId, socket: PathBuf, marks: bool) -> Rc<Self> {
        Rc::new(Slots {
            owner,
            worker,
            socket,
            pipe: RefCell::default(),
            counter: RefCell::default(),
            marks,
            is_raw: Cell::new(false),
            finished_total: Cell::new(0),
            held: RefCell::default(),
            idle: RefCell::default(),
            era: Cell::new(0),
            is_closed: Cell::new(false),
            is_dying: Cell::new(false),
            cause: Cell::new(Cause::Own),
        })
    }

    /// Gives a request to a slot, which the scheduler has found to be free.
    pub(crate) fn give(
        self: &Rc<Self>,
        at: Instant,
        lease: Lease,
        request: Rc<WorkerRequest>,
        is_ahead: bool,
        slots_max: u32,
    ) {
        self.note_given();
        if self.held.borrow().len() >= self.connections_max(slots_max)
            && let Some(owner) = self.owner.upgrade()
        {
            // Counted where requests really go out, apart from the scheduler's own account. It is a bug if it happens.
            owner.observer().emit(Happening::OverlapSeen { worker: self.worker.0, count: 1 });
        }
        self.hold(&request);
        // An app may count what was written to an upgrade's connection.
        let wire = if request.message.is_upgrade { None } else { self.take_idle() };
        request.tell_at(at, Event::Assigned { is_ahead, is_reused: wire.is_some() });
        if self.is_dying.get() {
            request.tell_at(at, Event::Dying);
        }
        if request.answer.departure() == Departure::Half {
            // Its client had closed its side before the request had a worker, or while it had another.
            request.client_half_closed();
        }
        let seat = request.seat.clone().and_then(|seat| seat.as_any().downcast::<Seat>().ok());
        Seat::take(seat.as_ref(), Driver::new(Rc::clone(self), request, lease, wire));
    }

    /// Gives the slot back to the request, although its answer was read completely.
    pub(crate) fn give_again(self: &Rc<Self>, lease: Lease, request: Rc<WorkerRequest>, wire: Option<Wire>) {
        self.hold(&request);
        request.is_answered.set(false);
        request.tell(Event::StillOpen);
        Seat::take(None, Driver::new(Rc::clone(self), request, lease, wire));
    }

    fn hold(&self, request: &Rc<WorkerRequest>) {
        self.held.borrow_mut().insert(request.request, Rc::clone(request));
    }

    /// Removes the request from its slot.
    pub(super) fn free(&self, request: RequestId) {
        self.held.borrow_mut().remove(&request);
    }

    /// Requests in the slots for which `is_meant` is true.
    pub(crate) fn held(&self, is_meant: impl Fn(&WorkerRequest) -> bool) -> Vec<Rc<WorkerRequest>> {
        self.held.borrow().values().filter(|request| is_meant(request)).cloned().collect()
    }

    fn take_idle(&self) -> Option<Wire> {
        let mut idle = self.idle.borrow_mut();
        if self.is_raw.get() {
            idle.clear();
        }
        loop {
            // Late bytes of a request that is answered and not ended then meet a connection that nobody uses.
            let clean = idle.iter().rposition(|idle| idle.carried.is_reported());
            let at = clean.or_else(|| idle.len().checked_sub(1))?;
            let mut found = idle.swap_remove(at);
            if found.wire.is_quiet() {
                return Some(found.wire);
            }
        }
    }

    /// Closes idle connections that their worker has closed, or on which it sends without a request.
    pub(crate) fn look_after_idle(&self) {
        self.idle.borrow_mut().retain_mut(|idle| idle.wire.is_quiet());
    }

    /// Stores a connection for another request.
    pub(super) fn keep(&self, wire: Wire, era: u32, carried: &Rc<WorkerRequest>) {
        // Without marks, bytes that an app sends late would be taken for the next request's answer.
        if self.marks && !self.is_raw.get() && !self.is_closed.get() && era == self.era.get() {
            self.idle.borrow_mut().push(Idle { wire, carried: Rc::clone(carried) });
        }
    }

    pub(super) fn era(&self) -> u32 {
        self.era.get()
    }

    /// Closes the slots of a worker that is gone. Returns the numbers of requests that it was handed and the app has not seen.
    pub(crate) fn close(&self) -> Vec<u64> {
        self.is_closed.set(true);
        self.idle.borrow_mut().clear();
        self.take_unseen()
    }

    /// Marks the worker as dying: the process that serves has gone, or the gateway gives it up. Returns whether that is news.
    pub(crate) fn dies(&self) -> bool {
        !self.is_dying.replace(true)
    }

    /// Records the cause for which the gateway is about to end the worker. The cause that it was stuck is never replaced.
    pub(crate) fn ends_for(&self, cause: Cause) {
        if self.cause.get() != Cause::Stuck {
            self.cause.set(cause);
        }
    }

    /// Cause recorded for the worker's end, if the gateway has to do with it.
    pub(crate) fn cause(&self) -> Cause {
        self.cause.get()
    }

    /// Records that the worker listens with another server now.
    pub(crate) fn renew(&self) {
        self.era.set(self.era.get() + 1);
        self.idle.borrow_mut().clear();
    }
}
