//! The road's end: the queue, the slots of workers, exchanges with them, and the records of what they did.
//!
//! [`gate`] has the state and carries out what `sluice_scheduler` decides. `ask` submits a request and waits for its answer. `upstream` speaks
//! with workers as `sluice_dispatch` decides. `quarantine` and `ladder` judge requests, and `record` reports on them to `sluice_observe`.
//! `shadow` compares pages of two versions.
//! None of it may know how a client is read, nor which other source could answer.

#![forbid(unsafe_code)]

mod ask;
pub mod gate;
mod ladder;
mod limits;
mod quarantine;
mod record;
mod shadow;
#[cfg(test)]
mod tests;
mod upstream;
mod warm_up;

use std::rc::Rc;

use sluice_observe::Observer;
use sluice_scheduler::Scheduler;

use gate::Gate;
pub use shadow::Shadows;
pub use sluice_road::ActiveConfig;
use sluice_road::Road;
pub use sluice_road::Unusable;
pub use sluice_road::cache::{SuccessorPurger, hear_other_gateways};

/// Makes the gate from the config.
///
/// # Errors
/// Fails if a value is well formed but means nothing, or names a directory that does not exist, and names the value.
pub fn gate(active: ActiveConfig, observer: Rc<Observer>) -> Result<Rc<Gate>, Unusable> {
    let scheduler = Scheduler::new(limits::of(active.config()));
    let traces = active.traces.clone();
    let gate = Gate::new(Road::new(active, observer)?, scheduler);
    gate.road.observer.traces.apply(traces);
    Ok(gate)
}
