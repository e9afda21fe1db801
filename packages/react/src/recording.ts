/**
 * What a subtree reads from around it, and what it does to the document beside its own HTML, while it is rendered for the first time. What
 * cannot be compared or done again makes it fail: then its HTML is not used again.
 */
import { isProvidedSince, readSilently, type Provided, type Reads } from './contexts.js';
import type { ContextLike } from './react.js';
import { snapshotOf, type Snapshot } from './snapshots.js';
import type { Part, Render } from './work.js';

/** Done to the document when the HTML is used again, as it was when it was made. */
export interface Effect {
  readonly again: (render: Render) => void;
  /** About what it keeps in memory. */
  readonly bytes: number;
}

export class Recording implements Reads {
  readonly parent: Recording | null;
  readonly contexts = new Map<ContextLike, Snapshot>();
  readonly effects: Effect[] = [];
  readonly tags = new Set<string>();
  usesIds = false;
  failed = false;
  expires_at_ms = Number.POSITIVE_INFINITY;
  readonly #around: Provided | null;
  readonly #parts: readonly Part[];
  readonly #partsCount: number;
  readonly #start: number;

  /** From here on `render` writes to one string, of which the subtree's HTML will be the end. */
  constructor(render: Render) {
    this.parent = render.recording;
    this.#around = render.contexts;
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
    return this.failed || !isOneString || render.aborted ? null : render.out.slice(this.#start);
  }

  /** What holds for HTML within this subtree, new or used again, holds for this one. */
  include(inner: Included): void {
    for (const context of inner.contexts.keys()) this.read(context);
    for (const effect of inner.effects) this.effects.push(effect);
    for (const tag of inner.tags) this.tags.add(tag);
    this.usesIds ||= inner.usesIds;
    this.expires_at_ms = Math.min(this.expires_at_ms, inner.expires_at_ms);
  }
}

/** Of HTML that is new, or used again. */
interface Included {
  readonly contexts: ReadonlyMap<ContextLike, Snapshot>;
  readonly effects: readonly Effect[];
  readonly tags: ReadonlySet<string>;
  readonly usesIds: boolean;
  readonly expires_at_ms: number;
}
