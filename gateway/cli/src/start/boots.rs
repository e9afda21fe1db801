//! Tells the operator which worker the start of others waits for. What waits is decided by the scheduler.

use std::time::Duration;

use sluice_catalog::snapshot::BootsSnapshot;
use sluice_journal::{Event, Journal, Level};
use sluice_proxy::gate::Gate;
use tokio::time::Instant;

/// Interval of log lines about the same awaited boot.
const TELL_EVERY: Duration = Duration::from_secs(10);

/// Worker that others wait for, and their number.
pub fn look(gate: &Gate) -> Option<BootsSnapshot> {
    gate.scheduler.read(|scheduler| {
        let waiting = scheduler.waiting_places().count() as u64;
        scheduler.awaited().filter(|_| waiting > 0).map(|worker| BootsSnapshot { waiting, awaited: worker.0 })
    })
}

/// Latest news that the log got, and its time.
#[derive(Default)]
pub struct Teller(Option<(u64, Instant)>);

impl Teller {
    /// Says once for each boot, and again while it lasts, that others wait for it.
    pub fn look(&mut self, gate: &Gate, journal: &Journal) {
        let Some(BootsSnapshot { waiting, awaited }) = look(gate) else {
            self.0 = None;
            return;
        };
        let now = Instant::now();
        if self.0.is_some_and(|(worker, at)| worker == awaited && now - at < TELL_EVERY) {
            return;
        }
        self.0 = Some((awaited, now));
        let text = format!("worker {awaited} boots alone; workers that wait for it: {waiting}");
        journal.emit(Event::Note { level: Level::Info, text: &text });
    }
}
