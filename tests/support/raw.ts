// A client that sends exactly the bytes it is given and shows exactly the bytes that come back, for tests where an HTTP
// library would tidy up what is to be tested.
import net from 'node:net';
import { once } from 'node:events';

export interface RawResponse {
  status: number;
  /** Lower-case names; repeated ones joined with `, `. */
  headers: Map<string, string>;
  rawHeaders: [string, string][];
  body: Buffer;
  trailers: Map<string, string>;
}

/** The other side closed in the middle of a body. */
export class CutShort extends Error {}

export class RawConnection {
  readonly #socket: net.Socket;
  #received = Buffer.alloc(0);
  #ended = false;
  #wasReset = false;
  #wake: () => void = () => {};

  private constructor(socket: net.Socket) {
    this.#socket = socket;
    socket.on('data', (chunk) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#wake();
    });
    socket.on('error', () => {
      this.#wasReset = true;
    });
    for (const event of ['end', 'close']) {
      socket.on(event, () => {
        this.#ended = true;
        this.#wake();
      });
    }
  }

  static async connect(port: number, host = '127.0.0.1'): Promise<RawConnection> {
    const socket = net.connect({ port, host, noDelay: true, allowHalfOpen: true });
    await once(socket, 'connect');
    return new RawConnection(socket);
  }

  /** Bytes that came and were not taken yet. */
  get received(): Buffer {
    return this.#received;
  }

  /** Whether the other side closed or reset. */
  get closed(): boolean {
    return this.#ended;
  }

  get wasReset(): boolean {
    return this.#wasReset;
  }

  send(bytes: string | Buffer): void {
    this.#socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  }

  /** Stops reading, so that the other side meets a full window. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Ends our side only. */
  end(): void {
    this.#socket.end();
  }

  /** Closes both sides. */
  close(): void {
    this.#socket.destroy();
  }

  /** Closes with a reset. */
  reset(): void {
    this.#socket.resetAndDestroy();
  }

  /** Waits until the other side closes; returns everything that came and was not taken. */
  async untilClosed(deadlineMs = 10_000): Promise<Buffer> {
    await this.#until(() => this.#ended, 'the other side to close', deadlineMs);
    return this.#take(this.#received.length);
  }

  /** Takes everything up to and including `mark`. */
  async untilBytes(mark: string, deadlineMs = 10_000): Promise<Buffer> {
    await this.#until(() => this.#received.includes(mark, 0, 'latin1'), JSON.stringify(mark), deadlineMs);
    return this.#take(this.#received.indexOf(mark, 0, 'latin1') + mark.length);
  }

  /** Takes one response; informational ones are responses too. `toHead`: it answers a HEAD request. */
  async response({ toHead = false, deadlineMs = 10_000 } = {}): Promise<RawResponse> {
    const head = (await this.untilBytes('\r\n\r\n', deadlineMs)).toString('latin1');
    const [statusLine = '', ...lines] = head.slice(0, -4).split('\r\n');
    const status = Number(/^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(statusLine)?.[1] ?? Number.NaN);
    if (Number.isNaN(status)) throw new Error(`not a status line: ${JSON.stringify(statusLine)}`);
    const rawHeaders = lines.map(splitHeader);
    const headers = joined(rawHeaders);
    const response: RawResponse = { status, headers, rawHeaders, body: Buffer.alloc(0), trailers: new Map() };
    if (toHead || status < 200 || status === 204 || status === 304) return response;
    try {
      await this.#body(response, deadlineMs);
    } catch (error) {
      if (!this.#ended) throw error;
      throw new CutShort(`${head.split('\r\n', 1)[0]}: cut short`, { cause: error });
    }
    return response;
  }

  async #body(response: RawResponse, deadlineMs: number): Promise<void> {
    const length = response.headers.get('content-length');
    if (response.headers.get('transfer-encoding') === 'chunked') {
      await this.#chunks(response, deadlineMs);
    } else if (length === undefined) {
      response.body = await this.untilClosed(deadlineMs);
    } else {
      response.body = await this.#bytes(Number(length), deadlineMs);
    }
  }

  async #chunks(response: RawResponse, deadlineMs: number): Promise<void> {
    const pieces: Buffer[] = [];
    for (;;) {
      const size = Number.parseInt((await this.untilBytes('\r\n', deadlineMs)).toString('latin1'), 16);
      if (Number.isNaN(size)) throw new Error('not a chunk size');
      if (size === 0) break;
      pieces.push(await this.#bytes(size, deadlineMs));
      await this.#bytes(2, deadlineMs);
    }
    response.body = Buffer.concat(pieces);
    const trailers: [string, string][] = [];
    for (;;) {
      const line = (await this.untilBytes('\r\n', deadlineMs)).toString('latin1').slice(0, -2);
      if (line === '') break;
      trailers.push(splitHeader(line));
    }
    response.trailers = joined(trailers);
  }

  async #bytes(count: number, deadlineMs: number): Promise<Buffer> {
    await this.#until(() => this.#received.length >= count, `${count} bytes`, deadlineMs);
    return this.#take(count);
  }

  #take(count: number): Buffer {
    const taken = this.#received.subarray(0, count);
    this.#received = this.#received.subarray(count);
    return taken;
  }

  async #until(reached: () => boolean, what: string, deadlineMs: number): Promise<void> {
    const until = performance.now() + deadlineMs;
    while (!reached()) {
      const left = until - performance.now();
      const shown = () => JSON.stringify(this.#received.toString('latin1').slice(0, 500));
      if (this.#ended) throw new Error(`closed while waiting for ${what}; received ${shown()}`);
      if (left <= 0) throw new Error(`no ${what} within ${deadlineMs} ms; received ${shown()}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }
}

/** Sends `bytes` on a connection of its own and returns everything that comes back until the other side closes. */
export async function sendRaw(port: number, bytes: string | Buffer, deadlineMs = 10_000): Promise<Buffer> {
  const connection = await RawConnection.connect(port);
  try {
    connection.send(bytes);
    return await connection.untilClosed(deadlineMs);
  } finally {
    connection.close();
  }
}

function splitHeader(line: string): [string, string] {
  const colon = line.indexOf(':');
  if (colon < 1) throw new Error(`not a header line: ${JSON.stringify(line)}`);
  return [line.slice(0, colon), line.slice(colon + 1).trim()];
}

function joined(headers: [string, string][]): Map<string, string> {
  const map = new Map<string, string>();
  for (const [name, value] of headers) {
    const known = map.get(name.toLowerCase());
    map.set(name.toLowerCase(), known === undefined ? value : `${known}, ${value}`);
  }
  return map;
}
