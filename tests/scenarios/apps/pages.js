// Pages that say of themselves whether they may be kept. Each answer has a number, so that a test sees which render it got. The path
// and its parameters say how: ?cc= is Cache-Control, ?ms= how long it takes, ?h=name:value a further field.
'use strict';

const fs = require('node:fs');
const http = require('node:http');
const { purge } = require('@sluice/preload');

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
