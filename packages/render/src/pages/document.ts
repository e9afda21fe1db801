/**
 * The document around the boxes: head, assets, the page's own data. Texts of the tree are escaped and its addresses checked;
 * HTML that code gives is code's. It must not know boxes or how they are sent.
 */
import { assetsOf, type Assets } from '../boxes/assets.js';
import { BOX_STYLE, codeTags, isNonce, type BrowserCode } from '../boxes/head.js';
import { referenceOf } from '../css/order.js';
import type { PageStyles } from '../css/styles.js';
import { SLOT_TAG } from '../adapters/slot.js';
import { escapeHtml } from '../state/escape.js';
import { serialize } from '../state/serialize.js';
import { resolve } from './bind.js';
import { LINK_RELS } from './check.js';
import type { Scope } from './path.js';
import { DocumentFrames, type Frame, type FrameFacts } from './document-frame.js';
import type { DocumentTree, LinkTree, PageTree } from './tree.js';

/** Settings of documents in code. HTML in it is trusted, and never made from data without escaping. */
export interface DocumentOptions {
  /** Head of every page; what a page's tree says comes first. */
  readonly defaults?: DocumentTree;
  /** HTML at the end of `<head>`. */
  readonly head?: string;
  /** Attributes of `<body>`, as HTML. */
  readonly bodyAttributes?: string;
  /** HTML before the boxes, such as a skip link or `<main>`. */
  readonly bodyStart?: string;
  /** HTML after the boxes; or a function that makes it once they are all there, also those whose places are filled later. */
  readonly bodyEnd?: string | (() => string);
}

export interface DocumentParts {
  readonly tree: PageTree;
  readonly scope: Scope;
  readonly options: DocumentOptions;
  readonly styles: PageStyles | undefined;
  readonly assets: Assets | undefined;
  /** Components that the browser needs code for, as the boxes of this page say. */
  readonly code: readonly BrowserCode[];
  /** Boxes come later than their place, so the runtime is needed whatever they are. */
  readonly isFilledLater: boolean;
  /** Nonce for a content security policy: on every script and style. */
  readonly nonce: string | undefined;
  readonly page: PageData;
}

/** Data of the document about itself, for `@sluice/browser`. */
export interface PageData {
  readonly page: string | undefined;
  readonly setting: string;
  /** `experiment:arm` of the first experiment that had a say in the page. */
  readonly variant: string | null;
  /** The same of each experiment, where there are several. */
  readonly variants?: readonly string[];
  readonly vitals: string | null;
  readonly more: string | null;
  /** Id for navigation: equal for pages whose boxes fit into each other's documents. None without navigation. */
  readonly navigation?: string;
  readonly transitions?: true;
}

/** Parts of a document that a page has by itself. */
export interface DocumentStrings {
  readonly lang: string;
  readonly dir: string | undefined;
  /** HTML of title, metas and links. */
  readonly head: string;
}

/** Everything before the first box. Throws a `TypeError` for a nonce that is none. */
export function documentStart(parts: DocumentParts): string {
  const { tree, scope, options, nonce, page } = parts;
  if (nonce !== undefined && !isNonce(nonce))
    throw new TypeError('a nonce must be base64 of at least 8 characters');
  const nonceAttribute = nonce === undefined ? '' : ` nonce="${nonce}"`;
  const { lang, dir, head } = documentStrings(tree.document, options.defaults, scope);
  const direction = dir === undefined ? '' : ` dir="${escapeHtml(dir)}"`;
  const frame = frames.of(tree, factsOf(parts), nonceAttribute, (attribute) => frameOf(parts, attribute));
  const bodyAttributes = options.bodyAttributes === undefined ? '' : ` ${options.bodyAttributes}`;
  return (
    `<!DOCTYPE html><html lang="${escapeHtml(lang)}"${direction}>` +
    `<head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">${head}` +
    `${frame.html}${options.head ?? ''}</head><body${bodyAttributes}>` +
    `<script type="application/json" data-sluice-page>${dataText(page, frame.files)}</script>` +
    `${options.bodyStart ?? ''}${navigates(parts) ? BOXES_START : ''}`
  );
}

const frames = new DocumentFrames();

function navigates({ page }: Pick<DocumentParts, 'page'>): boolean {
  return page.navigation !== undefined;
}

/** All that `frameOf` reads. Nothing that is a page's or a request's own: each would have a frame. */
function factsOf(parts: DocumentParts): FrameFacts {
  const { styles, assets, code, isFilledLater } = parts;
  return { code, others: [assets, styles?.href, styles?.inline, isFilledLater, navigates(parts)] };
}

