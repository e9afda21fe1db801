// Generated from gateway/catalog by `make generate`; do not edit.

/** Fingerprint of all that this file says. */
export const PROTOCOL = 'bc845f385a3bf9a9';

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

/** A request that the app has let go. */
export interface RequestEnd {
  readonly id: number;
  readonly cpu_us: number;
  /** CPU time of others is in it: what the request used itself is not known. */
  readonly shared?: boolean;
  /** Requests of its class for which its CPU time stands, as the label said; 1 where it is absent. 0: the CPU time was not to be measured, and is told because the request took 5 ms or longer. */
  readonly weight?: number;
  /** Its response ended; it became an event stream or a raw connection; the app waits with its answer; or it never had it. The head of a stream may be sent with the first event; the app has a raw connection in its hands. */
  readonly left: Leaving;
  /** The template of the app's router, where this worker has not named it before. */
  readonly route?: string;
  /** How many of its uninterrupted runs took 1 to 10 ms, 10 to 100 ms, 100 ms to 1 s, and longer. */
  readonly runs?: readonly number[];
  /** The longest of them, from 10 ms. */
  readonly longest?: LongRun;
  /** Time since the handler of its route began, where the router shows that. Only the first request of a line has it. */
  readonly handler_us?: number;
}

/** An uninterrupted run of the main thread. */
export interface LongRun {
  readonly us: number;
  /** How much of it the garbage collector took. */
  readonly collected_us: number;
  /** CPU time of the main thread meanwhile, where that is known. */
  readonly cpu_us?: number;
  /** How long the main thread could have run and got no CPU. Linux alone tells. */
  readonly queued_us?: number;
  /** How long ago it ended. */
  readonly ago_ms: number;
  /** The request whose run it was, where that is known. */
  readonly id?: number;
}

/** A place in the app that adds routes. */
export interface Adder {
  /** A path, or a `file:` URL. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
  /** Entries that it has added while the worker served. */
  readonly added: number;
}

/** A profile that a worker has written. */
export interface ProfileRecord {
  /** From its start to its end. */
  readonly duration_ms: number;
  /** CPU time of the process meanwhile, its helper threads included. */
  readonly used_ms: number;
  /** React renders that `@sluice/react` began meanwhile. */
  readonly renders: number;
  /** Path of the Node.js that runs the worker. */
  readonly node: string;
}

/** Renders of one component that ended alike. */
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
  /** Single paths that the calls were for. */
  readonly paths: number;
  /** From the calls to their results, all added up. */
  readonly time_us: number;
  readonly time_us_max: number;
  readonly failures: number;
  /** Calls some of whose paths were denied. */
  readonly denied: number;
  /** Single paths that got no value. */
  readonly unanswered: number;
  /** Of the latest failure. */
  readonly error?: string;
}

/** Paths of a graph of one pattern. */
export interface GraphPathReport {
  /** With `{integers}` and `{keys}`. */
  readonly path: string;
  /** Single paths that pages asked for. */
  readonly asked: number;
  /** Single paths that clients asked for over the network. */
  readonly fetched: number;
  /** Values that came into pages. */
  readonly brought: number;
  /** Those that no component asked for. */
  readonly unread: number;
  /** Values that came twice. */
  readonly again: number;
}

/** HTTP calls of the app to one host since the line before, and those that wait for an answer now. */
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
  /** For how long the first of them has waited. */
  readonly oldest_us: number;
  /** Times from the request to the head of its answer, with five leading bits. */
  readonly times_us?: readonly number[];
  /** How many calls took each of these times. */
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

/** Pages that the app wants purged: one of the first four. */
export interface PurgeTarget {
  /** A URL, or a path on all hosts. */
  readonly url?: string;
  /** The beginning of URLs, or of paths on all hosts. */
  readonly prefix?: string;
  readonly tag?: string;
  readonly all?: boolean;
  /** They stay as stale ones. */
  readonly soft?: boolean;
}

