import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Handler = (req: IncomingMessage, res: ServerResponse) => void | Promise<void>;

async function textOf(req: IncomingMessage): Promise<string> {
  let text = '';
  req.setEncoding('utf8');
  for await (const chunk of req) text += chunk as string;
  return text;
}

const routes: Record<string, Handler> = {
  'GET /': (_req, res) => {
    res.setHeader('Content-Type', 'text/html; charset=utf-8');
    res.end(
      `<!doctype html><title>TypeScript</title><h1>Hello from node-http-ts</h1><p>${new Date().toISOString()}</p>`,
    );
  },
  'POST /echo': async (req, res) => {
    const { message } = JSON.parse(await textOf(req)) as { message: string };
    res.setHeader('Content-Type', 'application/json');
    res.end(JSON.stringify({ message }));
  },
  'GET /hello.txt': (_req, res) => {
    res.setHeader('Content-Type', 'text/plain; charset=utf-8');
    res.end('A static file of the node-http-ts app.\n');
  },
  'GET /stream': (_req, res) => {
    res.setHeader('Content-Type', 'text/plain; charset=utf-8');
    res.write('first part\n');
    setTimeout(() => res.end('second part\n'), 300);
  },
  'GET /download': (req, res) => {
    const bytes = Number(new URL(req.url ?? '/', 'http://localhost').searchParams.get('bytes'));
    const part = '0123456789'.repeat(1000);
    res.writeHead(200, { 'Content-Type': 'text/plain; charset=utf-8', 'Content-Length': bytes });
    for (let sent = 0; sent < bytes; sent += part.length) res.write(part.slice(0, bytes - sent));
    res.end();
  },
  'GET /wait': (req, res) => {
    const name = new URL(req.url ?? '/', 'http://localhost').searchParams.get('name');
    console.log(`waits ${name}`);
    req.on('aborted', () => {
      console.log(`left ${name}`);
      res.end();
    });
  },

  'GET /debug': (req, res) => {
    res.setHeader('Content-Type', 'application/json');
    res.end(
      JSON.stringify({
        remoteAddress: req.socket.remoteAddress,
        remotePort: req.socket.remotePort,
        remoteFamily: req.socket.remoteFamily,
        protocol: 'encrypted' in req.socket && req.socket.encrypted ? 'https' : 'http',
        host: req.headers.host,
        headers: req.headers,
        port: process.env.PORT,
        pid: process.pid,
      }),
    );
  },
};

const server = createServer((req, res) => {
  const method = req.method === 'HEAD' ? 'GET' : req.method;
  const { pathname } = new URL(req.url ?? '/', 'http://localhost');
  const route = routes[`${method} ${pathname}`];
  if (!route) {
    res.statusCode = 404;
    res.end('Not found\n');
    return;
  }
  void route(req, res);
});

server.listen(process.env.PORT ?? 3000, () => {
  const address = server.address() as AddressInfo | string | null;
  console.log('listening on', address);
});
