// The public tests for HTTP caches (npm: http-cache-tests) against the page cache. Those that fail are listed in cache-suite.json with
// the reason, which is a sentence of an RFC, an invariant, or a limit of the suite.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { freePort } from '../support/ports.ts';
import { end } from './scenario.ts';
import { startSluice } from '../support/sluice.ts';

const SUITE = ['http-cache-tests@0.4.5', 'node-fetch@2.7.0'];

interface Case {
  id: string;
  kind?: string;
}
interface Listed {
  required: Record<string, string>;
  optimal: Record<string, string>;
}

const listed = JSON.parse(fs.readFileSync(new URL('./cache-suite.json', import.meta.url), 'utf8')) as Listed;

void test(
  'the public tests for HTTP caches fail only where that is known and explained',
  { timeout: 600_000 },
  async (t) => {
    const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-cache-suite-'));
    t.after(() => fs.rmSync(dir, { recursive: true, force: true }));
    fs.writeFileSync(path.join(dir, 'package.json'), '{"private":true,"type":"module"}');
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--silent', ...SUITE], {
      cwd: dir,
      stdio: 'inherit',
    });
    const suite = path.join(dir, 'node_modules/http-cache-tests');
    const port = await freePort();
    // The suite's server keeps what it has seen in memory.
    const sluice = await startSluice({
      entry: path.join(suite, 'server/server.mjs'),
      workers: 1,
      config: '[cache]\nenabled = true\nignored_params = []\n',
      env: {
        npm_config_protocol: 'http',
        npm_config_port: String(port),
        npm_config_pidfile: path.join(dir, 'pid'),
      },
    });
    t.after(() => end(sluice));

    const load = async (file: string): Promise<Record<string, unknown>> =>
      (await import(pathToFileURL(path.join(dir, 'node_modules', file)).href)) as Record<string, unknown>;
    const runner = await load('http-cache-tests/client/runner.mjs');
    const { default: suites } = (await load('http-cache-tests/tests/index.mjs')) as {
      default: { tests: Case[] }[];
    };
    const { default: fetch } = await load('node-fetch/lib/index.mjs');
    const runTests = runner['runTests'] as (...parts: unknown[]) => Promise<void>;
    await runTests(suites, fetch, false, sluice.url);
    const results = (runner['getResults'] as () => Record<string, unknown>)();

    const cases = suites.flatMap(({ tests }) => tests);
    for (const kind of ['required', 'optimal'] as const) {
      const those = cases.filter(
        (found) => (found.kind ?? 'required') === kind && results[found.id] !== undefined,
      );
      const failed = those.filter(({ id }) => results[id] !== true).map(({ id }) => id);
      t.diagnostic(`${kind}: ${those.length - failed.length} of ${those.length} passed`);
      assert.ok(those.length > 80, `${kind}: only ${those.length} tests ran`);
      const news = failed.filter((id) => listed[kind][id] === undefined);
      const told = news.map((id) => `${id}: ${String(results[id])}`).join('\n');
      assert.deepEqual(news, [], `${kind}:\n${told}`);
      assert.deepEqual(failed.toSorted(), Object.keys(listed[kind]).toSorted(), kind);
    }
  },
);
