// Components of another service: asked for together, within a limit, and left alone while the service fails.
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { test, type TestContext } from 'node:test';
import { eventually } from '../../../../tests/support/eventually.js';
import { createFragments } from '../../src/fragments/fragments.js';
import { createServer } from '../../src/http/handler.js';
import { createPages } from '../../src/pages/pages.js';
import { createRegistry } from '../../src/registry/registry.js';
import { remoteAdapter } from '../../src/remote/adapter.js';
import {
  createRemote,
  type Remote,
  type RemoteComponentOptions,
  type RemoteOptions,
} from '../../src/remote/remote.js';
import { boxesIn, innerText, textOf } from '../pages/support.js';
import { listen } from '../support/server.js';
import { threadServer } from '../support/thread-server.js';

type Jobs = Readonly<Record<string, { readonly name: string; readonly data: { readonly n?: number } }>>;
type Answer = (jobs: Jobs, response: ServerResponse, request: IncomingMessage) => void;

/** A service whose answer the test gives, and the batches that it was asked for. */
async function service(t: TestContext, answer: Answer): Promise<{ url: string; batches: Jobs[] }> {
  const batches: Jobs[] = [];
  const origin = await listen(t, (request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const jobs = JSON.parse(body) as Jobs;
      batches.push(jobs);
      answer(jobs, response, request);
    });
  });
  return { url: `${origin}/batch`, batches };
}

const all: Answer = (jobs, response) => {
  const results = Object.entries(jobs).map(([token, { name, data }]) => [
    token,
    { name, html: `<p>${name} ${data.n ?? ''}</p>`, success: true, error: null },
  ]);
  response.end(
    JSON.stringify({ success: true, error: null, results: Object.fromEntries(results) as object }),
  );
};

const signal = new AbortController().signal;

/** A page of local and remote boxes by turns: `Recs` and `Ads` are remote. */
function pagesWith(remote: Remote, cacheS = 0): ReturnType<typeof createPages> {
  const registry = createRegistry({ adapters: [remoteAdapter] });
  registry.register('Text', () => '<p>local</p>');
  registry.register('Recs', remote.component('Recs', { cacheS }), { placeholder: '<i>soon</i>' });
  registry.register('Ads', remote.component('Advertisements'));
  return createPages({ registry });
}

const tree = {
  boxes: [
    { component: 'Text' },
    { component: 'Recs', props: { n: 1 } },
    { component: 'Text' },
    { component: 'Ads', props: { n: 2 } },
    { component: 'Recs', props: { n: 3 } },
  ],
};

async function render(
  pages: ReturnType<typeof createPages>,
): Promise<{ shown: readonly string[]; outcomes: object }> {
  const page = await pages.render(tree);
  const shown = boxesIn(await textOf(page)).map(
    ({ element, hole }) => (hole === undefined ? '' : `${hole}: `) + innerText(element),
  );
  return { shown, outcomes: (await page.report).outcomes };
}

const WITHOUT = ['local', 'remote: soon', 'local', 'remote: ', 'remote: soon'];

void test('one Sluice serves another: the remote boxes of a page are one batch of fragments', async (t) => {
  const there = createRegistry();
  for (const name of ['Recs', 'Advertisements'])
    there.register(name, ({ n }: { n?: number }) => `<p>${name} ${n}</p>`, {
      rendering: 'static',
    });
  let requests = 0;
  const fragments = createFragments({ registry: there });
  const count = async (): Promise<boolean> => {
    requests += 1;
    return Promise.resolve(false);
  };
  const origin = await listen(t, createServer([count, fragments.handle]));
  const { shown, outcomes } = await render(pagesWith(createRemote({ url: `${origin}/batch` })));
  assert.deepEqual(shown, ['local', 'Recs 1', 'local', 'Advertisements 2', 'Recs 3']);
  assert.deepEqual(outcomes, { rendered: 5 });
  assert.equal(requests, 1);
});

