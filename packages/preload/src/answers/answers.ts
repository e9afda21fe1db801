/**
 * Keeps the bytes of each answer with its request on connections that carry many (invariant I10). Three measures:
 *
 * - every head of a response, interim ones included, carries the token that the gateway gave the request;
 * - body bytes beyond the announced `Content-Length` are cut;
 * - only the response whose turn it is writes to the connection. Raw bytes of the app are dropped once the connection
 *   has carried an earlier request, because nobody can say whose answer they are.
 *
 * The token needs four methods of Node's responses that are private, and the same in Node 20 to 26. Where one is missing,
 * `hello` says so, and the gateway uses each connection for one request.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Answer, answerOf, beginAnswer } from '../requests/answer.js';
import type { ToGateway } from '../control/messages.js';
import { tagsLine } from './page-tags.js';

/** Name of the field that carries the token back. The gateway removes it. */
const FIELD = 'x-sluice-answer';
const TELL_MS = 1000;

const lineKey = Symbol('sluice.line');

/** Members of a response that Node keeps private, each with what it is in Node 20 to 26. */
interface Response extends ServerResponse {
  readonly _contentLength: unknown;
  readonly _hasBody: boolean;
  readonly _headerSent: boolean;
}

interface Internals {
  _storeHeader(this: Response, firstLine: string, headers: unknown): void;
  _send(this: Response, data: Data, encoding?: unknown, callback?: unknown, byteLength?: number): boolean;
  _writeRaw(this: Response, data: Data, encoding?: unknown, callback?: unknown, size?: number): boolean;
  _flushOutput(this: Response, socket: Socket): unknown;
}

type Data = string | Uint8Array;

/** A connection from the gateway. */
interface Line {
  requests_total: number;
  /** The latest response on it. */
  response: ServerResponse;
}

interface LineSocket extends Socket {
  [lineKey]?: Line | undefined;
}

export type Tell = (message: ToGateway) => void;
/** Called with each response that writes to its connection. */
export type Watch = (response: ServerResponse) => void;

let tell: Tell = () => {};
let watch: Watch = () => {};
/** A response is writing to its connection at this moment. */
let isAnswering = false;

/** Whether the private methods are all there. Called once, in the process that serves. */
export function keepAnswersApart(prototype: ServerResponse, send: Tell, writes: Watch): boolean {
  tell = send;
  watch = writes;
  const { _storeHeader, _send, _writeRaw, _flushOutput } = prototype as unknown as Internals;
  if (![_storeHeader, _send, _writeRaw, _flushOutput].every((method) => typeof method === 'function')) {
    return false;
  }
  // `call`, and not `Reflect.apply` with a list made for it: these run with each response.
  const replaced: Internals = {
    _storeHeader(firstLine, headers) {
      const token = answerOf(this)?.token;
      const start = token === undefined ? firstLine : `${firstLine}${FIELD}: ${token}\r\n${tagsLine(this)}`;
      _storeHeader.call(this, start, headers);
    },
    _send(data, encoding, callback, byteLength) {
      const announced = this._contentLength;
      const answer = answerOf(this);
      if (typeof announced !== 'number' || answer?.token === undefined || data.length === 0) {
        return _send.call(this, data, encoding, callback, byteLength);
      }
      const kept = cut(this, answer, data, encoding, announced, byteLength);
      if (kept === data) return _send.call(this, data, encoding, callback, byteLength);
      // Empty where nothing is kept, so that the callback is called.
      return _send.call(this, kept, null, callback, kept.length);
    },
    _writeRaw(data, encoding, callback, size) {
      const token = answerOf(this)?.token;
      // Before the head of the response itself nothing is written but heads of interim responses.
      const isInterim = token !== undefined && !this._headerSent && typeof data === 'string';
      const marked = isInterim ? data.replace('\r\n', `\r\n${FIELD}: ${token}\r\n`) : data;
      watch(this);
      const before = isAnswering;
      isAnswering = true;
      try {
        return _writeRaw.call(this, marked, encoding, callback, size);
      } finally {
        isAnswering = before;
      }
    },
    _flushOutput(socket) {
      const before = isAnswering;
      isAnswering = true;
      try {
        return _flushOutput.call(this, socket);
      } finally {
        isAnswering = before;
      }
    },
  };
  Object.assign(prototype, replaced);
  return true;
}

