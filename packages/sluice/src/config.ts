// Generated from gateway/catalog by `make generate`; do not edit.

/** A time with its unit: `500ms`, `3s`, `2m`, `1h`, `7d`. */
export type Duration = `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

/** Everything that `sluice.toml` may say. Each section and key may be left out. */
export interface Config {
  /** The app that the workers run: a script (`entry`) or a command (`command`), not both. */
  app?: AppConfig;
  /** The address that clients connect to, and the limits of each client. */
  server?: ServerConfig;
  /** Certificates that the gateway gets from a CA by itself, by ACME (RFC 8555), and renews. */
  acme?: AcmeConfig;
  /**
   * Limits on the request rate of one client. Requests over a limit get 429 from the gateway and reach
   * no worker.
   */
  rate?: RateLimitsConfig;
  /**
   * Clients that may send requests. Requests that the gateway answers for its probes (`edge.ping_path`,
   * `edge.ready_path`) and the admin address are not affected.
   */
  access?: AccessConfig;
  /** React rendering on the server. `react = "fast"` is short for this section with that renderer. */
  react?: ReactConfig | 'react-dom' | 'fast';
  /**
   * Share of visitors who get server rendering (`@sluice/render`), and the reports of browsers about it
   * (`@sluice/browser`).
   */
  render?: RenderConfig;
  /** The processes that run the app. */
  workers?: WorkersConfig;
  /**
   * Clients that come back to the worker which keeps their session. `sticky = "cookie"` is short for
   * this section with that `by`.
   */
  sticky?: SessionsConfig | 'off' | 'cookie' | 'address';
  /**
   * Requests that the gateway sends to a worker before those of clients, as long as other workers are
   * there to take the clients' requests. They carry `Sluice-Warm-Up: 1`.
   */
  warm_up?: WarmUpConfig;
  /**
   * Replacement of healthy workers. A successor is ready before the old worker leaves. Workers are
   * replaced one at a time: the next replacement begins when the worker before has finished its requests
   * and has gone.
   */
  recycle?: RecycleConfig;
  /** Requests that wait for a worker. */
  queue?: QueueConfig;
  /**
   * The gateway learns the cost of requests by class: host, method and path, without the varying parts
   * of the path. `sluice classes` shows it.
   */
  classes?: ClassesConfig;
  /** Requests that workers die with. One that has ended two of them is answered 500 without a worker. */
  quarantine?: QuarantineLimitsConfig;
  /** Limits of the responses that workers send. */
  response?: ResponseConfig;
  /**
   * Other hosts that answer some of the requests in place of the app: older services, and what native
   * apps call.
   */
  upstreams?: UpstreamsConfig;
  /**
   * Upgraded connections (WebSocket), upgrades that the app has not answered yet, event streams, and
   * long polls of Engine.IO; all hold no slot.
   */
  streams?: StreamsConfig;
  /** Memory for bodies that wait for a slow client, and for answers that one has not read yet. */
  memory?: MemoryConfig;
  /** Temporary files for bodies too large for memory. */
  temp?: TempConfig;
  /** Paths that the gateway answers by itself. */
  edge?: EdgeConfig;
  /**
   * Files that the gateway sends itself, without a worker. Clients that accept it get `name.br` or
   * `name.gz` beside a file in its place; nothing looks whether it holds the same.
   */
  files?: FilesConfig;
  /**
   * Pages that the browser fills with content by itself. Browsers that ask for a page get one in place
   * of a 503 where no kept page may be used. The queue is then full, or a render would come too late.
   */
  shell?: ShellConfig;
  /**
   * Answers that the gateway gives where a request is refused or its worker fails: an HTML page where
   * `Accept` prefers `text/html`, `application/problem+json` where it prefers JSON, else plain text.
   */
  errors?: ErrorsConfig;
  /**
   * Cached pages, which other clients get as well, as HTTP allows (RFC 9111). An app allows it with
   * `Cache-Control: public, max-age=60` or `s-maxage=60`.
   */
  cache?: PageCacheConfig;
  /**
   * Pages that the gateway composes (Edge Side Includes). Many visitors get the same page, with
   * `<esi:include src="/cart/summary"/>` in place of each visitor's own content. The app marks such
   * pages with `Surrogate-Control: content="ESI/1.0"`.
   */
  compose?: ComposeConfig;
  /** Compression of answers by the gateway, for clients that accept it. It runs on threads of its own. */
  compression?: CompressionConfig;
  /** Shutdown of the gateway. */
  drain?: DrainConfig;
  /** CPU profiles that the gateway takes by itself. */
  profile?: ProfileConfig;
  /**
   * Spans of requests for OpenTelemetry. OpenTelemetry's own variables say the rest:
   * `OTEL_EXPORTER_OTLP_ENDPOINT` (`http://127.0.0.1:4318` by default), `OTEL_EXPORTER_OTLP_HEADERS`
   * (with secrets), `OTEL_SERVICE_NAME` (`sluice` by default), `OTEL_RESOURCE_ATTRIBUTES`,
   * `OTEL_TRACES_SAMPLER`.
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
   * Script that calls `listen()`, relative to `cwd`. Without it and without `command`, the first of
   * these decides: `main` of package.json, `scripts.start`, the server of a known framework, a script
   * with a usual name (`server.js`, `dist/index.js`).
   */
  entry?: string;
  /**
   * Command that starts the app instead of a script, one argument an element, for example `["npm",
   * "run", "start"]`. No shell stands between.
   * @default []
   */
  command?: string[];
  /**
   * Arguments that the script gets after its name.
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
   * Environment variables that every worker gets on top of the gateway's own.
   * @default {}
   */
  env?: Record<string, string>;
  /**
   * Port that the app's main server asks for, the one that gets the clients' requests. With 0 it is the
   * server on `PORT`; without one within 3 seconds, the first HTTP server on another fixed port, and
   * then the first on port `0`. An app that listens for metrics or health as well, and takes longer than
   * that to listen on `PORT`, needs this key to distinguish its main server. The key may have the value
   * of `server.port`. From 0 to 65535.
   * @default 0
   */
  port?: number;
  /**
   * Directory that workers start in, relative to the config file. If the command line names the app,
   * workers start in the current directory.
   * @default "."
   */
  cwd?: string;
}

