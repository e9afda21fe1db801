/**
 * Measures one page in one Node: all that render it take turns. Run by `bench/react.ts`, with NODE_ENV=production:
 *
 *   node measure.mjs cpu|server|first-byte|memory PAGE RUNS [short|long [NAME]]
 *
 * Prints one line of JSON, `{ name: figures[] }`: CPU milliseconds, wall milliseconds, or bytes, per render.
 */

import { setImmediate as turn } from 'node:timers/promises';
import { loadContenders, type Contender } from './contenders.ts';
import { Served } from './server.ts';

const [mode = '', page = '', runs = '5', length = 'long', only] = process.argv.slice(2);
const rounds = Number(runs);
/** Duration of one measurement: as many renders as take about that long, so that garbage collections fall into them. */
const batch_ms = length === 'short' ? 30 : 150;
/** Half a second of renders is enough for the optimizing compiler; where Node's own streams and sockets are under way as well, it takes longer. */
const warmUp_ms = mode === 'server' ? 2500 : length === 'short' ? 100 : 500;
/** Fresh data for each render, made in portions outside of what is measured. */
const portion = 10;

const measures: Record<string, (contender: Contender) => Promise<number>> = {
  cpu: (contender) => cpu_ms(contender, counts.get(contender) ?? portion),
  server: (contender) =>
    served?.cpu_ms(contender, counts.get(contender) ?? portion, nextSeed) ??
    Promise.reject(new Error('no server')),
  'first-byte': firstByte_ms,
  memory: bytesPerRender,
};

const served = mode === 'server' ? await Served.start() : undefined;
const contenders = (await loadContenders(page)).filter(({ name }) => only === undefined || name === only);
let seed = 1;
const figures: Record<string, number[]> = Object.fromEntries(contenders.map(({ name }) => [name, []]));
const counts = new Map<Contender, number>();
for (const contender of contenders) counts.set(contender, await calibrate(contender));

for (let round = 0; round < rounds; round += 1) {
  // Each goes first in turn.
  const turn = round % contenders.length;
  for (const contender of [...contenders.slice(turn), ...contenders.slice(0, turn)])
    figures[contender.name]?.push(await figure(contender));
}
console.log(JSON.stringify(figures));
served?.stop();

function nextSeed(): number {
  return (seed += 1);
}

function figure(contender: Contender): Promise<number> {
  const measure = measures[mode];
  if (measure === undefined) throw new Error(`measure what? ${mode}`);
  return measure(contender);
}

/** Warms up, too. */
async function calibrate(contender: Contender): Promise<number> {
  let each_ms = 1;
  for (let spent = 0; spent < warmUp_ms;) {
    each_ms = await (served?.cpu_ms(contender, portion, nextSeed) ?? cpu_ms(contender, portion));
    spent += each_ms * portion + 1;
  }
  return Math.max(portion, Math.ceil(batch_ms / each_ms / portion) * portion);
}

async function cpu_ms({ data, render }: Contender, count: number): Promise<number> {
  let spent_us = 0;
  for (let done = 0; done < count; done += portion) {
    const all = Array.from({ length: portion }, () => data(nextSeed()));
    const before = process.cpuUsage();
    for (const each of all) await render(each, discard);
    // As a server's event loop would: what a render leaves to do is done, and what it leaves behind can be collected.
    await turn();
    const used = process.cpuUsage(before);
    spent_us += used.user + used.system;
  }
  return spent_us / count / 1000;
}

async function firstByte_ms({ data, render }: Contender): Promise<number> {
  const all = Array.from({ length: portion * 2 }, () => data((seed += 1)));
  const waits: number[] = [];
  for (const each of all) {
    const started = performance.now();
    let first: number | undefined;
    await render(each, () => {
      first ??= performance.now() - started;
    });
    waits.push(first ?? Number.NaN);
  }
  return waits.sort((a, b) => a - b)[portion] ?? Number.NaN;
}

/**
 * Bytes allocated by a render, in the heap and beside it: the new space is so large that nothing is collected
 * meanwhile.
 */
async function bytesPerRender({ data, render }: Contender): Promise<number> {
  const all = Array.from({ length: portion }, () => data((seed += 1)));
  (globalThis as { gc?: () => void }).gc?.();
  const used = (): number => {
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const before = used();
  for (const each of all) await render(each, discard);
  return (used() - before) / portion;
}

function discard(): void {}
