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
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame as BodyFrame};
use serde::Serialize;
use sluice_catalog::dashboard::{Columns, Costs, Frame, Hello};
use sluice_observe::{Observer, unix_ms};
use tokio::sync::{Notify, mpsc};
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::Operator;
use crate::protocol::{HistoryCursor, WatchReply};

/// Maximum number of open dashboards.
const VIEWERS_MAX: usize = 16;
/// Maximum number of events that wait for one dashboard. With one more it is dropped.
const EVENTS_MAX: usize = 8;
/// Maximum duration of one event stream. Less than its connection may last. The viewer comes back with the id of what
/// it saw last.
const STREAM_TIMEOUT: Duration = Duration::from_secs(240);
const EVERY: Duration = Duration::from_secs(1);
/// Seconds between two reports of what classes cost.
const COSTS_EVERY: u64 = 5;

/// The dashboards that look at the gateway.
pub struct Live {
    observer: Rc<Observer>,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    ticks: u64,
    /// The latest mark that was told.
    marked: u64,
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
    /// No dashboards yet, of what this observer knows.
    pub fn new(observer: Rc<Observer>) -> Self {
        Self { observer, state: RefCell::default() }
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
        self.observer.past.record(&status);
        let mut state = self.state.borrow_mut();
        let state = &mut *state;
        state.ticks += 1;
        if state.viewers.is_empty() {
            return;
        }
        let marks = self.observer.journal().marks_since(state.marked);
        state.marked = marks.last().map_or(state.marked, |mark| mark.id);
        let frame = Frame { now_ms: unix_ms(), status, point: self.observer.past.point(), marks };
        let seen = self.seen(state);
        let mut events = vec![event("frame", &seen, &frame)];
        if state.ticks.is_multiple_of(COSTS_EVERY) {
            events.push(event("costs", &seen, &costs(operator)));
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
        let epoch = self.observer.past.epoch();
        let seen = last_event.and_then(HistoryCursor::parse).filter(|seen| seen.epoch == epoch);
        let missed = seen.as_ref().and_then(|seen| self.observer.past.since(seen.at_ms));
        // Those that the others have not been told yet come with the next event.
        let mut marks = self.observer.journal().marks_since(seen.as_ref().map_or(0, |seen| seen.mark));
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
        let frame = Frame { now_ms: unix_ms(), status, point: self.observer.past.point(), marks: Vec::new() };
        let now = self.seen(state);
        let first =
            [event("hello", &now, &hello), event("frame", &now, &frame), event("costs", &now, &costs(operator))].into();
        let (events, rest) = mpsc::channel(EVENTS_MAX);
        state.viewers.push(Viewer { events, cut, until: Instant::now() + STREAM_TIMEOUT });
        Some(Events { first, rest })
    }

    /// Spans of about this length.
    pub(crate) fn columns(&self, span_s: u32) -> Columns {
        self.observer.past.columns(span_s)
    }

    /// Ends what every viewer gets, and lets nobody in any more.
    pub(crate) fn close(&self) {
        let mut state = self.state.borrow_mut();
        state.is_closed = true;
        state.viewers.clear();
    }

    /// Everything that `sluice top` draws, from the points and marks on that it has not seen.
    pub(crate) fn watch(&self, operator: &dyn Operator, seen: &HistoryCursor) -> WatchReply {
        let status = operator.snapshot();
        let past = &self.observer.past;
        let epoch = past.epoch();
        let is_known = seen.epoch == epoch;
        let at_ms = if is_known { seen.at_ms } else { 0 };
        let points = past.since(at_ms).unwrap_or_else(|| past.latest());
        let marks = self.observer.journal().marks_since(if is_known { seen.mark } else { 0 });
        WatchReply { epoch, now_ms: unix_ms(), status, points, marks, costs: costs(operator) }
    }

    fn seen(&self, state: &State) -> HistoryCursor {
        HistoryCursor { epoch: self.observer.past.epoch(), at_ms: self.observer.past.at_ms(), mark: state.marked }
    }
}

fn costs(operator: &dyn Operator) -> Costs {
    Costs { classes: operator.classes(), quarantined: operator.quarantined(), deploy: operator.deploy() }
}

impl State {
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

impl HistoryCursor {
    fn parse(id: &str) -> Option<Self> {
        let mut numbers = id.split('-').map(|number| number.parse().ok());
        let (epoch, at_ms, mark) = (numbers.next()??, numbers.next()??, numbers.next()??);
        numbers.next().is_none().then_some(Self { epoch, at_ms, mark })
    }
}

/// One event in the form of a server-sent event. JSON holds no line feeds.
fn event(name: &str, seen: &HistoryCursor, value: &impl Serialize) -> Bytes {
    let HistoryCursor { epoch, at_ms, mark } = seen;
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

#[cfg(test)]
#[path = "live_tests.rs"]
mod tests;