export type ToGateway =
  /** The first line. The pid that is signalled is the kernel's word for it, and one process speaks for a worker. */
  | {
      readonly type: 'hello';
      readonly worker: number;
      /** Heads of responses carry the tokens of their requests. */
      readonly marks: boolean;
      /** Requests may be handed over ahead of time: the pipe for their numbers is open. */
      readonly takes_ahead: boolean;
      /** `PROTOCOL` of the preload, by which the gateway notices one that does not fit it. */
      readonly protocol: string;
    }
  /** The main server listens: the worker takes requests. Once more: another server of the app has taken the role, and connections to the old one are given up. */
  | {
      readonly type: 'listening';
      readonly requested: ListenAddress;
      /** It is an HTTPS server, to which the gateway talks in clear. */
      readonly tls: boolean;
      /** Wait for a server on another port, which did not come at all; null where this one was meant. */
      readonly waited_ms: number | null;
      /** Servers of the app that might have been meant as well. */
      readonly others: readonly ListenAddress[];
    }
  /** The main server was closed: the worker gets nothing more. It is stopped when it holds nothing, and is replaced at once if it holds something, even if a server listens again. */
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
  /** Such a server was closed. */
  | {
      readonly type: 'aux-closed';
      /** Path of the unix socket where the worker takes its connections. */
      readonly socket: string;
    }
  /** Requests that the app has let go, with their CPU time. Frees a slot whose response broke; of a stream, an upgrade or a long poll, the slot. */
  | {
      readonly type: 'done';
      readonly requests: readonly RequestEnd[];
      /** Requests whose responses have ended and of which nothing else is told: their CPU time was not to be measured. */
      readonly ended?: readonly number[];
    }
  /** The app was not given request `id`, because it has not ended request `by`, whose last byte was read. Request `id` goes back to the queue. */
  | {
      readonly type: 'busy';
      readonly id: number;
      readonly by: number;
    }
  /** The app has connected to the gateway's own port, or that connection has closed. `port` is the connection's local one; its requests go before others. */
  | {
      readonly type: 'asks-itself';
      readonly port: number | null;
      /** Whether it has closed. */
      readonly closed: boolean;
    }
  /** Node's parser refused something and the app holds no request. Frees a slot whose response broke, as no `done` will come. */
  | {
      readonly type: 'idle';
    }
  /** A response was longer than it announced; what was over was cut. The log names the request. */
  | {
      readonly type: 'overlong';
      /** Its `X-Request-Id`. */
      readonly request: string;
      readonly method: string;
      readonly target: string;
      /** How many were over. */
      readonly bytes: number;
      /** Such responses before it of which no line told. */
      readonly more: number;
    }
  /** The app writes to connections itself, past its responses: from then on each connection of the worker carries one request. */
  | {
      readonly type: 'raw';
      /** What of it was dropped, as it could have been another's answer. */
      readonly dropped_bytes: number;
    }
  /** The app has an `onReset` hook, so with `while-waiting` it gets no second request while it holds one. */
  | {
      readonly type: 'resets';
    }
  /** The main thread is in a loop that lets others in (`@sluice/breathe`). For the next 120 ms, the worker may get one more of the requests that are queued. Each request that it is given counts up the byte in the file `$SLUICE_SOCKET.given`, which the loop reads. Every 50 ms of such a loop, and when that byte has changed. */
  | {
      readonly type: 'breathes';
    }
  /** The answer to a `look` of the gateway. */
  | {
      readonly type: 'look';
      /** All that the app holds waits. */
      readonly rests: boolean;
      /** Time that it has run by then, and a microsecond for each request that came or went. */
      readonly run_us: number;
      /** Time for which its event loop was active. */
      readonly active_us: number;
    }
  /** Every second, so that its absence says that the event loop does not turn. */
  | {
      readonly type: 'beat';
      readonly rss_bytes: number;
      readonly heap_used_bytes: number;
      /** Utilization of the event loop, from 0 to 1. */
      readonly elu: number;
      /** The longest time for which the event loop was blocked. */
      readonly loop_delay_ms_max: number;
      /** Requests that the app got beyond what it may hold. */
      readonly overlaps_total: number;
      readonly cpu_us_total: number;
      /** The collector's part of the CPU time in the latest windows in which requests shared the worker. */
      readonly gc_share?: number;
      /** The part of it that was no request's. */
      readonly lost_share?: number;
    }
  /** Memory in use, which bounds how many requests may wait in the worker. With each beat, and whenever the app holds a quarter more requests than when it was told last, 16 at least. */
  | {
      readonly type: 'memory';
      readonly heap_used_bytes: number;
      /** Limit of the heap, without its young generation. */
      readonly heap_bytes_max: number;
      readonly rss_bytes: number;
      /** The app has a listener of its own for SIGUSR1, which opens no inspector then. */
      readonly handles_sigusr1?: boolean;
    }
  /** The inspector is closed, as `close-inspector` has asked. */
  | {
      readonly type: 'inspector-closed';
    }
  /** Uninterrupted runs of the main thread: from the event loop's call into JavaScript until the callbacks, ticks and microtasks of that call are done. Since the worker serves; every second, and within 250 ms of a run above 1 s. */
  | {
      readonly type: 'runs';
      /** Runs by duration, in the buckets of `RUN_BOUNDS_US`; the last is for longer ones. */
      readonly counts: readonly number[];
      /** Time in the runs of each bucket. */
      readonly time_us: readonly number[];
      /** For how long was watched. */
      readonly observed_us: number;
      /** Pauses of the garbage collector. */
      readonly collections: number;
      /** Time in them. */
      readonly collected_us: number;
      /** Runs since the line before: those above 1 s, and the longest of those from 10 ms that were no request's. */
      readonly long: readonly LongRun[];
    }
  /** An exception that nothing caught. The process ends, unless the app handles 'uncaughtException'. */
  | {
      readonly type: 'threw';
      /** Its first line. */
      readonly text: string;
      /** The request that was served at that moment, where that is known. */
      readonly id?: number;
      readonly cpu_us_total: number;
    }
  /** The event loop turns, and all requests that have ended are reported. Four times a second. */
  | {
      readonly type: 'turn';
    }
  /** React renders of the process so far, and those of them that were left to react-dom, by why. */
  | {
      readonly type: 'react';
      readonly renders: number;
      readonly reasons: Readonly<Record<string, number>>;
    }
  /** The cache of `<Cached>` of `@sluice/react`: what it did so far, and what it holds. With a beat, where it has changed. */
  | {
      readonly type: 'component-cache';
      readonly hits: number;
      readonly misses: number;
      /** Entries that made room for others. */
      readonly evictions: number;
      readonly entries: number;
      /** About what the entries take in memory. */
      readonly bytes: number;
      /** What they may take. */
      readonly bytes_max: number;
    }
  /** The tables of the app's routers have grown or shrunk since the worker has served for a second. Once a second at most. */
  | {
      readonly type: 'routes-grown';
      /** Entries of all tables. */
      readonly size: number;
      /** How many of them are more than then. */
      readonly added: number;
      /** Those that have added most. */
      readonly places: readonly Adder[];
    }
  /** React is to be rendered by `@sluice/react` and is not. */
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
      /** The library finds the state of other processes: there is nothing to set. */
      readonly shared?: boolean;
    }
  /** The answer to `profile`, `heap` or `routes`: one of both. */
  | {
      readonly type: 'profiled';
      /** Counts what the gateway asks of this worker in the way of profiles. */
      readonly number: number;
      readonly taken?: ProfileRecord;
      readonly error?: string;
    }
  /** The request that was to be profiled is over, with what it took; `file` is empty where it took less than was said. */
  | {
      readonly type: 'tailed';
      readonly id: number;
      readonly file: string;
      /** Its size. */
      readonly file_bytes: number;
      /** CPU time of the process from its begin to its end. */
      readonly used_us: number;
      /** From its begin to its end. */
      readonly service_us: number;
      /** What the profile took of the worker before and after it. */
      readonly overhead_us: number;
    }
  /** Components and pages that were rendered since the line before, for `sluice status`, metrics and the dashboard. A second after the first of them. */
  | {
      readonly type: 'rendered';
      readonly components: readonly ComponentReport[];
      readonly settings: readonly SettingReport[];
      /** Labels of variants that pages carried. */
      readonly variants: readonly string[];
    }
  /** Use of routes and pages of `@sluice/graph` since the line before. A second after the first of it. */
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
  /** HTTP calls of the app to other hosts. A second after the first of them, and every second while one waits for its answer. */
  | {
      readonly type: 'called';
      readonly hosts: readonly CalledHost[];
    }
  /** A render of a component went over its CPU budget, or the first one after such renders did not. At once, as the worker may be replaced for it. */
  | {
      readonly type: 'overrun';
      /** With its version, where it has one. */
      readonly component: string;
      /** It went over its budget. */
      readonly over: boolean;
    }
  /** The app has a `'message'` listener, so SIGTERM waits a while. */
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
      /** Counts such lines, so that the answer names its own. */
      readonly serial: number;
      readonly purges: readonly PurgeTarget[];
    }
  /** The answer to `purge-parts`. */
  | {
      readonly type: 'parts-purged';
      /** Counts such lines, so that the answer names its own. */
      readonly serial: number;
    };

