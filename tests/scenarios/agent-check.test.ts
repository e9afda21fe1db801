// What a balancer is told: HAProxy's agent check, and readiness by progress of work.
import assert from 'node:assert/strict';
import net from 'node:net';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/ports.ts';
import { app, StartFailed, type Sluice, startSluice } from '../support/sluice.ts';
import { ask, Hold, ownApp, pidOf, refuses, running, sent, statusWhen } from './scenario.ts';
import { quick, upgraded } from './upgrades.ts';

const BUSY = 'every worker is busy and none has finished a request for too long';

/** The line that an agent check gets. */
async function check(port: number): Promise<string> {
  const socket = net.connect({ port, host: '127.0.0.1' });
  let text = '';
  for await (const piece of socket) text += String(piece);
  return text;
}

const weightOf = (line: string): number => Number(/^(?:ready )?up (\d+)%\n$/.exec(line)?.[1]);

async function readiness(sluice: Sluice): Promise<[number, string]> {
  const response = await fetch(`${sluice.admin}/ready`);
  const { reason } = (await response.json()) as { reason: string };
  return [response.status, reason];
}

void test('the weight follows the wait, and says when nothing moves', async (t) => {
  const hold = new Hold(t);
  const port = await freePort();
  const env = {
    ...hold.env,
    SLUICE_ADMIN_AGENT_ADDRESS: `127.0.0.1:${port}`,
    SLUICE_QUEUE_WAIT_MS_MAX: '2500',
  };
  const sluice = await running(t, { entry: hold.app, workers: 1, env });
  assert.equal(await check(port), 'ready up 100%\n');
  const held = await sent(sluice, '/hold/first');
  await hold.began('/hold/first');
  await eventually(async () => weightOf(await check(port)) < 50, { what: 'a lower weight' });
  await eventually(async () => (await check(port)) === `ready down #${BUSY}\n`, { what: 'the standstill' });
  assert.deepEqual(await readiness(sluice), [503, BUSY]);
  hold.release('first');
  assert.equal((await held.response()).status, 200);
  await eventually(async () => weightOf(await check(port)) > 0, { what: 'the way up' });
  assert.deepEqual(await readiness(sluice), [200, 'ready']);
  await eventually(async () => weightOf(await check(port)) === 100, { what: 'the full weight' });
});

void test('a drain is told while the port is open', async (t) => {
  const port = await freePort();
  const env = { SLUICE_ADMIN_AGENT_ADDRESS: `127.0.0.1:${port}`, SLUICE_DRAIN_DELAY_MS: '60000' };
  const sluice = await running(t, { entry: app('trivial.js'), workers: 1, env });
  sluice.signal('SIGTERM');
  await statusWhen(sluice, ({ state }) => state === 'draining', 'the drain');
  assert.equal(await check(port), 'drain\n');
  assert.equal((await ask(sluice, '/.sluice/ping')).status, 200, 'it still serves');
  // `running` ends the delay by a second signal.
});

void test('a closed port is told while the last requests are answered', async (t) => {
  const hold = new Hold(t);
  const port = await freePort();
  const env = { ...hold.env, SLUICE_ADMIN_AGENT_ADDRESS: `127.0.0.1:${port}` };
  const sluice = await running(t, { entry: hold.app, workers: 1, env });
  const held = await sent(sluice, '/hold/first');
  await hold.began('/hold/first');
  sluice.signal('SIGTERM');
  await eventually(() => refuses(sluice), { what: 'the end of the port' });
  assert.equal(await check(port), 'maint\n');
  hold.release('first');
  assert.equal((await held.response()).status, 200);
  assert.equal((await sluice.finished()).code, 0);
});

void test('an upgrade passes the address on, and balancers hear nothing of it', async (t) => {
  const hold = new Hold(t);
  const port = await freePort();
  const env = { ...hold.env, ...quick, SLUICE_ADMIN_AGENT_ADDRESS: `127.0.0.1:${port}` };
  const sluice = await running(t, { entry: hold.app, workers: 1, env });
  let asking = true;
  const lines = new Set<string>();
  const checks = (async () => {
    while (asking) lines.add(await check(port));
  })();
  await upgraded(sluice);
  asking = false;
  await checks;
  assert.deepEqual([...lines], ['ready up 100%\n'], 'no check went unanswered, nor heard of the upgrade');
});

void test('an address that is in use is named with its key', async (t) => {
  const taken = net.createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => taken.once('listening', resolve));
  t.after(() => taken.close());
  const { port } = taken.address() as net.AddressInfo;
  const hold = new Hold(t);
  const env = { ...hold.env, SLUICE_ADMIN_AGENT_ADDRESS: `127.0.0.1:${port}` };
  const failure = await startSluice({ entry: hold.app, workers: 1, env }).catch((error: unknown) => error);
  assert.ok(failure instanceof StartFailed);
  assert.match(
    String(failure),
    /SLU-PORT-IN-USE: 127\.0\.0\.1:\d+ is in use\. Choose another with admin\.agent_address\./,
  );
});

void test('a service whose workers all hang is not ready until others have their place', async (t) => {
  const env = { SLUICE_WORKERS_CONCURRENCY: '1', SLUICE_QUEUE_WAIT_MS_MAX: '1500' };
  const sluice = await running(t, { entry: ownApp('stuck.js'), workers: 2, env });
  assert.deepEqual(await readiness(sluice), [200, 'ready']);
  const hanging = [await sent(sluice, '/lock'), await sent(sluice, '/lock')];
  await statusWhen(sluice, ({ requests }) => requests.in_service === 2, 'two hanging requests');
  await eventually(async () => (await readiness(sluice))[1] === BUSY, { what: 'the standstill' });
  assert.equal((await readiness(sluice))[0], 503);
  // The probe on the public port says the same, without a worker.
  assert.equal((await ask(sluice, '/.sluice/ready')).status, 503);
  for (const worker of (await sluice.status()).workers) process.kill(pidOf(worker), 'SIGKILL');
  await eventually(async () => (await readiness(sluice))[0] === 200, { what: 'readiness again' });
  assert.equal((await ask(sluice, '/')).status, 200);
  for (const connection of hanging) connection.close();
});
