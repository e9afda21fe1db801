// Generated from gateway/catalog by `make generate`; do not edit.

/** A time with its unit: `500ms`, `3s`, `2m`, `1h`, `7d`. */
export type Duration = `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

/** Everything that `sluice.toml` may say. Each section and key may be left out. */
export interface Config {
  /** The app that the workers run: a script (`entry`) or a command (`command`), not both. */
  app?: AppConfig;
  /** The address that clients connect to, and limits per client. */
  server?: ServerConfig;
  /** Certificates that the gateway obtains from a CA and renews by itself, with ACME (RFC 8555). */
  acme?: AcmeConfig;
  /**
   * Limits on the request rate of one client. Requests over a limit get 429 from the gateway and reach
   * no worker.
   */
  rate?: RateLimitsConfig;
  /**
   * Clients that may send requests. These rules do not apply to the gateway's own probe paths
   * (`edge.ping_path`, `edge.ready_path`) or to the admin address.
   */
  access?: AccessConfig;
  /** React rendering on the server. `react = "fast"` is short for `react.renderer = "fast"`. */
  react?: ReactConfig | 'react-dom' | 'fast';
  /**
   * Share of visitors who get server rendering (`@sluice/render`), and the reports of browsers about it
   * (`@sluice/browser`).
   */
  render?: RenderConfig;
  /** The processes that run the app. */
  workers?: WorkersConfig;
  /**
   * Clients that return to the worker with their session. `sticky = "cookie"` is short for `sticky.by =
   * "cookie"`.
   */
  sticky?: SessionsConfig | 'off' | 'cookie' | 'address';
  /**
   * Requests that the gateway sends to a new worker before clients' requests, as long as other workers
   * serve the clients. They have the header `Sluice-Warm-Up: 1`.
   */
  warm_up?: WarmUpConfig;
  /**
   * Replacement of healthy workers. A successor is ready before the old worker exits. The gateway
   * replaces one worker at a time: the next replacement begins after the previous worker has finished
   * its requests and exited.
   */
  recycle?: RecycleConfig;
  /** Requests that wait for a worker. */
  queue?: QueueConfig;
  /**
   * Classes of requests, for which the gateway learns the cost: host, method and path, without the
   * varying parts of the path. `sluice classes` shows them.
   */
  classes?: ClassesConfig;
  /**
   * Requests that crash workers. After a request has crashed two workers, the gateway answers it with
   * 500 without a worker.
   */
  quarantine?: QuarantineLimitsConfig;
  /** Limits of workers' responses. */
  response?: ResponseConfig;
  /**
   * Other hosts that answer some requests instead of the app, such as older services and APIs of native
   * apps.
   */
  upstreams?: UpstreamsConfig;
  /**
   * Connections that hold no slot: upgraded ones (WebSocket), upgrades that the app has not answered
   * yet, event streams, and long polls of Engine.IO.
   */
  streams?: StreamsConfig;
  /** Memory for request bodies and responses of slow clients. */
  memory?: MemoryConfig;
  /** Temporary files for request bodies and responses that are too large for memory. */
  temp?: TempConfig;
  /** Paths that the gateway answers by itself. */
  edge?: EdgeConfig;
  /**
   * Files that the gateway serves without a worker. For a file `name`, clients that accept it get
   * `name.br` or `name.gz` if such a file exists. Sluice does not check that its content is the same.
   */
  files?: FilesConfig;
  /**
   * Pages without data, which the browser fills. Browsers get such a page instead of a 503 if the queue
   * is full or a render would be too late, and no cached page may be used.
   */
  shell?: ShellConfig;
  /**
   * Answers of the gateway to requests that it rejects or whose worker fails. They are an HTML page if
   * `Accept` prefers `text/html`, `application/problem+json` if it prefers JSON, else plain text.
   */
  errors?: ErrorsConfig;
  /**
   * Cache of pages, shared by all clients, as HTTP allows (RFC 9111). An app allows it with
   * `Cache-Control: public, max-age=60` or `s-maxage=60`.
   */
  cache?: PageCacheConfig;
  /**
   * Pages that the gateway composes (Edge Side Includes). Many visitors get the same page, with
   * `<esi:include src="/cart/summary"/>` in place of each visitor's own content. The app marks such
   * pages with `Surrogate-Control: content="ESI/1.0"`.
   */
  compose?: ComposeConfig;
  /** Compression of answers by the gateway, for clients that accept it, on separate threads. */
  compression?: CompressionConfig;
  /** Shutdown of the gateway. */
  drain?: DrainConfig;
  /** CPU profiles that the gateway takes by itself. */
  profile?: ProfileConfig;
  /**
   * Spans of requests for OpenTelemetry, whose variables set the rest: `OTEL_EXPORTER_OTLP_ENDPOINT`
   * (`http://127.0.0.1:4318` by default), `OTEL_EXPORTER_OTLP_HEADERS` (with secrets),
   * `OTEL_SERVICE_NAME` (`sluice` by default), `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_TRACES_SAMPLER`.
   */
  traces?: TracesConfig;
  /** Log lines on standard output. */
  log?: LogConfig;
  /** Dashboard, metrics and health for operators. */
  admin?: AdminConfig;
}

