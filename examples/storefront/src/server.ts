/** Starts the shop: `node dist/server.js`. An ordinary Express server that knows nothing of what runs it. */

import { fileURLToPath } from 'node:url';
import { createApp } from './app.js';
import { readAssets } from './assets.js';
import { settings } from './settings.js';

const app = createApp({
  assets: readAssets(fileURLToPath(new URL('./assets', import.meta.url))),
  ...settings(),
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
  server.close(() => process.exit(0));
});
