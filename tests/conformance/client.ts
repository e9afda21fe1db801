/**
 * The client side of the checks: plain `node:http` and `node:net`, so that every byte, its time and the connection it
 * came over are known. Knows nothing of gateways or frameworks.
 */

import { createHash, randomBytes } from 'node:crypto';
import { request, type Agent, type IncomingHttpHeaders } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../support/eventually.ts';

const answer_timeout_ms = 15_000;
/** How long something is waited for that may never come. */
const unanswered_ms = 500;

/** React Router, for one, streams to browsers only and makes a crawler wait for the whole page. */
const browser =
  'Mozilla/5.0 (X11; Linux x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** When each piece of the body came in, in milliseconds, with the text up to and including it. */
  readonly pieces: readonly { readonly at_ms: number; readonly text: string }[];
  /** The client's end of the connection. */
  readonly from: { readonly address: string; readonly port: number };
}

export interface Ask {
  readonly port: number;
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The address to come from, to be told apart from the gateway's own. */
  readonly from?: string | undefined;
  /** Keeps the connection; without one every request has a connection of its own. */
  readonly agent?: Agent;
}

/** Asks, and leaves when the app is seen to be at it: by FIN, by reset, or by closing its sending side. */
export async function leaveWhile(
  port: number,
  path: string,
  how: 'destroy' | 'resetAndDestroy' | 'end',
  { until }: { until: () => boolean },
): Promise<void> {
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
  socket.on('error', () => {});
  socket.resume();
  socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
  try {
    await eventually(until, { deadlineMs: answer_timeout_ms, what: `the app at ${path}` });
    socket[how]();
  } catch (error) {
    socket.destroy();
    throw error;
  }
  socket.once('end', () => socket.destroy());
}

export function ask({ port, path, method = 'GET', headers = {}, body, from, agent }: Ask): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const req = request({
      host: '127.0.0.1',
      port,
      path,
      method,
      agent: agent ?? false,
      timeout: answer_timeout_ms,
      headers: { 'user-agent': browser, accept: 'text/html,*/*', ...headers },
      ...(from === undefined ? {} : { localAddress: from }),
    });
    req.on('timeout', () => req.destroy(new Error(`${method} ${path}: nothing for ${answer_timeout_ms} ms`)));
    req.on('error', reject);
    req.on('response', (res) => {
      const socket = res.socket;
      const client = { address: plain(socket.localAddress ?? ''), port: socket.localPort ?? 0 };
      const pieces: { at_ms: number; text: string }[] = [];
      let text = '';
      res.setEncoding('utf8');
      res.on('data', (piece: string) => {
        text += piece;
        pieces.push({ at_ms: performance.now(), text });
      });
      res.on('error', reject);
      res.on('end', () => {
        resolve({ status: res.statusCode ?? 0, headers: res.headers, body: text, pieces, from: client });
      });
    });
    req.end(body);
  });
}

/** An IPv4 address as such, also where a socket for both families wrote it the IPv6 way. */
export function plain(address: string): string {
  return address.replace(/^::ffff:/i, '');
}

/**
 * Opens a WebSocket (RFC 6455), sends each message and takes one answer to each, closes it in good order and returns
 * the answers.
 */
export async function exchange(port: number, path: string, messages: readonly string[]): Promise<string[]> {
  const socket = connect({ host: '127.0.0.1', port });
  const reader = new ByteReader(socket);
  try {
    const key = randomBytes(16).toString('base64');
    socket.write(handshake(port, path, key));
    checkHandshake((await reader.until('\r\n\r\n')).toString('latin1'), key);

    const answers: string[] = [];
    for (const message of messages) {
      socket.write(frame(0x1, Buffer.from(message)));
      const { opcode, payload } = await readFrame(reader);
      if (opcode !== 0x1) throw new Error(`a text message was answered with a frame of opcode ${opcode}`);
      answers.push(payload.toString());
    }

    const normal = Buffer.from([0x03, 0xe8]);
    socket.write(frame(0x8, normal));
    const closing = await readFrame(reader);
    if (closing.opcode !== 0x8)
      throw new Error(`the close was answered with a frame of opcode ${closing.opcode}`);
    await reader.end();
    return answers;
  } finally {
    socket.destroy();
  }
}

