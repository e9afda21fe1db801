// Answers in parts for readers that are slow, that leave, and that stop: what is made ahead of them, and what is held.
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  RouteError,
  Router,
  type RouteContext,
  type RouteDefinition,
  type RouteParts,
} from '../../src/router/index.js';
import type { Envelope, JsonGraph, PathSet } from '../../src/types.js';
import { sent } from './support.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const ROWS = 200;
const ALL: PathSet[] = [['rows', { to: ROWS - 1 }]];

/** Route that gives a row by each part, and notes what it made. */
class Rows {
  readonly route = 'rows[{integers:rows}]';
  made = 0;
  isLeft = false;
  signal: AbortSignal | undefined;

  get(_match: unknown, { signal }: RouteContext): AsyncIterable<RouteParts> {
    this.signal = signal;
    return this.#parts();
  }

  async *#parts(): AsyncGenerator<RouteParts> {
    try {
      for (let row = 0; row < ROWS; row += 1) {
        this.made += 1;
        yield { path: ['rows', row], value: { row } };
      }
    } finally {
      this.isLeft = this.made < ROWS;
    }
  }
}

async function turns(count = 50): Promise<void> {
  for (let at = 0; at < count; at += 1) await turn();
}

const partsOf = (router: Router, paths = ALL, signal?: AbortSignal): AsyncIterator<Envelope> =>
  router.stream(paths, signal === undefined ? {} : { signal })[Symbol.asyncIterator]();

void test('a generator is a few parts ahead of a slow reader, and gives all in the end', async () => {
  const rows = new Rows();
  const parts = partsOf(new Router([rows]));
  for (let taken = 1; taken <= ROWS; taken += 1) {
    const { value } = (await parts.next()) as IteratorYieldResult<Envelope>;
    assert.deepEqual(value.paths, [['rows', taken - 1]]);
    await turns(5);
    assert.ok(rows.made <= taken + 4, `${rows.made} parts were made when ${taken} had been taken`);
  }
  assert.equal((await parts.next()).done, true);
});

void test('the next level starts when a slow reader has taken parts', async () => {
  let isNext = false;
  const keys = ['a', 'b', 'c', 'd', 'e', 'f'];
  const router = new Router([
    ...keys.map((key) => ({ route: key, get: () => ({ path: [key], value: key }) })),
    { route: 'list', get: () => ({ path: ['list'], value: { $type: 'ref', value: ['title'] } }) },
    {
      route: 'title.name',
      get: () => {
        isNext = true;
        return { path: 'title.name', value: 'Seven' };
      },
    },
  ]);
  const parts = partsOf(router, [...keys.map((key) => [key]), ['list', 'name']]);
  await parts.next();
  await turns();
  assert.equal(isNext, false);
  let last: IteratorResult<Envelope> | undefined;
  for (let next = await parts.next(); next.done !== true; next = await parts.next()) last = next;
  assert.deepEqual(sent(last?.value as Envelope), { title: { name: 'Seven' } });
});

void test('values that a reader has taken are not held, and references still lead to them', async () => {
  const held: WeakRef<object>[] = [];
  const router = new Router([
    {
      route: 'titles[{integers:ids}].text',
      get: async function* ({ ids }) {
        for (const id of ids as number[]) {
          const value = { text: 'x'.repeat(1_000), id };
          held.push(new WeakRef(value));
          yield { path: ['titles', id, 'text'], value };
        }
        // Other routes ask for the same titles after this.
        await turns(5);
      },
    },
    {
      route: 'list[{integers:places}]',
      get: async function* ({ places }) {
        await turns();
        for (const place of places as number[])
          yield { path: ['list', place], value: { $type: 'ref', value: ['titles', place] } };
      },
    },
    { route: 'last', get: async () => turns(100) },
  ]);
  const range = { to: 49 };
  const asked: PathSet[] = [['titles', range, 'text'], ['list', range, 'text'], ['last']];
  const parts = partsOf(router, asked);
  const got: string[] = [];
  const take = async (): Promise<boolean> => {
    const next = await parts.next();
    if (next.done === true) return false;
    got.push(...(next.value.paths ?? []).map((path) => JSON.stringify(path)));
    return true;
  };
  while (got.length < 100 && (await take()));
  assert.equal(held.length, 50);
  await turns();
  collect();
  const alive = held.filter((one) => one.deref() !== undefined).length;
  assert.ok(alive <= 1, `${alive} of 50 values are held`);
  while (await take());
  assert.equal(got.filter((path) => path.startsWith('["titles"')).length, 50);
  assert.equal(held.length, 50, 'no title was asked for again');
});

