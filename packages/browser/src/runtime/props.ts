/** Props of a box: from its script in the document, or for a hole without one from the page's data address. */
import { revive } from '@sluice/render/state';
import type { Props } from '../adapter.js';
import { attribute, isHole, scriptOf } from './box.js';
import { pageData } from './page.js';

export interface BoxData {
  readonly props: Props;
  /** The server has rendered the box by now. */
  readonly html?: string;
}

const MORE_TIMEOUT_MS = 10_000;

/** Rejects where the state cannot be read or did not come: no component is rendered of props that it was not given. */
export async function dataOf(box: Element): Promise<BoxData> {
  const text = scriptOf(attribute(box, 'i'))?.textContent;
  if (text) return { props: revive(text) as Props };
  const { more } = pageData();
  if (!isHole(box) || !more) throw new Error('the page has no props for this box');
  return fetchMore(more, attribute(box, 'i'));
}

async function fetchMore(more: string, id: string): Promise<BoxData> {
  const url = new URL(more, location.href);
  url.searchParams.set('box', id);
  const response = await fetch(url, {
    headers: { accept: 'application/json' },
    signal: AbortSignal.timeout(MORE_TIMEOUT_MS),
  });
  if (!response.ok) throw new Error(`${url.pathname} answered ${response.status}`);
  const { props, html } = (await response.json()) as { props?: string; html?: string };
  return {
    props: props === undefined ? {} : (revive(props) as Props),
    ...(html === undefined ? {} : { html }),
  };
}
