//! Life cycle of workers, as the supervisor reports it to the gate.

use std::path::{Path, PathBuf};
use std::rc::{Rc, Weak};
use std::time::Duration;

use sluice_catalog::config::Config;
use sluice_catalog::refusals::WarmUpError;
use sluice_catalog::snapshot::Purge;
use sluice_dispatch::{Cause, Event as ExchangeEvent, Phase};
use sluice_journal::{Event as Happening, Level};
use sluice_observe::TailReport;
use sluice_scheduler::{Event, RequestId, Scheduler, WorkerId};
use sluice_supervisor::{
    CpuReport, Crash, DialInForce, GraphTold, Host, InflightRequest, PartsPurger, RenderedTold, RoutesGrown, RunsTold,
    Vitals,
};
use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

use super::Gate;
use crate::upstream::{Slots, WorkerRequest};
use sluice_road::answers::down::LastWords;

impl sluice_supervisor::Gate for Gate {
    fn config(&self) -> Rc<Config> {
        Gate::config(self)
    }

    fn dial(&self) -> Rc<DialInForce> {
        self.road.dial_in_force()
    }

    fn rendered(&self, told: &RenderedTold<'_>) {
        self.observer.effects.rendered(&told.components, &told.settings, &told.variants);
    }

    fn used_graph(&self, told: &GraphTold<'_>) {
        self.observer.graph.used(&told.routes, &told.paths, told.counts);
    }

    fn read_scheduler(&self, read: &mut dyn FnMut(&Scheduler)) {
        read(&self.scheduler.borrow());
    }

    fn set_host(&self, host: Host) {
        *self.host.borrow_mut() = Some(host);
    }

    fn set_parts_purger(&self, purger: PartsPurger) {
        *self.road.parts_purger.borrow_mut() = Some(purger);
    }

    fn purge(&self, purge: &Purge, is_soft: bool) -> oneshot::Receiver<u64> {
        self.road.purge(purge, is_soft)
    }

    fn set_may_raise(&self, may_raise: bool) {
        self.may_raise.set(may_raise);
        self.set_limits(&Gate::config(self));
    }

    fn tell(&self, event: Event) {
        Gate::tell(self, event);
    }

    fn listening(&self, worker: WorkerId, socket: PathBuf, marks: bool) {
        if let Some(slots) = self.slots.borrow().get(&worker) {
            return slots.renew();
        }
        let slots = Slots::new(Weak::clone(&self.me), worker, socket, marks);
        self.slots.borrow_mut().insert(worker, slots);
        self.sessions.listening(worker);
        // They are those of an app that is back: whatever ends from now on ends for another reason.
        self.road.last_words.take();
        self.tell(Event::Listening { worker });
    }

    fn app_is_down(&self, status: &str, stderr_tail: &str) {
        *self.road.last_words.borrow_mut() =
            Some(LastWords { status: status.to_owned(), stderr_tail: stderr_tail.to_owned() });
    }

    fn takes_ahead(&self, worker: WorkerId, pipe: &Path) {
        if self.slots_of(worker).is_some_and(|slots| slots.open_pipe(pipe).is_ok()) {
            self.tell(Event::TakesAhead { worker, takes: true });
        }
    }

    fn breathes(&self, worker: WorkerId, counter: &Path, until: Instant) {
        if let Some(slots) = self.slots_of(worker) {
            slots.count_given(counter, until);
        }
    }

    fn faulted(&self, worker: WorkerId) {
        self.give_up_worker(worker);
    }

    fn exited(&self, worker: WorkerId) {
        self.note_broken_warm_up(worker);
        let slots = self.slots.borrow_mut().remove(&worker);
        let (unseen, cause) = slots.map_or((Vec::new(), Cause::Own), |slots| (slots.close(), slots.cause()));
        for request in self.requests.of(worker) {
            request.worker_is_gone(&unseen, cause);
        }
        self.requests.gone(worker);
        self.observer.exited(worker);
        self.sessions.exited(worker);
        self.own_calls.borrow_mut().gone(worker);
        self.tell(Event::Exited { worker });
    }

    fn left_untold(&self, worker: WorkerId, cpu: Duration) {
        self.charge_untold(worker, cpu);
    }

    fn crashed(&self, worker: WorkerId, crash: &Crash<'_>) {
        self.note_crash(worker, crash);
    }

