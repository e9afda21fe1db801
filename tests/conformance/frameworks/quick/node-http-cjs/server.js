'use strict';

const fs = require('node:fs');
const http = require('node:http');
const path = require('node:path');
const { WebSocketServer } = require('ws');

const hello = path.join(__dirname, 'public', 'hello.txt');

const server = http.createServer((req, res) => {
  const url = new URL(req.url, `http://${req.headers.host}`);
  const isGet = req.method === 'GET' || req.method === 'HEAD';

  if (isGet && url.pathname === '/') {
    res.setHeader('Content-Type', 'text/html; charset=utf-8');
    res.end(
      `<!doctype html><title>node:http</title><h1>Hello from node-http-cjs</h1><p>${new Date().toISOString()}</p>`,
    );
    return;
  }

  if (req.method === 'POST' && url.pathname === '/echo') {
    let body = '';
    req.setEncoding('utf8');
    req.on('data', (chunk) => {
      body += chunk;
    });
    req.on('end', () => {
      res.setHeader('Content-Type', 'application/json');
      res.end(JSON.stringify({ message: new URLSearchParams(body).get('message') }));
    });
    return;
  }

  if (isGet && url.pathname === '/hello.txt') {
    res.setHeader('Content-Type', 'text/plain; charset=utf-8');
    fs.createReadStream(hello).pipe(res);
    return;
  }

  if (isGet && url.pathname === '/stream') {
    res.setHeader('Content-Type', 'text/html; charset=utf-8');
    res.write('<p>first part</p>');
    setTimeout(() => res.end('<p>second part</p>'), 300);
    return;
  }

  if (isGet && url.pathname === '/wait') {
    const name = url.searchParams.get('name');
    console.log(`waits ${name}`);
    res.on('close', () => console.log(`left ${name}`));
    return;
  }

  if (isGet && url.pathname === '/download') {
    res.setHeader('Content-Type', 'text/plain; charset=utf-8');
    res.end('0123456789'.repeat(Number(url.searchParams.get('bytes')) / 10));
    return;
  }

  if (isGet && url.pathname === '/debug') {
    res.setHeader('Content-Type', 'application/json');
    res.end(
      JSON.stringify({
        remoteAddress: req.socket.remoteAddress,
        remotePort: req.socket.remotePort,
        remoteFamily: req.socket.remoteFamily,
        protocol: req.socket.encrypted ? 'https' : 'http',
        host: req.headers.host,
        headers: req.headers,
        port: process.env.PORT,
        pid: process.pid,
      }),
    );
    return;
  }

  res.statusCode = 404;
  res.end('Not found\n');
});

const sockets = new WebSocketServer({ server, path: '/ws' });
sockets.on('connection', (socket) => {
  socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
});

server.listen(process.env.PORT || 3000, () => {
  console.log('listening on', server.address());
});
