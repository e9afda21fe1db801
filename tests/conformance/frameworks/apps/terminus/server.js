// A plain server with health checks by Terminus, on a port of their own that is opened first.
'use strict';

const http = require('node:http');
const { createTerminus } = require('@godaddy/terminus');

const health = http.createServer((_request, response) => {
  response.writeHead(404).end('only health checks here\n');
});
const server = http.createServer((request, response) => {
  response.end(`the app: ${request.url}\n`);
});

createTerminus(health, {
  healthChecks: { '/healthz': async () => ({ database: 'up' }), verbatim: true },
  signals: ['SIGTERM', 'SIGINT'],
  timeout: 2_000,
  onSignal: () => new Promise((resolve) => server.close(resolve)),
});

health.listen(process.env.HEALTH_PORT ?? 9000, () => {
  // Whatever the app needs before it can serve.
  setTimeout(() => server.listen(process.env.PORT ?? 3000), 300);
});
