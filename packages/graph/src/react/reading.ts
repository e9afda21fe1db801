/** Reads of components: what each shows, waits for or has failed with, by model and paths. It must not know React. */
import type { Json } from '../model/json.js';
import { ReadErrors } from '../model/errors.js';
import type { JsonEnvelope, Model } from '../model/model.js';
import { currentPage } from '../page/current.js';
import type { PathInput } from '../types.js';

/** Reads without a component that shows them, up to which none is dropped. */
const IDLE_MAX = 1_000;

/** Milliseconds after which a look at a failed read asks again, such as by a component that is shown another time. */
const FAILED_MS = 5_000;

/** State of a read: a component shows values, or throws: a promise while it waits, else an error. */
export type State =
  | { readonly is: 'there'; readonly json: Json | undefined }
  | { readonly is: 'waiting' | 'failed'; readonly thrown: unknown };

/** Milliseconds for which values that expired at once wait for the first component that shows them. */
const PASSING_MS = 5_000;

/** Read of one set of paths, for all components that ask for it. */
export class Reading {
  readonly paths: readonly PathInput[];
  readonly #model: Model;
  readonly #listeners = new Set<() => void>();
  #unsubscribe: (() => void) | undefined;
  /** Time until which `#passing` is shown without a component, milliseconds since 1970. */
  #passingUntil = 0;
  /** Number of changes that the model has told of, and of ends of requests. */
  #changes = 0;
  /** Values of the latest whole read, and the change that it was made after. */
  #shown: { readonly json: Json | undefined; readonly change: number } | undefined;
  #request: Promise<void> | undefined;
  #failure: { readonly error: unknown; readonly until_ms: number } | undefined;
  /** Values that came and expired at once: they are shown until something changes. */
  #passing: JsonEnvelope | undefined;

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
      if (this.#isOld()) this.#changes += 1;
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#unsubscribe?.();
      this.#unsubscribe = undefined;
      // Not the values themselves: a component of React's strict mode subscribes again at once.
      this.#passingUntil = 0;
    };
  };

  /** State now. Missing values are asked for, once; while `coming` is there, the component waits for it instead. */
  state(coming?: Promise<unknown>): State {
    if (this.#listeners.size === 0 && Date.now() >= this.#passingUntil) this.#passing = undefined;
    const { json, missing, errors } = this.#model.read(...this.paths);
    if (missing.length > 0) {
      if (this.#failure !== undefined && Date.now() < this.#failure.until_ms)
        return { is: 'failed', thrown: this.#failure.error };
      if (this.#request === undefined && this.#passing !== undefined)
        return { is: 'there', json: this.#passing.json };
      return { is: 'waiting', thrown: coming ?? this.#ask() };
    }
    this.#failure = undefined;
    if (errors.length > 0) return { is: 'failed', thrown: new ReadErrors(errors, json) };
    // The same object while nothing has changed: components compare what they get.
    // Without a subscription nobody tells of changes.
    if (this.#shown?.change !== this.#changes || this.#unsubscribe === undefined)
      this.#shown = { json, change: this.#changes };
    return { is: 'there', json: this.#shown.json };
  }

  /** Forgets a failed request and errors of the graph, so that the next look asks again. */
  retry(): void {
    if (this.#failure !== undefined) {
      this.#failure = undefined;
      this.#change();
    }
    const { errors } = this.#model.read(...this.paths);
    this.#model.invalidate(...errors.map(({ path }) => path));
  }

  /** Whether the model has other values than those that were shown. */
  #isOld(): boolean {
    if (this.#shown === undefined || this.#passing !== undefined) return false;
    const { json, missing, errors } = this.#model.read(...this.paths);
    if (missing.length > 0 || errors.length > 0) return true;
    return JSON.stringify(json) !== JSON.stringify(this.#shown.json);
  }

  #ask(): Promise<void> {
    this.#request ??= this.#model
      .get(...this.paths)
      .then(
        (envelope) => {
          this.#passing = this.#misses() ? envelope : undefined;
          this.#passingUntil = Date.now() + PASSING_MS;
        },
        (error: unknown) => {
          // Errors of the graph are in the cache, where the next look finds them, unless they expired at once.
          if (!(error instanceof ReadErrors) || this.#misses())
            this.#failure = { error, until_ms: Date.now() + FAILED_MS };
        },
      )
      .then(() => {
        this.#request = undefined;
        this.#changes += 1;
      });
    return this.#request;
  }

  #misses(): boolean {
    return this.#model.read(...this.paths).missing.length > 0;
  }

  #change(): void {
    this.#changes += 1;
    this.#passing = undefined;
    for (const listener of Array.from(this.#listeners)) listener();
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
