//! The log's catalogue: every event that has a line, the fields of each, and the words of `outcome`.
//!
//! It must not know how lines are written or where values come from.

mod names;

pub use names::{NAMES, Names, name};

/// Subject of a line; what `sluice logs --kind` selects by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// One request, when it ended.
    Access,
    /// One line that the app wrote.
    App,
    /// Event that the gateway caused or saw.
    Gateway,
}

/// One event, and what its line holds.
#[derive(Debug, PartialEq, Eq)]
pub struct Line {
    /// The word in the field `event`.
    pub event: &'static str,
    /// Subject of the line.
    pub kind: LineKind,
    /// Description of the event.
    pub text: &'static str,
    /// Fields after the [`COMMON`] ones, in the order of the line.
    pub fields: &'static [Field],
}

/// One field of a line.
#[derive(Debug, PartialEq, Eq)]
pub struct Field {
    /// Name in JSON.
    pub name: &'static str,
    /// `string`, `number`, `boolean` or `object`.
    pub json_type: &'static str,
    /// Unit; empty if there is nothing to count.
    pub unit: &'static str,
    /// Case in which it is `null`; empty if never.
    pub null_when: &'static str,
    /// Meaning.
    pub text: &'static str,
}

/// A word of the field and metric label `outcome`, with what it means.
#[derive(Debug, PartialEq, Eq)]
pub struct OutcomeWord {
    /// The word.
    pub name: &'static str,
    /// End of the request, and the party that ended it.
    pub text: &'static str,
    /// Whether the client did not get what it asked for, and did nothing wrong: what error rates count.
    pub is_failure: bool,
}

impl LineKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Access, Self::App, Self::Gateway];

    /// The word after `sluice logs --kind`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Access => "access",
            Self::App => "app",
            Self::Gateway => "gateway",
        }
    }
}

/// The catalogue's words on the event of this name.
#[must_use]
pub fn line(event: &str) -> Option<&'static Line> {
    LINES.iter().find(|line| line.event == event)
}

macro_rules! field {
    ($name:literal $json_type:ident $unit:literal $null_when:literal $text:literal) => {
        Field { name: $name, json_type: stringify!($json_type), unit: $unit, null_when: $null_when, text: $text }
    };
}

macro_rules! lines {
    ($($event:literal $kind:ident $text:literal { $($name:literal $json_type:ident $unit:literal $null_when:literal $field_text:literal)* })+) => {
        /// Every event, in the order of the reference.
        pub static LINES: &[Line] = &[$(Line {
            event: $event,
            kind: LineKind::$kind,
            text: $text,
            fields: &[$(field!($name $json_type $unit $null_when $field_text)),*],
        }),+];
    };
}

/// Fields that every line begins with.
pub static COMMON: &[Field] = &[
    field!("time" string "" "" "When, in UTC (RFC 3339, milliseconds). For requests, when the first byte came."),
    field!("level" string "" "" "`debug`, `info`, `warn` or `error`."),
    field!("event" string "" "" "Name of the event, which heads its section below."),
];

