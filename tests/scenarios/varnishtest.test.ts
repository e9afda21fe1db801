// What reads best as a client and a server side by side: tests/varnishtest, in the language of Varnish's own tests.
import assert from 'node:assert/strict';
import { spawnSync, execFile } from 'node:child_process';
import fs from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '../support/ports.ts';
import { running } from './scenario.ts';

const dir = fileURLToPath(new URL('../varnishtest/', import.meta.url));
const missing = spawnSync('varnishtest', ['-h']).error === undefined ? false : 'varnishtest is not installed';

for (const name of fs.readdirSync(dir).filter((name) => name.endsWith('.vtc'))) {
  const file = `${dir}${name}`;
  const what = /^varnishtest "(.*)"/.exec(fs.readFileSync(file, 'utf8'))?.[1] ?? name;
  void test(what, { skip: missing }, async (t) => {
    const backend = String(await freePort());
    const sluice = await running(t, {
      entry: `${dir}relay.cjs`,
      config: '[cache]\nenabled = true\n',
      env: { BACKEND_PORT: backend },
    });
    const macros = [`backend_port=${backend}`, `sluice_port=${sluice.port}`].flatMap((macro) => [
      '-D',
      macro,
    ]);
    const run = promisify(execFile)('varnishtest', [...macros, '-t', '20', file]);
    await run.catch((error: { stdout: string; stderr: string }) => {
      assert.fail(`${error.stdout}\n${error.stderr}`);
    });
  });
}
