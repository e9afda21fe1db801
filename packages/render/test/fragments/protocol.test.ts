// Every line of the protocol that docs/guide/fragments.md describes, as a host sees it.
import assert from 'node:assert/strict';
import http from 'node:http';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { test } from 'node:test';
import { createElement } from 'react';
import { react } from '../../src/adapters/react.js';
import { createFragments, type FragmentOptions } from '../../src/fragments/fragments.js';
import { createRegistry } from '../../src/registry/registry.js';
import { eventually } from '../../../../tests/support/eventually.js';
import { burn, roundsOfMs } from '../support/burn.js';
import { post, resultOf, send, serve } from '../support/serve.js';

const registry = createRegistry({ adapters: [react()] });
registry.register('Hello', ({ name }: { name: string }) => createElement('p', null, `Hello, ${name}`));
registry.register('Static', () => '<hr>', { adapter: 'plain', rendering: 'static' });
registry.register('Empty', () => '', { adapter: 'plain', rendering: 'static' });
registry.register('Browser', () => '', {
  adapter: 'plain',
  rendering: 'client',
  placeholder: ({ n }) => `${String(n)} …`,
});
registry.register('Throws', () => {
  throw new RangeError('no such product');
});
registry.register('shop.Cart/Box-2', () => null);
registry.lazy('Broken', () => Promise.reject(new Error('no such file')));

function fragments(options: Partial<FragmentOptions> = {}) {
  return createFragments({ registry, ...options });
}

void test('a job gets its HTML, with the markup that the browser hydrates by', async (t) => {
  const url = await serve(t, fragments().handle);
  const { status, type, answer } = await post(`${url}/batch`, {
    'token-1': { name: 'Hello', data: { name: '<Ada>' }, metadata: { any: 1 } },
  });
  assert.equal(status, 200);
  assert.equal(type, 'application/json; charset=utf-8');
  assert.deepEqual(Object.keys(answer), ['success', 'error', 'results']);
  assert.equal(answer.success, true);
  assert.equal(answer.error, null);
  const { html, duration, ...rest } = resultOf(answer, 'token-1');
  assert.deepEqual(rest, { name: 'Hello', meta: {}, statusCode: 200, success: true, error: null });
  assert.ok(typeof duration === 'number' && duration >= 0);
  assert.match(
    html ?? '',
    /^<div data-hypernova-key="Hello" data-hypernova-id="([\da-f-]{36})"><p>Hello, &lt;Ada&gt;<\/p><\/div>\n<script type="application\/json" data-hypernova-key="Hello" data-hypernova-id="\1"><!--\{"name":"\\u003cAda&gt;"\}--><\/script>$/,
  );
});

void test('keys are the letters and digits of names', async (t) => {
  const url = await serve(t, fragments().handle);
  const { answer } = await post(`${url}/batch`, { a: { name: 'shop.Cart/Box-2' } });
  assert.match(resultOf(answer, 'a').html ?? '', /data-hypernova-key="shopCartBox2"/);
});

void test('static components have no markup, and client ones their placeholder', async (t) => {
  const url = await serve(t, fragments().handle);
  const { answer } = await post(`${url}/batch`, {
    a: { name: 'Static', data: {} },
    b: { name: 'Browser', data: { n: 7 } },
  });
  assert.equal(resultOf(answer, 'a').html, '<hr>');
  assert.match(resultOf(answer, 'b').html ?? '', /^<div [^>]+>7 …<\/div>\n<script [^>]+><!--\{"n":7\}-->/);
});

void test('empty HTML is a success', async (t) => {
  const url = await serve(t, fragments().handle);
  const { answer } = await post(`${url}/batch`, { a: { name: 'Empty' } });
  const { html, success, statusCode, error } = resultOf(answer, 'a');
  assert.deepEqual(
    { html, success, statusCode, error },
    { html: '', success: true, statusCode: 200, error: null },
  );
});

