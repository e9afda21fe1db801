// Generated from gateway/catalog by `make generate`; do not edit.

/** Fingerprint of the types in this file. */
export const PROTOCOL = 'c019ef70a629c1c5';

/** Upper bounds of the buckets of runs, microseconds. */
export const RUN_BOUNDS_US: readonly number[] = [10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000, 200000, 500000, 1000000, 2000000, 5000000, 10000000];

export type Leaving = 'end' | 'stream' | 'upgrade' | 'wait' | 'abandoned';

export type HeapKind = 'snapshot' | 'sampling' | 'allocations';

/** An address that the app asked for. */
export interface ListenAddress {
  readonly port: number | null;
  readonly host: string | null;
  readonly path: string | null;
}

/** A request that has left its slot. */
export interface RequestEnd {
  readonly id: number;
  readonly cpu_us: number;
  /** `cpu_us` includes CPU time of other requests; the request's own is unknown. */
  readonly shared?: boolean;
  /** Number of requests of its class that its CPU time represents, as the label requested; 1 if absent. 0: not in the sample, but reported because the request took 5 ms or longer. */
  readonly weight?: number;
  /** Reason: its response ended, it became an event stream or a raw connection, it became a long poll, or the app never got it. The headers of a stream may be sent with the first event; the app controls a raw connection. */
  readonly left: Leaving;
  /** Route template of the app's router, if this worker has not sent it before. */
  readonly route?: string;
  /** Number of its uninterrupted runs of 1 to 10 ms, 10 to 100 ms, 100 ms to 1 s, and longer. */
  readonly runs?: readonly number[];
  /** Its longest run, if that took 10 ms or longer. */
  readonly longest?: LongRun;
  /** Time since the handler of its route began, if the router exposes its handlers. Only the first request of a line has this field. */
  readonly handler_us?: number;
}

/** An uninterrupted run of the main thread. */
export interface LongRun {
  readonly us: number;
  /** Time of the garbage collector in the run. */
  readonly collected_us: number;
  /** CPU time of the main thread during the run, if known. */
  readonly cpu_us?: number;
  /** Time in which the main thread was runnable without a CPU; only on Linux. */
  readonly queued_us?: number;
  /** Time since its end. */
  readonly ago_ms: number;
  /** Request of the run, if known. */
  readonly id?: number;
}

/** A position in the app's code that adds routes. */
export interface Adder {
  /** A path, or a `file:` URL. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
  /** Entries added from this position while the worker served. */
  readonly added: number;
}

/** A profile that a worker has written. */
export interface ProfileRecord {
  /** Duration of the profile. */
  readonly duration_ms: number;
  /** CPU time of the process in this time, including its helper threads. */
  readonly used_ms: number;
  /** React renders that `@sluice/react` began in this time. */
  readonly renders: number;
  /** Path of the Node.js that runs the worker. */
  readonly node: string;
}

/** Renders of one component with the same outcome. */
export interface ComponentReport {
  readonly component: string;
  /** `rendered`, `cached`, `error` and the like. */
  readonly outcome: string;
  readonly count: number;
  readonly cpu_us: number;
}

/** Calls of one route of a graph by one method. */
export interface GraphRouteReport {
  /** As the app wrote it; `(unhandled)` for paths that no route matches. */
  readonly route: string;
  /** `get`, `set` or `call`. */
  readonly method: string;
  readonly calls: number;
  /** Single paths in the calls. */
  readonly paths: number;
  /** Sum of the times from call to result. */
  readonly time_us: number;
  readonly time_us_max: number;
  readonly failures: number;
  /** Calls with denied paths. */
  readonly denied: number;
  /** Single paths that got no value. */
  readonly unanswered: number;
  /** Error of the latest failure. */
  readonly error?: string;
}

