//! The owner of a worker's slots gets each slot back, and learns the end of the request in it.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use sluice_dispatch::{ByteEvidence, Cause, Judgement};
use sluice_http1::HeadLimits;
use sluice_observe::Observer;
use sluice_scheduler::{RequestId, WorkerId};
use tokio::time::Instant;

use super::lease::{Lease, StreamLease};
use super::request::WorkerRequest;
use super::slots::Slots;
use super::wire::Wire;

/// See the module's text. Each way to end a request gives its lease back.
pub(crate) trait SlotOwner {
    /// Puts a request that the worker never saw back into its old place in the queue.
    fn undelivered(&self, lease: Lease, request: &Rc<WorkerRequest>);
    /// Puts a request that the app never saw back into its old place in the queue, and frees its slot.
    fn returned(&self, lease: Lease, request: &Rc<WorkerRequest>);
    /// Gives the slot of `passed`, which the worker returned before the app saw it, to the request `by`.
    fn pass_to(&self, slots: &Rc<Slots>, lease: Lease, passed: &Rc<WorkerRequest>, by: RequestId, wire: Option<Wire>);
    /// Frees the slot of a request that the worker has finished.
    fn finished(&self, lease: Lease, now: Instant);
    /// Records that a worker has answered the request completely.
    fn proven(&self, request: &Rc<WorkerRequest>);
    /// Frees the slot of an upgrade or event stream.
    fn detached(&self, lease: Lease) -> StreamLease;
    /// Facts that the rules of I5 need about a request whose worker has exited.
    fn judge(
        &self,
        request: &Rc<WorkerRequest>,
        seen: ByteEvidence,
        cause: Cause,
    ) -> Pin<Box<dyn Future<Output = Judgement>>>;
    /// Puts a request whose slot went with its worker back into its old place in the queue.
    fn retry(&self, lease: Lease, request: &Rc<WorkerRequest>, was_sent: bool, is_suspect: bool);
    /// Ends a request whose slot went with its worker.
    fn bury(&self, lease: Lease, request: &Rc<WorkerRequest>);
    /// Takes back the requests with these numbers, which the app will never see.
    fn withdraw(&self, worker: WorkerId, numbers: &[u64]);
    /// Gives up a worker that is dying, or that keeps a slot which nothing will free.
    fn give_up_worker(&self, worker: WorkerId);
    /// Bounds of a response's head.
    fn head_limits(&self) -> HeadLimits;
    /// Observer, which gets all events for the operator.
    fn observer(&self) -> &Observer;
}
