/** A server of handlers for one test, and how it is asked. */
import { once } from 'node:events';
import http, { type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { createServer } from '../../src/http/handler.js';
import type { Handler } from '../../src/http/node.js';
import type { BatchAnswer, FragmentResult } from '../../src/fragments/protocol.js';

/** Returns its address: `http://127.0.0.1:…`. */
export async function serve(t: TestContext, handler: Handler): Promise<string> {
  return listen(t, createServer(handler, { onError: () => {} }));
}

export async function listen(t: TestContext, server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export interface Reply {
  readonly status: number;
  readonly type: string | null;
  readonly answer: BatchAnswer;
}

export async function post(url: string, body: unknown, init: RequestInit = {}): Promise<Reply> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: text, ...init });
  const type = response.headers.get('content-type');
  return { status: response.status, type, answer: (await response.json()) as BatchAnswer };
}

/** A request that fetch would not send. */
export async function send(
  url: string,
  method: string,
  headers: Readonly<Record<string, string>>,
  body: Buffer | string = '',
): Promise<{ readonly status: number; readonly text: string }> {
  const request = http.request(url, { method, headers });
  // A server that has refused a body may close before all of it is written. `once` still hears errors before the answer.
  request.on('error', () => {});
  request.end(body);
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += String(chunk);
  return { status: response.statusCode ?? 0, text };
}

export function resultOf(answer: BatchAnswer, token: string): FragmentResult {
  const result = answer.results[token];
  if (result === undefined) throw new Error(`no result for ${token}`);
  return result;
}
