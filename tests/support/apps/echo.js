// Says back what the app saw: request, socket, body and the environment a worker gets.
'use strict';

const http = require('node:http');

http
  .createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const { socket } = request;
    const seen = {
      method: request.method,
      url: request.url,
      httpVersion: request.httpVersion,
      headers: request.headers,
      rawHeaders: request.rawHeaders,
      trailers: request.trailers,
      body: Buffer.concat(chunks).toString('latin1'),
      socket: {
        remoteAddress: socket.remoteAddress,
        remotePort: socket.remotePort,
        remoteFamily: socket.remoteFamily,
        localAddress: socket.localAddress,
        localPort: socket.localPort,
        encrypted: socket.encrypted === true,
      },
      pid: process.pid,
      environment: Object.fromEntries(
        ['PORT', 'NODE_ENV', 'NODE_APP_INSTANCE', 'SLUICE_WORKER'].map((name) => [name, process.env[name]]),
      ),
    };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(seen));
  })
  .listen(process.env.PORT ?? 3000);
