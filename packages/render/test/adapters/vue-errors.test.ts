// Components of Vue that throw have failed, wherever they throw: Vue itself goes on without them in production.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { start } from '../support/fork.js';
import { views, type Answered } from './fixtures/vue-errors.js';

const PROGRAM = fileURLToPath(new URL('fixtures/vue-errors.ts', import.meta.url));

for (const mode of ['production', 'development']) {
  void test(`in ${mode}, a Vue component that throws is a hole, told, and not cached`, async (t) => {
    const program = start(t, PROGRAM, mode);
    for (const view of Object.keys(views)) {
      program.child.send(view);
      const answered = await program.message<Answered>();
      assert.deepEqual(
        answered,
        {
          isProduction: mode === 'production',
          holes: ['error', 'error'],
          told: ['no such product', 'no such product'],
          fragments: ['RangeError: no such product', 'RangeError: no such product'],
          afterwards: ['rendered', 'rendered'],
          unhandled: [],
        },
        view,
      );
    }
  });
}
