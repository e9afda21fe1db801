//! Workers as the road knows them.

use std::pin::Pin;
use std::rc::Rc;

use sluice_classes::{Class, Traits};
use sluice_scheduler::{Load, RequestId};
use sluice_wire::front::exchange::Exchange;
use sluice_wire::front::origin::Origin;
use sluice_wire::front::seat::Seat;
use sluice_wire::receive::body::Body;
use sluice_wire::receive::failure::Failure;
use tokio::time::Instant;

use crate::answers::Response;
use crate::answers::edge::Readiness;
use crate::request::passage::Request;
use crate::respond::SendOutcome;
use crate::sessions::Sessions;

/// An answer on its way. It is a box, so that the road needs no type of the workers' side.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Result<Response, Failure>> + 'a>>;

/// The queue, the workers behind it, and the records of what they did.
pub trait Workers {
    /// Place in a client's task for the request that a worker carries out.
    fn seat(&self) -> Rc<dyn Seat>;
    /// Submits the complete request, and waits for the head of its answer.
    fn fetch<'a>(
        &'a self,
        exchange: &'a mut Exchange<'_>,
        origin: &'a Origin,
        request: &'a mut Request,
        body: Body,
    ) -> Answering<'a>;
    /// Adds the fields for this client alone to the head of a worker's answer.
    fn dress(&self, request: &Request, response: &mut Response);
    /// Class of a request.
    fn classify(&self, traits: &Traits<'_>) -> Class;
    /// Name of the class of a request, if there is one already.
    fn known_class(&self, traits: &Traits<'_>) -> Option<Rc<str>>;
    /// Sessions of clients, and the version that some of them try.
    fn sessions(&self) -> &Sessions;
    /// Load of the workers and the queue.
    fn load(&self) -> Load;
    /// Whether this local port is that of a connection from a worker's app to the gateway.
    fn is_own_call(&self, port: u16) -> bool;
    /// Whether the service makes progress.
    fn readiness(&self) -> Readiness;
    /// Ends a client's request: its record is complete when its worker has reported it.
    fn record(&self, ended: Instant, request: Request, sent: &SendOutcome);
    /// Gives the place of a request up, whose client is gone. No client's record follows unless `is_recorded`.
    fn give_up(&self, request: RequestId, is_recorded: bool);
    /// Tells the operator that the task of a connection has panicked.
    fn connection_lost(&self);
}