/** `[server]` */
export interface ServerConfig {
  /**
   * Address to listen on, or a name that leads to one. `::` takes IPv4 as well, and becomes `0.0.0.0` on
   * a machine without IPv6.
   * @default "::"
   */
  host?: string;
  /**
   * Port to listen on; 0 takes any free one. From 0 to 65535.
   * @default 3000
   */
  port?: number;
  /**
   * Directory for what outlives a restart: learned costs, profiles, evidence of stuck workers. Without
   * it the directory is `$STATE_DIRECTORY/sluice` (systemd), else the run directory if `--run-dir` names
   * one, else `sluice/` and a name of the instance in the user's state (`$XDG_STATE_HOME`,
   * `~/.local/state`). It must be this user's alone.
   */
  state_dir?: string;
  /**
   * Client connections that may be open at once; further ones are answered 503 and closed. In
   * connections, from 1 to 1000000.
   * @default 10000
   */
  connections_max?: number;
  /**
   * Client connections that may be open at once from one address, or one IPv6 network of 64 bits.
   * `trusted_peers` are exempt. The value 0 takes a quarter of `connections_max`, and exempts this
   * machine. An idle connection closes where a new one finds no room. In connections, from 0 to 1000000.
   * @default 0
   */
  connections_per_address_max?: number;
  /** File with the certificate chain (PEM). With `tls_key`, the port speaks HTTPS. */
  tls_cert?: string;
  /** File with the certificate's private key (PEM). */
  tls_key?: string;
  /**
   * Certificates by the name that a client asks for (SNI): `[[server.certificates]]` with `cert`, `key`
   * and, where the names are not to be those of the certificate, `hosts`. An exact name goes before
   * `*.example.com`, the first table before later ones. Clients that ask for no name or another one get
   * `tls_cert`, else the first of these.
   * @default []
   */
  certificates?: { cert: string; key: string; hosts?: string[] }[];
  /**
   * Time for which browsers use HTTPS alone, in seconds: `Strict-Transport-Security: max-age=` in
   * answers over TLS whose app sends none of its own. 0 sends no such header. In seconds, from 0 to
   * 157680000.
   * @default 0
   */
  hsts_max_age_s?: number | Duration;
  /**
   * Further port, without TLS, that redirects to HTTPS with 308 and answers the CA's challenge http-01.
   * 0 opens none. From 0 to 65535.
   * @default 0
   */
  redirect_port?: number;
  /**
   * Port that redirects name, where clients reach HTTPS at another than `port` (a mapped port). 0 means
   * `port`. From 0 to 65535.
   * @default 0
   */
  redirect_to_port?: number;
  /**
   * Whether the port speaks HTTP/2 as well, where it speaks HTTPS. Clients choose (ALPN), and
   * connections that are open stay as they are.
   * @default true
   */
  http2?: boolean;
  /**
   * Networks (`10.0.0.0/8`, `::1`) whose `X-Forwarded-*`, `Forwarded` and `X-Request-Id` headers are
   * trusted. The headers of all other clients are replaced.
   * @default []
   */
  trusted_peers?: string[];
  /**
   * Whether connections of `trusted_peers` begin with a header of the PROXY protocol, version 1 or 2,
   * which reports the address of the client. They must then: without a valid one the connection is
   * closed. The header comes before TLS. For balancers that do not speak HTTP; the others send
   * `X-Forwarded-For`.
   * @default false
   */
  proxy_protocol?: boolean;
  /**
   * Whether answers to `trusted_peers` report the load of this gateway to their balancer:
   * `endpoint-load-metrics` of ORCA, as Envoy and gRPC read it. Reports of the app are removed.
   * @default "off"
   */
  load_report?: 'off' | 'header' | 'trailer';
  /**
   * Clients whose `traceparent` and `tracestate` (W3C Trace Context) reach the app. Without
   * `traces.enabled` the gateway makes none of its own. It removes a malformed `traceparent` with its
   * `tracestate`.
   * @default "pass"
   */
  trace_context?: 'pass' | 'trusted' | 'off';
  /**
   * Requests with `_` in a header's name that are accepted; the others get 400. Node.js distinguishes
   * `_` and `-`. Servers in the manner of CGI do not, so a client could forge one header by the other.
   * @default "distinct"
   */
  underscore_headers?: 'distinct' | 'refuse' | 'pass';
  /**
   * Longest time for which a connection may stay open between two requests. In milliseconds, from 0 to
   * 3600000.
   * @default 75000
   */
  keep_alive_timeout_ms?: number | Duration;
  /**
   * All header lines of a request together, 100 lines at most. The request line may have as many bytes,
   * with 16384 as the least. If this key is not set, the app's own `--max-http-header-size` counts for
   * both: in `app.node_args`, `app.command` or `NODE_OPTIONS`. In bytes, from 256 to 1048576.
   * @default 16384
   */
  headers_bytes_max?: number;
  /**
   * Largest request body. In bytes, from 0 to 1099511627776.
   * @default 16777216
   */
  body_bytes_max?: number;
  /**
   * Longest time for which a client may take in no bytes of its response before it is cut off. In
   * milliseconds, from 100 to 3600000.
   * @default 60000
   */
  send_timeout_ms?: number | Duration;
}