    fn held(&self, worker: WorkerId) -> Vec<InflightRequest> {
        self.held_by(worker)
    }

    fn was_awake(&self, worker: WorkerId, elapsed: Duration, awake: Duration) {
        self.observer.mode.was_awake(worker, elapsed, awake);
    }

    fn beats(&self, worker: WorkerId, vitals: Vitals) {
        self.take_vitals(worker, vitals);
    }

    fn writes_raw(&self, worker: WorkerId, dropped_bytes: u64) {
        let Some(slots) = self.slots_of(worker) else { return };
        slots.is_raw.set(true);
        self.tell(Event::TakesAhead { worker, takes: false });
        let dropped = match dropped_bytes {
            0 => String::new(),
            bytes => format!("; {bytes} bytes were dropped, as it cannot be told whose answer they are"),
        };
        let text = format!(
            "the app of worker {} writes to a connection (`socket.write`) past its responses{dropped}; from now on each \
             of its connections carries one request",
            worker.0
        );
        self.observer.emit(Happening::Note { level: Level::Warn, text: &text });
    }

    fn runs(&self, worker: WorkerId, told: &RunsTold<'_>) {
        self.take_runs(worker, told);
    }

    fn routes_grown(&self, worker: WorkerId, told: &RoutesGrown<'_>) {
        self.take_routes(worker, told);
    }

    fn reported(&self, worker: WorkerId, request: RequestId, reported: &CpuReport<'_>) {
        let exchange = self.requests.exchange(request);
        // A late word of the worker that died with it may come when another has it.
        let is_its = |exchange: &Rc<WorkerRequest>| exchange.answer.worker.get() == Some(worker);
        if let Some(exchange) = exchange.filter(is_its) {
            exchange.tell(ExchangeEvent::Reported);
            self.take_report(worker, &exchange, reported);
        }
    }

    fn has_profiled(&self, worker: WorkerId, told: TailReport) {
        self.note_profile(worker, told);
    }

    fn has_reported_all(&self, worker: WorkerId, now: Instant) {
        // Its last words may be read after its exit.
        if self.scheduler.borrow().worker_state(worker).is_some() {
            self.requests.heard(worker, now);
        }
    }

    fn app_took(&self, worker: WorkerId, request: RequestId) {
        if let Some(request) = self.requests.held_by(worker, request) {
            request.tell(ExchangeEvent::Taken);
        }
    }

    fn waits_on(&self, worker: WorkerId, request: RequestId) {
        if let Some(request) = self.requests.held_by(worker, request) {
            request.tell(ExchangeEvent::Waits);
        }
    }

    fn busy(&self, worker: WorkerId, request: RequestId, by: RequestId) {
        let is_open = self.requests.unreported(worker, by).is_some();
        if let Some(request) = self.requests.held_by(worker, request) {
            request.tell(ExchangeEvent::Busy { by, is_open });
        }
    }

    fn idle(&self, worker: WorkerId) {
        for request in self.requests.of(worker) {
            let is_over = matches!(request.phase(), Phase::Settling(_)) || request.account.is_finished();
            if is_over && !request.is_reported() {
                request.tell(ExchangeEvent::Reported);
            }
        }
    }

    fn asks_itself(&self, worker: WorkerId, port: u16, is_over: bool) {
        self.own_calls.borrow_mut().note(worker, port, is_over);
    }

    fn wants_looks(&self) -> bool {
        Gate::wants_looks(self)
    }

    fn queue_waits(&self) -> &Notify {
        &self.queue_waits
    }

    fn is_leaving(&self) -> bool {
        self.service.leaving.get()
    }

    fn requests_total(&self, worker: WorkerId) -> u64 {
        self.slots_of(worker).map_or(0, |slots| slots.finished_total.get())
    }

    fn latest_request(&self, worker: WorkerId) -> Option<(String, String, String)> {
        let held = self.begun_by(worker);
        held.iter().max_by_key(|exchange| exchange.started.get()).map(|exchange| exchange.name())
    }

    fn latest_given(&self, worker: WorkerId) -> Option<Instant> {
        let held = self.begun_by(worker);
        let each = held.iter().map(|request| request.wrote.get().map(|wrote| wrote.max(request.started.get())));
        each.reduce(|latest, one| latest.zip(one).map(|(latest, one)| latest.max(one))).flatten()
    }

