// Pages of `@sluice/render` in Chromium: what its server writes is what the runtime here reads.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { type TestContext, after, before, test } from 'node:test';
import {
  type PageTree,
  type Registry,
  type RenderOptions,
  createPages,
  createRegistry,
  plain,
  respond,
  respondBox,
  styleHandler,
} from '../../render/src/index.ts';
import { preact } from '../../render/src/adapters/preact.ts';
import { react } from '../../render/src/adapters/react.ts';
import { vue } from '../../render/src/adapters/vue.ts';
import { type Built, build } from './support/build.ts';
import { noBrowser, settled, view } from './support/browser.ts';

const options = { skip: noBrowser };
let built: Built;
before(async () => {
  built = await build();
});
after(() => fs.rmSync(built.folder, { recursive: true }));

function registry(): Registry {
  const registry = createRegistry({ adapters: [react(), preact(), vue(), plain] });
  built.register(registry);
  registry.register(
    'Wrong',
    () => {
      throw new Error('on the server');
    },
    { placeholder: '<i>soon</i>' },
  );
  return registry;
}

interface Served {
  readonly url: string;
  /** Has the source `slow` answer. */
  answer: () => void;
}

/** Serves one page at `/`, its holes at `/more`. */
async function serve(t: TestContext, tree: PageTree, rendering: RenderOptions = {}): Promise<Served> {
  let answer = (): void => undefined;
  const slow = new Promise<{ start: number }>((resolve) => {
    answer = () => resolve({ start: 4 });
  });
  let asked = 0;
  const pages = createPages({
    registry: registry(),
    assets: built.manifest,
    vitals: null,
    sources: {
      functions: {
        slow: () => slow,
        second: () => {
          asked += 1;
          if (asked === 1) throw new Error('not at first');
          return { start: 9 };
        },
      },
    },
  });
  const styles = styleHandler(pages);
  const server = http.createServer((request, response) => {
    void (async () => {
      const { pathname } = new URL(request.url ?? '', 'http://site');
      if (await styles(request, response)) return;
      if (pathname === '/')
        await respond(pages, request, response, tree, {}, { more: '/more', ...rendering });
      else if (pathname === '/more') await respondBox(pages, request, response, tree);
      else if (pathname.startsWith('/assets/')) {
        response.setHeader('content-type', pathname.endsWith('.css') ? 'text/css' : 'text/javascript');
        fs.createReadStream(path.join(built.folder, 'client', pathname)).pipe(response);
      } else response.writeHead(204).end();
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(async () => {
    answer();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, answer: () => answer() };
}

void test('a page of all frameworks, with slots, is taken over without a word', options, async (t) => {
  const { url } = await serve(t, {
    boxes: [
      { component: 'Card', props: { title: 'static', price: 1 } },
      {
        component: 'Frame',
        slots: {
          default: [
            { component: 'Counter', props: { start: 1 } },
            { component: 'preact/Stepper', props: { start: 2 }, hydration: 'visible' },
          ],
          aside: [{ component: 'vue/Tally', props: { start: 3 }, hydration: 'interaction' }],
        },
      },
      { component: 'plain/Note', props: { text: 'note' }, hydration: 'idle' },
      { component: 'Ids' },
      { component: 'Adder', version: '1.0.0', props: { start: 5 } },
      { component: 'Adder', props: { start: 5 } },
      { component: 'Form', props: { name: 'Ada' } },
    ],
  });
  const { page, said, asked } = await view(t);
  const [card = ''] = built.assets.components['Card']?.js ?? [];
  const addresses: string[] = [];
  page.on('request', (request) => addresses.push(new URL(request.url()).pathname));
  await page.goto(url);
  for (const text of ['add: 1', 'step 2', 'tally 3', 'note']) await page.getByText(text).click();
  for (const text of ['add: 2', 'step 3', 'tally 4', 'NOTE']) await page.getByText(text).waitFor();
  await page.getByText('sum: 5').first().click();
  await page.getByText('sum: 5').click();
  for (const text of ['sum: 6', 'sum: 15']) await page.getByText(text).waitFor();
  await settled(page);
  assert.deepEqual(said, []);
  assert.ok(!asked.includes('/assets/registry.js'), asked.join());
  // Static components are in no file with others.
  assert.ok(!addresses.includes(card), addresses.join());
});

void test('a box may be called `page`, and is taken over with its own props', options, async (t) => {
  const { url } = await serve(t, {
    boxes: [
      { component: 'Counter', id: 'page', props: { start: 7 } },
      { component: 'Counter', id: 'hole', rendering: 'client', props: { start: 3 } },
    ],
  });
  const { page } = await view(t);
  await page.goto(url);
  for (const text of ['add: 7', 'add: 3']) await page.getByText(text).click();
  for (const text of ['add: 8', 'add: 4']) await page.getByText(text).waitFor();
});

void test('styles of the set come from one file, and fit the names in the HTML', options, async (t) => {
  const { url } = await serve(t, {
    boxes: [
      { component: 'Card', props: { title: 'static', price: 1 } },
      { component: 'Counter', props: { start: 1 } },
    ],
  });
  const { page } = await view(t);
  await page.goto(url);
  const colour = await page.locator('.card').evaluate((element) => getComputedStyle(element).color);
  assert.equal(colour, 'rgb(4, 5, 6)');
});

void test('boxes that wait for data fill their places while the page is used', options, async (t) => {
  const { url, answer } = await serve(
    t,
    {
      boxes: [
        {
          component: 'Counter',
          data: { slow: { source: 'slow' } },
          props: { start: { $path: '$.slow.start' } },
        },
        { component: 'preact/Stepper', props: { start: 2 } },
      ],
    },
    { fill: 'as-ready' },
  );
  const { page, said } = await view(t);
  await page.goto(url, { waitUntil: 'commit' });
  await page.getByText('step 2').click();
  await page.getByText('step 3').waitFor();
  answer();
  await page.getByText('add: 4').click();
  await page.getByText('add: 5').waitFor();
  assert.deepEqual(said, []);
});

void test('a hole whose data failed gets it from the address for more', options, async (t) => {
  const { url } = await serve(t, {
    boxes: [
      {
        component: 'Counter',
        data: { second: { source: 'second' } },
        props: { start: { $path: '$.second.start' } },
      },
    ],
  });
  const { page } = await view(t);
  await page.goto(url);
  await page.getByText('add: 9').click();
  await page.getByText('add: 10').waitFor();
});

void test(
  'a component of the client alone is rendered in its hole, the only one that is not told of',
  options,
  async (t) => {
    const { url } = await serve(t, {
      boxes: [{ component: 'Counter', props: { start: 1 }, rendering: 'client' }, { component: 'Wrong' }],
    });
    const { page, said } = await view(t);
    await page.goto(url);
    await page.getByText('add: 1').click();
    await page.getByText('add: 2').waitFor();
    await page.getByText('soon').waitFor();
    assert.ok(
      said.every((text) => text.startsWith('[sluice] Wrong: unknown')),
      said.join('\n'),
    );
  },
);