/** Paths of a graph with one pattern. */
export interface GraphPathReport {
  /** Pattern with `{integers}` and `{keys}`. */
  readonly path: string;
  /** Single paths that pages requested. */
  readonly asked: number;
  /** Single paths that clients requested over the network. */
  readonly fetched: number;
  /** Values sent to pages. */
  readonly brought: number;
  /** Sent values that no component read. */
  readonly unread: number;
  /** Values sent twice. */
  readonly again: number;
}

/** HTTP calls of the app to one host since the previous line, and those without an answer now. */
export interface CalledHost {
  /** Host and port, without the scheme's own port; `other` beyond 50 hosts. */
  readonly host: string;
  /** Calls that have begun. */
  readonly calls: number;
  /** Calls that have ended without an answer: refused, reset, timed out or aborted. */
  readonly errors: number;
  /** Answers with a status of 500 or above. */
  readonly failed: number;
  /** Calls without an answer at this moment. */
  readonly waiting: number;
  /** Time that the oldest of them has waited. */
  readonly oldest_us: number;
  /** Times from request to response headers, rounded to five significant bits. */
  readonly times_us?: readonly number[];
  /** Number of calls with each of these times. */
  readonly counts?: readonly number[];
}

/** Pages with one setting of the dial. */
export interface SettingReport {
  /** The label that the pages carry. */
  readonly setting: string;
  readonly pages: number;
  /** CPU time of their components. */
  readonly cpu_us: number;
}

/** Pages that the app wants purged. One of the first four fields is present. */
export interface PurgeTarget {
  /** A URL, or a path on all hosts. */
  readonly url?: string;
  /** The beginning of URLs, or of paths on all hosts. */
  readonly prefix?: string;
  readonly tag?: string;
  readonly all?: boolean;
  /** The pages stay in the cache as stale ones. */
  readonly soft?: boolean;
}