/** `[app]` */
export interface AppConfig {
  /**
   * Script that calls `listen()`, relative to `cwd`. Without this key and `command`, Sluice uses the
   * first of these: `main` of package.json, `scripts.start`, the server of a known framework, a script
   * with a usual name (`server.js`, `dist/index.js`).
   */
  entry?: string;
  /**
   * Command that starts the app instead of a script, as an array of arguments, for example `["npm",
   * "run", "start"]`. It runs without a shell.
   * @default []
   */
  command?: string[];
  /**
   * Arguments for the script, after its name.
   * @default []
   */
  args?: string[];
  /**
   * Node.js that runs the script: a name on `PATH` or a path.
   * @default "node"
   */
  node?: string;
  /**
   * Options for Node.js itself, for example `["--max-old-space-size=2048"]`.
   * @default []
   */
  node_args?: string[];
  /**
   * Environment variables for every worker, added to those of the gateway.
   * @default {}
   */
  env?: Record<string, string>;
  /**
   * Port on which the app's main server listens. The main server gets the clients' requests. With 0, it
   * is the server on `PORT`. If none listens there within 3 seconds, it is the first HTTP server on
   * another fixed port, else the first on port `0`. Set this key if the app also listens for metrics or
   * health, and takes longer than that to listen on `PORT`. The value may be the same as `server.port`.
   * From 0 to 65535.
   * @default 0
   */
  port?: number;
  /**
   * Working directory of the workers, relative to the config file. If the command line names the app,
   * workers start in the current directory.
   * @default "."
   */
  cwd?: string;
}

