// The graph of a page beside other features of pages: remote boxes, holes, experiments, caches of HTML, schemas and other models.
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { test, type TestContext } from 'node:test';
import {
  createFragments,
  createPages,
  createRegistry,
  createRemote,
  createServer,
  createTaskQueue,
  type PageTree,
} from '@sluice/render';
import { react } from '@sluice/render/react';
import { createElement, type ReactElement, type ReactNode } from 'react';
import { z } from 'zod';
import type { Model } from '../../src/index.js';
import { createPageGraph, type PageGraph } from '../../src/page/server.js';
import { GraphProvider, useGraph, useValue } from '../../src/react/index.js';
import { callable, RouteError, Router, typedGraph, type RouteDefinition } from '../../src/router/index.js';
import type { DataSource, JsonGraph } from '../../src/types.js';
import { graphHandler, httpSource } from '../../src/wire/index.js';
import { pick } from '../../src/page/pick.js';
import { serve, serveGraph } from '../wire/support.js';

// A busy machine is no reason for holes.
const queue = createTaskQueue({ budgetMs: 600_000, timeoutMs: 600_000 });

type Pages = ReturnType<typeof createPages>;
type Options = Parameters<Pages['render']>[2];

/** Source of a whole graph, a turn later. */
function sourceOf(graph: JsonGraph): DataSource {
  return {
    async get(paths) {
      await turn();
      return { jsonGraph: pick(graph, paths), paths };
    },
  };
}

/** HTML of a page with the state of its graph, and what became of its boxes. */
async function pageOf(
  pages: Pages,
  graph: PageGraph,
  tree: PageTree,
  options: Options = {},
): Promise<{ html: string; state: unknown; outcomes: object }> {
  return graph.run(async () => {
    const page = await pages.render(tree, {}, { document: { bodyEnd: () => graph.script() }, ...options });
    const html = typeof page.body === 'string' ? page.body : await text(page.body);
    const json = /data-sluice-graph[^>]*>(.*?)<\/script>/su.exec(html)?.[1] ?? 'null';
    return { html, state: JSON.parse(json) as unknown, outcomes: (await page.report).outcomes };
  });
}

const timesIn = (html: string, part: string): number => html.split(part).length - 1;

function Me(): ReactElement {
  return createElement('b', null, `I am ${String(useValue('me.name'))}.`);
}

/** A service whose requests are noted. */
async function noted(
  t: TestContext,
  answer: Parameters<typeof createServer>[0],
): Promise<{ url: string; requests: { headers: IncomingHttpHeaders; body: string }[] }> {
  const requests: { headers: IncomingHttpHeaders; body: string }[] = [];
  const handle = createServer(answer);
  const url = await serve(t, (request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => (body += part.toString()));
    requests.push({ headers: request.headers, body: '' });
    const mine = requests.length - 1;
    request.on('end', () => {
      const { headers } = request;
      requests[mine] = { headers, body };
    });
    handle.emit('request', request, response);
  });
  return { url, requests };
}

