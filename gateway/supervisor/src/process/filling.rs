//! Growth of a worker's memory while its event loop does not turn, and what a look into it has found.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use crate::forensics::{Inspector, Look, Subject};

/// Part of the free heap by which the process has grown since its last report when it is looked into.
const GROWN_PERCENT: u64 = 50;
/// Time between two looks into a worker, most of which serve on.
const LOOK_EVERY: Duration = Duration::from_secs(10);
/// Maximum wait for an examination after the process has exited.
const END_TIMEOUT: Duration = Duration::from_millis(500);
const CHECK_EVERY: Duration = Duration::from_millis(10);

/// Memory of a worker by its latest report, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Memory {
    pub(crate) heap_used: u64,
    /// Limit of the heap; 0 before the first report.
    pub(crate) heap_max: u64,
    pub(crate) resident: u64,
    /// Whether the app handles SIGUSR1 itself, so that its inspector cannot be opened.
    pub(crate) is_closed: bool,
}

impl Memory {
    /// Whether a process that has `resident` bytes now has grown by a large part of the heap that was free.
    fn is_outgrown(self, resident: u64) -> bool {
        let free = self.heap_max.saturating_sub(self.heap_used);
        !self.is_closed && free > 0 && resident.saturating_sub(self.resident) / GROWN_PERCENT >= free / 100
    }

    /// Whether most of the heap was free, so that what came after the report has filled it.
    pub(crate) fn was_mostly_free(self) -> bool {
        self.heap_used < self.heap_max / 2
    }
}

/// Growth of a worker, and the looks into it.
#[derive(Default)]
pub(crate) struct Filling {
    pub(crate) memory: Cell<Memory>,
    /// Time of the latest look.
    looked: Cell<Option<Instant>>,
    /// Whether the gateway has opened the inspector for a look, and the worker has not closed it since.
    pub(crate) is_open: Cell<bool>,
    /// Latest time at which the gateway has opened the inspector.
    opened: Cell<Option<Instant>>,
    /// State of the inspector, kept until stderr ends.
    pub(crate) inspector: RefCell<Weak<watch::Sender<Inspector>>>,
    found: RefCell<Found>,
    is_looking: Cell<bool>,
    /// Whether the gateway looks into any worker: one at a time, as each look takes memory when it is short.
    pub(crate) is_gateway_looking: RefCell<Rc<Cell<bool>>>,
}

#[derive(Default)]
pub(crate) struct Found {
    /// Place of the main thread in its present run: in the code that runs, until it is mapped to the source.
    pub(crate) place: Option<String>,
    /// A heap profile that was being taken, as JSON.
    pub(crate) heap_profile: Option<String>,
    /// The look whose place is not mapped yet.
    pub(crate) look: Option<(Look, Subject)>,
}

impl Filling {
    /// Whether a process that has `resident` bytes now is to be looked into.
    pub(crate) fn is_due(&self, resident: u64, now: Instant) -> bool {
        let is_early = self.looked.get().is_some_and(|at| now.duration_since(at) < LOOK_EVERY);
        !is_early && !self.is_gateway_looking.borrow().get() && self.memory.get().is_outgrown(resident)
    }

    /// Records that a look begins, which opens the inspector.
    pub(crate) fn begin(&self, now: Instant) {
        self.looked.set(Some(now));
        self.opens(now);
        self.is_looking.set(true);
        self.is_gateway_looking.borrow().set(true);
    }

    /// Records that the gateway opens the inspector.
    pub(crate) fn opens(&self, now: Instant) {
        self.opened.set(Some(now));
        self.is_open.set(true);
    }

    /// Records what a look has found, if its run has not ended meanwhile. A look without a place leaves what an earlier one of
    /// the same run has found: the fuller the heap, the later V8 answers.
    pub(crate) fn end(&self, found: Option<Found>) {
        self.is_looking.set(false);
        self.is_gateway_looking.borrow().set(false);
        if let Some(found) = found.filter(|found| found.place.is_some()) {
            *self.found.borrow_mut() = found;
        }
    }

    /// Whether what the inspector says on stderr is of a look.
    pub(crate) fn is_looked_into(&self) -> bool {
        self.is_open.get() || self.opened.get().is_some_and(|at| at.elapsed() < LOOK_EVERY)
    }

