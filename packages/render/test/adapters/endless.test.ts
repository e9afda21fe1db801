// Components that never come to an end without ever leaving the microtasks: their limits end them, and the page has the rest.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { start } from '../support/fork.js';
import { views, type Answered, type Asked } from './fixtures/endless.js';

const PROGRAM = fileURLToPath(new URL('fixtures/endless.ts', import.meta.url));

for (const [adapter, ofAdapter] of Object.entries(views)) {
  void test(`components of ${adapter} whose promises are settled are ended by time limit and budget`, async (t) => {
    // Where no limit holds, no timer of the process fires either: it is another one.
    const program = start(t, PROGRAM);
    for (const view of Object.keys(ofAdapter)) {
      for (const by of ['timeoutMs', 'budgetMs'] as const) {
        program.child.send({ adapter, view, by, isKnown: false } satisfies Asked);
        const answered = await program.message<Answered>();
        assert.deepEqual(answered.outcomes, ['late', 'rendered'], `${view} by ${by}`);
        assert.ok(answered.callsAfterwards <= 1, `${view} goes on: ${answered.callsAfterwards} calls`);
      }
    }
  });

  void test(`components of ${adapter} that were synchronous before are ended by their time limit`, async (t) => {
    const program = start(t, PROGRAM);
    for (const view of Object.keys(ofAdapter)) {
      program.child.send({ adapter, view, by: 'timeoutMs', isKnown: true } satisfies Asked);
      const { outcomes } = await program.message<Answered>();
      assert.deepEqual(outcomes, ['late', 'rendered'], view);
    }
  });
}
