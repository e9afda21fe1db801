import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocketServer } from 'ws';

// A top-level await before listen(), as apps that open a database first have.
const greeting = await delay(10, 'Hello from node-http-esm');

const routes = {
  'GET /': (req, res) => {
    res.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    res.end(`<!doctype html><title>node:http</title><h1>${greeting}</h1><p>${new Date().toISOString()}</p>`);
  },
  'POST /echo': async (req, res) => {
    const chunks = [];
    for await (const chunk of req) chunks.push(chunk);
    const { message } = JSON.parse(Buffer.concat(chunks).toString());
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end(JSON.stringify({ message }));
  },
  'GET /hello.txt': (req, res) => {
    res.writeHead(200, { 'content-type': 'text/plain', 'cache-control': 'public, max-age=3600' });
    res.end('A static file of the node-http-esm app.\n');
  },
  'GET /stream': async (req, res) => {
    res.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' });
    res.write('first part\n');
    await delay(300);
    res.end('second part\n');
  },
  'GET /download': async (req, res) => {
    const { searchParams } = new URL(req.url, 'http://localhost');
    res.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' });
    await pipeline(Readable.from(digits(Number(searchParams.get('bytes')))), res);
  },
  'GET /wait': (req, res) => {
    const name = new URL(req.url, 'http://localhost').searchParams.get('name');
    console.log(`waits ${name}`);
    res.write('still thinking\n');
    const timer = setInterval(() => res.write('still thinking\n'), 20);
    req.on('close', () => {
      clearInterval(timer);
      console.log(`left ${name}`);
    });
  },

  'GET /debug': (req, res) => {
    const { remoteAddress, remotePort, remoteFamily, encrypted } = req.socket;
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end(
      JSON.stringify({
        remoteAddress,
        remotePort,
        remoteFamily,
        protocol: encrypted ? 'https' : 'http',
        host: req.headers.host,
        headers: req.headers,
        port: process.env.PORT,
        pid: process.pid,
      }),
    );
  },
};

function* digits(bytes) {
  const part = '0123456789'.repeat(1000);
  for (let sent = 0; sent < bytes; sent += part.length) yield part.slice(0, bytes - sent);
}

const server = createServer(async (req, res) => {
  const { pathname } = new URL(req.url, 'http://localhost');
  // Node itself leaves the body out of an answer to HEAD.
  const method = req.method === 'HEAD' ? 'GET' : req.method;
  const route = routes[`${method} ${pathname}`];
  if (route) {
    await route(req, res);
  } else {
    res.writeHead(404, { 'content-type': 'text/plain' });
    res.end('Not found\n');
  }
});

// The upgrade handled by hand, as apps that authenticate first do.
const sockets = new WebSocketServer({ noServer: true });
server.on('upgrade', (req, socket, head) => {
  if (req.url !== '/ws') {
    socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n');
    return;
  }
  sockets.handleUpgrade(req, socket, head, (client) => {
    client.on('message', (data, isBinary) => client.send(data, { binary: isBinary }));
  });
});

server.listen({ port: Number(process.env.PORT ?? 3000), host: process.env.HOST ?? '0.0.0.0' });
