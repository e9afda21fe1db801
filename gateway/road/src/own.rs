//! Requests of the gateway's own. They warm a worker, whose answer is read and thrown away. They fetch a page for many clients or for
//! later, or a part of a page that is being composed, or a page of a version for a comparison.

use std::any::Any;
use std::io;
use std::pin::Pin;
use std::rc::Rc;

use sluice_message::{RequestHead, ResponseHead};
use sluice_scheduler::{Home, WorkerId};

use crate::cache::flight::Flight;
use crate::respond::compose::part::IncludeRequest;
use sluice_wire::front::exchange::Exchange;

/// Maximum size of an answer, bytes. The rest is thrown away unread, as is an answer that never ends.
pub(crate) const ANSWER_BYTES_MAX: usize = 1024 * 1024;
/// Bytes that are read at once.
const ROOM_BYTES: usize = 64 * 1024;

/// A request of the gateway's own.
pub struct Own {
    head: RequestHead,
    read_bytes: usize,
    purpose: Purpose,
}

/// Purpose of a request.
enum Purpose {
    /// Warm-up of this worker, which has to answer; all other purposes take any worker, in their turn.
    WarmUp(WorkerId),
    /// Page for all clients that wait for it.
    ForMany(Rc<Flight>),
    /// Page for the gateway, which stores the answer.
    ForItself,
    /// Include in a page.
    Include(Rc<IncludeRequest>),
    /// Page of the version whose workers are at this home.
    Shadow(Home),
}

/// A request for a worker that no client waits for, and that is in no statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Errand {
    /// Warm-up of this worker, past the queue.
    WarmUp(WorkerId),
    /// Page for a comparison, by a worker of this home.
    Shadow(Home),
}

impl Own {
    /// Warm-up of this worker.
    pub fn warm_up(head: RequestHead, worker: WorkerId) -> Self {
        Own { head, read_bytes: 0, purpose: Purpose::WarmUp(worker) }
    }

    pub(crate) fn for_many(head: RequestHead, flight: &Rc<Flight>) -> Self {
        Own { head, read_bytes: 0, purpose: Purpose::ForMany(Rc::clone(flight)) }
    }

    pub(crate) fn include(head: RequestHead, wanted: &Rc<IncludeRequest>) -> Self {
        Own { head, read_bytes: 0, purpose: Purpose::Include(Rc::clone(wanted)) }
    }

    /// Page of the version whose workers are at this home, for a comparison.
    pub fn shadow(head: RequestHead, home: Home) -> Self {
        Own { head, read_bytes: 0, purpose: Purpose::Shadow(home) }
    }

    /// The errand that no client waits for, if it is one.
    pub fn errand(&self) -> Option<Errand> {
        match self.purpose {
            Purpose::WarmUp(worker) => Some(Errand::WarmUp(worker)),
            Purpose::Shadow(home) => Some(Errand::Shadow(home)),
            Purpose::ForMany(_) | Purpose::ForItself | Purpose::Include(_) => None,
        }
    }

    pub(crate) fn wanted(&self) -> Option<&Rc<IncludeRequest>> {
        if let Purpose::Include(wanted) = &self.purpose { Some(wanted) } else { None }
    }

    pub(crate) fn for_itself(head: RequestHead) -> Self {
        Own { head, read_bytes: 0, purpose: Purpose::ForItself }
    }

    /// The gateway's own request that an exchange carries out, if it is one.
    pub fn of<'e>(exchange: &'e Exchange<'_>) -> Option<&'e Self> {
        exchange.own()?.as_any().downcast_ref()
    }
}

impl sluice_wire::front::own::Own for Own {
    fn head(&self) -> &RequestHead {
        &self.head
    }

    fn is_part(&self) -> bool {
        self.wanted().is_some()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn inform(&self, head: &ResponseHead) {
        if let Purpose::ForMany(flight) = &self.purpose {
            flight.inform(head);
        }
    }

    fn begin(&self, head: &ResponseHead) {
        if let Purpose::Include(wanted) = &self.purpose {
            wanted.begin(head);
        }
    }

    fn room(&self) -> usize {
        match &self.purpose {
            Purpose::Include(_) => ROOM_BYTES,
            _ => ROOM_BYTES.min((ANSWER_BYTES_MAX + 1).saturating_sub(self.read_bytes)),
        }
    }

    fn read(&mut self, data: &[u8]) {
        match &self.purpose {
            Purpose::Include(wanted) => wanted.take(data),
            _ => self.read_bytes += data.len(),
        }
    }

    fn break_off(&self) {
        if let Purpose::Include(wanted) = &self.purpose {
            wanted.break_off();
        }
    }

    /// # Errors
    /// Fails if enough was read, or if no page waits for the rest.
    fn check(&self) -> io::Result<()> {
        let is_enough = match &self.purpose {
            Purpose::Include(wanted) => wanted.is_over(),
            _ => self.read_bytes > ANSWER_BYTES_MAX,
        };
        if is_enough { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(()) }
    }

    fn unwanted(&self) -> Pin<Box<dyn Future<Output = ()> + '_>> {
        match &self.purpose {
            Purpose::WarmUp(_) | Purpose::ForItself | Purpose::Shadow(_) => Box::pin(std::future::pending()),
            Purpose::ForMany(flight) => Box::pin(flight.unwanted()),
            Purpose::Include(wanted) => Box::pin(wanted.unwanted()),
        }
    }
}
