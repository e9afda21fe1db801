/** Reads of components: what each shows, waits for or has failed with, by model and paths. It must not know React. */
import type { Json } from '../model/json.js';
import { ReadErrors } from '../model/errors.js';
import type { Model } from '../model/model.js';
import { currentPage } from '../page/current.js';
import type { PathInput } from '../types.js';

/** Reads without a component that shows them, up to which none is dropped. */
const IDLE_MAX = 1_000;

/**
 * Milliseconds after which a look at a failed read asks again, such as by a component that is shown another time. Values that expired at
 * once wait as long for the first component that shows them.
 */
const ENDED_MS = 5_000;

/** State of a read: a component shows values, or throws: a promise while it waits, else an error. */
export type State =
  | { readonly is: 'there'; readonly json: Json | undefined }
  | { readonly is: 'waiting' | 'failed'; readonly thrown: unknown };

/** Read of one set of paths, for all components that ask for it. */
export class Reading {
  readonly paths: readonly PathInput[];
  readonly #model: Model;
  readonly #listeners = new Set<() => void>();
  #unsubscribe: (() => void) | undefined;
  /** Number of changes that the model has told of, and of ends of requests. */
  #changes = 0;
  /** Values of the latest whole read, and the change that it was made after. */
  #shown: { readonly json: Json | undefined; readonly change: number } | undefined;
  #request: Promise<void> | undefined;
  /** Result of the latest request that the model does not hold: a failure, or values that expired at once, until something changes. */
  #ended: State | undefined;
  /** Time until which `#ended` is shown, for values without a component that shows them, milliseconds since 1970. */
  #until_ms = 0;
  /** Invalidations of the model before the latest request. */
  #invalidations = 0;

  constructor(model: Model, paths: readonly PathInput[]) {
    this.#model = model;
    this.paths = paths;
  }

  get isIdle(): boolean {
    return this.#listeners.size === 0 && this.#request === undefined;
  }

  /** Number that grows when a component has to look again. */
  readonly version = (): number => this.#changes;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    if (this.#unsubscribe === undefined) {
      this.#unsubscribe = this.#model.subscribe(this.paths, () => this.#change());
      // React compares versions after it has subscribed: a change since the render is seen then.
      if (this.#isOld()) this.#change();
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#unsubscribe?.();
      this.#unsubscribe = undefined;
      // Not the values themselves: a component of React's strict mode subscribes again at once.
      if (this.#ended?.is === 'there') this.#until_ms = 0;
    };
  };

  /** State now. Missing values are asked for, once; while `coming` is there, the component waits for it instead. */
  state(coming?: Promise<unknown>): State {
    const { json, missing, errors } = this.#model.read(...this.paths);
    if (missing.length > 0) {
      const isShown = this.#ended?.is === 'there' && this.#listeners.size > 0;
      if (this.#ended !== undefined && (isShown || Date.now() < this.#until_ms)) return this.#ended;
      return { is: 'waiting', thrown: coming ?? this.#ask() };
    }
    this.#ended = undefined;
    if (errors.length > 0) return { is: 'failed', thrown: new ReadErrors(errors, json) };
    // The same object while nothing has changed: components compare what they get.
    // Without a subscription nobody tells of changes.
    if (this.#shown?.change !== this.#changes || this.#unsubscribe === undefined)
      this.#shown = { json, change: this.#changes };
    return { is: 'there', json: this.#shown.json };
  }

  /** Forgets a failed request and errors of the graph, so that the next look asks again. */
  retry(): void {
    if (this.#ended?.is === 'failed') {
      this.#ended = undefined;
      this.#change();
    }
    const { errors } = this.#model.read(...this.paths);
    this.#model.invalidate(...errors.map(({ path }) => path));
  }

  /** Whether the model has other values than those that were shown. */
  #isOld(): boolean {
    if (this.#ended?.is === 'there') return !this.#isPassing();
    if (this.#shown === undefined) return false;
    const { json, missing, errors } = this.#model.read(...this.paths);
    return missing.length + errors.length > 0 || JSON.stringify(json) !== JSON.stringify(this.#shown.json);
  }

  #ask(): Promise<void> {
    if (this.#request !== undefined) return this.#request;
    this.#invalidations = this.#model.getInvalidations();
    this.#ended = undefined;
    this.#request = this.#model
      .get(...this.paths)
      .then(
        (envelope): State | undefined =>
          this.#isPassing() ? { is: 'there', json: envelope?.json } : undefined,
        // Errors of the graph are in the cache, where the next look finds them, unless they expired at once.
        (error: unknown): State | undefined =>
          !(error instanceof ReadErrors) || this.#isPassing() ? { is: 'failed', thrown: error } : undefined,
      )
      .then((ended) => {
        this.#request = undefined;
        this.#ended = ended;
        this.#until_ms = Date.now() + ENDED_MS;
        this.#changes += 1;
      });
    return this.#request;
  }

  /** Whether what the latest request brought is not there because it expired, and not because of an invalidation. */
  #isPassing(): boolean {
    return (
      this.#invalidations === this.#model.getInvalidations() &&
      this.#model.read(...this.paths).missing.length > 0
    );
  }

  #change(): void {
    this.#changes += 1;
    if (this.#ended?.is === 'there') this.#ended = undefined;
    // oxlint-disable-next-line unicorn/no-useless-spread -- A listener may come and go meanwhile.
    for (const listener of [...this.#listeners]) listener();
  }
}

/** Readings of one model. */
export class Readings {
  readonly #model: Model;
  readonly #byText = new Map<string, Reading>();
  constructor(model: Model) {
    this.#model = model;
  }

  of(paths: readonly PathInput[]): Reading {
    const text = JSON.stringify(paths);
    let reading = this.#byText.get(text);
    if (reading === undefined) {
      if (this.#byText.size >= IDLE_MAX) this.#dropIdle();
      reading = new Reading(this.#model, paths);
      this.#byText.set(text, reading);
      currentPage()?.noteRead?.(this.#model, paths);
    }
    return reading;
  }

  retry(): void {
    for (const reading of this.#byText.values()) reading.retry();
  }

  #dropIdle(): void {
    for (const [text, reading] of this.#byText) if (reading.isIdle) this.#byText.delete(text);
  }
}

const all = new WeakMap<Model, Readings>();

/** Readings of a model: the same each time. */
export function readingsOf(model: Model): Readings {
  let readings = all.get(model);
  if (readings === undefined) {
    readings = new Readings(model);
    all.set(model, readings);
  }
  return readings;
}
