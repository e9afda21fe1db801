/**
 * Navigation between pages of one build: what tells that two pages fit into each other, and a page's boxes as JSON for the browser's
 * runtime. It must not know how boxes are rendered.
 */
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Assets } from '../boxes/assets.js';
import type { PageStyles } from '../css/styles.js';
import type { DocumentOptions, DocumentStrings } from './document.js';

export interface NavigationOptions {
  /** The swap is a view transition, in browsers that have them and for visitors who do not prefer reduced motion. Default: false. */
  readonly transitions?: boolean;
}

/** Request field by which the runtime asks for boxes. Documents are never asked for with it, so caches keep two forms of a page. */
const FIELD = 'sluice-page';
export const NAVIGATION_VARY: readonly string[] = ['Sluice-Page'];
export const BOXES_TYPE = 'application/vnd.sluice.page+json';
/** Version of the answer's shape. */
const VERSION = 1;
/** Characters of an id: 72 bits of each hash. */
const ID_CHARACTERS = 12;

export function asksForBoxes({ headers }: IncomingMessage): boolean {
  return headers[FIELD] !== undefined;
}

/** Undefined for pages without navigation, or without a runtime. */
export function navigationOf(
  option: boolean | NavigationOptions | undefined,
  assets: Assets | undefined,
): Navigation | undefined {
  if (option === undefined || option === false || assets === undefined) return undefined;
  return new Navigation(assets, option === true ? {} : option);
}

/** Data of a document for the runtime that navigates. */
export interface NavigationData {
  /** Equal for pages whose boxes fit into each other's documents. */
  readonly navigation: string;
  readonly transitions?: true;
}

export class Navigation {
  readonly #build: string;
  readonly #options: NavigationOptions;
  /** Frame of the latest page: most pages of an app have the same. */
  #frame = '';
  #data: NavigationData | undefined;

  constructor(assets: Assets, options: NavigationOptions) {
    this.#build = hashOf(JSON.stringify(assets));
    this.#options = options;
  }

  /** Data of a page with this HTML around its boxes. A nonce in `head` differs with each page, and makes no difference. */
  dataOf(
    { head = '', bodyAttributes = '', bodyStart = '', bodyEnd = '' }: DocumentOptions,
    nonce: string | undefined,
  ): NavigationData {
    const own = nonce === undefined ? head : head.replaceAll(nonce, '');
    const frame = [own, bodyAttributes, bodyStart, bodyEnd].join('\0');
    if (this.#data === undefined || frame !== this.#frame) {
      this.#frame = frame;
      this.#data = {
        navigation: `${this.#build}.${hashOf(frame)}`,
        ...(this.#options.transitions === true && { transitions: true }),
      };
    }
    return this.#data;
  }
}

export interface BoxesPage extends DocumentStrings {
  /** JSON of `data-sluice-page`. */
  readonly page: string;
  readonly styles: PageStyles | undefined;
  /** Addresses of code that is needed at once. */
  readonly preloads: Iterable<string>;
  /** HTML of the boxes, with their props, as the document has it. */
  readonly boxes: string;
  /** HTML of the function for the document's end; undefined where there is none. */
  readonly end: string | undefined;
}

/** `{"version":1,"page","lang","dir","head","styles":{"href","inline"},"preloads":[…],"boxes":"<sluice-box …","end":"<script …"}`. */
export function boxesJson({ page, lang, dir, head, styles, preloads, boxes, end }: BoxesPage): string {
  const start = `{"version":${VERSION},"page":${page},`;
  return start + JSON.stringify({ lang, dir, head, styles, preloads: [...preloads], boxes, end }).slice(1);
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, ID_CHARACTERS);
}