void test('an unknown component is a ReferenceError of its job alone', async (t) => {
  const url = await serve(t, fragments().handle);
  const { status, answer } = await post(`${url}/batch`, {
    a: { name: 'Nobody', data: {} },
    b: { name: 'Hello', data: { name: 'Bob' } },
  });
  assert.equal(status, 200);
  assert.equal(answer.success, true);
  const { error, ...rest } = resultOf(answer, 'a');
  assert.deepEqual(rest, {
    name: 'Nobody',
    html: null,
    meta: {},
    duration: 0,
    statusCode: 404,
    success: false,
  });
  assert.equal(error?.name, 'ReferenceError');
  assert.equal(error.message, 'Component "Nobody" not registered');
  assert.equal(error.stack[0], 'ReferenceError: Component "Nobody" not registered');
  assert.equal(resultOf(answer, 'b').success, true);
});

void test('a component that throws is a 500 of its job alone, with the stack by lines', async (t) => {
  const url = await serve(t, fragments().handle);
  const { status, answer } = await post(`${url}/batch`, {
    a: { name: 'Throws' },
    b: { name: 'Broken' },
    c: { name: 'Hello', data: { name: 'Bob' } },
  });
  assert.equal(status, 200);
  const { error, ...rest } = resultOf(answer, 'a');
  assert.equal(rest.statusCode, 500);
  assert.equal(rest.success, false);
  assert.equal(rest.html, null);
  assert.equal(error?.name, 'RangeError');
  assert.equal(error.message, 'no such product');
  assert.equal(error.stack[0], 'RangeError: no such product');
  assert.match(error.stack[1] ?? '', /^at .*protocol\.test/);
  assert.equal(resultOf(answer, 'b').statusCode, 500);
  assert.match(
    resultOf(answer, 'b').error?.message ?? '',
    /^Component "Broken" was not loaded: Error: no such file/,
  );
  assert.equal(resultOf(answer, 'c').success, true);
});

void test('whatever is no job is an error of that job alone', async (t) => {
  const url = await serve(t, fragments().handle);
  const { status, answer } = await post(`${url}/batch`, {
    null: null,
    text: 'Hello',
    list: [],
    number: 7,
    nameless: { data: {} },
    'name is no text': { name: { a: 1 } },
    'data is no object': { name: 'Hello', data: [1] },
    good: { name: 'Hello', data: { name: 'Bob' } },
  });
  assert.equal(status, 200);
  assert.equal(answer.success, true);
  for (const token of [
    'null',
    'text',
    'list',
    'number',
    'nameless',
    'name is no text',
    'data is no object',
  ]) {
    const { statusCode, success, html, error } = resultOf(answer, token);
    assert.deepEqual([statusCode, success, html], [400, false, null], token);
    assert.match(error?.message ?? '', /not an object|no name of a component/, token);
  }
  assert.equal(resultOf(answer, 'null').error?.message, 'Job "null" is not an object with name and data');
  assert.equal(resultOf(answer, 'null').name, null);
  assert.equal(resultOf(answer, 'good').success, true);
});

void test('data that is missing is no data', async (t) => {
  const url = await serve(t, fragments().handle);
  const { answer } = await post(`${url}/batch`, { a: { name: 'Hello' }, b: { name: 'Hello', data: null } });
  assert.match(resultOf(answer, 'a').html ?? '', /Hello, undefined.*<!--\{\}-->/s);
  assert.match(resultOf(answer, 'b').html ?? '', /<!--\{\}-->/);
});

void test('a batch of no jobs is a success', async (t) => {
  const url = await serve(t, fragments().handle);
  for (const body of ['{}', '']) {
    const { status, answer } = await post(`${url}/batch`, body);
    assert.equal(status, 200);
    assert.deepEqual(answer, { success: true, error: null, results: {} });
  }
});

