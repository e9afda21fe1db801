// What apps are made of, rendered by react-dom and by Sluice: the same bytes, and nothing left to react-dom.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
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
};

void describe('libraries', () => {
  let stock: Pair;
  let sluice: Sluice;
  let fallbacks: string[] = [];
  let renders = 0;
  let left = 0;

  before(async () => {
    installIfStale(import.meta.dirname);
    copyRenderer(import.meta.dirname);
    stock = loadReact(import.meta.dirname);
    sluice = await loadSluice(import.meta.dirname);
    sluice.onFallback(({ reason }) => fallbacks.push(reason));
  });

  after(() => console.log(`React ${stock.version}: ${left} of ${renders} renders were left to react-dom`));

  for (const app of apps) {
    void it(basename(app, '.js'), async () => {
      const { default: make } = (await import(
        pathToFileURL(join(import.meta.dirname, 'apps', app)).href
      )) as App;
      for (const [name, render] of Object.entries(ways)) {
        const expected = await whole(make, (element) => render(stock.stock, element));
        assert.equal(
          await whole(make, (element) => render(stock.stock, element)),
          expected,
          `${name}: no two renders by react-dom are alike`,
        );
        fallbacks = [];
        const actual = await whole(make, (element) => render(sluice, element));
        renders += 1;
        left += fallbacks.length;
        assert.equal(actual, expected, name);
        assert.ok(expected.length > 60, `${name}: next to nothing was rendered: ${expected}`);
        assert.deepEqual(fallbacks, [], `${name} was left to react-dom`);
      }
    });
  }
});

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
