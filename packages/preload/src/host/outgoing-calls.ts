/**
 * HTTP calls of the app to other hosts: their number, failures and times to the answer's head, by host. Node's `http` and `https`,
 * `fetch` and the package `undici` publish each call on diagnostics channels, so a request that calls nobody costs nothing. The time
 * of a call by `http` begins when its request has ended: an upload before that is not in it. It must not know paths, headers or
 * credentials.
 */
import { subscribe } from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Control } from '../control/control.js';
import type { CalledHost } from '../control/messages.js';
import { now_ms } from '../timers.js';
import { Telling, within } from './sums.js';

/** Maximum number of hosts in one report. The rest counts as `other`. */
const HOSTS_MAX = 50;
/** Maximum length of a reported host with its port, characters. That of DNS is 253. */
const HOST_CHARACTERS_MAX = 255;
/** Longest time that is counted exactly, microseconds. 17 minutes. */
const TIME_US_MAX = 2 ** 30 - 1;
const UNIX_SOCKET = 'unix socket';

/** Sums of the calls to one host since the last report, and its open calls in the order of their beginnings. */
interface Row {
  readonly host: string;
  calls: number;
  errors: number;
  failed: number;
  readonly times: Map<number, number>;
  readonly open: Set<Call>;
}

interface Call {
  readonly row: Row;
  readonly began_ms: number;
}

/** The part that is read of undici's own request. */
interface UndiciRequest {
  readonly origin?: unknown;
  readonly upgrade?: unknown;
  readonly method?: unknown;
}

interface Answered {
  readonly response?: { readonly statusCode?: number };
}

/** Counts the app's calls from now on. */
export function tellOutgoingCalls(control: Control): void {
  const calls = new OutgoingCalls(control);
  subscribe('undici:request:create', (message) => {
    const request: UndiciRequest | undefined = requestOf(message);
    // Of a call that becomes a connection, undici tells no more.
    if (request === undefined || Boolean(request.upgrade) || request.method === 'CONNECT') return;
    calls.begin(request, originHost(request.origin));
  });
  subscribe('undici:request:headers', (message) => {
    const request = requestOf(message);
    if (request !== undefined) calls.answered(request, (message as Answered).response?.statusCode);
  });
  subscribe('undici:request:error', (message) => {
    const request = requestOf(message);
    if (request !== undefined) calls.failed(request);
  });
  const closed = function (this: ClientRequest): void {
    calls.closed(this);
  };
  subscribe('http.client.request.start', (message) => {
    const request = requestOf(message) as ClientRequest | undefined;
    // What is no request of Node's lacks this.
    if (request?.destroyed === undefined) return;
    calls.begin(request, requestHost(request));
    // A request that was destroyed or answered before its end is published at that end, when its 'close' may have been.
    if (request.destroyed || answerOf(request) !== undefined) calls.closed(request);
    else request.once('close', closed);
  });
  subscribe('http.client.response.finish', (message) => {
    const request = requestOf(message);
    if (request !== undefined) calls.answered(request, (message as Answered).response?.statusCode);
  });
}

export class OutgoingCalls {
  readonly #control: Control;
  readonly #telling = new Telling(() => this.#tell());
  readonly #rows = new Map<string, Row>();
  readonly #calls = new WeakMap<object, Call>();
  /** Whether the last report had open calls, of which the gateway is to hear the end. */
  #hasToldOpen = false;

  constructor(control: Control) {
    this.#control = control;
  }

  begin(request: object, host: string): void {
    const row = within(this.#rows, host, HOSTS_MAX, HOST_CHARACTERS_MAX, newRow);
    row.calls += 1;
    const call: Call = { row, began_ms: now_ms() };
    row.open.add(call);
    this.#calls.set(request, call);
    this.#telling.soon();
  }

  /** The head of the answer is there. Of a call that has one already, or is unknown, it changes nothing. */
  answered(request: object, status: number | undefined): void {
    const call = this.#take(request);
    if (call === undefined) return;
    const { times } = call.row;
    const time_us = rounded(Math.min((now_ms() - call.began_ms) * 1000, TIME_US_MAX));
    times.set(time_us, (times.get(time_us) ?? 0) + 1);
    if (status !== undefined && status >= 500) call.row.failed += 1;
  }

  /** The call has ended without an answer: refused, reset, timed out or aborted. */
  failed(request: object): void {
    const call = this.#take(request);
    if (call !== undefined) call.row.errors += 1;
  }

  /** Node has closed a request. An upgrade has an answer that no channel tells of. */
  closed(request: ClientRequest): void {
    const answer = answerOf(request);
    if (answer === undefined) this.failed(request);
    else this.answered(request, answer.statusCode);
  }

  #take(request: object): Call | undefined {
    const call = this.#calls.get(request);
    if (call === undefined) return undefined;
    this.#calls.delete(request);
    call.row.open.delete(call);
    this.#telling.soon();
    return call;
  }

  #tell(): void {
    const hosts: CalledHost[] = [];
    let hasOpen = false;
    for (const [name, row] of this.#rows) {
      hosts.push(reportOf(row));
      [row.calls, row.errors, row.failed] = [0, 0, 0];
      row.times.clear();
      if (row.open.size === 0) this.#rows.delete(name);
      else hasOpen = true;
    }
    if (hosts.length > 0 || this.#hasToldOpen) this.#control.send({ type: 'called', hosts });
    this.#hasToldOpen = hasOpen;
    // The gateway is to see for how long they wait.
    if (hasOpen) this.#telling.soon();
  }
}

function newRow(host: string): Row {
  return { host, calls: 0, errors: 0, failed: 0, times: new Map(), open: new Set() };
}

function reportOf({ host, calls, errors, failed, times, open }: Row): CalledHost {
  const [oldest] = open;
  const oldest_us = oldest === undefined ? 0 : Math.round((now_ms() - oldest.began_ms) * 1000);
  const of = { host, calls, errors, failed, waiting: open.size, oldest_us };
  return times.size === 0 ? of : { ...of, times_us: [...times.keys()], counts: [...times.values()] };
}

/** A time with its five leading bits, so that a report has few different ones; within 3 % of the truth. */
function rounded(time_us: number): number {
  const whole = Math.round(time_us);
  const shift = Math.max(0, 27 - Math.clz32(whole));
  return (whole >> shift) << shift;
}

/** Anybody may publish on a channel: undefined for what has another form. */
function requestOf(message: unknown): object | undefined {
  const { request } = Object(message) as { readonly request?: unknown };
  return typeof request === 'object' && request !== null ? request : undefined;
}

function answerOf(request: ClientRequest): IncomingMessage | undefined {
  return (request as { res?: IncomingMessage | null }).res ?? undefined;
}

/** Host and port of an origin, without what stands before and after them. */
function originHost(origin: unknown): string {
  const text = origin instanceof URL ? origin.origin : typeof origin === 'string' ? origin : '';
  return withoutUser(text.slice(text.indexOf('//') + 2).split('/', 1)[0] ?? '');
}

/** Host and port of a request. The header has the port, unless the app wrote another host there. */
function requestHost(request: ClientRequest): string {
  if ((request as { socketPath?: string }).socketPath) return UNIX_SOCKET;
  const { host } = request;
  const header = request.getHeader('host');
  const isOwn = typeof header === 'string' && (header.startsWith(host) || header.startsWith(`[${host}`));
  return withoutUser(isOwn ? header : host);
}

function withoutUser(host: string): string {
  return host.slice(host.lastIndexOf('@') + 1).toLowerCase();
}