/** `[server]` */
export interface ServerConfig {
  /**
   * Address to listen on, or a name that resolves to one. `::` also accepts IPv4, and becomes `0.0.0.0`
   * on a machine without IPv6.
   * @default "::"
   */
  host?: string;
  /**
   * Port to listen on; 0 selects a free one. From 0 to 65535.
   * @default 3000
   */
  port?: number;
  /**
   * Directory for data that outlives a restart: learned costs, profiles, evidence of stuck workers. By
   * default it is `$STATE_DIRECTORY/sluice` (systemd), else the run directory if `--run-dir` names one,
   * else `sluice/` and a name of the instance in the user's state directory (`$XDG_STATE_HOME`,
   * `~/.local/state`). Only this user may have access to it.
   */
  state_dir?: string;
  /**
   * Maximum number of open client connections. The gateway answers further ones with 503 and closes
   * them. In connections, from 1 to 1000000.
   * @default 10000
   */
  connections_max?: number;
  /**
   * Maximum number of open client connections from one address, or from one IPv6 network of 64 bits.
   * `trusted_peers` are exempt. 0 means a quarter of `connections_max`, and exempts this machine. At the
   * limit, an idle connection is closed for a new one. In connections, from 0 to 1000000.
   * @default 0
   */
  connections_per_address_max?: number;
  /** File with the certificate chain (PEM). With `tls_key`, the port serves HTTPS. */
  tls_cert?: string;
  /** File with the certificate's private key (PEM). */
  tls_key?: string;
  /**
   * Certificates by the host name that a client requests (SNI): `[[server.certificates]]` with `cert`,
   * `key` and, if the names differ from those in the certificate, `hosts`. An exact name takes
   * precedence over `*.example.com`, and an earlier table over a later one. Clients that request no name
   * or an unknown one get `tls_cert`, else the first certificate here.
   * @default []
   */
  certificates?: { cert: string; key: string; hosts?: string[] }[];
  /**
   * Time in seconds for which browsers must use HTTPS: the `max-age` of `Strict-Transport-Security`. The
   * gateway adds this header to answers over TLS, unless the app sends one. 0 disables it. In seconds,
   * from 0 to 157680000.
   * @default 0
   */
  hsts_max_age_s?: number | Duration;
  /**
   * Additional port without TLS. It redirects to HTTPS with 308 and answers http-01 challenges of the
   * CA. 0 disables it. From 0 to 65535.
   * @default 0
   */
  redirect_port?: number;
  /**
   * HTTPS port in these redirects, if clients reach HTTPS on another port than `port` (a mapped port). 0
   * means `port`. From 0 to 65535.
   * @default 0
   */
  redirect_to_port?: number;
  /**
   * Whether an HTTPS port also supports HTTP/2. Clients choose (ALPN). A change does not affect open
   * connections.
   * @default true
   */
  http2?: boolean;
  /**
   * Networks (`10.0.0.0/8`, `::1`) whose `X-Forwarded-*`, `Forwarded` and `X-Request-Id` headers are
   * trusted. The gateway replaces these headers of all other clients.
   * @default []
   */
  trusted_peers?: string[];
  /**
   * Whether connections of `trusted_peers` must begin with a PROXY protocol header, version 1 or 2,
   * which contains the client's address. The gateway closes a connection without a valid header. The
   * header comes before TLS. Use it for balancers that do not speak HTTP; the others send
   * `X-Forwarded-For`.
   * @default false
   */
  proxy_protocol?: boolean;
  /**
   * Whether answers to `trusted_peers` report the load of this gateway to their balancer:
   * `endpoint-load-metrics` of ORCA, as Envoy and gRPC read it. The gateway removes the app's own
   * reports.
   * @default "off"
   */
  load_report?: 'off' | 'header' | 'trailer';
  /**
   * Clients whose `traceparent` and `tracestate` (W3C Trace Context) reach the app. Without
   * `traces.enabled`, the gateway creates no trace context. It removes a malformed `traceparent` with
   * its `tracestate`.
   * @default "pass"
   */
  trace_context?: 'pass' | 'trusted' | 'off';
  /**
   * Requests that are accepted although a header name contains `_`; the others get 400. Node.js
   * distinguishes `_` and `-`. CGI-style servers do not, so a client could forge one header with the
   * other.
   * @default "distinct"
   */
  underscore_headers?: 'distinct' | 'refuse' | 'pass';
  /**
   * Maximum time for which a connection may be idle between two requests. In milliseconds, from 0 to
   * 3600000.
   * @default 75000
   */
  keep_alive_timeout_ms?: number | Duration;
  /**
   * Maximum total size of the header lines of a request, which may have up to 100 lines. The limit of
   * the request line is the same, but at least 16384. Without this key, the app's
   * `--max-http-header-size` sets both limits (in `app.node_args`, `app.command` or `NODE_OPTIONS`). In
   * bytes, from 256 to 1048576.
   * @default 16384
   */
  headers_bytes_max?: number;
  /**
   * Maximum size of a request body. In bytes, from 0 to 1099511627776.
   * @default 16777216
   */
  body_bytes_max?: number;
  /**
   * Maximum time for which a client may read nothing of its response. Then the gateway closes the
   * connection. In milliseconds, from 100 to 3600000.
   * @default 60000
   */
  send_timeout_ms?: number | Duration;
}

/** `[acme]` */
export interface AcmeConfig {
  /**
   * Host names, such as `["shop.example", "www.shop.example"]`, with one certificate for each. For the
   * same name, `server.tls_cert` and `server.certificates` take precedence. Until a name has its
   * certificate, its clients get `server.tls_cert`; without that, the handshake fails.
   * @default []
   */
  names?: string[];
  /**
   * Whether you agree to the CA's terms of service (Let's Encrypt:
   * <https://letsencrypt.org/repository/>). Must be `true`.
   * @default false
   */
  terms_agreed?: boolean;
  /** E-mail address for a new account with the CA. Many CAs do not need one. */
  contact?: string;
  /**
   * HTTPS URL of the CA's directory.
   * @default "https://acme-v02.api.letsencrypt.org/directory"
   */
  directory?: string;
  /**
   * File with the root certificates (PEM) to verify the CA's server, relative to the config file. By
   * default, those of the system. Needed for a private CA.
   */
  ca_file?: string;
  /**
   * Directory for the account key, the certificates and their keys, relative to the config file. By
   * default it is `$STATE_DIRECTORY/acme` (systemd), else `sluice/acme` in the user's state directory
   * (`$XDG_STATE_HOME`, `~/.local/state`). It must outlive a restart, and only this user may have access
   * to it. Gateways that share the directory request each certificate once.
   */
  dir?: string;
  /** ID of an existing account, for a CA that requires external account binding. */
  eab_key_id?: string;
  /**
   * Key of that account, as the CA shows it. Set it with `SLUICE_ACME_EAB_HMAC_KEY` rather than in a
   * file.
   */
  eab_hmac_key?: string;
}

