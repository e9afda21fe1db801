//! Events for an open dashboard: one each second, the same bytes for every viewer. `sluice top` reads the same
//! history by the control socket.
//!
//! The history is kept whether or not anybody looks. A viewer that does not take its events is dropped, so that nothing is
//! held for it. It must not know who may look.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use hyper::body::{Body, Frame as BodyFrame};
use nix::sys::resource::{UsageWho, getrusage};
use serde::Serialize;
use sluice_catalog::dashboard::{Columns, Costs, Frame, Hello, Point};
use sluice_catalog::snapshot::LatelySnapshot;
use sluice_history::{History, Now, Requests};
use sluice_journal::{Journal, Moment};
use tokio::sync::{Notify, mpsc};
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::Operator;
use crate::minute::Minute;
use crate::protocol::{Seen, Watched};

/// Dashboards that may be open at once.
const VIEWERS_MAX: usize = 16;
/// Events that wait for one viewer; with one more it is dropped.
const EVENTS_MAX: usize = 8;
/// Duration of one answer: less than its connection may last. The viewer comes back with the id of what it saw last.
const STREAM_TIMEOUT: Duration = Duration::from_secs(240);
const EVERY: Duration = Duration::from_secs(1);
/// Seconds between two reports of what classes cost.
const COSTS_EVERY: u64 = 5;

/// The gateway's latest seconds, and the dashboards that look at it.
pub struct Live {
    journal: Journal,
    state: RefCell<State>,
}

struct State {
    history: History,
    moment: Moment,
    read: Instant,
    ticks: u64,
    /// The latest mark that was told.
    marked: u64,
    point: Point,
    minute: Minute,
    viewers: Vec<Viewer>,
    is_closed: bool,
}

struct Viewer {
    events: mpsc::Sender<Bytes>,
    /// Ends the viewer's connection, which it may have stopped to read.
    cut: Rc<Notify>,
    until: Instant,
}

/// The body of an answer that continues without end.
pub(crate) struct Events {
    first: VecDeque<Bytes>,
    rest: mpsc::Receiver<Bytes>,
}

impl Live {
    /// An empty history that begins now.
    #[must_use]
    pub fn new(journal: Journal) -> Self {
        let state = State {
            history: History::new(unix_ms()),
            moment: Moment::default(),
            read: Instant::now(),
            ticks: 0,
            marked: 0,
            point: Point::default(),
            minute: Minute::default(),
            viewers: Vec::new(),
            is_closed: false,
        };
        Self { journal, state: RefCell::new(state) }
    }

    /// Keeps the history and tells viewers, for as long as it is polled.
    pub async fn run(&self, operator: &dyn Operator) {
        let mut interval = interval(EVERY);
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        interval.tick().await;
        loop {
            interval.tick().await;
            self.tick(operator);
        }
    }

    fn tick(&self, operator: &dyn Operator) {
        let status = operator.snapshot();
        let mut state = self.state.borrow_mut();
        let state = &mut *state;
        self.journal.take_moment(&mut state.moment);
        let now = Instant::now();
        let elapsed = now.saturating_duration_since(std::mem::replace(&mut state.read, now));
        let now = Now { unix_ms: unix_ms(), elapsed_ms: millis(elapsed), gateway_cpu_ms: cpu_ms() };
        let Moment { answered, refused, failed, queue_wait, service_time } = &state.moment;
        let (answered, refused, failed) = (*answered, *refused, *failed);
        state.point =
            state.history.record(now, &status, &Requests { answered, refused, failed, queue_wait, service_time });
        state.minute.add(elapsed, &status, &state.point);
        state.ticks += 1;
        if state.viewers.is_empty() {
            return;
        }
        let marks = self.journal.marks_since(state.marked);
        state.marked = marks.last().map_or(state.marked, |mark| mark.id);
        let frame = Frame { now_ms: now.unix_ms, status, point: state.point.clone(), marks };
        let mut events = vec![event("frame", &state.seen(), &frame)];
        if state.ticks.is_multiple_of(COSTS_EVERY) {
            events.push(event("costs", &state.seen(), &costs(operator)));
        }
        state.tell(&events);
    }

