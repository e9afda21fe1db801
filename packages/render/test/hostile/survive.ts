/** Hostile clients by the thousand against one process: each gets an answer that is no error of the server's, and nothing ends the process. */
import assert from 'node:assert/strict';
import http from 'node:http';
import type { TestContext } from 'node:test';
import { inspect } from 'node:util';
import * as fc from 'fast-check';
import { attack, describe, launch } from './attack.js';
import { reply, target } from './target.js';

/** Attacks that go on at once. */
const AT_ONCE = 5;

export interface Survived {
  readonly attacks: number;
  /** Answers by status; `left` for clients who did not stay. */
  readonly statuses: ReadonlyMap<string, number>;
}

export async function survive(t: TestContext, attacks: number, seed: number): Promise<Survived> {
  const met = await target(t);
  const agent = new http.Agent({ keepAlive: true, maxSockets: AT_ONCE * 2 });
  t.after(() => agent.destroy());
  const statuses = new Map<string, number>();
  let launched = 0;
  const several = fc.array(attack, { minLength: AT_ONCE, maxLength: AT_ONCE });
  const property = fc.asyncProperty(several, reply, async (given, replied) => {
    met.reply = replied;
    const answers = await Promise.all(
      given.map(async (each) => {
        launched += 1;
        const status = await launch(met.origin, agent, each);
        assert.notEqual(status, 500, describe(each));
        return status;
      }),
    );
    for (const status of answers) {
      const key = status === undefined ? 'left' : String(status);
      statuses.set(key, (statuses.get(key) ?? 0) + 1);
    }
    // Taken away, so that each smaller example is judged by its own.
    assert.deepEqual(
      met.faults.splice(0).map((fault) => inspect(fault)),
      [],
    );
  });
  await fc.assert(property, { seed, numRuns: Math.ceil(attacks / AT_ONCE), includeErrorInReport: true });
  // What was set off last may fail a few turns later.
  for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(met.faults, []);
  return { attacks: launched, statuses };
}