export type ToGateway =
  /** The first line. The gateway gets the pid that it signals from the kernel. Only one process per worker may send lines. */
  | {
      readonly type: 'hello';
      readonly worker: number;
      /** Response headers carry the tokens of their requests. */
      readonly marks: boolean;
      /** Requests may be handed ahead: the pipe for their numbers is open. */
      readonly takes_ahead: boolean;
      /** `PROTOCOL` of the preload, by which the gateway detects a preload of another version. */
      readonly protocol: string;
    }
  /** The main server listens, so the worker takes requests. A second line says that another server of the app has become the main server; the gateway no longer uses connections to the old one. */
  | {
      readonly type: 'listening';
      readonly requested: ListenAddress;
      /** The main server is an HTTPS server; the gateway connects to it without TLS. */
      readonly tls: boolean;
      /** Time spent waiting for a server on another port, which never listened; null if this server was expected. */
      readonly waited_ms: number | null;
      /** Other servers of the app that could be the main server. */
      readonly others: readonly ListenAddress[];
    }
  /** The main server was closed, so the worker gets no more requests. The gateway stops the worker when it holds no request, and replaces it immediately if it holds one, even if a server listens again. */
  | {
      readonly type: 'closing';
    }
  /** A further `listen()`: the gateway binds the address and passes its connections on. */
  | {
      readonly type: 'aux';
      readonly port: number | null;
      readonly host: string | null;
      readonly path: string | null;
      /** Path of the unix socket where the worker takes its connections. */
      readonly socket: string;
      /** Connections there begin with the addresses of their clients. */
      readonly preface: boolean;
    }
  /** A server of `aux` was closed. */
  | {
      readonly type: 'aux-closed';
      /** Path of the unix socket where the worker takes its connections. */
      readonly socket: string;
    }
  /** Requests that have left their slots, with their CPU time. The line frees the slot of a broken response, a stream, an upgrade or a long poll. */
  | {
      readonly type: 'done';
      readonly requests: readonly RequestEnd[];
      /** Other requests whose responses have ended; their CPU time was not in the sample. */
      readonly ended?: readonly number[];
    }
  /** The app did not get request `id`, because it has not ended request `by`, whose last byte was read. Request `id` returns to the queue. */
  | {
      readonly type: 'busy';
      readonly id: number;
      readonly by: number;
    }
  /** The app has connected to the gateway's own port, or that connection has closed. `port` is the connection's local one; its requests go before others. */
  | {
      readonly type: 'asks-itself';
      readonly port: number | null;
      /** The connection has closed. */
      readonly closed: boolean;
    }
  /** Node's parser rejected its input, and the app holds no request. The line frees the slot of a broken response, because no `done` follows. */
  | {
      readonly type: 'idle';
    }
  /** A response was longer than its announced length, and the excess was cut off. The log names the request. */
  | {
      readonly type: 'overlong';
      /** Its `X-Request-Id`. */
      readonly request: string;
      readonly method: string;
      readonly target: string;
      /** Excess bytes. */
      readonly bytes: number;
      /** Earlier such responses without a line of their own. */
      readonly more: number;
    }
  /** The app writes to connections directly instead of through responses. From then on, each connection of the worker carries one request. */
  | {
      readonly type: 'raw';
      /** Bytes of it that were dropped, because they could have been taken for the answer to another request. */
      readonly dropped_bytes: number;
    }
  /** The app has an `onReset` hook, so with `while-waiting` it gets no second request while it holds one. */
  | {
      readonly type: 'resets';
    }
  /** The main thread is in a loop that yields (`@sluice/breathe`). For the next 120 ms, the worker may get one more queued request. Each request that the worker gets increments the byte in the file `$SLUICE_SOCKET.given`, which the loop reads. Sent every 50 ms of such a loop, and when that byte has changed. */
  | {
      readonly type: 'breathes';
    }
  /** The answer to a `look` of the gateway. */
  | {
      readonly type: 'look';
      /** All requests in the app wait for I/O. */
      readonly rests: boolean;
      /** Time that the app has run so far, plus a microsecond for each request that began or ended. */
      readonly run_us: number;
      /** Time for which its event loop was active. */
      readonly active_us: number;
    }
  /** Sent every second; its absence shows that the event loop is blocked. */
  | {
      readonly type: 'beat';
      readonly rss_bytes: number;
      readonly heap_used_bytes: number;
      /** Utilization of the event loop, from 0 to 1. */
      readonly elu: number;
      /** The longest time for which the event loop was blocked. */
      readonly loop_delay_ms_max: number;
      /** Requests that the app got beyond its limit. */
      readonly overlaps_total: number;
      readonly cpu_us_total: number;
      /** Share of the garbage collector in the CPU time of the latest windows in which requests shared the worker. */
      readonly gc_share?: number;
      /** Share of the same CPU time that belongs to no request. */
      readonly lost_share?: number;
    }
  /** Memory in use, which bounds how many requests may wait in the worker. Sent with each beat, and when the app holds 16 more requests than at the previous line, or a quarter more if that is larger. */
  | {
      readonly type: 'memory';
      readonly heap_used_bytes: number;
      /** Limit of the heap, without its young generation. */
      readonly heap_bytes_max: number;
      readonly rss_bytes: number;
      /** The app has its own listener for SIGUSR1, so the signal opens no inspector. */
      readonly handles_sigusr1?: boolean;
    }
  /** The inspector is closed, as `close-inspector` requested. */
  | {
      readonly type: 'inspector-closed';
    }
  /** Uninterrupted runs of the main thread: from the event loop's call into JavaScript until the callbacks, ticks and microtasks of that call are done. Counted since the worker serves. Sent every second, and within 250 ms of a run above 1 s. */
  | {
      readonly type: 'runs';
      /** Runs by duration, in the buckets of `RUN_BOUNDS_US`; the last is for longer ones. */
      readonly counts: readonly number[];
      /** Time in the runs of each bucket. */
      readonly time_us: readonly number[];
      /** Time for which runs were observed. */
      readonly observed_us: number;
      /** Pauses of the garbage collector. */
      readonly collections: number;
      /** Time in these pauses. */
      readonly collected_us: number;
      /** Runs since the previous line: those above 1 s, and the longest from 10 ms that belongs to no request. */
      readonly long: readonly LongRun[];
    }
  /** An uncaught exception. The process exits, unless the app handles 'uncaughtException'. */
  | {
      readonly type: 'threw';
      /** Its first line. */
      readonly text: string;
      /** Request served at that moment, if known. */
      readonly id?: number;
      readonly cpu_us_total: number;
    }
  /** The event loop turns, and all ended requests are reported. Sent four times a second. */
  | {
      readonly type: 'turn';
    }
  /** React renders of the process so far, and those that fell back to react-dom, by reason. */
  | {
      readonly type: 'react';
      readonly renders: number;
      readonly reasons: Readonly<Record<string, number>>;
    }
  /** Counts and contents of the cache of `<Cached>` of `@sluice/react`. Sent with a beat after a change. */
  | {
      readonly type: 'component-cache';
      readonly hits: number;
      readonly misses: number;
      /** Evicted entries. */
      readonly evictions: number;
      readonly entries: number;
      /** Estimated memory of the entries. */
      readonly bytes: number;
      /** Limit of this memory. */
      readonly bytes_max: number;
    }
  /** The app's route tables have grown or shrunk after the worker's first second of service. Sent at most once a second. */
  | {
      readonly type: 'routes-grown';
      /** Entries of all tables. */
      readonly size: number;
      /** Entries added since then. */
      readonly added: number;
      /** Positions that have added the most entries. */
      readonly places: readonly Adder[];
    }
  /** The settings require `@sluice/react`, but it does not render React. */
  | {
      readonly type: 'react-off';
      readonly why: string;
    }
  /** A library of the app keeps its clients' state in this process. With several workers, a client may need the one that has it. */
  | {
      readonly type: 'keeps-state';
      /** `express-session`, `memorystore`, `faye`, `json-server` or `colyseus`. */
      readonly library: string;
      /** Path at which its clients ask, and where their address leads back to the same worker. */
      readonly mount?: string;
      /** This worker's name in the paths of upgrades. */
      readonly name?: string;
      /** The library finds the state of other processes, so no setting is needed. */
      readonly shared?: boolean;
    }
  /** The answer to `profile`, `heap` or `routes`: either `taken` or `error`. */
  | {
      readonly type: 'profiled';
      /** Serial number of the gateway's request to this worker for a profile. */
      readonly number: number;
      readonly taken?: ProfileRecord;
      readonly error?: string;
    }
  /** The request to be profiled has ended, with its times; `file` is empty if the request was below the threshold. */
  | {
      readonly type: 'tailed';
      readonly id: number;
      readonly file: string;
      /** Its size. */
      readonly file_bytes: number;
      /** CPU time of the process during the request. */
      readonly used_us: number;
      /** Time from the request's beginning to its end. */
      readonly service_us: number;
      /** Time that the profile took in the worker before and after the request. */
      readonly overhead_us: number;
    }
  /** Components and pages rendered since the previous line, for `sluice status`, metrics and the dashboard. Sent a second after the first of them. */
  | {
      readonly type: 'rendered';
      readonly components: readonly ComponentReport[];
      readonly settings: readonly SettingReport[];
      /** Labels of variants that pages carried. */
      readonly variants: readonly string[];
    }
  /** Use of routes and pages of `@sluice/graph` since the previous line. Sent a second after the first use. */
  | {
      readonly type: 'graph';
      readonly graph_routes: readonly GraphRouteReport[];
      readonly graph_paths: readonly GraphPathReport[];
      /** Pages whose state was written. */
      readonly pages: number;
      /** Their requests to their data sources. */
      readonly page_requests: number;
      /** Requests of clients over the network. */
      readonly fetches: number;
    }
  /** HTTP calls of the app to other hosts. Sent a second after the first of them, and every second while a call has no answer. */
  | {
      readonly type: 'called';
      readonly hosts: readonly CalledHost[];
    }
  /** A render of a component exceeded its CPU budget, or the first render after such ones did not. Sent immediately, because the gateway may replace the worker for it. */
  | {
      readonly type: 'overrun';
      /** Name of the component, with its version if it has one. */
      readonly component: string;
      /** The render exceeded its budget. */
      readonly over: boolean;
    }
  /** The app has a `'message'` listener, so the gateway delays SIGTERM. */
  | {
      readonly type: 'hears-messages';
    }
  /** A message that the app gave to `process.send`; `"ready"` counts where `workers.wait_ready` asks for it. */
  | {
      readonly type: 'send';
      readonly message: unknown;
    }
  /** The app wants pages purged. The next such line comes after the answer, `purged`. */
  | {
      readonly type: 'purge';
      /** Serial number, which the answer repeats. */
      readonly serial: number;
      readonly purges: readonly PurgeTarget[];
    }
  /** The answer to `purge-parts`. */
  | {
      readonly type: 'parts-purged';
      /** Serial number, which the answer repeats. */
      readonly serial: number;
    };

