//! Requests for another protocol. Each goes to its worker on a connection of its own, where the app may count what was
//! written to it, and leaves its slot as soon as the app has it in its hands: the app may answer then, later or never.
//!
//! What an app does with an upgrade after that is like the body of an event stream: beside other requests, within
//! `streams_per_worker_max`. A worker without the preload does not say when that is; there the slot is left at the head.

use std::pin::Pin;
use std::rc::Rc;

use sluice_catalog::errors::Code;

use super::exchange::{self, Ended, Fault};
use super::handed::Delivery;
use super::mailbox::Slot;
use super::slots::Slots;
use super::wire::Wire;
use super::{Given, InFlight, Job, StreamLease};
use crate::gate::Gate;

/// The exchange on its connection, wherever it is waited for.
type Running = Pin<Box<dyn Future<Output = (Wire, Box<Job>, Result<Ended, Fault>)>>>;

impl Slots {
    /// Carries the upgrade out, and returns a connection for the next request; `idle` is one that is kept for that.
    pub(super) async fn carry_upgrade(
        self: &Rc<Self>,
        gate: &Rc<Gate>,
        slot: &Rc<Slot>,
        idle: Option<Wire>,
        given: Given,
    ) -> Option<Wire> {
        let wire = tokio::select! {
            wire = Wire::connect(&self.socket) => wire.ok(),
            () = given.exchange.died.wait() => None,
        };
        let Some(wire) = wire else {
            self.give_back(gate, slot, given, Delivery::Failed).await;
            return None;
        };
        let Given { lease, job, exchange } = given;
        let carried = slot.carried.borrow().clone();
        let answer = Rc::clone(&job.answer);
        let mut running = run(Rc::clone(gate), wire, job, Rc::clone(&exchange), self.marks);
        let ran = tokio::select! {
            ran = &mut running => Some(ran),
            () = exchange.taken.wait() => None,
        };
        match ran {
            None => {
                let stream = self.detach(gate, slot, lease, &answer);
                tokio::task::spawn_local(Rc::clone(self).go_on(Rc::clone(gate), stream, running, exchange));
                idle
            }
            Some((wire, job, Ok(ended))) => {
                let wire = self.conclude(gate, slot, wire, Given { lease, job, exchange }, ended);
                if idle.is_some() {
                    slot.carried.replace(carried);
                }
                idle.or(wire)
            }
            Some((_, _, Err(Fault::Unsent))) => {
                slot.free();
                gate.finished(lease);
                idle
            }
            Some((wire, job, Err(fault))) => {
                drop(wire);
                self.conclude_broken(gate, slot, Given { lease, job, exchange }, fault).await;
                idle
            }
        }
    }

    /// The upgrade outside of its slot, until it is answered: with another protocol, with an ordinary response, or not.
    async fn go_on(self: Rc<Self>, gate: Rc<Gate>, stream: StreamLease, running: Running, exchange: Rc<InFlight>) {
        let (wire, job, result) = running.await;
        let answer = &job.answer;
        match result {
            Ok(Ended::Upgraded { head }) => {
                answer.begin(head);
                // It leaves the count with its connection.
                answer.upgrade(wire.into_upgraded(stream));
            }
            Ok(Ended::Stream { head }) => {
                if exchange::run_stream(&gate, wire, answer, &exchange, head).await {
                    answer.fail(self.stream_broke(&exchange).await);
                }
            }
            // No upgrade is told to be a poll.
            Ok(Ended::Whole { .. } | Ended::Waits) => {}
            Err(Fault::Closed(_)) => {
                drop(wire);
                answer.fail(self.stream_broke(&exchange).await);
            }
            Err(Fault::Malformed(detail)) => {
                answer.fail(Code::WorkerAnswerMalformed);
                self.note(&gate, &job, &format!("was answered with {detail}"));
            }
            Err(Fault::Foreign | Fault::Short) => answer.fail(Code::WorkerAnswerMalformed),
            Err(Fault::Left | Fault::Unsent | Fault::Cut | Fault::Busy { .. } | Fault::Withdrawn) => answer.leave(),
        }
    }
}

fn run(gate: Rc<Gate>, wire: Wire, job: Box<Job>, exchange: Rc<InFlight>, marks: bool) -> Running {
    Box::pin(async move {
        let mut wire = wire;
        let result = exchange::run(&gate, &mut wire, &job, &exchange, marks).await;
        (wire, job, result)
    })
}