/** `[acme]` */
export interface AcmeConfig {
  /**
   * Names that clients ask for, such as `["shop.example", "www.shop.example"]`, a certificate each.
   * Files of `server.tls_cert` and `server.certificates` for the same name go before. Until a name has
   * its certificate, clients that ask for it get `server.tls_cert`; without that the handshake fails.
   * @default []
   */
  names?: string[];
  /**
   * Whether you agree to the terms of service of the CA; those of Let's Encrypt are at
   * <https://letsencrypt.org/repository/>. Needed.
   * @default false
   */
  terms_agreed?: boolean;
  /** E-mail address that a new account with the CA gets. Many CAs do without. */
  contact?: string;
  /**
   * Address of the CA's directory, by HTTPS.
   * @default "https://acme-v02.api.letsencrypt.org/directory"
   */
  directory?: string;
  /**
   * File with the certificates (PEM) by which the CA is trusted, relative to the config file; without
   * it, those of the system. For a CA of your own.
   */
  ca_file?: string;
  /**
   * Folder for account key, certificates and their keys, relative to the config file. Without it the
   * folder is `$STATE_DIRECTORY/acme` (systemd), else `sluice/acme` in the user's state
   * (`$XDG_STATE_HOME`, `~/.local/state`). It must outlive a restart and be this user's alone. Gateways
   * that share it ask once for all of them.
   */
  dir?: string;
  /** ID of an existing account, for a CA that requires external account binding. */
  eab_key_id?: string;
  /** Key of that account, as the CA shows it. Better set by `SLUICE_ACME_EAB_HMAC_KEY` than in a file. */
  eab_hmac_key?: string;
}

