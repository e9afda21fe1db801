/**
 * What a subtree reads from around it, and what it does to the document beside its own HTML, while it is rendered for the first time. What
 * cannot be compared or done again makes it fail: then its HTML is not used again.
 */
import { isProvidedSince, readSilently, type Provided, type Reads } from './contexts.js';
import type { ContextLike } from './react.js';
import { snapshotOf, type Snapshot } from './snapshots.js';
import type { Part, Render, Task } from './work.js';

/** Done to the document when the HTML is used again, as it was when it was made. */
export interface Effect {
  readonly again: (render: Render) => void;
  /** About what it keeps in memory. */
  readonly bytes: number;
}

export class Recording implements Reads {
  /** Null as well when a task of its own goes on with it. */
  parent: Recording | null;
  readonly contexts = new Map<ContextLike, Snapshot>();
  readonly effects: Effect[] = [];
  readonly tags = new Set<string>();
  usesIds = false;
  usesPromise = false;
  failed = false;
  expires_at_ms = Number.POSITIVE_INFINITY;
  /** Its HTML may depend on promises: when it is used again, it does not wait for them. */
  readonly awaits: boolean;
  /** The last task that something within it was left to. */
  later: Task | null = null;
  readonly #around: Provided | null;
  #parts: readonly Part[];
  #partsCount: number;
  #start: number;

  /** From here on `render` writes to one string, of which the subtree's HTML will be the end. */
  constructor(render: Render, awaits: boolean) {
    this.parent = render.recording;
    this.awaits = awaits;
    this.#around = render.contexts;
    this.#parts = render.parts;
    this.#partsCount = render.parts.length;
    this.#start = render.out.length;
  }

  /** As `constructor`, in the task that it had to be left to. What was read until then counts. */
  continueIn(render: Render): void {
    this.parent = null;
    this.later = null;
    this.#parts = render.parts;
    this.#partsCount = render.parts.length;
    this.#start = render.out.length;
  }

  /** A context is read, or was when the HTML within was made. */
  read(context: ContextLike): void {
    if (this.contexts.has(context) || isProvidedSince(context, this.#around)) return;
    this.contexts.set(context, snapshotOf(readSilently(context)));
  }

  /** The subtree's HTML; null when there is none that could stand elsewhere. */
  htmlOf(render: Render): string | null {
    const isOneString = render.parts === this.#parts && render.parts.length === this.#partsCount;
    const mayUse = this.awaits || !this.usesPromise;
    return this.failed || !mayUse || !isOneString || render.aborted ? null : render.out.slice(this.#start);
  }

  /** The task whose HTML will be all of the subtree's. */
  waitingFor(render: Render): Task | null {
    const isNextPart = render.parts === this.#parts && render.parts.length === this.#partsCount + 1;
    const isAll = isNextPart && this.#start === 0 && render.out === '';
    return this.awaits && isAll && this.later?.segment === render.parts.at(-1) ? this.later : null;
  }

  /** What holds for HTML within this subtree, new or used again, holds for this one. */
  include(inner: Included): void {
    for (const context of inner.contexts.keys()) this.read(context);
    for (const effect of inner.effects) this.effects.push(effect);
    for (const tag of inner.tags) this.tags.add(tag);
    this.usesIds ||= inner.usesIds;
    this.usesPromise ||= inner.usesPromise;
    this.expires_at_ms = Math.min(this.expires_at_ms, inner.expires_at_ms);
  }
}

/** Of HTML that is new, or used again. */
interface Included {
  readonly contexts: ReadonlyMap<ContextLike, Snapshot>;
  readonly effects: readonly Effect[];
  readonly tags: ReadonlySet<string>;
  readonly usesIds: boolean;
  readonly usesPromise: boolean;
  readonly expires_at_ms: number;
}