/** `[rate]` */
export interface RateLimitsConfig {
  /**
   * Limits by path, each for one client's requests to this path and below: `"/login" = "5/min burst
   * 20"`. The rate is a count and `/s`, `/min` or `/h`. The burst is the maximum number of requests at
   * once. By default, the burst is the rate per second, at least 1. If several paths match, the longest
   * counts. Upper and lower case are equal. An empty table disables the limits.
   * @default {}
   */
  limits?: Record<string, string>;
  /**
   * Networks (`10.0.0.0/8`, `::1`) whose requests are never limited.
   * @default []
   */
  exempt?: string[];
  /**
   * Whether all gateways with the same `cache.shared_url` count together. A request waits for that
   * server for `cache.shared_timeout_ms` at most. A gateway without an answer from it counts alone.
   * @default false
   */
  shared?: boolean;
}

/** `[access]` */
export interface AccessConfig {
  /**
   * Networks (`10.0.0.0/8`, `::1`) whose clients may send requests; all others get 403. An empty list
   * allows all clients. Behind a proxy in `server.trusted_peers`, the address that the proxy reports
   * counts.
   * @default []
   */
  allow?: string[];
  /**
   * Networks whose clients get 403, even if `allow` contains them.
   * @default []
   */
  deny?: string[];
  /**
   * Users, each with the bcrypt hash of a password (`sluice access hash`). If there are users, requests
   * without a valid login get 401, and the app does not get the `Authorization` header.
   * @default {}
   */
  basic_auth?: Record<string, string>;
  /**
   * File with additional users, one `name:hash` per line, as `htpasswd -B` writes it; relative to the
   * config file.
   */
  basic_auth_file?: string;
  /**
   * Paths that need no password, including all paths below them. There, the app gets the client's
   * `Authorization` header.
   * @default ["/.well-known/acme-challenge"]
   */
  basic_auth_exempt?: string[];
}

/** `[react]` */
export interface ReactConfig {
  /**
   * Renderer that the app gets when it imports `react-dom/server` or `react-dom/static`. With `fast`,
   * Sluice searches for `@sluice/react` from the app, then beside itself. If there is none, or it does
   * not support the app's React version, react-dom renders. A bundle that contains react-dom has no such
   * imports, so react-dom renders there.
   * @default "react-dom"
   */
  renderer?: 'react-dom' | 'fast';
}

/** `[render]` */
export interface RenderConfig {
  /**
   * Share of visitors for whom the server renders, from `"0%"` to `"100%"`; for the others, the browser
   * renders. The entry `"*"` is for all components, `"Reviews"` for one, and `"Reviews@mobile"` or
   * `"*@bot"` for visitors with one device (`mobile`, `desktop` or `bot`). The most specific entry
   * counts: component and device, component, device, `"*"`. `sluice dial` changes shares without a
   * reload.
   * @default {"*":"100%"}
   */
  server?: Record<string, string>;
}

