// Holds `/hold/NAME` until the file NAME appears in HOLD_DIR and answers anything else at once; with `?garbage` it first
// sends what is not HTTP, with `?late` all of its response, which it ends when released. `/count` counts its body, `/soon` ends a little late. Writes
// to HOLD_DIR/journal when a request begins and ends, and when it holds more than HOLD_MAX.
'use strict';

const fs = require('node:fs');
const http = require('node:http');
const path = require('node:path');

const dir = process.env.HOLD_DIR;
const held_max = Number(process.env.HOLD_MAX ?? 1);
let held = 0;

const note = (text) => fs.appendFileSync(path.join(dir, 'journal'), `${text} ${process.pid}\n`);

http
  .createServer((request, response) => {
    held += 1;
    if (held > held_max) note(`overlap ${request.url}`);
    note(`begin ${request.url}`);
    const finish = () => {
      held -= 1;
      note(`end ${request.url}`);
      if (response.headersSent) response.end();
      else response.end(`${process.pid}\n`);
    };
    if (request.url.startsWith('/count')) {
      let bytes = 0;
      request.on('data', (piece) => (bytes += piece.length));
      return request.on('end', () => finish(response.setHeader('x-body-bytes', bytes)));
    }
    if (request.url.startsWith('/soon')) {
      response.writeHead(200, { 'content-length': 6 }).write('whole\n');
      return setTimeout(finish, 5);
    }
    const name = /^\/hold\/([\w-]+)/.exec(request.url)?.[1];
    if (name === undefined) return finish();
    if (request.url.endsWith('?garbage')) response.socket.write('this is not HTTP\r\n\r\n');
    if (request.url.endsWith('?late')) {
      response.writeHead(200, { 'content-length': 6 });
      if (request.method !== 'HEAD') response.write('whole\n');
      else response.flushHeaders();
    }
    const timer = setInterval(() => {
      if (!fs.existsSync(path.join(dir, name))) return;
      clearInterval(timer);
      finish();
    }, 5);
  })
  .listen(process.env.PORT);