    /// Records that the worker has closed its inspector.
    pub(crate) fn inspector_has_closed(&self) {
        self.is_open.set(false);
        if let Some(inspector) = self.inspector.borrow().upgrade() {
            inspector.send_replace(Inspector::Silent);
        }
    }

    /// Forgets what was found: the event loop turns.
    pub(crate) fn is_over(&self) {
        if self.looked.get().is_some() {
            self.found.take();
        }
    }

    /// Waits for the look that is under way when the process has exited.
    pub(crate) async fn has_ended(&self) {
        let end = Instant::now() + END_TIMEOUT;
        while self.is_looking.get() && Instant::now() < end {
            sleep(CHECK_EVERY).await;
        }
    }

    /// Place of the run in which the process ended.
    pub(crate) fn place(&self) -> Option<String> {
        self.found.borrow().place.clone()
    }

    /// The look whose place is to be mapped.
    pub(crate) fn take_look(&self) -> Option<(Look, Subject)> {
        self.found.borrow_mut().look.take()
    }

    /// Replaces the place by that in the source.
    pub(crate) fn mapped(&self, place: String) {
        self.found.borrow_mut().place = Some(place);
    }

    /// The heap profile that was being taken when the process ended, as JSON.
    pub(crate) fn take_heap_profile(&self) -> Option<String> {
        self.found.borrow_mut().heap_profile.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1024 * 1024;

    #[test]
    fn a_process_is_looked_into_when_it_has_grown_by_half_of_the_free_heap() {
        let memory = Memory { heap_used: 100 * MIB, heap_max: 300 * MIB, resident: 150 * MIB, is_closed: false };
        assert!(!memory.is_outgrown(249 * MIB));
        assert!(memory.is_outgrown(251 * MIB));
        assert!(!memory.is_outgrown(0), "it has shrunk");
        assert!(!Memory { is_closed: true, ..memory }.is_outgrown(251 * MIB), "the signal would be the app's");
        assert!(!Memory::default().is_outgrown(u64::MAX), "it has reported nothing");
    }

    #[test]
    fn one_worker_at_a_time_is_looked_into() {
        let memory = Memory { heap_used: 100 * MIB, heap_max: 300 * MIB, resident: 150 * MIB, is_closed: false };
        let of_gateway = Rc::new(Cell::new(false));
        let [first, second] = [(), ()].map(|()| {
            let filling = Filling { memory: Cell::new(memory), ..Filling::default() };
            filling.is_gateway_looking.replace(Rc::clone(&of_gateway));
            filling
        });
        let now = Instant::now();
        assert!(first.is_due(300 * MIB, now) && second.is_due(300 * MIB, now));
        first.begin(now);
        assert!(!second.is_due(300 * MIB, now));
        first.end(None);
        assert!(second.is_due(300 * MIB, now));
        assert!(!first.is_due(300 * MIB, now), "its own next look is not due yet");
    }

    #[tokio::test(start_paused = true)]
    async fn a_place_is_there_before_it_is_mapped() {
        let filling = Filling::default();
        filling.begin(Instant::now());
        filling.end(Some(Found { place: Some("f (dist/a.js:1:1)".to_owned()), ..Found::default() }));
        filling.has_ended().await;
        assert_eq!(filling.place().as_deref(), Some("f (dist/a.js:1:1)"));
        filling.mapped("f (src/a.ts:7:3)".to_owned());
        assert_eq!(filling.place().as_deref(), Some("f (src/a.ts:7:3)"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_look_that_finds_nothing_leaves_what_an_earlier_one_has_found() {
        let filling = Filling::default();
        filling.begin(Instant::now());
        filling.end(Some(Found { place: Some("f (a.js:1:1)".to_owned()), ..Found::default() }));
        filling.begin(Instant::now());
        filling.end(Some(Found::default()));
        assert_eq!(filling.place().as_deref(), Some("f (a.js:1:1)"));
        filling.is_over();
        assert_eq!(filling.place(), None, "another run");
    }

    #[test]
    fn a_heap_that_was_mostly_free_a_second_ago_is_no_leak() {
        let memory = |heap_used| Memory { heap_used, heap_max: 300, ..Memory::default() };
        assert!(memory(149).was_mostly_free());
        assert!(!memory(150).was_mostly_free());
        assert!(!Memory::default().was_mostly_free());
    }
}
