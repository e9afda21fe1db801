// Whose word is taken for where a request came from: of trusted peers alone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { app } from '../support/sluice.ts';
import { ask, recordOf, running } from './scenario.ts';

const claims =
  'X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: shop.example\r\n' +
  'X-Forwarded-Port: 443\r\nX-Real-IP: 203.0.113.9\r\nForwarded: for=203.0.113.9\r\nX-Request-Id: theirs\r\n' +
  'traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\ntracestate: a=b\r\n';

interface Seen {
  headers: Record<string, string | undefined>;
  rawHeaders: string[];
  socket: Record<string, unknown>;
}

void test('claims of a stranger are replaced by what the gateway sees', async (t) => {
  const sluice = await running(t, { entry: app('echo.js'), workers: 1 });
  const response = await ask(sluice, '/stranger', { headers: claims });
  const { headers, rawHeaders, socket } = JSON.parse(response.body.toString()) as Seen;
  assert.equal(headers['x-forwarded-for'], '127.0.0.1');
  assert.equal(headers['x-forwarded-proto'], 'http');
  assert.equal(headers['x-forwarded-host'], 'app');
  assert.equal(headers['forwarded'], 'for=127.0.0.1;proto=http;host="app"');
  for (const name of ['x-forwarded-port', 'x-real-ip']) assert.equal(headers[name], undefined, name);
  assert.notEqual(headers['x-request-id'], 'theirs');
  assert.equal(response.headers.get('x-request-id'), headers['x-request-id']);
  assert.equal(socket['remoteAddress'], '127.0.0.1');
  assert.ok(!rawHeaders.some((name) => name.toLowerCase().startsWith('x-sluice')));
  assert.equal((await recordOf(sluice, '/stranger'))['peer'], '127.0.0.1');
});

void test('claims of a trusted peer are taken over', async (t) => {
  const config = '[server]\ntrusted_peers = ["127.0.0.0/8"]\n';
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config });
  const response = await ask(sluice, '/trusted', { headers: claims });
  const { headers } = JSON.parse(response.body.toString()) as Seen;
  assert.match(headers['x-forwarded-for'] ?? '', /^203\.0\.113\.9\b/);
  assert.equal(headers['x-forwarded-proto'], 'https');
  assert.equal(headers['x-forwarded-host'], 'shop.example');
  assert.equal(headers['x-request-id'], 'theirs');
  assert.equal(headers['traceparent'], '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01');
  assert.equal((await recordOf(sluice, '/trusted'))['peer'], '203.0.113.9');
});

void test('of several X-Forwarded-For lines the last one is the trusted peer’s own', async (t) => {
  const config = '[server]\ntrusted_peers = ["127.0.0.1"]\n';
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config });
  // A proxy that adds a line of its own leaves the client's lie in front of it.
  await ask(sluice, '/lines', { headers: 'X-Forwarded-For: 6.6.6.6\r\nX-Forwarded-For: 203.0.113.9\r\n' });
  assert.equal((await recordOf(sluice, '/lines'))['peer'], '203.0.113.9');
});

void test('an id that could break a log line is not taken over even from a trusted peer', async (t) => {
  const config = '[server]\ntrusted_peers = ["127.0.0.1"]\n';
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config });
  for (const id of ['a b', 'a"b', 'x'.repeat(300), '\xe4']) {
    const response = await ask(sluice, '/', { headers: `X-Request-Id: ${id}\r\n` });
    assert.match(response.headers.get('x-request-id') ?? '', /^[0-9a-f]{32}$/);
  }
});