/** `[workers]` */
export interface WorkersConfig {
  /**
   * Number of workers. 0 means the number of CPUs available to the process: the quota of its cgroup or
   * its affinity, whichever is less. The number is lower if memory is limited to less than 96 MiB per
   * worker, including the workers of `lanes` and of a reload. `sluice check` shows the number and the
   * reason. In workers, from 0 to 1024.
   * @default 0
   */
  count?: number;
  /**
   * Maximum number of requests in one worker at once. With `"while-waiting"`, a worker gets another
   * request only while all its current requests wait for I/O. Its memory and its event loop limit how
   * many may wait. The value 1 is strict mode: never two requests in the app, for apps that store data
   * of a request in module variables. With a larger number, a worker gets requests even while it
   * computes. In requests, from 1 to 10000.
   * @default "while-waiting"
   */
  concurrency?: number | 'while-waiting';
  /**
   * Maximum number of requests in one worker if `concurrency` is `"while-waiting"`. With the default,
   * memory and the event loop limit it earlier. In requests, from 1 to 10000.
   * @default 10000
   */
  concurrency_max?: number;
  /**
   * Whether long requests get an additional worker beyond `count`, and a second one under overload.
   * These workers have the lowest operating-system priority, so that short requests need not wait for
   * long ones. Lanes need a `concurrency` of 1 or `"while-waiting"`, and do not work with `queue.order =
   * "fifo"`.
   * @default "auto"
   */
  lanes?: 'auto' | 'off';
  /**
   * Maximum time from the start of a worker's process until it listens, and then for its warm-up
   * (`warm_up.paths`). In milliseconds, from 100 to 3600000.
   * @default 60000
   */
  start_timeout_ms?: number | Duration;
  /**
   * Maximum time that a worker may take to exit after SIGTERM. Then the gateway kills it. In
   * milliseconds, from 0 to 3600000.
   * @default 10000
   */
  stop_timeout_ms?: number | Duration;
  /**
   * Whether a worker is ready only after the app has called `process.send('ready')` and listens. Ignored
   * for apps in other runtimes, which cannot call it.
   * @default false
   */
  wait_ready?: boolean;
  /**
   * Maximum CPU time that a worker's main thread may use while its event loop does not turn (an infinite
   * loop, an endless regular expression). Then the gateway kills the worker, and the log names the
   * function and the line. If other processes had the CPU, it kills the worker after six times this
   * time. The time counts from the worker's last report; a worker reports four times a second. A main
   * thread that waits (a synchronous child process, a lock, a disk) has 60 s, or this time if that is
   * more. Outside Linux, Sluice cannot distinguish the two cases, so this longer limit applies to both.
   * The minimum is 1500; 0 disables both limits. On Linux, a worker that computes for 1 s without a turn
   * of its event loop gets a lower operating-system priority and a stand-in. In milliseconds, from 0 to
   * 3600000.
   * @default 10000
   */
  stuck_after_ms?: number | Duration;
}

/** `[sticky]` */
export interface SessionsConfig {
  /**
   * Way in which the gateway recognizes a client. If the client's worker has exited, the client gets
   * another worker and a new session.
   * @default "off"
   */
  by?: 'off' | 'cookie' | 'address';
  /**
   * Requests with sticky sessions, written as in `classes.routes`: `["/socket.io/*", "GET
   * shop.example/cart"]`.
   * @default ["/*"]
   */
  routes?: string[];
  /**
   * Name of the cookie. The app does not get it.
   * @default "sluice"
   */
  cookie?: string;
  /**
   * `SameSite` of the cookie. The cookie is always `HttpOnly`. It is `Secure` if the client uses HTTPS
   * to the gateway or to a trusted peer.
   * @default "lax"
   */
  same_site?: 'lax' | 'strict' | 'none';
}

/** `[warm_up]` */
export interface WarmUpConfig {
  /**
   * Targets to request with GET, in turn, for example `["/", "/products?page=2"]`. If one answers with
   * status 500 or above, or with a broken response, the reload is abandoned.
   * @default []
   */
  paths?: string[];
}

/** `[recycle]` */
export interface RecycleConfig {
  /**
   * Resident memory above which a worker is replaced; 0 disables this. Set it well above the memory of a
   * fresh worker. If even a fresh worker exceeds it, the log says so, and replacements become less
   * frequent, at last one every 30 s. In bytes, from 0 to 1099511627776.
   * @default 0
   */
  memory_bytes_max?: number;
  /**
   * Number of requests after which a worker is replaced; 0 disables this. Each worker's own limit is up
   * to a tenth lower, so that workers are not replaced at the same time. In requests, from 0 to
   * 1000000000.
   * @default 0
   */
  requests_max?: number;
}

/** `[queue]` */
export interface QueueConfig {
  /**
   * Maximum number of waiting requests. Further ones get 503. In requests, from 0 to 1000000.
   * @default 10000
   */
  length_max?: number;
  /**
   * Order in which waiting requests are dispatched. Requests of the same class keep their order of
   * arrival.
   * @default "shortest"
   */
  order?: 'shortest' | 'fifo';
  /**
   * Maximum queue wait. The gateway rejects a request on arrival if its predicted wait is longer, and
   * later if it has waited this long. A gateway is not ready (`edge.ready_path`) if all its workers are
   * busy and finish no request for this time. In milliseconds, from 1 to 3600000.
   * @default 10000
   */
  wait_ms_max?: number | Duration;
  /**
   * Maximum predicted wait before a cheaper answer replaces the render: a stale page, a shell, else a
   * 503. It applies to requests without a `budget_ms` in `classes.routes`. 0 means `wait_ms_max`. In
   * milliseconds, from 0 to 3600000.
   * @default 0
   */
  budget_ms?: number | Duration;
}

