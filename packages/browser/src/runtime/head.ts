/**
 * Head of a document whose page changes: title, metas, links, styles, code that is needed at once, and the page's own data. It must not know
 * boxes.
 */
import { DATA, type NextPage } from './next-page.js';

const OWN = 'title,meta[name]:not([name=viewport]),meta[property],link';

/** Styles that are loaded, and not in force yet. */
export interface Styles {
  commit: () => void;
  discard: () => void;
}

const nothing = (): void => undefined;

/** Loads the styles of a page, and code beside them. Rejects where the styles do not come. */
export async function stylesOf({ styles, preloads }: NextPage, signal: AbortSignal): Promise<Styles> {
  const { head } = document;
  const nonce = document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce;
  for (const href of preloads) {
    if (head.querySelector(`[rel=modulepreload][href="${CSS.escape(href)}"]`) === null)
      head.append(element('link', { rel: 'modulepreload', href, nonce }));
  }
  const now = head.querySelector('[data-sluice-styles]');
  const remove = (): void => now?.remove();
  if (styles === undefined || styles.inline === '') return { commit: remove, discard: nothing };
  const { href, inline } = styles;
  // A set of styles is linked once, and in the page itself from then on.
  const isThere =
    now !== null &&
    (now.localName === 'link' ? now.getAttribute('href') === href : now.textContent === inline);
  if (isThere) return { commit: nothing, discard: nothing };
  const next =
    inline === undefined
      ? element('link', { rel: 'stylesheet', href, media: 'not all' })
      : element('style', { textContent: inline, media: 'not all', nonce });
  next.dataset['sluiceStyles'] = '';
  const discard = (): void => next.remove();
  const loaded = inline === undefined ? loads(next, signal) : undefined;
  (now ?? marker()).after(next);
  await loaded?.catch((error: unknown) => {
    discard();
    throw error;
  });
  return {
    commit() {
      next.removeAttribute('media');
      remove();
    },
    discard,
  };
}

function loads(link: HTMLElement, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    link.addEventListener('load', () => resolve());
    link.addEventListener('error', () => reject(new Error('the styles of the page did not load')));
    signal.addEventListener('abort', () => reject(new Error('aborted')));
  });
}

export function showHead({ page, lang, dir = '', head }: NextPage): void {
  Object.assign(document.documentElement, { lang, dir });
  const fresh = [...head.children];
  const end = marker();
  for (let at = end.previousElementSibling; at !== null;) {
    const old = at;
    at = at.previousElementSibling;
    if (!old.matches(OWN)) continue;
    const same = fresh.findIndex((each) => each.isEqualNode(old));
    if (same === -1) old.remove();
    else fresh.splice(same, 1);
  }
  end.before(...fresh);
  const data = document.querySelector(DATA);
  if (data !== null) data.textContent = JSON.stringify(page);
}

/** End of the page's own head. */
function marker(): Element {
  const found = document.querySelector('[data-sluice-head]');
  if (found === null) throw new Error('the document has lost the marker in its head');
  return found;
}

function element<K extends 'link' | 'style'>(
  name: K,
  properties: Partial<Record<keyof HTMLElementTagNameMap[K], string | undefined>>,
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties))
    if (value !== undefined) Object.assign(made, { [key]: value });
  return made;
}