void test('what is no JSON, or no object, is refused with 400', async (t) => {
  const url = await serve(t, fragments().handle);
  for (const body of ['{', 'x', '{"a":}', '[]', 'null', '"text"', '7']) {
    const { status, answer } = await post(`${url}/batch`, body);
    assert.equal(status, 400, body);
    assert.equal(answer.success, false);
    assert.match(answer.error?.message ?? '', /not valid JSON|A batch is an object/, body);
    assert.deepEqual(answer.results, {});
  }
});

void test('bodies up to the limit are taken, and larger ones refused with 413, whatever their framing', async (t) => {
  const url = await serve(t, fragments().handle);
  const body = (bytes: number) => {
    const empty = JSON.stringify({ a: { name: 'Static', data: { x: '' } } });
    return empty.replace('""', `"${'x'.repeat(bytes - empty.length)}"`);
  };
  assert.equal((await post(`${url}/batch`, body(1_024_000))).status, 200);
  const { status, answer } = await post(`${url}/batch`, body(1_024_001));
  assert.equal(status, 413);
  assert.match(answer.error?.message ?? '', /more than 1024000 bytes/);
  const chunked = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
  assert.equal((await send(`${url}/batch`, 'POST', chunked, body(1_024_000))).status, 200);
  assert.equal((await send(`${url}/batch`, 'POST', chunked, body(5_000_000))).status, 413);
  const small = await serve(t, fragments({ bytesMax: 10 }).handle);
  assert.equal((await post(`${small}/batch`, '{"a":null}')).status, 200);
  assert.equal((await post(`${small}/batch`, '{"ab":null}')).status, 413);
});

void test('compressed bodies are taken, and their limit is that of what they contain', async (t) => {
  const url = await serve(t, fragments({ bytesMax: 1_000 }).handle);
  const job = Buffer.from(JSON.stringify({ a: { name: 'Static' } }));
  const bomb = Buffer.from(JSON.stringify({ a: { name: 'Static', data: { x: 'x'.repeat(100_000) } } }));
  const encodings = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };
  for (const [encoding, compress] of Object.entries(encodings)) {
    const headers = { 'content-encoding': encoding };
    assert.equal((await send(`${url}/batch`, 'POST', headers, compress(job))).status, 200, encoding);
    assert.equal((await send(`${url}/batch`, 'POST', headers, compress(bomb))).status, 413, encoding);
    assert.equal((await send(`${url}/batch`, 'POST', headers, 'none of that')).status, 400, encoding);
  }
  assert.equal((await send(`${url}/batch`, 'POST', { 'content-encoding': 'lzma' }, job)).status, 415);
  const plain = await serve(t, fragments({ inflates: false }).handle);
  assert.equal(
    (await send(`${plain}/batch`, 'POST', { 'content-encoding': 'gzip' }, gzipSync(job))).status,
    415,
  );
});

void test('JSON is UTF-8, and other charsets are refused with 415', async (t) => {
  const url = await serve(t, fragments().handle);
  const text = JSON.stringify({ é: { name: 'Hello', data: { name: 'Zoë 🎈' } } });
  for (const type of [
    'application/json',
    'application/json; charset=utf-8',
    'text/plain',
    'application/json;charset="UTF-8"',
  ]) {
    const { status, text: reply } = await send(`${url}/batch`, 'POST', { 'content-type': type }, text);
    assert.equal(status, 200);
    assert.ok(reply.includes('Hello, Zoë 🎈'), type);
  }
  const { status } = await send(
    `${url}/batch`,
    'POST',
    { 'content-type': 'application/json; charset=latin1' },
    text,
  );
  assert.equal(status, 415);
});

void test('only POST to the endpoint is a batch', async (t) => {
  const url = await serve(t, fragments().handle);
  for (const [method, path] of [
    ['GET', '/batch'],
    ['PUT', '/batch'],
    ['HEAD', '/batch'],
    ['POST', '/'],
    ['POST', '/batch2'],
    ['POST', '/a/batch'],
  ] as const) {
    assert.equal(
      (await send(`${url}${path}`, method, {}, method === 'POST' ? '{}' : '')).status,
      404,
      `${method} ${path}`,
    );
  }
  for (const path of ['/batch?a=1', '/batch/'])
    assert.equal((await post(`${url}${path}`, '{}')).status, 200, path);
  const other = await serve(t, fragments({ endpoint: '/render' }).handle);
  assert.equal((await post(`${other}/render`, '{}')).status, 200);
  assert.equal((await send(`${other}/batch`, 'POST', {}, '{}')).status, 404);
});