/** `[classes]` */
export interface ClassesConfig {
  /**
   * Routes and their settings: `"GET /products/:id" = "class=product priority=1 deadline_ms=500"`. A
   * method and a host may precede the path; `:name` matches one segment, and a final `*` all that
   * follow. If several routes match, the most specific one counts. `class` is a name, which several
   * routes may share. `priority` is -100 to 100 (default 0); higher ones go first. `deadline_ms` is the
   * time after which an answer is useless. `budget_ms` is the maximum predicted wait for a render.
   * @default {}
   */
  routes?: Record<string, string>;
}

/** `[quarantine]` */
export interface QuarantineLimitsConfig {
  /**
   * Time in quarantine after the last crash; 0 disables quarantine. In milliseconds, from 0 to 86400000.
   * @default 600000
   */
  ttl_ms?: number | Duration;
}

/** `[response]` */
export interface ResponseConfig {
  /**
   * Maximum time for which a worker may send nothing before the client gets 504. The slot stays in use.
   * For an upgrade, which uses no slot, it is the maximum time until its answer. It also limits a
   * response that no client waits for (the client left or got 504); then the gateway replaces the
   * worker. In milliseconds, from 1 to 86400000.
   * @default 60000
   */
  worker_timeout_ms?: number | Duration;
}

/** `[upstreams]` */
export interface UpstreamsConfig {
  /**
   * Routes to other hosts: `[[upstreams.routes]]` with `name`, `paths`, `to`, and optional settings.
   * Their requests need no worker and no queue. Page cache, compression, access rules, rate limits and
   * includes work as for the app. The most specific path counts, as in `classes.routes`; a route takes
   * precedence over `files.paths`.
   * @default []
   */
  routes?: { name: string; paths: string[]; to: string[]; host?: string; connect_timeout?: string; first_byte_timeout?: string; timeout?: string; retries?: number; connections_max?: number; health?: string; proxy_protocol?: string; ca?: string; cert?: string; key?: string; server_name?: string }[];
}

/** `[streams]` */
export interface StreamsConfig {
  /**
   * Maximum time for which a stream may be idle in both directions; 0 disables the limit. In
   * milliseconds, from 0 to 604800000.
   * @default 3600000
   */
  idle_timeout_ms?: number | Duration;
}

/** `[memory]` */
export interface MemoryConfig {
  /**
   * Maximum total size of these buffers; the rest goes to temporary files. 0 means an eighth of the
   * memory available to the process, at most 1 GiB. Available memory is the limit of its cgroup or the
   * machine's memory, whichever is less. Bytes that a client has not read for 2 s also go to a file, or
   * for 0.2 s if the buffers are more than half full. In bytes, from 0 to 1099511627776.
   * @default 0
   */
  buffers_bytes_max?: number;
}

/** `[temp]` */
export interface TempConfig {
  /** Directory for temporary files, relative to the config file. By default, the system's. */
  dir?: string;
  /**
   * Maximum total size of temporary files. One response may use a quarter of it. If a client leaves more
   * than that unread, its connection is closed. In bytes, from 0 to 1125899906842624.
   * @default 4294967296
   */
  bytes_max?: number;
}

/** `[edge]` */
export interface EdgeConfig {
  /**
   * Path that answers 200 while the gateway runs. An empty string disables it.
   * @default "/.sluice/ping"
   */
  ping_path?: string;
  /**
   * Path that answers 200 while a worker is ready and requests make progress, else 503. An empty string
   * disables it.
   * @default "/.sluice/ready"
   */
  ready_path?: string;
}

/** `[files]` */
export interface FilesConfig {
  /**
   * Directories by URL path prefix, for example `{ "/assets/" = "dist/client/assets" }`, relative to the
   * config file. Prefixes end with `/`; the longest match counts. Only regular files are served. All
   * other requests go to the app, and so do names that start with a dot (except `.well-known`).
   * @default {}
   */
  paths?: Record<string, string>;
  /**
   * `Cache-Control` by URL path prefix; the longest match counts. Other files get `public,
   * max-age=31536000, immutable` if their name contains a hash of the content (`app.3f2a9c1b.js`), or
   * their path contains `/_next/static/`, `/_astro/`, `/_nuxt/` or `/_app/immutable/`. All others get
   * `public, max-age=0`.
   * @default {}
   */
  cache_control?: Record<string, string>;
}

