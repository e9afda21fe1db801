//! Every config key: its name, type, default, bounds, unit and description, in one table.
//!
//! The parser, `sluice check`, the JSON Schema, the TypeScript types and the reference page are made from this table. A
//! key without a description does not compile, nor does a number without bounds. It must not know what a key is used
//! for, beyond what its description says.

mod checks;
mod load;
mod nearest;
mod problem;
mod slips;
mod table;
mod values;

use std::collections::BTreeMap;

pub use load::{FILE_NAME, Loaded, Origin, Sources, environment, find_file};
pub use nearest::nearest;
pub use problem::{ConfigError, Place, Problem};
pub use table::{Bounds, Key, Section, key, keys};
pub use values::{Choice, Kind, LogFormat, Value};

use table::config;

config! {
    /// The app that the workers run: a script (`entry`) or a command (`command`), not both.
    app: App {
        /// Script that calls `listen()`, relative to `cwd`. Without it and without `command`, `main` or else
        /// `scripts.start` of package.json decides.
        entry: Option<String> = None;
        /// Command that starts the app instead of a script, one argument an element, for example
        /// `["npm", "run", "start"]`. No shell stands between.
        command: Vec<String> = Vec::new();
        /// Arguments that the script gets after its name.
        args: Vec<String> = Vec::new();
        /// Node.js that runs the script: a name on `PATH` or a path.
        node: String = "node".to_owned();
        /// Options for Node.js itself, for example `["--max-old-space-size=2048"]`.
        node_args: Vec<String> = Vec::new();
        /// Environment variables that every worker gets on top of the gateway's own.
        env: BTreeMap<String, String> = BTreeMap::new();
        /// Directory that workers start in, relative to the config file. Where the command line names the app, workers start
        /// in the current directory.
        cwd: String = ".".to_owned();
    }

    /// What clients connect to, and how much of the gateway one of them may take.
    server: Server {
        /// Address to listen on, or a name that leads to one. `::` takes IPv4 as well, and becomes `0.0.0.0` on a machine without IPv6.
        host: String = "::".to_owned();
        /// Port to listen on; 0 takes any free one.
        port: u16 = 3000, in 0..=65_535;
        /// Client connections that may be open at once; further ones are answered 503 and closed.
        connections_max: u64 = 10_000, in 1..=1_000_000, "connections";
        /// File with the certificate chain (PEM). With `tls_key`, the port speaks HTTPS.
        tls_cert: Option<String> = None;
        /// File with the certificate's private key (PEM).
        tls_key: Option<String> = None;
        /// Networks (`10.0.0.0/8`, `::1`) whose `X-Forwarded-*`, `Forwarded`, `X-Request-Id` and `traceparent` are
        /// believed. From anyone else they are replaced.
        trusted_peers: Vec<String> = Vec::new();
        /// How long a connection may stay open between two requests.
        keep_alive_timeout_ms: u64 = 75_000, in 0..=3_600_000, "milliseconds";
        /// How long a request's headers as a whole may take to arrive.
        headers_timeout_ms: u64 = 15_000, in 100..=600_000, "milliseconds";
        /// Rate below which a request's body counts as too slow, once `body_grace_ms` have passed.
        body_rate_bytes_per_s_min: u64 = 512, in 0..=1_073_741_824, "bytes per second";
        /// How long a body may take before its rate is looked at.
        body_grace_ms: u64 = 10_000, in 100..=600_000, "milliseconds";
        /// Longest request line, with its method and version.
        request_line_bytes_max: u64 = 8_192, in 64..=1_048_576, "bytes";
        /// All header lines of a request together.
        headers_bytes_max: u64 = 16_384, in 256..=1_048_576, "bytes";
        /// Header lines of a request.
        headers_count_max: u64 = 100, in 1..=10_000, "headers";
        /// Largest request body.
        body_bytes_max: u64 = 16_777_216, in 0..=1_099_511_627_776, "bytes";
        /// Part of a request body that is kept in memory; what goes beyond is kept in a temporary file.
        body_memory_bytes_max: u64 = 262_144, in 0..=1_073_741_824, "bytes";
        /// How long a client may take in no bytes of its response before it is cut off.
        send_timeout_ms: u64 = 60_000, in 100..=3_600_000, "milliseconds";
    }

    /// The processes that run the app.
    workers: Workers {
        /// How many workers run. 0 takes the CPUs that the process may use: the quota of its cgroup or its affinity,
        /// whichever is less.
        count: u32 = 0, in 0..=1_024, "workers";
        /// Requests that one worker holds at once. 1 is strict mode; more is for apps that mostly wait.
        concurrency: u32 = 1, in 1..=10_000, "requests";
        /// Which of the free workers gets the next request.
        choice: Choice = Choice::First;
        /// How long a worker may take to listen after its process started.
        start_timeout_ms: u64 = 60_000, in 100..=3_600_000, "milliseconds";
        /// How long a worker may take to leave once asked, before it is killed.
        stop_timeout_ms: u64 = 10_000, in 0..=3_600_000, "milliseconds";
        /// Wait before a worker that exited is started again; doubles with each exit that follows soon.
        backoff_ms_min: u64 = 100, in 1..=3_600_000, "milliseconds";
        /// Longest such wait.
        backoff_ms_max: u64 = 30_000, in 1..=3_600_000, "milliseconds";
    }

    /// Requests that wait for a worker.
    queue: Queue {
        /// Requests that may wait; further ones are refused with 503.
        length_max: u64 = 1_000, in 0..=1_000_000, "requests";
        /// Longest wait. A request predicted to wait longer is refused on arrival, one that did is refused then.
        wait_ms_max: u64 = 10_000, in 1..=3_600_000, "milliseconds";
    }

    /// What is accepted from a worker.
    response: Response {
        /// How long a worker may send nothing before the client gets 504. The worker's slot stays held.
        worker_timeout_ms: u64 = 60_000, in 1..=86_400_000, "milliseconds";
        /// How long a worker may go on with a response that nobody waits for any more (the client left or got 504) before
        /// its connection is closed. A worker that does not end the request then is replaced.
        abandoned_timeout_ms: u64 = 60_000, in 1..=86_400_000, "milliseconds";
        /// Part of a response that is kept in memory for a slow client; what goes beyond is kept in a temporary file.
        memory_bytes_max: u64 = 1_048_576, in 4_096..=1_073_741_824, "bytes";
        /// Part of a response that is kept in a temporary file; a client that has left more than that unread is cut off.
        file_bytes_max: u64 = 1_073_741_824, in 0..=1_099_511_627_776, "bytes";
        /// Status line and all header lines of a response together.
        headers_bytes_max: u64 = 65_536, in 1_024..=16_777_216, "bytes";
        /// Header lines of a response.
        headers_count_max: u64 = 256, in 1..=10_000, "headers";
    }

    /// Upgraded connections (WebSocket) and event streams, which hold no slot.
    streams: Streams {
        /// Streams that one worker may hold.
        per_worker_max: u64 = 1_000, in 0..=1_000_000, "streams";
        /// How long a stream may carry nothing in either direction; 0 for any time.
        idle_timeout_ms: u64 = 3_600_000, in 0..=604_800_000, "milliseconds";
    }

    /// Temporary files for bodies too large for memory.
    temp: Temp {
        /// Directory for them, relative to the config file; without it, the system's.
        dir: Option<String> = None;
        /// All temporary files together.
        bytes_max: u64 = 4_294_967_296, in 0..=1_125_899_906_842_624, "bytes";
    }

    /// Paths that the gateway answers by itself.
    edge: Edge {
        /// Answers 200 while the gateway lives. Empty switches it off.
        ping_path: String = "/.sluice/ping".to_owned();
        /// Answers 200 while work makes progress, else 503. Empty switches it off.
        ready_path: String = "/.sluice/ready".to_owned();
        /// How long requests may wait without any being answered before the gateway counts as not ready.
        ready_progress_ms: u64 = 10_000, in 100..=3_600_000, "milliseconds";
    }

    /// Leaving.
    drain: Drain {
        /// How long accepted requests may take to finish after SIGTERM, SIGINT, SIGHUP or `sluice stop`.
        timeout_ms: u64 = 30_000, in 0..=3_600_000, "milliseconds";
    }

    /// What is written to standard output.
    log: Log {
        /// How lines look.
        format: LogFormat = LogFormat::Auto;
        /// Whether every request gets a line.
        access: bool = true;
        /// Whether responses carry `Server-Timing` with queue wait and service time. Clients see it.
        server_timing: bool = false;
    }

    /// Metrics and health for operators.
    admin: Admin {
        /// Address and port of the metrics server, or `off`. Port 0 takes any free one.
        address: String = "127.0.0.1:9090".to_owned();
    }
}
