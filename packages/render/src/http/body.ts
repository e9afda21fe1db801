/** The JSON in a request's body, within a limit. It must not know what the JSON says. */
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { parse as parseContentType } from 'content-type';
import getRawBody from 'raw-body';
import { messageOf, toError } from '../thrown.js';
import { httpError } from './errors.js';

export interface BodyOptions {
  /** Bytes after decompression. */
  readonly bytesMax: number;
  /** Takes bodies with `content-encoding` gzip, deflate or br; default true. */
  readonly inflates?: boolean | undefined;
  /** Called with the bytes before they are parsed. A body for which it throws, or its promise rejects, is refused with 403. */
  readonly verify?:
    ((bytes: Buffer, request: IncomingMessage, encoding: string) => void | Promise<void>) | undefined;
  readonly reviver?: ((key: string, value: unknown) => unknown) | undefined;
}

/**
 * Bodies of no bytes give undefined. Rejects with an `HttpError` of status 400, 403, 413 or 415, and with another error where the app has read
 * the body and kept nothing of it.
 */
export async function readJson(request: IncomingMessage, options: BodyOptions): Promise<unknown> {
  const left = request.readableDidRead ? leftBody(request) : request.readableEnded ? '' : undefined;
  if (left !== undefined && typeof left !== 'string' && !(left instanceof Uint8Array)) {
    if (options.verify !== undefined)
      throw new Error(
        'The app has parsed the body, so `verify` cannot get its bytes: let the handler read it',
      );
    return left;
  }
  refuseCharset(request);
  const bytes = left === undefined ? await readBytes(request, options) : Buffer.from(left);
  if (options.verify !== undefined) {
    try {
      await options.verify(bytes, request, 'utf-8');
    } catch (error) {
      throw httpError('SLU-RENDER-BODY-REFUSED', `The body was refused: ${messageOf(error)}`, {
        cause: error,
      });
    }
  }
  if (bytes.length === 0) return undefined;
  try {
    return JSON.parse(UTF8.decode(bytes), options.reviver);
  } catch (error) {
    throw httpError('SLU-RENDER-BODY-NOT-JSON', `The body is not valid JSON: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** Throws where bytes are no UTF-8, instead of changing them. */
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Body that a parser of the app's has left: a value, or bytes or text where it parsed no JSON (`express.raw()`, `express.text()`). */
function leftBody(request: IncomingMessage): unknown {
  const { body } = request as { readonly body?: unknown };
  if (body === undefined)
    throw new Error(
      'The app has read the body before: give the handler the request with its body, or with `request.body` parsed',
    );
  return body;
}

type Inflate = (bytes: Buffer, bounds: { readonly maxOutputLength: number }) => Promise<Buffer>;

/** Decoders by the client's word, so it is a `Map`: an object has `constructor`, too. */
const INFLATE: ReadonlyMap<string, Inflate> = new Map<string, Inflate>([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
]);

/** All bytes are here before any is inflated, so that only one thing reads the request and can fail with it. */
async function readBytes(
  request: IncomingMessage,
  { bytesMax, inflates = true }: BodyOptions,
): Promise<Buffer> {
  const encoding = (request.headers['content-encoding'] ?? 'identity').toLowerCase();
  const inflateAll = inflates ? INFLATE.get(encoding) : undefined;
  if (encoding !== 'identity' && inflateAll === undefined) {
    throw httpError(
      'SLU-RENDER-BODY-ENCODING',
      `Bodies with content-encoding ${JSON.stringify(encoding)} are not supported`,
    );
  }
  try {
    const length = request.headers['content-length'] ?? null;
    const bytes: Buffer = await getRawBody(request, { limit: bytesMax, length, encoding: null });
    return inflateAll === undefined ? bytes : await inflateAll(bytes, { maxOutputLength: bytesMax });
  } catch (thrown) {
    // Otherwise the rest of the body stands before the connection's next request.
    request.resume();
    const error: NodeJS.ErrnoException & { readonly type?: string } = toError(thrown);
    const { type, code, message } = error;
    if (type === 'entity.too.large' || code === 'ERR_BUFFER_TOO_LARGE') {
      throw httpError('SLU-RENDER-BODY-TOO-LARGE', `The body has more than ${bytesMax} bytes`, {
        cause: error,
      });
    }
    throw httpError('SLU-RENDER-BODY-UNREADABLE', `The body could not be read: ${message}`, { cause: error });
  }
}

/** JSON is UTF-8 (RFC 8259 §8.1). */
function refuseCharset(request: IncomingMessage): void {
  const { charset = 'utf-8' } = parseContentType(request.headers['content-type'] ?? '').parameters;
  if (!/^(?:utf-?8|us-ascii)$/i.test(charset)) {
    throw httpError(
      'SLU-RENDER-BODY-CHARSET',
      `The body's charset is ${JSON.stringify(charset)}; JSON is UTF-8`,
    );
  }
}
