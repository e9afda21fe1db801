/** A profile of this process holds what runs while it is taken, and not its own start. */
import assert from 'node:assert/strict';
import type { Profiler } from 'node:inspector';
import { test } from 'node:test';
import { Script } from 'node:vm';
import { cpuUs } from '../src/cpu/own-cpu.js';
import { Recording } from '../src/profiles/recording.js';

/** What is compiled makes the start dear: V8 lists it. */
const compiled = Array.from({ length: 5000 }, (_, at) => {
  const made = new Script(`(function made${at}(x) { return x + ${at}; })`).runInThisContext() as (
    x: number,
  ) => number;
  made(at);
  return made;
});

/** Functions below which samples were taken. */
function sampled({ nodes, samples = [] }: Profiler.Profile): Set<string> {
  const parents = new Map(nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node.id])));
  const names = new Map(nodes.map(({ id, callFrame }) => [id, callFrame.functionName]));
  const found = new Set<string>();
  for (let id of new Set(samples) as Iterable<number | undefined>)
    for (; id !== undefined; id = parents.get(id)) found.add(names.get(id) ?? '');
  return found;
}

function busy(until_us: number): number {
  let sum = 0;
  while (cpuUs() < until_us) for (const one of compiled) sum += one(sum) % 7;
  return sum;
}

void test('neither the CPU time nor the samples of a profile are those of its start', () => {
  const before_us = cpuUs();
  const recording = new Recording(250);
  const start_us = cpuUs() - before_us;
  busy(cpuUs() + 50_000);
  const after_us = cpuUs();
  const { profile, used_us, began_us } = recording.stop();
  const all_us = after_us - before_us;
  assert.ok(used_us <= all_us - start_us / 2, `${used_us} of ${all_us}, of which ${start_us} are the start`);
  const names = sampled(profile);
  assert.ok(names.has('busy'), [...names].join());
  assert.ok(!names.has('Recording'), [...names].join());
  assert.equal(began_us, profile.startTime);
  const { samples = [], timeDeltas = [], startTime, endTime } = profile;
  assert.equal(samples.length, timeDeltas.length);
  const last_us = timeDeltas.reduce((sum, delta) => sum + delta, startTime);
  assert.ok(timeDeltas[0] !== undefined && timeDeltas[0] >= 0 && last_us <= endTime + 1);
});