/** `[rate]` */
export interface RateLimitsConfig {
  /**
   * Paths, each with the limit for one client's requests at and below it: `"/login" = "5/min burst 20"`.
   * The rate is a count and `/s`, `/min` or `/h`. The burst is the number of requests that may come at
   * once. Without one it is the number that the rate gives in a second, at least 1. If several paths
   * match, the longest counts. Upper and lower case are the same. An empty table disables the limits.
   * @default {}
   */
  limits?: Record<string, string>;
  /**
   * Networks (`10.0.0.0/8`, `::1`) whose requests are never limited.
   * @default []
   */
  exempt?: string[];
  /**
   * Whether all gateways that share `cache.shared_url` count together. A request waits for that server
   * for `cache.shared_timeout_ms` at most. A gateway that gets no answer counts alone.
   * @default false
   */
  shared?: boolean;
}

/** `[access]` */
export interface AccessConfig {
  /**
   * Networks (`10.0.0.0/8`, `::1`) whose clients may send requests; all others get 403. An empty list
   * allows everybody. Behind a proxy, the client is the one that `server.trusted_peers` name.
   * @default []
   */
  allow?: string[];
  /**
   * Networks whose clients get 403, also where `allow` has them.
   * @default []
   */
  deny?: string[];
  /**
   * Users, each with the bcrypt hash of a password that `sluice access hash` makes. With users, all
   * others get 401, and the app does not see the header `Authorization`.
   * @default {}
   */
  basic_auth?: Record<string, string>;
  /**
   * File with further users, a line `name:hash` each, as `htpasswd -B` writes it; relative to the config
   * file.
   */
  basic_auth_file?: string;
  /**
   * Paths that need no password, each with what lies below it. The app gets `Authorization` there as it
   * was sent.
   * @default ["/.well-known/acme-challenge"]
   */
  basic_auth_exempt?: string[];
}

/** `[react]` */
export interface ReactConfig {
  /**
   * Renderer behind the app's own imports of `react-dom/server` and `react-dom/static`. With `fast`,
   * Sluice searches for `@sluice/react` from the app, then beside itself; without it, or with a version
   * of React that the package does not know, react-dom renders. A bundle with react-dom inside has no
   * such imports.
   * @default "react-dom"
   */
  renderer?: 'react-dom' | 'fast';
}

/** `[render]` */
export interface RenderConfig {
  /**
   * Share of visitors for whom the server renders, from `"0%"` to `"100%"`; for the others the browser
   * does. The entry `"*"` is for all components, `"Reviews"` for one, and `"Reviews@mobile"` or
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
   * Number of workers. 0 takes the CPUs that the process may use: the quota of its cgroup or its
   * affinity, whichever is less. The number is lower where the memory limit has no room for 96 MiB each,
   * with the workers of `lanes` and of a reload. `sluice check` shows the number and why. In workers,
   * from 0 to 1024.
   * @default 0
   */
  count?: number;
  /**
   * Requests that one worker holds at once. With `"while-waiting"` a worker computes one, and gets
   * others while its requests wait for something else than the CPU. Its memory and its event loop bound
   * how many may wait in it. 1 is strict mode: never two in the app, for apps that keep data of a
   * request in variables of a module. A larger number is held whatever the requests do. In requests,
   * from 1 to 10000.
   * @default "while-waiting"
   */
  concurrency?: number | 'while-waiting';
  /**
   * Maximum number of requests that one worker holds where `concurrency` is `"while-waiting"`. Memory
   * and the event loop bind before the default does. In requests, from 1 to 10000.
   * @default 10000
   */
  concurrency_max?: number;
  /**
   * Whether long requests get a worker of their own beyond `count`, and a second one under overload.
   * Such a worker has the lowest operating-system priority, so that short requests need not wait for
   * long ones. There are no lanes where `concurrency` is a number above 1, or with `queue.order =
   * "fifo"`.
   * @default "auto"
   */
  lanes?: 'auto' | 'off';
  /**
   * Longest time that a worker may take to listen after its process started, and then for its warm-up
   * (`warm_up.paths`). In milliseconds, from 100 to 3600000.
   * @default 60000
   */
  start_timeout_ms?: number | Duration;
  /**
   * Longest time that a worker may take to leave once asked, before it is killed. In milliseconds, from
   * 0 to 3600000.
   * @default 10000
   */
  stop_timeout_ms?: number | Duration;
  /**
   * Whether a worker is ready only once the app has called `process.send('ready')`, besides listening.
   * Apps in another runtime cannot say it and are not waited for.
   * @default false
   */
  wait_ready?: boolean;
  /**
   * CPU time that a worker's main thread may use without a turn of its event loop: an infinite loop, an
   * endless regular expression. The log then names the function and the line, and the worker is killed.
   * After six times as long, it is killed also if other processes had the CPU. The time counts from the
   * worker's last sign of life, of which there are four a second. A main thread that waits instead (a
   * synchronous child process, a lock, a disk) has 60 s, or this time if it is more. Elsewhere than on
   * Linux the system does not distinguish the two, and all have that. At least 1500; 0 disables both. On
   * Linux a worker that computes for 1 s without a turn of its event loop gets a lower operating-system
   * priority and a stand-in before. In milliseconds, from 0 to 3600000.
   * @default 10000
   */
  stuck_after_ms?: number | Duration;
}