function handshake(port: number, path: string, key: string): string {
  return [
    `GET ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${key}`,
    `Origin: http://127.0.0.1:${port}`,
    '\r\n',
  ].join('\r\n');
}

/** A connection with a request to upgrade on it. */
export interface Handshake {
  /** What came back within a moment, as latin1. */
  readonly received: string;
  close(): void;
  reset(): void;
}

/** Asks for a WebSocket where there may be none, and keeps the connection, whatever is answered. */
export async function upgradeAndWait(port: number, path: string): Promise<Handshake> {
  const socket = connect({ host: '127.0.0.1', port });
  let received = '';
  socket.setEncoding('latin1').on('data', (text: string) => (received += text));
  socket.on('error', () => {});
  socket.write(handshake(port, path, randomBytes(16).toString('base64')));
  await delay(unanswered_ms);
  return {
    received,
    close: () => socket.destroy(),
    reset: () => socket.resetAndDestroy(),
  };
}

function checkHandshake(head: string, key: string): void {
  const [statusLine = '', ...lines] = head.split('\r\n');
  if (!statusLine.startsWith('HTTP/1.1 101 ')) throw new Error(`the upgrade was answered with ${statusLine}`);
  const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  const given = lines
    .find((line) => /^sec-websocket-accept:/i.test(line))
    ?.split(':')[1]
    ?.trim();
  if (given !== accept) throw new Error(`Sec-WebSocket-Accept is ${given}, not ${accept}`);
}

/** One unfragmented, masked frame (RFC 6455 §5.2). */
function frame(opcode: number, payload: Buffer): Buffer {
  const mask = randomBytes(4);
  const size = payload.length;
  let head: Buffer;
  if (size < 126) {
    head = Buffer.from([0x80 | opcode, 0x80 | size]);
  } else if (size < 65_536) {
    head = Buffer.from([0x80 | opcode, 0x80 | 126, size >> 8, size & 0xff]);
  } else {
    head = Buffer.alloc(10);
    head.set([0x80 | opcode, 0x80 | 127]);
    head.writeBigUInt64BE(BigInt(size), 2);
  }
  const masked = Buffer.from(payload.map((byte, index) => byte ^ (mask[index % 4] ?? 0)));
  return Buffer.concat([head, mask, masked]);
}

async function readFrame(reader: ByteReader): Promise<{ opcode: number; payload: Buffer }> {
  const head = await reader.take(2);
  const opcode = head.readUInt8(0) & 0x0f;
  const short = head.readUInt8(1);
  if (short & 0x80) throw new Error('a server must not mask its frames');
  let size = short;
  if (short === 126) size = (await reader.take(2)).readUInt16BE();
  if (short === 127) size = Number((await reader.take(8)).readBigUInt64BE());
  return { opcode, payload: await reader.take(size) };
}

/** Reads a socket by need, each need with a deadline. */
class ByteReader {
  #bytes: Buffer = Buffer.alloc(0);
  #ended = false;
  #failure: Error | undefined;
  #wake: () => void = () => {};

  constructor(socket: Socket) {
    socket.on('data', (piece: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, piece]);
      this.#wake();
    });
    socket.on('close', () => {
      this.#ended = true;
      this.#wake();
    });
    socket.on('error', (error) => {
      this.#failure = error;
      this.#wake();
    });
  }

  async until(mark: string): Promise<Buffer> {
    await this.#wait(() => this.#bytes.includes(mark), `no ${JSON.stringify(mark)} came`);
    return this.#cut(this.#bytes.indexOf(mark) + mark.length);
  }

  async take(size: number): Promise<Buffer> {
    await this.#wait(() => this.#bytes.length >= size, `${size} bytes did not come`);
    return this.#cut(size);
  }

  /** Waits for the other side to close the connection. */
  async end(): Promise<void> {
    await this.#wait(() => this.#ended, 'the connection was not closed');
  }

  async #wait(met: () => boolean, complaint: string): Promise<void> {
    const deadline_ms = performance.now() + answer_timeout_ms;
    while (!met()) {
      const left_ms = deadline_ms - performance.now();
      if (this.#failure) throw this.#failure;
      if (this.#ended || left_ms <= 0) throw new Error(complaint);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left_ms);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  #cut(size: number): Buffer {
    const head = this.#bytes.subarray(0, size);
    this.#bytes = this.#bytes.subarray(size);
    return head;
  }
}