/** Returns the part of the data that the response may still send. Node has counted the bytes of most data: `byteLength`. */
function cut(
  response: Response,
  answer: Answer,
  data: Data,
  encoding: unknown,
  announced: number,
  byteLength: number | undefined,
): Data {
  if (response.chunkedEncoding || !response._hasBody || !Number.isFinite(announced)) return data;
  const bytes =
    typeof data !== 'string'
      ? data.byteLength
      : typeof byteLength === 'number'
        ? byteLength
        : Buffer.byteLength(data, encoding as BufferEncoding);
  const before = answer.sent_bytes;
  const after = before + bytes;
  answer.sent_bytes = after;
  if (after <= announced) return data;
  if (before <= announced) response.once('close', tellOverlong);
  const whole = typeof data === 'string' ? Buffer.from(data, encoding as BufferEncoding) : data;
  return whole.subarray(0, Math.max(announced - before, 0));
}

let told_ms = Number.NEGATIVE_INFINITY;
let untold = 0;

/** One line a second at most, with the number of those left out: a faulty route must not fill the log. */
function tellOverlong(this: Response): void {
  const now_ms = performance.now();
  if (now_ms - told_ms < TELL_MS) {
    untold += 1;
    return;
  }
  told_ms = now_ms;
  const { method, url, headers } = this.req;
  tell({
    type: 'overlong',
    request: String(headers['x-request-id'] ?? ''),
    method: method ?? '',
    target: url ?? '',
    bytes: (answerOf(this)?.sent_bytes ?? 0) - Number(this._contentLength),
    more: untold,
  });
  untold = 0;
}

/** A request of this label has come on the socket, and this is its response. */
export function answersOn(socket: Socket, response: ServerResponse, label: string): void {
  const token = tokenOf(label);
  beginAnswer(response, token);
  if (token === undefined) return;
  const { [lineKey]: line } = socket as LineSocket;
  if (line === undefined) guard(socket, response);
  else {
    line.requests_total += 1;
    line.response = response;
  }
}

/** The value after `token=`: 16 hexadecimal digits. */
function tokenOf(label: string): string | undefined {
  const at = label.indexOf(';token=');
  return at < 0 ? undefined : label.slice(at + 7, at + 23);
}

/** The connection is another protocol's from here on, and carries no further request. */
export function leaveToApp(socket: LineSocket): void {
  if (socket[lineKey] === undefined) return;
  socket[lineKey] = undefined;
  Reflect.deleteProperty(socket, 'write');
  Reflect.deleteProperty(socket, 'end');
}

function guard(socket: LineSocket, response: ServerResponse): void {
  const line: Line = { requests_total: 1, response };
  socket[lineKey] = line;
  const { write, end } = socket as { write: (...parts: unknown[]) => unknown; end: typeof socket.end };
  Object.assign(socket, {
    write(this: Socket, ...parts: unknown[]): unknown {
      if (isAnswering || mayWrite(line)) return Reflect.apply(write, this, parts);
      drop(parts);
      return true;
    },
    end(this: Socket, ...parts: unknown[]): unknown {
      if (typeof parts[0] === 'function' || parts[0] === undefined || parts[0] === null || mayWrite(line)) {
        return Reflect.apply(end, this, parts);
      }
      drop(parts);
      return Reflect.apply(end, this, []);
    },
  });
}

/**
 * Whether bytes that the app writes to the connection itself can be no other request's answer: the connection has carried
 * this one alone, and it is not answered yet. Once its announced length is out, the gateway may have sent the next one.
 */
function mayWrite(line: Line): boolean {
  if (line.requests_total > 1 || line.response.writableEnded || isAllOut(line.response)) return false;
  tellRaw(0);
  return true;
}

function isAllOut(response: ServerResponse): boolean {
  const { headersSent, chunkedEncoding, _contentLength: announced } = response as Response;
  if (!headersSent || chunkedEncoding || typeof announced !== 'number') return false;
  return (answerOf(response)?.sent_bytes ?? 0) >= announced;
}

function drop(parts: unknown[]): void {
  const [data, encoding] = parts;
  const bytes = typeof data === 'string' ? Buffer.byteLength(data, textEncoding(encoding)) : lengthOf(data);
  tellRaw(bytes);
  const callback = parts.find((part) => typeof part === 'function');
  if (callback !== undefined) process.nextTick(callback);
}

function textEncoding(value: unknown): BufferEncoding {
  return typeof value === 'string' && Buffer.isEncoding(value) ? value : 'utf8';
}

function lengthOf(data: unknown): number {
  return data instanceof Uint8Array ? data.byteLength : 0;
}

let isRawTold = false;
let isDropTold = false;

/**
 * Tells the gateway of raw bytes. From the first of these lines on, it uses each connection to this process for one
 * request.
 */
function tellRaw(dropped_bytes: number): void {
  if (dropped_bytes > 0 ? isDropTold : isRawTold) return;
  isRawTold = true;
  isDropTold ||= dropped_bytes > 0;
  tell({ type: 'raw', dropped_bytes });
}
