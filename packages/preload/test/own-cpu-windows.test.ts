/** When the CPU time of requests that share the worker is measured; with a clock of its own. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Windows } from '../src/cpu/own-cpu-windows.js';

/** Those of a worker that has measured its first requests, in a window of 100 ms. */
function experienced(): Windows {
  const windows = new Windows(200, 100);
  opened(windows, -1_000);
  for (let count = 0; count < 100; count += 1) windows.enter(-950, 1);
  for (let count = 0; count < 100; count += 1) windows.leave(-900, false, true);
  windows.look(-500);
  assert.equal(windows.phase, 'off');
  return windows;
}

/** A window that one request opened, which came beside another, and that has left. */
function opened(windows: Windows, now_ms: number): void {
  windows.enter(now_ms, 1);
  windows.leave(now_ms, true, false);
  assert.equal(windows.phase, 'open');
}

void test('nothing is measured while nobody shares the worker', () => {
  const windows = new Windows();
  for (let now_ms = 0; now_ms < 10_000; now_ms += 100) assert.equal(windows.enter(now_ms, 0), false);
  assert.equal(windows.phase, 'off');
});

void test('requests count that come once those from before the window have left', () => {
  const windows = new Windows();
  assert.equal(windows.enter(0, 2), false);
  windows.leave(10, true, false);
  assert.equal(windows.enter(20, 2), false, 'one of those is inside');
  windows.leave(30, true, false);
  assert.equal(windows.enter(40, 2), true);
});

void test('a window lasts until its requests have left, and the pause after it four times as long', () => {
  const windows = experienced();
  opened(windows, 0);
  assert.equal(windows.enter(150, 1), true);
  assert.equal(windows.enter(200, 2), false, '200 ms are over');
  windows.leave(300, false, false);
  assert.equal(windows.phase, 'draining');
  windows.leave(400, false, true);
  assert.equal(windows.phase, 'off');
  windows.enter(1_999, 5);
  assert.equal(windows.phase, 'off');
  windows.enter(2_000, 5);
  assert.equal(windows.phase, 'opening');
});

void test('later on nine times as long', () => {
  const windows = new Windows(200, 200);
  opened(windows, 0);
  for (let count = 0; count < 200; count += 1) windows.enter(100, 1);
  for (let count = 0; count < 200; count += 1) windows.leave(250, false, true);
  assert.equal(windows.phase, 'off');
  windows.enter(2_499, 5);
  assert.equal(windows.phase, 'off');
  windows.enter(2_500, 5);
  assert.equal(windows.phase, 'opening');
});

void test('a request that never ends ends no window, and keeps none from opening', () => {
  const windows = experienced();
  windows.enter(0, 1);
  assert.equal(windows.phase, 'opening');
  windows.look(999);
  assert.equal(windows.phase, 'opening');
  windows.look(1_000);
  assert.equal(windows.phase, 'open', 'what was inside before is waited for no longer');
  assert.equal(windows.enter(1_100, 1), true);
  windows.look(3_200);
  assert.equal(windows.phase, 'draining');
  windows.look(8_199);
  assert.equal(windows.phase, 'draining');
  windows.look(8_200);
  assert.equal(windows.phase, 'off');
  windows.enter(8_200 + 4_999, 2);
  assert.equal(windows.phase, 'off');
  windows.enter(8_200 + 5_000, 2);
  assert.equal(windows.phase, 'opening');
});

void test('a new worker measures for five seconds, and without a pause until it has measured a hundred', () => {
  const windows = new Windows();
  opened(windows, 0);
  assert.equal(windows.enter(4_999, 1), true);
  windows.leave(5_100, false, true);
  assert.equal(windows.phase, 'off');
  windows.enter(5_101, 1);
  assert.equal(windows.phase, 'opening', 'one is not enough');
});

void test('a new worker with many requests has measured enough of them sooner', () => {
  const windows = new Windows();
  opened(windows, 0);
  for (let request = 1; request < 200; request += 1) {
    assert.equal(windows.enter(request, 1), true);
    windows.leave(request, false, true);
  }
  assert.equal(windows.phase, 'open');
  windows.enter(600, 1);
  windows.leave(600, false, true);
  assert.equal(windows.phase, 'off');
  windows.enter(601, 1);
  assert.equal(windows.phase, 'off', 'and then pauses');
});

void test('a window that is held open stays so, however many it has measured', () => {
  const windows = new Windows();
  windows.hold(0, true);
  for (let request = 1; request <= 200; request += 1) {
    windows.enter(request, 1);
    windows.leave(request, false, true);
  }
  assert.equal(windows.phase, 'open');
});

void test('a window in which nearly all requests were of light classes is followed by the longest pause', () => {
  for (const [light, pause_ms] of [
    [160, 1_600],
    [161, 30_000],
  ] as const) {
    const windows = new Windows(200, 200);
    opened(windows, 0);
    for (let count = 0; count < light + 10; count += 1) windows.enter(100, 1, count >= 10);
    for (let count = 0; count < light + 10; count += 1) windows.leave(400, false, true);
    assert.equal(windows.phase, 'off');
    windows.enter(400 + pause_ms - 1, 1);
    assert.equal(windows.phase, 'off', String(light));
    windows.enter(400 + pause_ms, 1);
    assert.equal(windows.phase, 'opening', String(light));
  }
});
