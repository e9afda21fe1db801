// Writes down every byte that arrives at the worker's socket, before any parser has seen it, and answers 200.
'use strict';

const fs = require('node:fs');
const http = require('node:http');

const server = http.createServer((request, response) => {
  request.resume();
  request.on('end', () => response.end('captured\n'));
});
// A listener for `data` takes the socket away from the parser's fast path, so the bytes pass here first.
server.on('connection', (socket) => {
  socket.on('data', (bytes) => fs.appendFileSync(process.env.CAPTURE_FILE, bytes));
});
server.listen(process.env.PORT);
