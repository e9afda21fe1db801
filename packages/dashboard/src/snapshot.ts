// Generated from gateway/catalog by `make generate`; do not edit.

/** State of the gateway at one moment. */
export interface Snapshot {
  /** Version of the `sluice` binary. */
  readonly version: string;
  /** Process id of the gateway. */
  readonly pid: number;
  /** State of the gateway. */
  readonly state: GatewayState;
  /** Address at which clients reach the app, for example `http://localhost:3000`. */
  readonly url: string;
  /** Address at which metrics are served; `None` when the admin address is off. */
  readonly admin_url: string | null;
  /** Directory with this instance's sockets. */
  readonly run_dir: string;
  /** Seconds since the gateway started. */
  readonly uptime_s: number;
  /** Counts versions of the app, from 1. */
  readonly generation: number;
  /** The latest reload; `None` before the first. */
  readonly reload: ReloadSnapshot | null;
  /** Workers, in the order of their positions in the pool. */
  readonly workers: readonly WorkerSnapshot[];
  /**
   * Desired number of workers, without those of the long lane; `None` from a gateway that does not
   * report it.
   */
  readonly workers_wanted: number | null;
  /**
   * Resident memory above which a worker is replaced (`recycle.memory_bytes_max`), bytes; `None` for no
   * limit.
   */
  readonly worker_memory_bytes_max: number | null;
  /** CPU and memory of the machine; `None` until they are first read. */
  readonly machine: MachineSnapshot | null;
  /** Requests of the last minute, by outcome. */
  readonly lately: LatelySnapshot;
  /** Workers that start after another one has booted; `None` if there are none. */
  readonly boots: BootsSnapshot | null;
  /** The one queue. */
  readonly queue: QueueSnapshot;
  /** Requests since the start, and current ones. */
  readonly requests: RequestsSnapshot;
  /** Queue wait in milliseconds, over about the last minute, without requests that reached no worker. */
  readonly queue_wait_ms: Percentiles;
  /**
   * Milliseconds until a request that reached no worker was refused or its client left, over about the
   * last minute.
   */
  readonly unserved_ms: Percentiles;
  /** Service time in milliseconds, over about the last minute. */
  readonly service_time_ms: Percentiles;
  /** Times that a worker had more requests than slots; any value but 0 is a bug. */
  readonly overlaps_total: number;
  /** Client connections open now. */
  readonly connections: number;
  /** Upgraded connections and event streams open now. */
  readonly streams: number;
  /** Requests in quarantine, because they crashed workers. */
  readonly quarantined: number;
  /** Raised alarms. */
  readonly alarms: readonly AlarmSnapshot[];
  /** Unexpected exits of serving workers, the latest first, at most 5. */
  readonly crashes: readonly CrashSnapshot[];
  /** Certificates, at most 100: missing ones first, then by expiry. */
  readonly certificates: readonly CertificateSnapshot[];
  /** Hosts that answer requests instead of the app. */
  readonly upstreams: readonly UpstreamSnapshot[];
  /** Measurements that grow steadily with the age of workers. */
  readonly growing: readonly GrowthSnapshot[];
  /** Renders by `@sluice/react` since the start; `None` before the first. */
  readonly react: ReactSnapshot | null;
  /** Caches of `<Cached>` of `@sluice/react`; `None` before their first use. */
  readonly component_cache: ComponentCacheSnapshot | null;
  /** Share of visitors for whom the server renders (`render.server`). */
  readonly dial: DialSnapshot;
  /** Reports of `@sluice/render` and browsers; `None` while there are none. */
  readonly effects: EffectsSnapshot | null;
  /** Reports of `@sluice/graph`; `None` while there are none. */
  readonly graph: GraphSnapshot | null;
  /** Hosts that the app calls by HTTP, those with the most time in the last minute first. */
  readonly called: readonly CalledHostSnapshot[];
  /** Page cache; `None` if `cache.enabled` is `false`. */
  readonly page_cache: CacheSnapshot | null;
  /** Number of requests per worker (`workers.concurrency`), and whether it fits the app. */
  readonly concurrency: ConcurrencySnapshot;
  /**
   * Uninterrupted runs of the main threads of all workers since the start, including workers that have
   * exited.
   */
  readonly runs: RunsSnapshot;
  /** Profiles of unusually slow requests, the slowest first. */
  readonly tails: readonly Tail[];
}

/** Number of requests per worker (`workers.concurrency`), and whether it fits the app. */
export interface ConcurrencySnapshot {
  /** `workers.concurrency`: `while-waiting`, or a number. */
  readonly mode: string;
  /**
   * Share of the time with requests in which the main threads of workers sleep, 0 to 1, over about the
   * last minute; `None` with too few observations.
   */
  readonly asleep: number | null;
  /** Mode that fits, as a sentence; `None` with too few observations. */
  readonly advice: string | null;
}

/** Renders by `@sluice/react` since the start, including workers that have exited. */
export interface ReactSnapshot {
  /** Requested renders. */
  readonly renders_total: number;
  /** Renders that fell back to react-dom, by reason. */
  readonly fallbacks: Readonly<Record<string, number>>;
}

/**
 * Counts of the component caches of all workers since the start, including workers that have exited,
 * and their current contents.
 */
export interface ComponentCacheSnapshot {
  /** Components whose cached HTML was reused. */
  readonly hits_total: number;
  /** Components that were rendered because the cache had no matching HTML. */
  readonly misses_total: number;
  /** Evicted entries. */
  readonly evictions_total: number;
  /** Entries in running workers. */
  readonly entries: number;
  /** Approximate memory of the entries, bytes. */
  readonly bytes: number;
  /** Limit of the memory of the entries, sum of all workers. */
  readonly bytes_max: number;
}

