// Mistakes of an app's callbacks, and trees that are made to cost much: the page and the process go on.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Assets } from '../../src/boxes/assets.js';
import { InvalidTree } from '../../src/pages/check.js';
import { createPages } from '../../src/pages/pages.js';
import { pageHandler, respondBox } from '../../src/pages/http.js';
import { createServer } from '../../src/http/handler.js';
import type { Hydration, Rendering } from '../../src/component.js';
import { listen } from '../support/server.js';
import { boxesIn, registryForTests, textOf } from './support.js';

/** Rejections that nobody handles would end the process. */
function watchRejections(t: TestContext): unknown[] {
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);
  process.on('unhandledRejection', note);
  t.after(() => process.off('unhandledRejection', note));
  return unhandled;
}

test('an onError that throws ends neither the page nor the process', async (t) => {
  const unhandled = watchRejections(t);
  t.mock.method(console, 'error', () => {});
  const registry = registryForTests();
  registry.register('Later', async () => {
    await new Promise((resolve) => setImmediate(resolve));
    throw new Error('It rejected later');
  });
  const pages = createPages({
    registry,
    onError: () => {
      throw new Error('The log is full');
    },
  });
  const boxes = ['Later', 'Throws', 'Nobody', 'Text'].map((component) => ({ component }));
  const page = await pages.render({ boxes });
  const html = await textOf(page);
  assert.deepEqual(
    boxesIn(html).map(({ hole }) => hole),
    ['error', 'error', 'unknown', undefined],
  );
  await page.report;
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(unhandled, []);
});

test('a placeholder that is no text is none, and the page goes on', async () => {
  const registry = registryForTests();
  const placeholder = (() => 7) as unknown as () => string;
  registry.register('Odd', () => '', { rendering: 'client', placeholder });
  const pages = createPages({ registry });
  const html = await textOf(await pages.render({ boxes: [{ component: 'Odd' }, { component: 'Text' }] }));
  assert.equal(boxesIn(html).length, 2);
});

test('a tree whose values are repeated for too many items is refused', async () => {
  const pages = createPages({ registry: registryForTests() });
  const items = Array.from({ length: 4_000 }, (_, index) => index);
  const title = Array.from({ length: 1_000 }, () => 0);
  const any = Array.from({ length: 1_000 }, () => ({ exists: '$.nothing' }));
  for (const node of [{ props: { title } }, { if: { any } }]) {
    const tree = { boxes: [{ component: 'Text', each: '$.items', ...node }] };
    await assert.rejects(pages.render(tree, { items }), InvalidTree);
  }
});

const assets: Assets = {
  runtime: '/runtime.js',
  components: { Text: { js: ['/text.js'], css: [] }, Static: { js: ['/static.js'], css: [] } },
};

async function preloaded(
  ...nodes: { component: string; rendering?: Rendering; hydration?: Hydration }[]
): Promise<readonly string[]> {
  const pages = createPages({ registry: registryForTests(), assets });
  const html = await textOf(await pages.render({ boxes: nodes }));
  return [...html.matchAll(/rel="modulepreload" href="([^"]+)"/g)].map(([, href = '']) => href);
}

test('code is preloaded by what the boxes say, in place of their components', async () => {
  assert.deepEqual(await preloaded({ component: 'Text' }), ['/runtime.js', '/text.js']);
  assert.deepEqual(await preloaded({ component: 'Text', hydration: 'visible' }), ['/runtime.js']);
  assert.deepEqual(await preloaded({ component: 'Text', rendering: 'static' }), []);
  assert.deepEqual(await preloaded({ component: 'Static', rendering: 'server' }), [
    '/runtime.js',
    '/static.js',
  ]);
  const mixed = await preloaded({ component: 'Text', hydration: 'idle' }, { component: 'Text' });
  assert.deepEqual(mixed, ['/runtime.js', '/text.js']);
});

test('a page with many sources gives no warning of a leak', async (t) => {
  const warnings: string[] = [];
  const note = ({ message }: Error): void => void warnings.push(message);
  process.on('warning', note);
  t.after(() => process.off('warning', note));
  const pages = createPages({ registry: registryForTests(), sources: { functions: { one: () => 1 } } });
  const boxes = Array.from({ length: 20 }, () => ({ component: 'Text', data: { one: { source: 'one' } } }));
  await textOf(await pages.render({ boxes }));
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(warnings, []);
});

const DEEP = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
const isEqual = { equals: [{ $path: '$.a' }, { $path: '$.b' }] };

test('posted data that is nested too deep is a mistake of the caller', async (t) => {
  const pages = createPages({ registry: registryForTests() });
  const origin = await listen(t, createServer(pageHandler(pages), { onError: () => {} }));
  const tree = JSON.stringify({ boxes: [{ component: 'Text', if: isEqual }] });
  const response = await fetch(`${origin}/page`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: `{"tree":${tree},"data":{"a":${DEEP},"b":${DEEP}}}`,
  });
  assert.equal(response.status, 400);
});

test('data of a service that is nested too deep, or names a prototype, does no harm', async (t) => {
  const origin = await listen(t, (request, response) => {
    response.end(request.url === '/deep' ? DEEP : '{"title":"good","__proto__":{"title":"bad"}}');
  });
  const registry = registryForTests();
  registry.register('Copies', (props: object) => {
    const copy: Record<string, unknown> = {};
    for (const key of Object.keys(props)) copy[key] = (props as typeof copy)[key];
    return `<p>${Object.getPrototypeOf(copy) === Object.prototype ? 'as it was' : 'replaced'}</p>`;
  });
  const pages = createPages({ registry, sources: { origins: [origin] } });
  const node = (path: string) => ({
    component: 'Copies',
    data: { given: { url: `${origin}${path}` } },
    props: { $path: '$.given' },
  });
  const html = await textOf(await pages.render({ boxes: [node('/deep'), node('/named')] }));
  assert.match(html, /as it was/);
  const holes = boxesIn(html).map(({ hole }) => hole);
  assert.deepEqual(holes, ['error', undefined]);
});

test('a posted nonce that is none is a mistake of the caller', async (t) => {
  const pages = createPages({ registry: registryForTests() });
  const origin = await listen(t, createServer(pageHandler(pages)));
  const response = await fetch(`${origin}/page`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ tree: { boxes: [] }, nonce: 'x"onload="' }),
  });
  assert.equal(response.status, 400);
  assert.match(await response.text(), /nonce/);
});

test('the data of a box is found by a URL that has no host', async (t) => {
  const pages = createPages({ registry: registryForTests() });
  const origin = await listen(
    t,
    createServer(async (request, response) => {
      request.url = '//?box=b0';
      await respondBox(pages, request, response, { boxes: [{ component: 'Text' }] });
      return true;
    }),
  );
  assert.equal((await fetch(origin)).status, 200);
});