/** `[sticky]` */
export interface SessionsConfig {
  /**
   * Means by which a client finds its worker again. Clients whose worker has gone get another, and a new
   * session there.
   * @default "off"
   */
  by?: 'off' | 'cookie' | 'address';
  /**
   * Requests that sticky sessions are for, written as in `classes.routes`: `["/socket.io/*", "GET
   * shop.example/cart"]`.
   * @default ["/*"]
   */
  routes?: string[];
  /**
   * Name of the cookie. The app does not see it.
   * @default "sluice"
   */
  cookie?: string;
  /**
   * `SameSite` of the cookie. The cookie is `HttpOnly`, and `Secure` where the client speaks HTTPS, with
   * the gateway or with a trusted peer.
   * @default "lax"
   */
  same_site?: 'lax' | 'strict' | 'none';
}

/** `[warm_up]` */
export interface WarmUpConfig {
  /**
   * Targets that are asked for with GET, in turn, for example `["/", "/products?page=2"]`. A status of
   * 500 and above, or a broken answer, gives up a new version.
   * @default []
   */
  paths?: string[];
}

/** `[recycle]` */
export interface RecycleConfig {
  /**
   * Resident memory above which a worker is replaced; 0 disables it. Set it well above what a fresh
   * worker needs. If even a fresh one is over it, the log says so, and workers are replaced more and
   * more seldom, at last every 30 s. In bytes, from 0 to 1099511627776.
   * @default 0
   */
  memory_bytes_max?: number;
  /**
   * Requests after which a worker is replaced; 0 disables it. Each worker's own bound is up to a tenth
   * lower, so that they do not all end together. In requests, from 0 to 1000000000.
   * @default 0
   */
  requests_max?: number;
}

/** `[queue]` */
export interface QueueConfig {
  /**
   * Requests that may wait; further ones are refused with 503. In requests, from 0 to 1000000.
   * @default 10000
   */
  length_max?: number;
  /**
   * Order in which waiting requests are dispatched. Within a class it is always the order of arrival.
   * @default "shortest"
   */
  order?: 'shortest' | 'fifo';
  /**
   * Longest wait. A request predicted to wait longer is refused on arrival, one that did is refused
   * then. A gateway whose workers are all busy and finish no request for as long is not ready
   * (`edge.ready_path`). In milliseconds, from 1 to 3600000.
   * @default 10000
   */
  wait_ms_max?: number | Duration;
  /**
   * Longest predicted wait of a request before it is given something cheaper than a render, in the end a
   * 503 answer. For requests whose route says nothing else; 0 means `wait_ms_max`. In milliseconds, from
   * 0 to 3600000.
   * @default 0
   */
  budget_ms?: number | Duration;
}

/** `[classes]` */
export interface ClassesConfig {
  /**
   * Routes, each with what holds for it: `"GET /products/:id" = "class=product priority=1
   * deadline_ms=500"`. A method and a host may stand before the path; `:name` stands for one segment and
   * a last `*` for all that follow. The route that names most of a request counts. `class` calls it by a
   * name, which several may share. `priority` is -100 to 100 (0 unless said), and the higher goes first.
   * After `deadline_ms` an answer is useless. `budget_ms` is how long it may be predicted to wait.
   * @default {}
   */
  routes?: Record<string, string>;
}