/** A raised alarm. */
export interface AlarmSnapshot {
  /** Name of the alarm, as in the log's `alarm`. */
  readonly alarm: string;
  /** Class that the alarm is about, if it is about one class. */
  readonly class: string | null;
  /** Observation and remedy. */
  readonly text: string;
  /** Seconds since it was raised. */
  readonly age_s: number;
}

/** An unexpected exit of a serving worker. */
export interface CrashSnapshot {
  /** Time, Unix time in milliseconds. */
  readonly at_unix_ms: number;
  /** Id of the worker. */
  readonly worker: number;
  /** Exit status in words. */
  readonly status: string;
  /** First line of the exception that crashed it; `None` if there was none, or it is unknown. */
  readonly exception: string | null;
  /** Number of requests in the worker. */
  readonly held: number;
  /**
   * `X-Request-Id` of the request during which it exited; `None` if the worker held none, or several and
   * the cause is unknown.
   */
  readonly request: string | null;
  /** Method of that request. */
  readonly method: string | null;
  /** Path of that request, without the query. */
  readonly path: string | null;
  /** Class of that request. */
  readonly class: string | null;
  /** Function, file, line and column of the run in which it exited; `None` if unknown. */
  readonly place: string | null;
  /**
   * Evidence of the crash, in words: the file of its diagnostic report, the path of its core dump, or
   * the reason why there is none.
   */
  readonly evidence: string | null;
}

/** A certificate for clients, or a name for which a CA issues one. */
export interface CertificateSnapshot {
  /** First name in the certificate, else its file. */
  readonly name: string;
  /** Config key of the certificate: `server.tls_cert`, `server.certificates` or `acme.names`. */
  readonly key: string;
  /** File of the certificate; `None` if the CA has not issued it yet. */
  readonly file: string | null;
  /** Seconds until it expires, negative if it has expired; `None` without a certificate. */
  readonly expires_in_s: number | null;
  /** Seconds until the next request to the CA; `None` for your own files. */
  readonly asked_in_s: number | null;
  /** Reason why the CA issued none at the last request; `None` if it did. */
  readonly problem: string | null;
}

/** A host that answers requests instead of the app. */
export interface UpstreamSnapshot {
  /** Name in `upstreams.routes`. */
  readonly name: string;
  /** Addresses of its targets. */
  readonly targets: readonly TargetSnapshot[];
  /** Requests that wait for a free connection now. */
  readonly waiting: number;
  /** Requests that ended. */
  readonly requests_total: number;
  /** Requests that got an error of the gateway. */
  readonly failures_total: number;
  /** Requests retried on another target. */
  readonly retries_total: number;
}

/** An address of an upstream's target. */
export interface TargetSnapshot {
  /** Host and port, as in the config. */
  readonly target: string;
  /** Address. */
  readonly address: string;
  /** `healthy`, `ejected` after failed requests, or `down` by the health check. */
  readonly health: string;
  /** The target gets requests only while no other target is healthy. */
  readonly is_backup: boolean;
  /** Current requests. */
  readonly in_flight: number;
  /** Connections without a request. */
  readonly idle: number;
  /** Attempts to send a request to it. */
  readonly requests_total: number;
  /** Failed attempts. */
  readonly failures_total: number;
  /** Last fault of the address; `None` if it had none. */
  readonly fault: string | null;
}

/** Measurement that grows with the age of workers. */
export interface GrowthSnapshot {
  /**
   * `service_time`, `cpu_time` or `outside_handler` of a class; `resident_memory`, `heap` or
   * `open_files` of workers.
   */
  readonly what: string;
  /** The class, if it is about one. */
  readonly class: string | null;
  /** Unit of the figures: `ms`, `bytes` or `files`. */
  readonly unit: string;
  /** Value at the minimum age that counts. */
  readonly from: number;
  /** Value at the maximum age. */
  readonly to: number;
  /** Growth per hour. */
  readonly per_hour: number;
  /** Time between those two ages, seconds. */
  readonly over_s: number;
  /** First of the consecutive versions of the app in which it grows. */
  readonly since_generation: number;
}

/** A request in quarantine, because it crashed workers. */
export interface QuarantinedRequest {
  /** Id for its release. */
  readonly id: string;
  /** Method. */
  readonly method: string;
  /** Path and query, cut after 200 characters. */
  readonly target: string;
  /** Number of workers that it crashed. */
  readonly deaths: number;
  /**
   * Names of headers, or `(body)`, that occur in requests that crashed workers, and in no answered
   * request for the page.
   */
  readonly told_by: readonly string[];
  /**
   * Whether one request at a time is accepted, because others got answers from the page and nothing
   * distinguishes them.
   */
  readonly probed: boolean;
  /** Milliseconds that it has been in quarantine. */
  readonly for_ms: number;
  /** Milliseconds until its quarantine ends. */
  readonly expires_in_ms: number;
}

/** Costs of requests in two periods. */
export interface ReportSnapshot {
  /** Costs in the first period; `None` without a history. */
  readonly before: ReportSide | null;
  /** Costs in the second period; `None` if no request has ended. */
  readonly after: ReportSide | null;
  /** Beginning of the history, Unix time in milliseconds. */
  readonly kept_since_ms: number | null;
  /** Change of CPU time for the same mix of requests; `None` with too few requests. */
  readonly change?: FindingSnapshot;
}

/** Costs of requests in a period. */
export interface ReportSide {
  /** End of the first of them, Unix time in milliseconds. */
  readonly from_ms: number;
  /** End of the last of them, Unix time in milliseconds. */
  readonly until_ms: number;
  /** Versions of the app that answered the requests. */
  readonly generations: readonly number[];
  /** All of them. */
  readonly all: SpentSnapshot;
  /** Classes, those with most CPU time first. */
  readonly classes: readonly SpentSnapshot[];
}