void test('a remote box and boxes of the graph share no credentials, between visitors or services', async (t) => {
  const there = createRegistry();
  there.register('Recs', ({ n }: { n?: number }) => `<p>Recs ${n}</p>`, { rendering: 'static' });
  const service = await noted(t, [createFragments({ registry: there }).handle]);
  const graphs: IncomingHttpHeaders[] = [];
  const router = new Router<{ readonly name: string }>([
    { route: 'me.name', get: (_match, { data }) => ({ path: 'me.name', value: data.name }) },
  ]);
  const origin = await serveGraph(t, router, {
    data: ({ headers, raw }) => {
      graphs.push((raw as { readonly headers: IncomingHttpHeaders }).headers);
      return { name: headers['authorization'] ?? 'nobody' };
    },
  });
  const visitors = new AsyncLocalStorage<string>();
  const remote = createRemote({
    url: `${service.url}/batch`,
    timeoutMs: 60_000,
    headers: () => ({ cookie: `session=${visitors.getStore()}` }),
  });
  const registry = createRegistry({ adapters: [react()] });
  registry.register('Me', Me);
  registry.register('Recs', remote.component('Recs', { cacheS: 60 }));
  const pages = createPages({ registry, queue, deadlineMs: 600_000 });
  const tree: PageTree = {
    boxes: [{ component: 'Me' }, { component: 'Recs', props: { n: 7 } }, { component: 'Me' }],
  };
  const visit = async (name: string, isKnown = false): Promise<string> =>
    visitors.run(name, async () => {
      const source = httpSource(origin, { headers: { authorization: `for-${name}` } });
      const { html, state, outcomes } = await pageOf(pages, createPageGraph({ source }), tree);
      assert.deepEqual(state, { me: { name: `for-${name}` } });
      assert.deepEqual(outcomes, isKnown ? { rendered: 2, cached: 1 } : { rendered: 3 }, html);
      return html;
    });
  const names = ['ann', 'bob', 'cat', 'dan'];
  const htmls = await Promise.all(names.map((name) => visit(name)));
  for (const [at, name] of names.entries()) {
    assert.equal(timesIn(htmls[at] ?? '', `I am for-${name}.`), 2);
    assert.equal(timesIn(htmls[at] ?? '', 'for-'), 3, 'twice in boxes, once in the state');
    assert.equal(timesIn(htmls[at] ?? '', 'Recs 7'), 1);
    assert.doesNotMatch(htmls[at] ?? '', /session=/u);
  }
  assert.deepEqual(
    service.requests.map(({ headers }) => String(headers.cookie)).toSorted(),
    names.map((name) => `session=${name}`),
  );
  for (const { headers, body } of service.requests) {
    assert.equal(headers.authorization, undefined);
    assert.doesNotMatch(body, /for-|I am/u);
  }
  assert.equal(graphs.length, names.length);
  for (const headers of graphs) assert.equal(headers.cookie, undefined);
  // HTML of one visitor is cached for that one.
  await Promise.all([visit('ann', true), visit('eve')]);
  assert.deepEqual(
    service.requests.slice(4).map(({ headers }) => headers.cookie),
    ['session=eve'],
  );
});

void test('a remote box whose service fails, or reads a graph of its own, changes nothing in the graph of the page', async (t) => {
  const there = createRegistry({ adapters: [react()] });
  there.register('Own', Me, { rendering: 'static' });
  const fragments = createFragments({ registry: there });
  const url = await serve(t, (request, response) => {
    const graph = createPageGraph({ source: sourceOf({ me: { name: 'the service' } }) });
    if (request.url === '/down') response.writeHead(500).end();
    else graph.run(() => createServer([fragments.handle]).emit('request', request, response));
  });
  const registry = createRegistry({ adapters: [react()] });
  registry.register('Me', Me);
  for (const path of ['batch', 'down'])
    registry.register(path, createRemote({ url: `${url}/${path}`, timeoutMs: 60_000 }).component('Own'));
  const pages = createPages({ registry, queue, deadlineMs: 600_000, onError: () => undefined });
  const graph = createPageGraph({ source: sourceOf({ me: { name: 'ann' } }) });
  const boxes = ['Me', 'batch', 'down', 'Me'].map((component) => ({ component }));
  const { html, state, outcomes } = await pageOf(pages, graph, { boxes });
  assert.deepEqual(outcomes, { rendered: 3, 'remote-error': 1 });
  assert.equal(timesIn(html, 'I am the service.'), 1);
  assert.equal(timesIn(html, 'I am ann.'), 2);
  assert.deepEqual(state, { me: { name: 'ann' } });
});

