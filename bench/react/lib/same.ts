/** Checks before any measurement: every side sends the same bytes, and Sluice leaves nothing to react-dom. */

import { once } from 'node:events';
import { Writable } from 'node:stream';
import { built } from './build.ts';
import { libraryPages, modulesOf } from './libraries.ts';

interface Server {
  renderToString(element: unknown): string;
  renderToBuffer?: (element: unknown) => Buffer;
  renderToPipeableStream(element: unknown, options: object): { readonly pipe: (to: Writable) => void };
}
type Pages = Record<string, { data(seed: number): unknown; element(data: unknown): unknown }>;

export interface Checked {
  readonly names: string[];
  /** Elements in the HTML and its bytes, by page. */
  readonly sizes: Record<string, { elements: number; bytes: number }>;
}

/** Throws where a page of those named (all, when none is) differs. The process has to have had NODE_ENV=production from its start. */
export async function checkPages(only: readonly string[]): Promise<Checked> {
  const { pages, compiled } = await load(only);
  const stock = (await import('react-dom/server')) as unknown as Server;
  const sluice = (await import('@sluice/react/server')) as unknown as Server & {
    onFallback(listener: (about: { reason: string }) => void): void;
  };
  const fallbacks: string[] = [];
  sluice.onFallback(({ reason }) => fallbacks.push(reason));
  const sizes: Checked['sizes'] = {};
  for (const [name, page] of Object.entries(pages)) {
    const other = compiled[name];
    if (other === undefined) throw new Error(`${name} was not compiled`);
    for (const seed of [1, 2]) {
      const expected = await sent(stock, page, seed);
      for (const [side, actual] of [
        ['sluice', await sent(sluice, page, seed)],
        ['sluice, compiled', await sent(sluice, other, seed)],
        ['react-dom, compiled', await sent(stock, other, seed)],
      ] as const)
        for (const api of ['string', 'buffer', 'stream'] as const)
          if (actual[api] !== expected[api])
            throw new Error(differs(name, side, api, expected[api], actual[api]));
      sizes[name] = {
        elements: expected.stream.match(/<[a-z]/gi)?.length ?? 0,
        bytes: Buffer.byteLength(expected.stream),
      };
    }
  }
  if (fallbacks.length > 0) throw new Error(`left to react-dom: ${[...new Set(fallbacks)].join(', ')}`);
  return { names: Object.keys(pages), sizes };
}

/** A library is loaded only when a page of it is wanted. */
async function load(only: readonly string[]): Promise<{ pages: Pages; compiled: Pages }> {
  const { pages: own } = (await import(built('react'))) as { pages: Pages };
  const names = [...Object.keys(own), ...libraryPages].filter(
    (name) => only.length === 0 || only.includes(name),
  );
  const [pages, compiled]: [Pages, Pages] = [{}, {}];
  for (const name of names)
    for (const [at, module] of modulesOf(name).entries()) {
      const { pages: found } = (await import(built(module))) as { pages: Pages };
      const page = found[name];
      if (page !== undefined) (at === 0 ? pages : compiled)[name] = page;
    }
  return { pages, compiled };
}

async function sent(
  server: Server,
  page: Pages[string],
  seed: number,
): Promise<{ string: string; buffer: string; stream: string }> {
  let stream = '';
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      stream += chunk.toString();
      done();
    },
  });
  const { pipe } = server.renderToPipeableStream(page?.element(page.data(seed)), {
    onShellReady: () => pipe(sink),
  });
  await once(sink, 'finish');
  const element = (): unknown => page?.element(page.data(seed));
  const string = server.renderToString(element());
  return { string, buffer: server.renderToBuffer?.(element()).toString() ?? string, stream };
}

function differs(name: string, side: string, api: string, expected: string, actual: string): string {
  let at = 0;
  while (expected[at] === actual[at]) at += 1;
  const around = (html: string): string => JSON.stringify(html.slice(Math.max(0, at - 80), at + 80));
  return `${name}, ${side}, ${api}: differs from react-dom at ${at}:\n${around(expected)}\n${around(actual)}`;
}
