//! Exchanges that broke, and the wait until the slot behind each is free: the worker has ended the request, or died (I1).
//! A worker that does neither in time is given up.

use std::time::Duration;

use sluice_catalog::errors::Code;
use sluice_journal::{Event as Happening, Level};
use sluice_scheduler::RequestId;

use super::exchange::Fault;
use super::handed::Delivery;
use super::mailbox::Slot;
use super::slots::Slots;
use super::{Given, InFlight, Job};
use crate::gate::{Cause, Gate, Seen};

/// How long an app's hooks may take after a request before its end is reported anyway: `SETTLE_MS_MAX` of the preload.
const HOOKS_MAX: Duration = Duration::from_secs(5);
/// How long a worker that broke off a response may take to report its end.
const CONFIRM_TIMEOUT: Duration = Duration::from_secs(2).saturating_add(HOOKS_MAX);
/// How long the exit of a worker may take to be known after its connection has closed.
pub(crate) const EXIT_TIMEOUT: Duration = Duration::from_millis(200);
/// The same for one whose process is known to have gone, while npm or a shell above it has not.
const DYING_TIMEOUT: Duration = Duration::from_secs(2);
/// How long an app may take to end a response whose connection the gateway has closed.
const CUT_TIMEOUT: Duration = Duration::from_secs(5).saturating_add(HOOKS_MAX);
impl Slots {
    /// The exchange broke, and its connection is closed: waits until the slot is free, or its worker gone.
    pub(super) async fn conclude_broken(&self, gate: &Gate, slot: &Slot, given: Given, fault: Fault) {
        let Given { ref job, ref exchange, .. } = given;
        let mut fault = fault;
        if matches!(fault, Fault::Left) {
            job.answer.leave();
        }
        // From here on its number is not in the pipe: either it is free, or the worker has it and will report its end.
        if !matches!(fault, Fault::Busy { .. }) && self.was_unseen(gate, exchange) {
            return self.give_back(gate, slot, given, Delivery::Unseen).await;
        }
        if matches!(fault, Fault::Left) {
            // It may have waited for another request in the worker when its client left.
            if !self.ended_for_nobody(exchange).await {
                fault = exchange.busy_with.get().map_or(Fault::Cut, |by| Fault::Busy { by });
            }
        }
        if let Fault::Busy { by } = fault
            && !self.closed.get()
        {
            return self.take_back(gate, slot, given, by).await;
        }
        let seen = match fault {
            Fault::Closed(seen) => seen,
            // The preload said that the app has not seen it.
            Fault::Busy { .. } | Fault::Unsent | Fault::Withdrawn => Seen::NOTHING,
            Fault::Malformed(_) | Fault::Foreign | Fault::Short | Fault::Cut | Fault::Left => {
                Seen { sent: true, heard: true, unread: false }
            }
        };
        self.conclude_fault(gate, slot, job, exchange, fault).await;
        slot.free();
        // It may have turned out only now that its worker died, and what of it the app had not seen.
        let was_unseen = self.closed.get() && self.was_unseen(gate, exchange);
        let seen = if was_unseen { Seen::NOTHING } else { seen };
        if self.closed.get() {
            gate.bury(given, seen, self.cause.get()).await;
        } else {
            gate.finished(given.lease);
        }
    }

    /// The app has seen that the client left, and may compute on. Whether it ended the request, or its worker exited,
    /// before its time was over or it turned out that it never had the request.
    async fn ended_for_nobody(&self, exchange: &InFlight) -> bool {
        if exchange.is_confirmed.get() {
            return true;
        }
        tokio::select! {
            confirmed = self.reported(exchange, Duration::MAX) => confirmed,
            () = exchange.cut.wait() => false,
        }
    }

