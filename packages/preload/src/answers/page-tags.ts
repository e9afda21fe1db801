/**
 * Tags of the parts that a page is made of: those of `<Cached>` of `@sluice/react`, by any of its renderers. The gateway keeps pages, and
 * purges them by these tags. They go with the head of the response, and those that come later, as of a stream, in its trailers. So the
 * gateway knows them all before it keeps the page, in spite of other connections.
 *
 * Whose part it is says the async context. If that was lost, or is that of a request which has left, the part counts for all pages that
 * are being made. A tag too many costs a page its place in the cache, one too few leaves an old page there.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { ServerResponse } from 'node:http';
import { type Gatherer, offerTagStorage, pathOf, within } from '#host/caches.js';
import type { Pages } from '../api.js';

/** Name of the field and the trailer. The gateway removes it. */
const FIELD = 'x-sluice-tags';
/** Maximum number of tags of one page. The gateway does not keep one with more. */
const TAGS_MAX = 1000;
/** Maximum length of a line of tags. Nor one with longer ones. */
const CHARACTERS_MAX = 16 * 1024;
/** Mark for the gateway: there are more than can be named, or more may come. */
const CUT = '*';
const MORE = '+';

const pageKey = Symbol('sluice.page');

interface Response extends ServerResponse {
  [pageKey]?: Page;
  /** Private to Node: the lines of the trailers. */
  _trailer?: unknown;
}

/** Owner of the gatherers of pages. */
interface Owner {
  /** Parts have been rendered in this process, so more of them may be. */
  readonly isUsed: boolean;
}

/** A response that is being made. */
class Page implements Gatherer {
  readonly owner: Owner;
  readonly tags = new Set<string>();
  /** Number of them that its head has named. */
  named: number | undefined;
  readonly url: string;
  isEnding = false;
  hasLeft = false;

  constructor(owner: Owner, url: string) {
    this.owner = owner;
    this.url = url;
  }

  add(tag: string): void {
    this.tags.add(tag);
  }

  paths(): readonly string[] | undefined {
    const path = pathOf(this.url);
    return path === undefined ? undefined : [path];
  }
}

/** Stand-in for an `AsyncLocalStorage` of tags, as `@sluice/react` makes one for itself elsewhere. */
export class PageTags implements Owner {
  readonly #context = new AsyncLocalStorage<Gatherer>();
  readonly #inside = new Set<Page>();
  readonly #purge: (pages: Pages) => Promise<number>;
  /** Contexts are worth their price then. */
  isUsed = false;

  constructor(purge: (pages: Pages) => Promise<number>) {
    this.#purge = purge;
    offerTagStorage({
      run: (tags, run) => this.#context.run(within(tags, this.#current()), run),
      getStore: () => this.#current(),
    });
  }

  /** Watches responses; called once, in the process that serves. */
  watch(prototype: ServerResponse): void {
    const { end } = prototype;
    const ends = (response: Response, page: Page): void => this.#end(response, page);
    const ending = function (this: Response, ...parts: unknown[]): unknown {
      const page = this[pageKey];
      if (page !== undefined && !page.isEnding) ends(this, page);
      return Reflect.apply(end, this, parts);
    };
    Object.assign(prototype, { end: ending });
  }

  /** The app makes this response from here on; `url` is what the gateway asked for. */
  enter(response: ServerResponse, url: string, make: () => void): void {
    const page = new Page(this, url);
    (response as Response)[pageKey] = page;
    this.#inside.add(page);
    response.once('close', () => {
      page.hasLeft = true;
      this.#inside.delete(page);
    });
    if (this.isUsed) this.#context.run(page, make);
    else make();
  }

  #current(): Gatherer | undefined {
    this.isUsed = true;
    const own = this.#context.getStore();
    if (own !== undefined && !(own instanceof Page && own.hasLeft)) return own;
    if (this.#inside.size === 0) return undefined;
    const pages = [...this.#inside];
    return {
      add: (tag) => pages.forEach((page) => page.add(tag)),
      paths: () => pathsOf(pages),
    };
  }

  #end(response: Response, page: Page): void {
    page.isEnding = true;
    const { named } = page;
    if (named === undefined || page.tags.size === named) return;
    const late = encoded([...page.tags].slice(named));
    if (response.chunkedEncoding && typeof response._trailer === 'string')
      response._trailer += `${FIELD}: ${late}\r\n`;
    // Such a response has no place for them, so it must not be kept.
    else void this.#purge({ url: page.url }).catch(() => {});
  }
}

/** Undefined where one of them is not known. */
function pathsOf(pages: readonly Page[]): readonly string[] | undefined {
  const paths = pages.map((page) => page.paths());
  return paths.includes(undefined) ? undefined : paths.flatMap((path) => path ?? []);
}

/** A line for the head of a response: the tags that are known by now. */
export function tagsLine(response: ServerResponse): string {
  const page = (response as Response)[pageKey];
  if (page === undefined) return '';
  page.named = page.tags.size;
  const named = page.named === 0 ? [] : [encoded([...page.tags])];
  if (page.owner.isUsed && !page.isEnding) named.push(MORE);
  return named.length === 0 ? '' : `${FIELD}: ${named.join()}\r\n`;
}

function encoded(tags: readonly string[]): string {
  if (tags.length > TAGS_MAX) return CUT;
  let text: string;
  try {
    text = tags.map((tag) => encodeURIComponent(tag).replaceAll('*', '%2A')).join();
  } catch {
    // Half of a character has no code.
    return CUT;
  }
  return text.length > CHARACTERS_MAX ? CUT : text;
}
