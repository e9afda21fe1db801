/**
 * Prints what each route costs: the CPU time that this process spends from handing a request to the app until its
 * answer has ended and one turn of the event loop has gone by. In-process, without a network; the answers are
 * thrown away. Run by `npm run costs`; `npm run costs -- 100` takes the median of 100 renders.
 */

import { IncomingMessage, ServerResponse } from 'node:http';
import { cpus } from 'node:os';
import { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { version as reactVersion } from 'react';
import { createApp } from './app.js';
import { readAssets } from './assets.js';
import { createCatalogue } from './catalogue/catalogue.js';
import { openData } from './data/data.js';
import { createMeter } from './meter.js';
import { settings } from './settings.js';
import { seal } from './shop/signed-cookie.js';

/** A socket that takes everything and keeps nothing. */
class Sink extends Socket {
  bytes_taken = 0;

  override _write(chunk: Buffer | string, _encoding: BufferEncoding, done: () => void): void {
    this.bytes_taken += chunk.length;
    done();
  }

  override _writev(chunks: { chunk: Buffer | string }[], done: () => void): void {
    for (const { chunk } of chunks) this.bytes_taken += chunk.length;
    done();
  }
}

const secret = 'costs';
const assets = readAssets(fileURLToPath(new URL(/* @vite-ignore */ './client', import.meta.url)));
const catalogue = createCatalogue();
const app = createApp({
  assets,
  secret,
  catalogue,
  data: openData(':memory:', catalogue),
  meter: createMeter(),
  wait_scale: 0,
  shelf_folder: fileURLToPath(new URL(/* @vite-ignore */ '.', import.meta.url)),
  suggestions_url: settings().suggestions_url,
});
const { products, categories, makers } = catalogue;

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
const cookie = `cart=${seal(
  'cart',
  products.slice(0, 5).map((product) => `${product.variants[0]?.sku ?? ''}:2`).join(','),
  secret,
)}`; // prettier-ignore

/** Each route with a way to ask for something else every time, as visitors do. */
const routes: readonly (readonly [string, (turn: number) => string])[] = [
  [
    '/api/suggest?q=…',
    (turn) => `/api/suggest?q=${encodeURIComponent(at(words, turn).slice(0, 2 + (turn % 3)))}`,
  ],
  ['/assets/….css', () => assets.stylesheet],
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

const renders = Math.max(3, Number.parseInt(process.argv[2] ?? '60', 10) || 60);
const warmUps = Math.max(10, Math.ceil(renders / 2));

console.log(
  `Node ${process.version}, React ${reactVersion}, NODE_ENV=${process.env['NODE_ENV'] ?? ''}, ${cpus()[0]?.model ?? 'unknown CPU'}`,
);
console.log(`CPU ms per request, in-process, ${renders} renders after ${warmUps} to warm up\n`);
console.log(`${'route'.padEnd(26)}${'median'.padStart(9)}${'p95'.padStart(9)}${'KB'.padStart(8)}`);
for (let turn = 0; turn < warmUps; turn += 1) for (const [, path] of routes) await ask(path(turn));
for (const [name, path] of routes) {
  const costs: number[] = [];
  let bytes = 0;
  for (let turn = 0; turn < renders; turn += 1) {
    const before = process.cpuUsage();
    bytes += await ask(path(turn));
    const { user, system } = process.cpuUsage(before);
    costs.push((user + system) / 1000);
  }
  costs.sort((a, b) => a - b);
  const quantile = (share: number): string => at(costs, Math.floor(costs.length * share)).toFixed(1);
  console.log(
    `${name.padEnd(26)}${quantile(0.5).padStart(9)}${quantile(0.95).padStart(9)}${(bytes / renders / 1024).toFixed(0).padStart(8)}`,
  );
}

/** Gives the app a GET without a connection behind it; resolves to the size of the answer. */
async function ask(path: string): Promise<number> {
  const req = new IncomingMessage(new Socket());
  req.method = 'GET';
  req.url = path;
  req.headers = { host: 'localhost', accept: 'text/html', cookie };
  req.push(null);
  const res = new ServerResponse(req);
  const sink = new Sink();
  res.assignSocket(sink);
  // What a server does for its connections: React waits for it before it writes on.
  sink.on('drain', () => res.emit('drain'));
  await new Promise<void>((resolve) => {
    res.on('finish', resolve);
    app(req, res);
  });
  await setImmediate();
  return sink.bytes_taken;
}

function at<T>(list: readonly T[], index: number): T {
  const found = list[index % list.length];
  if (found === undefined) throw new RangeError('An empty list has no member.');
  return found;
}