/** Costs of a class's requests. */
export interface SpentSnapshot {
  /** Name; empty for all classes together. */
  readonly class: string;
  /** Requests that workers have ended. */
  readonly requests: number;
  /** CPU time, seconds. */
  readonly cpu_s: number;
  /** CPU time of a thousand requests, seconds; `None` if unknown. */
  readonly cpu_s_per_1000: number | null;
  /**
   * Resident memory of workers times how long they held it, for a thousand requests: gigabytes times
   * seconds. Time in which workers wait for requests is shared among them as well, by the time that they
   * took in workers.
   */
  readonly memory_gb_s_per_1000: number;
  /** Median time in a worker, milliseconds. */
  readonly service_p50_ms: number;
  /** 95th percentile of that. */
  readonly service_p95_ms: number;
  /** 99th percentile of that. */
  readonly service_p99_ms: number;
  /** Uninterrupted runs of 1 to 10 ms, 10 to 100 ms, 100 ms to 1 s, and longer. */
  readonly runs: readonly number[];
  /**
   * Parts of the span in the order of time, the same ones for all classes of it: requests with known CPU
   * time, and that time in microseconds. Empty for all classes together.
   */
  readonly parts?: readonly (readonly number[])[];
}

/** Costs of requests, by class. */
export interface ClassesSnapshot {
  /** Cost from which on classes are long; `None` while all requests are alike. */
  readonly cut_ms: number | null;
  /** Reason why no class is long, in a sentence; `None` while some are. */
  readonly uncut: string | null;
  /** Classes, those that take most CPU time first. */
  readonly classes: readonly ClassSnapshot[];
}

/**
 * A class: requests that are expected to cost alike. Costs are CPU time in a worker, of the latest
 * requests.
 */
export interface ClassSnapshot {
  /** Name. */
  readonly class: string;
  /** Requests since it was first seen. */
  readonly requests: number;
  /** Expected cost of the next request, milliseconds. */
  readonly expected_ms: number;
  /** Mean of what was reported, milliseconds; `None` before the first report. */
  readonly cost_mean_ms: number | null;
  /** Median, milliseconds. */
  readonly cost_p50_ms: number | null;
  /** 95th percentile, milliseconds. */
  readonly cost_p95_ms: number | null;
  /** 99th percentile, milliseconds. */
  readonly cost_p99_ms: number | null;
  /** Mean time before a worker took the request, milliseconds. */
  readonly queue_wait_ms: number;
  /** Mean time in a worker, milliseconds. */
  readonly service_time_ms: number;
  /** Mean time in the handler of the route, milliseconds; absent where the router does not show it. */
  readonly handler_ms?: number;
  /** Part of the CPU time of all classes since the start, from 0 to 1. */
  readonly cpu_share: number;
  /** Whether it has had enough reports to go by them alone. */
  readonly known: boolean;
  /** Whether it is kept away from what is short. */
  readonly long: boolean;
  /** Latest cost as a multiple of the long-term mean; `None` before there is one. */
  readonly drift: number | null;
  /** The class that this is a part of; absent for most. */
  readonly split_from?: string;
}

/** State of the gateway. */
export type GatewayState = 'starting' | 'serving' | 'draining';

/** A reload, under way or over. */
export interface ReloadSnapshot {
  /** The generation that it brought, or was to bring. */
  readonly generation: number;
  /** State of the reload. */
  readonly state: ReloadState;
  /** Reason why it was given up, if it was. */
  readonly reason: string | null;
  /** Seconds since it was asked for. */
  readonly age_s: number;
  /** Trial of the version, if it was to be tried first. */
  readonly trial?: TrialSnapshot;
}

/** State of a reload. */
export type ReloadState = 'running' | 'done' | 'abandoned';

/** One worker. */
export interface WorkerSnapshot {
  /** Unique id, never reused while the gateway lives. */
  readonly id: number;
  /** Place in the pool, from 0; a replacement takes over the place. */
  readonly instance: number;
  /** Process id, when a process runs. */
  readonly pid: number | null;
  /** Version of the app that it runs; 0 where no process runs. */
  readonly generation: number;
  /** Stage of the worker's life. */
  readonly state: WorkerState;
  /** Seconds since its process started. */
  readonly age_s: number;
  /** Resident memory, once reported. */
  readonly rss_bytes: number | null;
  /** JavaScript heap in use, once reported. */
  readonly heap_used_bytes: number | null;
  /** Requests that it has answered. */
  readonly requests_total: number;
  /** Times that the process in this position has been started again. */
  readonly restarts_total: number;
  /** Requests that it holds now; at most one in strict mode. */
  readonly current: readonly CurrentRequest[];
  /** CPU milliseconds used so far, once reported. */
  readonly cpu_ms_total: number | null;
  /** CPU time over the last seconds, in cores; `None` until it is known. */
  readonly cpu: number | null;
  /** Share of time that its event loop was busy, 0 to 1, once reported. */
  readonly event_loop_utilization: number | null;
  /** Longest delay of its event loop within the last second, milliseconds, once reported. */
  readonly event_loop_delay_ms: number | null;
  /** Milliseconds since its last sign of life, of which there are four a second; `None` before the first. */
  readonly silent_ms: number | null;
  /** Upgraded connections and event streams it holds. */
  readonly streams: number;
  /** True if its operating-system priority was lowered, because its event loop was blocked. */
  readonly lowered: boolean;
  /** Requests that it is for; `None` if no process runs. */
  readonly lane: Lane | null;
  /** Uninterrupted runs of its main thread, without `longest`; `None` until it tells of them. */
  readonly runs: RunsSnapshot | null;
}

/** Workers that share an operating-system priority. */
export type Lane = 'short' | 'long';

/** Stage of a worker's life. */
export type WorkerState = 'starting' | 'warming' | 'ready' | 'busy' | 'paused' | 'leaving' | 'backoff';

/** A request that a worker holds. */
export interface CurrentRequest {
  /** The request id of the access log. */
  readonly id: string;
  /** Requests expected to cost alike. */
  readonly class: string;
  /** Milliseconds since it was handed to the worker. */
  readonly for_ms: number;
  /** Method. */
  readonly method: string;
  /** Path without query, cut after 200 characters. */
  readonly path: string;
}

