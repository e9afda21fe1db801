// What makes requests slow is named by file and line, in the sources of an app that runs bundled and minified.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { type Sluice } from '../support/sluice.ts';
import { bundled, isIn } from './planted.ts';
import { ask, running } from './scenario.ts';

interface Place {
  function: string;
  file: string;
  line: number;
  own: number;
  collected: number;
}

interface Profile {
  workers: number[];
  requests?: number;
  cpu_ms: number;
  collector_ms: number;
  places: Place[];
  file: string;
  html: string;
}

const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-planted-'));
after(() => fs.rmSync(dir, { recursive: true, force: true }));

/** Asks for all of these, one after the other and again, while `work` goes on. */
async function underLoad<T>(sluice: Sluice, targets: string[], work: () => Promise<T>): Promise<T> {
  let isOver = false;
  const loads = targets.map(async (target) => {
    while (!isOver) assert.equal((await ask(sluice, target)).status, 200);
  });
  try {
    return await work();
  } finally {
    isOver = true;
    await Promise.all(loads);
  }
}

async function profileOf(sluice: Sluice, ...flags: string[]): Promise<Profile> {
  const { code, stdout, stderr } = await sluice.cli(['profile', '--json', ...flags]);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as Profile;
}

void test('the function that a fault is in comes first among the places of its route', async (t) => {
  const sluice = await running(t, { entry: await bundled(dir), workers: 2 });
  const targets = ['/regex', '/read', '/parse', '/gc', '/?ms=5'];
  for (const target of targets) await ask(sluice, target);
  for (const [route, name] of [
    ['/regex', 'growingExpression'],
    ['/read', 'synchronousRead'],
    ['/parse', 'largeParse'],
    ['/gc', 'collectorStorm'],
  ] as const) {
    const flags = ['--all', '--seconds', '2', '--route', route];
    const profile = await underLoad(sluice, [route, route, '/?ms=5'], () => profileOf(sluice, ...flags));
    const told = `${route}: ${JSON.stringify({ ...profile, places: profile.places.slice(0, 5) })}`;
    // Where V8 has put it into its caller, some of its time is the caller's.
    assert.ok(
      profile.places.slice(0, 2).some((place) => isIn(name, place)),
      told,
    );
    assert.ok((profile.requests ?? 0) > 0, told);
    // What ran for other requests is left out.
    const burnt = profile.places.find((place) => place.function === 'burn');
    assert.ok((burnt?.own ?? 0) < (profile.places[0]?.own ?? 0) / 4, told);
  }
  const all = await underLoad(sluice, ['/regex', '/gc'], () => profileOf(sluice, '--all', '--seconds', '2'));
  // Both, and what the lane for long requests has.
  assert.deepEqual(all.workers.slice(0, 2), [1, 2]);
  const first = all.places.slice(0, 6);
  for (const name of ['growingExpression', 'collectorStorm'])
    assert.ok(
      first.some((place) => isIn(name, place)),
      JSON.stringify(first),
    );
  assert.ok(all.collector_ms > 0);
  const page = fs.readFileSync(all.html, 'utf8');
  const data = /<script type="application\/json" id="profile">(.*?)<\/script>/.exec(page)?.[1] ?? '';
  const { frames, parents } = JSON.parse(data) as { frames: [string, string, number][]; parents: number[] };
  assert.ok(
    frames.some(([name, place]) => name === 'growingExpression' && /faults\.ts:\d+:\d+$/.test(place)),
  );
  assert.ok(parents.length > 10);
  assert.match(page, /<style>.*<\/style>/s);
  assert.doesNotMatch(page, /(?:src|href)="/, 'it loads nothing');
  const unknown = await sluice.cli(['profile', '--route', '/nowhere']);
  assert.deepEqual([unknown.code, unknown.stderr.includes('no request of a class "/nowhere"')], [1, true]);
});

interface Line {
  function: string;
  file: string;
  line: number;
  worst_ms: number;
  runs_over: number;
  gc_ms: number;
}

void test('hotspots of a live worker say how long each fault held it up, and what the collector took of it', async (t) => {
  const sluice = await running(t, { entry: await bundled(dir), workers: 1 });
  const targets = ['/regex', '/read', '/parse', '/gc'];
  for (const target of targets) await ask(sluice, target);
  const { code, stdout, stderr } = await underLoad(sluice, targets, () =>
    sluice.cli(['hotspots', '--live', '--seconds', '6', '--json']),
  );
  assert.equal(code, 0, stderr);
  const { lines } = JSON.parse(stdout) as { lines: Line[] };
  const of = (name: string): Line => {
    const line = lines.find((line) => isIn(name, line));
    assert.ok(line !== undefined, `no ${name} in ${JSON.stringify(lines.slice(0, 8))}`);
    return line;
  };
  for (const name of ['growingExpression', 'synchronousRead', 'largeParse', 'collectorStorm'])
    assert.ok(of(name).runs_over > 0, JSON.stringify(of(name)));
  // What makes no rubbish has next to nothing of the collector's time.
  for (const name of ['growingExpression', 'synchronousRead'])
    assert.ok(of('collectorStorm').gc_ms > 4 * of(name).gc_ms, JSON.stringify(lines.slice(0, 20)));
});

void test('a regular expression that grows with its input has runs that grow', async (t) => {
  const sluice = await running(t, { entry: await bundled(dir), workers: 1 });
  await ask(sluice, '/regex?size=12');
  const worst = async (size: number): Promise<number> => {
    const { stdout, stderr } = await underLoad(sluice, [`/regex?size=${size}`], () =>
      sluice.cli(['hotspots', '--live', '--seconds', '2', '--json']),
    );
    const { lines } = JSON.parse(stdout || stderr) as { lines: Line[] };
    return lines.find((line) => isIn('growingExpression', line))?.worst_ms ?? 0;
  };
  // Each letter doubles the time.
  const [short, long] = [await worst(18), await worst(23)];
  assert.ok(long > 4 * short, `${short} ms, then ${long} ms`);
});

void test('a leak is named by the line that allocates what stays', async (t) => {
  const sluice = await running(t, { entry: await bundled(dir), workers: 1 });
  await ask(sluice, '/leak');
  const { code, stdout, stderr } = await underLoad(sluice, ['/leak', '/?ms=1'], () =>
    sluice.cli(['heap', '--sampling', '--seconds', '4']),
  );
  assert.equal(code, 0, stderr);
  const rows = [...stdout.matchAll(/^(\S+) .* (\S+):(\d+)$/gm)].map(([, name, file, line]) => ({
    name,
    file: path.resolve(os.tmpdir(), file ?? ''),
    line: Number(line),
  }));
  assert.ok(isIn('leak', rows[0]), stdout);
});
