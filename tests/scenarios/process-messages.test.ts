// What apps written for other process managers say and listen to: `process.send`, and 'shutdown' before a stop.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { ask, ownApp, pidOf, running } from './scenario.ts';

void test("a worker is told 'shutdown' and leaves by it", async (t) => {
  const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'slu-messages-')), 'messages');
  t.after(() => {
    fs.rmSync(path.dirname(file), { recursive: true, force: true });
  });
  const sluice = await running(t, { entry: ownApp('unusual.js'), workers: 1, env: { MESSAGES_FILE: file } });
  sluice.signal('SIGTERM');
  // It does not leave for SIGTERM, and the time after which it would be killed is longer than this.
  assert.equal((await sluice.finished(5_000)).code, 0);
  assert.equal(fs.readFileSync(file, 'utf8'), '"shutdown"\n');
});

for (const bytes of [10, 100_000, 3_000_000]) {
  void test(`an app may send a message of ${bytes} bytes`, async (t) => {
    const sluice = await running(t, { entry: ownApp('unusual.js'), workers: 1 });
    const pid = pidOf((await sluice.status()).workers[0]);
    for (let round = 0; round < 3; round++) {
      assert.equal((await ask(sluice, `/send?bytes=${bytes}`)).body.toString(), `${pid}\n`);
    }
    assert.equal((await ask(sluice, '/')).body.toString(), `${pid}\n`, 'the same worker');
    assert.equal((await sluice.status()).workers[0]?.restarts_total, 0);
  });
}
