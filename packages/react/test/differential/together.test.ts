/**
 * Pages that one process renders at the same time, some of them by react-dom: each is as it is when it is alone. The others are compared one
 * after the other.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { long, seed } from '../../../../tests/support/chance.ts';
import type { Scenario } from './description.ts';
import { packageFolder } from './fuzz.ts';
import { roots, scenarios } from './generate.ts';
import { loadReact, loadSluice } from './libraries.ts';
import { observe, type Observation, type Renderer } from './observe.ts';
import { newWorld } from './world.ts';

process.env['NODE_ENV'] = 'production';

const together = 5;
const rounds = long ? 2_000 : 40;

void test('pages rendered at the same time do not notice each other', async () => {
  const libraries = loadReact(packageFolder);
  const sluice = await loadSluice(packageFolder);
  const element = libraries.React.createElement('i');
  // Once in the life of a process scripts are learnt, and react-dom's own prerendering is loaded.
  await new Promise<void>((onAllReady) => {
    sluice.renderToPipeableStream(element, { onAllReady });
  });
  await sluice.prerenderToNodeStream?.(element, { signal: new AbortController().signal });
  const apis = ['renderToPipeableStream', 'renderToReadableStream', 'prerenderToNodeStream'] as const;
  const pages = fc.sample(scenarios(roots(4), apis, libraries.version), { seed, numRuns: rounds * together });
  // The same contexts for all, as an app has them.
  const { contexts } = newWorld(libraries, []);
  const look = async (renderer: Renderer, page: Scenario): Promise<Observation> => {
    const lines = await observe(renderer, page, { ...newWorld(libraries, page.outcomes), contexts });
    // The console and the process are everybody's.
    return lines.filter((line) => !/^(@\d+ )?(console\.|unhandled )/.test(line));
  };

  const { error, warn } = console;
  for (let round = 0; round < rounds; round += 1) {
    const some = pages.slice(round * together, (round + 1) * together);
    const alone: Observation[] = [];
    for (const page of some) alone.push(await look(sluice, page));
    const others = round % 2 === 0 ? sluice : libraries.stock;
    const mixed = await Promise.all(some.map((page, at) => look(at % 2 === 0 ? sluice : others, page)));
    Object.assign(console, { error, warn });
    assert.deepEqual(mixed, alone, `seed ${seed}, round ${round}`);
  }
});
