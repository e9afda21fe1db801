//! The gateway's latest hours and its last minute, recorded whether or not a dashboard is open.

use std::cell::RefCell;
use std::rc::Rc;

use nix::sys::resource::{UsageWho, getrusage};
use sluice_catalog::dashboard::{Columns, Point};
use sluice_catalog::snapshot::{LatelySnapshot, Snapshot};
use sluice_history::{History, Now, Requests};
use sluice_journal::Moment;
use tokio::time::Instant;

use crate::context::{Context, unix_ms};
use crate::minute::Minute;

/// History of the gateway by second and by longer spans, and its last minute.
pub struct Past {
    context: Rc<Context>,
    state: RefCell<State>,
}

struct State {
    history: History,
    moment: Moment,
    read: Instant,
    point: Point,
    minute: Minute,
}

impl Past {
    /// An empty history that begins now.
    pub(crate) fn new(context: &Rc<Context>) -> Self {
        let state = State {
            history: History::new(unix_ms()),
            moment: Moment::default(),
            read: Instant::now(),
            point: Point::default(),
            minute: Minute::default(),
        };
        Past { context: Rc::clone(context), state: RefCell::new(state) }
    }

    /// Records the gateway's state, about once a second.
    pub fn record(&self, status: &Snapshot) {
        let state = &mut *self.state.borrow_mut();
        self.context.journal.take_moment(&mut state.moment);
        let now = Instant::now();
        let elapsed = now.saturating_duration_since(std::mem::replace(&mut state.read, now));
        let elapsed_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        let now = Now { unix_ms: unix_ms(), elapsed_ms, gateway_cpu_ms: cpu_ms() };
        let Moment { answered, refused, failed, queue_wait, service_time } = &state.moment;
        let (answered, refused, failed) = (*answered, *refused, *failed);
        state.point =
            state.history.record(now, status, &Requests { answered, refused, failed, queue_wait, service_time });
        state.minute.add(elapsed, &status.requests.outcomes, &status.requests.errors, &state.point);
    }

    /// Start of the history, Unix time in milliseconds.
    pub fn epoch(&self) -> u64 {
        self.state.borrow().history.epoch()
    }

    /// The latest second.
    pub fn point(&self) -> Point {
        self.state.borrow().point.clone()
    }

    /// End of the latest second, Unix time in milliseconds; 0 before the first.
    pub fn at_ms(&self) -> u64 {
        self.state.borrow().point.at_ms
    }

    /// Points after this moment second by second, oldest first; `None` where some of them are no longer kept.
    pub fn since(&self, at_ms: u64) -> Option<Vec<Point>> {
        self.state.borrow().history.since(at_ms)
    }

    /// All points that are kept second by second, oldest first.
    pub fn latest(&self) -> Vec<Point> {
        self.state.borrow().history.latest()
    }

    /// Spans of about this length.
    pub fn columns(&self, span_s: u32) -> Columns {
        self.state.borrow().history.columns(span_s)
    }

    /// The last minute by outcome and error, for the snapshot.
    pub fn lately(&self) -> LatelySnapshot {
        self.state.borrow().minute.lately()
    }
}

/// CPU time that this process has used, milliseconds.
#[allow(clippy::cast_precision_loss)] // Far below 2^53.
fn cpu_ms() -> f64 {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else { return 0.0 };
    [usage.user_time(), usage.system_time()]
        .iter()
        .map(|time| time.tv_sec() as f64 * 1e3 + time.tv_usec() as f64 / 1e3)
        .sum()
}
