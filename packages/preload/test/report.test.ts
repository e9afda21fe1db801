import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mock, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Control } from '../src/control/control.js';
import type { ToGateway } from '../src/control/messages.js';
import { UNMEASURED } from '../src/cpu/own-cpu.js';
import { Report, type Told } from '../src/control/report.js';

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
      // Runs name requests that have ended, and so come before these. Each beat has them, the first one too.
      assert.deepEqual(told.slice(0, 2), sign === 'beat' ? ['runs', 'done'] : ['done', 'turn']);
      assert.ok(told.includes(sign));
    }
  } finally {
    mock.timers.reset();
  }
});

test('of an unmeasured request nothing but its number is told, unless it had long runs or became a stream', () => {
  const told: ToGateway[] = [];
  const control = { send: (line: ToGateway) => told.push(line) > 0 };
  const report = new Report(control as unknown as Control, false);
  const stay = (runs?: number[]) =>
    ({ request: {}, owner: { label: '', runs, longest: undefined } }) as unknown as Told;
  report.done('id=1', UNMEASURED, 'end', stay());
  report.done('id=2', UNMEASURED, 'end', stay([1, 0, 0, 0]));
  report.done('id=3', UNMEASURED, 'stream', stay());
  report.done('id=4', { cpu_us: 90, isShared: false, weight: 16 }, 'end', stay());
  report.done('id=5', UNMEASURED, 'end', stay());
  report.flush();
  report.flush();
  assert.deepEqual(told, [
    {
      type: 'done',
      requests: [
        { id: 2, cpu_us: 0, left: 'end', shared: true, runs: [1, 0, 0, 0] },
        { id: 3, cpu_us: 0, left: 'stream', shared: true },
        { id: 4, cpu_us: 90, left: 'end', weight: 16 },
      ],
      ended: [1, 5],
    },
  ]);
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
