/**
 * Prints what each route costs with each renderer: the CPU time of a process from handing a request to the app until its answer has
 * ended and one turn of the event loop has gone by. The renderers take turns request by request, so that a busy machine is in the
 * figures of both. Run by `npm run costs`; `npm run costs -- 100` takes the median of 100 renders.
 */

import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { version as reactVersion } from 'react';
import { readAssets } from './assets.js';
import { createCatalogue } from './catalogue/catalogue.js';
import type { Cost } from './probe.js';

const { products, categories, makers } = createCatalogue();
const folder = fileURLToPath(new URL(/* @vite-ignore */ '.', import.meta.url));
const { stylesheet } = readAssets(`${folder}/client`);

const words = [
  'mug',
  'wool',
  'oak lamp',
  'brass',
  'quiet',
  'linen',
  'harbour',
  'leather bag',
  'made in saltmere',
];

/** Each route with a way to ask for something else every time, as visitors do. */
const routes: readonly (readonly [string, (turn: number) => string])[] = [
  [
    '/api/suggest?q=…',
    (turn) => `/api/suggest?q=${encodeURIComponent(at(words, turn).slice(0, 2 + (turn % 3)))}`,
  ],
  ['/assets/….css', () => stylesheet],
  ['/about', () => '/about'],
  ['/no-such-page (404)', (turn) => `/no-such-page-${turn}`],
  ['/cart (5 lines)', () => '/cart'],
  ['/checkout', () => '/checkout'],
  ['/', () => '/'],
  ['/p/:slug', (turn) => `/p/${at(products, turn * 7).slug}`],
  ['/for-you (waits off)', () => '/for-you'],
  ['/search?q=…', (turn) => `/search?q=${encodeURIComponent(at(words, turn))}`],
  ['/products?maker=…', (turn) => `/products?maker=${at(makers, turn).slug}&sort=rating`],
  ['/c/:category', (turn) => `/c/${at(categories, turn).slug}`],
  ['/products (60 cards)', (turn) => `/products?page=${1 + (turn % 12)}`],
  ['/products?show=240', (turn) => `/products?show=240&page=${1 + (turn % 3)}`],
  ['/compare/:category', (turn) => `/compare/${at(categories, turn).slug}`],
  ['/explore', (turn) => `/explore${turn % 4 === 3 ? '?q=made' : ''}`],
  ['/shelf (60 boxes)', (turn) => `/shelf?layout=${turn % 2 === 0 ? 'wide' : 'narrow'}`],
  ['/shelf/:slug', (turn) => `/shelf/${at(products, turn * 7).slug}`],
  ['/catalogue', () => '/catalogue'],
  ['/catalogue?pictures=1', () => '/catalogue?pictures=1'],
];

/** Without NODE_ENV=production, `react-dom` would be its development build, at twice the CPU time. */
const env = { ...process.env, NODE_ENV: 'production' };
const probes = ['probe.js', 'probe.react-dom.js'].map((file) => fork(`${folder}/${file}`, { env }));

const renders = Math.max(3, Number.parseInt(process.argv[2] ?? '60', 10) || 60);
const warmUps = Math.max(10, Math.ceil(renders / 2));

console.log(`Node ${process.version}, React ${reactVersion}, ${cpus()[0]?.model ?? 'unknown CPU'}`);
console.log(`CPU ms per request, in-process, ${renders} renders after ${warmUps} to warm up\n`);
console.log(`${''.padEnd(26)}${'@sluice/react'.padStart(18)}${'react-dom'.padStart(18)}`);
console.log(
  `${'route'.padEnd(26)}${`${'median'.padStart(9)}${'p95'.padStart(9)}`.repeat(2)}${'KB'.padStart(8)}`,
);
for (let turn = 0; turn < warmUps; turn += 1)
  for (const [, path] of routes) for (const probe of probes) await costOf(probe, path(turn));
for (const [name, path] of routes) {
  const costs: Cost[][] = probes.map(() => []);
  for (let turn = 0; turn < renders; turn += 1)
    for (const [place, probe] of probes.entries()) costs[place]?.push(await costOf(probe, path(turn)));
  const figures = costs.map((list) => {
    const sorted = list.map(({ cpu_ms }) => cpu_ms).sort((one, other) => one - other);
    return [0.5, 0.95]
      .map((share) =>
        at(sorted, Math.floor(renders * share))
          .toFixed(1)
          .padStart(9),
      )
      .join('');
  });
  const bytes = (costs[0] ?? []).reduce((sum, cost) => sum + cost.bytes, 0) / renders;
  console.log(`${name.padEnd(26)}${figures.join('')}${(bytes / 1024).toFixed(0).padStart(8)}`);
}
for (const probe of probes) probe.disconnect();

async function costOf(probe: ChildProcess, path: string): Promise<Cost> {
  const answer = once(probe, 'message');
  probe.send(path);
  const [cost] = (await answer) as [Cost];
  return cost;
}

function at<T>(list: readonly T[], index: number): T {
  const found = list[index % list.length];
  if (found === undefined) throw new RangeError('An empty list has no member.');
  return found;
}