/** `[quarantine]` */
export interface QuarantineLimitsConfig {
  /**
   * Time for which such a request stays in quarantine after the last death; 0 disables quarantine. In
   * milliseconds, from 0 to 86400000.
   * @default 600000
   */
  ttl_ms?: number | Duration;
}

/** `[response]` */
export interface ResponseConfig {
  /**
   * Longest time for which a worker may send nothing before the client gets 504. The worker's slot stays
   * held. For an upgrade, which holds none, it is the longest time until its answer. A response that
   * nobody waits for (the client left or got 504) may continue for as long; then its worker is replaced.
   * In milliseconds, from 1 to 86400000.
   * @default 60000
   */
  worker_timeout_ms?: number | Duration;
}

/** `[upstreams]` */
export interface UpstreamsConfig {
  /**
   * Routes to other hosts: `[[upstreams.routes]]` with `name`, `paths` and `to`, and what differs from
   * the defaults. Their requests take no worker and wait in no queue. Page cache, compression, access
   * rules, rate limits and includes work as for the app. The closest path wins, as in `classes.routes`;
   * a route goes before files of `files.paths`.
   * @default []
   */
  routes?: { name: string; paths: string[]; to: string[]; host?: string; connect_timeout?: string; first_byte_timeout?: string; timeout?: string; retries?: number; connections_max?: number; health?: string; proxy_protocol?: string; ca?: string; cert?: string; key?: string; server_name?: string }[];
}

/** `[streams]` */
export interface StreamsConfig {
  /**
   * Longest time for which a stream may carry nothing in either direction; 0 disables the limit. In
   * milliseconds, from 0 to 604800000.
   * @default 3600000
   */
  idle_timeout_ms?: number | Duration;
}

/** `[memory]` */
export interface MemoryConfig {
  /**
   * Maximum size of all of them together; what finds no room is kept in temporary files. The value 0
   * takes an eighth of the memory that the process may use, at most 1 GiB. That memory is the limit of
   * its cgroup or the machine's memory, whichever is less. Bytes that a client has not taken for 2 s
   * (0.2 s while more than half is in use) go to a file as well. In bytes, from 0 to 1099511627776.
   * @default 0
   */
  buffers_bytes_max?: number;
}

/** `[temp]` */
export interface TempConfig {
  /** Directory for them, relative to the config file; without it, the system's. */
  dir?: string;
  /**
   * All temporary files together. One response may take a quarter; a client that has left more than that
   * unread is cut off. In bytes, from 0 to 1125899906842624.
   * @default 4294967296
   */
  bytes_max?: number;
}

/** `[edge]` */
export interface EdgeConfig {
  /**
   * Path that answers 200 while the gateway lives. An empty string disables it.
   * @default "/.sluice/ping"
   */
  ping_path?: string;
  /**
   * Path that answers 200 while work makes progress, else 503. An empty string disables it.
   * @default "/.sluice/ready"
   */
  ready_path?: string;
}

/** `[files]` */
export interface FilesConfig {
  /**
   * Directories by the beginning of the URL's path, for example `{ "/assets/" = "dist/client/assets" }`,
   * relative to the config file. Beginnings end with `/`; the longest that fits decides. Requests for
   * anything but a regular file go to the app, as does every name that starts with a dot (except
   * `.well-known`).
   * @default {}
   */
  paths?: Record<string, string>;
  /**
   * `Cache-Control` by the beginning of the URL's path; the longest that fits decides. Files that none
   * fits get `public, max-age=31536000, immutable` where the name has a hash of the content
   * (`app.3f2a9c1b.js`) or the path one of `/_next/static/`, `/_astro/`, `/_nuxt/` and
   * `/_app/immutable/`, else `public, max-age=0`.
   * @default {}
   */
  cache_control?: Record<string, string>;
}

/** `[shell]` */
export interface ShellConfig {
  /**
   * HTML files by the beginning of the URL's path, for example `{ "/" = "dist/client/shell.html" }`,
   * relative to the config file; the longest that fits decides.
   * @default {}
   */
  files?: Record<string, string>;
  /**
   * The same with paths of the app, for example `{ "/shop/" = "/shop/shell" }`. The gateway asks for
   * them by itself, without cookies, as soon as a version of the app is in force.
   * @default {}
   */
  pages?: Record<string, string>;
}

