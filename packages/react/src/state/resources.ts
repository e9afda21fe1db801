/**
 * Resources for the document's head: stylesheets, scripts, preloads, hoisted tags, the tags of the document itself, and which of these were
 * already asked for. Keys and order of the sets are react-dom's, since the bytes depend on them.
 */
import { addAttributes, refuseContent } from '../facts/attributes.js';
import { escapeHtml, toText } from '../facts/escape.js';
import { type HeaderHints, createHeaderHints } from '../facts/headers.js';
import type { Props } from '../facts/react.js';
import { profile } from '../facts/profile.js';

const hoists = profile.head !== 'in-place';

/** HTML that is written once: its writer (or the one that takes its place) empties it. */
export interface Resource {
  html: string;
}

export const SHEET_PENDING = 0;
export const SHEET_PRELOADED = 1;
export const SHEET_WRITTEN = 2;
export const SHEET_LATE = 3;

export interface Stylesheet {
  state: number;
  props: Props;
}

export interface StyleQueue {
  readonly precedence: string;
  /** Rules of each style, apart: half a character at the end of one does not become whole by what follows. */
  rules: Resource[];
  hrefs: string[];
  readonly sheets: Map<string, Stylesheet>;
}

export interface Hoistables {
  readonly styles: Set<StyleQueue>;
  readonly stylesheets: Set<Stylesheet>;
  suspenseyImages: boolean;
}

export interface Preamble {
  html: string | null;
  head: string | null;
  body: string | null;
  /** Tags of them that became the document's: HTML_PART, BODY_PART, HEAD_PART. */
  contribution: number;
}

export const HTML_PART = 1;
export const BODY_PART = 2;
export const HEAD_PART = 4;

/** `[crossOrigin, integrity]` of a preload, or none of both; null once the resource itself is there. */
export type Credentials = readonly unknown[] | null;
export const NO_CREDENTIALS: Credentials = [];

type Table = Record<string, Credentials>;

/** Resources that were asked for already. */
class Asked {
  readonly dns: Table = {};
  readonly connections: Record<string, Table> = { default: {}, anonymous: {}, credentials: {} };
  readonly images: Table = {};
  readonly styles: Table = {};
  readonly scripts: Table = {};
  readonly modules: Table = {};
  readonly others: Record<string, Table> = {};
  readonly otherModules: Record<string, Table> = {};
}

/** Contents of the head, each with its own kind. */
class Lists {
  readonly preconnects = new Set<Resource>();
  readonly fontPreloads = new Set<Resource>();
  readonly highImagePreloads = new Set<Resource>();
  readonly bootstrapPreloads = new Set<Resource>();
  readonly scripts = new Set<Resource>();
  readonly bulkPreloads = new Set<Resource>();
  readonly styles = new Map<string, StyleQueue>();
  /** Preloads that may still be promoted or overtaken by the resource itself. */
  readonly imagePreloads = new Map<string, Resource>();
  readonly stylePreloads = new Map<string, Resource>();
  readonly scriptPreloads = new Map<string, Resource>();
  readonly modulePreloads = new Map<string, Resource>();
}

export class Resources {
  instructions = 0;
  nextFormId = 0;
  hasBody = false;
  hasHtml = false;
  stylesToHoist = false;

  preamble: Preamble = { html: null, head: null, body: null, contribution: 0 };
  readonly charset: Resource = { html: '' };
  readonly viewport: Resource = { html: '' };
  readonly hoisted: Resource = { html: '' };
  bootstrap = '';
  importMap = '';
  // Most pages ask for nothing, and a page may be small.
  #asked: Asked | null = null;
  #lists: Lists | null = null;

  readonly idPrefix: string;
  readonly scriptNonce: unknown;
  readonly styleNonce: unknown;
  readonly openScript: string;
  readonly openStyle: string;
  hints: HeaderHints | null;
  readonly onHeaders: ((headers: { Link?: string }) => void) | undefined;

  constructor(options: ResourceOptions) {
    const { nonce, onHeaders } = options;
    this.idPrefix = options.identifierPrefix === undefined ? '' : toText(options.identifierPrefix);
    const isForAll = typeof nonce === 'string' || profile.nonces === 'one';
    this.scriptNonce = isForAll ? nonce : nonce && nonce.script;
    this.styleNonce = isForAll ? undefined : nonce && nonce.style;
    const open = (tag: string, value: unknown): string =>
      value === undefined ? `<${tag}` : `<${tag} nonce="${escapeHtml(value)}"`;
    this.openScript = open('script', this.scriptNonce);
    this.openStyle = open('style', this.styleNonce);
    this.onHeaders = hoists ? (onHeaders ?? undefined) : undefined;
    this.hints = this.onHeaders ? createHeaderHints(options.maxHeadersLength) : null;
    writeBootstrap(this, options);
  }