    fn warm_up_failure(&self, worker: WorkerId) -> Option<WarmUpError> {
        self.warm_up_failure.borrow().as_ref().filter(|(failed, _)| *failed == worker).map(|(_, why)| why.clone())
    }
}

impl Gate {
    /// Gives up a worker that is dying, or that keeps a slot which nothing will free. It gets no more requests (I4), and is replaced.
    pub(crate) fn give_up_worker(&self, worker: WorkerId) {
        let is_news = self.slots.borrow().get(&worker).is_some_and(|slots| slots.dies());
        if is_news {
            for request in self.requests.of(worker) {
                request.tell(ExchangeEvent::Dying);
            }
        }
        self.note_broken_warm_up(worker);
        self.tell(Event::Faulted { worker });
    }

    /// Replaces every worker by one of this generation, whose app the host knows.
    pub fn reload(&self, generation: u64) {
        self.tell(Event::ReloadAsked { generation });
    }

    /// Gives a request of the gateway's own to a worker that is being warmed. Returns false if it is no longer warmed.
    pub(crate) fn warm_with(&self, worker: WorkerId, own: &Rc<WorkerRequest>) -> bool {
        if !self.scheduler.borrow().is_warming(worker) {
            return false;
        }
        let request = own.request;
        self.tell(Event::WarmingWith { worker, request });
        self.requests.add(own);
        if let Some(lease) = self.give(Instant::now(), worker, own, false) {
            self.requests.remove(request);
            lease.end();
            self.tell(Event::Finished { worker, request });
            return false;
        }
        true
    }

    /// Ends the warm-up of a worker, which is warm or must not take requests.
    pub(crate) fn warmed(&self, worker: WorkerId, outcome: Result<(), WarmUpError>) {
        match outcome {
            Ok(()) => self.tell(Event::Warmed { worker }),
            Err(why) => {
                self.note_warm_up_failure(worker, why);
                self.tell(Event::WarmUpFailed { worker });
            }
        }
    }

    /// Whether the worker still holds a warm-up request after the time for that.
    pub(crate) fn is_jammed(&self, worker: WorkerId) -> bool {
        self.is_warming(worker) && self.own_at(worker).is_some()
    }

    /// Replaces a worker that holds a slot which only its end frees. It must not take a place in the pool: a generation on trial fails with
    /// it, and any other attempt is repeated.
    pub(crate) fn jammed(&self, worker: WorkerId, why: WarmUpError) {
        self.note_warm_up_failure(worker, why);
        if self.is_on_trial(worker) {
            self.tell(Event::WarmUpFailed { worker });
        } else {
            self.tell(Event::Faulted { worker });
        }
    }

    fn is_on_trial(&self, worker: WorkerId) -> bool {
        let scheduler = self.scheduler.borrow();
        let in_force = scheduler.generation();
        scheduler.workers().any(|view| view.worker == worker && view.generation != in_force)
    }

    /// Records that a worker can serve no client any more. If it was being warmed, the request that it held is named: that may be what
    /// broke it.
    pub(super) fn note_broken_warm_up(&self, worker: WorkerId) {
        if !self.is_warming(worker) {
            return;
        }
        if let Some(held) = self.own_at(worker) {
            self.note_warm_up_failure(worker, WarmUpError::BrokeTheWorker { target: held.target().to_owned() });
        }
    }

    /// The warm-up request that the worker holds.
    fn own_at(&self, worker: WorkerId) -> Option<Rc<WorkerRequest>> {
        let held = self.requests.all_held();
        held.into_iter().find(|held| held.is_own && held.answer.worker.get() == Some(worker))
    }

    fn note_warm_up_failure(&self, worker: WorkerId, why: WarmUpError) {
        let text = format!("the warm-up of worker {} failed: {why}", worker.0);
        self.observer.emit(Happening::Note { level: Level::Warn, text: &text });
        *self.warm_up_failure.borrow_mut() = Some((worker, why));
    }

    /// Sets the number of workers in the pool.
    pub fn scale(&self, workers: u32) {
        self.tell(Event::Scaled { workers });
    }

    /// Stops every worker, and refuses queued requests.
    pub fn stop_workers(&self) {
        for slots in self.slots.borrow().values() {
            slots.ends_for(Cause::Gateway);
        }
        self.tell(Event::Stopping);
    }
}