void test('a batch of too many jobs is refused with 413', async (t) => {
  const url = await serve(t, fragments({ jobsMax: 2 }).handle);
  const job = { name: 'Static' };
  assert.equal((await post(`${url}/batch`, { a: job, b: job })).status, 200);
  const { status, answer } = await post(`${url}/batch`, { a: job, b: job, c: job });
  assert.equal(status, 413);
  assert.equal(answer.error?.message, 'The batch has 3 jobs; 2 are allowed');
});

void test('data that is too deep or too large is an error of its job', async (t) => {
  const url = await serve(t, fragments({ depthMax: 5, valuesMax: 100 }).handle);
  const { answer } = await post(`${url}/batch`, {
    deep: { name: 'Static', data: { a: { b: { c: { d: { e: {} } } } } } },
    many: { name: 'Static', data: { list: Array.from({ length: 101 }, () => 0) } },
    metadata: { name: 'Static', metadata: { a: { b: { c: { d: { e: {} } } } } } },
    good: { name: 'Static', data: { a: { b: { c: { d: {} } } } } },
  });
  for (const token of ['deep', 'many', 'metadata'])
    assert.equal(resultOf(answer, token).statusCode, 400, token);
  assert.match(resultOf(answer, 'deep').error?.message ?? '', /more than 5 deep/);
  assert.match(resultOf(answer, 'many').error?.message ?? '', /more than 100 values/);
  assert.equal(resultOf(answer, 'good').statusCode, 200);
  // As deep as JSON itself may be.
  const bottomless = `{"a":{"name":"Static","data":{"x":${'['.repeat(200_000)}${']'.repeat(200_000)}}}}`;
  assert.equal(resultOf((await post(`${url}/batch`, bottomless)).answer, 'a').statusCode, 400);
});

void test('names of Object.prototype are tokens, names and keys like any others', async (t) => {
  const url = await serve(t, fragments().handle);
  const body =
    '{"__proto__":{"name":"Static"},"constructor":{"name":"toString"},"a":{"name":"Hello","data":{"name":"Bob","__proto__":{"isAdmin":true},"deep":{"__proto__":{"isAdmin":true}}}}}';
  const { answer } = await post(`${url}/batch`, body);
  assert.deepEqual(Object.getOwnPropertyNames(answer.results), ['__proto__', 'constructor', 'a']);
  assert.equal(Object.getOwnPropertyDescriptor(answer.results, '__proto__')?.value.html, '<hr>');
  assert.equal(resultOf(answer, 'constructor').statusCode, 404);
  assert.equal(({} as { isAdmin?: boolean }).isAdmin, undefined);
  assert.ok(!(resultOf(answer, 'a').html ?? '').includes('isAdmin'));
});

void test('a component that is late is a 500 of its job', async (t) => {
  const slow = createRegistry();
  slow.register('Never', () => new Promise<string>(() => {}));
  slow.register('Fast', () => 'fast');
  const url = await serve(t, fragments({ registry: slow, timeoutMs: 5 }).handle);
  const { status, answer } = await post(`${url}/batch`, { a: { name: 'Never' }, b: { name: 'Fast' } });
  assert.equal(status, 200);
  assert.equal(resultOf(answer, 'a').statusCode, 500);
  assert.equal(resultOf(answer, 'a').error?.name, 'LateError');
  assert.equal(resultOf(answer, 'b').success, true);
});

