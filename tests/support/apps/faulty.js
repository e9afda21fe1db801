// A worker that breaks in the way its path names: dies, hangs, or answers what is not HTTP. `/mistake/NAME` is one of the
// mistakes of `lib/mistakes.js`, `/whole/NAME` an answer without one.
'use strict';

const http = require('node:http');
const { answerOf, upgrade } = require('./lib/mistakes.js');
const { burnCpu, work } = require('./lib/work.js');

const raw = (bytes) => (_request, response) => {
  response.socket.end(bytes);
};

const faults = {
  '/exit': () => process.exit(7),
  '/abort': () => process.abort(),
  '/throw': () =>
    setImmediate(() => {
      throw new Error('thrown on purpose');
    }),
  '/hang': () => burnCpu(3_600_000),
  '/silent': () => {},
  '/close': (_request, response) => response.socket.destroy(),
  '/half-then-exit': (_request, response) => {
    response.writeHead(200, { 'content-length': 100 });
    response.write('half', () => process.exit(7));
  },
  '/garbage': raw('this is not HTTP\r\n\r\n'),
  '/too-little': raw('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nfive5'),
  '/too-much': raw('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nfourMORE'),
  '/two-lengths': raw('HTTP/1.1 200 OK\r\ncontent-length: 4\r\ncontent-length: 5\r\n\r\nfour5'),
  '/nul-in-header': raw('HTTP/1.1 200 OK\r\nx-a: b\0c\r\ncontent-length: 0\r\n\r\n'),
  '/bare-cr-in-header': raw('HTTP/1.1 200 OK\r\nx-a: b\rc\r\ncontent-length: 0\r\n\r\n'),
  '/truncated-chunk': raw('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhel'),
};

const server = http.createServer((request, response) => {
  const fault = faults[new URL(request.url, 'http://app').pathname];
  const answer = answerOf(request, response);
  if (fault) fault(request, response);
  else if (answer) void answer();
  else void work(request, response);
});
// A worker that drops idle connections at once, to race with the gateway's reuse of them.
if (process.env.KEEP_ALIVE_MS !== undefined) server.keepAliveTimeout = Number(process.env.KEEP_ALIVE_MS);
server.on('upgrade', upgrade);
// Without the preload, as an app in another runtime, it listens on the gateway's socket itself.
const { OWN_SOCKET, PORT = 3000, SLUICE_SOCKET } = process.env;
server.listen(OWN_SOCKET === '1' ? SLUICE_SOCKET : PORT);