function frameOf(parts: DocumentParts, nonceAttribute: string): Frame {
  const { styles } = parts;
  const isMarked = navigates(parts);
  return {
    // The runtime finds what is a page's own by these two: what stands before the one, and the other.
    html: [
      `<style${isMarked ? ' data-sluice-head' : ''}${nonceAttribute}>${BOX_STYLE}</style>`,
      stylesTag(styles, `${isMarked ? ' data-sluice-styles' : ''}${nonceAttribute}`),
      codeTags(parts, nonceAttribute),
    ].join(''),
    files: filesOf(parts),
  };
}

/** Place of the boxes in documents that the runtime navigates in. */
const BOXES_START = `<${SLOT_TAG} data-sluice-boxes>`;
export const BOXES_END = `</${SLOT_TAG}>`;

export function documentEnd(): string {
  return '</body></html>';
}

export function documentStrings(
  tree: DocumentTree = {},
  defaults: DocumentTree = {},
  scope: Scope,
): DocumentStrings {
  const title = textOf(tree.title ?? defaults.title, scope);
  return {
    lang: textOf(tree.lang ?? defaults.lang, scope) ?? 'en',
    dir: tree.dir ?? defaults.dir,
    head: [
      title === undefined ? '' : `<title>${escapeHtml(title)}</title>`,
      ...metas(tree, defaults, scope),
      ...[...(tree.links ?? []), ...(defaults.links ?? [])].map((link) => linkTag(link, scope)),
    ].join(''),
  };
}

/** Texts for clients that have no documents. */
export function documentTexts(
  tree: DocumentTree = {},
  defaults: DocumentTree = {},
  scope: Scope,
): { title: string | undefined; lang: string | undefined } {
  return {
    title: textOf(tree.title ?? defaults.title, scope),
    lang: textOf(tree.lang ?? defaults.lang, scope),
  };
}

function metas(tree: DocumentTree, defaults: DocumentTree, scope: Scope): readonly string[] {
  const tags = new Map<string, string>();
  for (const meta of [...(defaults.meta ?? []), ...(tree.meta ?? [])]) {
    const content = textOf(meta.content, scope);
    const [key, value] = 'property' in meta ? ['property', meta.property] : ['name', meta.name];
    if (content === undefined) continue;
    // The tree's comes later, in place of the default.
    tags.set(`${key} ${value}`, `<meta ${key}="${escapeHtml(value)}" content="${escapeHtml(content)}">`);
  }
  return [...tags.values()];
}

function linkTag({ rel, href: bound, ...others }: LinkTree, scope: Scope): string {
  const href = textOf(bound, scope);
  if (href === undefined || !LINK_RELS.has(rel) || !isWebAddress(href)) return '';
  let tag = `<link rel="${escapeHtml(rel)}" href="${escapeHtml(href)}"`;
  for (const key of ['hreflang', 'type', 'sizes', 'media'] as const) {
    const value = others[key];
    if (value !== undefined) tag += ` ${key}="${escapeHtml(value)}"`;
  }
  return `${tag}>`;
}

function stylesTag(styles: PageStyles | undefined, attributes: string): string {
  if (styles === undefined) return '';
  const { href, inline } = styles;
  if (inline === undefined) return `<link rel="stylesheet" href="${escapeHtml(href)}"${attributes}>`;
  return inline === '' ? '' : `<style${attributes}>${inline}</style>`;
}

export function pageData(parts: Pick<DocumentParts, 'page' | 'assets' | 'code'>): string {
  return dataText(parts.page, filesOf(parts));
}

function filesOf({ assets, code }: Pick<DocumentParts, 'assets' | 'code'>): string {
  const files: Record<string, string> = {};
  for (const { component } of code) {
    const [own] = assetsOf(assets, referenceOf(component))?.js ?? [];
    if (own !== undefined) files[referenceOf(component)] = own;
  }
  return serialize(files);
}

function dataText({ page: id, ...others }: PageData, files: string): string {
  // Undefined is no JSON, which is how this is read: vitals of a page without an id go by its path.
  const own = serialize({ ...(id === undefined || id === '' ? {} : { page: id }), ...others });
  return `${own.slice(0, -1)},"code":${files}}`;
}

/** Numbers and texts; anything else is no text of a head. */
function textOf(bound: unknown, scope: Scope): string | undefined {
  const value = resolve(bound, scope);
  if (typeof value === 'string') return value;
  return typeof value === 'number' ? String(value) : undefined;
}

/** http or https, or relative to the page: no address that runs script. */
function isWebAddress(href: string): boolean {
  const base = 'https://page.invalid/';
  return URL.canParse(href, base) && /^https?:$/.test(new URL(href, base).protocol);
}