lines! {
    "access" Access "A request has ended, however it ended. Switched off with `log.access = false`." {
        "request_id" string "" "" "The id that the app gets as `X-Request-Id`."
        "method" string "" "" "Request method; empty if none could be read."
        "target" string "" "" "Path and query, as `log.query` says, cut after 2,048 bytes."
        "host" string "" "" "The Host that was asked for; empty if none could be read."
        "class" string "" "" "Requests expected to cost alike; empty if none was found."
        "worker" number "" "no worker got it" "Id of the worker."
        "tries" number "" "" "Workers that got it: 0, 1, or 2 where the first died with it."
        "step" string "" "it was not for a worker" "Answer to the request: `render`, or without room or time for that `stale` (a cached page), `shell` (a page that the browser fills) or `refuse`."
        "session" string "" "it was not for a worker, or no session was asked about" "Whether the worker that keeps the client's session got it: `kept`, `moved` where that worker has gone, or `new`."
        "cache" string "" "the page cache is off, or it was not for the app" "Result of the page cache: `hit`, `stale`, `joined` (it got the render of another request), `miss` or `bypass`."
        "includes" number "" "the page was not composed" "Includes that the page asked for."
        "includes_failed" number "" "the page was not composed" "Those of them that left their `alt`, or nothing."
        "status" number "" "" "Status that the client got; 0 when it got none."
        "error" string "" "the gateway made no error" "Code of the error catalogue."
        "bytes_in" number "bytes" "" "Request body."
        "bytes_out" number "bytes" "" "Response body that was sent to the client."
        "receive_ms" number "milliseconds" "" "From the first byte until the request was whole."
        "queue_ms" number "milliseconds" "no worker got it" "Queue wait: from the whole request until a worker took it (the last one, where two did)."
        "unserved_ms" number "milliseconds" "a worker got it, or it was not for one" "From the whole request until it was refused or its client left, where no worker took it."
        "service_ms" number "milliseconds" "no worker got it" "Service time: in the worker, until its answer was complete or left the slot as a stream."
        "total_ms" number "milliseconds" "" "From the first byte to the end."
        "cpu_ms" number "milliseconds" "the worker did not report it, or did not measure it: others shared the worker, or the class is light and the request was not in the sample" "The request's own CPU time in the worker."
        "handler_ms" number "milliseconds" "the app's router does not show its handlers, or the report was one of several in a line" "Time from the beginning of the route's handler until the worker reports the end of the answer, and at most `service_ms`. The rest of `service_ms` is parsing, middleware and waiting before it."
        "outcome" string "" "" "How the request ended and who ended it; the words are below."
        "peer" string "" "" "The client's address, or what a trusted peer said it was."
        "trace_id" string "" "the app was given no `traceparent`" "The trace id of the `traceparent` that the app gets (`server.trace_context`)."
        "headers" object "" "it had none of those that `log.headers` names" "Headers of the request that `log.headers` names, each cut after 512 bytes."
    }
    "app" App "The app wrote a line to its standard output or error. `level` is that of a JSON line (`level` or `severity`, as pino, winston and bunyan write it). Other lines of standard error are `error` with a stack and `warn` without, those of standard output `info`." {
        "worker" number "" "" "Id of the worker that wrote it."
        "stream" string "" "" "`stdout` or `stderr`."
        "line" string "" "it is a JSON object" "The line, without its line feed. Lines that continue it, such as a stack, follow after line feeds."
        "json" object "" "it is no JSON object" "The line as the app wrote it."
    }
    "listening" Gateway "The gateway accepts connections." {
        "url" string "" "" "URL that clients reach the gateway at."
    }
    "worker_started" Gateway "A worker's process was started." {
        "worker" number "" "" "Id of the worker."
        "pid" number "" "" "Its process id."
        "generation" number "" "" "Version of the app that it runs."
        "lane" string "" "" "`short`, or `long` for a worker that was started for long requests beyond `workers.count`."
    }
    "worker_ready" Gateway "A worker listens (and has said `ready`, where that is asked for): it is warmed or takes requests." {
        "worker" number "" "" "Id of the worker."
        "after_ms" number "milliseconds" "" "Time since its start."
    }
    "worker_exited" Gateway "A worker's process is gone." {
        "worker" number "" "" "Id of the worker."
        "status" string "" "" "How it ended, in words."
        "reason" string "" "" "Why, as the label of the metric: `exited`, `signalled`, `out_of_memory`, `stuck`, `blocked`, `start_timeout`, `stop_timeout` or `abandoned`."
        "expected" boolean "" "" "Whether the gateway had asked it to leave."
        "exception" string "" "nothing was thrown, or that is not known" "First line of the exception that ended it, cut after 300 characters."
        "held" number "" "" "Requests that it held."
        "class" string "" "it held none, or several and it is not known which of them it was" "The class of the request that it ended with."
        "request_id" string "" "as `class`" "Its id."
        "method" string "" "as `class`" "Its method."
        "target" string "" "as `class`" "Its path, without the query."
    }
    "worker_overdue" Gateway "A worker's event loop has not turned for 1 s while its main thread burnt CPU. Its priority is lowered, and a stand-in is started for its place." {
        "worker" number "" "" "Id of the worker."
        "silent_ms" number "milliseconds" "it is heard again and its first stand-in did not come up" "How long nothing had been heard of it."
        "request_id" string "" "it held no request" "The request that it was given last."
        "method" string "" "it held no request" "Its method."
        "target" string "" "it held no request" "Its path and query, cut after 2,048 bytes."
    }
    "worker_stuck" Gateway "A worker's event loop did not turn while its main thread burnt CPU. It is killed." {
        "worker" number "" "" "Id of the worker."
        "silent_ms" number "milliseconds" "" "How long nothing had been heard of it."
        "function" string "" "the place is not known" "The innermost function of the app that runs; empty for one without a name."
        "file" string "" "the place is not known" "Its file, relative to the app's directory; that of the source where there is a source map."
        "line" number "" "the place is not known" "The line that runs, from 1."
        "column" number "" "the place is not known" "The column, from 1."
        "stack" string "" "the place is not known" "The innermost functions with their places, those of Node.js among them, `<` between them."
        "hottest" string "" "no profile could be taken" "The functions that the profile names first, with the time in themselves."
        "why" string "" "the place is known" "Why the place is not known."
        "request_id" string "" "it held no request" "The request that it was given last."
        "method" string "" "it held no request" "Its method."
        "target" string "" "it held no request" "Its path and query, cut after 2,048 bytes."
        "profile" string "" "none could be taken" "The file of a short CPU profile. A note follows if it could not be written."
    }
    "worker_blocked" Gateway "A worker's event loop did not turn while its main thread waited. It is killed." {
        "worker" number "" "" "Id of the worker."
        "silent_ms" number "milliseconds" "" "How long nothing had been heard of it."
        "waits_in" string "" "" "Activity of the main thread as the kernel reports it: state, kernel function, system call."
        "request_id" string "" "it held no request" "The request that it was given last."
        "method" string "" "it held no request" "Its method."
        "target" string "" "it held no request" "Its path and query, cut after 2,048 bytes."
    }
    "worker_backoff" Gateway "A worker is started again only after a pause." {
        "worker" number "" "" "Id of the worker that exited."
        "delay_ms" number "milliseconds" "" "The pause."
    }
    "worker_start_failed" Gateway "A worker never came to listen." {
        "worker" number "" "" "Id of the worker."
        "code" string "" "" "Code of the error catalogue."
        "text" string "" "" "Remedy."
        "stderr" string "" "" "The end of what it wrote to standard error."
    }
    "worker_recycled" Gateway "A successor is started for a healthy worker, which serves until then." {
        "worker" number "" "" "Id of the worker that is replaced."
        "reason" string "" "" "Limit that the worker reached: `requests` or `memory`."
    }
    "reload_started" Gateway "Workers of a new generation are started beside those that they replace." {
        "generation" number "" "" "The new version of the app."
        "by" string "" "" "Who asked: a signal's name or `sluice reload`."
    }
    "reload_finished" Gateway "Every place has a worker of the new generation." {
        "generation" number "" "" "The version of the app in force."
        "after_ms" number "milliseconds" "" "Time since it was asked for."
    }
    "reload_abandoned" Gateway "A generation was given up; the workers that it had not replaced stay." {
        "generation" number "" "" "The version that was given up."
        "reason" string "" "" "Why."
        "superseded" boolean "" "" "Whether only a later reload or an upgrade stood in the way."
        "stderr" string "" "" "The end of what the worker that failed wrote to standard error."
    }
    "reload_refused" Gateway "A reload was asked for and did not begin." {
        "reason" string "" "" "Why."
    }
    "reload_compared" Gateway "A minute after a reload: service time of the new generation beside that of the one before." {
        "generation" number "" "" "The version of the app in force."
        "service_p95_before_ms" number "milliseconds" "no worker had answered in the minute before" "95th percentile over the last minute of the generation before."
        "service_p95_after_ms" number "milliseconds" "no worker has answered since" "95th percentile over the first minute of this one."
    }
    "overlap_seen" Gateway "A worker held more requests than it may. Please report it." {
        "worker" number "" "" "Id of the worker."
        "count" number "" "" "How many more overlaps than were told before."
    }
    "scaled" Gateway "The number of workers wanted was changed." {
        "from" number "" "" "Workers wanted before."
        "to" number "" "" "Workers wanted from now on."
    }
    "dial_changed" Gateway "`sluice dial` or a reload has changed for whom the server renders (`render.server`)." {
        "shares" string "" "" "The shares of visitors in force."
    }
    "task_lost" Gateway "A fault in the gateway itself has ended one of its tasks. It leaves as on SIGTERM, with exit code 6. It is a bug: please report it with this line." {
        "task" string "" "" "The task: `tick`, `accept`, `watch` and the like."
        "place" string "" "" "Place of the fault in the gateway's code."
    }
    "request_quarantined" Gateway "A request has ended a second worker: it is answered without one from now on." {
        "request_id" string "" "" "The request that did."
        "text" string "" "" "Known facts, and how to release the request."
    }
    "draining" Gateway "The gateway finishes what it has and takes no more." {
        "reason" string "" "" "Why."
    }
    "stopped" Gateway "The gateway is about to be gone." {
    }
    "long_run" Gateway "A worker's main thread ran for longer than a second without a break: nothing else of the worker ran meanwhile." {
        "worker" number "" "" "Id of the worker."
        "run_ms" number "milliseconds" "" "How long."
        "collected_ms" number "milliseconds" "" "How much of that the garbage collector took."
        "cpu_ms" number "milliseconds" "that is not known" "CPU time of the main thread meanwhile."
        "queued_ms" number "milliseconds" "the system does not tell (only Linux does)" "How long the main thread could have run and got no CPU."
        "spent" string "" "the CPU time is not known" "`computing`; `starved`, where the thread waited for a CPU for half of the time or more; `waiting`, where it slept for half of the time or more: a synchronous call."
        "class" string "" "it was no request's run, or that is not known" "The class of the request whose run it was."
        "request_id" string "" "it was no request's run, or that is not known" "Its id."
        "method" string "" "it was no request's run, or that is not known" "Its method."
        "target" string "" "it was no request's run, or that is not known" "Its path and query, cut after 2,048 bytes."
    }
    "alarm_raised" Gateway "Something is wrong that lasts. Said once; it stays in `sluice status` until it is over." {
        "alarm" string "" "" "Name of the alarm: `steady_queue`, `cost_drift`, `overlap`, `workers_asleep`, `long_run`, `routes_grow`, `grows_with_age`, `certificates`, `crash`, `quarantine` or `holes`."
        "class" string "" "it is about no single class" "The class that it is about."
        "text" string "" "" "Observation and remedy."
    }
    "alarm_cleared" Gateway "An alarm is over." {
        "alarm" string "" "" "Name of the alarm."
        "class" string "" "it was about no single class" "The class that it was about."
        "after_ms" number "milliseconds" "" "How long it lasted."
    }
    "note" Gateway "Anything else that an operator should read." {
        "text" string "" "" "One sentence."
    }
}

