// Boxes of a page that ask for the same get one answer, and what they ask of one function at a time can be one call.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { batched } from '../../src/pages/batched.js';
import { createPages, type Pages } from '../../src/pages/pages.js';
import { SourceError, Sources, type SourcesOptions } from '../../src/pages/sources.js';
import type { TreeNode } from '../../src/pages/tree.js';
import { listen } from '../support/server.js';
import { boxesIn, innerText, registryForTests, textOf } from './support.js';

const scope = { root: {} };
const context = { request: undefined, signal: new AbortController().signal };

const pagesWith = (sources: SourcesOptions): Pages =>
  createPages({ registry: registryForTests(), sources, onError: () => undefined });

/** A box for each id, which asks for its own data. */
const listOf = (node: Partial<TreeNode>): { boxes: TreeNode[] } => ({
  boxes: [{ component: 'Frame', each: '$.ids', slots: { default: [{ component: 'Text', ...node }] } }],
});

async function titles(pages: Pages, tree: { boxes: TreeNode[] }, ids: readonly unknown[]): Promise<string[]> {
  const page = await pages.render(tree, { ids });
  const found = boxesIn(await textOf(page));
  return found.filter(({ name }) => name === 'Text').map(({ element }) => innerText(element));
}

const byId = {
  data: { it: { source: 'product', args: { id: { $path: '@' } } } },
  props: { title: { $path: '$.it.name' } },
};

void test('the same arguments are asked once for a page, and again for the next', async () => {
  const asked: unknown[] = [];
  const pages = pagesWith({
    functions: {
      product: async (args) => {
        asked.push(args);
        await sleep(1);
        return { name: `product ${(args as { id: number }).id}` };
      },
    },
  });
  const expected = ['product 1', 'product 2', 'product 1'];
  assert.deepEqual(await titles(pages, listOf(byId), [1, 2, 1]), expected);
  assert.deepEqual(asked, [{ id: 1 }, { id: 2 }]);
  await titles(pages, listOf(byId), [1]);
  assert.equal(asked.length, 3);
});

void test('the same address is asked once, also behind another source', async (t) => {
  const asked: (string | undefined)[] = [];
  const origin = await listen(t, (request, response) => {
    asked.push(request.url);
    response.end('{"name":"a"}');
  });
  const sources = new Sources({ origins: [origin] }).of(context);
  const source = { url: origin, path: ['products', '1'] };
  const first = await sources.all({ one: source, two: source }, scope);
  const later = await sources.all({ three: source, other: { ...source, query: { full: '1' } } }, scope);
  assert.deepEqual(
    { ...first, ...later },
    { one: { name: 'a' }, two: { name: 'a' }, three: { name: 'a' }, other: { name: 'a' } },
  );
  assert.deepEqual(
    asked.toSorted((one = '', other = '') => one.localeCompare(other)),
    ['/products/1', '/products/1?full=1'],
  );
});

void test('each who asks has his own time, default and name, and the last who leaves ends the question', async () => {
  let signal: AbortSignal | undefined;
  const sources = new Sources({
    functions: {
      slow: (_args, given) => {
        ({ signal } = given);
        return new Promise(() => undefined);
      },
    },
  }).of(context);
  const ask = (name: string, timeoutMs: number, more = {}): Promise<unknown> =>
    sources.all({ [name]: { source: 'slow', timeoutMs, ...more } }, scope);
  const patient = ask('patient', 60);
  assert.deepEqual(await ask('modest', 5, { default: 'none' }), { modest: 'none' });
  assert.equal(signal?.aborted, false);
  await assert.rejects(patient, (error: SourceError) => error.isLate && error.source === 'patient');
  assert.equal(signal.aborted, true);
});

void test('who asks for what was given up asks anew', async () => {
  let calls = 0;
  const sources = new Sources({
    functions: {
      first: () => {
        calls += 1;
        return calls === 1 ? new Promise(() => undefined) : 'there';
      },
    },
  }).of(context);
  await assert.rejects(sources.all({ it: { source: 'first', timeoutMs: 5 } }, scope), SourceError);
  assert.deepEqual(await sources.all({ it: { source: 'first' } }, scope), { it: 'there' });
});

void test('arguments that have no text are asked each for itself', async () => {
  let calls = 0;
  const sources = new Sources({ functions: { call: () => (calls += 1) } }).of(context);
  const source = { source: 'call', args: { with: () => 1 } };
  assert.deepEqual(await sources.all({ one: source, two: source }, scope), { one: 1, two: 2 });
});

void test('a batched function is called once for all that a page asks at a time', async () => {
  const calls: unknown[] = [];
  const pages = pagesWith({
    functions: {
      product: batched((list) => {
        calls.push(list);
        return list.map((args) => ({ name: `product ${(args as { id: number }).id}` }));
      }),
    },
  });
  const ids = Array.from({ length: 60 }, (_, index) => index % 20);
  assert.deepEqual(
    await titles(pages, listOf(byId), ids),
    ids.map((id) => `product ${id}`),
  );
  assert.deepEqual(calls, [Array.from({ length: 20 }, (_, id) => ({ id }))]);
});

void test('an error in place of a value fails that box alone, and a call has no more arguments than it may', async () => {
  const sizes: number[] = [];
  const pages = pagesWith({
    functions: {
      product: batched(
        async (list) => {
          sizes.push(list.length);
          await sleep(1);
          return list.map((args) => {
            const { id } = args as { id: number };
            return id === 3 ? new Error('no such product') : { name: `product ${id}` };
          });
        },
        { max: 2 },
      ),
    },
  });
  assert.deepEqual(await titles(pages, listOf(byId), [1, 2, 3, 4, 5]), [
    'product 1',
    'product 2',
    '',
    'product 4',
    'product 5',
  ]);
  assert.deepEqual(sizes, [2, 2, 1]);
});

void test('a batched function that gives too few values, none, or throws has failed for all', async () => {
  for (const [load, message] of [
    [() => [1], /returned 1 values for 2 arguments/],
    [() => ({}), /returned no list of values/],
    [
      () => {
        throw new Error('down');
      },
      /failed: down/,
    ],
  ] as const) {
    const sources = new Sources({ functions: { list: batched(load) } }).of(context);
    const ask = { one: { source: 'list', args: 1 }, two: { source: 'list', args: 2 } };
    await assert.rejects(sources.all(ask, scope), message);
  }
  for (const max of [0, -1, Number.NaN]) assert.throws(() => batched(() => [], { max }), RangeError);
});

void test('the signal of a batch is aborted when nobody waits for any of it', async () => {
  let signal: AbortSignal | undefined;
  const leaving = new AbortController();
  const functions = {
    list: batched((_list, given) => {
      ({ signal } = given);
      return new Promise(() => undefined);
    }),
  };
  const sources = new Sources({ functions }).of({ request: undefined, signal: leaving.signal });
  const early = sources.all({ one: { source: 'list', args: 1, timeoutMs: 5 } }, scope);
  const late = sources.all({ two: { source: 'list', args: 2, timeoutMs: 60_000 } }, scope);
  late.catch(() => undefined);
  await assert.rejects(early, { isLate: true });
  assert.equal(signal?.aborted, false);
  const aborted = once(signal, 'abort');
  leaving.abort();
  await aborted;
  await assert.rejects(late, /is no longer needed/);
});
