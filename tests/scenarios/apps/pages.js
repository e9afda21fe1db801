// Pages that say of themselves whether they may be kept. Each answer has a number, so that a test sees which render it got. The path
// and its parameters say how: ?cc= is Cache-Control, ?ms= how long it takes, ?h=name:value a further field.
'use strict';

const fs = require('node:fs');
const http = require('node:http');
const { purge } = require('@sluice/preload');

const MOODS = ['new', undefined, 'known', undefined, 'elsewhere', 'lost'];

/** Answers one visitor alone, with something of that visitor. */
function answersAlone(visit, response, own = 'nobody') {
  if (visit === 'new') response.setHeader('set-cookie', `visit=${own}`);
  else if (visit === 'known') response.setHeader('cache-control', 'private');
  else if (visit === 'elsewhere') response.setHeader('location', `/de?${encodeURIComponent(own)}`);
  else if (visit !== 'lost') return false;
  if (visit === 'elsewhere' || visit === 'lost') response.removeHeader('cache-control');
  response.statusCode = { elsewhere: 302, lost: 404 }[visit] ?? 200;
  response.end(`for ${own} alone\n`);
  return true;
}

let renders = 0;
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

http
  .createServer(async (request, response) => {
    renders += 1;
    const number = renders;
    const url = new URL(request.url, 'http://app.test');
    const { pathname, searchParams } = url;
    const at = `${process.pid}.${number}`;
    if (process.env.RENDERS_FILE !== undefined)
      fs.appendFileSync(process.env.RENDERS_FILE, `${request.method} ${request.url}\n`);
    for (const field of searchParams.getAll('h')) {
      const [name, value] = field.split(/:(.*)/);
      response.appendHeader(name, value);
    }
    const cc = searchParams.get('cc');
    if (cc !== null) response.setHeader('cache-control', cc);
    switch (pathname) {
      case '/die':
        if (!fs.existsSync(process.env.DIED_FILE)) {
          fs.writeFileSync(process.env.DIED_FILE, '');
          process.exit(1);
        }
        break;
      case '/failing':
        if (fs.existsSync(process.env.FAILING_FILE)) {
          response.statusCode = 500;
          return response.end('broken\n');
        }
        break;
      case '/fickle':
        if (fs.existsSync(process.env.FAILING_FILE)) response.setHeader('cache-control', 'private');
        break;
      case '/visit':
        // For all, but for visitors who say what they are.
        if (answersAlone(request.headers['x-visit'], response)) return undefined;
        break;
      case '/moody':
        // For one visitor or for all, as it comes.
        if (answersAlone(MOODS[number % 6], response, request.headers.cookie)) return undefined;
        break;
      case '/truncated':
        response.write('begun ');
        await wait(50);
        return response.destroy();
      case '/validated':
        response.setHeader('etag', '"v1"');
        if (request.headers['if-none-match'] === '"v1"') {
          response.statusCode = 304;
          return response.end();
        }
        break;
      case '/purge':
        return response.end(String(await purge(JSON.parse(searchParams.get('pages')))));
      case '/user':
        response.end(`canary ${request.headers.cookie ?? 'nobody'} ${at}\n`);
        return undefined;
      case '/composed':
        response.setHeader('content-type', 'text/html');
        response.setHeader('surrogate-control', 'max-age=1+2, content="ESI/1.0"');
        return response.end(
          `for all ${at} <esi:include src="/user"/> <esi:include src="/user?cc=public,max-age=2&amp;h=vary:cookie"/>\n`,
        );
      case '/echo':
        return response.end(`${JSON.stringify(request.headers)}\n`);
      default:
    }
    if (pathname === '/held') {
      // Written at once, and over when the test says so.
      const held = Buffer.alloc(Number(searchParams.get('bytes')), `${searchParams.get('id')} `);
      response.write(held);
      while (!fs.existsSync(process.env.RELEASED_FILE)) await wait(200);
      return response.end('ended\n');
    }
    if (pathname === '/upload') {
      let bytes = 0;
      for await (const piece of request) bytes += piece.length;
      return response.end(`${bytes}\n`);
    }
    const ms = Number(searchParams.get('ms') ?? 0);
    if (pathname === '/stream') {
      response.write(`first ${at}\n`);
      await wait(ms);
      return response.end(`last ${at}\n`);
    }
    if (pathname === '/large') return response.end('x'.repeat(Number(searchParams.get('bytes'))));
    await wait(ms);
    return response.end(`${pathname} ${at}\n`);
  })
  .listen(process.env.PORT);
