'use strict';

const path = require('node:path');
const { PassThrough } = require('node:stream');
const Koa = require('koa');
const serve = require('koa-static');
const { bodyParser } = require('@koa/bodyparser');
const Router = require('@koa/router');
const { WebSocketServer } = require('ws');

const app = new Koa();
const router = new Router();

router.get('/', (ctx) => {
  ctx.type = 'html';
  ctx.body = `<!doctype html><title>Koa</title><h1>Hello from koa</h1><p>${new Date().toISOString()}</p>`;
});

router.post('/echo', (ctx) => {
  ctx.body = { message: ctx.request.body.message };
});

router.get('/stream', (ctx) => {
  const body = new PassThrough();
  ctx.type = 'html';
  ctx.body = body;
  body.write('<p>first part</p>');
  setTimeout(() => body.end('<p>second part</p>'), 300);
});

router.get('/download', (ctx) => {
  ctx.type = 'text';
  ctx.body = Buffer.from('0123456789'.repeat(ctx.query.bytes / 10));
});

router.get('/wait', async (ctx) => {
  console.log(`waits ${ctx.query.name}`);
  ctx.req.on('close', () => console.log(`left ${ctx.query.name}`));
  await new Promise(() => {});
});

router.get('/debug', (ctx) => {
  ctx.body = {
    remoteAddress: ctx.req.socket.remoteAddress,
    remotePort: ctx.req.socket.remotePort,
    remoteFamily: ctx.req.socket.remoteFamily,
    ip: ctx.ip,
    protocol: ctx.protocol,
    host: ctx.host,
    headers: ctx.headers,
    port: process.env.PORT,
    pid: process.pid,
  };
});

app.use(serve(path.join(__dirname, 'public')));
app.use(bodyParser());
app.use(router.routes());
app.use(router.allowedMethods());

const server = app.listen(process.env.PORT || 3000);

const sockets = new WebSocketServer({ server, path: '/ws' });
sockets.on('connection', (socket) => {
  socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
});
