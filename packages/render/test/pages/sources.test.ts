// Data for pages: what may be asked for, within which limits, and what becomes of a page without it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPages } from '../../src/pages/pages.js';
import { SourceError, Sources } from '../../src/pages/sources.js';
import type { Source } from '../../src/pages/tree.js';
import { listen } from '../support/server.js';
import { threadServer } from '../support/thread-server.js';
import { boxesIn, innerText, registryForTests, textOf } from './support.js';

const context = { request: undefined, signal: new AbortController().signal };
const scope = { root: { id: 7, word: '../admin', tags: ['a', 'b'] } };

async function ask(sources: Sources, source: Source): Promise<unknown> {
  return (await sources.of(context).all({ it: source }, scope))['it'];
}

void test('an allowed service is asked with encoded segments and parameters', async (t) => {
  const origin = await listen(t, (request, response) => {
    response.end(
      JSON.stringify({ url: request.url, accept: request.headers.accept, token: request.headers['x-token'] }),
    );
  });
  const sources = new Sources({ origins: [origin], headers: () => ({ 'x-token': 's' }) });
  const source = {
    url: `${origin}/v1/?fixed=1`,
    path: ['products', { $path: '$.id' }, 'a/b?c#d'],
    query: { tag: { $path: '$.tags' }, q: '&x=1', none: { $path: '$.none' } },
  };
  assert.deepEqual(await ask(sources, source), {
    url: '/v1/products/7/a%2Fb%3Fc%23d?fixed=1&tag=a&tag=b&q=%26x%3D1',
    accept: 'application/json',
    token: 's',
  });
});

void test('no tree asks a service that is not allowed, whatever its data says', async (t) => {
  let asked = 0;
  const other = await listen(t, (_request, response) => {
    asked += 1;
    response.end('{}');
  });
  const origin = await listen(t, (_request, response) => {
    response.writeHead(302, { location: other }).end();
  });
  const sources = new Sources({ origins: [origin] });
  const { host } = new URL(origin);
  for (const source of [
    { url: other },
    { url: origin },
    { url: `http://${host}@${new URL(other).host}/` },
    { url: `http://user:secret@${host}/` },
    { url: origin, path: ['..', 'x'] },
    { url: `${origin}/public/`, path: [{ $path: '$.none' }] },
    { url: `${origin}/public/`, path: ['.'] },
    { url: 'http://169.254.169.254/latest/meta-data/' },
    { url: 'http://localhost/' },
  ]) {
    await assert.rejects(ask(sources, source), SourceError, source.url);
  }
  assert.equal(asked, 0);
  assert.equal(await ask(sources, { url: other, default: 'fallback' }), 'fallback');
});

void test('a source that answers late, wrongly or too much has failed', async (t) => {
  const origin = await listen(t, (request, response) => {
    if (request.url === '/slow') return;
    if (request.url === '/error') response.writeHead(500).end('{}');
    else if (request.url === '/text') response.end('<html>');
    else response.end(JSON.stringify('x'.repeat(1_000)));
  });
  const sources = new Sources({ origins: [origin], bytesMax: 500 });
  await assert.rejects(ask(sources, { url: `${origin}/slow`, timeoutMs: 20 }), { isLate: true });
  await assert.rejects(ask(sources, { url: `${origin}/error` }), /answered 500/);
  await assert.rejects(ask(sources, { url: `${origin}/text` }), SourceError);
  await assert.rejects(ask(sources, { url: `${origin}/large` }), /more than 500 bytes/);
  await assert.rejects(ask(sources, { source: 'nothing' }), /not registered/);
  await assert.rejects(ask(sources, { source: 'toString' }), /not registered/);
});

void test('a reply that came in time while the process was busy is not late', async (t) => {
  const server = await threadServer(t, '{"ok":true}');
  const sources = new Sources({ origins: [server.origin] });
  const value = await server.askWhileBusy(() => ask(sources, { url: server.origin, timeoutMs: 500 }), 600);
  assert.deepEqual(value, { ok: true });
});

void test('a page waits for its own data, and a box for that of its node alone', async () => {
  const asked: unknown[] = [];
  const pages = createPages({
    registry: registryForTests(),
    sources: {
      functions: {
        echo: (args) => {
          asked.push(args);
          return args;
        },
        fails: () => {
          throw new Error('out of order');
        },
      },
    },
  });
  const page = await pages.render(
    {
      data: { product: { source: 'echo', args: { id: { $path: '$.id' } } } },
      boxes: [
        { component: 'Text', props: { title: { $path: '$.product.id' } } },
        { component: 'Text', data: { it: { source: 'fails' } }, props: { title: { $path: '$.it' } } },
        {
          component: 'Text',
          data: { it: { source: 'fails', default: 'none' } },
          props: { title: { $path: '$.it' } },
        },
        {
          component: 'Text',
          data: { list: { source: 'echo', args: [1, { $path: '$.product.id' }] } },
          each: '$.list',
          props: { title: { $path: '@' } },
        },
      ],
    },
    () => ({ id: 42 }),
  );
  const boxes = boxesIn(await textOf(page));
  assert.deepEqual(
    boxes.map(({ element, hole }) => hole ?? innerText(element)),
    ['42', 'error', 'none', '1', '42'],
  );
  assert.deepEqual(asked, [{ id: 42 }, [1, 42]]);
  await assert.rejects(pages.render({ data: { x: { source: 'fails' } }, boxes: [] }), SourceError);
  await assert.rejects(
    pages.render({ boxes: [] }, () => 'text'),
    TypeError,
  );
});

void test('the browser gets the props of one box when its data has come after all', async () => {
  let isBroken = true;
  const pages = createPages({
    registry: registryForTests(),
    sources: {
      functions: {
        stock: () => {
          if (isBroken) throw new Error('out of order');
          return { left: 3 };
        },
      },
    },
  });
  const tree = {
    boxes: [
      {
        component: 'Frame',
        slots: {
          main: [
            { component: 'Text', data: { s: { source: 'stock' } }, props: { title: { $path: '$.s.left' } } },
          ],
        },
      },
    ],
  };
  const html = await textOf(await pages.render(tree));
  const hole = boxesIn(html).find((box) => box.hole !== undefined);
  assert.equal(hole?.id, 'b0-0');
  await assert.rejects(pages.renderBox(tree, 'b0-0'), SourceError);
  isBroken = false;
  assert.deepEqual(await pages.renderBox(tree, 'b0-0'), { props: '{"title":3}' });
  assert.equal(await pages.renderBox(tree, 'b9'), undefined);
});