/** Workers that are not started yet, because another one boots. */
export interface BootsSnapshot {
  /** Number of workers that wait. */
  readonly waiting: number;
  /** The worker whose boot they wait for. */
  readonly awaited: number;
}

/** The one queue. */
export interface QueueSnapshot {
  /** Requests waiting. */
  readonly length: number;
  /** Bound from the config. */
  readonly length_max: number;
  /** Wait of the request at the head so far; 0 when empty. */
  readonly oldest_wait_ms: number;
  /** Wait that is expected of a request that arrives now. */
  readonly predicted_wait_ms: number | null;
}

/** Requests since the start, and current ones. */
export interface RequestsSnapshot {
  /** Answered by a worker. */
  readonly answered_total: number;
  /** Begun by workers now. */
  readonly in_service: number;
  /** Handed to workers ahead of time and not begun now: neither queued nor in service. */
  readonly handed: number;
  /** Handed to workers ahead of time since the start. */
  readonly handed_total: number;
  /** Requests of them that were taken back unseen by the app. */
  readonly taken_back_total: number;
  /** Rate of answers over the last seconds. */
  readonly per_second: number;
  /** Refused by the gateway. */
  readonly refused_total: number;
  /** Count by outcome, with the names of the access log's `outcome`. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Count by error code. */
  readonly errors: Readonly<Record<string, number>>;
  /** Count by what requests for workers were given, with the names of the access log's `step`. */
  readonly steps: Readonly<Record<string, number>>;
}

/** Three quantiles; `None` while nothing was measured. */
export interface Percentiles {
  /** Half are at or below. */
  readonly p50: number | null;
  /** 95 of 100 are at or below. */
  readonly p95: number | null;
  /** 99 of 100 are at or below. */
  readonly p99: number | null;
}

/** The page cache at one moment. Counts are since the start of the gateway. */
export interface CacheSnapshot {
  /** Whether pages are kept at all (`cache.enabled`). */
  readonly enabled: boolean;
  /** Pages that are kept; variants of one count as one. */
  readonly pages: number;
  /** Memory that they take, bytes. */
  readonly bytes: number;
  /** Memory that they may take, bytes. */
  readonly bytes_max: number;
  /** Requests that got a fresh page that was kept. */
  readonly hits: number;
  /** Requests that got a stale one, within what it or the config allows. */
  readonly stale: number;
  /** Requests that got a page while it was rendered for another. */
  readonly joined: number;
  /** Requests for which a page was rendered. */
  readonly misses: number;
  /** Requests that the cache had nothing to do with. */
  readonly bypassed: number;
  /** Answers that were kept. */
  readonly stored: number;
  /** Variants that were purged. */
  readonly purged: number;
  /** Pages on disk; `None` where there are none. */
  readonly disk: DiskCacheSnapshot | null;
  /** The cache that it shares with other gateways; `None` where it shares none. */
  readonly shared: SharedCacheSnapshot | null;
}

/** Pages on disk, which outlive the gateway. Counts are since the start of the gateway. */
export interface DiskCacheSnapshot {
  /** Directory (`cache.disk_dir`). */
  readonly dir: string;
  /** Whether it is in use: no other gateway has it, and it can be used. */
  readonly in_use: boolean;
  /** Pages there. */
  readonly pages: number;
  /** Size of its files, bytes. */
  readonly bytes: number;
  /** Largest size of its files, bytes. */
  readonly bytes_max: number;
  /** Look-ups that found a page. */
  readonly hits: number;
  /** Look-ups that found none. */
  readonly misses: number;
  /** Look-ups that took too long. */
  readonly timeouts: number;
  /** Pages that were damaged or could not be read. */
  readonly errors: number;
  /** Look-ups that were left out while it was not in use or owed others an answer. */
  readonly skipped: number;
  /** Pages that were written. */
  readonly written: number;
  /** Pages that were not written, because too many waited, or it was not in use. */
  readonly dropped: number;
  /** Pages and purges that the disk refused. */
  readonly refused: number;
}

/** A server in which several gateways share their pages. Counts are since the start of the gateway. */
export interface SharedCacheSnapshot {
  /** Address, without user and password. */
  readonly address: string;
  /** Whether it is in use: it answers, and in time. */
  readonly up: boolean;
  /** Look-ups that found a page. */
  readonly hits: number;
  /** Look-ups that found none. */
  readonly misses: number;
  /** Look-ups that took longer than `cache.shared_timeout_ms`. */
  readonly timeouts: number;
  /** Look-ups that failed at once, and pages that were damaged. */
  readonly errors: number;
  /** Look-ups that were left out while it was not in use. */
  readonly skipped: number;
  /** Pages that it took. */
  readonly written: number;
  /** Pages that it was not given, because too many waited or the connection was lost. */
  readonly dropped: number;
  /** Pages that it refused. */
  readonly refused: number;
  /** Purges that the other gateways were told. */
  readonly purges_told: number;
  /** Purges that other gateways told. */
  readonly purges_heard: number;
}

/** Reason why the latest answer for a page was not stored. */
export interface UnkeptSnapshot {
  /** Reason in a few words. */
  readonly why: string;
  /** Status of the answer; 0 where there was none. */
  readonly status: number;
  /** Time since then, seconds. */
  readonly age_s: number;
}

/** Stored variant of a page. */
export interface KeptSnapshot {
  /** Status of the answer. */
  readonly status: number;
  /** Length of its body, bytes. */
  readonly bytes: number;
  /** Age, seconds. */
  readonly age_s: number;
  /** Time for which it is fresh from now on, seconds. */
  readonly fresh_s: number;
  /** Time for which it is useful from now on, seconds. */
  readonly useful_s: number;
  /** Tags that the app gave it. */
  readonly tags: readonly string[];
}

