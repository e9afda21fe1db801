/** The answer of the server with the boxes of the next page, checked. It must not know the document. */
import type { PageData } from './page.js';

export interface NextPage {
  /** Address, to which redirects may have led. */
  readonly url: string;
  readonly page: PageData;
  readonly lang: string;
  readonly dir?: string;
  /** Title, metas and links. */
  readonly head: DocumentFragment;
  readonly styles?: { readonly href: string; readonly inline?: string };
  /** Addresses of code that is needed at once. */
  readonly preloads: readonly string[];
  /** Boxes with their props. */
  readonly boxes: DocumentFragment;
  /** End of its body: the part that the server makes for each page. */
  readonly end: DocumentFragment;
}

/** Answer of the server, with HTML as texts. */
interface Answer extends Omit<NextPage, 'url' | 'head' | 'boxes' | 'end'> {
  readonly version: number;
  readonly head: string;
  readonly boxes: string;
  readonly end?: string;
}

/** Element with the data of the page that is shown. */
export const DATA = 'script[data-sluice-page]';
const TYPE = 'application/vnd.sluice.page+json';
const VERSION = 1;

/** Rejects for everything but a page that fits into this document: of the same build, with the same HTML around its boxes. */
export async function fetchPage(url: string, signal: AbortSignal): Promise<NextPage> {
  const response = await fetch(url, { headers: { 'sluice-page': String(VERSION) }, signal });
  const type = response.headers.get('content-type') ?? '';
  const final = new URL(response.url);
  if (!type.startsWith(TYPE) || final.origin !== location.origin) {
    // Nobody reads it, and it may be long.
    response.body?.cancel().catch(() => undefined);
    throw new Error(`the answer of ${final.origin} is ${response.status} ${type}`);
  }
  const next = (await response.json()) as Answer;
  if (next.version !== VERSION || next.page.navigation !== shown().navigation)
    throw new Error('the page is from another build, or has other HTML around its boxes');
  // The fragment of the first address goes on to the next, as in browsers.
  final.hash ||= new URL(url).hash;
  return {
    ...next,
    url: final.href,
    head: parsed(next.head),
    boxes: parsed(next.boxes),
    end: parsed(next.end ?? ''),
  };
}

function shown(): PageData {
  return JSON.parse(document.querySelector(DATA)?.textContent || '{}') as PageData;
}

/** Scripts in it do not run. Throws where the document allows no HTML from text, by Trusted Types. */
function parsed(html: string): DocumentFragment {
  const template = document.createElement('template');
  template.innerHTML = html;
  return template.content;
}
