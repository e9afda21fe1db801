/** The JSON in a request's body, within a limit. It must not know what the JSON says. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createInflate, createGunzip } from 'node:zlib';
import { HttpError } from './errors.js';

export interface BodyOptions {
  /** Bytes after decompression. */
  readonly bytesMax: number;
  /** Takes bodies with `content-encoding` gzip, deflate or br; default true. */
  readonly inflates?: boolean | undefined;
  /** Called with the bytes before they are parsed; a body that it throws for is refused with 403. */
  readonly verify?: ((bytes: Buffer, request: IncomingMessage, encoding: string) => void) | undefined;
  readonly reviver?: ((key: string, value: unknown) => unknown) | undefined;
}

/** Bodies of no bytes give undefined. Rejects with an `HttpError` of status 400, 403, 413 or 415. */
export async function readJson(request: IncomingMessage, options: BodyOptions): Promise<unknown> {
  const { body } = request as { readonly body?: unknown };
  // A body parser of the app's was here before.
  if (body !== undefined && request.readableDidRead) return body;
  refuseCharset(request);
  const bytes = await readBytes(request, options);
  if (options.verify !== undefined) {
    try {
      options.verify(bytes, request, 'utf-8');
    } catch (error) {
      throw new HttpError(403, `The body was refused: ${(error as Error).message}`, { cause: error });
    }
  }
  if (bytes.length === 0) return undefined;
  try {
    return JSON.parse(new TextDecoder().decode(bytes), options.reviver);
  } catch (error) {
    throw new HttpError(400, `The body is no JSON: ${(error as Error).message}`, { cause: error });
  }
}

/** Aborted when the client leaves before its answer was sent. */
export function signalOf(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) controller.abort(new Error('The client has left'));
  });
  return controller.signal;
}

async function readBytes(
  request: IncomingMessage,
  { bytesMax, inflates = true }: BodyOptions,
): Promise<Buffer> {
  const tooLarge = (): HttpError => new HttpError(413, `The body has more than ${bytesMax} bytes`);
  const encoding = (request.headers['content-encoding'] ?? 'identity').toLowerCase();
  if (encoding === 'identity' && Number(request.headers['content-length'] ?? 0) > bytesMax) throw tooLarge();
  const source = encoding === 'identity' ? request : decompressed(request, encoding, inflates);
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    // The rest of a refused body is left to Node: a destroyed request takes its connection, and the answer, along.
    for await (const chunk of source.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > bytesMax) throw tooLarge();
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof HttpError) throw error;
    throw new HttpError(400, `The body could not be read: ${(error as Error).message}`, { cause: error });
  }
  return Buffer.concat(chunks);
}

function decompressed(request: IncomingMessage, encoding: string, inflates: boolean): Readable {
  const create = { gzip: createGunzip, deflate: createInflate, br: createBrotliDecompress }[encoding];
  if (!inflates || create === undefined) {
    throw new HttpError(415, `Bodies with content-encoding "${encoding}" are not taken`);
  }
  const stream = create();
  request.on('error', (error) => stream.destroy(error));
  return request.pipe(stream);
}

/** JSON is UTF-8 (RFC 8259 §8.1). */
function refuseCharset(request: IncomingMessage): void {
  const [, charset = 'utf-8'] = /;\s*charset="?([^\s;"]+)/i.exec(request.headers['content-type'] ?? '') ?? [];
  if (!/^(?:utf-?8|us-ascii)$/i.test(charset)) {
    throw new HttpError(415, `The body's charset is "${charset}"; JSON is UTF-8`);
  }
}
