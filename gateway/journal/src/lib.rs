//! The journal: one call writes the log line of an event and changes its metrics.
//!
//! Any part of the gateway may use it. It must not know what a request or a worker is beyond the fields of an [`Event`]. It
//! belongs to the single-threaded data plane: counters are plain numbers behind an `Rc`. A thread of its own writes stdout, so
//! that a terminal or pipe that does not take its lines never holds up a request.

mod app_text;
mod clock;
mod counters;
mod encode;
mod event;
mod lines;
mod marks;
mod moment;
mod prometheus;
mod query;
mod ring;
mod subscription;
pub mod tasks;
mod window;
mod writer;

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use sluice_catalog::config::LogFields;
use sluice_catalog::dashboard::Mark;
use sluice_catalog::metrics;
use sluice_catalog::snapshot::Percentiles;
use tokio::sync::Notify;
use tokio::time::Instant;

use counters::Counters;
use encode::Timestamp;
pub use encode::timestamp;
use lines::Names;
use marks::Marks;
use ring::Ring;
use window::{Rate, Window, microseconds};
use writer::Writer;

pub use app_text::AppText;
pub use clock::Clock;
pub use event::{
    AccessRecord, Alarm, CacheUse, Event, ExitReason, HeldRequest, IncludeEnd, Includes, Level, LoggedHeader, Outcome,
    RecycleCause, RunTime, Session, Step, Stream, StuckPlace, UpstreamUse,
};
pub use moment::Moment;
pub use prometheus::{Bucket, Exemplar, Exposition, Page};
pub use query::{HIDDEN, Query};
pub use ring::{Filter, KEPT_LINES_MAX};
pub use sluice_catalog::logfields::LineKind;
pub use subscription::{Lines, Subscription};
pub use tasks::Tasks;

/// Longest time that lines wait before they are passed to the writer.
const FLUSH_AFTER: Duration = Duration::from_millis(50);

/// Format of lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Format {
    /// One JSON object a line.
    #[default]
    Json,
    /// Text for people to read.
    Text,
    /// Text for a developer of the app. Standard output has only the lines about the app; `sluice logs` has all.
    Brief,
}

/// Settings of a journal.
#[derive(Debug, Clone)]
pub struct Options {
    /// Format of lines.
    pub format: Format,
    /// Whether requests get a line; their metrics are counted in any case.
    pub access: bool,
    /// Names of the fields in JSON lines.
    pub fields: LogFields,
    /// Query strings in lines.
    pub query: Query,
}

impl Default for Options {
    fn default() -> Self {
        Self { format: Format::Json, access: true, fields: LogFields::Sluice, query: Query::Keep }
    }
}

/// Handle of a journal. Clones are cheap and share the journal.
#[derive(Clone)]
pub struct Journal {
    shared: Rc<JournalState>,
}

struct JournalState {
    /// Names of fields in written lines, and in lines kept for `sluice logs`.
    names: Names,
    kept_names: Names,
    options: Options,
    clock: Clock,
    state: RefCell<State>,
    /// Signals that lines have come into an empty buffer.
    flush_wanted: Notify,
    /// Signals that lines have come into the ring, if it has followers.
    line_written: Notify,
    followers: Cell<usize>,
}

struct State {
    /// The line being made, kept for its memory.
    line: Vec<u8>,
    /// The same line in another form, where one is written.
    written: Vec<u8>,
    stamp: Timestamp,
    writer: Writer,
    ring: Ring,
    counters: Counters,
    queue_wait: Window,
    unserved: Window,
    service_time: Window,
    answered: Rate,
    moment: Moment,
    marks: Marks,
}

impl Journal {
    /// A journal that writes to `out`, from a thread of its own.
    ///
    /// # Errors
    /// If the operating system gives no thread.
    pub fn new(options: Options, out: impl io::Write + Send + 'static) -> io::Result<Self> {
        Self::with_clock(options, out, Clock::System(Instant::now()))
    }

    /// A journal that writes to stdout.
    ///
    /// # Errors
    /// If the operating system gives no thread, or stdout is closed.
    pub fn to_stdout(options: Options) -> io::Result<Self> {
        Self::new(options, writer::stdout()?)
    }

