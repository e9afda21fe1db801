// A client's connection that keeps every byte of an answer, fast enough for a million of them. (`raw.ts` is easier to use, and
// waits for what a test names.)
import net from 'node:net';

export interface Question {
  /** The request, as latin1. */
  readonly bytes: string;
  readonly isHead: boolean;
}

export interface Answer {
  readonly status: number;
  readonly headers: Map<string, string>;
  readonly body: string;
  readonly isWhole: boolean;
  /** Came after the end of the answer, though nothing more was asked for. */
  readonly rest: string;
}

export interface Came {
  /** Every byte, as latin1. */
  readonly received: string;
  readonly answer: Answer | undefined;
  readonly isKept: boolean;
  readonly isTimeout: boolean;
  readonly isGivenUp: boolean;
}

/** A client's connection: one question at a time, every byte of the answer kept. */
export class Line {
  readonly #socket: net.Socket;
  #received = '';
  #isClosed = false;
  #changed: () => void = () => {};

  private constructor(socket: net.Socket) {
    this.#socket = socket;
    socket.setEncoding('latin1');
    socket.on('data', (piece: string) => {
      this.#received += piece;
      this.#changed();
    });
    socket.on('error', () => {});
    for (const event of ['end', 'close']) {
      socket.on(event, () => {
        this.#isClosed = true;
        this.#changed();
      });
    }
  }

  static open(port: number): Promise<Line> {
    return new Promise((resolve, reject) => {
      const socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new Line(socket));
      });
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  ask(asked: Question, timeout_ms: number, abortAfter_ms: number | undefined): Promise<Came> {
    return new Promise((resolve) => {
      const settle = (more: Partial<Came>) => {
        clearTimeout(timer);
        this.#changed = () => {};
        const received = this.#received;
        this.#received = '';
        const answer = more.answer ?? parse(received, asked.isHead, this.#isClosed);
        resolve({ received, answer, isKept: false, isTimeout: false, isGivenUp: false, ...more });
      };
      const timer = setTimeout(() => {
        if (abortAfter_ms !== undefined && Math.floor(abortAfter_ms) % 2 === 0)
          this.#socket.resetAndDestroy();
        settle({ isTimeout: abortAfter_ms === undefined, isGivenUp: abortAfter_ms !== undefined });
      }, abortAfter_ms ?? timeout_ms);
      this.#changed = () => {
        const answer = parse(this.#received, asked.isHead, this.#isClosed);
        if (answer?.isWhole !== true && !this.#isClosed) return;
        const isKept =
          !this.#isClosed &&
          answer?.rest === '' &&
          answer.headers.get('connection') !== 'close' &&
          answer.status !== 101;
        settle({ ...(answer === undefined ? {} : { answer }), isKept });
      };
      this.#socket.write(asked.bytes, 'latin1');
      this.#changed();
    });
  }
}

/** Returns the part of the final answer that is in these bytes; interim ones before it are passed over. */
function parse(received: string, isHead: boolean, isClosed: boolean): Answer | undefined {
  let from = 0;
  for (;;) {
    const end = received.indexOf('\r\n\r\n', from);
    if (end < 0) return undefined;
    const [statusLine = '', ...lines] = received.slice(from, end).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1] ?? Number.NaN);
    from = end + 4;
    if (status >= 100 && status < 200 && status !== 101) continue;
    const headers = new Map(lines.map((line): [string, string] => splitAt(line, ':')));
    return { status, headers, ...bodyOf(received.slice(from), status, headers, isHead, isClosed) };
  }
}

function bodyOf(
  text: string,
  status: number,
  headers: Map<string, string>,
  isHead: boolean,
  isClosed: boolean,
): Pick<Answer, 'body' | 'isWhole' | 'rest'> {
  if (isHead || status === 204 || status === 304) return { body: '', isWhole: true, rest: text };
  if (headers.get('transfer-encoding') === 'chunked') return chunks(text);
  const length = headers.get('content-length');
  if (length === undefined || status === 101) return { body: text, isWhole: isClosed, rest: '' };
  const bytes = Number(length);
  return { body: text.slice(0, bytes), isWhole: text.length >= bytes, rest: text.slice(bytes) };
}

function chunks(text: string): Pick<Answer, 'body' | 'isWhole' | 'rest'> {
  let body = '';
  let at = 0;
  for (;;) {
    const line = text.indexOf('\r\n', at);
    if (line < 0) return { body, isWhole: false, rest: '' };
    const size = Number.parseInt(text.slice(at, line), 16);
    if (Number.isNaN(size)) return { body, isWhole: false, rest: text.slice(at) };
    at = line + 2;
    if (size === 0) break;
    body += text.slice(at, at + size);
    at += size + 2;
  }
  // Trailers, then an empty line.
  const end = text.startsWith('\r\n', at) ? at : text.indexOf('\r\n\r\n', at) + 2;
  if (end < at) return { body, isWhole: false, rest: '' };
  return { body, isWhole: text.length >= end + 2, rest: text.slice(end + 2) };
}

function splitAt(line: string, mark: string): [string, string] {
  const at = line.indexOf(mark);
  return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()];
}
