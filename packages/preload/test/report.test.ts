import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mock, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Control } from '../src/control.js';
import type { ToGateway } from '../src/messages.js';
import { Report } from '../src/report.js';

test('neither a turn nor a beat is told before the requests that have ended', () => {
  mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  try {
    const told: string[] = [];
    const control = { send: ({ type }: ToGateway) => told.push(type) > 0 };
    const report = new Report(control as unknown as Control, false);
    report.start();
    for (const [until_ms, sign] of [
      [249, 'turn'],
      [749, 'beat'],
    ] as const) {
      mock.timers.tick(until_ms);
      told.length = 0;
      report.done('id=1', { cpu_us: 1000, isShared: false }, 'end');
      mock.timers.tick(1);
      assert.equal(told[0], 'done', sign);
      assert.ok(told.includes(sign));
    }
  } finally {
    mock.timers.reset();
  }
});

test('runs before the first timer of the preload are counted apart, and each is of its request', () => {
  const fixture = fileURLToPath(new URL('fixtures/first-runs.ts', import.meta.url));
  const said = execFileSync(process.execPath, ['--import', 'tsx', fixture], { encoding: 'utf8' });
  const held = JSON.parse(said) as { label: string; ms: number; longest_us?: number }[];
  assert.deepEqual(
    held.map(({ label }) => label),
    ['id=1', 'id=2'],
  );
  for (const { label, ms, longest_us } of held)
    assert.ok((longest_us ?? 0) >= ms * 1000, `${label}: ${said}`);
});
