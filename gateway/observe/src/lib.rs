//! The gateway's reports to operators: log lines and metrics, trends, alarms, profiles of slow requests, traces.
//!
//! Two kinds of input meet in the [`Observer`]: one [`RequestRecord`] for each request that has ended, and the reports of
//! workers about themselves. It answers operators' queries and chooses requests to profile; none of its other data affects
//! requests. It cannot know how requests are served, because the code that serves them depends on it.

#![forbid(unsafe_code)]

mod age;
mod alarms;
mod calls;
mod context;
mod crashes;
mod deploys;
mod effects;
mod files;
mod follower;
mod graph;
mod headers;
mod minute;
mod mode;
mod past;
mod record;
mod routes;
mod runs;
mod sleep;
mod spans;
mod spending;
mod tails;
mod trials;
mod trouble;

use std::borrow::Cow;
use std::rc::Rc;

use sluice_catalog::config::Config;
use sluice_catalog::metrics;
use sluice_journal::{AccessRecord, Event, Journal, Level, LoggedHeader, Page, UpstreamUse};
use sluice_message::{Fields, Method};
use sluice_scheduler::WorkerId;
use sluice_traces::Traces;
use sluice_trends::{RequestCost, Took};
use tokio::time::Instant;

pub use age::{Beat, Growth};
pub use alarms::Alarms;
pub use calls::OutgoingCalls;
pub use crashes::Crashes;
pub use deploys::{cpu_of, finding_snapshot};
pub use effects::RenderEffects;
pub use files::{free_bytes, make_private_dir, make_room, write_whole};
pub use follower::{Followers, RouteFollower};
pub use graph::GraphReports;
pub use mode::{Mode, ShortLane};
pub use past::Past;
pub use record::{AccessLine, RequestName, RequestRecord, Run, RunCounts, UpstreamLine, Work};
pub use routes::RouteTables;
pub use runs::{ALARMING_US, CutRun, MainThreads};
pub use sluice_trends::Totals as RunTotals;
pub use spending::Spendings;
pub use tails::{ProfileOrder, TailProfiles, TailReport};
pub use trials::{Trials, VisitorKey};
pub use trouble::Trouble;

use alarms::{QueueReading, Reading};
pub use context::unix_ms;
use context::{Context, in_ms};
use headers::LoggedHeaders;

/// Collector of all reports, with one part for each subject.
pub struct Observer {
    context: Rc<Context>,
    headers: LoggedHeaders,
    /// Exporter of requests' spans.
    pub traces: Traces,
    /// Alarms about conditions that last.
    pub alarms: Alarms,
    /// The app's HTTP calls to other hosts.
    pub calls: OutgoingCalls,
    /// Workers that ended unexpectedly.
    pub crashes: Crashes,
    /// Reports of workers and browsers about rendering.
    pub effects: RenderEffects,
    /// Reports of workers about graphs of data.
    pub graph: GraphReports,
    /// Requests of routes whose workers are profiled.
    pub followers: Followers,
    /// Figures that grow with the age of workers.
    pub growth: Growth,
    /// Whether `workers.concurrency` fits the app.
    pub mode: Mode,
    /// The latest hours and the last minute.
    pub past: Past,
    /// Route tables that grow.
    pub routes: RouteTables,
    /// Uninterrupted runs of workers' main threads.
    pub runs: MainThreads,
    /// Cost of requests, by version of the app.
    pub spending: Spendings,
    /// Profiles of requests that took unusually long.
    pub tails: TailProfiles,
    /// A version on trial, compared with the present one.
    pub trials: Trials,
    /// Trouble that repeats.
    pub trouble: Trouble,
}

/// Facts that only the gateway can supply, collected once a second when alarms are judged.
#[derive(Debug, Default)]
pub struct Look {
    /// Classes with their recent CPU cost, as a multiple of their long-run cost.
    pub drifts: Vec<(Rc<str>, f64)>,
    /// Workers for short requests.
    pub lane: ShortLane,
    /// Text about certificates that are about to expire, and about names that get none.
    pub certificates: Option<String>,
    /// Text about requests in quarantine.
    pub quarantine: Option<String>,
}

impl Observer {
    /// Creates an observer that reports to this journal.
    pub fn new(config: &Rc<Config>, journal: Journal) -> Rc<Self> {
        let context = Context::new(Rc::clone(config), journal);
        Rc::new(Observer {
            headers: LoggedHeaders::new(config),
            traces: Traces::default(),
            alarms: Alarms::new(&context),
            calls: OutgoingCalls::new(&context),
            crashes: Crashes::default(),
            effects: RenderEffects::new(&context),
            graph: GraphReports::new(&context),
            followers: Followers::default(),
            growth: Growth::new(&context),
            mode: Mode::new(&context),
            past: Past::new(&context),
            routes: RouteTables::new(&context),
            runs: MainThreads::new(&context),
            spending: Spendings::default(),
            tails: TailProfiles::new(&context),
            trials: Trials::default(),
            trouble: Trouble::new(&context),
            context,
        })
    }

    /// Replaces the config that later checks use.
    pub fn set_config(&self, config: Rc<Config>) {
        self.context.set_config(config);
    }

    /// The journal, for its readers.
    pub fn journal(&self) -> &Journal {
        &self.context.journal
    }

    /// Writes an event's line and moves its metrics. Never blocks.
    pub fn emit(&self, event: Event<'_>) {
        self.context.journal.emit(event);
    }