/// Every outcome, in the order of a request's way through the gateway.
pub static OUTCOMES: &[OutcomeWord] = &[
    fine("answered", "The app answered and the client has the answer, or as much of an event stream as it wanted."),
    failure("app_error", "The app answered with a 5xx status of its own."),
    fine("edge", "The gateway answered by itself: ping, readiness or a file."),
    fine("rejected", "The request was malformed, over a limit, or not allowed; no worker saw it."),
    failure(
        "quarantined",
        "Workers died with requests like this one, so no worker got it, or no further one (`sluice quarantine`).",
    ),
    failure("shed", "Refused at once for lack of room, or because the client was over its rate; no worker saw it."),
    failure("timed_out", "The gateway waited as long as it may: for the client, in the queue, or for the worker."),
    failure("worker_died", "The worker's process ended while it held the request."),
    failure("worker_fault", "The worker's answer was malformed or cut short."),
    failure("gateway_fault", "The gateway failed while it had the request."),
    fine("client_gone_receiving", "The client left before its request was whole."),
    fine("client_gone_queued", "The client left while the request was queued; no worker saw it."),
    fine("client_gone_in_service", "The client left while a worker had the request."),
    fine("upgraded", "The connection became another protocol, such as WebSocket."),
    fine("stream_idle", "An event stream or upgraded connection was closed because nothing moved on it for too long."),
];

const fn fine(name: &'static str, text: &'static str) -> OutcomeWord {
    OutcomeWord { name, text, is_failure: false }
}

const fn failure(name: &'static str, text: &'static str) -> OutcomeWord {
    OutcomeWord { name, text, is_failure: true }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn events_are_unique_and_no_line_has_a_field_twice() {
        let events: BTreeSet<_> = LINES.iter().map(|line| line.event).collect();
        assert_eq!(events.len(), LINES.len());
        for line in LINES {
            let names: Vec<_> = COMMON.iter().chain(line.fields).map(|field| field.name).collect();
            assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{}", line.event);
        }
    }

    #[test]
    fn fields_with_a_unit_are_numbers_and_end_or_begin_with_it() {
        for field in LINES.iter().flat_map(|line| line.fields) {
            match field.unit {
                "" => {}
                "milliseconds" => assert!(field.json_type == "number" && field.name.ends_with("_ms"), "{}", field.name),
                "bytes" => assert!(field.json_type == "number" && field.name.starts_with("bytes_"), "{}", field.name),
                unit => panic!("{} counts {unit}", field.name),
            }
        }
    }
}
