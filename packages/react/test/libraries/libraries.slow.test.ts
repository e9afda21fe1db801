// What apps are made of, rendered by react-dom and by Sluice: the same bytes, and nothing left to react-dom.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Writable } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { loadReact, loadSluice, type Pair, type Sluice } from '../differential/libraries.ts';
import type { Renderer } from '../differential/observe.ts';
import { copyRenderer, installIfStale } from '../versions/install.ts';

process.env['NODE_ENV'] = 'production';

const apps = readdirSync(join(import.meta.dirname, 'apps')).sort();

/** An app makes its element afresh for each render; `after` gives what it collected meanwhile, as styles. */
interface App {
  readonly default: () => unknown;
}
interface Made {
  readonly element: unknown;
  readonly after: () => string;
}

/** Each gives what was sent, from an element of its own. */
const ways: Readonly<Record<string, (renderer: Renderer, element: unknown) => string | Promise<string>>> = {
  renderToString: (renderer, element) => renderer.renderToString(element),
  renderToStaticMarkup: (renderer, element) => renderer.renderToStaticMarkup(element),
  renderToPipeableStream: streamed,
  renderToReadableStream: async (renderer, element) =>
    new Response(await renderer.renderToReadableStream?.(element)).text(),
  prerender: async (renderer, element) => new Response((await renderer.prerender?.(element))?.prelude).text(),
};
/** An app's file has the name of the package, but for these. */
const packages: Readonly<Record<string, string>> = {
  emotion: '@emotion/react',
  mui: '@mui/material',
  radix: 'radix-ui',
  redux: 'react-redux',
  'tanstack-query': '@tanstack/react-query',
};

void describe('libraries', () => {
  let stock: Pair;
  let sluice: Sluice;
  let fallbacks: string[] = [];
  const table: Record<
    string,
    { version: string; bytes: number; renders: number; 'left to react-dom': number }
  > = {};

  before(async () => {
    installIfStale(import.meta.dirname);
    copyRenderer(import.meta.dirname);
    stock = loadReact(import.meta.dirname);
    sluice = await loadSluice(import.meta.dirname);
    sluice.onFallback(({ reason }) => fallbacks.push(reason));
  });

  after(() => {
    console.log(`React ${stock.version}: identical in ${Object.keys(ways).join(', ')}`);
    console.table(table);
  });

  for (const app of apps) {
    const name = basename(app, '.js');
    void it(name, async () => {
      const row = {
        version: versionOf(packages[name] ?? name),
        bytes: 0,
        renders: 0,
        'left to react-dom': 0,
      };
      table[name] = row;
      const { default: make } = (await import(
        pathToFileURL(join(import.meta.dirname, 'apps', app)).href
      )) as App;
      for (const [way, render] of Object.entries(ways)) {
        const expected = await whole(make, (element) => render(stock.stock, element));
        assert.equal(
          await whole(make, (element) => render(stock.stock, element)),
          expected,
          `${way}: no two renders by react-dom are alike`,
        );
        fallbacks = [];
        const actual = await whole(make, (element) => render(sluice, element));
        row.renders += 1;
        row['left to react-dom'] += fallbacks.length;
        row.bytes = Buffer.byteLength(actual);
        assert.equal(actual, expected, way);
        assert.ok(expected.length > 60, `${way}: next to nothing was rendered: ${expected}`);
        assert.deepEqual(fallbacks, [], `${way} was left to react-dom`);
      }
    });
  }
});

function versionOf(name: string): string {
  const path = join(import.meta.dirname, 'node_modules', name, 'package.json');
  return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
}

async function whole(
  make: () => unknown,
  render: (element: unknown) => string | Promise<string>,
): Promise<string> {
  const made = await make();
  const { element, after: collected } = isMade(made) ? made : { element: made, after: () => '' };
  return (await render(element)) + collected();
}

function isMade(made: unknown): made is Made {
  return typeof made === 'object' && made !== null && 'after' in made;
}

async function streamed(renderer: Renderer, element: unknown): Promise<string> {
  let html = '';
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      html += chunk.toString();
      done();
    },
  });
  const { pipe } = renderer.renderToPipeableStream(element, {
    onShellReady: () => pipe(sink),
    onShellError: (error: Error) => sink.destroy(error),
  });
  await once(sink, 'finish');
  return html;
}
