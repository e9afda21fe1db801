//! Every config key: its name, type, default, bounds, unit and description, in one table.
//!
//! The parser, `sluice check`, the JSON Schema, the TypeScript types and the reference page are made from this table. A
//! key without a description does not compile, nor does a number without bounds. It must not know what a key is used
//! for, beyond what its description says.

mod access;
mod acme;
mod bounds;
mod certificates;
mod checks;
mod dial;
mod duration;
mod load;
mod log;
mod nearest;
mod problem;
mod rate;
mod removed;
mod route;
mod slips;
mod span;
mod table;
mod upstreams;
mod value_error;
mod values;
mod words;

use std::collections::BTreeMap;

pub use access::{HashFault, PasswordHash, USERS_MAX};
pub use bounds::{FixedBounds, TEST_BOUNDS};
pub use certificates::Certificate;
pub use dial::{DEVICES, Dial, DialFault, EVERY_COMPONENT, Share, VITALS_PATH};
pub(crate) use duration::PATTERN as DURATION_PATTERN;
pub use duration::{NotADuration, TimeUnit, parse_ms, written as written_ms};
pub use load::{ConfigInForce, DEVELOPMENT, FILE_NAME, Origin, Sources, environment, find_file};
pub use nearest::nearest;
pub use problem::{ConfigError, Location, Problem};
pub use rate::{NotARate, Rate};
pub use removed::REMOVED;
pub use route::{Route, RouteError, Segment, site};
pub use span::{NotASpan, Span};
pub use table::{Applies, Bounds, Key, Secrecy, Section, key, keys, secret_variables};
pub use upstreams::{HostHeader, ProxyProtocol, Target, Upstream};
pub use value_error::ValueError;
pub use values::{Column, Concurrency, Form, Kind, Value};
pub use words::{
    Lanes, LoadReport, LogFields, LogFormat, LogQuery, OnReload, Order, Renderer, SameSite, Sticky, Tails,
    TraceContext, UnderscoreHeaders,
};

use table::config;

/// Purpose that the app runs for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Production: the app serves its users.
    #[default]
    Production,
    /// Development: `sluice dev`. Answers of the gateway show the app's stack, and no silent worker is replaced. A worker
    /// starts again only when a file that it has loaded changes.
    Development,
}

impl Config {
    /// Whether clients speak TLS.
    pub fn is_tls(&self) -> bool {
        self.server.tls_cert.is_some() || !self.server.certificates.is_empty() || !self.acme.names.is_empty()
    }
}

/// Limits that follow from a key and a bound.
impl Config {
    /// Longest request line, bytes, with its method and version.
    pub fn request_line_bytes_max(&self) -> u64 {
        self.bounds.request_line_bytes_max.max(self.server.headers_bytes_max)
    }

    /// Part of a response that a temporary file takes, bytes; a client that has left more than that unread is cut off. A few slow
    /// clients must not fill the disk for all.
    pub fn response_file_bytes_max(&self) -> u64 {
        self.temp.bytes_max / 4
    }

    /// Streams that one worker may hold.
    pub fn streams_per_worker_max(&self) -> u64 {
        match self.bounds.streams_per_worker_max {
            0 => self.server.connections_max,
            count => count,
        }
    }

    /// Time of one warm-up, milliseconds.
    pub fn warm_up_timeout_ms(&self) -> u64 {
        match self.bounds.warm_up_timeout_ms {
            0 => self.workers.start_timeout_ms,
            timeout_ms => timeout_ms,
        }
    }

    /// Mean queue wait, milliseconds, above which requests are held up; 0 disables the alarm.
    pub fn alarm_queue_wait_ms(&self) -> u64 {
        match self.bounds.alarm_queue_wait_ms {
            0 => 0,
            wait_ms => wait_ms.max(self.queue.wait_ms_max / 20),
        }
    }

    /// Time for which a worker's event loop may not turn while it computes before the worker gets a stand-in, milliseconds; 0
    /// disables it, as a breakpoint is no fault.
    pub fn overdue_after_ms(&self) -> u64 {
        if self.mode == Mode::Development { 0 } else { self.bounds.overdue_after_ms }
    }

    /// Time for which a worker's event loop may not turn while its main thread waits, milliseconds; 0 disables it.
    pub fn blocked_after_ms(&self) -> u64 {
        match self.workers.stuck_after_ms {
            0 => 0,
            stuck_ms => stuck_ms.max(self.bounds.blocked_after_ms),
        }
    }
}

impl Workers {
    /// Requests that one worker may hold at once at most.
    pub fn held_max(&self) -> u32 {
        match self.concurrency {
            Concurrency::Fixed(count) => count,
            Concurrency::WhileWaiting => self.concurrency_max,
        }
    }

