/**
 * Recording of a subtree's first render: its reads from around it, and its effects on the document beside its own HTML. What cannot be
 * compared or done again makes it fail: then its HTML is not used again.
 */
import { isProvidedSince, readSilently, type Provided, type Reads } from '../state/contexts.js';
import type { ContextLike } from '../facts/react.js';
import { INCOMPARABLE, isSame, snapshotOf, type Snapshot } from './snapshots.js';
import type { Effect, Part, Recording as Recorded, Render, Task } from '../state/render.js';

const NO_PARTS: readonly Part[] = [];

export class Recording implements Recorded, Reads {
  /** Recording around this one; null as well when a task of its own continues it. */
  parent: Recording | null;
  readonly contexts = new Map<ContextLike, Snapshot>();
  readonly effects: Effect[] = [];
  readonly tags = new Set<string>();
  usesIds = false;
  usesPromise = false;
  failed = false;
  expires_at_ms = Number.POSITIVE_INFINITY;
  /** True if its HTML may depend on promises: when it is used again, it does not wait for them. */
  readonly awaits: boolean;
  /** A task has gone on with it. */
  hasWaited = false;
  /** A recording within it was left where it had to wait, with all that it knew. */
  wasLeft = false;
  /** The task that all of it was left to. */
  later: Task | null = null;
  readonly #around: Provided | null;
  /** Values of the contexts: what was read may be changed in place while something is waited for. */
  readonly #values = new Map<ContextLike, unknown>();
  #parts: readonly Part[] = NO_PARTS;
  #partsCount = 0;
  #start = 0;

  /** Starts a recording: from here on `render` writes to one string, of which the subtree's HTML will be the end. */
  constructor(render: Render, awaits: boolean) {
    this.parent = render.recording as Recording | null;
    this.awaits = awaits;
    this.#around = render.contexts;
    this.#startAt(render);
  }

  #startAt(render: Render): void {
    this.#parts = render.parts;
    this.#partsCount = render.parts.length;
    this.#start = render.out.length;
  }

  /** Leaves the rest to a task, which may never come: what it was a part of is not held meanwhile. */
  leave(): void {
    this.parent = null;
    this.later = null;
    this.#parts = NO_PARTS;
  }

  /** Continues in a task. Reads until then count. */
  continueIn(render: Render): void {
    this.hasWaited = true;
    this.wasLeft = false;
    this.#startAt(render);
  }

  /** A context is read, or was when the HTML within was made. */
  read(context: ContextLike): void {
    if (this.contexts.has(context) || isProvidedSince(context, this.#around)) return;
    const value = readSilently(context);
    const snapshot = snapshotOf(value);
    // It may be changed in place, which nobody would notice.
    if (snapshot === INCOMPARABLE) this.failed = true;
    this.contexts.set(context, snapshot);
    if (this.awaits) this.#values.set(context, value);
  }

  /** Whether it has read the same, in a recording that `awaits`. */
  hasRead({ contexts }: Pick<Included, 'contexts'>): boolean {
    const isRead = ([context, value]: readonly [ContextLike, Snapshot]): boolean =>
      this.#values.has(context) && isSame(value, this.#values.get(context));
    return contexts.size === this.contexts.size && [...contexts].every(isRead);
  }

  /** The subtree's HTML; null when there is none that could stand elsewhere. */
  htmlOf(render: Render): string | null {
    const mayUse = (this.awaits || !this.usesPromise) && !this.failed && !render.aborted;
    const isOneString = render.parts === this.#parts && render.parts.length === this.#partsCount;
    if (!mayUse || !isOneString || (this.hasWaited && this.#hasChanged())) return null;
    return render.out.slice(this.#start);
  }

  #hasChanged(): boolean {
    return [...this.#values].some(([context, value]) => !isSame(this.contexts.get(context), value));
  }

  /** Nothing has been written yet. */
  isEmpty(render: Render): boolean {
    const isOneString = render.parts === this.#parts && render.parts.length === this.#partsCount;
    return isOneString && render.out.length === this.#start;
  }

  /** The task whose HTML will be all of the subtree's. */
  waitingFor(render: Render): Task | null {
    const isLast = render.out === '' && this.later?.segment === render.parts.at(-1);
    return this.awaits && isLast ? this.later : null;
  }

  /** Applies to this subtree what holds for HTML within it, new or used again. */
  include(inner: Included): void {
    for (const context of inner.contexts.keys()) this.read(context);
    for (const effect of inner.effects) this.effects.push(effect);
    for (const tag of inner.tags) this.tags.add(tag);
    this.usesIds ||= inner.usesIds;
    this.usesPromise ||= inner.usesPromise;
    this.expires_at_ms = Math.min(this.expires_at_ms, inner.expires_at_ms);
  }
}

/** HTML that is new, or used again. */
interface Included {
  readonly contexts: ReadonlyMap<ContextLike, Snapshot>;
  readonly effects: readonly Effect[];
  readonly tags: ReadonlySet<string>;
  readonly usesIds: boolean;
  readonly usesPromise: boolean;
  readonly expires_at_ms: number;
}