/** `[shell]` */
export interface ShellConfig {
  /**
   * HTML files by URL path prefix, for example `{ "/" = "dist/client/shell.html" }`, relative to the
   * config file; the longest match counts.
   * @default {}
   */
  files?: Record<string, string>;
  /**
   * Pages of the app by URL path prefix, for example `{ "/shop/" = "/shop/shell" }`. The gateway
   * requests them without cookies as soon as a version of the app is in use.
   * @default {}
   */
  pages?: Record<string, string>;
}

/** `[errors]` */
export interface ErrorsConfig {
  /**
   * HTML files that replace the gateway's page, by status or class of statuses, for example `{ "503" =
   * "errors/busy.html", "5xx" = "errors/5xx.html" }`, relative to the config file; at most 256 KiB each.
   * The gateway replaces `{{status}}`, `{{reason}}`, `{{message}}`, `{{code}}` and `{{request}}` in
   * them. Errors that the app answers itself are not changed.
   * @default {}
   */
  pages?: Record<string, string>;
}

/** `[cache]` */
export interface PageCacheConfig {
  /**
   * Whether pages are cached.
   * @default false
   */
  enabled?: boolean;
  /**
   * Memory for all cached pages. Frequently requested pages stay longest. 0 means an eighth of the
   * memory available to the process, at most 256 MiB. Available memory is the limit of its cgroup or the
   * machine's memory, whichever is less. In bytes, from 0 to 1099511627776.
   * @default 0
   */
  bytes_max?: number;
  /**
   * Freshness of pages with status 200 that do not state it, by URL path prefix; the longest match
   * counts. Units are `s`, `m`, `h` and `d`, for example `{ "/blog/" = "1m" }`. With such an entry you
   * declare that these pages are the same for all clients, also for those with cookies.
   * @default {}
   */
  ttl?: Record<string, string>;
  /**
   * Path prefixes whose pages are never cached.
   * @default []
   */
  bypass?: string[];
  /**
   * Query parameters that do not change pages. A final `*` matches all parameters with this prefix.
   * @default ["utm_*","fbclid","gclid","msclkid","mc_eid"]
   */
  ignored_params?: string[];
  /**
   * Headers, and cookies as `cookie:name`, on which pages depend in addition to their `Vary` header.
   * @default []
   */
  vary_by?: string[];
  /**
   * Time for which a page may be used after its freshness if a new render fails or the queue is full. A
   * page that states a time itself (`stale-if-error`) or forbids such use (`must-revalidate`,
   * `s-maxage`) overrides this. In seconds, from 0 to 31536000.
   * @default 60
   */
  stale_if_error_s?: number | Duration;
  /**
   * Use of cached pages after the app's version has changed: after a reload, and for pages on disk after
   * a start or an upgrade.
   * @default "stale"
   */
  on_reload?: 'keep' | 'stale' | 'drop';
  /**
   * Directory for pages that outlive a restart or kill of the gateway, and eviction from memory;
   * relative to the config file. They do not outlive a reboot. `cache.on_reload` sets their use after a
   * start. By default, pages are only in memory.
   */
  disk_dir?: string;
  /**
   * Maximum total size of the files in that directory. In bytes, from 65536 to 1099511627776.
   * @default 1073741824
   */
  disk_bytes_max?: number;
  /**
   * URL of a Redis or Valkey server through which several gateways share pages and purges:
   * `redis://host:6379/0`, `rediss://host` (TLS) or `unix:///run/redis.sock?db=0`, with `user:password@`
   * before the host if needed. Anyone with write access to the server can change pages. By default, each
   * gateway has only its own pages.
   */
  shared_url?: string;
  /**
   * File with the password of that server, instead of a password in the URL; relative to the config
   * file.
   */
  shared_password_file?: string;
  /**
   * Maximum time that a request may wait for that server before its page is rendered. In milliseconds,
   * from 1 to 1000.
   * @default 5
   */
  shared_timeout_ms?: number | Duration;
  /**
   * Prefix of all keys on that server. Gateways with the same prefix share their pages.
   * @default "sluice:"
   */
  shared_prefix?: string;
}

/** `[compose]` */
export interface ComposeConfig {
  /**
   * Whether pages are composed. The app then gets `Surrogate-Capability: sluice="ESI/1.0"`, and no
   * `Accept-Encoding`, because the gateway cannot read a compressed page. `compression.enabled`
   * compresses the composed page.
   * @default false
   */
  enabled?: boolean;
  /**
   * Path prefixes whose `text/html` pages are also composed, for apps that cannot set the header.
   * @default []
   */
  paths?: string[];
  /**
   * Maximum time that a page waits for an include, and then for its `alt`. In milliseconds, from 1 to
   * 60000.
   * @default 1000
   */
  include_ms_max?: number | Duration;
}

