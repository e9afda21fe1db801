// Answers with the version that the file VERSION_FILE names at its start, and does what else that file says: `throws`,
// `never_listens`, `listens_after_ms`, `ready_after_ms`, `works_ms`, `fails_at` (a path that gets 500), `hangs_at` (one that
// gets nothing), `dies_at` (one that ends the process), `ignores_sigterm`. `/events` is an
// event stream, `/large` 2 MiB. Requests that warm it are noted in VERSION_FILE.warm.
'use strict';

const fs = require('node:fs');
const http = require('node:http');

const file = process.env.VERSION_FILE;
const { version, ...does } = JSON.parse(fs.readFileSync(file, 'utf8'));
console.log(`runs ${version}`);
if (does.throws) throw new Error(does.throws);
if (does.ignores_sigterm) process.on('SIGTERM', () => {});

const server = http.createServer((request, response) => {
  const { url, headers } = request;
  if (headers['sluice-warm-up'] === '1') {
    fs.appendFileSync(`${file}.warm`, `${JSON.stringify({ version, pid: process.pid, url, headers })}\n`);
  }
  if (url === does.hangs_at) return;
  if (url === does.dies_at) process.exit(3);
  if (url === does.fails_at) response.statusCode = 500;
  if (url === '/large') return response.end(Buffer.alloc(2 * 1024 * 1024));
  if (url === '/events') {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const timer = setInterval(() => response.write(`data: ${version}\n\n`), 20);
    return response.on('close', () => clearInterval(timer));
  }
  const until = performance.now() + (does.works_ms ?? 0);
  while (performance.now() < until);
  response.setHeader('x-pid', process.pid);
  response.setHeader('x-warmed-by', headers['sluice-warm-up'] ?? 'nobody');
  response.end(version);
});

if (does.never_listens) setInterval(() => {}, 1000);
else setTimeout(() => server.listen(process.env.PORT), does.listens_after_ms ?? 0);
if (does.ready_after_ms !== undefined) setTimeout(() => process.send('ready'), does.ready_after_ms);
