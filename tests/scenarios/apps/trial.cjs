// An app whose version says what a page costs, how often it fails, and whether it dies.
const { appendFileSync, readFileSync } = require('node:fs');
const { createServer } = require('node:http');

const version = JSON.parse(readFileSync(process.env.VERSION_FILE, 'utf8'));
let served = 0;
const leaked = [];

/** Work that takes the same CPU time however busy the machine is. */
function work(units) {
  let sum = 0;
  for (let unit = 0; unit < units * 100_000; unit += 1) sum = (sum + unit * unit) % 1_000_003;
  return sum;
}

/** A page that varies by itself: a nonce, a time, a counter, a name by chance; and by the version: a hashed file, a heading. */
function page(url) {
  const names = ['Ada', 'Grace Hopper', 'Jean'];
  const heading = version.heading && url.startsWith('/html/changed') ? version.heading : 'Shirts';
  return `<!doctype html>
<script nonce="${Math.random().toString(36).slice(2)}" src="/assets/index-${version.version === 'one' ? 'DiwrgTdA' : 'BxY12_ab'}.js"></script>
<h1>${heading}</h1>
<p>Made at ${Date.now()} as number ${served} for ${names[served % names.length]}.</p>
`;
}

createServer((request, response) => {
  served += 1;
  if (version.dies_after && served > version.dies_after) process.exit(3);
  work(version.units ?? 1);
  if (version.leaks_bytes) leaked.push(Array.from({ length: version.leaks_bytes / 8 }));
  if (version.fails_at && request.url.startsWith(version.fails_at)) {
    response.writeHead(500).end('failed');
    return;
  }
  if (version.fails_every && served % version.fails_every === 0) {
    response.writeHead(500).end('failed');
    return;
  }
  const headers = {
    'content-type': 'text/plain',
    'x-version': version.version,
    'x-pid': String(process.pid),
  };
  if (request.url.startsWith('/cached')) {
    appendFileSync(`${process.env.VERSION_FILE}.renders`, `${version.version}\n`);
    headers['cache-control'] = 'max-age=600';
  }
  if (request.url.startsWith('/html')) {
    headers['content-type'] = 'text/html; charset=utf-8';
    appendFileSync(
      `${process.env.VERSION_FILE}.html`,
      `${JSON.stringify({ ...request.headers, url: request.url })}\n`,
    );
    if (request.url === '/html/private') headers['cache-control'] = 'private, no-store';
    if (request.url === '/html/cookie') headers['set-cookie'] = 'user=SECRET3';
    response.writeHead(200, headers).end(page(request.url));
    return;
  }
  response.writeHead(200, headers).end(version.version);
}).listen(process.env.PORT);