void test('a remote component is a fragment as well', async (t) => {
  const { url } = await service(t, all);
  const registry = createRegistry({ adapters: [remoteAdapter] });
  registry.register('Recs', createRemote({ url }).component('Recs'), { rendering: 'static' });
  const { results } = await createFragments({ registry }).batch({ a: { name: 'Recs', data: { n: 5 } } });
  assert.equal(results['a']?.html, '<p>Recs 5</p>');
});

void test('a remote box whose component throws leaves a hole alone, and empty HTML is a success', async (t) => {
  const { url } = await service(t, (_jobs, response) => {
    const error = { name: 'Error', message: 'out of stock', stack: [] };
    response.end(
      JSON.stringify({
        success: true,
        error: null,
        results: { j0: { html: null, success: false, error }, j1: { html: '', success: true, error: null } },
      }),
    );
  });
  const { shown, outcomes } = await render(pagesWith(createRemote({ url })));
  assert.deepEqual(shown, ['local', 'remote: soon', 'local', '', 'remote: soon']);
  assert.deepEqual(outcomes, { rendered: 3, 'remote-error': 2 });
});

void test('a box whose props are no JSON leaves a hole alone, in its page and in others', async (t) => {
  const { url, batches } = await service(t, all);
  const pages = pagesWith(createRemote({ url }));
  const bad = { boxes: [{ component: 'Recs', props: { n: 1n } }, { component: 'Ads' }] };
  const [first, second] = await Promise.all(
    [bad, tree].map(async (boxes) => pages.render(boxes, {}, { delivery: 'whole' })),
  );
  assert.ok(first && second);
  assert.deepEqual((await first.report).outcomes, { 'remote-error': 1, rendered: 1 });
  assert.deepEqual((await second.report).outcomes, { rendered: 5 });
  assert.equal(batches.length, 1);
});

void test('a service that answers late or nonsense, or is not there, costs its own boxes alone', async (t) => {
  const cases: [Answer, string][] = [
    [() => undefined, 'remote-late'],
    [(_jobs, response) => void response.writeHead(500).end('no'), 'remote-error'],
    [(_jobs, response) => void response.end('<html>'), 'remote-error'],
    [(_jobs, response) => void response.end('{"results":null}'), 'remote-error'],
    [(_jobs, response) => void response.end('{}'), 'remote-error'],
    [(_jobs, response) => void response.end(JSON.stringify({ results: 'x'.repeat(3_000) })), 'remote-error'],
    [(_jobs, response) => void response.writeHead(302, { location: '/elsewhere' }).end(), 'remote-error'],
    [(_jobs, response) => void response.destroy(), 'remote-error'],
    [(_jobs, response) => void response.write('{"results":'), 'remote-late'],
  ];
  for (const [answer, outcome] of cases) {
    const { url } = await service(t, answer);
    // An answer is not late because the machine is busy.
    const timeoutMs = outcome === 'remote-late' ? 50 : 10_000;
    const page = await render(pagesWith(createRemote({ url, timeoutMs, bytesMax: 2_000 })));
    assert.deepEqual(page.shown, WITHOUT);
    assert.deepEqual(page.outcomes, { rendered: 2, [outcome]: 3 });
  }
});

void test('a service that fails again and again is left alone, tried by one request, and asked again when that succeeds', async (t) => {
  let isBroken = true;
  const { url, batches } = await service(t, (jobs, response, request) => {
    if (isBroken) response.writeHead(500).end();
    else all(jobs, response, request);
  });
  const remote = createRemote({ url, failuresMax: 3, openS: 0.2 });
  const pages = pagesWith(remote);
  for (let page = 0; page < 3; page += 1) assert.deepEqual((await render(pages)).shown, WITHOUT);
  assert.ok(remote.isOpen);
  const before = batches.length;
  assert.equal(before, 3);
  const { shown, outcomes } = await render(pages);
  assert.deepEqual(shown, WITHOUT);
  assert.deepEqual(outcomes, { rendered: 2, 'remote-open': 3 });
  assert.equal(batches.length, before);
  isBroken = false;
  await eventually(async () => {
    await render(pages);
    return !remote.isOpen;
  });
  assert.equal(batches.length, before + 1, 'one request tried it');
  assert.deepEqual((await render(pages)).outcomes, { rendered: 5 });
});

