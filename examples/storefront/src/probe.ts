/**
 * The shop in a process of its own, which tells its parent what requests cost. In-process, without a network; the answers are thrown away.
 * Started by `costs.ts`.
 */

import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createApp } from './app.js';
import { readAssets } from './assets.js';
import { createCatalogue } from './catalogue/catalogue.js';
import { openData } from './data/data.js';
import { createMeter } from './meter.js';
import { settings } from './settings.js';
import { seal } from './shop/signed-cookie.js';

/** What one request cost. */
export interface Cost {
  /** User and system time of the process, milliseconds. */
  cpu_ms: number;
  /** Size of the answer with its headers. */
  bytes: number;
}

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
const catalogue = createCatalogue();
const app = createApp({
  assets: readAssets(fileURLToPath(new URL(/* @vite-ignore */ './client', import.meta.url))),
  secret,
  catalogue,
  data: openData(':memory:', catalogue),
  meter: createMeter(),
  wait_scale: 0,
  shelf_folder: fileURLToPath(new URL(/* @vite-ignore */ '.', import.meta.url)),
  suggestions_url: settings().suggestions_url,
});
const lines = catalogue.products.slice(0, 5).map((product) => `${product.variants[0]?.sku ?? ''}:2`);
const cookie = `cart=${seal('cart', lines.join(','), secret)}`;

process.on('message', (path) => void tell(String(path)));

async function tell(path: string): Promise<void> {
  const before = process.cpuUsage();
  const bytes = await ask(path);
  const { user, system } = process.cpuUsage(before);
  process.send?.({ cpu_ms: (user + system) / 1000, bytes } satisfies Cost);
}

/** Gives the app a GET without a connection behind it; resolves to the size of the answer after one more turn of the event loop. */
async function ask(path: string): Promise<number> {
  const req = new IncomingMessage(new Socket());
  req.method = 'GET';
  req.url = path;
  req.headers = { host: 'localhost', accept: 'text/html', cookie };
  req.push(null);
  const res = new ServerResponse(req);
  const sink = new Sink();
  res.assignSocket(sink);
  // A server passes `drain` of its connections on: React waits for it before it writes on.
  sink.on('drain', () => res.emit('drain'));
  await new Promise<void>((resolve) => {
    res.on('finish', resolve);
    app(req, res);
  });
  await setImmediate();
  return sink.bytes_taken;
}
