//! Slots as they come back from requests, the streams that left theirs, and the progress that this is.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::time::Duration;

use sluice_catalog::errors::Code;
use sluice_dispatch::{ByteEvidence, Cause, Event as ExchangeEvent, Judgement};
use sluice_http1::HeadLimits;
use sluice_journal::{Event as Happening, Level};
use sluice_observe::Observer;
use sluice_scheduler::{Event, RequestId, WorkerId};
use tokio::time::Instant;

use super::dispatch::Dispatch;
use super::quarantined::QuarantineWard;
use super::retry::Retries;
use super::warm_ups::WarmUps;
use crate::upstream::{Lease, LostLease, SlotOwner, Slots, StreamCounts, StreamLease, Wire, WorkerRequest};
use sluice_wire::ids::to_usize;

/// See the module's text.
pub struct SlotReturns {
    /// Reference to itself, for streams and judgements.
    me: Weak<SlotReturns>,
    dispatch: Rc<Dispatch>,
    quarantine: Rc<QuarantineWard>,
    /// Requests whose worker has died.
    pub retries: Retries,
    warm_ups: Rc<WarmUps>,
    streams: Cell<u64>,
    streams_total: Cell<u64>,
    last_progress: Cell<Option<Instant>>,
}

impl SlotReturns {
    pub(super) fn new(dispatch: &Rc<Dispatch>, quarantine: &Rc<QuarantineWard>, warm_ups: &Rc<WarmUps>) -> Rc<Self> {
        Rc::new_cyclic(|me| SlotReturns {
            me: Weak::clone(me),
            dispatch: Rc::clone(dispatch),
            quarantine: Rc::clone(quarantine),
            retries: Retries::new(dispatch, quarantine),
            warm_ups: Rc::clone(warm_ups),
            streams: Cell::new(0),
            streams_total: Cell::new(0),
            last_progress: Cell::new(None),
        })
    }

    fn rc(&self) -> Rc<Self> {
        self.me.upgrade().expect("whoever calls it holds it")
    }

    /// Handles leases that were lost: a panic of the task that carried a request out. Its slot ends with the worker.
    pub(super) fn take_lost(&self) {
        while let Some(LostLease { worker, request, place }) = self.dispatch.slots.next_lost() {
            let text = format!(
                "a slot of worker {} was lost to a fault in the gateway, at {place}; the worker is replaced",
                worker.0
            );
            self.observer().emit(Happening::Note { level: Level::Error, text: &text });
            if let Some(exchange) = self.dispatch.requests.held(request) {
                exchange.answer.fail(Code::GatewayFailed);
                self.dispatch.requests.answered(request, Instant::now());
            }
            self.dispatch.slots.ends_for(worker, Cause::Gateway);
            self.give_up_worker(worker);
        }
    }

    /// Time at which a worker last finished a request.
    pub(super) fn last_progress(&self) -> Option<Instant> {
        self.last_progress.get()
    }

    /// Whether no request has ended for longer than a request may wait.
    pub(super) fn is_stalled(&self) -> bool {
        let limit = Duration::from_millis(self.dispatch.road.config().queue.wait_ms_max);
        let busy_since = self.dispatch.requests.oldest_begun().unwrap_or_else(Instant::now);
        let moved = self.last_progress.get().map_or(busy_since, |progress| progress.max(busy_since));
        moved.elapsed() > limit
    }

    /// Workers that hold requests, if nobody waits for any request: the clients have left, or have had an answer. Empty
    /// while a request waits in the queue, or while a worker holds one with a client.
    pub fn workers_for_nobody(&self) -> BTreeSet<WorkerId> {
        if self.dispatch.scheduler.read(|scheduler| scheduler.queue_length() > 0) {
            return BTreeSet::new();
        }
        let mut workers = BTreeSet::new();
        for request in self.dispatch.requests.in_slots() {
            match request.answer.facts.worker.get() {
                Some(worker) if request.is_for_nobody() == Some(true) => drop(workers.insert(worker)),
                _ => return BTreeSet::new(),
            }
        }
        workers
    }

    /// Upgraded connections and event streams of workers.
    pub fn stream_count(&self) -> u64 {
        self.streams.get()
    }

    /// Upgraded connections and event streams since the start.
    pub fn streams_total(&self) -> u64 {
        self.streams_total.get()
    }
}