void test('pages do not wait for the request that tries a service again', async (t) => {
  let isHanging = false;
  const { url, batches } = await service(t, (_jobs, response) => {
    if (!isHanging) response.writeHead(500).end();
  });
  const remote = createRemote({ url, failuresMax: 1, openS: 0.01, timeoutMs: 60_000 });
  const pages = pagesWith(remote);
  await render(pages);
  isHanging = true;
  const leave = new AbortController();
  let trial: Promise<unknown> = Promise.resolve();
  // The time for which it is left alone has to be over.
  await eventually(async () => {
    const trying = remote.render('Recs', {}, 0, leave.signal).catch((error: unknown) => error);
    trial = trying;
    return Promise.race([
      trying.then(() => false),
      eventually(() => batches.length === 2, { deadlineMs: 100 }).catch(() => false),
    ]);
  });
  const { outcomes } = await render(pages);
  assert.deepEqual(outcomes, { rendered: 2, 'remote-open': 3 });
  leave.abort();
  await trial;
});

void test("failures of components and clients who leave are not the service's", async (t) => {
  let isHanging = false;
  const { url } = await service(t, (jobs, response) => {
    if (isHanging) return;
    const results = Object.fromEntries(
      Object.keys(jobs).map((token) => [token, { html: null, success: false }]),
    );
    response.end(JSON.stringify({ results }));
  });
  const remote = createRemote({ url, failuresMax: 2, timeoutMs: 60_000 });
  for (let turn = 0; turn < 4; turn += 1)
    await assert.rejects(remote.render('Recs', {}, 0, signal), { reason: 'error' });
  isHanging = true;
  for (let turn = 0; turn < 4; turn += 1) {
    const leave = new AbortController();
    const rendering = remote.render('Recs', {}, 0, leave.signal);
    setImmediate(() => leave.abort());
    await assert.rejects(rendering, { reason: 'aborted' });
  }
  assert.equal(remote.isOpen, false);
});

void test('the request is aborted when all who wait have left, and not before', async (t) => {
  let closed = 0;
  const { url, batches } = await service(t, (_jobs, response) => {
    response.on('close', () => (closed += 1));
  });
  const remote = createRemote({ url, timeoutMs: 60_000 });
  const [first, second] = [new AbortController(), new AbortController()];
  const both = Promise.allSettled([
    remote.render('A', {}, 0, first.signal),
    remote.render('B', {}, 0, second.signal),
  ]);
  await eventually(() => batches.length === 1);
  first.abort();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(closed, 0);
  second.abort();
  await eventually(() => closed === 1);
  await both;
});

void test('a try is made again where that can help, and within the time limit', async (t) => {
  let failures = 2;
  const { url, batches } = await service(t, (jobs, response, request) => {
    failures -= 1;
    if (failures >= 0) response.writeHead(503).end();
    else all(jobs, response, request);
  });
  const options: RemoteOptions = { url, timeoutMs: 60_000 };
  await assert.rejects(createRemote(options).render('A', {}, 0, signal), { reason: 'error' });
  assert.equal(batches.length, 1, 'no further try by default');
  const { html } = await createRemote({ ...options, retries: 2 }).render('A', {}, 0, signal);
  assert.equal(html, '<p>A </p>');
  assert.equal(batches.length, 3);
});

