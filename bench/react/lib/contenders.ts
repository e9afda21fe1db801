/** Renderers of a page, each from its data to bytes that were given away. */

import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Readable, Writable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { ReactNode } from 'react';
import { modulesOf } from './libraries.ts';

export interface Contender {
  readonly name: string;
  readonly data: (seed: number) => unknown;
  /** `seen` gets the length of each piece as it leaves; settles when the last one has. */
  readonly render: (data: unknown, seen: (bytes: number) => void) => Promise<void> | void;
  /** Answers a request with it, in the way that is cheapest for what it gives. */
  readonly serve: (data: unknown, response: ServerResponse) => void;
}

/** The part of react-dom/server that is measured. */
interface Server {
  renderToString(element: ReactNode): string;
  /** Sluice's alone. */
  renderToBuffer?: (element: ReactNode) => Buffer;
  renderToPipeableStream(
    element: ReactNode,
    options: { onShellReady(): void; onError(error: unknown): void },
  ): { readonly pipe: (destination: Writable) => void };
  renderToReadableStream(
    element: ReactNode,
    options: { onError(error: unknown): void },
  ): Promise<ReadableStream<Uint8Array>>;
}
interface Page {
  readonly data: (seed: number) => unknown;
  readonly element: (data: unknown) => ReactNode;
}
interface Pages {
  readonly pages: Readonly<Record<string, Page>>;
}
interface Other {
  readonly render: (data: unknown) => string | Promise<string>;
}

/** Renderers that render the listing only: the same page, written for each. */
export const others = ['preact', 'inferno', 'svelte', 'vue', 'solid', 'concatenation'];
/** A string cannot wait for data. */
const streamsOnly = new Set(['async']);

export async function loadContenders(page: string): Promise<Contender[]> {
  // Relative to the bundle that this becomes a part of.
  const load = async <T>(name: string): Promise<T> =>
    (await import(new URL(`./${name}.mjs`, import.meta.url).href)) as T;
  const [stock, sluice] = [
    (await import('react-dom/server')) as Server,
    (await import('@sluice/react/server')) as Server & {
      configureCache(options: { bytes_max: number }): void;
    },
  ];
  // The shop keeps the HTML of its cards; here it is rendered anew each time, as react-dom does.
  sluice.configureCache({ bytes_max: 0 });
  const [plain, compiled] = await Promise.all(modulesOf(page).map((module) => load<Pages>(module)));
  if (plain === undefined || compiled === undefined) throw new Error('a page is there twice');
  const found = (of: Pages): Page => {
    const each = of.pages[page];
    if (each === undefined) throw new Error(`no page is called ${page}`);
    return each;
  };
  const sides = [
    { side: 'react-dom', server: stock, page: found(plain) },
    { side: 'sluice', server: sluice, page: found(plain) },
    { side: 'sluice, compiled', server: sluice, page: found(compiled) },
  ];
  const contenders: Contender[] = sides.flatMap((each) => contendersOf(each.side, each.server, each.page));
  if (page === 'listing')
    for (const name of others) {
      const { render } = await load<Other>(name);
      contenders.push({
        name,
        data: found(plain).data,
        render: async (data, seen) => seen(Buffer.from(await render(data)).length),
        serve: (data, response) =>
          void Promise.resolve(render(data)).then((html) => response.end(html), fail),
      });
    }
  return contenders.filter(({ name }) => !(streamsOnly.has(page) && !name.endsWith('Stream')));
}

function contendersOf(side: string, server: Server, { data, element }: Page): Contender[] {
  const { renderToBuffer } = server;
  const buffers: Contender[] =
    renderToBuffer === undefined
      ? []
      : [
          {
            name: `${side} renderToBuffer`,
            data,
            render: (given, seen) => seen(renderToBuffer(element(given)).length),
            serve: (given, response) => response.end(renderToBuffer(element(given))),
          },
        ];
  return [
    ...buffers,
    {
      name: `${side} renderToString`,
      data,
      render: (given, seen) => seen(Buffer.from(server.renderToString(element(given))).length),
      serve: (given, response) => response.end(server.renderToString(element(given))),
    },
    {
      name: `${side} renderToPipeableStream`,
      data,
      async render(given, seen) {
        const sink = new Sink(seen);
        const { pipe } = server.renderToPipeableStream(element(given), {
          onShellReady: () => pipe(sink),
          onError: fail,
        });
        await once(sink, 'finish');
      },
      serve(given, response) {
        const { pipe } = server.renderToPipeableStream(element(given), {
          onShellReady: () => pipe(response),
          onError: fail,
        });
      },
    },
    {
      name: `${side} renderToReadableStream`,
      data,
      async render(given, seen) {
        const stream = await server.renderToReadableStream(element(given), { onError: fail });
        for await (const chunk of stream) seen(chunk.length);
      },
      serve(given, response) {
        server
          .renderToReadableStream(element(given), { onError: fail })
          .then((stream) => Readable.fromWeb(stream).pipe(response), fail);
      },
    },
  ];
}

/** A page that fails would be cheap. */
function fail(error: unknown): void {
  console.error(error);
  process.exit(1);
}

/** A response that takes what comes. */
class Sink extends Writable {
  readonly #seen: (bytes: number) => void;
  constructor(seen: (bytes: number) => void) {
    super({ highWaterMark: 1 << 20 });
    this.#seen = seen;
  }
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#seen(chunk.length);
    done();
  }
}