void test('a data source of unhandled paths waits for a slow reader, and its taken values are not held', async () => {
  const held: WeakRef<object>[] = [];
  let isNext = false;
  const router = new Router([{ route: 'own', get: () => void (isNext = true) }], {
    unhandled: {
      async *get(paths) {
        assert.deepEqual(paths, [['rows', { from: 0, to: 49 }]]);
        for (let row = 0; row < 50; row += 1) {
          const value = { row };
          held.push(new WeakRef(value));
          const jsonGraph: Record<string, unknown> = {
            rows: { [row]: { $type: 'atom', value } },
            unasked: row,
          };
          yield { jsonGraph: jsonGraph as JsonGraph };
        }
      },
    },
  });
  const parts = partsOf(router, [['rows', { to: 49 }], ['own']]);
  for (let taken = 1; taken <= 40; taken += 1) {
    await parts.next();
    await turns(3);
    assert.ok(held.length <= taken + 5, `${held.length} parts were asked for when ${taken} were taken`);
  }
  assert.ok(isNext);
  await turns();
  collect();
  const alive = held.slice(0, 30).filter((one) => one.deref() !== undefined).length;
  assert.ok(alive <= 1, `${alive} of 30 taken values are held`);
  await parts.return?.();
});

void test('a reader that leaves while a generator waits for it ends the generator', async () => {
  for (const how of ['return', 'abort']) {
    const rows = new Rows();
    const client = new AbortController();
    const parts = partsOf(new Router([rows]), ALL, client.signal);
    await parts.next();
    await turns();
    const { made } = rows;
    assert.ok(made < 10);
    if (how === 'return') await parts.return?.();
    else client.abort(new Error('left'));
    await turns();
    assert.equal(rows.made, made, how);
    assert.ok(rows.isLeft, how);
    assert.equal(rows.signal?.aborted, true);
  }
});

void test('the time that a reader takes does not count for routes, and a reader that takes nothing ends them', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const rows = new Rows();
  const parts = partsOf(new Router([rows], { timeoutMs: 1_000 }));
  for (let taken = 0; taken < 20; taken += 1) {
    const { value } = (await parts.next()) as IteratorYieldResult<Envelope>;
    assert.deepEqual(sent(value), { rows: { [taken]: { $type: 'atom', value: { row: taken } } } });
    await turns(5);
    t.mock.timers.tick(999);
  }
  await turns(5);
  t.mock.timers.tick(1);
  await turns();
  assert.equal(rows.signal?.aborted, true);
  assert.ok(rows.isLeft);
  const after: unknown[] = [];
  await assert.rejects(async () => {
    for (let next = await parts.next(); next.done !== true; next = await parts.next()) after.push(next.value);
  }, /^RouteError: No part was read for 1000 ms$/);
  assert.equal(after.length, 0, 'no part is held for it');
});

void test('a reader that takes parts steadily is not cut off, however many wait for it', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const keys = Array.from({ length: 40 }, (_, at) => `k${at}`);
  const slow: RouteDefinition = { route: 'slow', get: () => new Promise(() => undefined) };
  const quick = keys.map((key, at) => ({
    route: key,
    get: async () => {
      await turns(at);
      return { path: [key], value: key };
    },
  }));
  const parts = partsOf(new Router([...quick, slow], { timeoutMs: 1_000 }), [
    ...keys.map((key) => [key]),
    ['slow'],
  ]);
  await parts.next();
  await turns(100);
  for (const _ of keys.slice(1)) {
    t.mock.timers.tick(999);
    assert.notEqual((await parts.next()).done, true);
    await turns(2);
  }
  t.mock.timers.tick(1_000);
  const { value } = (await parts.next()) as IteratorYieldResult<Envelope>;
  assert.deepEqual(value.paths, [['slow']]);
  assert.match(JSON.stringify(value.jsonGraph), /SLU-GRAPH-TIME/);
  assert.equal((await parts.next()).done, true);
});

void test('the time of routes does not run while a reader is behind again in the turn in which it took a part', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const controls: ((value: RouteParts) => void)[] = [];
  const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  const router = new Router(
    keys.map((key) => ({ route: key, get: () => new Promise<RouteParts>((give) => controls.push(give)) })),
    { timeoutMs: 1_000 },
  );
  const parts = partsOf(
    router,
    keys.map((key) => [key]),
  );
  const give = (at: number): void => controls[at]?.({ path: [keys[at] as string], value: at });
  const first = parts.next();
  for (const at of [0, 1, 2, 3, 4]) give(at);
  await first;
  await turns(5);
  // A part comes while the one before it is taken: it is there before any reaction to the taking.
  give(5);
  const second = parts.next();
  await second;
  await turns(5);
  t.mock.timers.tick(1_000);
  await turns(5);
  await assert.rejects(async () => {
    for (let next = await parts.next(); next.done !== true; next = await parts.next());
  }, /No part was read for 1000 ms/);
});

