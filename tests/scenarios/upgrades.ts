// What scenarios of `sluice upgrade` share.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { eventually } from '../support/eventually.ts';
import type { Sluice } from '../support/sluice.ts';

/** A drain that does not take longer than a test should. */
export const quick = { SLUICE_DRAIN_TIMEOUT_MS: '4000' };

/** Upgrades, and expects that to end well; the pid of the gateway that serves then. */
export async function upgraded(sluice: Sluice, ...flags: string[]): Promise<number> {
  const ask = async () => {
    const result = await sluice.cli(['upgrade', ...flags]);
    // The one before that removes its files last of all, and is gone a moment later.
    return result.stderr.includes('still finishes its requests') ? false : result;
  };
  const { code, stdout, stderr } = await eventually(ask, { what: 'the end of the gateway before' });
  assert.equal(code, 0, `${stderr}\n${sluice.stderr}`);
  const pid = await sluice.gatewayPid();
  assert.match(stdout, new RegExp(`^process ${pid} serves now`));
  return pid;
}

/** What is in the run directory, without what was learned of costs, which outlasts every gateway. */
export function filesOf(sluice: Sluice): string[] {
  return fs
    .readdirSync(sluice.runDir)
    .filter((name) => !['costs.json', 'admin-token', 'profiles'].includes(name))
    .sort();
}

/** The gateway before the one that serves has finished, so that the next upgrade may begin. */
export async function settled(sluice: Sluice): Promise<void> {
  await eventually(() => filesOf(sluice).filter((name) => /^w\d$/.test(name)).length === 1, {
    what: 'the end of the gateway before',
  });
}

export function tempDir(t: TestContext): string {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-up-'));
  t.after(() => {
    fs.rmSync(dir, { recursive: true, force: true });
  });
  return dir;
}