/** `[errors]` */
export interface ErrorsConfig {
  /**
   * HTML files in place of the gateway's page, by status or by class of it, for example `{ "503" =
   * "errors/busy.html", "5xx" = "errors/5xx.html" }`, relative to the config file; at most 256 KiB each.
   * `{{status}}`, `{{reason}}`, `{{message}}`, `{{code}}` and `{{request}}` in them are filled in.
   * Errors that the app answers itself stay as they are.
   * @default {}
   */
  pages?: Record<string, string>;
}

/** `[cache]` */
export interface PageCacheConfig {
  /**
   * Whether pages are cached at all.
   * @default false
   */
  enabled?: boolean;
  /**
   * Memory for all cached pages. Pages that are asked for often stay longest. The value 0 takes an
   * eighth of the memory that the process may use, at most 256 MiB. That memory is the limit of its
   * cgroup or the machine's memory, whichever is less. In bytes, from 0 to 1099511627776.
   * @default 0
   */
  bytes_max?: number;
  /**
   * Freshness of pages with status 200 that do not state it, by the beginning of the URL's path; the
   * longest that fits decides. An example is `{ "/blog/" = "60s" }` (`s`, `m`, `h` or `d`). Such an
   * entry says that such pages are the same for all clients, also for those with cookies.
   * @default {}
   */
  ttl?: Record<string, string>;
  /**
   * Beginnings of paths whose pages are never cached.
   * @default []
   */
  bypass?: string[];
  /**
   * Parameters of the query that pages do not depend on. One that ends in `*` stands for all that begin
   * so.
   * @default ["utm_*","fbclid","gclid","msclkid","mc_eid"]
   */
  ignored_params?: string[];
  /**
   * Header fields, and cookies as `cookie:name`, that pages depend on, besides those that their `Vary`
   * names.
   * @default []
   */
  vary_by?: string[];
  /**
   * Time for which a page may be used after its freshness where rendering it anew fails or the queue is
   * full. A page that states a time itself (`stale-if-error`) or forbids such use (`must-revalidate`,
   * `s-maxage`) overrides this. In seconds, from 0 to 31536000.
   * @default 60
   */
  stale_if_error_s?: number | Duration;
  /**
   * Use of cached pages after a new version of the app takes over: at a reload, and for pages on disk at
   * a start or an upgrade.
   * @default "stale"
   */
  on_reload?: 'keep' | 'stale' | 'drop';
  /**
   * Directory for pages that outlive the gateway: a restart, a kill, and eviction from memory. Without
   * it they are in memory alone. They do not outlive a start of the machine. `cache.on_reload` decides
   * on their use at the start. Relative to the config file.
   */
  disk_dir?: string;
  /**
   * Total size of the files in that directory. In bytes, from 65536 to 1099511627776.
   * @default 1073741824
   */
  disk_bytes_max?: number;
  /**
   * Server of Redis or Valkey in which several gateways share their pages, and tell each other of
   * purges. Its URL is `redis://host:6379/0`, `rediss://host` (TLS) or `unix:///run/redis.sock?db=0`,
   * with `user:password@` before the host where one is needed. Anyone with write access to the server
   * can change pages. Without it each gateway has its own pages alone.
   */
  shared_url?: string;
  /** File with the password of that server, in place of the one in the URL; relative to the config file. */
  shared_password_file?: string;
  /**
   * Longest time that a request may wait for that server before its page is rendered. In milliseconds,
   * from 1 to 1000.
   * @default 5
   */
  shared_timeout_ms?: number | Duration;
  /**
   * Beginning of all names in that server. Gateways with the same one share their pages.
   * @default "sluice:"
   */
  shared_prefix?: string;
}

/** `[compose]` */
export interface ComposeConfig {
  /**
   * Whether pages are composed at all. The app then gets `Surrogate-Capability: sluice="ESI/1.0"`, and
   * no `Accept-Encoding`, because a compressed page cannot be read. `compression.enabled` compresses the
   * composed page.
   * @default false
   */
  enabled?: boolean;
  /**
   * Beginnings of paths whose pages of type `text/html` are composed as well, for apps that cannot set
   * the header.
   * @default []
   */
  paths?: string[];
  /**
   * Longest time that a page waits for an include, and then for its `alt`. In milliseconds, from 1 to
   * 60000.
   * @default 1000
   */
  include_ms_max?: number | Duration;
}

