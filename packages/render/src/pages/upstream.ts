/** One GET of JSON from a service. It must not know pages, or who asks. */
import { boundedText } from '../remote/body.js';
import { resolve } from './bind.js';
import { DATA_DEPTH_MAX, tameData } from './json-data.js';
import type { Scope } from './path.js';
import type { UpstreamSource } from './tree.js';

/** Reason for which a source gave no data, in words that follow its name. */
export class SourceFailure extends Error {}

/** The data of an answer. Rejects with a `SourceFailure` for an answer that is none, and with what `fetch` throws. */
export async function askUpstream(
  url: URL,
  headers: Readonly<Record<string, string>>,
  bytesMax: number,
  signal: AbortSignal,
): Promise<unknown> {
  const response = await fetch(url, {
    headers: { accept: 'application/json', ...headers },
    redirect: 'error',
    signal,
  });
  const text = await boundedText(response, bytesMax);
  if (!response.ok) throw new SourceFailure(`was answered ${response.status}`);
  const data = JSON.parse(text) as unknown;
  if (!tameData(data)) throw new SourceFailure(`sent data nested more than ${DATA_DEPTH_MAX} deep`);
  return data;
}

/** Throws a `SourceFailure` where the data gives no segment for the path. */
export function urlOf({ url: base, path = [], query = {} }: UpstreamSource, scope: Scope): URL {
  const url = new URL(base);
  if (url.username !== '' || url.password !== '') throw new SourceFailure('has credentials in its URL');
  for (const bound of path) {
    const segment = textOf(resolve(bound, scope));
    // The encoding leaves dots alone, and a parser removes `..` with the segment before it.
    if (segment === undefined || segment === '' || segment === '.' || segment === '..')
      throw new SourceFailure(`has no segment for its path: ${JSON.stringify(segment)}`);
    url.pathname = `${url.pathname.replace(/\/$/, '')}/${encodeURIComponent(segment)}`;
  }
  for (const [key, bound] of Object.entries(query)) {
    const value = resolve(bound, scope);
    for (const each of Array.isArray(value) ? (value as unknown[]) : [value]) {
      const text = textOf(each);
      if (text !== undefined) url.searchParams.append(key, text);
    }
  }
  return url;
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return wellFormed(value);
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

/** `encodeURIComponent` throws for half a surrogate pair. Node 20 has `toWellFormed`, the ES2023 types have not. */
function wellFormed(text: string): string {
  return text.replaceAll(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, '\uFFFD');
}
