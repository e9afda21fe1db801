// Dies with what is poison: any path that begins with `/poison`, and a body of `/submit` that ends with "poison".
// `/slow?ms=N` answers after N ms with the process id. `/leaves-a-child?NAME` dies the first time and leaves a process
// behind that keeps the connection open. `/counts-the-second-time?NAME` dies the first time when it has some of its body,
// the next time it answers with the body's length. `/fickle?ms=N` answers until there is a file `fickle`, and dies N ms late
// from then on. POISON_DIR is where these remember.
'use strict';

const { spawn } = require('node:child_process');
const fs = require('node:fs');
const http = require('node:http');
const path = require('node:path');

const die = () => process.kill(process.pid, 'SIGKILL');

http
  .createServer((request, response) => {
    const url = new URL(request.url, 'http://app');
    const answer = () => response.end(`${process.pid}\n`);
    if (url.pathname.startsWith('/poison')) return die();
    if (url.pathname === '/slow') return setTimeout(answer, Number(url.searchParams.get('ms')));
    if (url.pathname === '/fickle') {
      if (!fs.existsSync(path.join(process.env.POISON_DIR, 'fickle'))) return answer();
      return setTimeout(
        () => {
          fs.appendFileSync(path.join(process.env.POISON_DIR, 'fickle'), '.');
          die();
        },
        Number(url.searchParams.get('ms')),
      );
    }
    if (url.pathname === '/leaves-a-child') {
      const mark = path.join(process.env.POISON_DIR, url.search.slice(1));
      if (fs.existsSync(mark)) return answer();
      fs.writeFileSync(mark, '');
      const stdio = ['ignore', 'ignore', 'ignore', response.socket];
      // A group of its own, so that it is not killed with the worker; no environment, so that no test takes it for one.
      const child = spawn('sleep', ['15'], { stdio, detached: true, env: { PATH: process.env.PATH } });
      return child.on('spawn', die);
    }
    if (url.pathname === '/counts-the-second-time') {
      const mark = path.join(process.env.POISON_DIR, url.search.slice(1));
      const isSecond = fs.existsSync(mark);
      fs.writeFileSync(mark, '');
      let bytes = 0;
      request.on('data', (piece) => (isSecond ? (bytes += piece.length) : die()));
      return request.on('end', () => response.end(`${bytes}\n`));
    }
    if (request.method === 'GET' || request.method === 'HEAD') return answer();
    let end = '';
    request.on('data', (piece) => (end = (end + piece.toString('latin1')).slice(-6)));
    request.on('end', () => (end === 'poison' ? die() : answer()));
  })
  .listen(process.env.PORT);