/** `[compression]` */
export interface CompressionConfig {
  /**
   * Whether answers of workers, and files without a compressed sibling, are compressed. Off unless said:
   * a balancer in front may do it as well, and an app that compresses by itself gains nothing. Sizes of
   * pages that show a secret beside what the URL says can give the secret away (BREACH); name such pages
   * in `exclude` first.
   * @default false
   */
  enabled?: boolean;
  /**
   * Media types that are compressed: `type/subtype`, `type/*`, or `*+suffix` for all that end so.
   * `text/event-stream` never is.
   * @default
   * ["text/*","*+json","*+xml","application/json","application/javascript","application/xml","application/wasm","application/x-ndjson","font/otf","font/ttf","image/x-icon"]
   */
  types?: string[];
  /**
   * Requests whose answers are sent as they are, written as in `classes.routes`: `["/account/*", "GET
   * shop.example/cart"]`. Every spelling of a path that an app may take for the same one counts, in
   * whatever case.
   * @default []
   */
  exclude?: string[];
}

/** `[drain]` */
export interface DrainConfig {
  /**
   * Longest time that accepted requests may take to finish after SIGTERM, SIGINT, `sluice stop` (after
   * `delay_ms`) or `sluice upgrade`. In milliseconds, from 0 to 3600000.
   * @default 30000
   */
  timeout_ms?: number | Duration;
  /**
   * Time for which new connections are still taken and served while readiness already says no, so that a
   * load balancer can notice. In milliseconds, from 0 to 600000.
   * @default 0
   */
  delay_ms?: number | Duration;
}

/** `[profile]` */
export interface ProfileConfig {
  /**
   * Requests that are profiled after one of their class took more CPU time than 99 of 100 usually do.
   * Each gets a worker to itself. The worst three of each class are kept for a day in `profiles/tail` of
   * the state directory, with their targets.
   * @default "sampled"
   */
  tail?: 'off' | 'sampled' | 'on';
}

/** `[traces]` */
export interface TracesConfig {
  /**
   * Whether spans are exported, by OTLP over HTTP (protobuf). The app then gets the gateway's span for
   * its parent.
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
   * Names of the fields in JSON lines. `sluice logs --json` prints those of the reference in any case.
   * @default "sluice"
   */
  fields?: 'sluice' | 'otel' | 'ecs';
  /**
   * Whether every request gets a line.
   * @default true
   */
  access?: boolean;
  /**
   * Headers of requests that the access log has, for example `["user-agent", "x-tenant"]`, 32 at most.
   * Values of headers with credentials (`authorization`, `cookie`, `x-api-key` and the like) are always
   * `***`.
   * @default []
   */
  headers?: string[];
  /**
   * Query strings in log lines.
   * @default "mask"
   */
  query?: 'keep' | 'drop' | 'mask';
  /**
   * Parameters whose values `mask` hides, by one of the words in their names: `token` is for `token`,
   * `access_token` and `accessToken`.
   * @default
   * ["token","key","apikey","password","passwd","pwd","secret","code","signature","sig","auth","authorization","credential","credentials","session","jwt","otp","ticket"]
   */
  query_masked?: string[];
  /**
   * Whether responses carry `Server-Timing` with queue wait and service time. Clients see it.
   * @default false
   */
  server_timing?: boolean;
}

/** `[admin]` */
export interface AdminConfig {
  /**
   * Address and port of the dashboard and the metrics, or `off`. Port 0 takes any free one. Neither
   * Prometheus nor one of its exporters has the default port.
   * @default "127.0.0.1:7584"
   */
  address?: string;
  /**
   * Secret that opens the dashboard from another host and allows its actions, 16 characters at least.
   * Better set by `SLUICE_ADMIN_TOKEN` than in a file. Without it the gateway makes one and keeps it in
   * `admin-token` of the run directory.
   */
  token?: string;
  /**
   * Address and port of HAProxy's `agent-check`, for example `127.0.0.1:9101`, or `off`. Each connection
   * gets one line: the weight that predicted wait and free workers call for, or that this gateway
   * drains.
   * @default "off"
   */
  agent_address?: string;
}
