/** Starts the shop: `node dist/server.js`. An ordinary Express server; one hook is all it knows of Sluice. */

import { fileURLToPath } from 'node:url';
import { afterRequest } from '@sluice/preload';
import { createApp } from './app.js';
import { readAssets } from './assets.js';
import { createCatalogue } from './catalogue/catalogue.js';
import { openData } from './data/data.js';
import { createMeter } from './meter.js';
import { settings } from './settings.js';

const { heavy_ms, data_folder, secret, ...options } = settings();
const catalogue = createCatalogue();
const data = openData(
  data_folder ?? fileURLToPath(new URL(/* @vite-ignore */ '../.data', import.meta.url)),
  catalogue,
);
const meter = createMeter();
const app = createApp({
  catalogue,
  data,
  meter,
  secret: secret ?? data.secret,
  assets: readAssets(fileURLToPath(new URL(/* @vite-ignore */ './client', import.meta.url))),
  shelf_folder: fileURLToPath(new URL(/* @vite-ignore */ '.', import.meta.url)),
  ...options,
});

// A worker of Sluice renders one page at a time, so this is what the page cost and nothing else. Elsewhere, where pages
// share a process and nobody could tell, it is never called.
afterRequest(({ request, id, cpu_ms }) => {
  meter.add(request.url ?? '/', cpu_ms);
  if (cpu_ms > heavy_ms)
    console.warn(`Heavy page: ${request.url} took ${cpu_ms.toFixed(0)} ms of CPU (${id}).`);
});

const server = app.listen(Number(process.env['PORT'] ?? 3000), (error) => {
  if (error !== undefined) throw error;
  const address = server.address();
  console.log(
    `The storefront listens on ${typeof address === 'object' ? `port ${address?.port ?? ''}` : address}.`,
  );
});

// Answers what it holds, then leaves, as an orchestrator expects of a server that is told to stop.
process.once('SIGTERM', () => {
  server.close(() => {
    data.close();
    process.exit(0);
  });
});
