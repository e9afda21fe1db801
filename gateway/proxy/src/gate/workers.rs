//! Worker life as the supervisor tells it to the gate.

use std::rc::Rc;
use std::time::Instant;

use sluice_journal::{Event as Happening, Level};
use sluice_scheduler::{Event, RequestId, WorkerId};

use super::{Cause, Gate, WorkerHost};
use crate::upstream::{Ahead, Exchange, Job, Slots};

/// What a request can have cost at most: an hour. More is a lie or a mistake.
const CPU_US_MAX: u64 = 3_600_000_000;

impl Gate {
    /// Names who starts and stops processes; before this nothing is started.
    pub fn set_host(&self, host: Rc<dyn WorkerHost>) {
        *self.host.borrow_mut() = Some(host);
    }

    /// The worker's server listens on this socket. `marks` says whether heads of its answers carry tokens.
    pub fn listening(self: &Rc<Self>, worker: WorkerId, socket: std::path::PathBuf, marks: bool) {
        if let Some(slots) = self.slots.borrow().get(&worker) {
            return slots.renew();
        }
        let slots = Slots::new(Rc::downgrade(self), worker, socket, marks);
        self.slots.borrow_mut().insert(worker, slots);
        self.sessions.listening(worker);
        self.step(Event::Listening { worker });
    }

    /// The worker's process is gone.
    pub fn exited(self: &Rc<Self>, worker: WorkerId) {
        self.note_broken_warm_up(worker);
        if let Some(slots) = self.slots.borrow_mut().remove(&worker) {
            slots.close();
        }
        self.measures.forget(worker);
        self.reporters.forget(worker);
        self.forget_sleep_of(worker);
        self.sessions.exited(worker);
        self.step(Event::Exited { worker });
    }

    /// The worker reports what requests cost it, and has done so for all that had ended for it by now.
    pub fn has_reported_all(&self, worker: WorkerId, now: Instant) {
        // Its last words may be read after its exit.
        if self.scheduler.borrow().worker_state(worker).is_some() {
            self.reporters.heard(worker, now);
        }
    }

    /// The app closes its server: it finishes what it has and gets no more.
    pub fn closing(self: &Rc<Self>, worker: WorkerId) {
        self.step(Event::Closing { worker });
    }

    /// The worker reports that a request's response has ended for good, with the request's own CPU time in microseconds,
    /// where that is known (others may have shared the worker), and the template of the app's router if that is news.
    pub fn reported(self: &Rc<Self>, worker: WorkerId, request: RequestId, cpu_us: Option<u64>, route: Option<&str>) {
        if let Some(exchange) = self.exchanges.borrow().get(&request) {
            if exchange.answer.worker.get() != Some(worker) {
                // A late word of the worker that died with it; now another has it.
                return;
            }
            exchange.is_confirmed.set(true);
            exchange.confirmed.set();
        }
        if let Some(slots) = self.slots.borrow().get(&worker) {
            slots.confirm(request);
        }
        let cpu_us = cpu_us.map(|us| us.min(CPU_US_MAX));
        self.measured(worker, request, cpu_us, route);
        self.costs.report(self, request, cpu_us);
    }

    /// The worker says that its app has the upgrade or the event stream in its hands, and goes on to other requests.
    pub fn handed(&self, worker: WorkerId, request: RequestId) {
        let exchanges = self.exchanges.borrow();
        if let Some(exchange) = exchanges.get(&request).filter(|exchange| exchange.answer.worker.get() == Some(worker))
        {
            exchange.is_handed.set(true);
            exchange.handed.set();
        }
    }

    /// The worker says that the app waits with the answer to a long poll: it leaves its slot.
    pub fn waits_on(&self, worker: WorkerId, request: RequestId) {
        let exchange = self.exchanges.borrow().get(&request).cloned();
        let is_its = |exchange: &Rc<Exchange>| exchange.answer.worker.get() == Some(worker) && exchange.is_poll();
        if let Some(exchange) = exchange.filter(is_its) {
            exchange.leaves.set();
        }
    }

    /// The worker says that its app has not seen the request, because it has not ended the other.
    pub fn busy(&self, worker: WorkerId, request: RequestId, by: RequestId) {
        let exchange = self.exchanges.borrow().get(&request).cloned();
        if let Some(exchange) = exchange.filter(|exchange| exchange.answer.worker.get() == Some(worker)) {
            exchange.busy_with.set(Some(by));
            exchange.cut.set();
        }
    }

    /// The worker says that its app writes to connections itself, past its responses; so many bytes of that were dropped.
    pub fn writes_raw(self: &Rc<Self>, worker: WorkerId, dropped_bytes: u64) {
        let slots = self.slots.borrow().get(&worker).cloned();
        let Some(slots) = slots else { return };
        slots.is_raw.set(true);
        self.step(Event::TakesAhead { worker, takes: false });
        let dropped = match dropped_bytes {
            0 => String::new(),
            bytes => format!("; {bytes} bytes were dropped, as it cannot be told whose answer they are"),
        };
        let text = format!(
            "the app of worker {} writes to a connection (`socket.write`) past its responses{dropped}; from now on each \
             of its connections carries one request",
            worker.0
        );
        self.journal.emit(Happening::Note { level: Level::Warn, text: &text });
    }

