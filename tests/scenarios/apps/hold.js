// Holds `/hold/NAME` until the file NAME appears in HOLD_DIR and answers anything else at once; with `?garbage` it first
// sends what is not HTTP. Writes to HOLD_DIR/journal when a request begins and ends, and when it holds more than HOLD_MAX.
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
      response.end(`${process.pid}\n`);
    };
    const name = /^\/hold\/([\w-]+)/.exec(request.url)?.[1];
    if (name === undefined) return finish();
    if (request.url.endsWith('?garbage')) response.socket.write('this is not HTTP\r\n\r\n');
    const timer = setInterval(() => {
      if (!fs.existsSync(path.join(dir, name))) return;
      clearInterval(timer);
      finish();
    }, 5);
  })
  .listen(process.env.PORT);