    /// One more viewer, with what it saw last; `None` while there are too many, or the gateway leaves.
    pub(crate) fn join(
        &self,
        operator: &dyn Operator,
        token_file: Option<&str>,
        last_event: Option<&str>,
        cut: Rc<Notify>,
    ) -> Option<Events> {
        let status = operator.snapshot();
        let mut state = self.state.borrow_mut();
        let state = &mut *state;
        state.viewers.retain(|viewer| !viewer.events.is_closed());
        if state.is_closed || state.viewers.len() >= VIEWERS_MAX {
            return None;
        }
        let epoch = state.history.epoch();
        let seen = last_event.and_then(Seen::parse).filter(|seen| seen.epoch == epoch);
        let missed = seen.as_ref().and_then(|seen| state.history.since(seen.at_ms));
        // Those that the others have not been told yet come with the next event.
        let mut marks = self.journal.marks_since(seen.as_ref().map_or(0, |seen| seen.mark));
        if state.viewers.is_empty() {
            state.marked = marks.last().map_or(state.marked, |mark| mark.id.max(state.marked));
        }
        marks.retain(|mark| mark.id <= state.marked);
        let hello = Hello {
            epoch,
            resumed: missed.is_some(),
            points: missed.unwrap_or_default(),
            marks,
            token_file: token_file.map(str::to_owned),
        };
        let frame = Frame { now_ms: unix_ms(), status, point: state.point.clone(), marks: Vec::new() };
        let now = state.seen();
        let first =
            [event("hello", &now, &hello), event("frame", &now, &frame), event("costs", &now, &costs(operator))].into();
        let (events, rest) = mpsc::channel(EVENTS_MAX);
        state.viewers.push(Viewer { events, cut, until: Instant::now() + STREAM_TIMEOUT });
        Some(Events { first, rest })
    }

    /// Spans of about this length.
    pub(crate) fn columns(&self, span_s: u32) -> Columns {
        self.state.borrow().history.columns(span_s)
    }

    /// Ends what every viewer gets, and lets nobody in any more.
    pub(crate) fn close(&self) {
        let mut state = self.state.borrow_mut();
        state.is_closed = true;
        state.viewers.clear();
    }

    /// The last minute by outcome and error, for the snapshot.
    #[must_use]
    pub fn lately(&self) -> LatelySnapshot {
        self.state.borrow().minute.lately()
    }

    /// Everything that `sluice top` draws, from the points and marks on that it has not seen.
    pub(crate) fn watch(&self, operator: &dyn Operator, seen: &Seen) -> Watched {
        let status = operator.snapshot();
        let state = self.state.borrow();
        let epoch = state.history.epoch();
        let is_known = seen.epoch == epoch;
        let at_ms = if is_known { seen.at_ms } else { 0 };
        let points = state.history.since(at_ms).unwrap_or_else(|| state.history.latest());
        let marks = self.journal.marks_since(if is_known { seen.mark } else { 0 });
        Watched { epoch, now_ms: unix_ms(), status, points, marks, costs: costs(operator) }
    }
}

fn costs(operator: &dyn Operator) -> Costs {
    Costs { classes: operator.classes(), quarantined: operator.quarantined() }
}

impl State {
    fn seen(&self) -> Seen {
        Seen { epoch: self.history.epoch(), at_ms: self.point.at_ms, mark: self.marked }
    }

    fn tell(&mut self, events: &[Bytes]) {
        let now = Instant::now();
        self.viewers.retain(|viewer| {
            if now >= viewer.until {
                return false;
            }
            for event in events {
                match viewer.events.try_send(event.clone()) {
                    Ok(()) => {}
                    Err(mpsc::error::TrySendError::Closed(_)) => return false,
                    Err(mpsc::error::TrySendError::Full(_)) => {
                        viewer.cut.notify_one();
                        return false;
                    }
                }
            }
            true
        });
    }
}

impl Seen {
    fn parse(id: &str) -> Option<Self> {
        let mut numbers = id.split('-').map(|number| number.parse().ok());
        let (epoch, at_ms, mark) = (numbers.next()??, numbers.next()??, numbers.next()??);
        numbers.next().is_none().then_some(Self { epoch, at_ms, mark })
    }
}

/// One event in the form of a server-sent event. JSON holds no line feeds.
fn event(name: &str, seen: &Seen, value: &impl Serialize) -> Bytes {
    let Seen { epoch, at_ms, mark } = seen;
    let mut out = format!("id: {epoch}-{at_ms}-{mark}\nevent: {name}\ndata: ").into_bytes();
    // Maps with keys that are no text would be the only reason to fail, and there are none.
    if serde_json::to_writer(&mut out, value).is_err() {
        return Bytes::new();
    }
    out.extend_from_slice(b"\n\n");
    out.into()
}

impl Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<BodyFrame<Bytes>, Infallible>>> {
        if let Some(event) = self.first.pop_front() {
            return Poll::Ready(Some(Ok(BodyFrame::data(event))));
        }
        self.rest.poll_recv(context).map(|event| event.map(|event| Ok(BodyFrame::data(event))))
    }
}

fn unix_ms() -> u64 {
    millis(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
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

#[cfg(test)]
#[path = "live_tests.rs"]
mod tests;
