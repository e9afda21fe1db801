// Clients that ask too often: answered by the gateway, told when to come back, and no burden to a worker.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { RawConnection, type RawResponse } from '../support/raw.ts';
import { bounds } from '../support/bounds.ts';
import { StartFailed, type Sluice, app, runSluice, startSluice } from '../support/sluice.ts';
import type { Snapshot } from '../support/snapshot.ts';
import { ask, assertRefused, bytesOf, recordOf, running, statusWhen } from './scenario.ts';

const limited = (response: RawResponse): void => {
  assertRefused(response, 429, 'SLU-RATE-LIMITED');
  assert.match(response.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
};

const from = (address: string): { headers: string } => ({ headers: `X-Forwarded-For: ${address}\r\n` });

async function metric(sluice: Sluice, line: string): Promise<number> {
  const text = await (await fetch(`${sluice.admin}/metrics`)).text();
  const found = text.split('\n').find((candidate) => candidate.startsWith(`${line} `));
  return found === undefined ? 0 : Number(found.slice(line.length + 1));
}

void test('what is over the limit gets 429 and no worker, on a connection that stays', async (t) => {
  const config = '[rate.limits]\n"/spin" = "1/h burst 2"\n';
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config });
  const connection = await RawConnection.connect(sluice.port);
  const next = async (target: string, method = 'GET'): Promise<RawResponse> => {
    connection.send(bytesOf(target, '', method));
    return connection.response({ toHead: method === 'HEAD' });
  };
  for (const target of ['/spin', '/spin/deeper?x=1']) assert.equal((await next(target)).status, 200);
  const served = (snapshot: Snapshot): number | undefined => snapshot.workers[0]?.requests_total;
  await statusWhen(sluice, (snapshot) => served(snapshot) === 2, 'two requests served');

  const refused = await next('/spin?again');
  limited(refused);
  assert.ok(Number(refused.headers.get('retry-after')) > 3_500, 'an hour, less what the test took');
  assert.match(refused.body.toString(), /^429 Too Many Requests\n/);
  assert.equal(refused.headers.get('connection'), undefined);
  limited(await next('/spin?head', 'HEAD'));
  assert.equal(served(await sluice.status()), 2, 'the worker saw none of it');
  assert.equal((await next('/spinning')).status, 200, 'another path, the same connection');
  connection.close();

  const record = await recordOf(sluice, '/spin?again');
  assert.deepEqual(
    ['status', 'error', 'outcome', 'worker', 'class', 'peer'].map((name) => record[name]),
    [429, 'SLU-RATE-LIMITED', 'shed', null, 'GET /spin', '127.0.0.1'],
  );
  assert.equal(await metric(sluice, 'sluice_errors_total{code="SLU-RATE-LIMITED"}'), 2);
  const counted = 'sluice_requests_total{class="GET /spin",status="429",outcome="shed"}';
  assert.equal(await metric(sluice, counted), 1);
});

void test('a client that waits as Retry-After says is let through', async (t) => {
  const config = '[rate.limits]\n"/" = "30/min burst 2"\n';
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config });
  // The tests' own probes of readiness are not limited, so both of the burst are left.
  assert.deepEqual([(await ask(sluice, '/')).status, (await ask(sluice, '/')).status], [200, 200]);
  const refused = await ask(sluice, '/');
  limited(refused);
  const until = performance.now() + Number(refused.headers.get('retry-after')) * 1_000;
  while (performance.now() < until) await wait(until - performance.now());
  assert.equal((await ask(sluice, '/')).status, 200);
  limited(await ask(sluice, '/'));
});

