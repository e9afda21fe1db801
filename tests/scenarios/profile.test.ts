// What an operator is told of a worker's CPU time, by component, while the worker serves.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { app, runSluice, type Sluice } from '../support/sluice.ts';
import { allReady, ask, assertRefused, ownApp, pidOf, running, statusWhen, underWay } from './scenario.ts';
import { logged, quick } from './stuck.ts';

interface Profile {
  worker: number;
  renders: number;
  samples: number;
  cpu_ms: number;
  components: { component: string; self_ms: number; total_ms: number }[];
  file: string;
}

async function profileOf(sluice: Sluice, ...flags: string[]): Promise<Profile> {
  const { code, stdout, stderr } = await sluice.cli(['profile', '--json', ...flags]);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as Profile;
}

/** The profile of a gateway that answers meanwhile. */
async function profileUnderLoad(sluice: Sluice, ...flags: string[]): Promise<Profile> {
  await ask(sluice, '/');
  let isOver = false;
  const load = (async () => {
    while (!isOver) assert.equal((await ask(sluice, '/')).status, 200);
  })();
  try {
    return await profileOf(sluice, '--duration-ms', '3000', ...flags);
  } finally {
    isOver = true;
    await load;
  }
}

function timesOf(profile: Profile): (component: string) => { self_ms: number; total_ms: number } {
  return (name) => {
    const found = profile.components.find(({ component }) => component === name);
    assert.ok(found !== undefined, `no ${name} in ${JSON.stringify(profile.components)}`);
    return found;
  };
}

void test('CPU time goes to the components that it was spent for, host elements to those that returned them', async (t) => {
  const sluice = await running(t, {
    entry: ownApp('react-costs.cjs'),
    workers: 1,
    config: 'react = "fast"\n',
  });
  const profile = await profileUnderLoad(sluice);
  const of = timesOf(profile);
  const [heavy, light, wide, old, page] = ['Heavy', 'Light', 'List.Wide', 'Old', 'Page'].map(of);
  assert.ok(heavy && light && wide && old && page);
  // Six, three and two times as much, in truth.
  assert.ok(heavy.self_ms > 2 * light.self_ms, JSON.stringify(profile));
  assert.ok(heavy.self_ms > 1.5 * old.self_ms, JSON.stringify(profile));
  assert.ok(old.self_ms > light.self_ms, JSON.stringify(profile));
  // Its own function makes elements only; the rest is their HTML.
  assert.ok(wide.self_ms > 0);
  assert.ok(page.self_ms < heavy.self_ms);
  // A whole has its parts.
  for (const part of [heavy, light, wide, old]) assert.ok(page.total_ms >= part.total_ms);
  assert.ok(old.total_ms >= old.self_ms + heavy.self_ms + light.self_ms - 0.01, JSON.stringify(profile));
  assert.ok(page.total_ms <= profile.cpu_ms + 0.01);
  const selves = profile.components.reduce((sum, { self_ms }) => sum + self_ms, 0);
  assert.ok(Math.abs(selves - profile.cpu_ms) < 1, `${selves} of ${profile.cpu_ms}`);
  assert.ok(profile.renders > 0 && profile.samples > 20);

  assert.equal(path.dirname(profile.file), path.join(sluice.runDir, 'profiles'));
  assert.equal(fs.statSync(profile.file).mode & 0o777, 0o600);
  const whole = JSON.parse(fs.readFileSync(profile.file, 'utf8')) as {
    nodes: { callFrame: { functionName: string } }[];
  };
  const frames = new Set(whole.nodes.map(({ callFrame }) => callFrame.functionName));
  for (const name of ['Heavy', 'Light', 'List.Wide', 'Old', 'Page']) assert.ok(frames.has(name), name);

  const table = (await sluice.cli(['profile', '--duration-ms', '50'])).stdout;
  assert.match(table, /^worker 1, \d+ ms: .* of CPU time(?: \(busy for .*\))? in \d+ samples\n/);
});

void test('components that react-dom renders are told apart by their own functions', async (t) => {
  const sluice = await running(t, { entry: ownApp('react-costs.cjs'), workers: 1 });
  const profile = await profileUnderLoad(sluice);
  const of = timesOf(profile);
  assert.equal(profile.renders, 0);
  assert.ok(of('Heavy').self_ms > 2 * of('Light').self_ms, JSON.stringify(profile));
  assert.ok(of('(outside of components)').self_ms > 0);
});

void test('an app without React gets its functions with file and line, and no table of components', async (t) => {
  const sluice = await running(t, { entry: app('spin.js'), workers: 1 });
  let isOver = false;
  const load = (async () => {
    while (!isOver) assert.equal((await ask(sluice, '/spin?ms=20')).status, 200);
  })();
  const { stdout } = await sluice.cli(['profile', '--duration-ms', '1500']).finally(() => (isOver = true));
  await load;
  // V8 inlines one of them into the other when it likes.
  assert.match(stdout, /^FUNCTION .*\n(burnCpu|\/spin) .* app .*lib\/work\.js:\d+\n/m);
  assert.doesNotMatch(stdout, /COMPONENT|outside of components|renders by/);
});

