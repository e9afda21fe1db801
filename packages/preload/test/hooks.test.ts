import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Answer, type Ask, FakeGateway, type Line, type StartOptions } from './fake-gateway.js';

async function serve(context: TestContext, fixture: string, options?: StartOptions): Promise<FakeGateway> {
  const gateway = await FakeGateway.serve(fixture, options);
  context.after(() => gateway.stop());
  return gateway;
}

const doneOf = (gateway: FakeGateway, id: number): Promise<Line> =>
  gateway.until(`done ${id}`, () =>
    gateway.lines
      .filter(({ type }) => type === 'done')
      .flatMap((line) => line['requests'] as Line[])
      .find((line) => line['id'] === id),
  );

/** Asks and waits for the end of the hooks, so that the next request cannot be given back. */
async function settled(gateway: FakeGateway, ask: Ask = {}): Promise<Answer> {
  const id = nextId++;
  const answer = await gateway.ask({ ...ask, label: `id=${id}` });
  await doneOf(gateway, id);
  return answer;
}
let nextId = 1_000;

async function seenBy(gateway: FakeGateway, ask: Ask = {}): Promise<Record<string, unknown>> {
  return JSON.parse((await settled(gateway, ask)).body) as Record<string, unknown>;
}

test('hooks run around each request, in order, and unsubscribed ones do not', async (context) => {
  const gateway = await serve(context, 'hooks.cjs');
  const first = await seenBy(gateway, { headers: { 'x-request-id': 'abc' } });
  assert.deepEqual(first['order'], ['before']);
  assert.deepEqual([first['isSluice'], first['cart'], first['resets']], [true, 'empty', 0]);
  const second = await seenBy(gateway, { path: '/?await-before' });
  assert.deepEqual(second['order'], ['app', 'after', 'reset', 'before', 'before-awaited']);
  assert.deepEqual([second['cart'], second['resets']], ['empty', 1]);
  const after = (await gateway.printed('after')) as Record<string, unknown>;
  assert.deepEqual([after['id'], after['outcome'], after['hasResponse']], ['abc', 'answered', true]);
  assert.ok(Number(after['cpu_ms']) > 0 && Number(after['duration_ms']) > 0, JSON.stringify(after));
});

test('registrations by import and by require reach the same preload', async (context) => {
  const gateway = await serve(context, 'hooks.mjs');
  const first = await seenBy(gateway);
  assert.deepEqual(first, { order: ['import', 'require'], isSluice: [true, true] });
  assert.deepEqual((await seenBy(gateway))['order'], ['after', 'reset', 'import', 'require']);
});

test('hooks work where a command starts the app', async (context) => {
  const gateway = await serve(context, 'hooks.mjs', { viaNodeOptions: true });
  assert.deepEqual((await seenBy(gateway))['order'], ['import', 'require']);
});

test('without Sluice hooks are accepted and never called', () => {
  const file = fileURLToPath(new URL('fixtures/hooks.mjs', import.meta.url));
  const { SLUICE_SOCKET: _socket, NODE_TEST_CONTEXT: _context, ...env } = process.env;
  const text = execFileSync(process.execPath, [file, 'once'], {
    env: { ...env, PORT: '0' },
    encoding: 'utf8',
    timeout: 15_000,
  });
  assert.deepEqual(JSON.parse(text), { order: [], isSluice: [false, false] });
});

test('I1_the_next_request_waits_in_the_gate_until_the_reset_has_ended', async (context) => {
  const gateway = await serve(context, 'hooks.cjs');
  // An event stream, because what waits behind its reset is not given back.
  gateway.raw().write('GET /events?reset-ms=300 HTTP/1.1\r\nhost: a\r\nx-sluice-request: id=7\r\n\r\n');
  await gateway.printed('resetting');
  const seen = await seenBy(gateway);
  assert.deepEqual([seen['cart'], seen['resets']], ['empty', 1]);
  assert.ok(!gateway.lines.some(({ type }) => type === 'busy'));
  const beats = gateway.lines.filter(({ type }) => type === 'beat');
  assert.ok(beats.every((line) => line['overlaps_total'] === 0));
});

test('a request behind a long reset goes back to the gateway, which hears when the reset has ended', async (context) => {
  const gateway = await serve(context, 'hooks.cjs');
  const connection = gateway.raw();
  let text = '';
  connection.on('data', (part) => (text += part));
  connection.write('GET /?reset-ms=200 HTTP/1.1\r\nhost: a\r\nx-sluice-request: id=41\r\n\r\n');
  await gateway.until('the whole response', () => text.endsWith('}'));
  connection.write('GET /behind HTTP/1.1\r\nhost: a\r\nx-sluice-request: id=42\r\n\r\n');
  const busy = await gateway.line('busy');
  assert.deepEqual([busy['id'], busy['by']], [42, 41]);
  assert.ok(!gateway.lines.some(({ type }) => type === 'done'));
  await doneOf(gateway, 41);
  connection.destroy();
  const seen = await seenBy(gateway);
  assert.deepEqual(
    [seen['cart'], seen['resets'], seen['order']],
    ['empty', 1, ['app', 'after', 'reset', 'before']],
  );
});

