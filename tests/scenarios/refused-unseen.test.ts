// X-Sluice-Retry: whether a refused request may be sent to another instance at once, or a worker may have seen it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RawConnection } from '../support/raw.ts';
import { app } from '../support/sluice.ts';
import { ask, assertRefused, bytesOf, Hold, ownApp, pidOf, running, sent, statusWhen } from './scenario.ts';

const config = '[server]\ntrusted_peers = ["127.0.0.1"]\n';
const elsewhere = 'X-Sluice-Elsewhere: 425\r\n';

void test('a refusal that no worker has seen says so, with 425 for the balancer that asks for it', async (t) => {
  const hold = new Hold(t);
  const env = { ...hold.env, SLUICE_QUEUE_LENGTH_MAX: '1' };
  const sluice = await running(t, { entry: hold.app, workers: 1, env, config });
  const clients = [await sent(sluice, '/hold/first')];
  await hold.began('/hold/first');
  clients.push(await sent(sluice, '/queued'));
  await statusWhen(sluice, ({ queue }) => queue.length === 1, 'a full queue');
  const full = await ask(sluice, '/full', { method: 'POST', body: 'x' });
  assertRefused(full, 503, 'SLU-QUEUE-FULL');
  assert.equal(full.headers.get('x-sluice-retry'), 'elsewhere');
  for (const headers of [elsewhere, `Accept: application/json\r\n${elsewhere}`]) {
    const early = await ask(sluice, '/full', { method: 'POST', body: 'x', headers });
    assertRefused(early, 425, 'SLU-QUEUE-FULL');
    if (headers !== elsewhere) assert.match(early.body.toString(), /"title":"Too Early","status":425,/);
    assert.equal(early.headers.get('x-sluice-retry'), 'elsewhere');
    assert.match(early.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
  }
  // Another status is nobody's to choose.
  const other = await ask(sluice, '/full', { headers: 'X-Sluice-Elsewhere: 200\r\n' });
  assertRefused(other, 503, 'SLU-QUEUE-FULL');
  // What the sender got wrong is wrong elsewhere.
  const wrong = await ask(sluice, '/a', { headers: `Content-Length: x\r\n${elsewhere}` });
  assert.deepEqual([wrong.status, wrong.headers.get('x-sluice-retry')], [400, 'no']);
  hold.release('first');
  for (const client of clients) assert.equal((await client.response()).status, 200);
});

void test('a stranger cannot ask for 425', async (t) => {
  const hold = new Hold(t);
  const env = { ...hold.env, SLUICE_QUEUE_LENGTH_MAX: '0' };
  const sluice = await running(t, { entry: hold.app, workers: 1, env });
  const held = await sent(sluice, '/hold/first');
  await hold.began('/hold/first');
  assertRefused(await ask(sluice, '/full', { headers: elsewhere }), 503, 'SLU-QUEUE-FULL');
  hold.release('first');
  assert.equal((await held.response()).status, 200);
});

void test('a request that waited to its deadline is not for elsewhere at once', async (t) => {
  const hold = new Hold(t);
  const env = { ...hold.env, SLUICE_QUEUE_WAIT_MS_MAX: '300' };
  const sluice = await running(t, { entry: hold.app, workers: 1, env, config });
  const held = await sent(sluice, '/hold/first');
  await hold.began('/hold/first');
  const late = await ask(sluice, '/late', { headers: elsewhere });
  assertRefused(late, 503, 'SLU-QUEUE-DEADLINE');
  assert.equal(late.headers.get('x-sluice-retry'), 'later');
  hold.release('first');
  assert.equal((await held.response()).status, 200);
});

void test('an error after a worker had the request says no, whatever else is true', async (t) => {
  const hold = new Hold(t);
  const env = { ...hold.env, SLUICE_DRAIN_TIMEOUT_MS: '300' };
  const sluice = await running(t, { entry: hold.app, workers: 1, env, config });
  const posted = sent(sluice, '/hold/never', elsewhere);
  await hold.began('/hold/never');
  process.kill(pidOf((await sluice.status()).workers[0]), 'SIGKILL');
  // It is safe, so a second worker gets it, and the drain ends before that is done.
  await statusWhen(sluice, ({ workers }) => workers.some(({ state }) => state === 'busy'), 'the second try');
  sluice.signal('SIGTERM');
  const response = await (await posted).response();
  assert.deepEqual([response.status >= 500, response.headers.get('x-sluice-retry')], [true, 'no']);
  await sluice.finished();

  const other = await running(t, { entry: hold.app, workers: 1, env: hold.env, config });
  const post = await RawConnection.connect(other.port);
  post.send(bytesOf('/hold/post', `${elsewhere}Content-Length: 1\r\n`, 'POST') + 'x');
  await hold.began('/hold/post');
  process.kill(pidOf((await other.status()).workers[0]), 'SIGKILL');
  const died = await post.response();
  assertRefused(died, 502, 'SLU-WORKER-DIED');
  assert.equal(died.headers.get('x-sluice-retry'), 'no');
  post.close();
});

void test('an app can neither forge the header nor see what the balancer asks for', async (t) => {
  const sluice = await running(t, { entry: ownApp('pages.js'), workers: 1, config });
  const forged = await ask(sluice, '/?h=X-Sluice-Retry:elsewhere&h=x-sluice-error:SLU-QUEUE-FULL');
  assert.deepEqual(
    [forged.status, forged.headers.get('x-sluice-retry'), forged.headers.get('x-sluice-error')],
    [200, undefined, undefined],
  );
  const echo = await running(t, { entry: app('echo.js'), workers: 1, config });
  const seen = JSON.parse((await ask(echo, '/', { headers: elsewhere })).body.toString()) as {
    headers: Record<string, string>;
  };
  assert.equal(seen.headers['x-sluice-elsewhere'], undefined);
});
