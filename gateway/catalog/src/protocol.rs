//! The lines between gateway and workers on the control channel: one JSON object each, with its kind in `type`. The types of
//! both sides and the page about them are made from this. It must not know what is done with a line.

/// Type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number, from 0.
    Whole,
    /// Any number.
    Number,
    /// Yes or no.
    Flag,
    /// Text.
    Text,
    /// One of these words, which are a type of this name.
    Word(&'static str, &'static [&'static str]),
    /// Value as the app gave it.
    Any,
    /// A record of [`RECORDS`].
    Record(&'static str),
    /// A type that both sides have elsewhere.
    Other {
        /// Type in TypeScript.
        typescript: &'static str,
        /// Type in Rust.
        rust: &'static str,
    },
}

/// Whether and how often a field is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// Field that is always there.
    One,
    /// Field that is always there, and `null` if it has no value.
    OrNull,
    /// Left out where there is nothing to say.
    OrAbsent,
    /// A list.
    Many,
    /// A list that is left out where it is empty.
    ManyOrAbsent,
}

/// One field of a line or of a record.
#[derive(Debug)]
pub struct Field {
    /// Name in JSON.
    pub name: &'static str,
    /// Type of the value.
    pub kind: Kind,
    /// Whether it is there.
    pub times: Times,
    /// Meaning; empty where the name says it.
    pub text: &'static str,
}

/// One kind of line, or a record within lines.
#[derive(Debug)]
pub struct Message {
    /// The value of `type`, or the record's name.
    pub name: &'static str,
    /// Meaning, and what follows from it.
    pub text: &'static str,
    /// Fields beside `type`.
    pub fields: &'static [Field],
}

const fn field(name: &'static str, kind: Kind, text: &'static str) -> Field {
    Field { name, kind, times: Times::One, text }
}

impl Field {
    const fn or_null(self) -> Self {
        Field { times: Times::OrNull, ..self }
    }

    const fn or_absent(self) -> Self {
        Field { times: Times::OrAbsent, ..self }
    }

    const fn many(self) -> Self {
        Field { times: Times::Many, ..self }
    }

    const fn many_or_absent(self) -> Self {
        Field { times: Times::ManyOrAbsent, ..self }
    }
}

const PORT: Field = field("port", Kind::Other { typescript: "number", rust: "u16" }, "").or_null();
const HOST: Field = field("host", Kind::Text, "").or_null();
const PATH: Field = field("path", Kind::Text, "").or_null();
const NUMBER: Field =
    field("number", Kind::Whole, "Counts what the gateway asks of this worker in the way of profiles.");
const DURATION: Field = field("duration_ms", Kind::Whole, "");
const FILE: Field = field("file", Kind::Text, "");
const SERIAL: Field = field("serial", Kind::Whole, "Counts such lines, so that the answer names its own.");
const SOCKET: Field = field("socket", Kind::Text, "Path of the unix socket where the worker takes its connections.");

/// Parts of lines.
pub static RECORDS: &[Message] = &[
    Message { name: "Requested", text: "An address that the app asked for.", fields: &[PORT, HOST, PATH] },
    Message {
        name: "Done",
        text: "A request that the app has let go.",
        fields: &[
            field("id", Kind::Whole, ""),
            field("cpu_us", Kind::Whole, ""),
            field("shared", Kind::Flag, "CPU time of others is in it: what the request used itself is not known.")
                .or_absent(),
            field(
                "weight",
                Kind::Whole,
                "Requests of its class for which its CPU time stands, as the label said; 1 where it is absent. 0: the CPU time was \
                 not to be measured, and is told because the request took 5 ms or longer.",
            )
            .or_absent(),
            field(
                "left",
                Kind::Word("Leaving", &["end", "stream", "upgrade", "wait", "abandoned"]),
                "Its response ended; it became an event stream or a raw connection; the app waits with its answer; or \
                 it never had it. The head of a stream may be sent with the first event; the app has a raw connection \
                 in its hands.",
            ),
            field("route", Kind::Text, "The template of the app's router, where this worker has not named it before.")
                .or_absent(),
            field(
                "runs",
                Kind::Whole,
                "How many of its uninterrupted runs took 1 to 10 ms, 10 to 100 ms, 100 ms to 1 s, and longer.",
            )
            .many_or_absent(),
            field("longest", Kind::Record("LongRun"), "The longest of them, from 10 ms.").or_absent(),
            field(
                "handler_us",
                Kind::Whole,
                "Time since the handler of its route began, where the router shows that. Only the first request of a \
                 line has it.",
            )
            .or_absent(),
        ],
    },
    Message {
        name: "LongRun",
        text: "An uninterrupted run of the main thread.",
        fields: &[
            field("us", Kind::Whole, ""),
            field("collected_us", Kind::Whole, "How much of it the garbage collector took."),
            field("cpu_us", Kind::Whole, "CPU time of the main thread meanwhile, where that is known.").or_absent(),
            field(
                "queued_us",
                Kind::Whole,
                "How long the main thread could have run and got no CPU. Linux alone tells.",
            )
            .or_absent(),
            field("ago_ms", Kind::Whole, "How long ago it ended."),
            field("id", Kind::Whole, "The request whose run it was, where that is known.").or_absent(),
        ],
    },
    Message {
        name: "Adder",
        text: "A place in the app that adds routes.",
        fields: &[
            field("file", Kind::Text, "A path, or a `file:` URL."),
            field("line", Kind::Whole, "From 1."),
            field("column", Kind::Whole, "From 1."),
            field("added", Kind::Whole, "Entries that it has added while the worker served."),
        ],
    },
    Message {
        name: "Taken",
        text: "A profile that a worker has written.",
        fields: &[
            field("duration_ms", Kind::Number, "From its start to its end."),
            field("used_ms", Kind::Number, "CPU time of the process meanwhile, its helper threads included."),
            field("renders", Kind::Whole, "React renders that `@sluice/react` began meanwhile."),
            field("node", Kind::Text, "Path of the Node.js that runs the worker."),
        ],
    },
    Message {
        name: "Rendered",
        text: "Renders of one component that ended alike.",
        fields: &[
            field("component", Kind::Text, ""),
            field("outcome", Kind::Text, "`rendered`, `cached`, `error` and the like."),
            field("count", Kind::Whole, ""),
            field("cpu_us", Kind::Whole, ""),
        ],
    },
    Message {
        name: "Spent",
        text: "Pages with one setting of the dial.",
        fields: &[
            field("setting", Kind::Text, "The label that the pages carry."),
            field("pages", Kind::Whole, ""),
            field("cpu_us", Kind::Whole, "CPU time of their components."),
        ],
    },
    Message {
        name: "Wanted",
        text: "Pages that the app wants purged: one of the first four.",
        fields: &[
            field("url", Kind::Text, "A URL, or a path on all hosts.").or_absent(),
            field("prefix", Kind::Text, "The beginning of URLs, or of paths on all hosts.").or_absent(),
            field("tag", Kind::Text, "").or_absent(),
            field("all", Kind::Flag, "").or_absent(),
            field("soft", Kind::Flag, "They stay as stale ones.").or_absent(),
        ],
    },
];

/// Lines of workers.
pub static TO_GATEWAY: &[Message] = &[
    Message {
        name: "hello",
        text: "The first line. The pid that is signalled is the kernel's word for it, and one process speaks for a worker.",
        fields: &[
            field("worker", Kind::Whole, ""),
            field("marks", Kind::Flag, "Heads of responses carry the tokens of their requests."),
            field(
                "takes_ahead",
                Kind::Flag,
                "Requests may be handed over ahead of time: the pipe for their numbers is open.",
            ),
        ],
    },
    Message {
        name: "listening",
        text: "The main server listens: the worker takes requests. Once more: another server of the app has taken the \
               role, and connections to the old one are given up.",
        fields: &[
            field("requested", Kind::Record("Requested"), ""),
            field("tls", Kind::Flag, "It is an HTTPS server, to which the gateway talks in clear."),
            field(
                "waited_ms",
                Kind::Whole,
                "How long it was waited for a server on another port, in vain; null where this one was meant.",
            )
            .or_null(),
            field("others", Kind::Record("Requested"), "Servers of the app that might have been meant as well.").many(),
        ],
    },
    Message {
        name: "closing",
        text: "The main server was closed: the worker gets nothing more. It is stopped when it holds nothing, and is \
               replaced at once if it holds something, even if a server listens again.",
        fields: &[],
    },
    Message {
        name: "aux",
        text: "A further `listen()`: the gateway binds the address and passes its connections on.",
        fields: &[
            PORT,
            HOST,
            PATH,
            SOCKET,
            field("preface", Kind::Flag, "Connections there begin with the addresses of their clients."),
        ],
    },
    Message { name: "aux-closed", text: "Such a server was closed.", fields: &[SOCKET] },
    Message {
        name: "done",
        text: "Requests that the app has let go, with their CPU time. Frees a slot whose response broke; of a stream, an \
               upgrade or a long poll, the slot.",
        fields: &[
            field("requests", Kind::Record("Done"), "").many(),
            field(
                "ended",
                Kind::Whole,
                "Requests whose responses have ended and of which nothing else is told: their CPU time was not to be measured.",
            )
            .many_or_absent(),
        ],
    },
    Message {
        name: "busy",
        text: "The app was not given request `id`, because it has not ended request `by`, whose last byte was read. \
               Request `id` goes back to the queue.",
        fields: &[field("id", Kind::Whole, ""), field("by", Kind::Whole, "")],
    },
    Message {
        name: "asks-itself",
        text: "The app has connected to the gateway's own port, or that connection has closed. `port` is the connection's local one; its \
               requests go before others.",
        fields: &[
            PORT,
            field("closed", Kind::Flag, "Whether it has closed."),
        ],
    },
    Message {
        name: "idle",
        text: "Node's parser refused something and the app holds no request. Frees a slot whose response broke, as no `done` \
               will come.",
        fields: &[],
    },
    Message {
        name: "overlong",
        text: "A response was longer than it announced; what was over was cut. The log names the request.",
        fields: &[
            field("request", Kind::Text, "Its `X-Request-Id`."),
            field("method", Kind::Text, ""),
            field("target", Kind::Text, ""),
            field("bytes", Kind::Whole, "How many were over."),
            field("more", Kind::Whole, "Such responses before it of which no line told."),
        ],
    },
    Message {
        name: "raw",
        text: "The app writes to connections itself, past its responses: from then on each connection of the worker carries \
               one request.",
        fields: &[field(
            "dropped_bytes",
            Kind::Whole,
            "What of it was dropped, as it could have been another's answer.",
        )],
    },
    Message {
        name: "resets",
        text: "The app has an `onReset` hook, so with `while-waiting` it gets no second request while it holds one.",
        fields: &[],
    },
    Message {
        name: "breathes",
        text: "The main thread is in a loop that lets others in (`@sluice/breathe`). For the next 120 ms, the worker \
               may get one more of the requests that are queued. Each request that it is given counts up the byte in \
               the file `$SLUICE_SOCKET.given`, which the loop reads. Every 50 ms of such a loop, and when that byte \
               has changed.",
        fields: &[],
    },
    Message {
        name: "look",
        text: "The answer to a `look` of the gateway.",
        fields: &[
            field("rests", Kind::Flag, "All that the app holds waits."),
            field(
                "run_us",
                Kind::Whole,
                "Time that it has run by then, and a microsecond for each request that came or went.",
            ),
            field("active_us", Kind::Whole, "Time for which its event loop was active."),
        ],
    },
    Message {
        name: "beat",
        text: "Every second, so that its absence says that the event loop does not turn.",
        fields: &[
            field("rss_bytes", Kind::Whole, ""),
            field("heap_used_bytes", Kind::Whole, ""),
            field("elu", Kind::Number, "Utilization of the event loop, from 0 to 1."),
            field("loop_delay_ms_max", Kind::Number, "The longest time for which the event loop was blocked."),
            field("overlaps_total", Kind::Whole, "Requests that the app got beyond what it may hold."),
            field("cpu_us_total", Kind::Whole, ""),
            field(
                "gc_share",
                Kind::Number,
                "The collector's part of the CPU time in the latest windows in which requests shared the worker.",
            )
            .or_absent(),
            field("lost_share", Kind::Number, "The part of it that was no request's.").or_absent(),
        ],
    },
    Message {
        name: "memory",
        text: "Memory in use, which bounds how many requests may wait in the worker. With each beat, and whenever the app holds a quarter \
               more requests than when it was told last, 16 at least.",
        fields: &[
            field("heap_used_bytes", Kind::Whole, ""),
            field("heap_bytes_max", Kind::Whole, "Limit of the heap, without its young generation."),
            field("rss_bytes", Kind::Whole, ""),
        ],
    },
    Message {
        name: "runs",
        text: "Uninterrupted runs of the main thread: from the event loop's call into JavaScript until the callbacks, ticks and \
               microtasks of that call are done. Since the worker serves; every 10 s, and within 250 ms of a run above 1 s.",
        fields: &[
            field("counts", Kind::Whole, "Runs by duration, in the buckets of `RUN_BOUNDS_US`; the last is for longer ones.")
                .many(),
            field("time_us", Kind::Whole, "Time in the runs of each bucket.").many(),
            field("observed_us", Kind::Whole, "For how long was watched."),
            field("collections", Kind::Whole, "Pauses of the garbage collector."),
            field("collected_us", Kind::Whole, "Time in them."),
            field(
                "long",
                Kind::Record("LongRun"),
                "Runs since the line before: those above 1 s, and the longest of those from 10 ms that were no request's.",
            )
            .many(),
        ],
    },
    Message {
        name: "threw",
        text: "An exception that nothing caught. The process ends, unless the app handles 'uncaughtException'.",
        fields: &[
            field("text", Kind::Text, "Its first line."),
            field("id", Kind::Whole, "The request that was served at that moment, where that is known.").or_absent(),
            field("cpu_us_total", Kind::Whole, ""),
        ],
    },
    Message {
        name: "turn",
        text: "The event loop turns, and all requests that have ended are reported. Four times a second.",
        fields: &[],
    },
    Message {
        name: "react",
        text: "React renders of the process so far, and those of them that were left to react-dom, by why.",
        fields: &[
            field("renders", Kind::Whole, ""),
            field(
                "reasons",
                Kind::Other {
                    typescript: "Readonly<Record<string, number>>",
                    rust: "std::collections::BTreeMap<String, u64>",
                },
                "",
            ),
        ],
    },
    Message {
        name: "component-cache",
        text: "The cache of `<Cached>` of `@sluice/react`: what it did so far, and what it holds. With a beat, where it has changed.",
        fields: &[
            field("hits", Kind::Whole, ""),
            field("misses", Kind::Whole, ""),
            field("evictions", Kind::Whole, "Entries that made room for others."),
            field("entries", Kind::Whole, ""),
            field("bytes", Kind::Whole, "About what the entries take in memory."),
            field("bytes_max", Kind::Whole, "What they may take."),
        ],
    },
    Message {
        name: "routes-grown",
        text: "The tables of the app's routers have grown or shrunk since the worker has served for a second. Once a second at most.",
        fields: &[
            field("size", Kind::Whole, "Entries of all tables."),
            field("added", Kind::Whole, "How many of them are more than then."),
            field("places", Kind::Record("Adder"), "Those that have added most.").many(),
        ],
    },
    Message {
        name: "react-off",
        text: "React is to be rendered by `@sluice/react` and is not.",
        fields: &[field("why", Kind::Text, "")],
    },
    Message {
        name: "profiled",
        text: "The answer to `profile`, `heap` or `routes`: one of both.",
        fields: &[
            NUMBER,
            field("taken", Kind::Record("Taken"), "").or_absent(),
            field("error", Kind::Text, "").or_absent(),
        ],
    },
    Message {
        name: "tailed",
        text: "The request that was to be profiled is over, with what it took; `file` is empty where it took less than was said.",
        fields: &[
            field("id", Kind::Whole, ""),
            field("file", Kind::Text, ""),
            field("file_bytes", Kind::Whole, "Its size."),
            field("used_us", Kind::Whole, "CPU time of the process from its begin to its end."),
            field("service_us", Kind::Whole, "From its begin to its end."),
            field("overhead_us", Kind::Whole, "What the profile took of the worker before and after it."),
        ],
    },
    Message {
        name: "rendered",
        text: "Components and pages that were rendered since the line before, for `sluice status`, metrics and the dashboard. A \
               second after the first of them.",
        fields: &[
            field("components", Kind::Record("Rendered"), "").many(),
            field("settings", Kind::Record("Spent"), "").many(),
            field("variants", Kind::Text, "Labels of variants that pages carried.").many(),
        ],
    },
    Message {
        name: "overrun",
        text: "A render of a component went over its CPU budget, or the first one after such renders did not. At once, as the \
               worker may be replaced for it.",
        fields: &[
            field("component", Kind::Text, "With its version, where it has one."),
            field("over", Kind::Flag, "It went over its budget."),
        ],
    },
    Message {
        name: "hears-messages",
        text: "The app has a `'message'` listener, so SIGTERM waits a while.",
        fields: &[],
    },
    Message {
        name: "send",
        text: "A message that the app gave to `process.send`; `\"ready\"` counts where `workers.wait_ready` asks for \
               it.",
        fields: &[field("message", Kind::Any, "")],
    },
    Message {
        name: "purge",
        text: "The app wants pages purged. The next such line comes after the answer, `purged`.",
        fields: &[SERIAL, field("purges", Kind::Record("Wanted"), "").many()],
    },
    Message {
        name: "parts-purged",
        text: "The answer to `purge-parts`.",
        fields: &[SERIAL],
    },
];

/// Lines of the gateway.
pub static TO_WORKER: &[Message] = &[
    Message {
        name: "message",
        text: "A `'message'` for the app, today only `\"shutdown\"`. It goes out before SIGTERM, which follows at once, or \
               after half of `workers.stop_timeout_ms` if the app has said `hears-messages`.",
        fields: &[field("message", Kind::Any, "")],
    },
    Message {
        name: "render",
        text: "How much of a page the server renders, and where browsers report to. After `hello`, and within a second of a change.",
        fields: &[
            field(
                "server",
                Kind::Other { typescript: "Readonly<Record<string, number>>", rust: "BTreeMap<String, f64>" },
                "Shares of visitors from 0 to 1, by the entries of `render.server`; always one for `*`.",
            ),
            field("vitals", Kind::Text, "Path that browsers report to."),
        ],
    },
    Message {
        name: "overruns",
        text: "Components whose latest renders, in all workers, went over their CPU budgets. After `hello`, and within a second of a change.",
        fields: &[
            field("heard", Kind::Whole, "Lines `overrun` of this worker that are in the counts."),
            field(
                "components",
                Kind::Other {
                    typescript: "Readonly<Record<string, { readonly count: number; readonly ago_ms: number }>>",
                    rust: "serde_json::Value",
                },
                "By component: how many renders in a row, and how long ago the latest was.",
            ),
        ],
    },
    Message {
        name: "look",
        text: "Say whether all that the app holds waits. While requests are queued, elsewhere than on Linux.",
        fields: &[],
    },
    Message {
        name: "profile",
        text: "Take a CPU profile for so long, and write it to this file.",
        fields: &[
            NUMBER,
            DURATION,
            FILE,
            field(
                "requests",
                Kind::Flag,
                "Write beside it when which request ran, to `file` with `.requests` appended.",
            ),
        ],
    },
    Message {
        name: "heap",
        text: "Write to this file what the heap holds (`snapshot`, which blocks the worker meanwhile), or a sample of \
               what the app allocates for so long. The sample is of what is left at the end (`sampling`), or of all \
               (`allocations`).",
        fields: &[
            NUMBER,
            field("kind", Kind::Word("HeapKind", &["snapshot", "sampling", "allocations"]), ""),
            DURATION,
            FILE,
        ],
    },
    Message {
        name: "routes",
        text: "Write the tables of the app's routers to this file, with what is wrong with them.",
        fields: &[NUMBER, FILE],
    },
    Message {
        name: "drop-profile",
        text: "The client that asked for the profile that is being taken has gone: end the profile, and write \
               nothing.",
        fields: &[],
    },
    Message {
        name: "purged",
        text: "The purges that the `purge` of this number asked for are done.",
        fields: &[SERIAL, field("counts", Kind::Whole, "Variants of pages, of each of its purges.").many()],
    },
    Message {
        name: "purge-parts",
        text: "Purge the HTML of `<Cached>` with these tags, or all of it, so that no page is made of it. The next such line comes after \
               the answer.",
        fields: &[SERIAL, field("tags", Kind::Text, "").many(), field("all", Kind::Flag, "")],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_means_the_same_in_every_line() {
        let fields: Vec<&Field> = TO_GATEWAY.iter().flat_map(|message| message.fields).collect();
        for field in &fields {
            assert_ne!(field.name, "type");
            assert!(fields.iter().filter(|other| other.name == field.name).all(|other| other.kind == field.kind));
        }
    }

    #[test]
    fn every_record_that_is_named_is_there() {
        for message in RECORDS.iter().chain(TO_GATEWAY).chain(TO_WORKER) {
            assert!(!message.text.is_empty(), "{}", message.name);
            for field in message.fields {
                let Kind::Record(name) = field.kind else { continue };
                assert!(RECORDS.iter().any(|record| record.name == name), "{name}");
            }
        }
    }
}
