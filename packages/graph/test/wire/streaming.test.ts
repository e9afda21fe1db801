// Answers in parts over HTTP, for clients that read slowly, leave in the middle, or meet an error there.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get as getOf, type IncomingMessage } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { eventually } from '../../../../tests/support/eventually.js';
import { RouteError, Router, type RouteParts } from '../../src/router/index.js';
import { graphHandler } from '../../src/wire/index.js';
import { serveGraph } from './support.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const ROWS = 200;
const ROW_BYTES = 512 * 1024;
const QUERY = `method=get&paths=${encodeURIComponent(JSON.stringify([['rows', { to: ROWS - 1 }]]))}`;
const headers = { accept: 'application/x-ndjson' };
/** Bounds the rows that are on their way: a few in the router, and those in the buffers of two sockets. */
const AHEAD_MAX = 60;

/** Route of large rows, one by each part, up to `failsAt`. */
class Rows {
  readonly route = 'rows[{integers:rows}]';
  readonly held: WeakRef<object>[] = [];
  readonly #failsAt: number;
  isLeft = false;

  constructor(failsAt = ROWS) {
    this.#failsAt = failsAt;
  }

  async *get(): AsyncGenerator<RouteParts> {
    try {
      for (let row = 0; row < ROWS; row += 1) {
        if (row === this.#failsAt) throw new RouteError('The rest is lost', { statusCode: 503 });
        const value = { row, text: String(row).padStart(ROW_BYTES, '.') };
        this.held.push(new WeakRef(value));
        yield { path: ['rows', row], value };
      }
    } finally {
      this.isLeft = true;
    }
  }

  get made(): number {
    return this.held.length;
  }

  get alive(): number {
    collect();
    return this.held.filter((one) => one.deref() !== undefined).length;
  }

  /** Waits until no more rows are made. */
  async rest(): Promise<void> {
    for (let before = -1, same = 0; same < 100; before = this.made) {
      await turn();
      same = this.made === before ? same + 1 : 0;
    }
  }
}

async function open(url: string): Promise<IncomingMessage> {
  const asking = getOf(`${url}?${QUERY}`, { headers });
  const [response] = (await once(asking, 'response')) as [IncomingMessage];
  return response;
}

/** Lines of an answer, which is read no faster than they are taken. */
async function* linesOf(response: IncomingMessage): AsyncGenerator<string> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) {
    const lines = (text + (chunk as string)).split('\n');
    text = lines.pop() ?? '';
    yield* lines;
  }
}

/** Value of a row in a line of the answer. */
function rowOf(line: string): unknown {
  const part = JSON.parse(line) as { readonly jsonGraph?: { readonly rows?: Record<string, unknown> } };
  return Object.values(part.jsonGraph?.rows ?? {})[0];
}

void test('a client that reads slowly bounds the rows that are held, and gets all', async (t) => {
  const rows = new Rows();
  const url = await serveGraph(t, new Router([rows]));
  const response = await open(url);
  await rows.rest();
  assert.ok(rows.made < AHEAD_MAX, `${rows.made} rows were made for a client that reads nothing`);
  let read = 0;
  let last = '';
  for await (const line of linesOf(response)) {
    const value = rowOf(line) as { readonly value?: { readonly row: number } } | undefined;
    if (value !== undefined) assert.equal(value.value?.row, read++);
    last = line;
    if (read % 40 === 20) {
      await rows.rest();
      assert.ok(rows.made < read + AHEAD_MAX, `${rows.made} rows were made when ${read} were read`);
      assert.ok(rows.alive < AHEAD_MAX, `${rows.alive} rows are held when ${read} were read`);
    }
  }
  assert.equal(read, ROWS);
  assert.equal(last, '{"end":true}');
});

