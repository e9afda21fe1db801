// Pages for bench/cache.ts. `/page?bytes=N` may be kept and comes compressed to those who take that; `/slow` as well, and begins after
// some time and ends later; `/visit` as well, and is for one visitor where the header `X-Visit` says so; `/render?ms=N` burns CPU time
// and may not be kept. Each render adds a byte to the file RENDERS_FILE.
'use strict';

const fs = require('node:fs');
const http = require('node:http');
const zlib = require('node:zlib');

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Text that compresses about as well as HTML does. */
function text(bytes, seed) {
  const words = ['<li class="card">', '</li>', 'price', 'delivery', 'shirt', '<a href="/p/', '">', '</a>'];
  let out = '';
  let state = seed + 1;
  while (out.length < bytes) {
    state = (state * 1103515245 + 12345) & 0x7fffffff;
    out += `${words[state % words.length]}${state % 9973} `;
  }
  return out.slice(0, bytes);
}

http
  .createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://app.test');
    const number = (name, other) => Number(searchParams.get(name) ?? other);
    if (process.env.RENDERS_FILE !== undefined) fs.appendFileSync(process.env.RENDERS_FILE, '.');
    if (pathname === '/render') {
      const until = performance.now() + number('ms', 5);
      while (performance.now() < until);
      response.setHeader('cache-control', 'no-store');
      return response.end('rendered\n');
    }
    response.setHeader('content-type', 'text/html; charset=utf-8');
    const visit = pathname === '/visit' ? request.headers['x-visit'] : undefined;
    if (visit === 'private') response.setHeader('cache-control', 'private');
    if (visit === 'moved') response.writeHead(302, { location: '/visit/de' });
    if (visit === 'missing') response.writeHead(404);
    if (visit !== undefined && visit !== 'cookie') return response.end('for one\n');
    if (visit === 'cookie') response.setHeader('set-cookie', 'visit=1');
    response.setHeader('cache-control', `public, max-age=${number('age', 3600)}`);
    if (pathname === '/slow') {
      await wait(number('ms', 300));
      response.write('begun\n');
      await wait(number('ms', 300));
      return response.end('ended\n');
    }
    response.setHeader('etag', `"${searchParams.get('id') ?? 0}"`);
    let body = Buffer.from(text(number('bytes', 2048), number('id', 0)));
    if (searchParams.has('gzip')) {
      response.setHeader('vary', 'accept-encoding');
      if (/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) {
        body = zlib.gzipSync(body);
        response.setHeader('content-encoding', 'gzip');
      }
    }
    response.setHeader('content-length', body.length);
    response.end(body);
  })
  .listen(process.env.PORT);