for (const path of ['/?throw-before', '/?reject-before']) {
  test(`a beforeRequest hook that fails answers 500, and the app does not see the request (${path})`, async (context) => {
    const gateway = await serve(context, 'hooks.cjs');
    assert.equal((await settled(gateway, { path, method: 'POST', body: 'x'.repeat(100_000) })).status, 500);
    assert.deepEqual((await seenBy(gateway))['order'], ['before', 'after', 'reset', 'before']);
    await gateway.until('report', () => gateway.output.includes('a hook of beforeRequest failed: Error: '));
  });
}

test('a beforeRequest hook may answer in the place of the app', async (context) => {
  const gateway = await serve(context, 'hooks.cjs');
  const answer = await settled(gateway, { path: '/?answer-before' });
  assert.deepEqual([answer.status, answer.body], [202, 'by the hook']);
  assert.deepEqual((await seenBy(gateway))['order'], ['before', 'after', 'reset', 'before']);
});

for (const [query, name] of [
  ['throw-after', 'afterRequest'],
  ['throw-reset', 'onReset'],
]) {
  test(`a failing ${name} hook is reported and the slot is free`, async (context) => {
    const gateway = await serve(context, 'hooks.cjs');
    await gateway.ask({ path: `/?${query}`, label: 'id=7' });
    await doneOf(gateway, 7);
    assert.equal((await settled(gateway)).status, 200);
    await gateway.until('report', () => gateway.output.includes(`a hook of ${name} failed: Error: `));
  });
}

test('a reset that never ends frees the slot after its bound', async (context) => {
  const gateway = await serve(context, 'hooks.cjs');
  await gateway.ask({ path: '/?never-reset', label: 'id=7' });
  await gateway.printed('resetting');
  await doneOf(gateway, 7);
  assert.equal((await settled(gateway)).status, 200);
  assert.match(gateway.output, /took longer than 5000 ms/);
});

test('I1_a_client_that_left_runs_the_hooks_only_when_the_app_has_ended', async (context) => {
  const gateway = await serve(context, 'hooks.cjs');
  const first = gateway.raw();
  first.write(`GET /wait HTTP/1.1\r\nhost: a\r\nx-sluice-request: id=7\r\n\r\n`);
  await gateway.printed('waiting');
  first.destroy();
  await doneOf(gateway, 7);
  const after = (await gateway.printed('after')) as Record<string, unknown>;
  assert.equal(after['outcome'], 'aborted');
});

test('a client that left during an awaited beforeRequest hook never reaches the app', async (context) => {
  const gateway = await serve(context, 'hooks.cjs');
  const first = gateway.raw();
  first.write(`GET /?await-before HTTP/1.1\r\nhost: a\r\nx-sluice-request: id=7\r\n\r\n`);
  first.once('connect', () => setTimeout(() => first.destroy(), 10));
  assert.equal((await doneOf(gateway, 7))['left'], 'abandoned');
  const seen = await seenBy(gateway);
  assert.deepEqual(seen['order'], ['before', 'before-awaited', 'after', 'reset', 'before']);
});

test('a stream and an upgrade run their hooks where they leave the slot', async (context) => {
  const gateway = await serve(context, 'hooks.cjs');
  const ask = (path: string, id: number, headers = ''): void => {
    gateway.raw().write(`GET ${path} HTTP/1.1\r\nhost: a\r\n${headers}x-sluice-request: id=${id}\r\n\r\n`);
  };
  ask('/events?reset-ms=50', 7);
  assert.equal((await doneOf(gateway, 7))['left'], 'stream');
  ask('/ws?throw-before', 8, 'connection: upgrade\r\nupgrade: echo\r\n');
  await doneOf(gateway, 8);
  ask('/ws', 9, 'connection: upgrade\r\nupgrade: echo\r\n');
  assert.equal((await doneOf(gateway, 9))['left'], 'upgrade');
  const outcomes = gateway.output
    .split('\n')
    .filter((line) => line.startsWith('{"after"'))
    .map((line) => (JSON.parse(line) as { after: Record<string, unknown> }).after);
  assert.deepEqual(
    outcomes.map(({ outcome, hasResponse }) => [outcome, hasResponse]),
    [
      ['stream', true],
      ['upgrade', false],
      ['upgrade', false],
    ],
  );
  assert.equal((await seenBy(gateway))['resets'], 3);
});
