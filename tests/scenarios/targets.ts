// Upstreams of a gateway under test: servers of Node, and servers that write whatever bytes a test wants.
import http from 'node:http';
import https from 'node:https';
import net, { type AddressInfo } from 'node:net';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import type { Sluice } from '../support/sluice.ts';

export interface Target {
  port: number;
  url: string;
  /** Requests that came, in order. */
  seen: { method: string; url: string; headers: http.IncomingHttpHeaders; raw: string[]; body: string }[];
  server: net.Server;
  /** Closes it with all its connections. */
  close(): Promise<void>;
}

async function listening(t: TestContext, server: net.Server, port: number): Promise<number> {
  const sockets = new Set<net.Socket>();
  server.on('connection', (socket: net.Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const close = (): void => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  server.once('stop', close);
  t.after(close);
  return (server.address() as AddressInfo).port;
}

/** A server of Node; `answer` gets the whole request. */
export async function target(
  t: TestContext,
  answer: (request: http.IncomingMessage, response: http.ServerResponse, body: string) => void = (
    request,
    response,
  ) => response.end(`upstream ${request.url ?? ''}`),
  { tls, port = 0 }: { tls?: https.ServerOptions; port?: number } = {},
): Promise<Target> {
  const seen: Target['seen'] = [];
  const handle = (request: http.IncomingMessage, response: http.ServerResponse): void => {
    const { method = '', url = '', headers, rawHeaders: raw } = request;
    const entry = { method, url, headers, raw, body: '' };
    seen.push(entry);
    request.setEncoding('latin1').on('data', (text: string) => (entry.body += text));
    request.once('end', () => {
      answer(request, response, entry.body);
    });
  };
  const server = tls === undefined ? http.createServer(handle) : https.createServer(tls, handle);
  const taken = await listening(t, server, port);
  return {
    port: taken,
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${taken}`,
    seen,
    server,
    close: async () => {
      const closed = once(server, 'close');
      server.emit('stop');
      await closed;
    },
  };
}

/** A server that gets each connection as it is, and the number of connections so far. */
export async function rawTarget(
  t: TestContext,
  serve: (socket: net.Socket, number: number) => void,
): Promise<{ port: number; url: string; heads: string[] }> {
  const heads: string[] = [];
  let count = 0;
  const server = net.createServer((socket) => {
    const number = count++;
    let text = '';
    const read = (data: Buffer): void => {
      text += data.toString('latin1');
      if (!text.includes('\r\n\r\n')) return;
      socket.off('data', read);
      socket.on('data', () => undefined);
      heads.push(text);
      serve(socket, number);
    };
    socket.on('data', read);
  });
  const port = await listening(t, server, 0);
  return { port, url: `http://127.0.0.1:${port}`, heads };
}

/** `[[upstreams.routes]]` for `/old/*`. */
export function route(
  to: readonly string[],
  more = '',
  paths: readonly string[] = ['/old/*'],
  name = 'legacy',
): string {
  const list = (texts: readonly string[]): string => JSON.stringify(texts);
  return `[[upstreams.routes]]\nname = "${name}"\npaths = ${list(paths)}\nto = ${list(to)}\n${more}\n`;
}

/** Value of a metric's sample, 0 without one. */
export async function metric(sluice: Sluice, sample: string): Promise<number> {
  const text = await (await fetch(`${sluice.admin}/metrics`)).text();
  const found = text.split('\n').find((line) => line.startsWith(`${sample} `));
  return found === undefined ? 0 : Number(found.slice(sample.length + 1));
}
