import { setTimeout as wait } from 'node:timers/promises';
import type { PlainView, Settings } from '@sluice/render';

export interface RelatedProps {
  books: { title: string; href: string }[];
  /** Stands for a service that is slow. */
  wait_ms: number;
}

/** No framework: a function that returns HTML, and escapes what it puts in. */
const Related: PlainView<RelatedProps> = async ({ books, wait_ms }, { signal }) => {
  if (wait_ms > 0) await wait(wait_ms, undefined, { signal });
  const links = books.map(({ title, href }) => `<li><a href="${escape(href)}">${escape(title)}</a></li>`);
  return `<h2>Read next</h2><ul>${links.join('')}</ul>`;
};

export default Related;

/** A batch waits for its slowest job: this one gives up before the host's patience ends. */
export const settings: Settings = { adapter: 'plain', rendering: 'static', timeoutMs: 150 };

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

const escape = (text: string): string => text.replaceAll(/[&<>"]/g, (character) => ESCAPES[character] ?? '');