  get asked(): Asked {
    return (this.#asked ??= new Asked());
  }

  /** None of the lists below has been touched. */
  get hasNoLists(): boolean {
    return this.#lists === null;
  }

  get #list(): Lists {
    return (this.#lists ??= new Lists());
  }

  get preconnects(): Set<Resource> {
    return this.#list.preconnects;
  }

  get fontPreloads(): Set<Resource> {
    return this.#list.fontPreloads;
  }

  get highImagePreloads(): Set<Resource> {
    return this.#list.highImagePreloads;
  }

  get bootstrapPreloads(): Set<Resource> {
    return this.#list.bootstrapPreloads;
  }

  get scripts(): Set<Resource> {
    return this.#list.scripts;
  }

  get bulkPreloads(): Set<Resource> {
    return this.#list.bulkPreloads;
  }

  get styles(): Map<string, StyleQueue> {
    return this.#list.styles;
  }

  get imagePreloads(): Map<string, Resource> {
    return this.#list.imagePreloads;
  }

  get stylePreloads(): Map<string, Resource> {
    return this.#list.stylePreloads;
  }

  get scriptPreloads(): Map<string, Resource> {
    return this.#list.scriptPreloads;
  }

  get modulePreloads(): Map<string, Resource> {
    return this.#list.modulePreloads;
  }
}

export interface BootstrapScript {
  src: string;
  integrity?: string | undefined;
  crossOrigin?: string | undefined;
}

export interface ResourceOptions {
  identifierPrefix?: unknown;
  nonce?: string | { script?: string; style?: string } | null | undefined;
  bootstrapScriptContent?: string | undefined;
  bootstrapScripts?: readonly (string | BootstrapScript)[] | undefined;
  bootstrapModules?: readonly (string | BootstrapScript)[] | undefined;
  importMap?: unknown;
  onHeaders?: ((headers: { Link?: string }) => void) | undefined;
  maxHeadersLength?: number | undefined;
}

// Bits of `Resources.instructions`: what the client has been given already.
export const SENT_COMPLETE_SEGMENT = 1;
export const SENT_COMPLETE_BOUNDARY = 2;
export const SENT_CLIENT_RENDER = 4;
export const SENT_STYLE_INSERTION = 8;
export const SENT_FORM_REPLAY = 16;
export const SENT_SHELL_ID = 32;
export const SENT_SHELL_TIME = 64;
export const SENT_VIEW_TRANSITIONS = 256;

const SCRIPT_END = /(<\/|<)(s)(cript)/gi;

/** Inline script text that cannot end its element: the s of `<script` and `</script` becomes an escape. */
export function escapeScript(text: string): string {
  return text.replace(
    SCRIPT_END,
    (_match, open: string, s: string, rest: string) => open + (s === 's' ? '\\u0073' : '\\u0053') + rest,
  );
}

/** ` id="…"` on the first script of a shell without `<html>`, by which the client knows where the shell ends; once. */
export function shellId(resources: Resources): string {
  if (resources.instructions & SENT_SHELL_ID || profile.shell === 'unmarked') return '';
  resources.instructions |= SENT_SHELL_ID;
  return ` id="${escapeHtml(`_${resources.idPrefix}R_`)}"`;
}

function writeBootstrap(resources: Resources, options: ResourceOptions): void {
  const { bootstrapScriptContent: content, bootstrapScripts, bootstrapModules } = options;
  if (content !== undefined) {
    resources.bootstrap += `${resources.openScript}${shellId(resources)}>${escapeScript(toText(content))}</script>`;
  }
  if (options.importMap !== undefined && hoists) {
    const { scriptNonce } = resources;
    const hasNonce = profile.nonces === 'maps-too' && scriptNonce !== undefined;
    const nonce = !hasNonce ? '' : ` nonce="${escapeHtml(scriptNonce)}"`;
    const map = escapeScript(toText(JSON.stringify(options.importMap)));
    resources.importMap = `<script type="importmap"${nonce}>${map}</script>`;
  }
  for (const script of listed(bootstrapScripts)) {
    const preload = { rel: 'preload', as: 'script', fetchPriority: 'low', nonce: options.nonce };
    bootstrapScript(resources, script, preload, '<script src="');
  }
  for (const script of listed(bootstrapModules)) {
    const preload = { rel: 'modulepreload', fetchPriority: 'low', nonce: resources.scriptNonce };
    bootstrapScript(resources, script, preload, '<script type="module" src="');
  }
}

/** Returns the list. A value without a length is no list: `false` stands where a condition gave none. */
function listed<Item>(list: readonly Item[] | undefined): readonly Item[] {
  if (list === undefined) return [];
  return Array.from({ length: list.length }, (_, at) => list[at] as Item);
}

function bootstrapScript(
  resources: Resources,
  script: string | BootstrapScript,
  preload: Props,
  open: string,
): void {
  if (!hoists) {
    resources.bootstrap += `${open}${escapeHtml(script)}" async=""></script>`;
    return;
  }
  const src = typeof script === 'string' ? script : script.src;
  preload['href'] = src;
  let integrity: string | undefined;
  let crossOrigin: string | undefined;
  if (typeof script !== 'string') {
    if (typeof script.integrity === 'string') integrity = script.integrity;
    const given = script.crossOrigin;
    if (given !== null && given !== undefined) crossOrigin = given === 'use-credentials' ? given : '';
    preload['integrity'] = integrity;
    preload['crossOrigin'] = crossOrigin;
  }
  resources.asked.scripts[src] = null;
  resources.asked.modules[src] = null;
  resources.bootstrapPreloads.add({ html: linkTag(preload) });
  resources.bootstrap += `${open}${escapeHtml(src)}"`;
  if (resources.scriptNonce) resources.bootstrap += ` nonce="${escapeHtml(resources.scriptNonce)}"`;
  if (integrity !== undefined) resources.bootstrap += ` integrity="${escapeHtml(integrity)}"`;
  if (crossOrigin !== undefined) resources.bootstrap += ` crossorigin="${escapeHtml(crossOrigin)}"`;
  resources.bootstrap += `${shellId(resources)} async=""></script>`;
}

export function writeLink(to: Resource, props: Props): void {
  to.html += '<link';
  addAttributes(to, props, (name) => refuseContent('link', name));
  to.html += '/>';
}

export function linkTag(props: Props): string {
  const link = { html: '' };
  writeLink(link, props);
  return link.html;
}

export function createHoistables(): Hoistables {
  return { styles: new Set(), stylesheets: new Set(), suspenseyImages: false };
}

export function addHoistables(to: Hoistables, from: Hoistables): void {
  for (const queue of from.styles) to.styles.add(queue);
  for (const sheet of from.stylesheets) to.stylesheets.add(sheet);
  if (from.suspenseyImages) to.suspenseyImages = true;
}

/** Whether a boundary has to wait for the client's resources before it is shown, and so is better sent late. */
export function waitsForResources(hoistables: Hoistables, inShell: boolean): boolean {
  if (hoistables.suspenseyImages) return true;
  return (!inShell || profile.outlining === 'for-any-sheet') && hoistables.stylesheets.size > 0;
}

/** The table's entry; undefined when never asked for, null when the resource itself is there. */
export function lookUp(table: Table, key: string): Credentials | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

/** The table by this name, which may be one that every object inherits something by. */
export function ownTable(tables: Record<string, Table>, name: string): Table {
  const known = Object.hasOwn(tables, name) ? tables[name] : undefined;
  return known ?? (tables[name] = {});
}

export function styleQueue(resources: Resources, precedence: string): StyleQueue {
  let queue = resources.styles.get(precedence);
  if (queue === undefined) {
    queue = { precedence: escapeHtml(precedence), rules: [], hrefs: [], sheets: new Map() };
    resources.styles.set(precedence, queue);
  }
  return queue;
}

/** Takes over what an earlier preload of the same resource said. */
export function adoptCredentials(props: Props, credentials: Credentials): void {
  if (credentials?.length !== 2) return;
  props['crossOrigin'] ??= credentials[0];
  props['integrity'] ??= credentials[1];
}

export function credentialsOf(options: Props | undefined | null): Credentials {
  if (!options) return NO_CREDENTIALS;
  const { crossOrigin, integrity } = options;
  return typeof crossOrigin === 'string' || typeof integrity === 'string'
    ? [crossOrigin, integrity]
    : NO_CREDENTIALS;
}