impl SlotOwner for SlotReturns {
    fn undelivered(&self, lease: Lease, request: &Rc<WorkerRequest>) {
        self.dispatch.undelivered(lease, request);
    }

    fn returned(&self, lease: Lease, request: &Rc<WorkerRequest>) {
        self.dispatch.returned(lease, request);
    }

    fn pass_to(
        &self,
        slots: &Rc<Slots>,
        mut lease: Lease,
        passed: &Rc<WorkerRequest>,
        by: RequestId,
        wire: Option<Wire>,
    ) {
        let (dispatch, worker, request) = (&self.dispatch, lease.worker, passed.request);
        if !dispatch.scheduler.is_there(worker) {
            // It has exited meanwhile, and its slots with it.
            return dispatch.returned(lease, passed);
        }
        let Some(unended) = dispatch.requests.unreported(worker, by) else {
            // It has ended meanwhile.
            return dispatch.returned(lease, passed);
        };
        let is_queued = dispatch.put_back(passed);
        lease.pass_to(by);
        dispatch.tell(Event::Occupied { worker, request, by });
        if !is_queued {
            dispatch.tell(Event::Left { request });
        }
        slots.give_again(lease, unended, wire);
    }

    /// The lease ends last, so that a fault on the way loses no slot.
    fn finished(&self, lease: Lease, now: Instant) {
        let (worker, request) = (lease.worker, lease.request);
        self.last_progress.set(Some(now));
        self.dispatch.requests.answered(request, now);
        self.dispatch.tell_at(now, Event::Finished { worker, request });
        lease.end();
    }

    fn proven(&self, request: &Rc<WorkerRequest>) {
        self.quarantine.proven(request);
    }

    /// The lease ends last, as in `finished`.
    fn detached(&self, lease: Lease) -> StreamLease {
        let (worker, request) = (lease.worker, lease.request);
        let now = Instant::now();
        self.last_progress.set(Some(now));
        self.streams.set(self.streams.get() + 1);
        self.streams_total.set(self.streams_total.get() + 1);
        if let Some(exchange) = self.dispatch.requests.held(request) {
            exchange.account.finish(now);
        }
        self.dispatch.tell_at(now, Event::Detached { worker, request });
        lease.end();
        StreamLease::new(self.rc(), worker, request)
    }

    fn judge(
        &self,
        request: &Rc<WorkerRequest>,
        seen: ByteEvidence,
        cause: Cause,
    ) -> Pin<Box<dyn Future<Output = Judgement>>> {
        let (returns, request) = (self.rc(), Rc::clone(request));
        Box::pin(async move { returns.retries.judge(&request, seen, cause).await })
    }

    fn retry(&self, lease: Lease, request: &Rc<WorkerRequest>, was_sent: bool, is_suspect: bool) {
        self.retries.retry(lease, request, was_sent, is_suspect);
    }

    fn bury(&self, lease: Lease, request: &Rc<WorkerRequest>) {
        self.retries.bury(lease, request);
    }

    fn withdraw(&self, worker: WorkerId, numbers: &[u64]) {
        self.dispatch.slots.withdraw(worker, numbers);
    }

    /// The worker gets no more requests (I4), and is replaced.
    fn give_up_worker(&self, worker: WorkerId) {
        let is_news = self.dispatch.slots.of(worker).is_some_and(|slots| slots.dies());
        if is_news {
            for request in self.dispatch.requests.of(worker) {
                request.tell(ExchangeEvent::Dying);
            }
        }
        self.warm_ups.note_broken(worker);
        self.dispatch.tell(Event::Faulted { worker });
    }

    fn head_limits(&self) -> HeadLimits {
        let config = self.dispatch.road.config();
        let bounds = &config.bounds;
        HeadLimits {
            request_line_bytes_max: 8192,
            headers_bytes_max: to_usize(bounds.response_headers_bytes_max),
            headers_count_max: to_usize(bounds.response_headers_count_max),
        }
    }

    fn observer(&self) -> &Observer {
        &self.dispatch.road.observer
    }
}

impl StreamCounts for SlotReturns {
    fn stream_ended(&self, worker: WorkerId, request: RequestId) {
        self.streams.set(self.streams.get().saturating_sub(1));
        self.dispatch.requests.answered(request, Instant::now());
        self.dispatch.tell(Event::StreamEnded { worker });
    }
}
