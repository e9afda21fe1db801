// Agents that `NODE_OPTIONS` loads before the app and the preload, and that open servers of their own.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/ports.ts';
import { app } from '../support/sluice.ts';
import { Hold, allReady, ask, ownApp, running } from './scenario.ts';

const WORKERS = 3;
const agent = ownApp('agent.cjs');

for (const [name, options, command] of [
  ['--require', `--require ${agent}`, undefined],
  ['--import', `--import ${pathToFileURL(agent).href}`, undefined],
  ['--require of a command', `--require ${agent}`, ['node', ownApp('hold.js')]],
] as const) {
  void test(`a server that ${name} opens is there in every worker, and the app is the app`, async (t) => {
    const port = await freePort();
    const hold = new Hold(t);
    const env = { NODE_OPTIONS: options, AGENT_PORT: String(port), ...hold.env };
    const sluice = await running(t, {
      ...(command === undefined ? { entry: ownApp('hold.js') } : { command: [...command] }),
      workers: WORKERS,
      env,
    });
    const { workers } = await allReady(sluice, WORKERS);
    const pids = new Set(workers.map(({ pid }) => pid));
    assert.doesNotMatch(sluice.stdout, /EADDRINUSE/);
    assert.equal(
      workers.reduce((sum, { restarts_total }) => sum + restarts_total, 0),
      0,
    );

    const heard = new Set<number>();
    await eventually(
      async () => {
        // Each connection goes to the next worker.
        const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } });
        const text = await answer.text();
        heard.add(Number(/^agent (\d+)$/.exec(text)?.[1]));
        return heard.size === WORKERS;
      },
      { what: 'an answer of every agent' },
    );
    assert.deepEqual(heard, pids);
    assert.match((await ask(sluice, '/')).body.toString(), /^\d+\n$/);
  });
}

for (const node of new Set([process.execPath, process.env['SLUICE_TEST_NODE'] ?? process.execPath])) {
  void test(`an agent has its port in the workers, and the command that npm installs ends with the gateway, by ${node}`, async (t) => {
    const port = await freePort();
    const hold = new Hold(t);
    const sluice = await running(t, {
      shim: node,
      entry: ownApp('hold.js'),
      flags: ['--node', node],
      workers: 1,
      env: { NODE_OPTIONS: `--require ${agent}`, AGENT_PORT: String(port), ...hold.env },
    });
    const [worker] = (await allReady(sluice, 1)).workers;
    const heard = await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } });
    assert.equal(await heard.text(), `agent ${worker?.pid}`);
    sluice.signal('SIGTERM');
    const { code, signal } = await sluice.finished();
    assert.deepEqual([code, signal], [0, null]);
  });
}

void test('processes that the app starts get the options that the user gave, and no more', async (t) => {
  const options = '--require node:path';
  const sluice = await running(t, {
    entry: app('echo.js'),
    workers: 1,
    env: { NODE_OPTIONS: options },
  });
  const [worker] = (await allReady(sluice, 1)).workers;
  const given = fs.existsSync('/proc/self') ? fs.readFileSync(`/proc/${worker?.pid}/environ`, 'latin1') : '';
  if (given !== '') assert.match(given, /NODE_OPTIONS="--require=[^"]*early\.js" --require node:path/);
  assert.equal((await ask(sluice, '/')).status, 200);
});
