//! Labels of metrics, each with what bounds its values: no client may multiply them. It must not know which metric has which.

/// One label, with what bounds its values.
#[derive(Debug, PartialEq, Eq)]
pub struct Label {
    /// Name.
    pub name: &'static str,
    /// Meaning.
    pub text: &'static str,
    /// Reason why the number of its values has a bound, and the bound.
    pub bound: &'static str,
}

/// Every label.
pub static LABELS: &[Label] = &[
    Label {
        name: "class",
        text: "Requests expected to cost alike.",
        bound: "100: routes, then what is frequent; `other`",
    },
    Label {
        name: "status",
        text: "Status that the client got; 0 when it got none.",
        bound: "three-digit statuses and 0",
    },
    Label {
        name: "outcome",
        text: "How the request ended and who ended it. A component's render ended as `rendered`, `cached`, `error`, `late`, \
               `client` and the like.",
        bound: "the words of the access log; of components 16, and `other`",
    },
    Label {
        name: "part",
        text: "Part of the service time: `handler`, from the beginning of the route's handler, or `before` it.",
        bound: "2 words",
    },
    Label { name: "code", text: "Error code.", bound: "the error catalogue" },
    Label { name: "state", text: "State of the worker.", bound: "the worker states" },
    Label {
        name: "place",
        text: "The worker's place in the pool, from 0. A replacement keeps its place, so series do not pile up.",
        bound: "the highest number of workers so far",
    },
    Label {
        name: "result",
        text: "How a reload ended: `done`, `abandoned`, `superseded` or `refused`.",
        bound: "the seven words",
    },
    Label {
        name: "reason",
        text: "Why a process ended: `exited`, `signalled` (by nobody here), `out_of_memory` (of V8's heap), or why it \
               was killed: `stuck`, `blocked`, `start_timeout`, `stop_timeout`, `abandoned` (of a reload that was \
               given up). A recycled worker has the limit that it reached, `requests` or `memory`, or \
               `overdue` where it showed no progress.",
        bound: "twelve",
    },
    Label {
        name: "step",
        text: "Answer that a request for a worker was given, from the best downwards: `render` or `refuse`.",
        bound: "the steps of the ladder",
    },
    Label {
        name: "session",
        text: "Whether the worker that keeps the client's session got a request: `kept`, `moved` to another because that one has \
               gone, or `new`.",
        bound: "the three words",
    },
    Label {
        name: "cache",
        text: "Result of the page cache for a request: `hit`, `stale`, `joined` (it got the render of another), \
               `miss` or `bypass`.",
        bound: "the five words",
    },
    Label {
        name: "include",
        text: "Result of an include: `sent`, `alt` (its `alt` was sent), `late`, `failed`, `refused` or `malformed` \
               (its tag could not be read). An include is refused by a bound, or because it is on another host.",
        bound: "the six words",
    },
    Label {
        name: "look_up",
        text: "Result of a look-up on disk or in the shared cache: `hit`, `miss`, `timeout` (of 50 ms, or \
               `cache.shared_timeout_ms`), `error` or `skipped`. A look-up is skipped because the disk or cache did \
               not answer in time before or is not in use.",
        bound: "the five words",
    },
    Label {
        name: "write",
        text: "Result for a page for the disk or the shared cache: `written`, `dropped`, or `refused` by the disk or \
               the server. A page is dropped because too many waited or the disk or cache was not in use.",
        bound: "the three words",
    },
    Label {
        name: "direction",
        text: "Whether a purge was `told` to the other gateways or `heard` of one of them.",
        bound: "the two words",
    },
    Label {
        name: "alarm",
        text: "Name of the alarm: `steady_queue`, `cost_drift`, `overlap`, `workers_asleep`, `long_run`, \
               `routes_grow`, `grows_with_age`, `certificates`, `crash`, `quarantine` or `holes`.",
        bound: "the ten words",
    },
    Label {
        name: "why",
        text: "Why a React render was left to react-dom, in the renderer's words.",
        bound: "the first 32, then `other`",
    },
    Label {
        name: "run",
        text: "Shortest duration of the runs: `1ms`, `10ms`, `100ms` or `1s`.",
        bound: "the four words",
    },
    Label {
        name: "export",
        text: "Result of the export of spans: `exported` to the collector, `dropped` because too many waited for it, \
               or `failed` where it refused them or could not be reached.",
        bound: "the three words",
    },
    Label {
        name: "encoding",
        text: "Encoding of compressed answers: `zstd`, `br` or `gzip`.",
        bound: "the three words",
    },
    Label {
        name: "certificate",
        text: "The first name that a certificate is for, else its file.",
        bound: "`server.certificates` (1,000), `acme.names` (100) and `server.tls_cert`",
    },
    Label { name: "component", text: "Component of `@sluice/render`.", bound: "500, and `other`" },
    Label {
        name: "setting",
        text: "Setting of the dial that a page got, in the renderer's words. Only what workers have named counts by name.",
        bound: "32, and `other`",
    },
    Label { name: "device", text: "The visitor's device: `mobile`, `desktop` or `bot`.", bound: "the three words" },
    Label {
        name: "vital",
        text: "Measurement in a browser: `ttfb`, `fcp`, `lcp`, `inp`, `tti` (time to interactive), `key` (slowest answer to a key) or `long` (time by which frames took more than 50 ms).",
        bound: "the seven words",
    },
    Label {
        name: "fault",
        text: "Fault of a component in a browser: `mismatch` of its HTML (the browser renders it again), or `failed`.",
        bound: "the two words",
    },
    Label { name: "content", text: "Type of the content: `html` or `js`.", bound: "the two words" },
    Label { name: "expected", text: "Whether the gateway had asked for it: `true` or `false`.", bound: "two" },
    Label { name: "version", text: "Version of the binary.", bound: "one" },
];