void test('a box of the graph that is late or throws is a hole, and the state has its values once', async () => {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const router = new Router(
    ['Throws', 'Late', 'Slow', 'Fine'].map((name) => ({
      route: name,
      get: async () => {
        if (name === 'Slow') await released;
        return { path: [name], value: `text of ${name}` };
      },
    })),
  );
  const never = new Promise<never>(() => undefined);
  const afterwards: Record<string, () => void> = {
    Throws: () => {
      throw new Error('only in browsers');
    },
    Late: () => {
      // oxlint-disable-next-line no-throw-literal -- As components wait.
      throw never;
    },
  };
  const registry = createRegistry({ adapters: [react()] });
  const names = ['Throws', 'Late', 'Slow', 'Fine'];
  for (const name of names)
    registry.register(name, () => {
      const value = String(useValue(name));
      afterwards[name]?.();
      return createElement('p', null, value);
    });
  const pages = createPages({ registry, queue, deadlineMs: 1_500, onError: () => undefined });
  for (const fill of ['in-order', 'as-ready'] as const) {
    const graph = createPageGraph({ source: router.asDataSource(undefined, { isStream: true }) });
    const boxes = names.map((component) => ({ component }));
    const { html, state, outcomes } = await pageOf(pages, graph, { boxes }, { fill });
    assert.deepEqual(outcomes, { error: 1, late: 2, rendered: 1 }, fill);
    assert.deepEqual(state, { Throws: 'text of Throws', Late: 'text of Late', Fine: 'text of Fine' });
    for (const [name, times] of Object.entries({ Throws: 1, Late: 1, Slow: 0, Fine: 2 }))
      assert.equal(timesIn(html, `text of ${name}`), times, `${name}, ${fill}`);
  }
  release();
});

void test('boxes whose source fails are holes without a state, and boxes that ask for nothing are there', async () => {
  const registry = createRegistry({ adapters: [react()] });
  registry.register('Me', Me);
  registry.register('Plain', () => createElement('p', null, 'plain'));
  const pages = createPages({ registry, queue, deadlineMs: 600_000, onError: () => undefined });
  const source: DataSource = { get: () => Promise.reject(new Error('password of the source')) };
  const graph = createPageGraph({ source });
  const boxes = ['Me', 'Plain', 'Me'].map((component) => ({ component }));
  const { html, state, outcomes } = await pageOf(pages, graph, { boxes });
  assert.deepEqual(outcomes, { error: 2, rendered: 1 });
  assert.deepEqual(state, {});
  assert.doesNotMatch(html, /password/u);
});

void test('a visitor of one arm of an experiment asks for no value of the other arm', async () => {
  const asked: string[] = [];
  const graphOf = (): PageGraph =>
    createPageGraph({
      source: {
        get: async (paths) => {
          asked.push(JSON.stringify(paths));
          return {
            jsonGraph: pick({ old: { price: 'old price' }, next: { price: 'new price' } }, paths),
            paths,
          };
        },
      },
    });
  const registry = createRegistry({ adapters: [react()] });
  const view = (name: string) => (): ReactElement =>
    createElement('p', null, String(useValue([name, 'price'])));
  const settings = { cacheKey: () => 'one for all', rendering: 'server' } as const;
  registry.register('Price', view('old'), settings);
  registry.register('NextPrice', view('next'), settings);
  const components = { Price: { b: 'NextPrice' } };
  const experiments = [{ name: 'price', arms: { a: 1, b: 1 }, components, since: '2026-01-01' }];
  const pages = createPages({ registry, experiments, queue, deadlineMs: 600_000 });
  const tree: PageTree = { boxes: [{ component: 'Price' }] };
  for (let round = 0; round < 2; round += 1) {
    const [a, b] = await Promise.all(
      ['a', 'b'].map((arm) => pageOf(pages, graphOf(), tree, { variants: { price: arm } })),
    );
    assert.deepEqual(
      [a?.state, b?.state],
      [{ old: { price: 'old price' } }, { next: { price: 'new price' } }],
    );
    assert.doesNotMatch(a?.html ?? '', /new price/u);
    assert.doesNotMatch(b?.html ?? '', /old price/u);
  }
  assert.deepEqual(asked.toSorted(), [
    '[["next","price"]]',
    '[["next","price"]]',
    '[["old","price"]]',
    '[["old","price"]]',
  ]);
});

