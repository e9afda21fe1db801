// No room for temporary files: who needs one is told so, everybody else is served.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { bounds } from '../support/bounds.ts';
import { eventually } from '../support/eventually.ts';
import { RawConnection } from '../support/raw.ts';
import { app, type Sluice } from '../support/sluice.ts';
import { ask, assertRefused, bytesOf, running, statusWhen } from './scenario.ts';

const body = 'x'.repeat(400_000);

async function uploadsAreRefusedAndOthersServed(sluice: Sluice): Promise<void> {
  assertRefused(await ask(sluice, '/upload', { method: 'POST', body }), 503, 'SLU-TEMP-FULL');
  assert.equal((await ask(sluice, '/upload', { method: 'POST', body: 'small' })).body.toString(), '5\n');
  assert.equal((await ask(sluice, '/spin?ms=1')).status, 200);
  await eventually(() => sluice.logs.some((line) => String(line['text']).includes('temporary file')), {
    what: 'a note for the operator',
  });
}

void test('a body that does not fit under temp.bytes_max gets 503 and nobody else does', async (t) => {
  const env = { SLUICE_TEMP_BYTES_MAX: '100000', ...bounds({ body_memory_bytes_max: 10_000 }) };
  const sluice = await running(t, { entry: app('spin.js'), workers: 1, env });
  await uploadsAreRefusedAndOthersServed(sluice);
  // What the refused ones took is given back: just less than the limit fits again.
  assert.equal(
    (await ask(sluice, '/upload', { method: 'POST', body: 'x'.repeat(100_000) })).body.toString(),
    '100000\n',
  );
});

const isRoot = process.getuid?.() === 0;

void test(
  'a full disk for temporary files gives 503 and hurts nobody else',
  { skip: !isRoot && 'only root can mount a tmpfs' },
  async (t) => {
    const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-full-'));
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=128k', 'tmpfs', dir]).status !== 0) {
      fs.rmdirSync(dir);
      return t.skip('tmpfs cannot be mounted here');
    }
    t.after(() => {
      spawnSync('umount', ['-l', dir]);
      fs.rmdirSync(dir);
    });
    const env = { SLUICE_TEMP_DIR: dir, ...bounds({ body_memory_bytes_max: 10_000 }) };
    const sluice = await running(t, { entry: app('spin.js'), workers: 1, env });
    await uploadsAreRefusedAndOthersServed(sluice);
    assert.equal(fs.readdirSync(dir).length, 0, 'no file is left');
    assert.equal((await ask(sluice, '/upload', { method: 'POST', body: 'x'.repeat(100_000) })).status, 200);
  },
);

void test('a response that overflows for a slow reader is cut off honestly, and the worker goes on', async (t) => {
  const env = { SLUICE_TEMP_BYTES_MAX: '100000' };
  const sluice = await running(t, { entry: app('spin.js'), workers: 1, env });
  const slow = await RawConnection.connect(sluice.port);
  t.after(() => {
    slow.close();
  });
  slow.pause();
  slow.send(bytesOf('/big?bytes=30000000'));
  await statusWhen(sluice, ({ workers }) => workers[0]?.requests_total === 1, 'the worker to be done');
  assert.equal((await ask(sluice, '/spin?ms=1')).status, 200);
  slow.resume();
  const received = await slow.untilClosed();
  assert.ok(received.length < 30_000_000, 'it is not passed off as whole');
});