    /// A journal with a clock of the caller's.
    ///
    /// # Errors
    /// If the operating system gives no thread.
    pub fn with_clock(options: Options, out: impl io::Write + Send + 'static, clock: Clock) -> io::Result<Self> {
        let state = State {
            line: Vec::with_capacity(4096),
            written: Vec::new(),
            stamp: Timestamp::new(),
            writer: Writer::start(out)?,
            ring: Ring::default(),
            counters: Counters::new(),
            queue_wait: Window::default(),
            unserved: Window::default(),
            service_time: Window::default(),
            answered: Rate::new(clock.monotonic_ms()),
            moment: Moment::default(),
            marks: Marks::default(),
        };
        let shared = JournalState {
            names: Names::new(options.fields),
            kept_names: Names::new(LogFields::Sluice),
            options,
            clock,
            state: RefCell::new(state),
            flush_wanted: Notify::new(),
            line_written: Notify::new(),
            followers: Cell::new(0),
        };
        Ok(Self { shared: Rc::new(shared) })
    }

    /// Gives classes a value of the label `class` before they have a request, so that others cannot take all of them.
    pub fn reserve_classes<'n>(&self, names: impl IntoIterator<Item = &'n str>) {
        let mut state = self.shared.state.borrow_mut();
        names.into_iter().for_each(|name| state.counters.reserve(name));
    }

    /// A target or URL as log lines show it.
    pub fn shown<'t>(&self, target: &'t str) -> Cow<'t, str> {
        self.shared.options.query.shown(target)
    }

    /// Writes the event's line and moves its metrics. Never blocks.
    pub fn emit(&self, event: Event<'_>) {
        let shown = event.target().map(|target| self.shared.options.query.shown(target));
        let event = match &shown {
            Some(Cow::Owned(target)) => event.with_target(target),
            Some(Cow::Borrowed(target)) => event.with_target(target),
            None => event,
        };
        let mut state = self.shared.state.borrow_mut();
        state.counters.count(&event);
        if let Event::Access(record) = &event {
            let now_ms = self.shared.clock.monotonic_ms();
            let state = &mut *state;
            state.moment.count(record);
            if let Some(us) = record.queue_ms.map(microseconds) {
                state.queue_wait.record(now_ms, us);
                state.moment.queue_wait.record(us);
            }
            if let Some(us) = record.unserved_ms.map(microseconds) {
                state.unserved.record(now_ms, us);
            }
            if let Some(us) = record.service_ms.map(microseconds) {
                state.service_time.record(now_ms, us);
                state.moment.service_time.record(us);
            }
            if record.outcome.is_answered() {
                state.answered.count(now_ms);
            }
            if !self.shared.options.access {
                return;
            }
        }
        let unix_ms =
            if let Event::Access(record) = &event { record.time_unix_ms } else { self.shared.clock.unix_ms() };
        state.marks.mark(unix_ms, &event);
        self.write_line(&mut state, unix_ms, &event);
    }

    fn write_line(&self, state: &mut State, unix_ms: u64, event: &Event<'_>) {
        let State { line, written, stamp, writer, ring, .. } = state;
        // What is kept is always JSON with the names of the reference, so that `sluice logs` can select and show it.
        line.clear();
        lines::json(line, stamp, unix_ms, event, &self.shared.kept_names);
        let lines::Head { level, kind, worker, .. } = lines::head(event);
        ring.push(kind, level, worker, line);
        written.clear();
        let written = match (self.shared.options.format, self.shared.options.fields) {
            (Format::Json, LogFields::Sluice) => line,
            (Format::Json, LogFields::Otel | LogFields::Ecs) => {
                lines::json(written, stamp, unix_ms, event, &self.shared.names);
                written
            }
            (Format::Text, _) => {
                lines::text(written, stamp, unix_ms, event);
                written
            }
            (Format::Brief, _) => {
                lines::brief(written, event);
                written
            }
        };
        let is_wanted = self.shared.options.format != Format::Brief
            || !written.is_empty()
            || matches!(event, Event::AppLine { .. });
        if is_wanted && writer.push(written) {
            self.shared.flush_wanted.notify_one();
        }
        if self.shared.followers.get() > 0 {
            self.shared.line_written.notify_waiters();
        }
    }

    /// Passes lines to the writer some 50 ms after they came. Spawn it once, on the `LocalSet`; it never ends.
    pub async fn run(self) {
        loop {
            self.shared.flush_wanted.notified().await;
            tokio::time::sleep(FLUSH_AFTER).await;
            self.flush();
        }
    }

    /// Passes lines to the writer immediately, for callers that wait for them.
    pub fn flush(&self) {
        let mut state = self.shared.state.borrow_mut();
        state.writer.flush();
        let dropped = state.writer.take_dropped();
        if dropped > 0 {
            let text = format!("{dropped} log lines were dropped: the reader of standard output was too slow");
            let event = Event::Note { level: Level::Warn, text: &text };
            self.write_line(&mut state, self.shared.clock.unix_ms(), &event);
        }
    }

    /// Passes all lines to the writer and blocks for at most `timeout`. Returns true if all were written. The last call before
    /// the process ends; later lines reach only `sluice logs`.
    #[allow(clippy::must_use_candidate, reason = "there may be nobody left to tell")]
    pub fn close(&self, timeout: Duration) -> bool {
        self.flush();
        self.shared.state.borrow_mut().writer.close(timeout)
    }

    /// Subscription to the last `count` lines that match the filter, and to all later ones.
    pub fn subscribe(&self, filter: Filter, count: usize) -> Subscription {
        let from = self.shared.state.borrow().ring.back(&filter, count);
        Subscription::new(Rc::clone(&self.shared), filter, from)
    }

    /// Percentiles of the time until a request that no worker took was refused or given up, over the last minute or so.
    pub fn unserved_ms(&self) -> Percentiles {
        self.shared.state.borrow().unserved.percentiles(self.shared.clock.monotonic_ms())
    }

    /// Percentiles of queue wait over the last minute or so, of requests that a worker took.
    pub fn queue_wait_ms(&self) -> Percentiles {
        self.shared.state.borrow().queue_wait.percentiles(self.shared.clock.monotonic_ms())
    }

    /// Percentiles of service time over the last minute or so.
    pub fn service_time_ms(&self) -> Percentiles {
        self.shared.state.borrow().service_time.percentiles(self.shared.clock.monotonic_ms())
    }

    /// Requests answered by workers since the start.
    pub fn answered_total(&self) -> u64 {
        self.total(Outcome::is_answered)
    }

    /// Requests turned down by the gateway since the start.
    pub fn refused_total(&self) -> u64 {
        self.total(Outcome::is_refused)
    }

    fn total(&self, wanted: fn(Outcome) -> bool) -> u64 {
        let state = self.shared.state.borrow();
        Outcome::ALL
            .into_iter()
            .zip(state.counters.outcomes)
            .filter(|(one, _)| wanted(*one))
            .map(|(_, count)| count)
            .sum()
    }

    /// Answers of workers per second, over the last ten seconds.
    pub fn per_second(&self) -> f64 {
        self.shared.state.borrow().answered.per_second(self.shared.clock.monotonic_ms())
    }

    /// Number of requests by outcome, named as in the log. Outcomes that did not occur are left out.
    pub fn outcomes(&self) -> BTreeMap<String, u64> {
        let state = self.shared.state.borrow();
        let counts = Outcome::ALL.into_iter().zip(state.counters.outcomes);
        counts.filter(|(_, count)| *count > 0).map(|(outcome, count)| (outcome.as_str().to_owned(), count)).collect()
    }

    /// Number of requests by the code of the error that they ended with.
    pub fn errors(&self) -> BTreeMap<String, u64> {
        let state = self.shared.state.borrow();
        state.counters.errors.iter().map(|(code, count)| (code.entry().code.to_owned(), *count)).collect()
    }

    /// Number of requests by the step that they were served at, named as in the log. Steps that did not occur are left out.
    pub fn steps(&self) -> BTreeMap<String, u64> {
        let state = self.shared.state.borrow();
        let counts = Step::ALL.into_iter().map(|step| (step.as_str().to_owned(), state.counters.step_total(step)));
        counts.filter(|(_, count)| *count > 0).collect()
    }

    /// Moves the counts and times since the last call to `into`. For one caller: the history.
    pub fn take_moment(&self, into: &mut Moment) {
        into.clear();
        std::mem::swap(into, &mut self.shared.state.borrow_mut().moment);
    }

    /// Marks after the one with this number, oldest first; 0 for all that are kept.
    pub fn marks_since(&self, id: u64) -> Vec<Mark> {
        self.shared.state.borrow().marks.since(id)
    }

    /// Overlaps that [`Event::OverlapSeen`] reported since the start.
    pub fn overlaps_total(&self) -> u64 {
        self.shared.state.borrow().counters.overlaps_total
    }

    /// Writes the metrics that events change.
    pub fn write_metrics(&self, page: &mut Page) {
        let state = self.shared.state.borrow();
        state.counters.write(page);
        page.metric(&metrics::LOG_LINES_DROPPED_TOTAL).sample(&[], state.writer.dropped_total());
    }
}

#[cfg(test)]
mod tests;
