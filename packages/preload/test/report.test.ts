import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
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