void test('a client of Fetch that reads slowly bounds the rows that are made', async () => {
  const rows = new Rows();
  const graph = graphHandler(new Router([rows]));
  const response = await graph.fetch(new Request(`http://shop.test/model.json?${QUERY}`, { headers }));
  const reader = (response as Response).body?.getReader();
  for (let read = 1; read <= 20; read += 1) {
    await reader?.read();
    await rows.rest();
    assert.ok(rows.made <= read + 6, `${rows.made} rows were made when ${read} were read`);
  }
  await reader?.cancel();
  await rows.rest();
  assert.ok(rows.isLeft);
  assert.ok(rows.made < ROWS);
});

void test('a client that leaves in the middle of a large answer ends its generator, and nothing is held', async (t) => {
  const rows = new Rows();
  const url = await serveGraph(t, new Router([rows]), { onError: (error) => assert.fail(String(error)) });
  const response = await open(url);
  await once(response, 'data');
  response.pause();
  await rows.rest();
  assert.equal(rows.isLeft, false);
  response.destroy();
  for (let at = 0; at < 10_000 && !rows.isLeft; at += 1) await turn();
  assert.ok(rows.isLeft);
  assert.ok(rows.made < AHEAD_MAX);
  for (let at = 0; at < 1_000 && rows.alive > 2; at += 1) await turn();
  assert.ok(rows.alive <= 2, `${rows.alive} rows are held`);
});

void test('a client that takes nothing for the time of a request loses its connection, and nothing is held', async (t) => {
  const rows = new Rows();
  const reported: unknown[] = [];
  const onError = (error: unknown): void => void reported.push(error);
  const url = await serveGraph(t, new Router([rows], { timeoutMs: 1_500, onError }), { onError });
  const response = await open(url);
  await eventually(() => rows.isLeft, { what: 'the end of the generator' });
  assert.ok(rows.made < AHEAD_MAX);
  await eventually(() => reported.length > 0, { what: 'the report' });
  for (let at = 0; at < 50 && rows.alive > 1; at += 1) await turn();
  assert.ok(rows.alive <= 1, `${rows.alive} rows are held`);
  const lines: string[] = [];
  await assert.rejects(
    async () => {
      for await (const line of linesOf(response)) lines.push(line);
    },
    { code: 'ECONNRESET' },
  );
  // All parts before it are whole, and in their order.
  assert.deepEqual(
    lines.map((line) => (rowOf(line) as { readonly value: { readonly row: number } }).value.row),
    lines.map((_, row) => row),
  );
  assert.match(String(reported), /^RouteError: No part was read for 1500 ms$/);
});

void test('a client of Fetch that takes nothing for the time of a request has its body failed', async () => {
  const rows = new Rows();
  const reported: unknown[] = [];
  const onError = (error: unknown): void => void reported.push(error);
  const graph = graphHandler(new Router([rows], { timeoutMs: 300 }), { onError });
  const response = await graph.fetch(new Request(`http://shop.test/model.json?${QUERY}`, { headers }));
  await eventually(() => rows.isLeft, { what: 'the end of the generator' });
  await turn();
  assert.ok(rows.alive <= 1, `${rows.alive} rows are held`);
  await assert.rejects(async () => response?.text(), /No part was read for 300 ms/);
  assert.equal(reported.length, 1);
});

void test('a part that fails for a slow client gives errors to the rows that are left', async (t) => {
  const rows = new Rows(50);
  const url = await serveGraph(t, new Router([rows], { onError: () => undefined }));
  const response = await open(url);
  await rows.rest();
  const lines: string[] = [];
  for await (const line of linesOf(response)) {
    lines.push(line);
    await turn();
  }
  assert.equal(lines.pop(), '{"end":true}');
  const failed = JSON.parse(lines.pop() ?? '') as { readonly jsonGraph: { readonly rows: object } };
  assert.deepEqual(
    lines.map((line) => (rowOf(line) as { readonly value: { readonly row: number } }).value.row),
    Array.from({ length: 50 }, (_, row) => row),
  );
  const error = { $type: 'error', value: { message: 'The rest is lost', status: 503 } };
  const left = Array.from({ length: ROWS - 50 }, (_, at) => [at + 50, error]);
  assert.deepEqual(failed.jsonGraph, { rows: Object.fromEntries(left) as object });
});
