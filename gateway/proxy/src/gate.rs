//! State that all connections and workers share, room by room: the scheduler and its decisions, costs, quarantine, returned slots, records,
//! and the workers' life. Each room has handles of the rooms that it needs.
//!
//! Everything runs on one thread, so a decision is one borrow of the scheduler and never a lock. The gate carries out
//! what the scheduler decides; it decides nothing itself.

mod ahead;
pub(crate) mod costs;
mod crashes;
pub(crate) mod dispatch;
mod draining;
mod look;
mod own_calls;
mod quarantined;
mod readiness;
mod reports;
mod requests;
mod retry;
pub(crate) mod returns;
mod road_end;
mod scheduler;
mod slot_table;
mod submit;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod warm_ups;
mod workers;

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use sluice_catalog::config::Config;
use sluice_catalog::snapshot::Purge;
use sluice_road::sessions::Sessions;
use sluice_road::workers::Workers;
use sluice_road::{ActiveConfig, Road};
use sluice_scheduler::{Action, Event, Scheduler};
use sluice_supervisor::{DialInForce, Host, PartsPurger, Reports};
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::record::Records;
use crate::shadow::Shadows;
use crate::upstream::token::Tokens;
use crate::upstream::{RequestParts, WorkerRequest};
use crate::warm_up;
use costs::Costs;
use dispatch::Dispatch;
use draining::Draining;
use quarantined::QuarantineWard;
use reports::WorkerReports;
use returns::SlotReturns;
use scheduler::SchedulerSteps;
use warm_ups::WarmUps;
use workers::WorkerLife;

/// The shared state of the gateway.
pub struct Gate {
    /// Reference to itself, for tasks that outlast a call.
    me: Weak<Gate>,
    /// Way of requests to their answers, which leads here.
    pub road: Rc<Road>,
    /// The scheduler, which decides about requests and workers.
    pub scheduler: Rc<SchedulerSteps>,
    /// Requests between the queue and the workers' slots.
    pub dispatch: Rc<Dispatch>,
    /// Classes of requests and their costs.
    pub costs: Rc<Costs>,
    /// Requests that workers die with.
    pub quarantine: Rc<QuarantineWard>,
    /// Slots as they come back from requests.
    pub returns: Rc<SlotReturns>,
    /// Records of requests, for the observer.
    pub records: Rc<Records>,
    /// The end of the gateway's service.
    pub draining: Draining,
    /// Sessions of clients, and the version that some of them try.
    pub sessions: Rc<Sessions>,
    /// Pages of both versions, compared during a trial.
    pub shadows: Shadows,
    pub(crate) tokens: Tokens,
    pub(crate) warm_ups: Rc<WarmUps>,
    pub(crate) workers: WorkerLife,
    reports: WorkerReports,
}

impl Gate {
    pub(crate) fn new(road: Rc<Road>, scheduler: Scheduler) -> Rc<Self> {
        let scheduler = Rc::new(SchedulerSteps::new(scheduler, road.epoch));
        let dispatch = Dispatch::new(&road, Rc::clone(&scheduler));
        let costs = Rc::new(Costs::new(&road, &dispatch));
        let quarantine = QuarantineWard::new(&dispatch);
        let warm_ups = Rc::new(WarmUps::new(&dispatch));
        let returns = SlotReturns::new(&dispatch, &quarantine, &warm_ups);
        let records = Rc::new(Records::new(&road, &dispatch, &costs));
        let sessions = Rc::new(Sessions::new(&road.config()));
        let workers = WorkerLife {
            dispatch: Rc::clone(&dispatch),
            costs: Rc::clone(&costs),
            sessions: Rc::clone(&sessions),
            returns: Rc::clone(&returns),
            warm_ups: Rc::clone(&warm_ups),
            reporters: Rc::clone(&records.reporters),
            road: Rc::clone(&road),
            own_calls: RefCell::default(),
        };
        let gate = Rc::new_cyclic(|me| Gate {
            me: Weak::clone(me),
            scheduler,
            costs,
            quarantine,
            returns,
            draining: Draining::new(&road),
            sessions,
            shadows: Shadows::default(),
            tokens: Tokens::default(),
            warm_ups,
            workers,
            reports: WorkerReports::new(&dispatch, &records),
            dispatch,
            records,
            road,
        });
        let workers: Rc<dyn Workers> = Rc::clone(&gate) as _;
        gate.road.lead_to(Rc::downgrade(&workers));
        gate
    }