void test('HTML with a cacheKey around a slot is cached, and the box of the graph in the slot is not', async () => {
  let frames = 0;
  const registry = createRegistry({ adapters: [react()] });
  const Frame = ({ children }: { readonly children?: ReactNode }): ReactElement => {
    frames += 1;
    return createElement('section', null, 'Frame of ', children);
  };
  /** Reads for visitors who are logged in, as its key says. */
  const Hello = ({ isKnown }: { readonly isKnown: boolean }): ReactElement =>
    isKnown ? createElement(Me) : createElement('b', null, 'Hello.');
  const settings = { rendering: 'server' } as const;
  registry.register('Frame', Frame, { ...settings, cacheKey: () => 'all' });
  registry.register('Hello', Hello, { ...settings, cacheKey: ({ isKnown }) => String(isKnown) });
  registry.register('Me', Me, { ...settings, cacheKey: () => 'all' });
  const pages = createPages({ registry, queue, deadlineMs: 600_000 });
  const tree: PageTree = {
    boxes: [
      { component: 'Frame', slots: { default: [{ component: 'Me' }] } },
      { component: 'Hello', props: { isKnown: true } },
      { component: 'Hello', props: { isKnown: false } },
    ],
  };
  const names = ['ann', 'bob', 'cat'];
  for (const name of names) {
    const graph = createPageGraph({ source: sourceOf({ me: { name } }) });
    const { html, state, outcomes } = await pageOf(pages, graph, tree);
    assert.equal(timesIn(html, `I am ${name}.`), 2);
    assert.equal(timesIn(html, 'I am'), 2);
    assert.equal(timesIn(html, 'Hello.'), 1);
    assert.deepEqual(state, { me: { name } });
    assert.deepEqual(outcomes, name === 'ann' ? { rendered: 4 } : { rendered: 2, cached: 2 });
  }
  assert.equal(frames, 1);
});

void test('two graphs of one page show their own values, and the state has those of the graph of the page', async () => {
  const registry = createRegistry({ adapters: [react()] });
  const pagesOf = (other: Model): Pages => {
    const Other = (): ReactElement => createElement(GraphProvider, { model: other }, createElement(Me));
    registry.register('Me', Me);
    registry.register('Other', Other);
    return createPages({ registry, queue, deadlineMs: 600_000 });
  };
  const other = createPageGraph({ source: sourceOf({ me: { name: 'other' } }) });
  const graph = createPageGraph({ source: sourceOf({ me: { name: 'ann' } }) });
  const boxes = ['Me', 'Other', 'Me', 'Other'].map((component) => ({ component }));
  const { html, state } = await pageOf(pagesOf(other.model), graph, { boxes });
  assert.equal(timesIn(html, 'I am ann.'), 2);
  assert.equal(timesIn(html, 'I am other.'), 2);
  assert.deepEqual(state, { me: { name: 'ann' } });
  assert.deepEqual(other.script(), '<script type="application/json" data-sluice-graph>{}</script>');
});

void test('two visitors at the same time have models of their own, for reads, sets and calls through one router', async () => {
  const votes = new Map<string, number>();
  const routes: RouteDefinition<{ readonly name: string }>[] = [
    {
      route: 'me["name","votes"]',
      get: async ({ 1: fields }, { data: { name } }) => {
        await turn();
        return (fields as string[]).map((field) => ({
          path: ['me', field],
          value: field === 'name' ? name : (votes.get(name) ?? 0),
        }));
      },
      set: async (values, { data: { name } }) => {
        await turn();
        votes.set(name, (values as unknown as { readonly me: { readonly votes: number } }).me.votes);
      },
    },
    {
      route: 'me.vote',
      call: async (_match, _args, { data: { name } }) => {
        await turn();
        votes.set(name, (votes.get(name) ?? 0) + 10);
        return { path: 'me.votes', value: votes.get(name) };
      },
    },
  ];
  const router = new Router(routes);
  const Votes = (): ReactElement => {
    const me = useGraph<{ readonly me: { readonly name: string; readonly votes: number } }>([
      'me',
      ['name', 'votes'],
    ])?.me;
    return createElement('b', null, `${me?.name} has ${me?.votes}.`);
  };
  const registry = createRegistry({ adapters: [react()] });
  registry.register('Votes', Votes);
  const pages = createPages({ registry, queue, deadlineMs: 600_000 });
  const visit = async (name: string, own: number): Promise<void> => {
    const graph = createPageGraph({ source: router.asDataSource({ name }, { isStream: own % 2 === 0 }) });
    const set = graph.model.setValue('me.votes', own);
    const first = pageOf(pages, graph, { boxes: [{ component: 'Votes' }] });
    await set;
    await graph.model.call('me.vote');
    await first;
    const { html, state } = await pageOf(pages, graph, { boxes: [{ component: 'Votes' }] });
    assert.ok(html.includes(`${name} has ${own + 10}.`), html);
    assert.deepEqual(state, { me: { name, votes: own + 10 } });
  };
  await Promise.all(Array.from({ length: 40 }, (_, at) => visit(`v${at}`, at)));
});