/**
 * HTTP calls of the app to one host. Times and shares are of about the last minute, totals since the
 * start.
 */
export interface CalledHostSnapshot {
  /** Host and port, without the scheme's own port; `other` for those beyond 50. */
  readonly host: string;
  /** Calls that have begun. */
  readonly calls_total: number;
  /** Calls that have ended without an answer: refused, reset, timed out or aborted. */
  readonly errors_total: number;
  /** Answers with a status of 500 or above. */
  readonly failures_total: number;
  /** Calls that have begun lately. */
  readonly calls: number;
  /** Calls that have ended without an answer lately. */
  readonly errors: number;
  /**
   * Median time from the request to the head of its answer, milliseconds; `None` while no answer came
   * lately.
   */
  readonly p50_ms: number | null;
  /** 95th percentile of that. */
  readonly p95_ms: number | null;
  /** Part of the time to answers of all hosts, from 0 to 1. */
  readonly share: number;
  /** Calls that wait for an answer now. */
  readonly waiting: number;
  /** Milliseconds that the first of them has waited; `None` while none waits. */
  readonly oldest_ms: number | null;
}

/**
 * Comparison of the latest version of the app with the one before it, one after the other. It says
 * nothing of causes other than the version that came at the same time.
 */
export interface DeploySnapshot {
  /** The latest version that has served. */
  readonly generation: number;
  /** The version before it. */
  readonly before: number;
  /** End of the first request of the latest version, Unix time in milliseconds. */
  readonly at_ms: number;
  /** Requests of the version before, and of the latest one. */
  readonly requests: readonly number[];
  /**
   * Findings on all classes that both have, like for like: CPU time, service time, failures, holes in
   * pages.
   */
  readonly findings: readonly FindingSnapshot[];
  /** Classes that surely changed, those that became worse first. At most 10. */
  readonly classes: readonly ClassChangeSnapshot[];
  /** Classes that both have often enough to compare them. */
  readonly compared: number;
}

/** Change of one measure of one class. */
export interface ClassChangeSnapshot {
  /** The class. */
  readonly class: string;
  /** Mean before, milliseconds. */
  readonly before_ms: number;
  /** Mean since, milliseconds. */
  readonly after_ms: number;
  /** Finding on it. */
  readonly finding: FindingSnapshot;
}

/** Reports of workers on their graphs since the start. */
export interface GraphSnapshot {
  /** Pages whose state was written. */
  readonly pages_total: number;
  /** Requests of these pages to their data sources. */
  readonly page_requests_total: number;
  /** Requests of clients over the network, without writes and calls. */
  readonly fetches_total: number;
  /** Single paths that pages asked for. */
  readonly asked_total: number;
  /** Single paths that clients asked for over the network. */
  readonly fetched_total: number;
  /** Values that came into pages, references and errors among them. */
  readonly values_total: number;
  /** Values among them that no component had asked for when the state was written. */
  readonly unread_total: number;
  /** Values that came into a page once more, or that a browser asked for although its page had them. */
  readonly again_total: number;
  /** Calls of routes that have ended. */
  readonly calls_total: number;
  /** Calls among them that threw, took too long or gave what is no JSON Graph. */
  readonly failures_total: number;
  /** Calls among them some of whose paths were denied. */
  readonly denied_total: number;
  /** Single paths that these calls gave no value for. */
  readonly unanswered_total: number;
  /** The 50 routes and methods that took most time, those with failures before all others. */
  readonly routes: readonly GraphRouteSnapshot[];
  /** Routes and methods in all; those beyond 500 are one, `other`. */
  readonly routes_count: number;
  /** The 50 patterns of paths that pages and clients use most, that one first. */
  readonly paths: readonly GraphPathSnapshot[];
  /** Patterns in all; those beyond 500 are one, `other`. */
  readonly paths_count: number;
}

/** One route and method since the start. */
export interface GraphRouteSnapshot {
  /** Text of the route; `(unhandled)` for paths that no route matches. */
  readonly route: string;
  /** `get`, `set` or `call`; `other` for routes beyond 500. */
  readonly method: string;
  /** Calls that have ended. */
  readonly calls_total: number;
  /** Single paths that they were for. */
  readonly paths_total: number;
  /** Time from the calls to their results, milliseconds. Calls of one request overlap. */
  readonly time_ms_total: number;
  /** Longest call, milliseconds. */
  readonly time_ms_max: number;
  /** Calls that threw, took too long or gave what is no JSON Graph. */
  readonly failures_total: number;
  /** Calls some of whose paths were denied. */
  readonly denied_total: number;
  /** Single paths that got no value. */
  readonly unanswered_total: number;
  /** Error of the latest failure; `None` while there was none. */
  readonly error: string | null;
}

/** Paths of one pattern since the start. */
export interface GraphPathSnapshot {
  /** Path with `{integers}` and `{keys}`. */
  readonly path: string;
  /** Single paths that pages asked for. */
  readonly asked_total: number;
  /** Single paths that clients asked for over the network. */
  readonly fetched_total: number;
  /** Values at such paths that came into pages. */
  readonly values_total: number;
  /** Values among them that no component had asked for when the state was written. */
  readonly unread_total: number;
  /** Values that came into a page once more, or that a browser asked for although its page had them. */
  readonly again_total: number;
}

/** CPU and memory that the gateway and its workers share with others. */
export interface MachineSnapshot {
  /** CPUs that are online. */
  readonly cpus: number;
  /** CPUs that this process may use: its affinity and the quota of its cgroup. */
  readonly cpus_allowed: number;
  /**
   * CPU time of everything on the machine over the last seconds, in cores; `None` where the system does
   * not report it.
   */
  readonly cpu: number | null;
  /**
   * Memory in use, bytes, without what the kernel can drop at once; `None` where the system does not
   * report it.
   */
  readonly memory_bytes: number | null;
  /** Memory that there is, bytes: the limit of the cgroup or that of the machine, whichever is less. */
  readonly memory_bytes_max: number | null;
  /** Whether that limit is the cgroup's. Memory in use is the cgroup's too then. */
  readonly is_cgroup: boolean;
}