    /// Strong reference, for a task that outlasts the call.
    fn rc(&self) -> Rc<Self> {
        self.me.upgrade().expect("whoever calls the gate holds it")
    }

    /// Request for a worker, made of its parts.
    pub(crate) fn worker_request(&self, parts: RequestParts) -> Rc<WorkerRequest> {
        WorkerRequest::new(&self.records.reporters, self.road.epoch, &self.road.config(), parts)
    }

    /// Puts another config in force. Open connections keep their certificate.
    pub fn activate(&self, active: ActiveConfig) {
        let config = Rc::clone(active.config());
        self.road.activate(active);
        self.dispatch.set_limits(&config);
        self.quarantine.set_limits(&config);
        self.sessions.set_config(&config);
        self.costs.set_routes(&config);
    }

    /// Checks all timeouts; called often. It is coarse on purpose, so that requests pay for no timers of their own.
    pub fn tick(&self) {
        self.dispatch.tick();
        let now = Instant::now();
        self.records.sweep(now);
        self.returns.take_lost();
        self.quarantine.expire(now);
        if self.dispatch.wants_looks() {
            self.dispatch.queue_waits.notify_one();
        }
        self.show(now);
        let (version, is_ready) =
            self.scheduler.read(|scheduler| (Scheduler::generation(scheduler), scheduler.ready_count() > 0));
        self.road.look_for_shells(now, version, is_ready);
    }
}

impl sluice_supervisor::Gate for Gate {
    fn config(&self) -> Rc<Config> {
        self.road.config()
    }

    fn dial(&self) -> Rc<DialInForce> {
        self.road.rendering.dial_in_force()
    }

    fn read_scheduler(&self, read: &mut dyn FnMut(&Scheduler)) {
        self.scheduler.read(read);
    }

    fn set_host(&self, host: Host) {
        let (road, warm_ups, quarantine) =
            (Rc::downgrade(&self.road), Rc::downgrade(&self.warm_ups), Rc::downgrade(&self.quarantine));
        self.dispatch.set_host(Rc::new(move |action| match action {
            Action::WarmUp { worker } => {
                if let (Some(road), Some(warm_ups)) = (road.upgrade(), warm_ups.upgrade()) {
                    warm_up::start(road, warm_ups, worker);
                }
            }
            Action::Reloaded { .. } => {
                // This version may survive requests that the one before died with.
                if let Some(quarantine) = quarantine.upgrade() {
                    quarantine.forget();
                }
                host(action);
            }
            _ => host(action),
        }));
    }

    fn set_parts_purger(&self, purger: PartsPurger) {
        *self.road.pages.parts_purger.borrow_mut() = Some(purger);
    }

    fn set_may_raise(&self, may_raise: bool) {
        self.dispatch.set_may_raise(may_raise);
    }

    fn purge(&self, purge: &Purge, is_soft: bool) -> oneshot::Receiver<u64> {
        self.road.pages.purge(purge, is_soft)
    }

    fn tell(&self, event: Event) {
        self.dispatch.tell(event);
    }

    fn is_leaving(&self) -> bool {
        self.draining.is_leaving()
    }

    fn workers(&self) -> &dyn sluice_supervisor::Workers {
        &self.workers
    }

    fn reports(&self) -> &dyn Reports {
        &self.reports
    }
}