void test('jobs’ durations are their own CPU time, in milliseconds', async (t) => {
  const ms = roundsOfMs(1);
  const busy = createRegistry();
  busy.register('Computes', ({ amount }: { amount: number }) => String(burn(ms * amount)));
  busy.register('Waits', async () => {
    for (let turns = 0; turns < 5; turns += 1) await new Promise((resolve) => setImmediate(resolve));
    return '';
  });
  const url = await serve(t, fragments({ registry: busy }).handle);
  const measure = async (): Promise<readonly [number, number, number]> => {
    const { answer } = await post(`${url}/batch`, {
      waits: { name: 'Waits' },
      short: { name: 'Computes', data: { amount: 5 } },
      long: { name: 'Computes', data: { amount: 40 } },
    });
    const of = (token: string): number => resultOf(answer, token).duration ?? Number.NaN;
    return [of('waits'), of('short'), of('long')];
  };
  // Measured from start to end, each would have those of the others in it. On a busy machine one round of some is of no use.
  const rounds: string[] = [];
  for (let round = 0; round < 4; round += 1) {
    const [waits, short, long] = await measure();
    if (waits < short / 2 && short < long / 3) return;
    rounds.push(`${waits} ${short} ${long}`);
  }
  assert.fail(rounds.join(', '));
});

void test('when the host has left, its jobs are not rendered', async (t) => {
  let begun = 0;
  let signal: AbortSignal | undefined;
  const waiting = createRegistry();
  waiting.register('Waits', (_props: unknown, context: { signal: AbortSignal }) => {
    begun += 1;
    ({ signal } = context);
    return new Promise<string>(() => {});
  });
  const url = await serve(t, fragments({ registry: waiting, timeoutMs: 60_000, isConcurrent: false }).handle);
  const request = http.request(`${url}/batch`, { method: 'POST' });
  request.on('error', () => {});
  request.end(JSON.stringify({ a: { name: 'Waits' }, b: { name: 'Waits' } }));
  await eventually(() => begun === 1);
  request.destroy();
  await eventually(() => signal?.aborted);
  assert.equal(begun, 1);
});

void test('Sluice is told what became of each component', async (t) => {
  const HOST = Symbol.for('sluice.render.1');
  const told: unknown[] = [];
  const global = globalThis as Record<symbol, unknown>;
  global[HOST] = {
    server: () => ({}),
    rendered: (report: { cpu_us: number }) => told.push({ ...report, cpu_us: report.cpu_us > 0 }),
  };
  t.after(() => delete global[HOST]);
  const answer = await fragments({ isConcurrent: false }).batch({
    a: { name: 'Hello', data: { name: 'Bob' } },
    b: { name: 'Throws' },
    c: { name: 'Nobody' },
    d: { name: 'Hello', data: 7 },
    e: { name: 'Browser' },
    f: { name: 'Broken' },
  });
  assert.equal(answer.success, true);
  const setting = 's100';
  assert.deepEqual(told, [
    { component: 'Hello', outcome: 'rendered', cpu_us: true, setting },
    { component: 'Throws', outcome: 'error', cpu_us: true, setting },
    { component: 'Nobody', outcome: 'unknown', cpu_us: false, setting },
    { component: 'Hello', outcome: 'invalid', cpu_us: false, setting },
    { component: 'Browser', outcome: 'client', cpu_us: false, setting },
    { component: 'Broken', outcome: 'error', cpu_us: false, setting },
  ]);
});

void test('an error whose message is no text leaves the other jobs their answers', async () => {
  const registry = createRegistry();
  registry.register('Odd', () => {
    throw Object.assign(new Error('odd'), { message: 10n, name: { odd: true } });
  });
  registry.register('Good', () => '<p></p>', { rendering: 'static' });
  const { results } = await createFragments({ registry }).batch({ a: { name: 'Odd' }, b: { name: 'Good' } });
  assert.equal(results['b']?.html, '<p></p>');
  assert.equal(results['a']?.error?.message, '10n');
  assert.match(JSON.stringify(results), /odd: true/);
});