void test('an app without React has a profile too, and what cannot be profiled is said', async (t) => {
  const sluice = await running(t, { entry: app('spin.js'), workers: 2 });
  await allReady(sluice, 2);
  const profile = await profileOf(sluice, '--duration-ms', '100', '--worker', '2');
  assert.equal(profile.worker, 2);
  assert.deepEqual(
    profile.components.filter(({ component }) => !component.startsWith('(')),
    [],
  );
  const unknown = await sluice.cli(['profile', '--worker', '99']);
  assert.deepEqual([unknown.code, unknown.stderr.includes('no worker 99 serves')], [1, true]);

  const { workers } = await sluice.status();
  const dying = await underWay(sluice, 2, ['profile', '--duration-ms', '20000']);
  process.kill(pidOf(workers.find(({ id }) => id === 2)), 'SIGKILL');
  const left = await dying.first;
  assert.equal(left.code, 1);
  assert.match(left.stderr, /worker 2 exited before its profile was complete/);
});

void test('a profile ends early and is complete if its worker is replaced meanwhile', async (t) => {
  const sluice = await running(t, { entry: app('spin.js'), workers: 1 });
  for (const command of [
    ['profile', '-s', '60', '--json'],
    ['heap', '-s', '60'],
  ]) {
    const { workers } = await sluice.status();
    const { first } = await underWay(sluice, workers[0]?.id ?? 0, command);
    assert.equal((await ask(sluice, '/spin?ms=100')).status, 200);
    assert.equal((await sluice.cli(['reload'])).code, 0);
    const { code, stdout, stderr } = await first;
    assert.equal(code, 0, stderr);
    assert.ok(stdout.length > 0);
    assert.doesNotMatch(stdout + stderr, /exited before/);
  }
});

void test('a worker that hangs is found and replaced though somebody profiles it again and again', async (t) => {
  // The profile ends, and asks for patience, before the limit.
  const env = { ...quick, SLUICE_WORKERS_STUCK_AFTER_MS: '5000' };
  const sluice = await running(t, { entry: ownApp('stuck.js'), workers: 1, env });
  const [worker] = (await allReady(sluice, 1)).workers;
  const hanging = ask(sluice, '/loop', { deadlineMs: 40_000 });
  await statusWhen(sluice, ({ workers }) => workers[0]?.state === 'busy', 'a worker that hangs');
  let isOver = false;
  const asked = (async () => {
    while (!isOver) await sluice.cli(['profile', '--duration-ms', '3000']);
  })();
  try {
    assertRefused(await hanging, 504, 'SLU-WORKER-STUCK');
    assert.equal((await logged(sluice, 'worker_stuck'))['worker'], worker?.id);
  } finally {
    isOver = true;
    await asked;
  }
});

void test('profiles that are taken at the same time have files of their own', async (t) => {
  const sluice = await running(t, { entry: app('spin.js'), workers: 2 });
  await allReady(sluice, 2);
  const taken = await Promise.all(
    ['1', '2'].map((worker) => profileOf(sluice, '--worker', worker, '--duration-ms', '100')),
  );
  assert.equal(new Set(taken.map(({ file }) => file)).size, 2);
  for (const { worker, file } of taken) assert.ok(fs.existsSync(file), `${worker}: ${file}`);
});

void test('profile and hotspots name their clocks, agree on a file, and fold the code of Sluice', async (t) => {
  const sluice = await running(t, { entry: app('spin.js'), workers: 1 });
  let isOver = false;
  const load = (async () => {
    while (!isOver) await ask(sluice, '/?ms=5');
  })();
  const taken = await sluice.cli(['profile', '--json', '--duration-ms', '1000']).finally(() => {
    isOver = true;
  });
  await load;
  assert.equal(taken.code, 0, taken.stderr);
  const profile = JSON.parse(taken.stdout) as {
    file: string;
    cpu_ms: number;
    busy_ms: number;
    places: { package: string; file: string }[];
  };
  assert.ok(
    profile.cpu_ms > 0 && profile.cpu_ms <= profile.busy_ms,
    `${profile.cpu_ms} of ${profile.busy_ms}`,
  );
  const own = profile.places.filter(({ file }) => file.includes('/packages/preload/'));
  assert.ok(own.length > 0 && own.every((place) => place.package === '@sluice/preload'), JSON.stringify(own));
  const looked = await runSluice(['hotspots', profile.file, '--json']);
  assert.equal(looked.code, 0, looked.stderr);
  const { busy_ms, lines } = JSON.parse(looked.stdout) as { busy_ms: number; lines: { file: string }[] };
  assert.equal(busy_ms, profile.busy_ms);
  assert.ok(lines.some(({ file }) => file.endsWith('spin.js')));
  assert.deepEqual(
    lines.filter(({ file }) => file.includes('packages/preload/')),
    [],
  );
  const table = await runSluice(['hotspots', profile.file]);
  assert.match(table.stdout, /^wall-clock time: busy /);
});
