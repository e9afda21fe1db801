// Opens a page of metrics and an inner server at once, and the app's own server only when APP_AFTER_MS have passed, as behind
// a database. APP_PORT stands for PORT; with METRICS_IN=primary the metrics are those of the primary of a node:cluster.
'use strict';

const cluster = require('node:cluster');
const http = require('node:http');

const { APP_AFTER_MS = '0', APP_PORT = process.env.PORT, METRICS_IN, METRICS_PORT } = process.env;

const answering = (text) =>
  http.createServer((_request, response) => {
    response.setHeader('connection', 'close');
    response.end(`${text}\n`);
  });

if (METRICS_IN === 'primary' && cluster.isPrimary) {
  answering('metrics').listen(Number(METRICS_PORT), '127.0.0.1');
  cluster.fork();
} else {
  const inner = answering('inner').listen(0, '127.0.0.1');
  if (METRICS_IN !== 'primary') answering('metrics').listen(Number(METRICS_PORT), '127.0.0.1');
  setTimeout(() => {
    http
      .createServer(async (request, response) => {
        if (request.url !== '/inner') return response.end('app\n');
        const { port } = inner.address();
        response.end(await (await fetch(`http://127.0.0.1:${port}/`)).text());
      })
      .listen(Number(APP_PORT));
  }, Number(APP_AFTER_MS));
}
