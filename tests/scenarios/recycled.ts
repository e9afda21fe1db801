// What the scenarios of recycling see in the log: who was replaced and why, and whether anything was missing meanwhile. It
// must not know why a worker has had enough.
import assert from 'node:assert/strict';
import { eventually } from '../support/eventually.ts';
import type { Sluice } from '../support/sluice.ts';

/** Waits until so many workers were replaced for this reason. */
export async function recycled(sluice: Sluice, reason: string, count: number): Promise<void> {
  await eventually(() => reasons(sluice).length >= count, {
    deadlineMs: 30_000,
    what: `${count} workers that were recycled`,
  });
  assert.deepEqual(new Set(reasons(sluice)), new Set([reason]));
}

const reasons = (sluice: Sluice): unknown[] =>
  sluice.logs.filter(({ event }) => event === 'worker_recycled').map(({ reason }) => reason);

/** From the moment that the pool was whole: never fewer workers that serve, never two that are replaced at once. */
export function assertNeverFewer(sluice: Sluice, workers: number): void {
  const serving = new Set<unknown>();
  let [whole, successors] = [false, 0];
  for (const { event, worker, expected } of sluice.logs) {
    if (event === 'worker_recycled') successors += 1;
    if (event === 'worker_ready') {
      serving.add(worker);
      if (whole) successors -= 1;
    }
    if (event === 'worker_exited') {
      serving.delete(worker);
      assert.equal(expected, true, `worker ${String(worker)} was asked to leave`);
    }
    whole ||= serving.size === workers;
    assert.ok(!whole || serving.size >= workers, `${serving.size} of ${workers} workers serve`);
    assert.ok(successors <= 1, 'one at a time');
  }
  assert.ok(whole, 'the pool was whole');
}
