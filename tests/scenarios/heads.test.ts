// Heads as long as the app would take alone pass the gateway: 16 KiB, or what the app's own option of Node.js says.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Sluice, StartOptions } from '../support/sluice.ts';
import { ask, assertRefused, ownApp, running } from './scenario.ts';

const KIB = 1024;

const serving = (t: TestContext, options: Pick<StartOptions, 'env' | 'config'> = {}): Promise<Sluice> =>
  running(t, { entry: ownApp('unusual.js'), workers: 1, ...options });

/** A request line of exactly so many bytes. */
const target = (bytes: number): string => `/${'a'.repeat(bytes - 'GET / HTTP/1.1'.length)}`;

/** Header lines of exactly so many bytes, with `Host: app`. */
const headers = (bytes: number): string =>
  `X-Long: ${'a'.repeat(bytes - 'Host: app\r\n'.length - 'X-Long: \r\n'.length)}\r\n`;

async function assertBound(sluice: Sluice, bytes: number): Promise<void> {
  assert.equal((await ask(sluice, target(bytes))).status, 200);
  assertRefused(await ask(sluice, target(bytes + 1)), 414, 'SLU-TARGET-TOO-LONG');
  assert.equal((await ask(sluice, '/', { headers: headers(bytes) })).status, 200);
  assertRefused(await ask(sluice, '/', { headers: headers(bytes + 3) }), 431, 'SLU-HEADERS-TOO-LARGE');
}

void test('a URL and headers of 16 KiB pass, as with Node.js alone', async (t) => {
  await assertBound(await serving(t), 16 * KIB);
});

void test('the option of the app for longer heads is the bound of the gateway', async (t) => {
  const option = '--max-http-header-size=65536';
  for (const options of [
    { env: { NODE_OPTIONS: option } },
    { config: `[app]\nnode_args = ["${option}"]\n` },
  ]) {
    const sluice = await serving(t, options);
    await assertBound(sluice, 64 * KIB);
    // Both at once, with what the gateway adds.
    const whole = await ask(sluice, target(64 * KIB), { headers: headers(64 * KIB) });
    assert.equal(whole.status, 200);
  }
});

void test('an app that lowers the bound gets no longer heads', async (t) => {
  await assertBound(await serving(t, { env: { NODE_OPTIONS: '--max-http-header-size=8192' } }), 8 * KIB);
});

void test('the key of the config overrides the option of the app', async (t) => {
  const env = { NODE_OPTIONS: '--max-http-header-size=65536', SLUICE_SERVER_HEADERS_BYTES_MAX: '32768' };
  await assertBound(await serving(t, { env }), 32 * KIB);
});
