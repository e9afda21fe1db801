/**
 * Requests whose client has left and which the app has not ended. Most apps end them soon, or compute on and end them
 * then. Many only stop: they clear a timer, or wait for what never comes. A response that nothing refers to any more can
 * be ended by nobody, so such a request is finished, and the garbage collector is what knows. It is asked for a
 * collection where the event loop idles beside an abandoned request. It must not know gates or gateways.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { later, now_ms as now } from '../timers.js';

/** Interval of looks while there is an abandoned request. */
const LOOK_MS = 50;
/** Time for which an idle loop is watched before the first collection; a busy one, which has something to do, has more. */
const IDLE_MS = 200;
const BUSY_MS = 2_000;
/** Maximum utilization in one check at which the event loop counts as idle. */
const IDLE_UTILIZATION_MAX = 0.5;
/** The time between two collections: doubled where one has shown a response to be in use, and never much of all time. */
const GAP_MS = 250;
/** Maximum pause between two collections for a request whose client left. */
const GAP_MS_MAX = 15_000;
const GAP_PER_COLLECTION = 4;
/** Maximum wait for a collection. */
const COLLECTION_MS_MAX = 10_000;

/** References to a response, beside the app's; all of them are dropped. */
export interface Abandonable {
  readonly request: IncomingMessage;
  readonly response: ServerResponse | undefined;
  readonly socket: Socket;
  readonly left: boolean;
}

interface Entry {
  readonly held: Abandonable;
  readonly response: WeakRef<ServerResponse>;
  readonly drop: () => void;
  readonly since_ms: number;
  due_ms: number;
  gap_ms: number;
}

const require = createRequire(import.meta.url);

// Taken before the app can replace it.
const utilizationSince = performance.eventLoopUtilization.bind(performance);

export class Abandoned {
  readonly #entries = new Set<Entry>();
  #isLooking = false;
  #isCollecting = false;
  #utilization = utilizationSince();
  #idleSince_ms = 0;
  #collectAfter_ms = 0;

  /** Calls `drop` once nobody can end the response any more, unless the request has left before. */
  watch(held: Abandonable, response: ServerResponse, drop: () => void): void {
    const since_ms = now();
    this.#entries.add({
      held,
      response: new WeakRef(response),
      drop,
      since_ms,
      due_ms: since_ms + IDLE_MS,
      gap_ms: GAP_MS,
    });
    release(held, response);
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#utilization = utilizationSince();
    this.#idleSince_ms = since_ms;
    this.#lookLater();
  }

  #lookLater(): void {
    later(() => this.#look(), LOOK_MS).unref();
  }

  #look(): void {
    for (const entry of this.#entries) if (entry.held.left) this.#entries.delete(entry);
    if (this.#entries.size === 0) {
      this.#isLooking = false;
      return;
    }
    this.#lookLater();
    const now_ms = now();
    const utilization = utilizationSince();
    const { utilization: share } = utilizationSince(utilization, this.#utilization);
    this.#utilization = utilization;
    if (share > IDLE_UTILIZATION_MAX) this.#idleSince_ms = now_ms;
    // Looking at a weak reference keeps what it refers to alive for this turn, so it is not done before a collection.
    if (this.#isDue(now_ms)) this.#collect();
    else if (!this.#isCollecting) this.#dropUnreachable();
  }

  #isDue(now_ms: number): boolean {
    if (this.#isCollecting || now_ms < this.#collectAfter_ms) return false;
    const isIdle = now_ms - this.#idleSince_ms >= IDLE_MS - LOOK_MS;
    for (const { since_ms, due_ms } of this.#entries) {
      if (due_ms <= now_ms && (isIdle || now_ms - since_ms >= BUSY_MS)) return true;
    }
    return false;
  }

  #collect(): void {
    this.#isCollecting = true;
    const began_ms = now();
    void collection().then(() => {
      this.#isCollecting = false;
      const now_ms = now();
      this.#collectAfter_ms = now_ms + Math.max(GAP_MS, (now_ms - began_ms) * GAP_PER_COLLECTION);
      for (const entry of this.#entries) {
        if (entry.due_ms > began_ms) continue;
        entry.due_ms = now_ms + entry.gap_ms;
        entry.gap_ms = Math.min(entry.gap_ms * 2, GAP_MS_MAX);
      }
      this.#dropUnreachable();
    });
  }

  #dropUnreachable(): void {
    for (const entry of this.#entries) {
      if (entry.held.left || entry.response.deref() !== undefined) continue;
      this.#entries.delete(entry);
      entry.drop();
    }
  }
}

/** The socket's last message is the response, and the request refers to the response; so all three are let go. */
function release(held: Abandonable, response: ServerResponse): void {
  const responseRef = new WeakRef(response);
  const requestRef = new WeakRef(held.request);
  const like = likenessOf(held.request);
  Object.defineProperties(held, {
    response: { get: () => responseRef.deref() },
    request: { get: () => requestRef.deref() ?? like() },
    socket: { value: closed },
  });
}

/** Socket that never brings another request. */
const closed = { destroyed: true, readableEnded: true, timeout: 0, end() {} } as unknown as Socket;

/**
 * Copy for hooks that run after the app has dropped the request: method, target and headers, without what refers to the
 * rest.
 */
function likenessOf({
  method,
  url,
  headers,
  rawHeaders,
  httpVersion,
}: IncomingMessage): () => IncomingMessage {
  return () => {
    const { IncomingMessage: Request } = require('node:http') as typeof import('node:http');
    const { Socket: Connection } = require('node:net') as typeof import('node:net');
    const like = new Request(new Connection());
    like.destroy();
    return Object.assign(like, { method, url, headers, rawHeaders, httpVersion });
  };
}

/**
 * Resolves when the whole heap has been collected. V8 does so for who measures the heap, most of it beside the event loop.
 * Where that is not to be had, the next collection comes when the heap has grown.
 */
function collection(): Promise<void> {
  return new Promise((resolve) => {
    const deadline = later(resolve, COLLECTION_MS_MAX).unref();
    const done = (): void => {
      clearTimeout(deadline);
      resolve();
    };
    measure().then(done, () => {});
  });
}

async function measure(): Promise<void> {
  const { measureMemory } = require('node:vm') as typeof import('node:vm');
  const warn = process.emitWarning;
  try {
    // That the API is experimental is nothing that the app's operator can do anything about.
    process.emitWarning = () => {};
    const measured = measureMemory({ mode: 'summary', execution: 'eager' });
    process.emitWarning = warn;
    await measured;
  } finally {
    if (process.emitWarning !== warn) process.emitWarning = warn;
  }
}