/** Requests of the last minute, and CPU time of the last seconds. */
export interface LatelySnapshot {
  /** Seconds that the counts are of: 60, or less after the start. */
  readonly over_s: number;
  /** Requests by outcome, with the names of the access log's `outcome`. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Requests by error code. */
  readonly errors: Readonly<Record<string, number>>;
  /** CPU time of all workers over the last five seconds, in cores. */
  readonly cpu: number | null;
  /** CPU time of the gateway over the last five seconds, in cores. */
  readonly gateway_cpu: number | null;
}

/** The dial in force. */
export interface DialSnapshot {
  /** Shares of visitors for whom the server renders, as in `render.server`. */
  readonly server: Readonly<Record<string, string>>;
  /** Whether `sluice dial` has changed it since the config came into force. */
  readonly turned: boolean;
}

/** Reports of workers and browsers on rendering since the start. */
export interface EffectsSnapshot {
  /** The 50 components that took most CPU time, that one first. */
  readonly components: readonly ComponentSnapshot[];
  /** Components in all; those beyond 500 are one, `other`. */
  readonly components_count: number;
  /** Renders of all components. */
  readonly renders_total: number;
  /** Renders among them that left a hole in their page. */
  readonly holes_total: number;
  /** Component of whose recent renders most left a hole; `None` while none does. */
  readonly worst_hole: HoleSnapshot | null;
  /** Figures by setting of the dial. */
  readonly settings: readonly SettingSnapshot[];
  /** Figures by variant. */
  readonly variants: readonly VitalsSnapshot[];
  /** Arms of experiments, compared by what browsers measured. */
  readonly experiments: readonly ExperimentSnapshot[];
  /** Figures by class of the page: the 20 with most reports, that with most first. */
  readonly pages: readonly VitalsSnapshot[];
}

/** Arms of an experiment, compared with one of them. */
export interface ExperimentSnapshot {
  /** Name of the experiment. */
  readonly name: string;
  /** The arm that the others are compared with: `control`, or the first one by name. */
  readonly baseline: string;
  /** Arms that are compared, by name. At most 8. */
  readonly arms: readonly ArmSnapshot[];
  /** Number of further arms that pages had in the last hour, which are not compared. At most 32. */
  readonly left_out: number;
}

/** An arm of an experiment. */
export interface ArmSnapshot {
  /** Name of the arm. */
  readonly name: string;
  /** Page views whose browsers have reported. */
  readonly views: number;
  /** Findings on its times, compared with those of the baseline; none for the baseline itself. */
  readonly findings: readonly FindingSnapshot[];
}

/** Component that leaves holes in pages. */
export interface HoleSnapshot {
  /** Name of the component. */
  readonly component: string;
  /** Share of its renders in about the last half minute that left a hole, 0 to 1. */
  readonly share: number;
  /** Outcome of the latest one: `error`, `late` and the like. */
  readonly outcome: string;
}

/** One component since the start. */
export interface ComponentSnapshot {
  /** Name. */
  readonly name: string;
  /** Renders by outcome: `rendered`, `cached`, `error`, `late`, `client` and the like. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** CPU time of all of them, milliseconds. */
  readonly cpu_ms_total: number;
}

/** Pages with one setting of the dial. */
export interface SettingSnapshot {
  /** The setting, in the words of the renderer. */
  readonly name: string;
  /** Pages that workers have made with it. */
  readonly pages_total: number;
  /** CPU time of their components, milliseconds. */
  readonly cpu_ms_total: number;
  /** The same for one page; `None` where no page was counted. */
  readonly cpu_ms_per_page: number | null;
  /** Measurements of browsers, by device. */
  readonly devices: readonly VitalsSnapshot[];
}

/**
 * Measurements of browsers for one kind of page. Figures without `_total` are 75th percentiles of the
 * last one to two hours; `None` if nothing was measured.
 */
export interface VitalsSnapshot {
  /** Device, variant or class. */
  readonly name: string;
  /** Reports since the start. */
  readonly reports_total: number;
  /** Components whose HTML was not what the browser would have rendered, since the start. */
  readonly mismatches_total: number;
  /** Components that the browser could not bring to life, since the start. */
  readonly failed_total: number;
  /** Time to the first byte, milliseconds. */
  readonly ttfb_ms: number | null;
  /** First contentful paint, milliseconds. */
  readonly fcp_ms: number | null;
  /** Largest contentful paint, milliseconds. */
  readonly lcp_ms: number | null;
  /** Interaction to next paint, milliseconds. */
  readonly inp_ms: number | null;
  /**
   * Time to interactive: until the page's components answered, milliseconds. Absent where it was not
   * measured.
   */
  readonly tti_ms?: number;
  /** Slowest answer to a key of a page view, milliseconds. Absent where it was not measured. */
  readonly key_ms?: number;
  /**
   * Time by which frames took longer than 50 ms, milliseconds of a page view. Absent where it was not
   * measured.
   */
  readonly long_ms?: number;
  /** JavaScript's memory when a page was left. Absent where it was not measured. */
  readonly memory_bytes?: number;
  /** Cumulative layout shift. */
  readonly cls: number | null;
  /** HTML of a page. */
  readonly html_bytes: number | null;
  /** JavaScript of a page. */
  readonly js_bytes: number | null;
}

/**
 * Runs of a main thread: from the event loop's call into JavaScript until the callbacks, ticks and
 * microtasks of that call are done. Nothing else of the worker runs meanwhile. Counts since the
 * gateway or the worker started.
 */