export type FromGateway =
  /** A `'message'` for the app, today only `"shutdown"`. It goes out before SIGTERM, which follows at once, or after half of `workers.stop_timeout_ms` if the app has said `hears-messages`. */
  | {
      readonly type: 'message';
      readonly message: unknown;
    }
  /** Shares of visitors who get server rendering, and the path for reports of browsers. Sent after `hello`, and within a second of a change. */
  | {
      readonly type: 'render';
      /** Shares of visitors from 0 to 1, by the entries of `render.server`; always one for `*`. */
      readonly server: Readonly<Record<string, number>>;
      /** Path that browsers report to. */
      readonly vitals: string;
    }
  /** Components whose latest renders, in all workers, exceeded their CPU budgets. Sent after `hello`, and within a second of a change. */
  | {
      readonly type: 'overruns';
      /** Number of `overrun` lines of this worker that the counts include. */
      readonly heard: number;
      /** By component: number of such renders in a row, and time since the latest. */
      readonly components: Readonly<Record<string, { readonly count: number; readonly ago_ms: number }>>;
    }
  /** Asks whether all requests in the app wait for I/O. Sent while requests are queued, except on Linux. */
  | {
      readonly type: 'look';
    }
  /** Take a CPU profile of this duration, and write it to this file. */
  | {
      readonly type: 'profile';
      /** Serial number of the gateway's request to this worker for a profile. */
      readonly number: number;
      readonly duration_ms: number;
      readonly file: string;
      /** Also write which request ran when, to `file` with `.requests` appended. */
      readonly requests: boolean;
    }
  /** Write the contents of the heap to this file (`snapshot`, which blocks the worker meanwhile), or a sample of the app's allocations in this duration. The sample is of allocations that stay (`sampling`), or of all (`allocations`). */
  | {
      readonly type: 'heap';
      /** Serial number of the gateway's request to this worker for a profile. */
      readonly number: number;
      readonly kind: HeapKind;
      readonly duration_ms: number;
      readonly file: string;
    }
  /** Write the tables of the app's routers to this file, with their faults. */
  | {
      readonly type: 'routes';
      /** Serial number of the gateway's request to this worker for a profile. */
      readonly number: number;
      readonly file: string;
    }
  /** The client that requested the current profile has disconnected: end the profile, and write no file. */
  | {
      readonly type: 'drop-profile';
    }
  /** Close the inspector, which the gateway opened with SIGUSR1 to look into a blocked event loop. */
  | {
      readonly type: 'close-inspector';
    }
  /** The purges of the `purge` with this serial number are done. */
  | {
      readonly type: 'purged';
      /** Serial number, which the answer repeats. */
      readonly serial: number;
      /** Purged variants of pages, for each purge. */
      readonly counts: readonly number[];
    }
  /** Purge the HTML of `<Cached>` with these tags, or all of it, so that no page uses it. The next such line comes after the answer. */
  | {
      readonly type: 'purge-parts';
      /** Serial number, which the answer repeats. */
      readonly serial: number;
      readonly tags: readonly string[];
      readonly all: boolean;
    };
