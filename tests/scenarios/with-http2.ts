// Clients of HTTP/2: Node's own, and one that writes frames as it likes.
import http2 from 'node:http2';
import tls from 'node:tls';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { eventually } from '../support/eventually.ts';
import type { WithTls } from './with-tls.ts';

export interface Answer {
  status: number;
  headers: http2.IncomingHttpHeaders;
  body: string;
  /** Heads that came before, such as 103. */
  interim: http2.IncomingHttpHeaders[];
  trailers: http2.IncomingHttpHeaders;
  /** How the stream ended: `NGHTTP2_NO_ERROR` and the like. */
  code: number;
}

/** A connection that ends with the test. */
export async function connected(
  t: TestContext,
  { sluice, ca }: WithTls,
  settings: http2.Settings = {},
): Promise<http2.ClientHttp2Session> {
  const session = http2.connect(`https://localhost:${sluice.port}`, { ca, settings });
  t.after(() => {
    session.destroy();
  });
  await once(session, 'connect');
  // What ends a connection is for the test to look at.
  session.on('error', () => {});
  return session;
}

/** The answer to a request, whole or not. */
export async function answerTo(stream: http2.ClientHttp2Stream): Promise<Answer> {
  return new Promise((resolve) => {
    const answer: Answer = { status: 0, headers: {}, body: '', interim: [], trailers: {}, code: 0 };
    stream.setEncoding('latin1');
    stream.on('headers', (headers) => answer.interim.push(headers));
    stream.on('response', (headers) => {
      answer.headers = headers;
      answer.status = Number(headers[':status']);
    });
    stream.on('data', (piece: string) => (answer.body += piece)).resume();
    stream.on('trailers', (headers) => (answer.trailers = headers));
    stream.on('error', () => {});
    stream.on('close', () => {
      resolve({ ...answer, code: stream.rstCode });
    });
  });
}

/** A request and its answer. */
export async function ask(
  session: http2.ClientHttp2Session,
  headers: http2.OutgoingHttpHeaders | string,
  body = '',
): Promise<Answer> {
  const head = typeof headers === 'string' ? { ':path': headers } : headers;
  const stream = session.request(head, { endStream: body === '' });
  if (body !== '') stream.end(body);
  return answerTo(stream);
}

/** The code with which the gateway says that it takes no more requests, once it has said so. */
export function goAway(session: http2.ClientHttp2Session): { code: () => number | undefined } {
  let told: number | undefined;
  session.on('goaway', (code: number) => (told = code));
  return { code: () => told };
}

export const FRAME = { data: 0, headers: 1, reset: 3, settings: 4, goAway: 7, continuation: 9 };

/** A frame of RFC 9113. */
export function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Fields as HPACK's literals without an index. */
export function fields(pairs: readonly (readonly [string, string])[]): Buffer {
  const text = (value: string) => {
    if (value.length >= 127) throw new Error('short texts only');
    return Buffer.concat([Buffer.from([value.length]), Buffer.from(value, 'latin1')]);
  };
  return Buffer.concat(
    pairs.map(([name, value]) => Buffer.concat([Buffer.from([0]), text(name), text(value)])),
  );
}

export const GET = [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':path', '/'],
  [':authority', 'localhost'],
] as const;

/** A client that has sent the preface and writes frames as it likes. */
export class Frames {
  #received = Buffer.alloc(0);
  #closed = false;

  readonly socket: tls.TLSSocket;

  private constructor(socket: tls.TLSSocket) {
    this.socket = socket;
    socket.on('data', (piece: Buffer) => (this.#received = Buffer.concat([this.#received, piece])));
    socket.on('error', () => {});
    socket.on('close', () => (this.#closed = true));
  }

  static async connect(t: TestContext, { sluice, ca }: WithTls): Promise<Frames> {
    const at = { port: sluice.port, host: '127.0.0.1', servername: 'localhost' };
    const socket = tls.connect({ ...at, ca, ALPNProtocols: ['h2'] });
    await once(socket, 'secureConnect');
    t.after(() => {
      socket.destroy();
    });
    const frames = new Frames(socket);
    frames.send(
      Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
      frame(FRAME.settings, 0, 0, Buffer.alloc(0)),
    );
    return frames;
  }

  send(...frames: Buffer[]): void {
    if (!this.#closed) this.socket.write(Buffer.concat(frames));
  }

  /** Frames that have come so far. */
  get frames(): { type: number; stream: number; payload: Buffer }[] {
    const found = [];
    for (let at = 0; at + 9 <= this.#received.length;) {
      const length = this.#received.readUIntBE(at, 3);
      const [type, stream] = [this.#received.readUInt8(at + 3), this.#received.readUInt32BE(at + 5)];
      found.push({ type, stream, payload: this.#received.subarray(at + 9, at + 9 + length) });
      at += 9 + length;
    }
    return found;
  }

  /** The code of the gateway's GOAWAY, once the connection has ended. */
  async ended(): Promise<number | undefined> {
    await eventually(() => this.#closed, { what: 'the end of the connection' });
    return this.frames.find(({ type }) => type === FRAME.goAway)?.payload.readUInt32BE(4);
  }
}