    /// The worker says that its app holds no request at all, so whatever it broke off has ended.
    pub fn idle(&self, worker: WorkerId) {
        if let Some(slots) = self.slots.borrow().get(&worker) {
            slots.confirm_all();
        }
    }

    /// Every worker is to be replaced by one of this generation, whose app the host knows.
    pub fn reload(self: &Rc<Self>, generation: u64) {
        self.step(Event::ReloadAsked { generation });
    }

    /// Gives a request of the gateway's own to a worker that is being warmed. Returns false when it is no longer.
    pub(crate) fn warm_with(self: &Rc<Self>, worker: WorkerId, job: Job) -> bool {
        if !self.scheduler.borrow().is_warming(worker) {
            return false;
        }
        let request = job.request;
        self.step(Event::WarmingWith { worker, request });
        let is_given = self.give(Instant::now(), worker, job, Ahead::No).is_none();
        if !is_given {
            self.step(Event::Finished { worker, request });
        }
        is_given
    }

    /// The worker is as warm as it will get, or has shown that it must not take requests.
    pub(crate) fn warmed(self: &Rc<Self>, worker: WorkerId, outcome: Result<(), String>) {
        match outcome {
            Ok(()) => self.step(Event::Warmed { worker }),
            Err(why) => {
                self.note_warm_up_failure(worker, why);
                self.step(Event::WarmUpFailed { worker });
            }
        }
    }

    /// Whether the worker still holds a warm-up request after the time for that.
    pub(crate) fn is_jammed(&self, worker: WorkerId) -> bool {
        self.is_warming(worker)
            && self.exchanges.borrow().values().any(|held| held.is_own && held.answer.worker.get() == Some(worker))
    }

    /// The worker keeps a slot that only its end frees. It must not take a place over: a generation on trial fails with it,
    /// and any other try is made again.
    pub(crate) fn jammed(self: &Rc<Self>, worker: WorkerId, why: String) {
        self.note_warm_up_failure(worker, why);
        if self.is_on_trial(worker) {
            self.step(Event::WarmUpFailed { worker });
        } else {
            self.step(Event::Faulted { worker });
        }
    }

    fn is_on_trial(&self, worker: WorkerId) -> bool {
        let scheduler = self.scheduler.borrow();
        let in_force = scheduler.generation();
        scheduler.workers().any(|view| view.worker == worker && view.generation != in_force)
    }

    /// The worker can serve nobody any more. Where it was being warmed, the request that it held has to be named: it may be
    /// what broke it.
    pub(super) fn note_broken_warm_up(&self, worker: WorkerId) {
        if !self.is_warming(worker) {
            return;
        }
        let target = {
            let exchanges = self.exchanges.borrow();
            let held = exchanges.values().find(|held| held.is_own && held.answer.worker.get() == Some(worker));
            held.map(|held| held.name().2)
        };
        if let Some(target) = target {
            self.note_warm_up_failure(worker, format!("{target} broke the worker"));
        }
    }

    fn note_warm_up_failure(&self, worker: WorkerId, why: String) {
        let text = format!("the warm-up of worker {} failed: {why}", worker.0);
        self.journal.emit(Happening::Note { level: Level::Warn, text: &text });
        *self.warm_up_failure.borrow_mut() = Some((worker, why));
    }

    /// The worker's event loop stands still and burns CPU, for less long than one that is stuck.
    pub fn overdue(self: &Rc<Self>, worker: WorkerId) {
        self.step(Event::Overdue { worker });
    }

    /// The event loop of a worker that was overdue turns again.
    pub fn turned(self: &Rc<Self>, worker: WorkerId) {
        self.step(Event::Turned { worker });
    }

    /// The worker's event loop has not turned for too long. If the scheduler agrees, it is examined and killed.
    pub fn stuck(self: &Rc<Self>, worker: WorkerId) {
        self.step(Event::Stuck { worker });
    }

    /// Returns when requests wait for a worker; where further ones are granted to workers that wait themselves.
    pub async fn queue_waits(&self) {
        self.queue_waits.notified().await;
    }

    /// All that the worker holds waits on something else than the CPU.
    pub fn waits(self: &Rc<Self>, worker: WorkerId) {
        self.step(Event::Waits { worker });
    }

    /// The worker holds more than it has time for, or has room that nobody needs.
    pub fn crowded(self: &Rc<Self>, worker: WorkerId, by: u32) {
        self.step(Event::Crowded { worker, by });
    }

    /// The look into a stuck worker is over. Not to be called from within [`WorkerHost::examine`].
    pub fn examined(self: &Rc<Self>, worker: WorkerId) {
        self.step(Event::Examined { worker });
    }

    /// The worker uses more memory than allowed. To be said once.
    pub fn overweight(self: &Rc<Self>, worker: WorkerId) {
        self.step(Event::Overweight { worker });
    }

    /// The worker's socket has lost its name: it is replaced by one that can be reached.
    pub fn unreachable(self: &Rc<Self>, worker: WorkerId) {
        self.step(Event::Unreachable { worker });
    }

    /// The pool is to hold so many workers.
    pub fn scale(self: &Rc<Self>, workers: u32) {
        self.step(Event::Scaled { workers });
    }

    /// Every worker is to stop; what is queued is refused.
    pub fn stop_workers(self: &Rc<Self>) {
        for slots in self.slots.borrow().values() {
            slots.ends_for(Cause::Gateway);
        }
        self.step(Event::Stopping);
    }
}
