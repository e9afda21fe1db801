// The trivial handler as an ES module that listens after a top-level await.
import http from 'node:http';

const body = await Promise.resolve('Hello from an ES module.\n');

http
  .createServer((_request, response) => response.end(body))
  .listen({ port: Number(process.env.PORT ?? 3000), host: '127.0.0.1' });
