// What a crash leaves in the state directory, and that nothing secret is in it.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import type { Sluice } from '../support/sluice.ts';
import { allReady, ask, assertRefused, ownApp, running } from './scenario.ts';

const SECRET = 'planted-5ecret';
const entry = ownApp('crashes.js');
const config = '[app]\nnode_args = ["--max-old-space-size=40"]\n';
const env = { PLANTED_SECRET: SECRET, SLUICE_QUARANTINE_TTL_MS: '0' };

async function crash(sluice: Sluice, way: string): Promise<Record<string, unknown>> {
  const exits = () => sluice.logs.filter(({ event }) => event === 'worker_exited');
  const before = exits().length;
  assertRefused(
    await ask(sluice, way, { method: 'POST', body: 'x', deadlineMs: 30_000 }),
    502,
    'SLU-WORKER-DIED',
  );
  await eventually(() => exits().length > before, { what: `the exit after ${way}` });
  await allReady(sluice, 1);
  return exits().at(-1) ?? {};
}

function reportOf(exit: Record<string, unknown>): { file: string; text: string } {
  const [, file = ''] = /^report (\S+\.json)/.exec(String(exit['evidence'])) ?? [];
  return { file, text: fs.readFileSync(file, 'utf8') };
}

void test('a full heap, an exception and process.abort() leave a report without secrets, and SIGSEGV the word on its core dump', async (t) => {
  const sluice = await running(t, { entry, workers: 1, config, env });
  for (const [way, said] of [
    ['/throw', /Error: thrown/],
    ['/memory', /heap/],
    ['/abort', /process\.abort\(\)/],
  ] as const) {
    const { file, text } = reportOf(await crash(sluice, way));
    assert.equal(path.dirname(file), path.join(sluice.runDir, 'profiles'));
    assert.equal(fs.statSync(file).mode & 0o777, 0o600);
    assert.match(text, said);
    assert.ok(!text.includes(SECRET), `${way} leaves a secret in ${file}`);
    const report = JSON.parse(text) as Record<string, object>;
    assert.ok('javascriptHeap' in report && !('environmentVariables' in report), way);
  }
  assert.match(String((await crash(sluice, '/segv'))['evidence']), /^(no )?core dump/);
  const left = fs
    .readdirSync(sluice.runDir, { recursive: true })
    .filter((name) => String(name).endsWith('.report'));
  assert.deepEqual(left, [], 'what Node.js has written is deleted');

  const { crashes } = await sluice.status();
  assert.match(String(crashes[1]?.evidence), /^report .*\.json/);
  const { stdout } = await sluice.cli(['status']);
  assert.match(
    stdout.replaceAll(/\s+/g, ' '),
    /exit code 1: Error: thrown \(\S+crashes\.js:\d+:\d+\); [^;]*; report \/\S+\.json/,
  );
  const app = await sluice.cli(['logs', '--kind', 'app']);
  assert.doesNotMatch(app.stdout, /Node\.js report/, "lines about Sluice's reports are not the app's");
});

void test('a report that cannot be kept is said once, and requests go on', async (t) => {
  const sluice = await running(t, { entry, workers: 1, config, env });
  const profiles = path.join(sluice.runDir, 'profiles');
  fs.rmSync(profiles, { recursive: true, force: true });
  fs.writeFileSync(profiles, 'no directory');
  for (let crashes = 0; crashes < 3; crashes++) {
    const exit = await crash(sluice, '/throw');
    assert.equal(exit['evidence'], null);
    assert.match(String(exit['exception']), /^Error: thrown \(/);
  }
  const lost = sluice.logs.filter(({ text }) => /diagnostic report is lost/.test(String(text)));
  assert.equal(lost.length, 1, JSON.stringify(lost));
  assert.match(String(lost[0]?.['text']), /--state-dir/);
  assert.equal((await ask(sluice, '/')).status, 200);
});

void test("the app's own reports are as without Sluice", async (t) => {
  const sluice = await running(t, { entry, workers: 1, env });
  const { body } = await ask(sluice, '/own-report');
  assert.equal((JSON.parse(String(body)) as { has: boolean }).has, true);
});
