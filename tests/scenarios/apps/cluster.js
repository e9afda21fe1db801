// An app that forks its own workers and starts another for each that ends, as many do in production. With CLUSTER_DEAF the
// primary ignores SIGTERM.
'use strict';

const cluster = require('node:cluster');
const http = require('node:http');

if (cluster.isPrimary) {
  if (process.env.CLUSTER_DEAF) process.on('SIGTERM', () => {});
  cluster.on('exit', () => cluster.fork());
  cluster.fork();
  cluster.fork();
} else {
  http
    .createServer((request, response) => {
      if (request.url === '/exit') process.exit(7);
      response.end(String(process.pid));
    })
    .listen(process.env.PORT);
}
