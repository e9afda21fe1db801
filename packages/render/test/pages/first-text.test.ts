// The first text of a page waits while boxes are rendered, its own or those of other pages, and not while all wait for something.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PageBody } from '../../src/pages/body.js';

const turn = async (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const TURNS = 6;
/** A longer turn was not this process's alone. */
const TURN_MS_MAX = 2.5;
const TRIES = 200;

function compute(ms: number): void {
  const until_ms = performance.now() + ms;
  while (performance.now() < until_ms);
}

/** Whether the page was whole before any of it went, and the longest turn meanwhile. */
async function written(busyMs: number, turns = TURNS): Promise<{ isWhole: boolean; longest_ms: number }> {
  const body = new PageBody(() => undefined);
  const whole = body.whole();
  body.write('begin ');
  body.flush();
  let longest_ms = 0;
  for (let index = 0; index < turns; index += 1) {
    const since_ms = performance.now();
    compute(busyMs);
    await turn();
    longest_ms = Math.max(longest_ms, performance.now() - since_ms);
  }
  body.write('end');
  body.end();
  const bytes = await whole;
  if (bytes === undefined) body.resume();
  else assert.equal(bytes.toString(), 'begin end');
  return { isWhole: bytes !== undefined, longest_ms };
}

void test('a page whose boxes are rendered meanwhile goes whole', async () => {
  let page = await written(1);
  for (let tries = 1; page.longest_ms > TURN_MS_MAX && tries < TRIES; tries += 1) page = await written(1);
  assert.equal(page.isWhole, true);
});

void test('a page whose boxes all wait goes after some turns', async () => {
  assert.equal((await written(0)).isWhole, false);
});

void test('a page goes in time where boxes take long', async () => {
  assert.equal((await written(7)).isWhole, false);
});

void test('a page goes in time where each turn takes long, as of other pages', async () => {
  // Turns too few to count for the time that a first text waits in turns.
  assert.equal((await written(30, 3)).isWhole, false);
});