export interface RunsSnapshot {
  /** Upper bounds of the buckets, microseconds. */
  readonly upper_us: readonly number[];
  /** Runs in each bucket: one number for each bound, and one for those above the last. */
  readonly counts: readonly number[];
  /** Wall-clock time in them, microseconds, by bucket as `counts`. */
  readonly time_us: readonly number[];
  /**
   * Time for which workers were watched, microseconds, added up. The part of it that is in runs of a
   * class is the chance that a request which arrives at a worker has to wait behind one.
   */
  readonly observed_us: number;
  /** Pauses of the garbage collector. */
  readonly collections: number;
  /** Time in them, microseconds. It is in `time_us` as well. */
  readonly collected_us: number;
  /** Requests of which it is known which runs were theirs. */
  readonly requests: number;
  /** Requests of them with a run of at least 1 ms, 10 ms, 100 ms and 1 s. */
  readonly requests_with: readonly number[];
  /** The longest of the latest hours, the latest first. */
  readonly longest: readonly LongRunSnapshot[];
}

/** One long run. */
export interface LongRunSnapshot {
  /** Duration, milliseconds. */
  readonly ms: number;
  /** Time of the garbage collector within it, milliseconds. */
  readonly collected_ms: number;
  /** CPU time of the main thread meanwhile, milliseconds; `None` where that is not known. */
  readonly cpu_ms: number | null;
  /** Use of the time, as the log's `spent` says; `None` if it is not known. */
  readonly spent: string | null;
  /**
   * Function, file and line that ran when the gateway looked, before it killed the worker in the run;
   * `None` for runs that ended by themselves.
   */
  readonly place: string | null;
  /** End of the run, Unix time in milliseconds. */
  readonly at_unix_ms: number;
  /** The worker. */
  readonly worker: number;
  /**
   * `X-Request-Id` of the request whose run it was; `None` where it was none's, or where that is not
   * known.
   */
  readonly request: string | null;
  /** Class of that request. */
  readonly class: string | null;
}

/** A version on trial, or the latest one. */
export interface TrialSnapshot {
  /** Generation of the version. */
  readonly generation: number;
  /** State of the trial. */
  readonly state: TrialState;
  /** Reason for the state, if there is one to tell. */
  readonly reason: string | null;
  /**
   * Share of visitors who get the version, 0 to 1; `null` where it has taken places over and chance
   * decides.
   */
  readonly share: number | null;
  /** Seconds for which both versions have been compared. */
  readonly compared_s: number;
  /** Seconds for which they are compared at least. */
  readonly lasts_s: number;
  /** Requests that ended in its workers. */
  readonly requests: number;
  /** Requests that ended in workers of the present version meanwhile. */
  readonly requests_present: number;
  /** Requests of its workers that are not compared, because a worker's first ones are slow. */
  readonly requests_warming: number;
  /** Findings by measure. */
  readonly findings: readonly FindingSnapshot[];
  /** Classes with requests of this version alone. */
  readonly new_classes: readonly string[];
  /** Pages of both versions, compared word by word; `null` unless that was asked for. */
  readonly html: PagesSnapshot | null;
}

/** Pages that both versions rendered for a comparison. */
export interface PagesSnapshot {
  /** Share of pages that are rendered again, 0 to 1. */
  readonly share: number;
  /** Pages that were compared. */
  readonly compared: number;
  /** Pages of them with a difference. */
  readonly differing: number;
  /** Pages that could not be compared: they vary too much, are too long, or a render did not end. */
  readonly unclear: number;
  /** Classes, those with most differing pages first. */
  readonly classes: readonly PageClassSnapshot[];
}

/** Compared pages of a class. */
export interface PageClassSnapshot {
  /** Class. */
  readonly class: string;
  /** Pages that were compared. */
  readonly compared: number;
  /** Pages of them with a difference. */
  readonly differing: number;
  /** Pages that could not be compared: they vary too much, are too long, or a render did not end. */
  readonly unclear: number;
  /** Path of the first page with a difference. */
  readonly path: string | null;
  /** Line of the difference, from 1; `null` if the status differs. */
  readonly line: number | null;
  /** Text there in the present version. */
  readonly present: string | null;
  /** Text there in the version on trial. */
  readonly trial: string | null;
}

/** State of a trial. */
export type TrialState = 'starting' | 'running' | 'held' | 'promoted' | 'back';

/** Comparison of a version with the present one in one measure. */
export interface FindingSnapshot {
  /** The measure. */
  readonly measure: string;
  /** `better`, `equal`, `worse` or `unknown`. */
  readonly verdict: string;
  /** Change: relative for times and heaps (0.1 is 10 % more), a difference of shares for others. */
  readonly change: number | null;
  /** Lower end of its interval of 99 %. */
  readonly low: number | null;
  /** Upper end of the same. */
  readonly high: number | null;
  /** Confidence in a difference, 0 to 1. */
  readonly sure: number;
  /** Whether the change is a difference of shares. */
  readonly is_share: boolean;
}

/** Subject of a profile. */
export type Kind = 'cpu' | 'snapshot' | 'sampling' | 'allocations' | 'routes';

/** Profile that an operator asks for. */
export interface Wish {
  /** Subject of the profile. */
  readonly kind: Kind;
  /** Worker; the one that has answered most requests unless said. */
  readonly worker?: number;
  /** Every worker that serves. */
  readonly all: boolean;
  /** Duration; meaningless for a snapshot. */
  readonly duration_ms: number;
  /** The class, or the path of classes, whose requests are to be distinguished. */
  readonly route?: string;
}

/** File that one worker has written, or the reason for its lack. */
export interface ProfileFile {
  /** The worker. */
  readonly worker: number;
  /** File of the profile; the program that asked deletes it with its directory. */
  readonly file: string;
  /** Duration from its start to its end, milliseconds. */
  readonly duration_ms: number;
  /** CPU time of the process meanwhile, milliseconds. */
  readonly used_ms: number;
  /** React renders that `@sluice/react` began meanwhile. */
  readonly renders: number;
  /** Path of the Node.js that runs the worker. */
  readonly node: string;
  /** Numbers of the requests of the route that was asked for. */
  readonly requests: readonly number[];
  /** True if there were more of them than are noted. */
  readonly requests_cut: boolean;
  /** Reason for the lack of a file from this worker, for people. */
  readonly error?: string;
}

