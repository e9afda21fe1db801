//! Life cycle of workers, as the supervisor reports it: they listen, take requests ahead, die, and exit.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::{Rc, Weak};
use std::time::Duration;

use sluice_catalog::refusals::WarmUpError;
use sluice_catalog::snapshot::CrashSnapshot;
use sluice_dispatch::Cause;
use sluice_journal::{Event as Happening, Level};
use sluice_observe::{CutRun, RequestName};
use sluice_road::Road;
use sluice_road::answers::down::LastWords;
use sluice_road::sessions::Sessions;
use sluice_scheduler::{Event, WorkerId};
use sluice_supervisor::{Crash, InflightRequest, Workers};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::costs::Costs;
use super::dispatch::Dispatch;
use super::own_calls::OwnCalls;
use super::returns::SlotReturns;
use super::warm_ups::WarmUps;
use crate::record::reporters::Reporters;
use crate::upstream::{SlotOwner, Slots};

/// See the module's text.
pub(crate) struct WorkerLife {
    pub(super) dispatch: Rc<Dispatch>,
    pub(super) costs: Rc<Costs>,
    pub(super) sessions: Rc<Sessions>,
    pub(super) returns: Rc<SlotReturns>,
    pub(super) warm_ups: Rc<WarmUps>,
    pub(super) reporters: Rc<Reporters>,
    pub(super) road: Rc<Road>,
    pub(super) own_calls: RefCell<OwnCalls>,
}

impl WorkerLife {
    /// Whether a worker has this connection to the gateway, by its port.
    pub(crate) fn is_own_call(&self, port: u16) -> bool {
        self.own_calls.borrow().has(port)
    }
}

impl Workers for WorkerLife {
    fn listening(&self, worker: WorkerId, socket: PathBuf, marks: bool) {
        if let Some(slots) = self.dispatch.slots.of(worker) {
            return slots.renew();
        }
        let owner: Weak<SlotReturns> = Rc::downgrade(&self.returns);
        self.dispatch.slots.insert(worker, Slots::new(owner, worker, socket, marks));
        self.sessions.listening(worker);
        // They are those of an app that is back: whatever ends from now on ends for another reason.
        self.road.last_words.take();
        self.dispatch.tell(Event::Listening { worker });
    }

    fn keeps_clients(&self, worker: WorkerId, mount: Option<&str>, name: Option<&str>) {
        self.sessions.keeps_clients(worker, mount, name);
    }

    fn app_is_down(&self, status: &str, stderr_tail: &str) {
        *self.road.last_words.borrow_mut() =
            Some(LastWords { status: status.to_owned(), stderr_tail: stderr_tail.to_owned() });
    }

    fn takes_ahead(&self, worker: WorkerId, pipe: &Path) {
        if self.dispatch.slots.opens_pipe(worker, pipe) {
            self.dispatch.tell(Event::TakesAhead { worker, takes: true });
        }
    }

    fn breathes(&self, worker: WorkerId, counter: &Path, until: Instant) {
        if let Some(slots) = self.dispatch.slots.of(worker) {
            slots.count_given(counter, until);
        }
    }

    fn asks_itself(&self, worker: WorkerId, port: u16, is_over: bool) {
        self.own_calls.borrow_mut().note(worker, port, is_over);
    }

    fn writes_raw(&self, worker: WorkerId, dropped_bytes: u64) {
        let Some(slots) = self.dispatch.slots.of(worker) else { return };
        slots.is_raw.set(true);
        self.dispatch.tell(Event::TakesAhead { worker, takes: false });
        let dropped = match dropped_bytes {
            0 => String::new(),
            bytes => format!("; {bytes} bytes were dropped, because their request is unknown"),
        };
        let text = format!(
            "the app of worker {} writes to a connection (`socket.write`) past its responses{dropped}; from now on each \
             of its connections carries one request",
            worker.0
        );
        self.road.observer.emit(Happening::Note { level: Level::Warn, text: &text });
    }

    fn faulted(&self, worker: WorkerId) {
        self.returns.give_up_worker(worker);
    }

    fn left_untold(&self, worker: WorkerId, cpu: Duration) {
        self.costs.charge_untold(worker, cpu);
    }

    fn exited(&self, worker: WorkerId) {
        self.warm_ups.note_broken(worker);
        let slots = self.dispatch.slots.remove(worker);
        let (unseen, cause) = slots.map_or((Vec::new(), Cause::Own), |slots| (slots.close(), slots.cause()));
        for request in self.dispatch.requests.of(worker) {
            request.worker_is_gone(&unseen, cause);
        }
        self.reporters.gone(worker);
        self.road.observer.exited(worker);
        self.sessions.exited(worker);
        self.own_calls.borrow_mut().gone(worker);
        self.dispatch.tell(Event::Exited { worker });
    }

    fn runs_on(&self, worker: WorkerId, silent_ms: u64, request: Option<&RequestName>, held: usize) {
        self.road.observer.runs.runs_on(worker.0, silent_ms, request, held);
    }

    fn cut_off(&self, worker: WorkerId, run: &CutRun<'_>, request: Option<&RequestName>) {
        self.road.observer.runs.cut_off(worker.0, run, request);
    }

    fn crashed(&self, worker: WorkerId, crash: &Crash<'_>) {
        let Crash { status, exception, held, request, place, evidence } = *crash;
        self.road.observer.trials.died(worker.0);
        self.road.observer.crashes.crashed(CrashSnapshot {
            at_unix_ms: 0,
            worker: worker.0,
            status: status.to_owned(),
            exception: exception.map(str::to_owned),
            held: held as u64,
            request: request.map(|held| held.request_id.clone()),
            method: request.map(|held| held.method.clone()),
            path: request.map(|held| held.path.clone()),
            class: request.map(|held| held.class.to_string()),
            place: place.map(str::to_owned),
            evidence: evidence.map(str::to_owned),
        });
    }

    fn queue_waits(&self) -> &Notify {
        &self.dispatch.queue_waits
    }

    fn wants_looks(&self) -> bool {
        self.dispatch.wants_looks()
    }

    fn requests_total(&self, worker: WorkerId) -> u64 {
        self.dispatch.slots.finished_total(worker)
    }

    fn latest_request(&self, worker: WorkerId) -> Option<RequestName> {
        let held = self.dispatch.slots.begun_by(worker);
        held.iter().max_by_key(|exchange| exchange.times.started.get()).map(|exchange| exchange.named())
    }

    fn held(&self, worker: WorkerId) -> Vec<InflightRequest> {
        self.dispatch.slots.held_by(worker)
    }

    fn latest_given(&self, worker: WorkerId) -> Option<Instant> {
        let held = self.dispatch.slots.begun_by(worker);
        let each =
            held.iter().map(|request| request.times.wrote.get().map(|wrote| wrote.max(request.times.started.get())));
        each.reduce(|latest, one| latest.zip(one).map(|(latest, one)| latest.max(one))).flatten()
    }

    fn warm_up_failure(&self, worker: WorkerId) -> Option<WarmUpError> {
        self.warm_ups.failure_of(worker)
    }
}
