// What a page must not give away: props that are the server's alone, one visitor's arm or credentials to another.
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { test } from 'node:test';
import type { PlainView } from '../../src/adapters/plain.js';
import { createPages } from '../../src/pages/pages.js';
import { createRegistry } from '../../src/registry/registry.js';
import { createRemote } from '../../src/remote/remote.js';
import { remoteAdapter } from '../../src/remote/adapter.js';
import { createTaskQueue } from '../../src/tasks/queue.js';
import { listen } from '../support/server.js';
import { registryForTests, textOf } from './support.js';

const experiments = [{ name: 'exp', since: '2026-01-01', arms: { a: 1, b: 1 } }];
const publicly = { headers: { 'cache-control': 'public, max-age=60' } };

test('the props of a static box are not given to browsers', async () => {
  const pages = createPages({ registry: registryForTests() });
  const tree = {
    boxes: [
      { component: 'Static', props: { title: 'secret' } },
      { component: 'Text', rendering: 'static', props: { title: 'secret' } },
      { component: 'Text', props: { title: 'open' } },
    ],
  } as const;
  assert.equal(await pages.renderBox(tree, 'b0'), undefined);
  assert.equal(await pages.renderBox(tree, 'b1'), undefined);
  assert.deepEqual(await pages.renderBox(tree, 'b2'), { props: '{"title":"open"}' });
});

test('the props of a static component that cannot be loaded are not in the page', async () => {
  const registry = registryForTests();
  const load = (): never => {
    throw new Error('It cannot be loaded');
  };
  registry.lazy('Broken', load, { rendering: 'static' });
  const pages = createPages({ registry });
  const tree = { boxes: [{ component: 'Broken', props: { title: 'secret' } }] };
  const html = await textOf(await pages.render(tree));
  assert.match(html, /hole="error"/);
  assert.doesNotMatch(html, /secret/);
  assert.equal(await pages.renderBox(tree, 'b0'), undefined);
});

for (const [what, path] of Object.entries({
  'all arms': '$.variants',
  'all data': '$',
  'arms under another name': '$.arms',
})) {
  test(`a page with a box bound to ${what} is one visitor's`, async () => {
    const registry = registryForTests();
    registry.register('Arm', () => '<p>arm</p>', { rendering: 'static' });
    const pages = createPages({ registry, experiments });
    const tree = { boxes: [{ component: 'Arm', props: { all: { $path: path } } }] };
    const page = await pages.render(tree, ({ variants }) => ({ arms: variants }), publicly);
    await textOf(page);
    assert.equal(page.headers['cache-control'], 'private, no-cache');
  });
}

for (const format of ['html', 'json'] as const) {
  test(`a page in ${format} whose title depends on an arm is one visitor's`, async () => {
    const pages = createPages({ registry: registryForTests(), experiments });
    const tree = { document: { title: { $path: '$.variants.exp' } }, boxes: [] };
    const page = await pages.render(tree, {}, { ...publicly, format });
    await textOf(page);
    assert.equal(page.headers['cache-control'], 'private, no-cache');
  });
}

test("no header lets a shared cache have a page that is one visitor's", async () => {
  const pages = createPages({ registry: registryForTests(), experiments });
  const tree = { boxes: [{ component: 'Text', props: { title: { $path: '$.variants.exp' } } }] };
  const headersFor = async (headers: Readonly<Record<string, string>>) => {
    const page = await pages.render(tree, {}, { headers });
    await textOf(page);
    return page.headers;
  };
  const cdn = await headersFor({
    'cache-control': 'private, max-age=60',
    'cdn-cache-control': 'max-age=600',
    'cloudflare-cdn-cache-control': 'max-age=600',
    'x-accel-expires': '600',
  });
  assert.equal(cdn['cache-control'], 'private, max-age=60');
  assert.deepEqual(
    Object.keys(cdn).filter((name) => /cdn|accel/.test(name)),
    [],
  );
  const fields = await headersFor({ 'cache-control': 'max-age=60, private="set-cookie"' });
  assert.equal(fields['cache-control'], 'private, no-cache');
});

test('a page that reads no arm stays public', async () => {
  const pages = createPages({ registry: registryForTests(), experiments });
  const page = await pages.render({ boxes: [{ component: 'Text' }] }, {}, publicly);
  await textOf(page);
  assert.equal(page.headers['cache-control'], 'public, max-age=60');
});

test('two pages that ask a service at once send the credentials of their own visitor each', async (t) => {
  const asked: Record<string, unknown> = {};
  const origin = await listen(t, (request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const { j0, ...others } = JSON.parse(body) as Record<string, { data: { of: string } }>;
      assert.deepEqual(others, {});
      asked[String(request.headers.authorization)] = j0?.data.of;
      response.end(JSON.stringify({ results: { j0: { html: '<p></p>', success: true } } }));
    });
  });
  const visitors = new AsyncLocalStorage<string>();
  const remote = createRemote({
    url: `${origin}/batch`,
    headers: () => ({ authorization: visitors.getStore() ?? '' }),
  });
  const registry = createRegistry({ adapters: [remoteAdapter] });
  registry.register('Account', remote.component('Account'));
  const pages = createPages({ registry });
  const shared = Promise.resolve();
  await Promise.all(
    ['ada', 'bob'].map(async (name) =>
      visitors.run(name, async () => {
        await shared;
        const page = await pages.render(
          { boxes: [{ component: 'Account', props: { of: name } }] },
          {},
          { delivery: 'whole' },
        );
        return textOf(page);
      }),
    ),
  );
  assert.deepEqual(asked, { ada: 'ada', bob: 'bob' });
});

test('registries that share a queue do not share cached HTML of components with the same name', async () => {
  const queue = createTaskQueue();
  const htmlOf = async (html: string): Promise<string> => {
    const registry = createRegistry();
    const view: PlainView = () => html;
    registry.register('Logo', view, { rendering: 'static', cacheKey: () => 'logo' });
    const pages = createPages({ registry, queue });
    return textOf(await pages.render({ boxes: [{ component: 'Logo' }] }));
  };
  assert.match(await htmlOf('<i>first tenant</i>'), /first tenant/);
  assert.match(await htmlOf('<i>second tenant</i>'), /second tenant/);
});
