// A worker that speaks the gateway's protocol by itself and has a fault: it breaks off its answer to /early, says that it
// is done with it, and goes on with it for as long as it lives. Like the preload it counts what it holds beyond one
// request at a time, and tells the gateway.
'use strict';

const http = require('node:http');
const net = require('node:net');

const { SLUICE_CONTROL, SLUICE_SOCKET, SLUICE_WORKER } = process.env;
const control = net.connect(SLUICE_CONTROL);
const say = (line) => control.write(`${JSON.stringify(line)}\n`);

let held = 0;
let overlaps_total = 0;

const server = http.createServer((request, response) => {
  const id = Number(/id=(\d+)/.exec(request.headers['x-sluice-request'])?.[1]);
  held += 1;
  if (held > 1) overlaps_total += 1;
  if (request.url === '/early') {
    request.socket.destroy();
    say({ type: 'done', requests: [{ id, cpu_us: 1000 }] });
    return;
  }
  response.on('close', () => (held -= 1));
  response.end(`${held}`);
});

control.on('close', () => process.exit(0));
process.on('SIGTERM', () => process.exit(0));
server.keepAliveTimeout = 0;
server.listen(SLUICE_SOCKET, () => {
  say({
    type: 'hello',
    worker: Number(SLUICE_WORKER),
    pid: process.pid,
    node: process.version,
    preload: 'none',
  });
  say({ type: 'listening', requested: { port: null, host: null, path: SLUICE_SOCKET } });
  setInterval(() => say({ type: 'beat', overlaps_total }), 200);
});
