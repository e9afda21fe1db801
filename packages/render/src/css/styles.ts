/**
 * Styles of pages: one file for the set of components on a page, under a URL that the set alone gives. A render only
 * computes the URL; the file is made beside it or when it is asked for. It must not know pages or HTTP.
 */
import path from 'node:path';
import type { Targets } from 'lightningcss';
import type { Component } from '../component.js';
import type { Registry } from '../registry/registry.js';
import { HtmlCache } from '../tasks/html-cache.js';
import { messageOf } from '../thrown.js';
import { compileSet } from './compile.js';
import { StyleFiles } from './files.js';
import { KeptSets } from './kept.js';
import { contentOf, idOf, readKey, SET_MAX, writeKey } from './key.js';
import { derivedSecret, Order, referenceOf } from './order.js';

export interface StylesOptions {
  /** The project's folder, absolute. Paths of styles are below it, and names of CSS Modules are made from them. */
  readonly root?: string;
  /** Files that every page has, before those of components. */
  readonly base?: readonly string[];
  /** Start of the URLs; default `/_css/`. */
  readonly path?: string;
  /** Styles of up to so many bytes are put into the page, 0 for never; default 4,096. */
  readonly inlineBytesMax?: number;
  /** Folder that outlives a deploy, for compiled styles and the secret of URLs. */
  readonly keep?: string;
  /** Secret of URLs, the same on every machine. Default: that of `keep`, else derived from the components' names. */
  readonly secret?: string;
  /** Browsers that styles are lowered for, as lightningcss has them. */
  readonly targets?: Targets;
  readonly assetUrl?: (file: string) => string;
  /** Files by component, in place of its settings': `css` of the build's `sluice-assets.json`. */
  readonly filesOf?: (component: Component) => readonly string[] | undefined;
  /** Called with files that cannot be read or compiled, and with what is wrong in those that can. */
  readonly onWarning?: (message: string) => void;
}

/** Styles of one page. */
export interface PageStyles {
  readonly href: string;
  /** The styles themselves, where they are small and compiled. */
  readonly inline: string | undefined;
}

export interface ServedStyles {
  readonly css: string;
  /** True if they are what the URL was made for. Else they are today's of the same components, after a deploy. */
  readonly isExact: boolean;
}

interface StyleSet {
  readonly key: string;
  readonly files: readonly string[];
}

const PATH = '/_css/';
const INLINE_BYTES_MAX = 4_096;
/** Bounds sets whose keys are remembered. */
const SETS_MAX = 2_000;
const COMPILED_BYTES_MAX = 32 * 1024 * 1024;
/** Bounds sets that wait to be compiled ahead of their first request. */
const AHEAD_MAX = 100;
/** No page can hold it: HTML ends a style where this begins. */
const END_OF_STYLE = /<\/style/i;

export class Styles {
  readonly #options: StylesOptions;
  readonly #files: StyleFiles;
  readonly #kept: KeptSets | undefined;
  readonly #order: Order;
  /** Components whose files are there; false for those whose files could not be had. */
  readonly #prepared = new WeakMap<Component, readonly string[]>();
  readonly #sets = new Map<string, StyleSet | undefined>();
  readonly #compiled = new HtmlCache(COMPILED_BYTES_MAX);
  readonly #compiling = new Map<string, Promise<string>>();
  readonly #ahead: StyleSet[] = [];
  #isAhead = false;
  #base: Promise<readonly string[]> | undefined;
  #baseFiles: readonly string[] = [];
  #secret: string | undefined;

  /** Throws where `keep` cannot be made. */
  constructor(registry: Registry, options: StylesOptions = {}) {
    this.#options = options;
    const { root = process.cwd(), keep, assetUrl } = options;
    this.#files = new StyleFiles({ root, ...(assetUrl === undefined ? {} : { assetUrl }) });
    this.#kept = keep === undefined ? undefined : new KeptSets(path.resolve(root, keep));
    this.#order = new Order(registry);
  }

  get path(): string {
    return this.#options.path ?? PATH;
  }

