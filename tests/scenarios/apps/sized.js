// Answers `/page/BYTES` with a page of that size, and with the headers that the JSON in `?` says. `/noise/BYTES` cannot be made
// smaller. `/pieces/NAME` sends a page of
// which the second half waits until the file NAME appears in HOLD_DIR, and ends with a trailer.
'use strict';

const crypto = require('node:crypto');
const fs = require('node:fs');
const http = require('node:http');
const path = require('node:path');

const row = '<li class="item"><a href="/products">A product</a></li>\n';
const page = (bytes) => row.repeat(Math.ceil(bytes / row.length)).slice(0, bytes);

/** The same bytes each time, without pattern. */
const noise = (bytes) => {
  const blocks = Array.from({ length: Math.ceil(bytes / 32) }, (_, at) =>
    crypto.createHash('sha256').update(String(at)).digest(),
  );
  return Buffer.concat(blocks).subarray(0, bytes);
};

http
  .createServer((request, response) => {
    const [, kind, name, headers] = /^\/(\w+)\/(\w+)(?:\?(.*))?$/.exec(decodeURIComponent(request.url)) ?? [];
    response.setHeader('content-type', 'text/html; charset=utf-8');
    for (const [key, value] of Object.entries(JSON.parse(headers ?? '{}'))) {
      response.setHeader(key, value);
    }
    if (kind === 'page') {
      if (request.headers['if-none-match'] !== undefined) return response.writeHead(304).end();
      response.setHeader('content-length', name);
      return response.end(page(Number(name)));
    }
    if (kind === 'noise') return response.end(noise(Number(name)));
    response.setHeader('trailer', 'x-end');
    response.write(`first half of ${name}`);
    const timer = setInterval(() => {
      if (!fs.existsSync(path.join(process.env.HOLD_DIR, name))) return;
      clearInterval(timer);
      response.addTrailers({ 'x-end': 'yes' });
      response.end(page(100_000));
    }, 20);
    response.on('close', () => clearInterval(timer));
  })
  .listen(process.env.PORT);