/** `[compression]` */
export interface CompressionConfig {
  /**
   * Whether the gateway compresses workers' answers, and files without a `.br` or `.gz` file. Disabled
   * by default, because a balancer in front may compress too, and apps that compress need nothing else.
   * If a page contains both a secret and text from the URL, its compressed size can reveal the secret
   * (BREACH): add such pages to `exclude` first.
   * @default false
   */
  enabled?: boolean;
  /**
   * Media types to compress: `type/subtype`, `type/*`, or `*+suffix` for all types with this suffix.
   * `text/event-stream` is never compressed.
   * @default
   * ["text/*","*+json","*+xml","application/json","application/javascript","application/xml","application/wasm","application/x-ndjson","font/otf","font/ttf","image/x-icon"]
   */
  types?: string[];
  /**
   * Requests whose answers are not compressed, written as in `classes.routes`: `["/account/*", "GET
   * shop.example/cart"]`. Other spellings that an app may treat as the same path also match, in upper
   * and lower case.
   * @default []
   */
  exclude?: string[];
}

/** `[drain]` */
export interface DrainConfig {
  /**
   * Maximum time that accepted requests may take to finish after SIGTERM, SIGINT, `sluice stop` (after
   * `delay_ms`) or `sluice upgrade`. In milliseconds, from 0 to 3600000.
   * @default 30000
   */
  timeout_ms?: number | Duration;
  /**
   * Time before the shutdown in which the gateway still accepts connections but reports that it is not
   * ready, so that a load balancer can notice. In milliseconds, from 0 to 600000.
   * @default 0
   */
  delay_ms?: number | Duration;
}

/** `[profile]` */
export interface ProfileConfig {
  /**
   * Requests to profile after a request of their class took more CPU time than 99 of 100 usually take. A
   * profiled request is alone in its worker. The slowest three of each class stay for a day in
   * `profiles/tail` of the state directory, with their targets.
   * @default "sampled"
   */
  tail?: 'off' | 'sampled' | 'on';
}

/** `[traces]` */
export interface TracesConfig {
  /**
   * Whether spans are exported, with OTLP over HTTP (protobuf). The gateway's span is then the parent of
   * the app's spans.
   * @default false
   */
  enabled?: boolean;
}

/** `[log]` */
export interface LogConfig {
  /**
   * Format of log lines.
   * @default "auto"
   */
  format?: 'auto' | 'json' | 'text';
  /**
   * Field names in JSON lines. `sluice logs --json` always prints those of the reference.
   * @default "sluice"
   */
  fields?: 'sluice' | 'otel' | 'ecs';
  /**
   * Whether the log has a line for every request.
   * @default true
   */
  access?: boolean;
  /**
   * Request headers in the access log, for example `["user-agent", "x-tenant"]`, at most 32. Values of
   * headers with credentials (`authorization`, `cookie`, `x-api-key` and the like) are always `***`.
   * @default []
   */
  headers?: string[];
  /**
   * Query strings in log lines.
   * @default "mask"
   */
  query?: 'keep' | 'drop' | 'mask';
  /**
   * Words in the names of parameters whose values `mask` hides: `token` matches `token`, `access_token`
   * and `accessToken`.
   * @default
   * ["token","key","apikey","password","passwd","pwd","secret","code","signature","sig","auth","authorization","credential","credentials","session","jwt","otp","ticket"]
   */
  query_masked?: string[];
  /**
   * Whether responses have a `Server-Timing` header with queue wait and service time. Clients can read
   * it.
   * @default false
   */
  server_timing?: boolean;
}

/** `[admin]` */
export interface AdminConfig {
  /**
   * Address and port of the dashboard and the metrics, or `off`. Port 0 selects a free one. The default
   * port is not used by Prometheus or its exporters.
   * @default "127.0.0.1:7584"
   */
  address?: string;
  /**
   * Secret for access to the dashboard from another host and for its actions, at least 16 characters.
   * Set it with `SLUICE_ADMIN_TOKEN` rather than in a file. By default, the gateway creates one in the
   * file `admin-token` of the run directory.
   */
  token?: string;
  /**
   * Address and port for HAProxy's `agent-check`, for example `127.0.0.1:9101`, or `off`. Each
   * connection gets one line: the weight computed from predicted wait and free workers, or that this
   * gateway drains.
   * @default "off"
   */
  agent_address?: string;
}