void test('parts that a reader does not take are freed when it has taken none for too long', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const held: WeakRef<object>[] = [];
  const router = new Router(
    [
      {
        route: 'rows[{integers:rows}]',
        async *get() {
          for (let row = 0; row < ROWS; row += 1) {
            const value = { row };
            held.push(new WeakRef(value));
            yield { path: ['rows', row], value };
          }
        },
      },
    ],
    { timeoutMs: 1_000 },
  );
  const stalls: string[] = [];
  const parts = router.stream(ALL, { onStall: ({ message }) => stalls.push(message) });
  const reader = parts[Symbol.asyncIterator]();
  await reader.next();
  await turns();
  t.mock.timers.tick(1_000);
  assert.deepEqual(stalls, ['No part was read for 1000 ms']);
  await turns();
  collect();
  assert.ok(held.length > 4);
  assert.equal(held.filter((one) => one.deref() !== undefined).length, 0);
  await assert.rejects(async () => reader.next(), /No part was read/);
  assert.equal((await reader.next()).done, true);
});

void test('a router behind another one is not cut off while the reader of the outer one takes parts', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const rows = new Rows();
  const others = Array.from({ length: 12 }, (_, at) => `k${at}`);
  const router = new Router(
    others.map((key, at) => ({
      route: key,
      get: async () => {
        await turns(at);
        return { path: [key], value: key };
      },
    })),
    {
      timeoutMs: 1_000,
      unhandled: new Router([rows], { timeoutMs: 1_000 }).asDataSource(undefined, { isStream: true }),
    },
  );
  const parts = partsOf(router, [...others.map((key) => [key]), ...ALL]);
  await parts.next();
  await turns(30);
  let count = 1;
  for (;;) {
    t.mock.timers.tick(999);
    const next = await parts.next();
    if (next.done === true) break;
    await turns(3);
    count += 1;
    assert.doesNotMatch(JSON.stringify(next.value), /error/);
    assert.ok(rows.made < count + 10, `${rows.made} rows were made when ${count} parts were taken`);
  }
  assert.equal(count, 212);
});

void test('routes that are late have their time after a reader was behind', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const late: RouteDefinition = { route: 'late', get: () => new Promise(() => undefined) };
  const rows = new Rows();
  const parts = partsOf(new Router([rows, late], { timeoutMs: 1_000 }), [...ALL, ['late']]);
  for (let taken = 0; taken < ROWS; taken += 1) {
    await parts.next();
    if (taken % 50 !== 0) continue;
    await turns(5);
    t.mock.timers.tick(900);
  }
  await turns();
  t.mock.timers.tick(1_000);
  const { value } = (await parts.next()) as IteratorYieldResult<Envelope>;
  assert.deepEqual(value.paths, [['late']]);
  assert.match(JSON.stringify(value.jsonGraph), /SLU-GRAPH-TIME/);
  assert.equal((await parts.next()).done, true);
});

void test('a generator that throws for a slow reader gives errors to the paths that are left, and other routes go on', async () => {
  const router = new Router(
    [
      {
        route: 'rows[{integers:rows}]',
        async *get() {
          for (let row = 0; row < 20; row += 1) yield { path: ['rows', row], value: row };
          throw new RouteError('The rest is lost', { statusCode: 503 });
        },
      },
      {
        route: 'other[{integers:rows}]',
        async *get() {
          for (let row = 0; row < 20; row += 1) yield { path: ['other', row], value: row };
        },
      },
    ],
    { onError: () => undefined },
  );
  const parts = partsOf(router, [
    ['rows', { to: 29 }],
    ['other', { to: 19 }],
  ]);
  const rows: Record<string, unknown> = {};
  const other: Record<string, unknown> = {};
  for (let next = await parts.next(); next.done !== true; next = await parts.next()) {
    Object.assign(rows, next.value.jsonGraph['rows']);
    Object.assign(other, next.value.jsonGraph['other']);
    await turns(3);
  }
  assert.deepEqual(
    Object.values(other),
    Array.from({ length: 20 }, (_, row) => row),
  );
  for (let row = 0; row < 30; row += 1) {
    const error = { $type: 'error', value: { message: 'The rest is lost', status: 503 } };
    assert.deepEqual(rows[row], row < 20 ? row : error);
  }
});
