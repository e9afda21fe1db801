// Errors that hurt whoever reads them, thrown at every place where code of the app runs: the rest is answered, and the process lives.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { start } from '../support/fork.js';
import { hostiles } from '../support/hostile.js';

const PROGRAM = fileURLToPath(new URL('fixtures/hostile.ts', import.meta.url));

for (const mode of ['production', 'development']) {
  void test(`in ${mode}, hostile errors end no page, no batch and no process`, async (t) => {
    const program = start(t, PROGRAM, mode);
    for (const name of Object.keys(hostiles)) {
      program.child.send(name);
      const { wrong } = await program.message<{ wrong: readonly string[] }>();
      assert.deepEqual(wrong, [], name);
    }
  });
}
