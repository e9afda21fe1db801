//! Way from the present number of workers to the wanted one. The scheduler starts further workers as load allows. Surplus ones leave
//! one after the other here, so that a pool that shrinks under load never lacks more than one worker at a time. It must not know who
//! asked.

use std::cell::Cell;
use std::time::Duration;

use sluice_proxy::gate::Gate;
use sluice_scheduler::WorkerState;
use tokio::time::Instant;

/// Number of wanted workers, and how many of them the scheduler was told.
#[derive(Default)]
pub struct Scaling {
    wanted: Cell<u32>,
    told: Cell<u32>,
    /// Time at which the latest surplus worker was asked to leave.
    stepped: Cell<Option<Instant>>,
}

impl Scaling {
    pub fn wanted(&self) -> u32 {
        self.wanted.get()
    }

    /// Wants so many from now on. Of surplus workers the first leaves at once.
    pub fn want(&self, gate: &Gate, workers: u32) {
        self.wanted.set(workers);
        if workers >= self.told.get() {
            self.tell(gate, workers);
        } else {
            self.step(gate);
        }
    }

    /// Called with every tick: the next surplus worker leaves when the one before it has gone.
    pub fn step(&self, gate: &Gate) {
        let told = self.told.get();
        if told <= self.wanted.get() || gate.draining.is_leaving() {
            return;
        }
        let now = Instant::now();
        // One that has a stream or a long answer may leave late, and keeps the next from leaving for no longer than this.
        let patience = Duration::from_millis(gate.road.config().workers.stop_timeout_ms);
        let is_patient = self.stepped.get().is_some_and(|stepped| now - stepped < patience);
        if is_patient && gate.scheduler.read(|scheduler| scheduler.workers().any(|view| is_leaving(view.state))) {
            return;
        }
        self.stepped.set(Some(now));
        self.tell(gate, told - 1);
    }

    fn tell(&self, gate: &Gate, workers: u32) {
        self.told.set(workers);
        gate.dispatch.scale(workers);
    }
}

fn is_leaving(state: WorkerState) -> bool {
    match state {
        WorkerState::Leaving | WorkerState::Stopping | WorkerState::Killed => true,
        WorkerState::Starting | WorkerState::Warming | WorkerState::Ready | WorkerState::Trial | WorkerState::Stuck => {
            false
        }
    }
}
