/** Functions that give the data for many arguments at once, and the calls that a page makes of them. It must not know trees. */
import type { IncomingMessage } from 'node:http';
import { Abort } from '../abort.js';
import { toError } from '../thrown.js';
import { AskContext } from './contexts.js';
import type { SourceContext } from './sources.js';
import { SourceFailure } from './upstream.js';

/** Values in the order of the arguments; an `Error` in place of a value fails that one alone. */
export type BatchFunction = (args: readonly unknown[], context: SourceContext) => unknown;

export interface BatchOptions {
  /** Maximum arguments of one call; default: all that a page asks for at once. */
  readonly max?: number;
}

/** A function that is called once for all that a page asks of it at the same time. */
export class Batched {
  readonly load: BatchFunction;
  readonly max: number;

  constructor(load: BatchFunction, { max = Number.POSITIVE_INFINITY }: BatchOptions = {}) {
    if (!(max >= 1)) throw new RangeError(`The most arguments of a call are a number from 1, not ${max}`);
    this.load = load;
    this.max = max;
  }
}

/**
 * Makes a source of a function that takes a list of arguments and returns, or resolves with, a list of as many values. Throws a
 * `RangeError` where `max` is below 1.
 */
export function batched(load: BatchFunction, options?: BatchOptions): Batched {
  return new Batched(load, options);
}

interface Call {
  readonly args: unknown;
  readonly stop: Abort;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Calls of one page that wait for the end of this turn. */
export class Batches {
  readonly #request: IncomingMessage | undefined;
  readonly #waiting = new Map<Batched, Call[]>();

  constructor(request: IncomingMessage | undefined) {
    this.#request = request;
  }

  /** Asks for the value of one argument. `stop` is aborted when nobody waits for it any more. */
  ask(source: Batched, args: unknown, stop: Abort): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const call = { args, stop, resolve, reject };
      const waiting = this.#waiting.get(source);
      if (waiting !== undefined) waiting.push(call);
      else {
        this.#waiting.set(source, [call]);
        // After the promises that are settled now: other sources may be what they wait for.
        queueMicrotask(() => process.nextTick(() => this.#send(source)));
      }
    });
  }

  #send(source: Batched): void {
    const calls = this.#waiting.get(source) ?? [];
    this.#waiting.delete(source);
    for (let from = 0; from < calls.length; from += source.max)
      void send(source, calls.slice(from, from + source.max), this.#request);
  }
}

async function send(
  { load }: Batched,
  calls: readonly Call[],
  request: IncomingMessage | undefined,
): Promise<void> {
  const stop = stopOfAll(calls);
  const context: SourceContext = new AskContext(request, stop);
  try {
    const values: unknown = await load(
      calls.map(({ args }) => args),
      context,
    );
    if (!Array.isArray(values)) throw new SourceFailure('returned no list of values');
    if (values.length !== calls.length)
      throw new SourceFailure(`returned ${values.length} values for ${calls.length} arguments`);
    for (const [index, { resolve, reject }] of calls.entries()) {
      const value: unknown = values[index];
      if (value instanceof Error) reject(value);
      else resolve(value);
    }
  } catch (thrown) {
    const error = toError(thrown);
    for (const { reject } of calls) reject(error);
  }
}

/** Aborted when nobody waits for any of them. */
function stopOfAll(calls: readonly Call[]): Abort {
  const all = new Abort();
  let waiting = calls.length;
  for (const { stop } of calls) {
    const leave = (): void => {
      waiting -= 1;
      if (waiting === 0) all.abort(stop.reason);
    };
    if (stop.aborted) leave();
    else stop.addEventListener('abort', leave);
  }
  return all;
}
