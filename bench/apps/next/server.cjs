// Next's production server in a process of its own, as its guide on custom servers has it: any server of the benchmark starts it by
// its file and PORT.
'use strict';

const http = require('node:http');
const next = require('next');

const app = next({ dev: false, dir: __dirname });

app.prepare().then(() => {
  http.createServer(app.getRequestHandler()).listen(Number(process.env.PORT ?? 3000));
  // PM2 takes this for its word.
  process.send?.('ready');
});
process.on('SIGTERM', () => process.exit(0));
