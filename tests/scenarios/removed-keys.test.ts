// Keys of earlier versions in a file and in the environment: each gives its message, and the gateway starts. That this holds for every
// one of them is in `gateway/catalog/tests/config/removed.rs`.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { app, runSluice } from '../support/sluice.ts';
import { ask, running } from './scenario.ts';

const config = '[queue]\nageing = 5\nlength_max = 7\n[alarms]\nafter_s = "10m"\n';
const env = { SLUICE_WORKERS_NICE: 'high' };
const messages = [
  /sluice\.toml:2: queue\.ageing is a key of an earlier version and has no effect: a request goes first after 3 times/,
  /sluice\.toml:5: alarms\.after_s is a key .*: the cause of an alarm must last for 60 s\. Remove the setting\./,
  /environment variable SLUICE_WORKERS_NICE: workers\.nice is a key .*: workers run 2 steps above/,
];

void test('a start with removed keys warns of each and serves', async (t) => {
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config, env });
  assert.equal((await ask(sluice, '/')).status, 200);
  const warnings = sluice.logs.filter(({ level }) => level === 'warn').map(({ text }) => String(text));
  for (const message of messages)
    assert.equal(warnings.filter((text) => message.test(text)).length, 1, String(message));
});

void test('sluice check shows what replaces removed keys, and succeeds', async (t) => {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-removed-'));
  t.after(() => {
    fs.rmSync(dir, { recursive: true });
  });
  const file = path.join(dir, 'sluice.toml');
  fs.writeFileSync(file, config);
  const { code, stdout, stderr } = await runSluice(['check', app('echo.js'), '--config', file], { env });
  assert.equal(code, 0, stderr);
  for (const message of messages) assert.match(stdout + stderr, message);
});
