//! What processes do when they are started, warmed, given a request, stopped or killed.

use sluice_scheduler::{Action, Event, RequestId, WorkerId};

use super::{Coming, Defect, World};

impl World {
    pub(super) fn defect(&self, worker: WorkerId) -> Defect {
        let generation = self.generation_of.get(&worker);
        generation.and_then(|generation| self.defects.get(generation)).copied().unwrap_or(Defect::None)
    }

    /// One request of a warm-up, or its end.
    pub(super) fn warm(&mut self, worker: WorkerId, left: u64) -> Result<(), String> {
        self.warming.remove(&worker);
        let fails = self.defect(worker) == Defect::FailsWarmUp || self.rng.percent(self.plan.warm_up_fails_percent);
        if fails {
            return self.tell(Event::WarmUpFailed { worker });
        }
        if left == 0 {
            return self.tell(Event::Warmed { worker });
        }
        if !self.scheduler.is_warming(worker) {
            return self.late(Event::Warmed { worker });
        }
        self.next_request += 1;
        let request = RequestId(self.next_request);
        self.settled.insert(request);
        self.warming.insert(worker, left - 1);
        self.tell(Event::WarmingWith { worker, request })?;
        self.serve(worker, request);
        Ok(())
    }

    /// A warm-up request has ended in whatever way.
    pub(super) fn go_on_warming(&mut self, worker: WorkerId) -> Result<(), String> {
        let Some(left) = self.warming.remove(&worker) else { return Ok(()) };
        if self.rng.percent(50) {
            return self.warm(worker, left);
        }
        self.soon(500, Coming::Warms(worker, left));
        Ok(())
    }

    /// The gateway reports the two in one go. Which comes first must not matter, nor whether the exit came before both.
    pub(super) fn delivery_fails(&mut self, worker: WorkerId, request: RequestId) -> Result<(), String> {
        if !self.processes.contains_key(&worker) {
            return self.late(Event::Undelivered { worker, request });
        }
        if self.rng.percent(60) {
            self.tell(Event::Faulted { worker })?;
            self.tell(Event::Undelivered { worker, request })
        } else {
            self.tell(Event::Undelivered { worker, request })?;
            self.tell(Event::Faulted { worker })
        }
    }

    pub(super) fn carry_out(&mut self, action: Action) {
        match action {
            Action::Start { worker, generation, .. } => {
                self.processes.insert(worker, false);
                self.generation_of.insert(worker, generation);
                let defect = self.defect(worker);
                let exits = defect == Defect::Exits || defect == Defect::ExitsSometimes && self.rng.percent(33);
                if exits || self.rng.percent(self.plan.boot_fails_percent) {
                    self.soon(self.plan.boot_us / 2, Coming::Dies(worker));
                } else if defect != Defect::Hangs && !self.rng.percent(self.plan.boot_hangs_percent) {
                    self.soon(self.plan.boot_us, Coming::Listens(worker));
                }
            }
            Action::Dispatch { request, worker } => self.serve(worker, request),
            Action::Hand { request, worker } => {
                let is_dead = self.processes.get(&worker).copied().unwrap_or(true);
                if is_dead || self.rng.percent(self.plan.undeliverable_percent) {
                    return self.soon(200, Coming::DeliveryFails(worker, request));
                }
                self.handed.insert((worker, request));
                if self.rng.percent(self.plan.begins_early_percent) {
                    self.soon(self.plan.service_us / 2, Coming::BeginsEarly(worker, request));
                }
            }
            Action::Begins { request, worker } => {
                if self.handed.remove(&(worker, request)) {
                    self.serve(worker, request);
                }
                self.begun_early.remove(&(worker, request));
            }
            Action::TakeBack { worker } => {
                let of = |(at, _): &&(WorkerId, RequestId)| *at == worker;
                let begun: Vec<_> = self.begun_early.iter().filter(of).copied().collect();
                let taken: Vec<_> = self.handed.iter().filter(of).copied().collect();
                for (worker, request) in begun {
                    self.soon(50, Coming::HasBegun(worker, request));
                }
                // Out of the worker's reach now, however late that is told.
                for (worker, request) in taken {
                    self.handed.remove(&(worker, request));
                    self.taken.insert((worker, request));
                    self.soon(50, Coming::TakenBack(worker, request));
                }
            }
            Action::Stop { worker } => {
                let usual_us = self.plan.limits.stop_timeout_ms * 300 + 100;
                let slow = self.rng.percent(self.plan.slow_stop_percent);
                self.soon(if slow { usual_us * 100 } else { usual_us }, Coming::Dies(worker));
            }
            Action::Kill { worker, .. } => self.soon(2_000, Coming::Dies(worker)),
            Action::CloseStream { request, worker } => self.soon(500, Coming::StreamEnds(worker, request)),
            Action::Orphaned { request, arrived, worker, .. } => {
                self.begun_early.remove(&(worker, request));
                if self.handed.remove(&(worker, request)) || self.taken.remove(&(worker, request)) {
                    self.soon(300, Coming::ComesBack(request, arrived));
                } else if self.rng.percent(self.plan.retried_percent) {
                    self.soon(300, Coming::Retries(request, arrived));
                }
            }
            Action::WarmUp { worker } => {
                let requests = self.rng.between(0, self.plan.warm_ups_max);
                self.soon(500, Coming::Warms(worker, requests));
            }
            Action::Examine { worker } => {
                if self.rng.percent(70) {
                    self.soon(self.plan.limits.examine_timeout_ms * 700, Coming::Examined(worker));
                }
            }
            Action::Refuse { .. }
            | Action::BackOff { .. }
            | Action::Hold { .. }
            | Action::Lower { .. }
            | Action::Raise { .. }
            | Action::GiveUp
            | Action::Recycling { .. }
            | Action::Bloated { .. }
            | Action::Reloaded { .. }
            | Action::ReloadAbandoned { .. } => {}
        }
    }

    pub(super) fn serve(&mut self, worker: WorkerId, request: RequestId) {
        if self.rng.percent(self.plan.waits_percent) {
            self.soon(self.plan.service_us / 2, Coming::Waits(worker));
            if self.rng.percent(30) {
                self.soon(self.plan.service_us * 2, Coming::Crowds(worker));
            }
        }
        if self.rng.percent(self.plan.overdue_percent) {
            self.soon(self.plan.service_us / 2, Coming::StandsStill(worker));
            let ends = if self.rng.percent(70) { Coming::Turns(worker) } else { Coming::Sticks(worker) };
            self.soon(self.plan.service_us * 2, ends);
        }
        let is_dead = self.processes.get(&worker).copied().unwrap_or(true);
        if is_dead || self.rng.percent(self.plan.undeliverable_percent) {
            self.soon(200, Coming::DeliveryFails(worker, request));
        } else if self.rng.percent(self.plan.late_end_percent)
            && let Some(by) = self.last_finished.remove(&worker)
        {
            self.soon(200, Coming::GivenBack(worker, request, by));
        } else if self.rng.percent(self.plan.dies_serving_percent) {
            self.soon(self.plan.service_us, Coming::Dies(worker));
        } else if self.rng.percent(self.plan.sticks_percent) {
            self.soon(self.plan.service_us * 5, Coming::Sticks(worker));
        } else if self.rng.percent(self.plan.hangs_percent) {
            self.soon(self.plan.service_us * 5, Coming::FaultSeen(worker));
        } else if self.rng.percent(self.plan.detaches_percent) {
            self.soon(self.plan.service_us, Coming::Detaches(worker, request));
        } else {
            self.soon(self.plan.service_us, Coming::Finishes(worker, request));
        }
    }
}