export type FromGateway =
  /** A `'message'` for the app, today only `"shutdown"`. It goes out before SIGTERM, which follows at once, or after half of `workers.stop_timeout_ms` if the app has said `hears-messages`. */
  | {
      readonly type: 'message';
      readonly message: unknown;
    }
  /** How much of a page the server renders, and where browsers report to. After `hello`, and within a second of a change. */
  | {
      readonly type: 'render';
      /** Shares of visitors from 0 to 1, by the entries of `render.server`; always one for `*`. */
      readonly server: Readonly<Record<string, number>>;
      /** Path that browsers report to. */
      readonly vitals: string;
    }
  /** Components whose latest renders, in all workers, went over their CPU budgets. After `hello`, and within a second of a change. */
  | {
      readonly type: 'overruns';
      /** Lines `overrun` of this worker that are in the counts. */
      readonly heard: number;
      /** By component: how many renders in a row, and how long ago the latest was. */
      readonly components: Readonly<Record<string, { readonly count: number; readonly ago_ms: number }>>;
    }
  /** Say whether all that the app holds waits. While requests are queued, elsewhere than on Linux. */
  | {
      readonly type: 'look';
    }
  /** Take a CPU profile for so long, and write it to this file. */
  | {
      readonly type: 'profile';
      /** Counts what the gateway asks of this worker in the way of profiles. */
      readonly number: number;
      readonly duration_ms: number;
      readonly file: string;
      /** Write beside it when which request ran, to `file` with `.requests` appended. */
      readonly requests: boolean;
    }
  /** Write to this file what the heap holds (`snapshot`, which blocks the worker meanwhile), or a sample of what the app allocates for so long. The sample is of what is left at the end (`sampling`), or of all (`allocations`). */
  | {
      readonly type: 'heap';
      /** Counts what the gateway asks of this worker in the way of profiles. */
      readonly number: number;
      readonly kind: HeapKind;
      readonly duration_ms: number;
      readonly file: string;
    }
  /** Write the tables of the app's routers to this file, with what is wrong with them. */
  | {
      readonly type: 'routes';
      /** Counts what the gateway asks of this worker in the way of profiles. */
      readonly number: number;
      readonly file: string;
    }
  /** The client that asked for the profile that is being taken has gone: end the profile, and write nothing. */
  | {
      readonly type: 'drop-profile';
    }
  /** Close the inspector that the gateway has opened with SIGUSR1, to see what fills the heap. */
  | {
      readonly type: 'close-inspector';
    }
  /** The purges that the `purge` of this number asked for are done. */
  | {
      readonly type: 'purged';
      /** Counts such lines, so that the answer names its own. */
      readonly serial: number;
      /** Variants of pages, of each of its purges. */
      readonly counts: readonly number[];
    }
  /** Purge the HTML of `<Cached>` with these tags, or all of it, so that no page is made of it. The next such line comes after the answer. */
  | {
      readonly type: 'purge-parts';
      /** Counts such lines, so that the answer names its own. */
      readonly serial: number;
      readonly tags: readonly string[];
      readonly all: boolean;
    };