    /// The app goes on with another request, so the slot is not free, although that one's response was read whole. The
    /// job goes back to the queue, where another worker may take it, and the slot waits for the other's end. So does the
    /// connection, which the app would else see closed under its response. How often one job comes back is bounded by
    /// its time in the queue.
    pub(super) async fn take_back(&self, gate: &Gate, slot: &Slot, given: Given, by: RequestId) {
        let Given { mut lease, job, exchange } = given;
        let unended = gate.requests.unreported(self.worker, by).filter(|_| exchange.has_begun());
        let Some(unended) = unended else {
            // It has ended meanwhile, or this worker never had it: nothing is left to wait for. And one that was handed ahead of
            // time has no slot that could be another's.
            slot.free();
            return gate.returned(lease, job);
        };
        gate.occupied(&mut lease, job, by);
        let patience = Duration::from_millis(gate.config().response.abandoned_timeout_ms);
        if !self.reported(&unended, patience).await {
            self.give_up(gate, slot, &format!("request number {} is answered but not ended", by.0)).await;
        }
        slot.free();
        gate.finished(lease);
    }

    /// Whether a stream ended because its worker died, or the worker ended it and goes on. A dying worker's connections close
    /// a moment before its exit is known.
    pub(super) async fn stream_broke(&self, exchange: &InFlight) -> Code {
        self.reported(exchange, EXIT_TIMEOUT).await;
        let has_died = self.closed.get() || self.is_dying.get();
        if has_died { Code::WorkerDied } else { Code::WorkerAnswerTruncated }
    }

    /// The response broke. The client is answered, unless the worker is known to have died; the slot waits until the worker
    /// itself has ended the request or died.
    async fn conclude_fault(&self, gate: &Gate, slot: &Slot, job: &Job, exchange: &InFlight, fault: Fault) {
        let confirmed = match fault {
            Fault::Malformed(detail) => {
                job.answer.fail(Code::WorkerAnswerMalformed);
                self.note(gate, job, &format!("was answered with {detail}; the client got 502 if it had nothing yet"));
                self.confirmed_end(exchange, CONFIRM_TIMEOUT).await
            }
            Fault::Foreign => {
                job.answer.fail(Code::WorkerAnswerMalformed);
                let what = "met bytes that are not its answer on a connection that an earlier request has used; the client got \
                            502, and nothing of them";
                self.note(gate, job, what);
                self.confirmed_end(exchange, CONFIRM_TIMEOUT).await
            }
            Fault::Short => {
                job.answer.fail(Code::WorkerAnswerTruncated);
                self.note(gate, job, "was ended by the app before as many bytes as its Content-Length announced");
                true
            }
            Fault::Closed(seen) => {
                // A dying worker's connections close a moment before its exit is known.
                let mut confirmed = self.confirmed_end(exchange, EXIT_TIMEOUT).await;
                if !confirmed && self.is_dying.get() {
                    confirmed = self.confirmed_end(exchange, DYING_TIMEOUT).await;
                }
                if !self.closed.get() {
                    job.answer.fail(Code::WorkerAnswerTruncated);
                }
                // Of what it has not noticed it reports no end.
                confirmed || seen.is_unnoticed() || self.confirmed_end(exchange, CONFIRM_TIMEOUT).await
            }
            Fault::Left | Fault::Unsent | Fault::Withdrawn => true,
            Fault::Cut | Fault::Busy { .. } => self.confirmed_end(exchange, CUT_TIMEOUT).await,
        };
        if !confirmed {
            self.give_up(gate, slot, &format!("request {} is not ended", job.request_id)).await;
        }
    }

    /// It neither ended the request nor died: its slot can never be trusted again.
    async fn give_up(&self, gate: &Gate, slot: &Slot, why: &str) {
        if self.closed.get() {
            return;
        }
        let text = format!("{why} by worker {}, which is replaced", self.worker.0);
        gate.observer.emit(Happening::Note { level: Level::Warn, text: &text });
        self.ends_for(Cause::Gateway);
        gate.give_up_worker(self.worker);
        while !self.closed.get() {
            slot.changed.wait().await;
        }
    }

    /// Whether the worker has reported the end of the request, or does so or exits within the time for that.
    async fn confirmed_end(&self, exchange: &InFlight, timeout: Duration) -> bool {
        exchange.is_confirmed.get() || self.reported(exchange, timeout).await
    }

    /// Whether the worker reports the end of the request, or exits, within the time for that.
    async fn reported(&self, exchange: &InFlight, timeout: Duration) -> bool {
        self.closed.get() || tokio::time::timeout(timeout, exchange.ended.notified()).await.is_ok()
    }
}