    /// Requests that it may hold whatever it does with them.
    pub fn held_always(&self) -> u32 {
        match self.concurrency {
            Concurrency::Fixed(count) => count,
            Concurrency::WhileWaiting => 1,
        }
    }
}

config! {
    /// The app that the workers run: a script (`entry`) or a command (`command`), not both.
    app: App {
        /// Script that calls `listen()`, relative to `cwd`. Without it and without `command`, the first of these decides: `main` of
        /// package.json, `scripts.start`, the server of a known framework, a script with a usual name (`server.js`, `dist/index.js`).
        entry: Option<String> = None => reload;
        /// Command that starts the app instead of a script, one argument an element, for example
        /// `["npm", "run", "start"]`. No shell stands between.
        command: Vec<String> = Vec::new() => reload;
        /// Arguments that the script gets after its name.
        args: Vec<String> = Vec::new() => reload;
        /// Node.js that runs the script: a name on `PATH` or a path.
        node: String = "node".to_owned() => reload;
        /// Options for Node.js itself, for example `["--max-old-space-size=2048"]`.
        node_args: Vec<String> = Vec::new() => reload;
        /// Environment variables that every worker gets on top of the gateway's own.
        env: BTreeMap<String, String> = BTreeMap::new() => reload;
        /// Port that the app's main server asks for, the one that gets the clients' requests. With 0 it is the server
        /// on `PORT`; without one within 3 seconds, the first HTTP server on another fixed port, and then the first on
        /// port `0`. An app that listens for metrics or health as well, and takes longer than that to listen on `PORT`,
        /// needs this key to distinguish its main server. The key may have the value of `server.port`.
        port: u16 = 0, in 0..=65_535 => reload;
        /// Directory that workers start in, relative to the config file. If the command line names the app, workers
        /// start in the current directory.
        cwd: String = ".".to_owned() => reload;
    }

    /// The address that clients connect to, and the limits of each client.
    server: Server {
        /// Address to listen on, or a name that leads to one. `::` takes IPv4 as well, and becomes `0.0.0.0` on a machine without IPv6.
        host: String = "::".to_owned() => restart;
        /// Port to listen on; 0 takes any free one.
        port: u16 = 3000, in 0..=65_535 => restart;
        /// Directory for what outlives a restart: learned costs, profiles, evidence of stuck workers. Without it the directory is
        /// `$STATE_DIRECTORY/sluice` (systemd), else the run directory if `--run-dir` names one, else `sluice/` and a name of the
        /// instance in the user's state (`$XDG_STATE_HOME`, `~/.local/state`). It must be this user's alone.
        state_dir: Option<String> = None => restart;
        /// Client connections that may be open at once; further ones are answered 503 and closed.
        connections_max: u64 = 10_000, in 1..=1_000_000, "connections" => reload;
        /// Client connections that may be open at once from one address, or one IPv6 network of 64 bits. `trusted_peers` are
        /// exempt. The value 0 takes a quarter of `connections_max`, and exempts this machine. An idle connection closes where a
        /// new one finds no room.
        connections_per_address_max: u64 = 0, in 0..=1_000_000, "connections" => reload;
        /// File with the certificate chain (PEM). With `tls_key`, the port speaks HTTPS.
        tls_cert: Option<String> = None => reload;
        /// File with the certificate's private key (PEM).
        tls_key: Option<String> = None => reload;
        /// Certificates by the name that a client asks for (SNI): `[[server.certificates]]` with `cert`, `key` and, where the names
        /// are not to be those of the certificate, `hosts`. An exact name goes before `*.example.com`, the first table before later
        /// ones. Clients that ask for no name or another one get `tls_cert`, else the first of these.
        certificates: Vec<Certificate> = Vec::new() => reload;
        /// Time for which browsers use HTTPS alone, in seconds: `Strict-Transport-Security: max-age=` in answers over TLS whose
        /// app sends none of its own. 0 sends no such header.
        hsts_max_age_s: u64 = 0, in 0..=157_680_000, "seconds" => reload;
        /// Further port, without TLS, that redirects to HTTPS with 308 and answers the CA's challenge http-01. 0 opens none.
        redirect_port: u16 = 0, in 0..=65_535 => restart;
        /// Port that redirects name, where clients reach HTTPS at another than `port` (a mapped port). 0 means `port`.
        redirect_to_port: u16 = 0, in 0..=65_535 => reload;
        /// Whether the port speaks HTTP/2 as well, where it speaks HTTPS. Clients choose (ALPN), and connections that are open
        /// stay as they are.
        http2: bool = true => restart;
        /// Networks (`10.0.0.0/8`, `::1`) whose `X-Forwarded-*`, `Forwarded` and `X-Request-Id` headers are trusted. The
        /// headers of all other clients are replaced.
        trusted_peers: Vec<String> = Vec::new() => reload;
        /// Whether connections of `trusted_peers` begin with a header of the PROXY protocol, version 1 or 2, which reports the
        /// address of the client. They must then: without a valid one the connection is closed. The header comes before TLS. For
        /// balancers that do not speak HTTP; the others send `X-Forwarded-For`.
        proxy_protocol: bool = false => reload;
        /// Whether answers to `trusted_peers` report the load of this gateway to their balancer: `endpoint-load-metrics` of ORCA, as
        /// Envoy and gRPC read it. Reports of the app are removed.
        load_report: LoadReport = LoadReport::Off => reload;
        /// Clients whose `traceparent` and `tracestate` (W3C Trace Context) reach the app. Without `traces.enabled` the gateway
        /// makes none of its own. It removes a malformed `traceparent` with its `tracestate`.
        trace_context: TraceContext = TraceContext::Pass => reload;
        /// Requests with `_` in a header's name that are accepted; the others get 400. Node.js distinguishes `_` and `-`.
        /// Servers in the manner of CGI do not, so a client could forge one header by the other.
        underscore_headers: UnderscoreHeaders = UnderscoreHeaders::Distinct => reload;
        /// Longest time for which a connection may stay open between two requests.
        keep_alive_timeout_ms: u64 = 75_000, in 0..=3_600_000, "milliseconds" => reload;
        /// All header lines of a request together, 100 lines at most. The request line may have as many bytes, with 16384
        /// as the least. If this key is not set, the app's own `--max-http-header-size` counts for both: in
        /// `app.node_args`, `app.command` or `NODE_OPTIONS`.
        headers_bytes_max: u64 = 16_384, in 256..=1_048_576, "bytes" => reload;
        /// Largest request body.
        body_bytes_max: u64 = 16_777_216, in 0..=1_099_511_627_776, "bytes" => reload;
        /// Longest time for which a client may take in no bytes of its response before it is cut off.
        send_timeout_ms: u64 = 60_000, in 100..=3_600_000, "milliseconds" => reload;
    }

    /// Certificates that the gateway gets from a CA by itself, by ACME (RFC 8555), and renews.
    acme: Acme {
        /// Names that clients ask for, such as `["shop.example", "www.shop.example"]`, a certificate each. Files of
        /// `server.tls_cert` and `server.certificates` for the same name go before. Until a name has its certificate, clients that
        /// ask for it get `server.tls_cert`; without that the handshake fails.
        names: Vec<String> = Vec::new() => reload;
        /// Whether you agree to the terms of service of the CA; those of Let's Encrypt are at <https://letsencrypt.org/repository/>.
        /// Needed.
        terms_agreed: bool = false => reload;
        /// E-mail address that a new account with the CA gets. Many CAs do without.
        contact: Option<String> = None => reload;
        /// Address of the CA's directory, by HTTPS.
        directory: String = "https://acme-v02.api.letsencrypt.org/directory".to_owned() => reload;
        /// File with the certificates (PEM) by which the CA is trusted, relative to the config file; without it, those of the
        /// system. For a CA of your own.
        ca_file: Option<String> = None => reload;
        /// Folder for account key, certificates and their keys, relative to the config file. Without it the folder is
        /// `$STATE_DIRECTORY/acme` (systemd), else `sluice/acme` in the user's state (`$XDG_STATE_HOME`, `~/.local/state`). It must
        /// outlive a restart and be this user's alone. Gateways that share it ask once for all of them.
        dir: Option<String> = None => reload;
        /// ID of an existing account, for a CA that requires external account binding.
        eab_key_id: Option<String> = None => reload;
        /// Key of that account, as the CA shows it. Better set by `SLUICE_ACME_EAB_HMAC_KEY` than in a file.
        eab_hmac_key: Option<String> = None => reload, secret;
    }

    /// Limits on the request rate of one client. Requests over a limit get 429 from the gateway and reach no worker.
    rate: RateLimits {
        /// Paths, each with the limit for one client's requests at and below it: `"/login" = "5/min burst 20"`. The rate is a
        /// count and `/s`, `/min` or `/h`. The burst is the number of requests that may come at once. Without one it is the
        /// number that the rate gives in a second, at least 1. If several paths match, the longest counts. Upper and lower
        /// case are the same. An empty table disables the limits.
        limits: BTreeMap<String, String> = BTreeMap::new() => restart;
        /// Networks (`10.0.0.0/8`, `::1`) whose requests are never limited.
        exempt: Vec<String> = Vec::new() => restart;
        /// Whether all gateways that share `cache.shared_url` count together. A request waits for that server for
        /// `cache.shared_timeout_ms` at most. A gateway that gets no answer counts alone.
        shared: bool = false => restart;
    }

    /// Clients that may send requests. Requests that the gateway answers for its probes (`edge.ping_path`, `edge.ready_path`)
    /// and the admin address are not affected.
    access: Access {
        /// Networks (`10.0.0.0/8`, `::1`) whose clients may send requests; all others get 403. An empty list allows everybody.
        /// Behind a proxy, the client is the one that `server.trusted_peers` name.
        allow: Vec<String> = Vec::new() => reload;
        /// Networks whose clients get 403, also where `allow` has them.
        deny: Vec<String> = Vec::new() => reload;
        /// Users, each with the bcrypt hash of a password that `sluice access hash` makes. With users, all others get 401, and
        /// the app does not see the header `Authorization`.
        basic_auth: BTreeMap<String, String> = BTreeMap::new() => reload, secret;
        /// File with further users, a line `name:hash` each, as `htpasswd -B` writes it; relative to the config file.
        basic_auth_file: Option<String> = None => reload;
        /// Paths that need no password, each with what lies below it. The app gets `Authorization` there as it was sent.
        basic_auth_exempt: Vec<String> = vec!["/.well-known/acme-challenge".to_owned()] => reload;
    }

    /// React rendering on the server. `react = "fast"` is short for this section with that renderer.
    react: React {
        /// Renderer behind the app's own imports of `react-dom/server` and `react-dom/static`. With `fast`, Sluice searches for
        /// `@sluice/react` from the app, then beside itself; without it, or with a version of React that the package does not know,
        /// react-dom renders. A bundle with react-dom inside has no such imports.
        renderer: Renderer = Renderer::ReactDom => reload;
    }

    /// Share of visitors who get server rendering (`@sluice/render`), and the reports of browsers about it (`@sluice/browser`).
    render: Render {
        /// Share of visitors for whom the server renders, from `"0%"` to `"100%"`; for the others the browser does. The entry `"*"` is
        /// for all components, `"Reviews"` for one, and `"Reviews@mobile"` or `"*@bot"` for visitors with one device (`mobile`,
        /// `desktop` or `bot`). The most specific entry counts: component and device, component, device, `"*"`. `sluice dial` changes
        /// shares without a reload.
        server: BTreeMap<String, String> = BTreeMap::from([("*".to_owned(), "100%".to_owned())]) => reload;
    }

    /// The processes that run the app.
    workers: Workers {
        /// Number of workers. 0 takes the CPUs that the process may use: the quota of its cgroup or its affinity, whichever is
        /// less. The number is lower where the memory limit has no room for 96 MiB each, with the workers of `lanes` and of a
        /// reload. `sluice check` shows the number and why.
        count: u32 = 0, in 0..=1_024, "workers" => reload;
        /// Requests that one worker holds at once. With `"while-waiting"` a worker computes one, and gets others while
        /// its requests wait for something else than the CPU. Its memory and its event loop bound how many may wait in it.
        /// 1 is strict mode: never two in the app, for apps that keep data of a request in variables of a module. A larger
        /// number is held whatever the requests do.
        concurrency: Concurrency = Concurrency::WhileWaiting, in 1..=10_000, "requests" => restart;
        /// Maximum number of requests that one worker holds where `concurrency` is `"while-waiting"`. Memory and the event loop
        /// bind before the default does.
        concurrency_max: u32 = 10_000, in 1..=10_000, "requests" => restart;
        /// Whether long requests get a worker of their own beyond `count`, and a second one under overload. Such a worker
        /// has the lowest operating-system priority, so that short requests need not wait for long ones. There are no
        /// lanes where `concurrency` is a number above 1, or with `queue.order = "fifo"`.
        lanes: Lanes = Lanes::Auto => reload;
        /// Longest time that a worker may take to listen after its process started, and then for its warm-up (`warm_up.paths`).
        start_timeout_ms: u64 = 60_000, in 100..=3_600_000, "milliseconds" => reload;
        /// Longest time that a worker may take to leave once asked, before it is killed.
        stop_timeout_ms: u64 = 10_000, in 0..=3_600_000, "milliseconds" => reload;
        /// Whether a worker is ready only once the app has called `process.send('ready')`, besides listening. Apps in
        /// another runtime cannot say it and are not waited for.
        wait_ready: bool = false => reload;
        /// CPU time that a worker's main thread may use without a turn of its event loop: an infinite loop, an endless regular
        /// expression. The log then names the function and the line, and the worker is killed. After six times as long, it is
        /// killed also if other processes had the CPU. The time counts from the worker's last sign of life, of which there are
        /// four a second. A main thread that waits instead (a synchronous child process, a lock, a disk) has 60 s, or this time
        /// if it is more. Elsewhere than on Linux the system does not distinguish the two, and all have that. At least 1500; 0
        /// disables both. On Linux a worker that computes for 1 s without a turn of its event loop gets a lower
        /// operating-system priority and a stand-in before.
        stuck_after_ms: u64 = 10_000, in 0..=3_600_000, "milliseconds" => reload;
    }

    /// Clients that come back to the worker which keeps their session. `sticky = "cookie"` is short for this section with that `by`.
    sticky: Sessions {
        /// Means by which a client finds its worker again. Clients whose worker has gone get another, and a new session there.
        by: Sticky = Sticky::Off => reload;
        /// Requests that sticky sessions are for, written as in `classes.routes`: `["/socket.io/*", "GET shop.example/cart"]`.
        routes: Vec<String> = vec!["/*".to_owned()] => reload;
        /// Name of the cookie. The app does not see it.
        cookie: String = "sluice".to_owned() => reload;
        /// `SameSite` of the cookie. The cookie is `HttpOnly`, and `Secure` where the client speaks HTTPS, with the
        /// gateway or with a trusted peer.
        same_site: SameSite = SameSite::Lax => reload;
    }

    /// Requests that the gateway sends to a worker before those of clients, as long as other workers are there to take the
    /// clients' requests. They carry `Sluice-Warm-Up: 1`.
    warm_up: WarmUp {
        /// Targets that are asked for with GET, in turn, for example `["/", "/products?page=2"]`. A status of 500 and
        /// above, or a broken answer, gives up a new version.
        paths: Vec<String> = Vec::new() => reload;
    }

    /// Replacement of healthy workers. A successor is ready before the old worker leaves. Workers are replaced one at a time:
    /// the next replacement begins when the worker before has finished its requests and has gone.
    recycle: Recycle {
        /// Resident memory above which a worker is replaced; 0 disables it. Set it well above what a fresh worker needs.
        /// If even a fresh one is over it, the log says so, and workers are replaced more and more seldom, at last every 30 s.
        memory_bytes_max: u64 = 0, in 0..=1_099_511_627_776, "bytes" => reload;
        /// Requests after which a worker is replaced; 0 disables it. Each worker's own bound is up to a tenth lower, so that they
        /// do not all end together.
        requests_max: u64 = 0, in 0..=1_000_000_000, "requests" => reload;
    }

    /// Requests that wait for a worker.
    queue: Queue {
        /// Requests that may wait; further ones are refused with 503.
        length_max: u64 = 10_000, in 0..=1_000_000, "requests" => reload;
        /// Order in which waiting requests are dispatched. Within a class it is always the order of arrival.
        order: Order = Order::Shortest => reload;
        /// Longest wait. A request predicted to wait longer is refused on arrival, one that did is refused then. A gateway whose
        /// workers are all busy and finish no request for as long is not ready (`edge.ready_path`).
        wait_ms_max: u64 = 10_000, in 1..=3_600_000, "milliseconds" => reload;
        /// Longest predicted wait of a request before it is given something cheaper than a render, in the end a 503
        /// answer. For requests whose route says nothing else; 0 means `wait_ms_max`.
        budget_ms: u64 = 0, in 0..=3_600_000, "milliseconds" => reload;
    }

    /// The gateway learns the cost of requests by class: host, method and path, without the varying parts of the path.
    /// `sluice classes` shows it.
    classes: Classes {
        /// Routes, each with what holds for it: `"GET /products/:id" = "class=product priority=1 deadline_ms=500"`. A
        /// method and a host may stand before the path; `:name` stands for one segment and a last `*` for all that
        /// follow. The route that names most of a request counts. `class` calls it by a name, which several may share.
        /// `priority` is -100 to 100 (0 unless said), and the higher goes first. After `deadline_ms` an answer is
        /// useless. `budget_ms` is how long it may be predicted to wait.
        routes: BTreeMap<String, String> = BTreeMap::new() => reload;
    }

    /// Requests that workers die with. One that has ended two of them is answered 500 without a worker.
    quarantine: QuarantineLimits {
        /// Time for which such a request stays in quarantine after the last death; 0 disables quarantine.
        ttl_ms: u64 = 600_000, in 0..=86_400_000, "milliseconds" => reload;
    }

    /// Limits of the responses that workers send.
    response: Response {
        /// Longest time for which a worker may send nothing before the client gets 504. The worker's slot stays held. For an
        /// upgrade, which holds none, it is the longest time until its answer. A response that nobody waits for (the client
        /// left or got 504) may continue for as long; then its worker is replaced.
        worker_timeout_ms: u64 = 60_000, in 1..=86_400_000, "milliseconds" => reload;
    }

    /// Other hosts that answer some of the requests in place of the app: older services, and what native apps call.
    upstreams: Upstreams {
        /// Routes to other hosts: `[[upstreams.routes]]` with `name`, `paths` and `to`, and what differs from the defaults. Their
        /// requests take no worker and wait in no queue. Page cache, compression, access rules, rate limits and includes work as for
        /// the app. The closest path wins, as in `classes.routes`; a route goes before files of `files.paths`.
        routes: Vec<Upstream> = Vec::new() => reload;
    }

    /// Upgraded connections (WebSocket), upgrades that the app has not answered yet, event streams, and long polls of Engine.IO; all hold
    /// no slot.
    streams: Streams {
        /// Longest time for which a stream may carry nothing in either direction; 0 disables the limit.
        idle_timeout_ms: u64 = 3_600_000, in 0..=604_800_000, "milliseconds" => reload;
    }

    /// Memory for bodies that wait for a slow client, and for answers that one has not read yet.
    memory: Memory {
        /// Maximum size of all of them together; what finds no room is kept in temporary files. The value 0 takes an eighth of
        /// the memory that the process may use, at most 1 GiB. That memory is the limit of its cgroup or the machine's memory,
        /// whichever is less. Bytes that a client has not taken for 2 s (0.2 s while more than half is in use) go to a file as
        /// well.
        buffers_bytes_max: u64 = 0, in 0..=1_099_511_627_776, "bytes" => restart;
    }

    /// Temporary files for bodies too large for memory.
    temp: Temp {
        /// Directory for them, relative to the config file; without it, the system's.
        dir: Option<String> = None => restart;
        /// All temporary files together. One response may take a quarter; a client that has left more than that unread is cut off.
        bytes_max: u64 = 4_294_967_296, in 0..=1_125_899_906_842_624, "bytes" => restart;
    }

    /// Paths that the gateway answers by itself.
    edge: Edge {
        /// Path that answers 200 while the gateway lives. An empty string disables it.
        ping_path: String = "/.sluice/ping".to_owned() => reload;
        /// Path that answers 200 while work makes progress, else 503. An empty string disables it.
        ready_path: String = "/.sluice/ready".to_owned() => reload;
    }

    /// Files that the gateway sends itself, without a worker. Clients that accept it get `name.br` or `name.gz` beside a file in
    /// its place; nothing looks whether it holds the same.
    files: Files {
        /// Directories by the beginning of the URL's path, for example `{ "/assets/" = "dist/client/assets" }`,
        /// relative to the config file. Beginnings end with `/`; the longest that fits decides. Requests for anything
        /// but a regular file go to the app, as does every name that starts with a dot (except `.well-known`).
        paths: BTreeMap<String, String> = BTreeMap::new() => restart;
        /// `Cache-Control` by the beginning of the URL's path; the longest that fits decides. Files that none fits get
        /// `public, max-age=31536000, immutable` where the name has a hash of the content (`app.3f2a9c1b.js`) or the path one of
        /// `/_next/static/`, `/_astro/`, `/_nuxt/` and `/_app/immutable/`, else `public, max-age=0`.
        cache_control: BTreeMap<String, String> = BTreeMap::new() => restart;
    }

    /// Pages that the browser fills with content by itself. Browsers that ask for a page get one in place of a 503
    /// where no kept page may be used. The queue is then full, or a render would come too late.
    shell: Shell {
        /// HTML files by the beginning of the URL's path, for example `{ "/" = "dist/client/shell.html" }`, relative to the config
        /// file; the longest that fits decides.
        files: BTreeMap<String, String> = BTreeMap::new() => reload;
        /// The same with paths of the app, for example `{ "/shop/" = "/shop/shell" }`. The gateway asks for them by itself, without
        /// cookies, as soon as a version of the app is in force.
        pages: BTreeMap<String, String> = BTreeMap::new() => reload;
    }

    /// Answers that the gateway gives where a request is refused or its worker fails: an HTML page where `Accept` prefers `text/html`,
    /// `application/problem+json` where it prefers JSON, else plain text.
    errors: Errors {
        /// HTML files in place of the gateway's page, by status or by class of it, for example
        /// `{ "503" = "errors/busy.html", "5xx" = "errors/5xx.html" }`, relative to the config file; at most 256 KiB each.
        /// `{{status}}`, `{{reason}}`, `{{message}}`, `{{code}}` and `{{request}}` in them are filled in. Errors that the app answers itself stay as
        /// they are.
        pages: BTreeMap<String, String> = BTreeMap::new() => reload;
    }

    /// Cached pages, which other clients get as well, as HTTP allows (RFC 9111). An app allows it with
    /// `Cache-Control: public, max-age=60` or `s-maxage=60`.
    cache: PageCache {
        /// Whether pages are cached at all.
        enabled: bool = false => restart;
        /// Memory for all cached pages. Pages that are asked for often stay longest. The value 0 takes an eighth of the memory
        /// that the process may use, at most 256 MiB. That memory is the limit of its cgroup or the machine's memory, whichever
        /// is less.
        bytes_max: u64 = 0, in 0..=1_099_511_627_776, "bytes" => restart;
        /// Freshness of pages with status 200 that do not state it, by the beginning of the URL's path; the longest that fits
        /// decides. An example is `{ "/blog/" = "60s" }` (`s`, `m`, `h` or `d`). Such an entry says that such pages are the
        /// same for all clients, also for those with cookies.
        ttl: BTreeMap<String, String> = BTreeMap::new() => restart;
        /// Beginnings of paths whose pages are never cached.
        bypass: Vec<String> = Vec::new() => restart;
        /// Parameters of the query that pages do not depend on. One that ends in `*` stands for all that begin so.
        ignored_params: Vec<String> = ["utm_*", "fbclid", "gclid", "msclkid", "mc_eid"].map(str::to_owned).to_vec() => restart;
        /// Header fields, and cookies as `cookie:name`, that pages depend on, besides those that their `Vary` names.
        vary_by: Vec<String> = Vec::new() => restart;
        /// Time for which a page may be used after its freshness where rendering it anew fails or the queue is full. A page
        /// that states a time itself (`stale-if-error`) or forbids such use (`must-revalidate`, `s-maxage`) overrides this.
        stale_if_error_s: u64 = 60, in 0..=31_536_000, "seconds" => reload;
        /// Use of cached pages after a new version of the app takes over: at a reload, and for pages on disk at a
        /// start or an upgrade.
        on_reload: OnReload = OnReload::Stale => reload;
        /// Directory for pages that outlive the gateway: a restart, a kill, and eviction from memory. Without it they are in
        /// memory alone. They do not outlive a start of the machine. `cache.on_reload` decides on their use at the start.
        /// Relative to the config file.
        disk_dir: Option<String> = None => restart;
        /// Total size of the files in that directory.
        disk_bytes_max: u64 = 1_073_741_824, in 65_536..=1_099_511_627_776, "bytes" => restart;
        /// Server of Redis or Valkey in which several gateways share their pages, and tell each other of purges. Its
        /// URL is `redis://host:6379/0`, `rediss://host` (TLS) or `unix:///run/redis.sock?db=0`, with `user:password@`
        /// before the host where one is needed. Anyone with write access to the server can change pages. Without it
        /// each gateway has its own pages alone.
        shared_url: Option<String> = None => restart, login;
        /// File with the password of that server, in place of the one in the URL; relative to the config file.
        shared_password_file: Option<String> = None => restart;
        /// Longest time that a request may wait for that server before its page is rendered.
        shared_timeout_ms: u64 = 5, in 1..=1_000, "milliseconds" => reload;
        /// Beginning of all names in that server. Gateways with the same one share their pages.
        shared_prefix: String = "sluice:".to_owned() => restart;
    }

    /// Pages that the gateway composes (Edge Side Includes). Many visitors get the same page, with
    /// `<esi:include src="/cart/summary"/>` in place of each visitor's own content. The app marks such pages with
    /// `Surrogate-Control: content="ESI/1.0"`.
    compose: Compose {
        /// Whether pages are composed at all. The app then gets `Surrogate-Capability: sluice="ESI/1.0"`, and no
        /// `Accept-Encoding`, because a compressed page cannot be read. `compression.enabled` compresses the composed page.
        enabled: bool = false => restart;
        /// Beginnings of paths whose pages of type `text/html` are composed as well, for apps that cannot set the header.
        paths: Vec<String> = Vec::new() => restart;
        /// Longest time that a page waits for an include, and then for its `alt`.
        include_ms_max: u64 = 1_000, in 1..=60_000, "milliseconds" => reload;
    }

    /// Compression of answers by the gateway, for clients that accept it. It runs on threads of its own.
    compression: Compression {
        /// Whether answers of workers, and files without a compressed sibling, are compressed. Off unless said: a
        /// balancer in front may do it as well, and an app that compresses by itself gains nothing. Sizes of pages that
        /// show a secret beside what the URL says can give the secret away (BREACH); name such pages in `exclude`
        /// first.
        enabled: bool = false => reload;
        /// Media types that are compressed: `type/subtype`, `type/*`, or `*+suffix` for all that end so. `text/event-stream` never is.
        types: Vec<String> = [
            "text/*", "*+json", "*+xml", "application/json", "application/javascript", "application/xml", "application/wasm",
            "application/x-ndjson", "font/otf", "font/ttf", "image/x-icon",
        ].map(str::to_owned).to_vec() => reload;
        /// Requests whose answers are sent as they are, written as in `classes.routes`: `["/account/*", "GET shop.example/cart"]`. Every
        /// spelling of a path that an app may take for the same one counts, in whatever case.
        exclude: Vec<String> = Vec::new() => reload;
    }

    /// Shutdown of the gateway.
    drain: Drain {
        /// Longest time that accepted requests may take to finish after SIGTERM, SIGINT, `sluice stop` (after `delay_ms`) or
        /// `sluice upgrade`.
        timeout_ms: u64 = 30_000, in 0..=3_600_000, "milliseconds" => reload;
        /// Time for which new connections are still taken and served while readiness already says no, so that a load balancer
        /// can notice.
        delay_ms: u64 = 0, in 0..=600_000, "milliseconds" => reload;
    }

    /// CPU profiles that the gateway takes by itself.
    profile: Profile {
        /// Requests that are profiled after one of their class took more CPU time than 99 of 100 usually do. Each gets a worker to
        /// itself. The worst three of each class are kept for a day in `profiles/tail` of the state directory, with their targets.
        tail: Tails = Tails::Sampled => reload;
    }

    /// Spans of requests for OpenTelemetry. OpenTelemetry's own variables say the rest: `OTEL_EXPORTER_OTLP_ENDPOINT`
    /// (`http://127.0.0.1:4318` by default), `OTEL_EXPORTER_OTLP_HEADERS` (with secrets), `OTEL_SERVICE_NAME` (`sluice` by default),
    /// `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_TRACES_SAMPLER`.
    traces: Traces {
        /// Whether spans are exported, by OTLP over HTTP (protobuf). The app then gets the gateway's span for its parent.
        enabled: bool = false => reload;
    }

    /// Log lines on standard output.
    log: Log {
        /// Format of log lines.
        format: LogFormat = LogFormat::Auto => restart;
        /// Names of the fields in JSON lines. `sluice logs --json` prints those of the reference in any case.
        fields: LogFields = LogFields::Sluice => restart;
        /// Whether every request gets a line.
        access: bool = true => restart;
        /// Headers of requests that the access log has, for example `["user-agent", "x-tenant"]`, 32 at most. Values of headers with
        /// credentials (`authorization`, `cookie`, `x-api-key` and the like) are always `***`.
        headers: Vec<String> = Vec::new() => restart;
        /// Query strings in log lines.
        query: LogQuery = LogQuery::Mask => restart;
        /// Parameters whose values `mask` hides, by one of the words in their names: `token` is for `token`, `access_token` and
        /// `accessToken`.
        query_masked: Vec<String> = [
            "token", "key", "apikey", "password", "passwd", "pwd", "secret", "code", "signature", "sig", "auth", "authorization",
            "credential", "credentials", "session", "jwt", "otp", "ticket",
        ].map(str::to_owned).to_vec() => restart;
        /// Whether responses carry `Server-Timing` with queue wait and service time. Clients see it.
        server_timing: bool = false => restart;
    }

    /// Dashboard, metrics and health for operators.
    admin: Admin {
        /// Address and port of the dashboard and the metrics, or `off`. Port 0 takes any free one. Neither
        /// Prometheus nor one of its exporters has the default port.
        address: String = "127.0.0.1:7584".to_owned() => restart;
        /// Secret that opens the dashboard from another host and allows its actions, 16 characters at least. Better set
        /// by `SLUICE_ADMIN_TOKEN` than in a file. Without it the gateway makes one and keeps it in `admin-token` of
        /// the run directory.
        token: Option<String> = None => restart, secret;
        /// Address and port of HAProxy's `agent-check`, for example `127.0.0.1:9101`, or `off`. Each connection gets one line: the weight
        /// that predicted wait and free workers call for, or that this gateway drains.
        agent_address: String = "off".to_owned() => restart;
    }
}
