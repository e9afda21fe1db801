/**
 * The app's hooks: kept in the order in which they came, run one after the other, awaited only where one returns a
 * promise. Nothing here is called while no hook is registered. It must not know when a request begins or ends.
 */
import type { FinishedRequest, Hook, HookedRequest, Unsubscribe } from '../api.js';
import type { Registry } from './registry.js';
import { later, noLater } from '../timers.js';

/** Maximum number of hooks of each kind. */
const HOOKS_MAX = 100;
/** Maximum total time of the hooks after one request. */
export const SETTLE_MS_MAX = 5_000;

interface Entry<T extends HookedRequest> {
  readonly hook: Hook<T>;
}

/** Hooks of one kind. The list is replaced and never changed, so that a hook may unsubscribe while it runs. */
class Kind<T extends HookedRequest> {
  readonly name: string;
  entries: readonly Entry<T>[] = [];

  constructor(name: string) {
    this.name = name;
  }

  add(hook: Hook<T>): Unsubscribe {
    if (typeof hook !== 'function') throw new TypeError(`${this.name} needs a function`);
    // Always a mistake, such as one more hook with each request, which would cost every later request a little more.
    if (this.entries.length >= HOOKS_MAX) throw new RangeError(`${this.name} takes ${HOOKS_MAX} hooks`);
    const entry = { hook };
    this.entries = [...this.entries, entry];
    return () => {
      this.entries = this.entries.filter((other) => other !== entry);
    };
  }
}

export class Hooks implements Registry {
  readonly #onFirstReset: () => void;
  /** The app puts global state back between requests, or did. */
  hasHadReset = false;
  readonly #before = new Kind<HookedRequest>('beforeRequest');
  readonly #after = new Kind<FinishedRequest>('afterRequest');
  readonly #reset = new Kind<HookedRequest>('onReset');

  /** `onFirstReset`: the app puts global state back between requests, so no two may share it. */
  constructor(onFirstReset: () => void) {
    this.#onFirstReset = onFirstReset;
  }

  addBefore(hook: Hook): Unsubscribe {
    return this.#before.add(hook);
  }

  addAfter(hook: Hook<FinishedRequest>): Unsubscribe {
    return this.#after.add(hook);
  }

  addReset(hook: Hook): Unsubscribe {
    const unsubscribe = this.#reset.add(hook);
    const isFirst = !this.hasHadReset;
    this.hasHadReset = true;
    if (isFirst) this.#onFirstReset();
    return unsubscribe;
  }

  get hasBefore(): boolean {
    return this.#before.entries.length > 0;
  }

  /** Whether anything runs between two requests. */
  get hasAfter(): boolean {
    return this.#after.entries.length > 0 || this.#reset.entries.length > 0;
  }

  /** Undefined when all has run already. Throws, or rejects, with the first error; later hooks do not run then. */
  before(request: HookedRequest): Promise<void> | undefined {
    return inTurn(this.#before.entries, 0, request, (error) => {
      throw error;
    });
  }

  /** Undefined when all has run already. Never rejects, and settles within `SETTLE_MS_MAX`. */
  after({ cpu_ms, duration_ms, outcome, ...request }: FinishedRequest): Promise<void> | undefined {
    const reset = (): Promise<void> | undefined =>
      inTurn(this.#reset.entries, 0, request, (error) => warn(this.#reset.name, error));
    const finished = { ...request, cpu_ms, duration_ms, outcome };
    const running = inTurn(this.#after.entries, 0, finished, (error) => warn(this.#after.name, error));
    const settling = running === undefined ? reset() : running.then(reset);
    return settling === undefined ? undefined : bounded(settling, request.id);
  }
}

/** Leaves the synchronous path at the first hook that returns a promise. */
function inTurn<T extends HookedRequest>(
  entries: readonly Entry<T>[],
  from: number,
  request: T,
  failed: (error: unknown) => void,
): Promise<void> | undefined {
  for (let at = from; at < entries.length; at += 1) {
    try {
      const returned: unknown = entries[at]?.hook(request);
      if (!isThenable(returned)) continue;
      return Promise.resolve(returned)
        .catch(failed)
        .then(() => inTurn(entries, at + 1, request, failed));
    } catch (error) {
      failed(error);
    }
  }
  return undefined;
}

function isThenable(value: unknown): value is PromiseLike<void> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

async function bounded(settling: Promise<void>, id: string): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = later(() => {
      report(`hooks after request ${id} took longer than ${SETTLE_MS_MAX} ms; the next request starts now.`);
      resolve();
    }, SETTLE_MS_MAX);
    timer.unref();
  });
  await Promise.race([settling, late]);
  noLater(timer);
}

/** Every error of a hook becomes one line, so that the log keeps it together. */
export function warn(hook: string, error: unknown): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  report(`a hook of ${hook} failed: ${text.replaceAll(/\s*\n\s*/g, ' | ')}`);
}

function report(text: string): void {
  process.stderr.write(`sluice: ${text}\n`);
}