void test('equal props are asked for once while they are cached, in whatever order', async (t) => {
  const { url, batches } = await service(t, all);
  const pages = pagesWith(createRemote({ url }), 60);
  assert.deepEqual((await render(pages)).outcomes, { rendered: 5 });
  const { shown, outcomes } = await render(pages);
  assert.deepEqual(shown, ['local', 'Recs 1', 'local', 'Advertisements 2', 'Recs 3']);
  assert.deepEqual(outcomes, { rendered: 3, cached: 2 });
  assert.deepEqual(Object.keys(batches[1] ?? {}), ['j0']);
  const remote = createRemote({ url });
  const first = await remote.render('X', { a: 1, b: { c: 2, d: 3 } }, 60, signal);
  const same = await remote.render('X', { b: { d: 3, c: 2 }, a: 1 }, 60, signal);
  const other = await remote.render('X', { a: 1, b: { c: 2, d: 4 } }, 60, signal);
  assert.deepEqual([first.isCached, same.isCached, other.isCached], [false, true, false]);
});

interface Visited {
  /** The HTML that the page of each visitor had. */
  readonly shown: readonly string[];
  /** Requests that came to the service. */
  readonly asked: number;
}

/** Pages, or batches, of these visitors one after the other; the service greets whom the headers name. */
async function visits(
  t: TestContext,
  visitors: readonly string[],
  options: RemoteComponentOptions,
  as: 'page' | 'fragment',
): Promise<Visited> {
  const greets: Answer = (jobs, response, request) => {
    const html = `<p>Hello ${String(request.headers.cookie)}</p>`;
    const results = Object.keys(jobs).map((token) => [token, { html, success: true }]);
    response.end(JSON.stringify({ results: Object.fromEntries(results) as object }));
  };
  const { url, batches } = await service(t, greets);
  const visitor = new AsyncLocalStorage<string>();
  let traces = 0;
  const headers = () => ({ Cookie: visitor.getStore() ?? '', traceparent: String((traces += 1)) });
  const registry = createRegistry({ adapters: [remoteAdapter] });
  registry.register('Hello', createRemote({ url, headers, timeoutMs: 10_000 }).component('Hello', options), {
    rendering: 'static',
  });
  const pages = createPages({ registry });
  const fragments = createFragments({ registry });
  const shown: string[] = [];
  for (const cookie of visitors) {
    await visitor.run(cookie, async () => {
      if (as === 'fragment') {
        const { results } = await fragments.batch({ a: { name: 'Hello' } });
        shown.push(results['a']?.html ?? '');
        return;
      }
      const html = await textOf(await pages.render({ boxes: [{ component: 'Hello' }] }));
      shown.push(...boxesIn(html).map(({ element }) => innerText(element)));
    });
  }
  return { shown: shown.map((text) => text.replaceAll(/<\/?p>/g, '')), asked: batches.length };
}

for (const as of ['page', 'fragment'] as const) {
  void test(`no visitor gets what is cached for another's headers, in a ${as}`, async (t) => {
    const cookies = ['user=ada', 'user=bob', 'user=ada', 'user=eve', 'user=bob'];
    const greeted = cookies.map((cookie) => `Hello ${cookie}`);
    // Each request has a trace of its own, which the HTML does not depend on.
    const varied = await visits(t, cookies, { cacheS: 60, vary: ['COOKIE'] }, as);
    assert.deepEqual(varied, { shown: greeted, asked: 3 });
    const careful = await visits(t, cookies, { cacheS: 60 }, as);
    assert.deepEqual(careful, { shown: greeted, asked: 5 });
    // Credentials count, whether they are named or not.
    const unnamed = await visits(t, cookies, { cacheS: 60, vary: [] }, as);
    assert.deepEqual(unnamed, varied);
  });
}

void test('a reply that came in time while the process was busy is not late', async (t) => {
  const answer = JSON.stringify({ results: { j0: { html: '<p>in time</p>', success: true } } });
  const server = await threadServer(t, answer);
  const remote = createRemote({ url: `${server.origin}/batch`, timeoutMs: 500 });
  const { html } = await server.askWhileBusy(() => remote.render('A', {}, 0, signal), 600);
  assert.equal(html, '<p>in time</p>');
});
