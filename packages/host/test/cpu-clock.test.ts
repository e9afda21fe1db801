/** The CPU clock: true in the long run, never backwards, and seldom asked of the kernel. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

const ask = process.cpuUsage.bind(process);
let asked = 0;
let isFrozen: NodeJS.CpuUsage | undefined;
// Before the clock takes it.
process.cpuUsage = (): NodeJS.CpuUsage => {
  asked += 1;
  return isFrozen ?? ask();
};
const { CpuClock } = await import('../src/cpu-clock.js');

function burn(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end) Math.sqrt(end);
}

void test('many readings in a row ask the kernel once in a while and go on all the same', () => {
  const clock = new CpuClock();
  clock.read();
  const [before, first_us] = [asked, clock.process_us];
  let last_us = first_us;
  let readings = 0;
  const end = performance.now() + 20;
  while (performance.now() < end) {
    clock.read();
    readings += 1;
    assert.ok(clock.process_us >= last_us);
    last_us = clock.process_us;
  }
  assert.ok(asked - before <= 201, `${asked - before} questions in 20 ms`);
  assert.ok(readings > asked - before);
  assert.ok(last_us > first_us);
});

void test('both times are those of the kernel after a while, and sleep is no CPU time', async () => {
  const clock = new CpuClock(true);
  clock.read();
  const [process_us, main_us] = [clock.process_us, clock.main_us];
  const before = ask();
  burn(30);
  clock.read();
  await sleep(60);
  clock.read();
  const used = ask(before);
  const used_us = used.user + used.system;
  assert.ok(
    Math.abs(clock.process_us - process_us - used_us) <= 2_000,
    `${clock.process_us - process_us} of ${used_us}`,
  );
  assert.ok(clock.main_us - main_us <= used_us + 2_000);
});

void test('a time that the kernel puts right does not go back', () => {
  isFrozen = { user: 1_000, system: 0 };
  const clock = new CpuClock();
  clock.read();
  burn(0.05);
  clock.read();
  const between_us = clock.process_us;
  burn(0.2);
  clock.read();
  assert.ok(between_us >= 1_000);
  assert.equal(clock.process_us, between_us, 'the kernel says that nothing was used');
  isFrozen = undefined;
});
