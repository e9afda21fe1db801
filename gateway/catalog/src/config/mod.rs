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
        /// Script that calls `listen()`, relative to `cwd`. Without this key and `command`, Sluice uses the first of these: `main`
        /// of package.json, `scripts.start`, the server of a known framework, a script with a usual name (`server.js`,
        /// `dist/index.js`).
        entry: Option<String> = None => reload;
        /// Command that starts the app instead of a script, as an array of arguments, for example `["npm", "run", "start"]`. It
        /// runs without a shell.
        command: Vec<String> = Vec::new() => reload;
        /// Arguments for the script, after its name.
        args: Vec<String> = Vec::new() => reload;
        /// Node.js that runs the script: a name on `PATH` or a path.
        node: String = "node".to_owned() => reload;
        /// Options for Node.js itself, for example `["--max-old-space-size=2048"]`.
        node_args: Vec<String> = Vec::new() => reload;
        /// Environment variables for every worker, added to those of the gateway.
        env: BTreeMap<String, String> = BTreeMap::new() => reload;
        /// Port on which the app's main server listens. The main server gets the clients' requests. With 0, it is the server on
        /// `PORT`. If none listens there within 3 seconds, it is the first HTTP server on another fixed port, else the first on
        /// port `0`. Set this key if the app also listens for metrics or health, and takes longer than that to listen on `PORT`.
        /// The value may be the same as `server.port`.
        port: u16 = 0, in 0..=65_535 => reload;
        /// Working directory of the workers, relative to the config file. If the command line names the app, workers start in the
        /// current directory.
        cwd: String = ".".to_owned() => reload;
    }

    /// The address that clients connect to, and limits per client.
    server: Server {
        /// Address to listen on, or a name that resolves to one. `::` also accepts IPv4, and becomes `0.0.0.0` on a machine without
        /// IPv6.
        host: String = "::".to_owned() => restart;
        /// Port to listen on; 0 selects a free one.
        port: u16 = 3000, in 0..=65_535 => restart;
        /// Directory for data that outlives a restart: learned costs, profiles, evidence of stuck workers. By default it is
        /// `$STATE_DIRECTORY/sluice` (systemd), else the run directory if `--run-dir` names one, else `sluice/` and a name of the
        /// instance in the user's state directory (`$XDG_STATE_HOME`, `~/.local/state`). Only this user may have access to it.
        state_dir: Option<String> = None => restart;
        /// Maximum number of open client connections. The gateway answers further ones with 503 and closes them.
        connections_max: u64 = 10_000, in 1..=1_000_000, "connections" => reload;
        /// Maximum number of open client connections from one address, or from one IPv6 network of 64 bits. `trusted_peers` are
        /// exempt. 0 means a quarter of `connections_max`, and exempts this machine. At the limit, an idle connection is closed for
        /// a new one.
        connections_per_address_max: u64 = 0, in 0..=1_000_000, "connections" => reload;
        /// File with the certificate chain (PEM). With `tls_key`, the port serves HTTPS.
        tls_cert: Option<String> = None => reload;
        /// File with the certificate's private key (PEM).
        tls_key: Option<String> = None => reload;
        /// Certificates by the host name that a client requests (SNI): `[[server.certificates]]` with `cert`, `key` and, if the
        /// names differ from those in the certificate, `hosts`. An exact name takes precedence over `*.example.com`, and an earlier
        /// table over a later one. Clients that request no name or an unknown one get `tls_cert`, else the first certificate here.
        certificates: Vec<Certificate> = Vec::new() => reload;
        /// Time in seconds for which browsers must use HTTPS: the `max-age` of `Strict-Transport-Security`. The gateway adds this
        /// header to answers over TLS, unless the app sends one. 0 disables it.
        hsts_max_age_s: u64 = 0, in 0..=157_680_000, "seconds" => reload;
        /// Additional port without TLS. It redirects to HTTPS with 308 and answers http-01 challenges of the CA. 0 disables it.
        redirect_port: u16 = 0, in 0..=65_535 => restart;
        /// HTTPS port in these redirects, if clients reach HTTPS on another port than `port` (a mapped port). 0 means `port`.
        redirect_to_port: u16 = 0, in 0..=65_535 => reload;
        /// Whether an HTTPS port also supports HTTP/2. Clients choose (ALPN). A change does not affect open connections.
        http2: bool = true => restart;
        /// Networks (`10.0.0.0/8`, `::1`) whose `X-Forwarded-*`, `Forwarded` and `X-Request-Id` headers are trusted. The gateway
        /// replaces these headers of all other clients.
        trusted_peers: Vec<String> = Vec::new() => reload;
        /// Whether connections of `trusted_peers` must begin with a PROXY protocol header, version 1 or 2, which contains the
        /// client's address. The gateway closes a connection without a valid header. The header comes before TLS. Use it for
        /// balancers that do not speak HTTP; the others send `X-Forwarded-For`.
        proxy_protocol: bool = false => reload;
        /// Whether answers to `trusted_peers` report the load of this gateway to their balancer: `endpoint-load-metrics` of ORCA,
        /// as Envoy and gRPC read it. The gateway removes the app's own reports.
        load_report: LoadReport = LoadReport::Off => reload;
        /// Clients whose `traceparent` and `tracestate` (W3C Trace Context) reach the app. Without `traces.enabled`, the gateway
        /// creates no trace context. It removes a malformed `traceparent` with its `tracestate`.
        trace_context: TraceContext = TraceContext::Pass => reload;
        /// Requests that are accepted although a header name contains `_`; the others get 400. Node.js distinguishes `_` and `-`.
        /// CGI-style servers do not, so a client could forge one header with the other.
        underscore_headers: UnderscoreHeaders = UnderscoreHeaders::Distinct => reload;
        /// Maximum time for which a connection may be idle between two requests.
        keep_alive_timeout_ms: u64 = 75_000, in 0..=3_600_000, "milliseconds" => reload;
        /// Maximum total size of the header lines of a request, which may have up to 100 lines. The limit of the request line is
        /// the same, but at least 16384. Without this key, the app's `--max-http-header-size` sets both limits (in `app.node_args`,
        /// `app.command` or `NODE_OPTIONS`).
        headers_bytes_max: u64 = 16_384, in 256..=1_048_576, "bytes" => reload;
        /// Maximum size of a request body.
        body_bytes_max: u64 = 16_777_216, in 0..=1_099_511_627_776, "bytes" => reload;
        /// Maximum time for which a client may read nothing of its response. Then the gateway closes the connection.
        send_timeout_ms: u64 = 60_000, in 100..=3_600_000, "milliseconds" => reload;
    }

    /// Certificates that the gateway obtains from a CA and renews by itself, with ACME (RFC 8555).
    acme: Acme {
        /// Host names, such as `["shop.example", "www.shop.example"]`, with one certificate for each. For the same name,
        /// `server.tls_cert` and `server.certificates` take precedence. Until a name has its certificate, its clients get
        /// `server.tls_cert`; without that, the handshake fails.
        names: Vec<String> = Vec::new() => reload;
        /// Whether you agree to the CA's terms of service (Let's Encrypt: <https://letsencrypt.org/repository/>). Must be `true`.
        terms_agreed: bool = false => reload;
        /// E-mail address for a new account with the CA. Many CAs do not need one.
        contact: Option<String> = None => reload;
        /// HTTPS URL of the CA's directory.
        directory: String = "https://acme-v02.api.letsencrypt.org/directory".to_owned() => reload;
        /// File with the root certificates (PEM) to verify the CA's server, relative to the config file. By default, those of the
        /// system. Needed for a private CA.
        ca_file: Option<String> = None => reload;
        /// Directory for the account key, the certificates and their keys, relative to the config file. By default it is
        /// `$STATE_DIRECTORY/acme` (systemd), else `sluice/acme` in the user's state directory (`$XDG_STATE_HOME`,
        /// `~/.local/state`). It must outlive a restart, and only this user may have access to it. Gateways that share the
        /// directory request each certificate once.
        dir: Option<String> = None => reload;
        /// ID of an existing account, for a CA that requires external account binding.
        eab_key_id: Option<String> = None => reload;
        /// Key of that account, as the CA shows it. Set it with `SLUICE_ACME_EAB_HMAC_KEY` rather than in a file.
        eab_hmac_key: Option<String> = None => reload, secret;
    }

    /// Limits on the request rate of one client. Requests over a limit get 429 from the gateway and reach no worker.
    rate: RateLimits {
        /// Limits by path, each for one client's requests to this path and below: `"/login" = "5/min burst 20"`. The rate is a
        /// count and `/s`, `/min` or `/h`. The burst is the maximum number of requests at once. By default, the burst is the rate
        /// per second, at least 1. If several paths match, the longest counts. Upper and lower case are equal. An empty table
        /// disables the limits.
        limits: BTreeMap<String, String> = BTreeMap::new() => restart;
        /// Networks (`10.0.0.0/8`, `::1`) whose requests are never limited.
        exempt: Vec<String> = Vec::new() => restart;
        /// Whether all gateways with the same `cache.shared_url` count together. A request waits for that server for
        /// `cache.shared_timeout_ms` at most. A gateway without an answer from it counts alone.
        shared: bool = false => restart;
    }

    /// Clients that may send requests. These rules do not apply to the gateway's own probe paths (`edge.ping_path`,
    /// `edge.ready_path`) or to the admin address.
    access: Access {
        /// Networks (`10.0.0.0/8`, `::1`) whose clients may send requests; all others get 403. An empty list allows all clients.
        /// Behind a proxy in `server.trusted_peers`, the address that the proxy reports counts.
        allow: Vec<String> = Vec::new() => reload;
        /// Networks whose clients get 403, even if `allow` contains them.
        deny: Vec<String> = Vec::new() => reload;
        /// Users, each with the bcrypt hash of a password (`sluice access hash`). If there are users, requests without a valid
        /// login get 401, and the app does not get the `Authorization` header.
        basic_auth: BTreeMap<String, String> = BTreeMap::new() => reload, secret;
        /// File with additional users, one `name:hash` per line, as `htpasswd -B` writes it; relative to the config file.
        basic_auth_file: Option<String> = None => reload;
        /// Paths that need no password, including all paths below them. There, the app gets the client's `Authorization` header.
        basic_auth_exempt: Vec<String> = vec!["/.well-known/acme-challenge".to_owned()] => reload;
    }

    /// React rendering on the server. `react = "fast"` is short for `react.renderer = "fast"`.
    react: React {
        /// Renderer that the app gets when it imports `react-dom/server` or `react-dom/static`. With `fast`, Sluice searches for
        /// `@sluice/react` from the app, then beside itself. If there is none, or it does not support the app's React version,
        /// react-dom renders. A bundle that contains react-dom has no such imports, so react-dom renders there.
        renderer: Renderer = Renderer::ReactDom => reload;
    }

    /// Share of visitors who get server rendering (`@sluice/render`), and the reports of browsers about it (`@sluice/browser`).
    render: Render {
        /// Share of visitors for whom the server renders, from `"0%"` to `"100%"`; for the others, the browser renders. The entry
        /// `"*"` is for all components, `"Reviews"` for one, and `"Reviews@mobile"` or `"*@bot"` for visitors with one device
        /// (`mobile`, `desktop` or `bot`). The most specific entry counts: component and device, component, device, `"*"`. `sluice
        /// dial` changes shares without a reload.
        server: BTreeMap<String, String> = BTreeMap::from([("*".to_owned(), "100%".to_owned())]) => reload;
    }

    /// The processes that run the app.
    workers: Workers {
        /// Number of workers. 0 means the number of CPUs available to the process: the quota of its cgroup or its affinity,
        /// whichever is less. The number is lower if memory is limited to less than 96 MiB per worker, including the workers of
        /// `lanes` and of a reload. `sluice check` shows the number and the reason.
        count: u32 = 0, in 0..=1_024, "workers" => reload;
        /// Maximum number of requests in one worker at once. With `"while-waiting"`, a worker gets another request only while all
        /// its current requests wait for I/O. Its memory and its event loop limit how many may wait. The value 1 is strict mode:
        /// never two requests in the app, for apps that store data of a request in module variables. With a larger number, a worker
        /// gets requests even while it computes.
        concurrency: Concurrency = Concurrency::WhileWaiting, in 1..=10_000, "requests" => restart;
        /// Maximum number of requests in one worker if `concurrency` is `"while-waiting"`. With the default, memory and the event
        /// loop limit it earlier.
        concurrency_max: u32 = 10_000, in 1..=10_000, "requests" => restart;
        /// Whether long requests get an additional worker beyond `count`, and a second one under overload. These workers have the
        /// lowest operating-system priority, so that short requests need not wait for long ones. Lanes need a `concurrency` of 1 or
        /// `"while-waiting"`, and do not work with `queue.order = "fifo"`.
        lanes: Lanes = Lanes::Auto => reload;
        /// Maximum time from the start of a worker's process until it listens, and then for its warm-up (`warm_up.paths`).
        start_timeout_ms: u64 = 60_000, in 100..=3_600_000, "milliseconds" => reload;
        /// Maximum time that a worker may take to exit after SIGTERM. Then the gateway kills it.
        stop_timeout_ms: u64 = 10_000, in 0..=3_600_000, "milliseconds" => reload;
        /// Whether a worker is ready only after the app has called `process.send('ready')` and listens. Ignored for apps in other
        /// runtimes, which cannot call it.
        wait_ready: bool = false => reload;
        /// Maximum CPU time that a worker's main thread may use while its event loop does not turn (an infinite loop, an endless
        /// regular expression). Then the gateway kills the worker, and the log names the function and the line. If other processes
        /// had the CPU, it kills the worker after six times this time. The time counts from the worker's last report; a worker
        /// reports four times a second. A main thread that waits (a synchronous child process, a lock, a disk) has 60 s, or this
        /// time if that is more. Outside Linux, Sluice cannot distinguish the two cases, so this longer limit applies to both. The
        /// minimum is 1500; 0 disables both limits. On Linux, a worker that computes for 1 s without a turn of its event loop gets
        /// a lower operating-system priority and a stand-in.
        stuck_after_ms: u64 = 10_000, in 0..=3_600_000, "milliseconds" => reload;
    }

    /// Clients that return to the worker with their session. `sticky = "cookie"` is short for `sticky.by = "cookie"`.
    sticky: Sessions {
        /// Way in which the gateway recognizes a client. If the client's worker has exited, the client gets another worker and a
        /// new session.
        by: Sticky = Sticky::Off => reload;
        /// Requests with sticky sessions, written as in `classes.routes`: `["/socket.io/*", "GET shop.example/cart"]`.
        routes: Vec<String> = vec!["/*".to_owned()] => reload;
        /// Name of the cookie. The app does not get it.
        cookie: String = "sluice".to_owned() => reload;
        /// `SameSite` of the cookie. The cookie is always `HttpOnly`. It is `Secure` if the client uses HTTPS to the gateway or to
        /// a trusted peer.
        same_site: SameSite = SameSite::Lax => reload;
    }

    /// Requests that the gateway sends to a new worker before clients' requests, as long as other workers serve the clients. They
    /// have the header `Sluice-Warm-Up: 1`.
    warm_up: WarmUp {
        /// Targets to request with GET, in turn, for example `["/", "/products?page=2"]`. If one answers with status 500 or above,
        /// or with a broken response, the reload is abandoned.
        paths: Vec<String> = Vec::new() => reload;
    }

    /// Replacement of healthy workers. A successor is ready before the old worker exits. The gateway replaces one worker at a time:
    /// the next replacement begins after the previous worker has finished its requests and exited.
    recycle: Recycle {
        /// Resident memory above which a worker is replaced; 0 disables this. Set it well above the memory of a fresh worker. If
        /// even a fresh worker exceeds it, the log says so, and replacements become less frequent, at last one every 30 s.
        memory_bytes_max: u64 = 0, in 0..=1_099_511_627_776, "bytes" => reload;
        /// Number of requests after which a worker is replaced; 0 disables this. Each worker's own limit is up to a tenth lower, so
        /// that workers are not replaced at the same time.
        requests_max: u64 = 0, in 0..=1_000_000_000, "requests" => reload;
    }

    /// Requests that wait for a worker.
    queue: Queue {
        /// Maximum number of waiting requests. Further ones get 503.
        length_max: u64 = 10_000, in 0..=1_000_000, "requests" => reload;
        /// Order in which waiting requests are dispatched. Requests of the same class keep their order of arrival.
        order: Order = Order::Shortest => reload;
        /// Maximum queue wait. The gateway rejects a request on arrival if its predicted wait is longer, and later if it has waited
        /// this long. A gateway is not ready (`edge.ready_path`) if all its workers are busy and finish no request for this time.
        wait_ms_max: u64 = 10_000, in 1..=3_600_000, "milliseconds" => reload;
        /// Maximum predicted wait before a cheaper answer replaces the render: a stale page, a shell, else a 503. It applies to
        /// requests without a `budget_ms` in `classes.routes`. 0 means `wait_ms_max`.
        budget_ms: u64 = 0, in 0..=3_600_000, "milliseconds" => reload;
    }

    /// Classes of requests, for which the gateway learns the cost: host, method and path, without the varying parts of the path.
    /// `sluice classes` shows them.
    classes: Classes {
        /// Routes and their settings: `"GET /products/:id" = "class=product priority=1 deadline_ms=500"`. A method and a host may
        /// precede the path; `:name` matches one segment, and a final `*` all that follow. If several routes match, the most
        /// specific one counts. `class` is a name, which several routes may share. `priority` is -100 to 100 (default 0); higher
        /// ones go first. `deadline_ms` is the time after which an answer is useless. `budget_ms` is the maximum predicted wait for
        /// a render.
        routes: BTreeMap<String, String> = BTreeMap::new() => reload;
    }

    /// Requests that crash workers. After a request has crashed two workers, the gateway answers it with 500 without a worker.
    quarantine: QuarantineLimits {
        /// Time in quarantine after the last crash; 0 disables quarantine.
        ttl_ms: u64 = 600_000, in 0..=86_400_000, "milliseconds" => reload;
    }

    /// Limits of workers' responses.
    response: Response {
        /// Maximum time for which a worker may send nothing before the client gets 504. The slot stays in use. For an upgrade,
        /// which uses no slot, it is the maximum time until its answer. It also limits a response that no client waits for (the
        /// client left or got 504); then the gateway replaces the worker.
        worker_timeout_ms: u64 = 60_000, in 1..=86_400_000, "milliseconds" => reload;
    }

    /// Other hosts that answer some requests instead of the app, such as older services and APIs of native apps.
    upstreams: Upstreams {
        /// Routes to other hosts: `[[upstreams.routes]]` with `name`, `paths`, `to`, and optional settings. Their requests need no
        /// worker and no queue. Page cache, compression, access rules, rate limits and includes work as for the app. The most
        /// specific path counts, as in `classes.routes`; a route takes precedence over `files.paths`.
        routes: Vec<Upstream> = Vec::new() => reload;
    }

    /// Connections that hold no slot: upgraded ones (WebSocket), upgrades that the app has not answered yet, event streams, and
    /// long polls of Engine.IO.
    streams: Streams {
        /// Maximum time for which a stream may be idle in both directions; 0 disables the limit.
        idle_timeout_ms: u64 = 3_600_000, in 0..=604_800_000, "milliseconds" => reload;
    }

    /// Memory for request bodies and responses of slow clients.
    memory: Memory {
        /// Maximum total size of these buffers; the rest goes to temporary files. 0 means an eighth of the memory available to the
        /// process, at most 1 GiB. Available memory is the limit of its cgroup or the machine's memory, whichever is less. Bytes
        /// that a client has not read for 2 s also go to a file, or for 0.2 s if the buffers are more than half full.
        buffers_bytes_max: u64 = 0, in 0..=1_099_511_627_776, "bytes" => restart;
    }

    /// Temporary files for request bodies and responses that are too large for memory.
    temp: Temp {
        /// Directory for temporary files, relative to the config file. By default, the system's.
        dir: Option<String> = None => restart;
        /// Maximum total size of temporary files. One response may use a quarter of it. If a client leaves more than that unread,
        /// its connection is closed.
        bytes_max: u64 = 4_294_967_296, in 0..=1_125_899_906_842_624, "bytes" => restart;
    }

    /// Paths that the gateway answers by itself.
    edge: Edge {
        /// Path that answers 200 while the gateway runs. An empty string disables it.
        ping_path: String = "/.sluice/ping".to_owned() => reload;
        /// Path that answers 200 while a worker is ready and requests make progress, else 503. An empty string disables it.
        ready_path: String = "/.sluice/ready".to_owned() => reload;
    }

    /// Files that the gateway serves without a worker. For a file `name`, clients that accept it get `name.br` or `name.gz` if such
    /// a file exists. Sluice does not check that its content is the same.
    files: Files {
        /// Directories by URL path prefix, for example `{ "/assets/" = "dist/client/assets" }`, relative to the config file.
        /// Prefixes end with `/`; the longest match counts. Only regular files are served. All other requests go to the app, and so
        /// do names that start with a dot (except `.well-known`).
        paths: BTreeMap<String, String> = BTreeMap::new() => restart;
        /// `Cache-Control` by URL path prefix; the longest match counts. Other files get `public, max-age=31536000, immutable` if
        /// their name contains a hash of the content (`app.3f2a9c1b.js`), or their path contains `/_next/static/`, `/_astro/`,
        /// `/_nuxt/` or `/_app/immutable/`. All others get `public, max-age=0`.
        cache_control: BTreeMap<String, String> = BTreeMap::new() => restart;
    }

    /// Pages without data, which the browser fills. Browsers get such a page instead of a 503 if the queue is full or a render
    /// would be too late, and no cached page may be used.
    shell: Shell {
        /// HTML files by URL path prefix, for example `{ "/" = "dist/client/shell.html" }`, relative to the config file; the
        /// longest match counts.
        files: BTreeMap<String, String> = BTreeMap::new() => reload;
        /// Pages of the app by URL path prefix, for example `{ "/shop/" = "/shop/shell" }`. The gateway requests them without
        /// cookies as soon as a version of the app is in use.
        pages: BTreeMap<String, String> = BTreeMap::new() => reload;
    }

    /// Answers of the gateway to requests that it rejects or whose worker fails. They are an HTML page if `Accept` prefers
    /// `text/html`, `application/problem+json` if it prefers JSON, else plain text.
    errors: Errors {
        /// HTML files that replace the gateway's page, by status or class of statuses, for example `{ "503" = "errors/busy.html",
        /// "5xx" = "errors/5xx.html" }`, relative to the config file; at most 256 KiB each. The gateway replaces `{{status}}`,
        /// `{{reason}}`, `{{message}}`, `{{code}}` and `{{request}}` in them. Errors that the app answers itself are not changed.
        pages: BTreeMap<String, String> = BTreeMap::new() => reload;
    }

    /// Cache of pages, shared by all clients, as HTTP allows (RFC 9111). An app allows it with `Cache-Control: public, max-age=60`
    /// or `s-maxage=60`.
    cache: PageCache {
        /// Whether pages are cached.
        enabled: bool = false => restart;
        /// Memory for all cached pages. Frequently requested pages stay longest. 0 means an eighth of the memory available to the
        /// process, at most 256 MiB. Available memory is the limit of its cgroup or the machine's memory, whichever is less.
        bytes_max: u64 = 0, in 0..=1_099_511_627_776, "bytes" => restart;
        /// Freshness of pages with status 200 that do not state it, by URL path prefix; the longest match counts. Units are `s`,
        /// `m`, `h` and `d`, for example `{ "/blog/" = "1m" }`. With such an entry you declare that these pages are the same for
        /// all clients, also for those with cookies.
        ttl: BTreeMap<String, String> = BTreeMap::new() => restart;
        /// Path prefixes whose pages are never cached.
        bypass: Vec<String> = Vec::new() => restart;
        /// Query parameters that do not change pages. A final `*` matches all parameters with this prefix.
        ignored_params: Vec<String> = ["utm_*", "fbclid", "gclid", "msclkid", "mc_eid"].map(str::to_owned).to_vec() => restart;
        /// Headers, and cookies as `cookie:name`, on which pages depend in addition to their `Vary` header.
        vary_by: Vec<String> = Vec::new() => restart;
        /// Time for which a page may be used after its freshness if a new render fails or the queue is full. A page that states a
        /// time itself (`stale-if-error`) or forbids such use (`must-revalidate`, `s-maxage`) overrides this.
        stale_if_error_s: u64 = 60, in 0..=31_536_000, "seconds" => reload;
        /// Use of cached pages after the app's version has changed: after a reload, and for pages on disk after a start or an
        /// upgrade.
        on_reload: OnReload = OnReload::Stale => reload;
        /// Directory for pages that outlive a restart or kill of the gateway, and eviction from memory; relative to the config
        /// file. They do not outlive a reboot. `cache.on_reload` sets their use after a start. By default, pages are only in
        /// memory.
        disk_dir: Option<String> = None => restart;
        /// Maximum total size of the files in that directory.
        disk_bytes_max: u64 = 1_073_741_824, in 65_536..=1_099_511_627_776, "bytes" => restart;
        /// URL of a Redis or Valkey server through which several gateways share pages and purges: `redis://host:6379/0`,
        /// `rediss://host` (TLS) or `unix:///run/redis.sock?db=0`, with `user:password@` before the host if needed. Anyone with
        /// write access to the server can change pages. By default, each gateway has only its own pages.
        shared_url: Option<String> = None => restart, login;
        /// File with the password of that server, instead of a password in the URL; relative to the config file.
        shared_password_file: Option<String> = None => restart;
        /// Maximum time that a request may wait for that server before its page is rendered.
        shared_timeout_ms: u64 = 5, in 1..=1_000, "milliseconds" => reload;
        /// Prefix of all keys on that server. Gateways with the same prefix share their pages.
        shared_prefix: String = "sluice:".to_owned() => restart;
    }

    /// Pages that the gateway composes (Edge Side Includes). Many visitors get the same page, with
    /// `<esi:include src="/cart/summary"/>` in place of each visitor's own content. The app marks such pages with
    /// `Surrogate-Control: content="ESI/1.0"`.
    compose: Compose {
        /// Whether pages are composed. The app then gets `Surrogate-Capability: sluice="ESI/1.0"`, and no `Accept-Encoding`,
        /// because the gateway cannot read a compressed page. `compression.enabled` compresses the composed page.
        enabled: bool = false => restart;
        /// Path prefixes whose `text/html` pages are also composed, for apps that cannot set the header.
        paths: Vec<String> = Vec::new() => restart;
        /// Maximum time that a page waits for an include, and then for its `alt`.
        include_ms_max: u64 = 1_000, in 1..=60_000, "milliseconds" => reload;
    }

    /// Compression of answers by the gateway, for clients that accept it, on separate threads.
    compression: Compression {
        /// Whether the gateway compresses workers' answers, and files without a `.br` or `.gz` file. Disabled by default, because a
        /// balancer in front may compress too, and apps that compress need nothing else. If a page contains both a secret and text
        /// from the URL, its compressed size can reveal the secret (BREACH): add such pages to `exclude` first.
        enabled: bool = false => reload;
        /// Media types to compress: `type/subtype`, `type/*`, or `*+suffix` for all types with this suffix. `text/event-stream` is
        /// never compressed.
        types: Vec<String> = [
            "text/*", "*+json", "*+xml", "application/json", "application/javascript", "application/xml", "application/wasm",
            "application/x-ndjson", "font/otf", "font/ttf", "image/x-icon",
        ].map(str::to_owned).to_vec() => reload;
        /// Requests whose answers are not compressed, written as in `classes.routes`: `["/account/*", "GET shop.example/cart"]`.
        /// Other spellings that an app may treat as the same path also match, in upper and lower case.
        exclude: Vec<String> = Vec::new() => reload;
    }

    /// Shutdown of the gateway.
    drain: Drain {
        /// Maximum time that accepted requests may take to finish after SIGTERM, SIGINT, `sluice stop` (after `delay_ms`) or
        /// `sluice upgrade`.
        timeout_ms: u64 = 30_000, in 0..=3_600_000, "milliseconds" => reload;
        /// Time before the shutdown in which the gateway still accepts connections but reports that it is not ready, so that a load
        /// balancer can notice.
        delay_ms: u64 = 0, in 0..=600_000, "milliseconds" => reload;
    }

    /// CPU profiles that the gateway takes by itself.
    profile: Profile {
        /// Requests to profile after a request of their class took more CPU time than 99 of 100 usually take. A profiled request is
        /// alone in its worker. The slowest three of each class stay for a day in `profiles/tail` of the state directory, with
        /// their targets.
        tail: Tails = Tails::Sampled => reload;
    }

    /// Spans of requests for OpenTelemetry, whose variables set the rest: `OTEL_EXPORTER_OTLP_ENDPOINT` (`http://127.0.0.1:4318` by
    /// default), `OTEL_EXPORTER_OTLP_HEADERS` (with secrets), `OTEL_SERVICE_NAME` (`sluice` by default),
    /// `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_TRACES_SAMPLER`.
    traces: Traces {
        /// Whether spans are exported, with OTLP over HTTP (protobuf). The gateway's span is then the parent of the app's spans.
        enabled: bool = false => reload;
    }

    /// Log lines on standard output.
    log: Log {
        /// Format of log lines.
        format: LogFormat = LogFormat::Auto => restart;
        /// Field names in JSON lines. `sluice logs --json` always prints those of the reference.
        fields: LogFields = LogFields::Sluice => restart;
        /// Whether the log has a line for every request.
        access: bool = true => restart;
        /// Request headers in the access log, for example `["user-agent", "x-tenant"]`, at most 32. Values of headers with
        /// credentials (`authorization`, `cookie`, `x-api-key` and the like) are always `***`.
        headers: Vec<String> = Vec::new() => restart;
        /// Query strings in log lines.
        query: LogQuery = LogQuery::Mask => restart;
        /// Words in the names of parameters whose values `mask` hides: `token` matches `token`, `access_token` and `accessToken`.
        query_masked: Vec<String> = [
            "token", "key", "apikey", "password", "passwd", "pwd", "secret", "code", "signature", "sig", "auth", "authorization",
            "credential", "credentials", "session", "jwt", "otp", "ticket",
        ].map(str::to_owned).to_vec() => restart;
        /// Whether responses have a `Server-Timing` header with queue wait and service time. Clients can read it.
        server_timing: bool = false => restart;
    }

    /// Dashboard, metrics and health for operators.
    admin: Admin {
        /// Address and port of the dashboard and the metrics, or `off`. Port 0 selects a free one. The default port is not used by
        /// Prometheus or its exporters.
        address: String = "127.0.0.1:7584".to_owned() => restart;
        /// Secret for access to the dashboard from another host and for its actions, at least 16 characters. Set it with
        /// `SLUICE_ADMIN_TOKEN` rather than in a file. By default, the gateway creates one in the file `admin-token` of the run
        /// directory.
        token: Option<String> = None => restart, secret;
        /// Address and port for HAProxy's `agent-check`, for example `127.0.0.1:9101`, or `off`. Each connection gets one line: the
        /// weight computed from predicted wait and free workers, or that this gateway drains.
        agent_address: String = "off".to_owned() => restart;
    }
}