  /** Reads the files of components that were loaded since the last call; undefined if all are there. */
  prepare(components: Iterable<Component>): Promise<unknown> | undefined {
    const missing = [...components].filter((component) => !this.#prepared.has(component));
    if (this.#base !== undefined && missing.length === 0) return undefined;
    this.#base ??= this.#usable(this.#options.base ?? []).then((files) => (this.#baseFiles = files));
    return Promise.all([
      this.#base,
      ...missing.map(async (component) => {
        const files = this.#options.filesOf?.(component) ?? component.settings.css ?? [];
        this.#prepared.set(component, await this.#usable(files));
      }),
    ]);
  }

  /** The styles of a page with these components, which `prepare` has seen; undefined where there are none. */
  of(components: Iterable<Component>): PageStyles | undefined {
    const set = this.#setOf(components);
    if (set === undefined) return undefined;
    const href = `${this.path}${set.key}.css`;
    const limit = this.#options.inlineBytesMax ?? INLINE_BYTES_MAX;
    const css = this.#compiled.get(set.key, 0);
    if (css === undefined) this.#compileAhead(set);
    const isInline = css !== undefined && Buffer.byteLength(css) <= limit && !END_OF_STYLE.test(css);
    return { href, inline: isInline ? css : undefined };
  }

  /** Returns the styles under the URL with this key; undefined if this app has never made it. */
  async serve(key: string): Promise<ServedStyles | undefined> {
    const read = readKey(key, this.#keysSecret());
    if (read === undefined) return undefined;
    const css = this.#compiled.get(key, 0) ?? (await this.#kept?.get(key));
    if (css !== undefined) return { css, isExact: true };
    const components = await this.#order.find(read.ids);
    await this.prepare(components);
    const set = this.#setOf(components);
    if (set === undefined) return { css: '', isExact: false };
    return { css: await this.#compile(set), isExact: set.key === key };
  }

  #setOf(components: Iterable<Component>): StyleSet | undefined {
    const styled = [...new Set(components)].filter(
      (component) => (this.#prepared.get(component)?.length ?? 0) > 0,
    );
    if (styled.length > SET_MAX) styled.length = SET_MAX;
    if (styled.length === 0 && this.#baseFiles.length === 0) return undefined;
    const ordered = this.#order.sort(styled);
    const text = ordered.map(referenceOf).join('\n');
    const known = this.#sets.get(text);
    if (known !== undefined) return known;
    const files = [
      ...new Set([
        ...this.#baseFiles,
        ...ordered.flatMap((component) => this.#prepared.get(component) ?? []),
      ]),
    ];
    const ids = [...new Set(ordered.map((component) => idOf(referenceOf(component))))].sort((a, b) => a - b);
    const content = contentOf(this.#files.closure(files).map(({ hash }) => hash));
    const set = { key: writeKey({ ids, content }, this.#keysSecret()), files };
    if (this.#sets.size >= SETS_MAX) this.#sets.clear();
    this.#sets.set(text, set);
    return set;
  }

  /** One after the other and beside the renders, so that the next page can have them inline and a deploy finds them kept. */
  #compileAhead(set: StyleSet): void {
    const isWaiting = this.#compiling.has(set.key) || this.#ahead.some(({ key }) => key === set.key);
    if (isWaiting || this.#ahead.length >= AHEAD_MAX) return;
    this.#ahead.push(set);
    if (!this.#isAhead) void this.#runAhead();
  }

  async #runAhead(): Promise<void> {
    this.#isAhead = true;
    for (let set = this.#ahead.shift(); set !== undefined; set = this.#ahead.shift()) {
      await this.#compile(set).catch((error: unknown) => this.#warn(error));
    }
    this.#isAhead = false;
  }

  async #compile(set: StyleSet): Promise<string> {
    let compiling = this.#compiling.get(set.key);
    if (compiling === undefined) {
      const { root = process.cwd(), targets } = this.#options;
      compiling = compileSet(set.files, (file) => this.#files.get(file), root, targets);
      this.#compiling.set(set.key, compiling);
      void compiling.then(
        async (css) => this.#keep(set.key, css),
        () => this.#compiling.delete(set.key),
      );
    }
    return compiling;
  }

  async #keep(key: string, css: string): Promise<void> {
    this.#compiled.set(key, css, Number.POSITIVE_INFINITY);
    this.#compiling.delete(key);
    await this.#kept?.set(key, css).catch((error: unknown) => this.#warn(error));
  }

  /** Absolute paths of those that can be used. A page without one file is better than none. */
  async #usable(files: readonly string[]): Promise<readonly string[]> {
    const usable = await Promise.all(
      files.map(async (file) => {
        const absolute = path.resolve(this.#files.root, file);
        try {
          await this.#files.load(absolute);
          this.#files.get(absolute)?.warnings.forEach((warning) => this.#options.onWarning?.(warning));
          return [absolute];
        } catch (error) {
          this.#warn(error);
          return [];
        }
      }),
    );
    return usable.flat();
  }

  #keysSecret(): string {
    this.#secret ??= this.#options.secret ?? this.#kept?.secret ?? derivedSecret(this.#order.names());
    return this.#secret;
  }

  #warn(error: unknown): void {
    this.#options.onWarning?.(messageOf(error));
  }
}

export function createStyles(registry: Registry, options: StylesOptions = {}): Styles {
  return new Styles(registry, options);
}
