'use strict';

const path = require('node:path');
const { Readable } = require('node:stream');
const { setTimeout: delay } = require('node:timers/promises');
const Fastify = require('fastify');

const fastify = Fastify({ logger: true });

fastify.register(require('@fastify/formbody'));
fastify.register(require('@fastify/static'), { root: path.join(__dirname, 'public') });
fastify.register(require('@fastify/websocket'));

fastify.get('/', async (request, reply) => {
  reply.type('text/html; charset=utf-8');
  return `<!doctype html><title>Fastify</title><h1>Hello from fastify</h1><p>${new Date().toISOString()}</p>`;
});

fastify.post('/echo', async (request) => ({ message: request.body.message }));

fastify.get('/items/:slug', (request, reply) => {
  reply.send({ slug: request.params.slug });
});

fastify.get('/stream', (request, reply) => {
  async function* parts() {
    yield 'first part\n';
    await delay(300);
    yield 'second part\n';
  }
  return reply.type('text/plain; charset=utf-8').send(Readable.from(parts()));
});

fastify.get('/download', (request, reply) => {
  const parts = Array.from({ length: request.query.bytes / 10_000 }, () => '0123456789'.repeat(1000));
  return reply.type('text/plain; charset=utf-8').send(Readable.from(parts));
});

fastify.get('/wait', async (request, reply) => {
  console.log(`waits ${request.query.name}`);
  reply.raw.on('close', () => console.log(`left ${request.query.name}`));
  await new Promise(() => {});
});

fastify.get('/debug', async (request) => ({
  remoteAddress: request.socket.remoteAddress,
  remotePort: request.socket.remotePort,
  remoteFamily: request.socket.remoteFamily,
  ip: request.ip,
  protocol: request.protocol,
  host: request.host,
  headers: request.headers,
  port: process.env.PORT,
  pid: process.pid,
}));

fastify.register(async (scope) => {
  scope.get('/ws', { websocket: true }, (socket) => {
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
  });
});

fastify.listen({ port: Number(process.env.PORT ?? 3000), host: process.env.HOST ?? 'localhost' }, (error) => {
  if (error) {
    fastify.log.error(error);
    process.exit(1);
  }
});
