// examples/fleet: HAProxy before two instances as its configuration has them, and what the compose file allows them.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/ports.ts';
import { programNamed } from '../support/programs.ts';
import { type Sluice, app, repositoryDir, startSluice } from '../support/sluice.ts';
import { tempDir } from './deployed.ts';
import { at, composedAll } from './manifests.ts';

const fleet = path.join(repositoryDir, 'examples/fleet');

/** Starts HAProxy by the shipped configuration, with these instances in place of the containers; its address. */
async function balancer(
  t: TestContext,
  program: string,
  instances: readonly Sluice[],
  agents: readonly number[],
): Promise<string> {
  const port = await freePort();
  let text = fs
    .readFileSync(path.join(fleet, 'haproxy.cfg'), 'utf8')
    .replace('bind :8080', `bind 127.0.0.1:${port}`);
  for (const [place, sluice] of instances.entries()) {
    const name = `server app${place + 1} app${place + 1}:3000`;
    assert.ok(text.includes(name));
    const addresses = [sluice.url, sluice.admin].map((url) => new URL(url).port);
    text = text.replace(
      name,
      `server app${place + 1} 127.0.0.1:${addresses[0]} port ${addresses[1]} agent-port ${agents[place]}`,
    );
  }
  const file = path.join(tempDir(t), 'haproxy.cfg');
  fs.writeFileSync(file, text);
  const checked = spawnSync(program, ['-c', '-f', file], { encoding: 'utf8' });
  assert.equal(checked.status, 0, checked.stderr);
  assert.ok(!checked.stderr.includes('WARNING'), checked.stderr);
  const child = spawn(program, ['-db', '-f', file], { stdio: 'ignore' });
  t.after(async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  });
  return `http://127.0.0.1:${port}/`;
}

void test('HAProxy spreads requests, and an instance that drains loses none', async (t) => {
  const program = programNamed('haproxy');
  if (program === undefined) return t.skip('haproxy is not here (bench/install-peers.sh haproxy)');
  const app1 = at(composedAll(fleet)['app1'], 'environment') as Record<string, string>;
  const delay = String(app1['SLUICE_DRAIN_DELAY_MS']);
  const instances: Sluice[] = [];
  const agents: number[] = [];
  for (let place = 0; place < 2; place += 1) {
    const agent = await freePort();
    agents.push(agent);
    const sluice = await startSluice({
      entry: app('trivial.js'),
      workers: 1,
      env: { SLUICE_DRAIN_DELAY_MS: delay, SLUICE_ADMIN_AGENT_ADDRESS: `127.0.0.1:${agent}` },
    });
    t.after(() => sluice.stop());
    instances.push(sluice);
  }
  const url = await balancer(t, program, instances, agents);
  const answered = (sluice: Sluice): number =>
    sluice.logs.filter((line) => line['event'] === 'access').length;
  const [first, second] = instances;
  assert.ok(first && second);
  await eventually(
    async () => {
      assert.equal((await fetch(url)).status, 200);
      return answered(first) > 0 && answered(second) > 0;
    },
    { deadlineMs: 20_000, what: 'a request at each instance' },
  );
  first.signal('SIGTERM');
  const failures: number[] = [];
  while (first.running) {
    const { status } = await fetch(url);
    if (status !== 200) failures.push(status);
    await wait(5);
  }
  for (let more = 0; more < 20; more += 1) {
    const { status } = await fetch(url);
    if (status !== 200) failures.push(status);
  }
  assert.deepEqual(failures, []);
});

void test('compose.yaml gives each instance the time of its drain, and the balancer more', () => {
  const services = composedAll(fleet);
  assert.deepEqual(Object.keys(services), ['app1', 'app2', 'balancer']);
  const seconds = (name: string): number =>
    Number.parseInt(String(at(services[name], 'stop_grace_period')), 10);
  const delay = Number(at(services['app1'], 'environment.SLUICE_DRAIN_DELAY_MS')) / 1000;
  // drain.timeout_ms and workers.stop_timeout_ms have their defaults.
  assert.equal(seconds('app1'), delay + 30 + 10 + 5);
  assert.deepEqual(at(services['app2'], 'environment'), at(services['app1'], 'environment'));
  assert.ok(seconds('balancer') >= seconds('app1'));
});

void test('the job of Nomad gives the task the time of its drain', () => {
  const text = fs.readFileSync(path.join(fleet, 'shop.nomad.hcl'), 'utf8');
  const value = (key: string): number =>
    Number.parseInt(new RegExp(`^ *${key} *= *"(\\d+)s"$`, 'm').exec(text)?.[1] ?? '', 10);
  assert.equal(value('kill_timeout'), 30 + 10 + 5);
  assert.ok(value('shutdown_delay') > 0);
});
