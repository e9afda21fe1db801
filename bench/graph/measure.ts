// Measures CPU time per answer in one process; run by `bench/graph-router.ts`. Prints one line of JSON: microseconds by name.
import assert from 'node:assert/strict';
import { contendersOf, type Contender } from './contenders.ts';

const [peers = '', rounds = '5', batch_ms = '150'] = process.argv.slice(2);
const contenders = contendersOf(peers);
const [first] = await Promise.all(contenders.map(async ({ answer, titlesOf }) => titlesOf(await answer())));
for (const { name, answer, titlesOf } of contenders)
  assert.deepEqual(titlesOf(await answer()), first, `${name} answers something else`);

const figures: Record<string, number[]> = Object.fromEntries(contenders.map(({ name }) => [name, []]));
const counts = new Map<Contender, number>();
for (const contender of contenders) counts.set(contender, await calibrated(contender));
for (let round = 0; round < Number(rounds); round += 1) {
  // Each goes first in turn.
  const turn = round % contenders.length;
  for (const contender of [...contenders.slice(turn), ...contenders.slice(0, turn)])
    figures[contender.name]?.push(await cpu_us(contender, counts.get(contender) ?? 1));
}
console.log(JSON.stringify(figures));

/** Answers of one measurement. Warms up, too. */
async function calibrated(contender: Contender): Promise<number> {
  let each_us = 0;
  for (let spent_us = 0; spent_us < 500_000; spent_us += each_us * 50) each_us = await cpu_us(contender, 50);
  return Math.max(10, Math.ceil((Number(batch_ms) * 1_000) / each_us));
}

async function cpu_us({ answer }: Contender, count: number): Promise<number> {
  const before = process.cpuUsage();
  for (let done = 0; done < count; done += 1) await answer();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}
