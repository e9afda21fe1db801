/**
 * `<Cached>`: its HTML is kept on the server and used again (`cacheable.ts`). On the client, under stock react-dom and in development it is its
 * children. Knows nothing of the server: it is part of the client's bundle.
 */
import type { ReactNode } from 'react';

/** Statics by which a component says that its HTML may be used again. */
export interface Cacheable<Props = object> {
  /**
   * Names all that the HTML is made of and React does not see: props that matter, reads from modules, and the user of private content.
   * With null it is not cached this time. `key` is React's key of the element.
   */
  cacheKey?: (props: Props, key: string | null) => string | null | undefined;
  /** Milliseconds until the HTML is made anew; without it, it is kept until it is purged or its room is needed. */
  cacheTtl_ms?: number | ((props: Props) => number | undefined);
  /**
   * Keeps the HTML also when the component, or one below it, waits for promises. Who gets it does not wait: neither is the
   * component called, nor anything fetched. Without it, such HTML is made anew each time.
   */
  cacheAwaits?: boolean | ((props: Props) => boolean);
  /** Tags by which the HTML can be purged. They are also told to the collector of the page's tags. */
  cacheTags?: (props: Props) => readonly string[] | undefined;
}

export interface CachedProps {
  /**
   * Key as `cacheKey` of `Cacheable`, for all of the process. null and undefined: not cached. Where the property is not there at all,
   * React's `key` is taken. A key that begins with a dot is refused, as `Children.toArray` makes such keys of places.
   */
  cacheKey?: string | null | undefined;
  /** Lifetime as `cacheTtl_ms` of `Cacheable`. */
  ttl_ms?: number;
  tags?: readonly string[];
  /** Setting as `cacheAwaits` of `Cacheable`. Inside of the `<Suspense>`, not around it. */
  awaits?: boolean;
  children?: ReactNode;
}

/** Symbol at which the server's part of this package, if it is there, gathers the tags of what other renderers render. */
export const TAGS_STORAGE = Symbol.for('sluice.react.tags.1');

export interface TagsStorage<Storage extends { getStore(): { add(tag: string): unknown } | undefined }> {
  [TAGS_STORAGE]?: Storage;
}

export function Cached({ tags, children }: CachedProps): ReactNode {
  if (tags !== undefined) {
    const collected = (globalThis as TagsStorage<{ getStore(): { add(tag: string): unknown } | undefined }>)[
      TAGS_STORAGE
    ]?.getStore();
    for (const tag of tags) collected?.add(tag);
  }
  return children;
}

// A function's own statics are what the renderer asks for, here as in any component.
Cached.cacheKey = (props: CachedProps, key: string | null): string | null | undefined =>
  Object.hasOwn(props, 'cacheKey') ? props.cacheKey : key;
Cached.cacheTtl_ms = (props: CachedProps): number | undefined => own(props, 'ttl_ms');
Cached.cacheAwaits = (props: CachedProps): boolean => own(props, 'awaits') === true;
Cached.cacheTags = (props: CachedProps): readonly string[] | undefined => own(props, 'tags');

/** Returns an own property, and not what every object inherits. */
function own<Name extends keyof CachedProps>(props: CachedProps, name: Name): CachedProps[Name] | undefined {
  return Object.hasOwn(props, name) ? props[name] : undefined;
}