    /// A target or URL as log lines show it.
    pub fn shown<'t>(&self, target: &'t str) -> Cow<'t, str> {
        self.context.journal.shown(target)
    }

    /// The headers of a request that its log line is to have.
    pub fn logged_headers(&self, fields: &Fields) -> Vec<LoggedHeader> {
        self.headers.of(&self.context.journal, fields)
    }

    /// Handles the end of a request: writes its line, exports its spans if its trace is kept, and adds its cost to the totals.
    pub fn ended(&self, record: &RequestRecord) {
        if let Some(work) = &record.work {
            self.add(record, work);
        }
        let Some(line) = &record.line else { return };
        self.trials.ended(record, line);
        let cpu_us = with_untold(record.work.and_then(|work| work.cpu_us), line.untold_cpu_us);
        let handler_us = record.work.and_then(|work| work.handler_us);
        let upstream = line.upstream.as_deref().map(|upstream| UpstreamUse {
            name: &upstream.name,
            target: &upstream.target,
            tries: upstream.tries,
            first_byte_ms: upstream.first_byte_ms,
            ms: upstream.ms,
        });
        let told = AccessRecord {
            request_id: &record.request_id,
            method: line.method.as_ref().map_or("", Method::as_str),
            target: &line.target,
            host: &line.host,
            class: &record.class,
            cpu_ms: cpu_us.map(in_ms),
            cpu_weight: record.work.map_or(1, |work| work.cpu_weight),
            // The two times end at different moments: see the field.
            handler_ms: handler_us.zip(line.rest.service_ms).map(|(us, service_ms)| in_ms(us).min(service_ms)),
            upstream: upstream.as_ref(),
            headers: &line.headers,
            is_traced: line.traced.is_some(),
            ..line.rest
        };
        if let Some(context) = line.traced {
            self.traces.end(|| spans::ended(context, line.scheme, &told));
        }
        self.context.journal.emit(Event::Access(told));
    }

    fn add(&self, record: &RequestRecord, work: &Work) {
        let Work { worker, generation, class, service_us, cpu_us, cpu_weight, handler_us, runs, longest } = *work;
        let cpu_us = cpu_us.filter(|_| cpu_weight > 0);
        if let Some(runs) = &runs {
            self.runs.ended(runs);
        }
        if let Some(run) = &longest {
            self.runs.remember(worker, run, Some((record.request_id.to_string(), record.class.to_string())));
        }
        let Some(service_us) = service_us else { return };
        if let Some(generation) = generation {
            let runs = runs.unwrap_or_default();
            let failed = record.line.as_ref().is_some_and(|line| line.rest.status >= 500);
            self.spending.request(generation, &record.class, &RequestCost { cpu_us, service_us, runs: &runs, failed });
        }
        self.growth.request(worker, class, &record.class, &Took { service_us, cpu_us, handler_us });
    }

    /// Records a worker's beat.
    pub fn beats(&self, beat: &Beat) {
        self.growth.beats(beat);
        self.spending.held(beat.generation, beat.worker, beat.rss_bytes);
    }

    /// Forgets a worker whose process is gone.
    pub fn exited(&self, worker: WorkerId) {
        self.mode.gone(worker);
        self.calls.gone(worker.0);
        self.runs.gone(worker.0);
        self.routes.gone(worker.0);
        self.growth.gone(worker.0);
        self.spending.gone(worker.0);
        self.trials.exited(worker.0);
    }

    /// Runs the periodic work. `workers` are those that take short requests, each with whether it holds one; `look` is called
    /// once a second.
    pub fn tick(
        &self,
        now: Instant,
        queue_length: usize,
        workers: impl Iterator<Item = (WorkerId, bool)>,
        look: impl FnOnce() -> Look,
    ) {
        self.trouble.tell_refused_connections(now);
        self.graph.tell_failures(now);
        self.mode.sample(queue_length > 0, workers);
        if let Some(queue) = self.alarms.due(now, queue_length) {
            self.judge(now, &queue, look());
        }
        self.tails.expire();
        // A collector that is away is no error of the service.
        if let Some(text) = self.traces.counts().take_failure(now) {
            self.context.note(Level::Warn, &text);
        }
    }

    /// Writes the metrics that no event changes.
    pub fn write_metrics(&self, page: &mut Page) {
        let spans = self.traces.counts();
        page.metric(&metrics::TRACE_SPANS_TOTAL);
        for (export, count) in
            [("exported", spans.exported()), ("dropped", spans.dropped()), ("failed", spans.failed())]
        {
            page.sample(&[("export", export)], count);
        }
        self.effects.write_metrics(page);
        self.graph.write_metrics(page);
        self.calls.write_metrics(page);
        self.alarms.write_metrics(page);
        self.trials.write_metrics(page);
    }

    fn judge(&self, now: Instant, queue: &QueueReading, look: Look) {
        let Look { drifts, lane, certificates, quarantine } = look;
        self.mode.look(now, lane);
        let reading = Reading {
            queue_length_min: queue.length_min,
            wait_mean_ms: queue.wait_mean_ms,
            wait_lately_ms: queue.wait_lately_ms,
            overlaps_total: self.context.journal.overlaps_total(),
            drifts,
            asleep: self.mode.asleep_while_queued(),
            asleep_when_full: self.mode.asleep_when_full(),
            long_runs: self.runs.take_unjudged(),
            growing_routes: self.routes.text(now),
            growing: self.growth.texts(now, || self.routes.per_hour(now)),
            certificates,
            crash: self.crashes.take_unjudged(),
            quarantine,
            holes: self.effects.worst_holes(now),
            state_dir: self.trouble.state_dir(),
        };
        self.alarms.judge(now, &reading);
    }
}

/// CPU time of a request, including that of workers that died with it.
fn with_untold(reported_us: Option<u64>, untold_us: u64) -> Option<u64> {
    let is_known = reported_us.is_some() || untold_us > 0;
    is_known.then(|| reported_us.unwrap_or(0).saturating_add(untold_us))
}

#[cfg(test)]
mod tests;