/** The profile of one request that took longer than its class usually does. */
export interface Tail {
  /** Number by which it is opened, and by which its file is named. */
  readonly id: number;
  /** The request's class. */
  readonly class: string;
  /** Method, path and query; cut after 200 characters. */
  readonly target: string;
  /** The request id of the access log. */
  readonly request_id: string;
  /** Worker that wrote it. */
  readonly worker: number;
  /** End of the request, milliseconds since 1970. */
  readonly at_unix_ms: number;
  /** Time in the worker, without the profile's own, milliseconds. */
  readonly service_ms: number;
  /** CPU time of the worker's process meanwhile, milliseconds. */
  readonly cpu_ms: number;
  /** Cost that 99 of 100 requests of the class do not exceed, milliseconds. */
  readonly usual_ms: number;
  /** Size of its file. */
  readonly bytes: number;
  /** The profile, a `.cpuprofile` in the state directory. */
  readonly file: string;
}

/** The first event of a connection. */
export interface Hello {
  /** Start of this gateway's history, Unix time in milliseconds; differs between gateways. */
  readonly epoch: number;
  /** Whether the points follow those that the viewer has seen without a gap. */
  readonly resumed: boolean;
  /**
   * Points that the viewer missed, if they are still kept second by second; else nothing, and `GET
   * /history` has them.
   */
  readonly points: readonly Point[];
  /** Events since the viewer last heard of one, or all that are kept; oldest first. */
  readonly marks: readonly Mark[];
  /** The file that holds the token; `None` where the config says the token. */
  readonly token_file: string | null;
}

/** The event of each second. */
export interface Frame {
  /** The gateway's clock, Unix time in milliseconds. */
  readonly now_ms: number;
  /** State of the gateway now. */
  readonly status: Snapshot;
  /** The last second. */
  readonly point: Point;
  /** Events within it. */
  readonly marks: readonly Mark[];
}

/** The event of every few seconds. */
export interface Costs {
  /** Costs of requests, by class. */
  readonly classes: ClassesSnapshot;
  /** Requests that are answered without a worker. */
  readonly quarantined: readonly QuarantinedRequest[];
  /** Changes since the latest version of the app came; `None` while only one has served. */
  readonly deploy: DeploySnapshot | null;
}

/** Figures of one span of time. */
export interface Point {
  /** End of the span, Unix time in milliseconds. */
  readonly at_ms: number;
  /** Requests that workers answered, per second. */
  readonly answered: number;
  /** Requests that the gateway refused, per second. */
  readonly refused: number;
  /** Answers with a status of 500 or above, per second. */
  readonly failed: number;
  /** Requests that waited, the most at the end of any second. */
  readonly queue_length: number;
  /** Requests in workers, mean. */
  readonly in_service: number;
  /** Workers that took requests, at the end. */
  readonly workers: number;
  /** CPU time of all workers, in cores. */
  readonly cpu: number;
  /** CPU time of the gateway, in cores. */
  readonly gateway_cpu: number;
  /** Resident memory of all workers at the end, bytes. */
  readonly rss_bytes: number;
  /**
   * Queue wait in milliseconds: 50th, 95th, 99th percentile and maximum; `None` where no worker took a
   * request.
   */
  readonly queue_wait_ms: readonly number[] | null;
  /** Service time likewise. */
  readonly service_time_ms: readonly number[] | null;
  /**
   * Uninterrupted runs of the workers' main threads that were reported in the span, by length; see
   * `runs` of the snapshot.
   */
  readonly runs: readonly number[];
}

/** The answer to `GET /history`: a list for each field of [`Point`], oldest first. */
export interface Columns {
  /** Start of the history, as in [`Hello`]. */
  readonly epoch: number;
  /** Length of each span, seconds. */
  readonly span_s: number;
  /** Ends of the spans, as in [`Point`]; all fields that follow are as there, too. */
  readonly at_ms: readonly number[];
  /** Requests answered. */
  readonly answered: readonly number[];
  /** Requests refused. */
  readonly refused: readonly number[];
  /** Answers of 500 or above. */
  readonly failed: readonly number[];
  /** Requests that waited. */
  readonly queue_length: readonly number[];
  /** Requests in workers. */
  readonly in_service: readonly number[];
  /** Workers. */
  readonly workers: readonly number[];
  /** CPU of workers. */
  readonly cpu: readonly number[];
  /** CPU of the gateway. */
  readonly gateway_cpu: readonly number[];
  /** Memory. */
  readonly rss_bytes: readonly number[];
  /** Queue wait. */
  readonly queue_wait_ms: readonly (readonly number[] | null)[];
  /** Service time. */
  readonly service_time_ms: readonly (readonly number[] | null)[];
  /** Runs. */
  readonly runs: readonly (readonly number[])[];
}

/** One thing that happened. */
export interface Mark {
  /** Counts from 1 in one gateway. */
  readonly id: number;
  /** Time, Unix time in milliseconds. */
  readonly at_ms: number;
  /** Subject of the event. */
  readonly kind: MarkKind;
  /** The `event` of its line in the log. */
  readonly event: string;
  /** Importance of the event. */
  readonly level: MarkLevel;
  /** The worker that it is about. */
  readonly worker: number | null;
  /** Description in a sentence, whose subject is that worker, if there is one. */
  readonly text: string;
  /** More, in lines: a stack, or the end of an app's stderr. */
  readonly detail: string | null;
}

/** Subject of a mark. */
export type MarkKind = 'deploy' | 'crash' | 'stuck' | 'quarantine' | 'alarm' | 'worker' | 'note';

/** Importance of a mark. */
export type MarkLevel = 'info' | 'warn' | 'error';