void test('what a schema strips reaches no browser: of values that are set, of arguments, and of props', async () => {
  const schema = typedGraph()({
    me: {
      profile: z.object({ name: z.string().trim() }),
      add: callable(z.tuple([z.object({ sku: z.string() })])),
      added: z.object({ sku: z.string() }),
    },
  });
  const seen: unknown[] = [];
  let stored: unknown;
  const router = new Router(
    [
      schema.route('me.profile', {
        get: () => ({ path: 'me.profile', value: stored }),
        set: (values) => {
          stored = (values as { me: { profile: { value: unknown } } }).me.profile.value;
          seen.push(stored);
        },
      }),
      schema.route('me.add', {
        call: (_match, [item]) => {
          seen.push(item);
          return { path: 'me.added', value: item };
        },
      }),
      schema.route('me.added', { get: () => undefined }),
    ],
    { schema: schema.schema },
  );
  const given = { name: ' Ann ', isAdmin: 'stripped-1' };
  const handler = graphHandler(router);
  const post = async (fields: Record<string, string>): Promise<string> => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const init = { method: 'POST', headers, body: new URLSearchParams(fields) };
    return (await (await handler.fetch(new Request('http://shop.test/model.json', init)))?.text()) ?? '';
  };
  const jsonGraph = { me: { profile: { $type: 'atom', value: given } } };
  const set = await post({
    method: 'set',
    jsonGraph: JSON.stringify({ jsonGraph, paths: [['me', 'profile']] }),
  });
  const call = await post({
    method: 'call',
    callPath: '["me","add"]',
    arguments: JSON.stringify([{ sku: 'a', cost: 'stripped-2' }]),
  });
  assert.match(set, /Ann/u);
  assert.match(call, /"sku":"a"/u);
  assert.deepEqual(seen, [{ name: 'Ann' }, { sku: 'a' }]);

  const Profile = ({ of }: { readonly of: string }): ReactElement =>
    createElement('p', null, of, JSON.stringify(useValue('me.profile')));
  const registry = createRegistry({ adapters: [react()] });
  registry.register('Profile', Profile, { props: z.object({ of: z.string() }) });
  const pages = createPages({ registry, queue, deadlineMs: 600_000 });
  const graph = createPageGraph({ source: router.asDataSource() });
  const props = { of: 'ann', password: 'stripped-3' };
  const { html, state } = await pageOf(pages, graph, { boxes: [{ component: 'Profile', props }] });
  assert.match(html, /ann/u);
  assert.deepEqual(state, { me: { profile: { $type: 'atom', value: { name: 'Ann' } } } });
  for (const answer of [set, call, html]) assert.doesNotMatch(answer, /stripped/u);
  await assert.rejects(graph.model.setValue('me.profile', { name: 5, isAdmin: 'stripped-4' }));
});

void test('a route that refuses leaves a hole whose state has the error, without what it threw', async () => {
  const router = new Router(
    [
      {
        route: 'told',
        get: () => {
          throw new RouteError('not for you', { statusCode: 403 });
        },
      },
      {
        route: 'secret',
        get: () => {
          throw new Error('password of the database');
        },
      },
    ],
    { onError: () => undefined },
  );
  const registry = createRegistry({ adapters: [react()] });
  for (const name of ['told', 'secret'])
    registry.register(name, () => createElement('p', null, String(useValue(name))));
  const pages = createPages({ registry, queue, deadlineMs: 600_000, onError: () => undefined });
  const graph = createPageGraph({ source: router.asDataSource() });
  const boxes = ['told', 'secret'].map((component) => ({ component }));
  const { html, state, outcomes } = await pageOf(pages, graph, { boxes });
  assert.deepEqual(outcomes, { error: 2 });
  assert.doesNotMatch(html, /password/u);
  assert.equal(timesIn(html, 'not for you'), 1);
  const { told, secret } = state as Record<string, { readonly $type: string }>;
  assert.deepEqual([told?.$type, secret?.$type], ['error', 'error']);
});
