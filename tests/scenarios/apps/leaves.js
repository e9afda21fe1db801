// Writes to JOURNAL what it sees of each request and its client. The path says what it does: `wait` never answers,
// `stream` writes until its response closes, and neither ever calls `end()`; `computes` ends half a second after the close;
// `keeps` holds its response for ever and never ends it; `flushes` does so until two seconds after SIGTERM; `sync` answers at once. The rest of the path is a name.
'use strict';

const fs = require('node:fs');
const http = require('node:http');

const note = (...words) => fs.appendFileSync(process.env.JOURNAL, `${words.join(' ')} ${Date.now()}\n`);
const kept = [];

const server = http.createServer((request, response) => {
  const [, does, name] = request.url.split('/');
  const seen = (what) => note(name, what);
  if (does === 'sync') return response.end(`${process.pid}\n`);
  request.on('aborted', () => seen('request-aborted'));
  request.on('error', (error) => seen(`request-error:${error.code}`));
  request.on('end', () => seen('request-end'));
  request.on('close', () => seen(`request-close:aborted=${request.aborted}`));
  response.on('finish', () => seen('response-finish'));
  response.on('close', () => seen(`response-close:finished=${response.writableFinished}`));
  if (request.method === 'POST' && does !== 'unread') request.resume();
  seen(`begin:${process.pid}`);
  if (does === 'stream') {
    response.writeHead(200, { 'content-type': 'text/plain' });
    const timer = setInterval(() => response.write('part\n'), 10);
    response.on('close', () => clearInterval(timer));
  } else if (does === 'events') {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: only\n\n');
  } else if (does === 'computes') {
    response.on('close', () => {
      setTimeout(() => {
        seen('computed');
        response.end('late\n');
      }, 500);
    });
  } else if (does === 'keeps') kept.push(response);
  else if (does === 'flushes') {
    kept.push(response);
    process.on('SIGTERM', () => {
      setTimeout(() => {
        seen('flushed');
        process.exit(0);
      }, 2_000);
    });
  }
});

// Upgrades: `/upgrade/NAME` is never answered, `/refuse/NAME` gets an ordinary response, late; `/accept/NAME` is accepted, late.
if (process.env.TAKES_UPGRADES === '1') {
  server.on('upgrade', (request, socket) => {
    const [, does, name] = request.url.split('/');
    note(name, `begin:${process.pid}`);
    note(name, `written:${socket.bytesWritten}`);
    socket.on('error', () => {});
    socket.on('end', () => note(name, 'socket-end'));
    socket.on('close', () => note(name, 'socket-close'));
    const answers = {
      refuse: 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 5\r\n\r\nnever',
      accept: 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nhello',
    };
    if (does === 'throws') throw new Error('on purpose');
    if (does in answers) setTimeout(() => socket.end(answers[does]), 300);
  });
}
server.listen(process.env.PORT ?? 0, () => note('listening', server.address().port));
