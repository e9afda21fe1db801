'use strict';

const path = require('node:path');
const { Readable } = require('node:stream');
const express = require('express');
const { WebSocketServer } = require('ws');

const app = express();

app.use(express.static(path.join(__dirname, 'public')));
app.use(express.urlencoded({ extended: false }));
app.use(express.json());

app.get('/', (req, res) => {
  res.send(
    `<!doctype html><title>Express</title><h1>Hello from express5</h1><p>${new Date().toISOString()}</p>`,
  );
});

app.post('/echo', (req, res) => {
  res.json({ message: req.body.message });
});

app.get('/items/:slug', (req, res) => {
  res.json({ slug: req.params.slug });
});

app.get('/stream', (req, res) => {
  res.type('html');
  res.write('<p>first part</p>');
  setTimeout(() => res.end('<p>second part</p>'), 300);
});

app.get('/download', (req, res) => {
  res.attachment('digits.txt');
  Readable.from(Array.from({ length: req.query.bytes / 10_000 }, () => '0123456789'.repeat(1000))).pipe(res);
});

app.get('/wait', (req, res) => {
  console.log(`waits ${req.query.name}`);
  res.on('close', () => console.log(`left ${req.query.name}`));
});

app.get('/debug', (req, res) => {
  res.json({
    remoteAddress: req.socket.remoteAddress,
    remotePort: req.socket.remotePort,
    remoteFamily: req.socket.remoteFamily,
    ip: req.ip,
    protocol: req.protocol,
    host: req.get('host'),
    headers: req.headers,
    port: process.env.PORT,
    pid: process.pid,
  });
});

const server = app.listen(process.env.PORT || 3000, () => {
  console.log('listening on', server.address());
});

const sockets = new WebSocketServer({ server, path: '/ws' });
sockets.on('connection', (socket) => {
  socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
});
