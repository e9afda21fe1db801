// Colyseus as its documentation has it, as a module of its own; `/work` keeps a worker busy, so that others get requests too.
import { createServer } from 'node:http';
import { Room, Server } from '@colyseus/core';
import { WebSocketTransport } from '@colyseus/ws-transport';

class Chat extends Room {
  onCreate() {
    this.maxClients = 100;
    this.onMessage('echo', (client, text) => client.send('echo', { text, pid: process.pid }));
  }
}

const http = createServer((request, response) => {
  if (request.url !== '/work') return;
  const end = performance.now() + 30;
  while (performance.now() < end);
  response.end('done');
});
const server = new Server({ transport: new WebSocketTransport({ server: http }) });
server.define('chat', Chat);
await server.listen(Number(process.env.PORT ?? 3000));
