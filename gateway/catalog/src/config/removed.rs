//! Keys of earlier versions, and the replacement of each. A configuration that still has one gets the message as a warning, and
//! still works.

/// Each key, and the message about its replacement.
pub const REMOVED: &[(&str, &str)] = &[
    ("access.basic_auth_realm", "the realm is \"Restricted\", and browsers no longer show it"),
    ("acme.challenge", "server.redirect_port decides: with it http-01 comes first, and tls-alpn-01 after a failure"),
    ("alarms.after_s", "the cause of an alarm must last for 60 s"),
    ("alarms.cost_drift_percent", "a class that costs 100 % more than in the long run raises the alarm"),
    ("alarms.growth_after_s", "workers are judged from an age of 1 h"),
    ("alarms.queue_wait_ms", "the threshold is 500 ms, or a twentieth of queue.wait_ms_max where that is more"),
    ("alarms.starved_factor", "where a class starves, the alarm steady_queue is raised"),
    ("app.mode", "sluice dev runs the app for its developer, and sluice start for its users"),
    ("cache.page_bytes_max", "pages up to 4 MiB are cached"),
    ("cache.private_s", "the time is 120 s"),
    ("classes.count_max", "the gateway distinguishes 400 classes"),
    ("classes.save", "learned costs are always saved, in the state directory (server.state_dir)"),
    ("compose.depth_max", "includes may stand 3 levels deep"),
    ("compose.include_bytes_max", "an include may have 1 MiB"),
    ("compose.includes_max", "a page may have 64 includes"),
    ("compression.answers_max", "200 answers are compressed at once"),
    ("compression.encodings", "the encodings are zstd, br and gzip, in this order; clients choose by Accept-Encoding"),
    ("compression.size_min", "answers from 1,024 bytes are compressed"),
    ("compression.threads", "a quarter of the CPUs compresses, at least one"),
    ("edge.ready_progress_ms", "queue.wait_ms_max counts for readiness as well"),
    ("files.immutable", "files with a hash in the name are immutable; a rule in files.cache_control overrides that"),
    (
        "files.precompressed",
        "files with .br or .gz beside them are always sent compressed; delete the ones that are stale",
    ),
    ("quarantine.entries_max", "the quarantine holds 1,000 requests; quarantine.ttl_ms = 0 still disables it"),
    ("queue.ageing", "a request goes first after 3 times the wait that the order of arrival would give it"),
    ("rate.clients_max", "the rates of 100,000 clients are remembered"),
    ("recycle.age_s_max", "run sluice reload by a timer to replace all workers at set times"),
    ("reload.at_once", "a reload starts a quarter of the pool at once"),
    ("render.vitals_path", "the path is /.sluice/vitals; vitals: null of createPages sends no beacons"),
    ("response.abandoned_timeout_ms", "response.worker_timeout_ms counts for abandoned responses as well"),
    ("response.file_bytes_max", "one response may take a quarter of temp.bytes_max"),
    ("response.headers_bytes_max", "a response may have 64 KiB of headers"),
    ("response.headers_count_max", "a response may have 256 header lines"),
    ("response.memory_bytes_max", "1 MiB of a response is in memory; memory.buffers_bytes_max bounds all of them"),
    ("server.body_grace_ms", "the rate of a body is measured after 10 s"),
    ("server.body_memory_bytes_max", "256 KiB of a body are in memory; memory.buffers_bytes_max bounds all of them"),
    ("server.body_rate_bytes_per_s_min", "the slowest rate of a body is 512 bytes per second"),
    (
        "server.fronts",
        "one thread serves all connections; where one core is not enough, run several gateways behind a balancer",
    ),
    ("server.handshakes_max", "256 TLS handshakes are under way at once"),
    ("server.headers_count_max", "a request may have 100 header lines"),
    ("server.headers_timeout_ms", "the headers of a request may take 15 s"),
    ("server.http2_bodies_bytes_max", "the bodies of a connection may have 64 MiB, or server.body_bytes_max if more"),
    ("server.http2_streams_max", "an HTTP/2 connection may have 100 requests under way"),
    ("server.request_line_bytes_max", "the request line may have 8 KiB, or half of server.headers_bytes_max if more"),
    ("sticky.engine_io", "sessions of Engine.IO are always recognised"),
    ("streams.per_worker_max", "server.connections_max bounds the streams"),
    ("traces.endpoint", "set OTEL_EXPORTER_OTLP_TRACES_ENDPOINT or OTEL_EXPORTER_OTLP_ENDPOINT"),
    (
        "traces.sample_one_in",
        "set OTEL_TRACES_SAMPLER=parentbased_traceidratio and OTEL_TRACES_SAMPLER_ARG=0.01 for 1 %",
    ),
    ("traces.service_name", "set OTEL_SERVICE_NAME; app.env may give workers another one"),
    ("warm_up.recent", "name targets in warm_up.paths"),
    ("warm_up.requests_max", "a warm-up has 50 requests at most"),
    ("warm_up.timeout_ms", "workers.start_timeout_ms counts for the warm-up as well"),
    ("workers.backoff_ms_max", "the longest wait before a restart is 30 s"),
    ("workers.backoff_ms_min", "the first wait before a restart is 100 ms"),
    (
        "workers.blocked_after_ms",
        "the limit is 60 s, or workers.stuck_after_ms if more; workers.stuck_after_ms = 0 disables both",
    ),
    ("workers.boot_at_once", "the first worker boots alone, and the others follow as the CPUs allow"),
    ("workers.choice", "the first free worker gets the next request"),
    ("workers.compile_cache_bytes_max", "the size is 256 MiB; NODE_DISABLE_COMPILE_CACHE=1 disables the cache"),
    ("workers.compile_cache_dir", "set CACHE_DIRECTORY for Sluice, or NODE_COMPILE_CACHE for Node.js"),
    ("workers.keep_alive_without_preload", "workers without the preload get one request a connection"),
    ("workers.nice", "workers run 2 steps above the gateway's nice value"),
    ("workers.overdue_after_ms", "a worker whose event loop does not turn for 1 s gets a stand-in"),
];

/// The warning for a key of an earlier version.
pub(super) fn warning(path: &str) -> Option<String> {
    let (_, instead) = REMOVED.iter().find(|(removed, _)| *removed == path)?;
    Some(format!("{path} is a key of an earlier version and has no effect: {instead}. Remove the setting."))
}

/// Whether earlier versions had this section, and there is none of that name any more.
pub(super) fn had_section(name: &str) -> bool {
    REMOVED.iter().any(|(path, _)| path.split_once('.').is_some_and(|(section, _)| section == name))
}

/// The key that an environment variable set in an earlier version.
pub(super) fn of_variable(name: &str) -> Option<&'static str> {
    let path = name.strip_prefix("SLUICE_")?.to_lowercase();
    REMOVED.iter().map(|(removed, _)| *removed).find(|removed| removed.replace('.', "_") == path)
}