void test('the body of a refused upload is not taken, and its sender still reads the answer', async (t) => {
  const config = '[rate.limits]\n"/upload" = "1/h"\n';
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config });
  assert.equal((await ask(sluice, '/upload', { method: 'POST', body: 'x' })).status, 200);

  const patient = await RawConnection.connect(sluice.port);
  patient.send(bytesOf('/upload', 'Content-Length: 1000000\r\nExpect: 100-continue\r\n', 'POST'));
  const refused = await patient.response();
  limited(refused);
  assert.equal(refused.headers.get('connection'), 'close');
  assert.equal((await patient.untilClosed()).length, 0);
  patient.close();

  for (const headers of ['Content-Length: 300000\r\n', 'Transfer-Encoding: chunked\r\n']) {
    const eager = await RawConnection.connect(sluice.port);
    const body = 'x'.repeat(300_000);
    const framed = headers.startsWith('T') ? `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body;
    eager.send(bytesOf(`/upload?${headers.length}`, headers, 'POST') + framed);
    limited(await eager.response());
    await eager.untilClosed();
    assert.ok(!eager.wasReset, 'a reset could have eaten the answer');
    assert.equal((await recordOf(sluice, `/upload?${headers.length}`))['bytes_in'], 0);
    eager.close();
  }
});

void test('a WebSocket upgrade counts as a request', async (t) => {
  const config = '[rate.limits]\n"/ws" = "1/h"\n';
  const sluice = await running(t, { entry: app('stream.js'), workers: 1, config });
  const headers =
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGVzdA==\r\n';
  assert.equal((await ask(sluice, '/ws', { headers })).status, 101);
  limited(await ask(sluice, '/ws', { headers }));
});

void test('clients behind a trusted proxy are told apart, and nobody else can pretend to be many', async (t) => {
  const limits = '[rate.limits]\n"/" = "1/h"\n[rate]\nexempt = ["198.51.100.0/24"]\n';
  const proxied = await running(t, {
    entry: app('echo.js'),
    workers: 1,
    config: `[server]\ntrusted_peers = ["127.0.0.1"]\n${limits}`,
  });
  for (const address of ['203.0.113.1', '203.0.113.2', '2001:db8::1', '2001:db8:0:1::1']) {
    assert.equal((await ask(proxied, '/', from(address))).status, 200, address);
  }
  for (const address of ['203.0.113.1', '::ffff:203.0.113.2', '2001:db8::2', '6.6.6.6, 203.0.113.1']) {
    limited(await ask(proxied, '/', from(address)));
  }
  for (let time = 0; time < 3; time += 1) {
    assert.equal((await ask(proxied, '/', from('198.51.100.7'))).status, 200, 'exempt');
  }

  const direct = await running(t, { entry: app('echo.js'), workers: 1, config: limits });
  assert.equal((await ask(direct, '/', from('203.0.113.1'))).status, 200);
  limited(await ask(direct, '/', from('203.0.113.2')));
  limited(await ask(direct, '/', from('198.51.100.7')));
});

void test('no spelling of a path dodges its limit, and ping and readiness have none', async (t) => {
  const config = '[rate.limits]\n"/login" = "1/h"\n"/.sluice" = "1/h"\n';
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config });
  assert.equal((await ask(sluice, '/login')).status, 200);
  for (const target of [
    '/%6cogin',
    '//login',
    '/./login',
    '/x/%2e%2e/login',
    '/\\login',
    '/login/?x',
    '/login/x',
  ]) {
    limited(await ask(sluice, target));
  }
  const absolute = await ask(sluice, 'http://app/login');
  limited(absolute);
  // What the app gets is as it was sent.
  const seen = JSON.parse((await ask(sluice, '//%6cogi/./x')).body.toString()) as { url: string };
  assert.equal(seen.url, '//%6cogi/./x');
  for (const target of ['/.sluice/ping', '/.sluice/ready', '/.sluice/ping']) {
    assert.equal((await ask(sluice, target)).status, 200);
  }
});

void test('I6: more clients than the table has entries are all served, and a client over its limit stays limited', async (t) => {
  const config = '[server]\ntrusted_peers = ["127.0.0.1"]\n[rate.limits]\n"/" = "1/h burst 3"\n';
  const sluice = await running(t, {
    entry: app('trivial.js'),
    workers: 1,
    config,
    env: bounds({ rate_clients_max: 4 }),
  });
  for (let time = 0; time < 3; time += 1)
    assert.equal((await ask(sluice, '/', from('192.0.2.1'))).status, 200);
  for (let client = 0; client < 50; client += 1) {
    assert.equal((await ask(sluice, '/', from(`203.0.113.${client}`))).status, 200);
  }
  limited(await ask(sluice, '/', from('192.0.2.1')));
});

void test('a limit that means nothing is refused by check and by start, with what is allowed', async (t) => {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-rate-'));
  t.after(() => {
    fs.rmSync(dir, { recursive: true, force: true });
  });
  const config = '[rate.limits]\n"/login" = "5 a minute"\n"/api/" = "1/s"\n';
  fs.writeFileSync(path.join(dir, 'sluice.toml'), config);
  const checked = await runSluice(['check'], { cwd: dir });
  assert.notEqual(checked.code, 0);
  assert.match(
    checked.stderr,
    /sluice\.toml:1: rate\.limits contains "5 a minute" for "\/login", which must be a count/,
  );
  assert.match(
    checked.stderr,
    /sluice\.toml:1: rate\.limits contains the path "\/api\/", which must not end with '\/'/,
  );
  await assert.rejects(startSluice({ entry: app('trivial.js'), config }), (error) => {
    assert.ok(error instanceof StartFailed);
    assert.match(error.finished.stderr, /rate\.limits contains "5 a minute"/);
    return true;
  });
});
