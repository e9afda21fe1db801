import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { Control } from '../src/control/control.js';
import type { CalledHost, ToGateway } from '../src/control/messages.js';
import { OutgoingCalls } from '../src/host/outgoing-calls.js';
import { FakeGateway } from './fake-gateway.js';

type Told = Extract<ToGateway, { type: 'called' }>;

/** A host that answers, fails, breaks, upgrades, or answers when it is told to. */
async function upstream(t: TestContext) {
  const held: http.ServerResponse[] = [];
  const server = http.createServer((request, response) => {
    if (request.url === '/break') request.socket.destroy();
    else if (request.url === '/hold') held.push(response);
    else response.writeHead(request.url === '/fail' ? 503 : 200).end('ok');
  });
  server.on('upgrade', (_request, socket) =>
    socket.end('HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
  );
  await once(server.listen(0), 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { port: (server.address() as AddressInfo).port, held };
}

async function served(t: TestContext) {
  const gateway = await FakeGateway.serve('outgoing-calls.cjs');
  t.after(() => gateway.stop());
  const { port, held } = await upstream(t);
  const ask = (by: string, path: string) => gateway.ask({ path: `/?by=${by}&port=${port}&path=${path}` });
  const line = async (isIt: (host: CalledHost) => boolean) => {
    const found = await gateway.line('called', ({ hosts }) => (hosts as CalledHost[]).some(isIt));
    return (found['hosts'] as CalledHost[]).filter(isIt) as [CalledHost];
  };
  return { gateway, ask, line, port, held };
}

function answersOf({ counts = [] }: CalledHost): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

void test('calls of http and fetch are told by host and port, without path and credentials', async (t) => {
  const { ask, line, port, gateway } = await served(t);
  await ask('http,http,fetch,upgrade', '/ok');
  const [host] = await line(({ calls }) => calls === 4);
  assert.equal(host.host, `localhost:${port}`);
  assert.deepEqual([host.errors, host.failed, host.waiting, answersOf(host)], [0, 0, 0, 4]);
  await ask('http', '/ok?secret');
  await line(({ calls }) => calls === 1);
  assert.doesNotMatch(JSON.stringify(gateway.lines), /secret|user/);
});

void test('WebSockets and tunnels of undici do not wait for ever', async (t) => {
  const { ask, line } = await served(t);
  await ask('tunnels,fetch', '/ok');
  const [host] = await line(({ calls }) => calls > 0);
  assert.deepEqual([host.calls, host.waiting], [1, 0]);
});

void test('calls without an answer and answers of 500 are told apart', async (t) => {
  const { ask, line } = await served(t);
  await ask('http,fetch', '/fail');
  const [failing] = await line(({ failed }) => failed > 0);
  assert.deepEqual([failing.calls, failing.failed, failing.errors, answersOf(failing)], [2, 2, 0, 2]);
  await ask('http,fetch', '/break');
  await ask('abort', '/hold');
  const [broken] = await line(({ errors }) => errors > 0);
  assert.deepEqual([broken.calls, broken.errors, broken.waiting, answersOf(broken)], [3, 3, 0, 0]);
});

void test('a call that waits is told every second, and its end', async (t) => {
  const { ask, line, held } = await served(t);
  const asked = ask('fetch', '/hold');
  const [first] = await line(({ waiting }) => waiting === 1);
  assert.ok(first.oldest_us > 0, String(first.oldest_us));
  const [later] = await line(({ waiting, calls }) => waiting === 1 && calls === 0);
  assert.ok(later.oldest_us > first.oldest_us);
  held[0]?.end('at last');
  await asked;
  const [answered] = await line((host) => answersOf(host) === 1);
  assert.equal(answered.waiting, 0);
  assert.ok((answered.times_us?.[0] ?? 0) > later.oldest_us * 0.9, JSON.stringify(answered));
});

void test('a request that ends after it was destroyed or answered waits no more', async (t) => {
  const { ask, line } = await served(t);
  await ask('late', '/hold');
  const [late] = await line(({ calls }) => calls === 1);
  assert.deepEqual([late.waiting, late.errors], [0, 1]);
  await ask('early', '/fail');
  const [early] = await line(({ failed }) => failed === 1);
  assert.deepEqual([early.calls, early.waiting, answersOf(early)], [1, 0, 1]);
});

void test('messages of another form on the channels are no calls, and do not end the app', async (t) => {
  const { ask, line, gateway } = await served(t);
  await ask('strange', '/ok');
  await ask('http', '/ok');
  await line(({ calls }) => calls === 1);
  assert.equal(gateway.output, '');
});

void test('an app that calls nobody tells of no call', async (t) => {
  const { gateway } = await served(t);
  await gateway.ask({ path: '/' });
  const beats = () => gateway.lines.filter(({ type }) => type === 'beat').length;
  await gateway.until('third beat', () => beats() > 2 || undefined);
  assert.equal(
    gateway.lines.some(({ type }) => type === 'called'),
    false,
  );
});

void test('hosts beyond 50 count together, and hosts without a call make room', async () => {
  const told: Told[] = [];
  const send = (message: ToGateway) => message.type === 'called' && told.push(message) > 0;
  const calls = new OutgoingCalls({ send } as unknown as Control);
  const many = Array.from({ length: 60 }, (_, at) => ({ request: {}, host: `h${at}.test` }));
  for (const { request, host } of many) calls.begin(request, host);
  const until = async (lines: number) => {
    const deadline = performance.now() + 20_000;
    while (told.length < lines) {
      assert.ok(performance.now() < deadline, `${told.length} lines`);
      await new Promise((done) => setTimeout(done, 20));
    }
    return (told[lines - 1] as Told).hosts;
  };
  const first = await until(1);
  assert.equal(first.length, 51);
  assert.deepEqual([first.at(-1)?.host, first.at(-1)?.waiting], ['other', 10]);
  for (const { request } of many) calls.answered(request, 200);
  calls.answered({}, 200);
  assert.equal((await until(2)).length, 51);
  calls.begin({}, 'late.test');
  assert.deepEqual(
    (await until(3)).map(({ host }) => host),
    ['late.test'],
  );
});
