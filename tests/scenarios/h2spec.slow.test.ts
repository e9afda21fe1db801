// h2spec, the conformance tests of HTTP/2 (RFC 9113) and HPACK (RFC 7541). `h2spec.json` says how many tests of each section pass.
// `go install github.com/summerwind/h2spec/cmd/h2spec@v2.2.1+incompatible` installs it.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { once } from 'node:events';
import { test } from 'node:test';
import { app } from '../support/sluice.ts';
import { missing, startTls } from './with-tls.ts';

const gopath = spawnSync('go', ['env', 'GOPATH'], { encoding: 'utf8' }).stdout?.trim() ?? '';
const programs = ['h2spec', path.join(gopath, 'bin/h2spec')];
const h2spec = programs.find((program) => spawnSync(program, ['--version']).error === undefined);
const skip = missing !== false ? missing : h2spec === undefined && 'h2spec is not installed; see install.sh';

/** How many tests of each section passed, failed and were skipped. */
function results(report: string): Record<string, { passed: number; failed: number; skipped: number }> {
  const suites = report.matchAll(/<testsuite ([^>]*)>/g);
  const found = [...suites].map(([, attributes = '']) => {
    const of = (name: string) => new RegExp(` ${name}="([^"]*)"`).exec(` ${attributes}`)?.[1] ?? '';
    const [tests, skipped, failed] = ['tests', 'skipped', 'failures'].map((name) => Number(of(name)));
    const counts = {
      passed: (tests ?? 0) - (skipped ?? 0) - (failed ?? 0),
      failed: failed ?? 0,
      skipped: skipped ?? 0,
    };
    return [of('package'), counts] as const;
  });
  return Object.fromEntries(found.filter(([, { passed, failed, skipped }]) => passed + failed + skipped > 0));
}

void test('the gateway passes what h2spec asks of a server', { skip }, async (t) => {
  assert.ok(h2spec);
  const { sluice } = await startTls(t, { entry: app('trivial.js') });
  const report = path.join(sluice.dir, 'h2spec.xml');
  const args = ['-h', 'localhost', '-p', String(sluice.port), '-t', '-k', '-o', '5', '-j', report];
  const run = spawn(h2spec, args, { stdio: 'ignore' });
  await once(run, 'exit');
  const expected = JSON.parse(fs.readFileSync(new URL('./h2spec.json', import.meta.url), 'utf8')) as unknown;
  assert.deepEqual(results(fs.readFileSync(report, 'utf8')), expected);
});
