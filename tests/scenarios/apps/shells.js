// Holds `/hold` until RELEASE_FILE exists. `/shop/shell` is a page without content, of the version that VERSION_FILE said at the start; VERSION_FILE.asked says which was asked for it.
'use strict';

const fs = require('node:fs');
const http = require('node:http');

const version = fs.readFileSync(process.env.VERSION_FILE, 'utf8').trim();

http
  .createServer((request, response) => {
    if (request.url === '/hold') {
      const timer = setInterval(() => {
        if (!fs.existsSync(process.env.RELEASE_FILE)) return;
        clearInterval(timer);
        response.end('held\n');
      }, 5);
      return;
    }
    if (request.url === '/shop/shell') {
      fs.appendFileSync(`${process.env.VERSION_FILE}.asked`, `${version}\n`);
      const headers = {
        'content-type': 'text/html',
        'set-cookie': 'seen=1',
        'x-cookies': request.headers.cookie ?? 'none',
      };
      if (version === 'broken') return response.writeHead(500, headers).end('no shell\n');
      return response.writeHead(200, headers).end(`<!doctype html><title>shop ${version}</title>\n`);
    }
    response.end(`content ${version}\n`);
  })
  .listen(process.env.PORT);
