/** Bytes of bodies, read by `raw-body`. */
import type { Readable } from 'node:stream';
import getRawBody from 'raw-body';
import { routeError } from '../router/errors.js';

/** Rejects with a `RouteError` where the body is too large, shorter or longer than its length, or breaks off. */
export async function readBytes(
  stream: Readable,
  bytesMax: number,
  length: string | undefined,
): Promise<Uint8Array> {
  try {
    return await getRawBody(stream, { limit: bytesMax, length: length ?? null, encoding: null });
  } catch (error) {
    // Otherwise the rest of the body stands before the connection's next request.
    stream.on('error', () => undefined);
    stream.resume();
    if ((error as { readonly type?: unknown } | null)?.type === 'entity.too.large')
      throw routeError('SLU-GRAPH-BODY-TOO-LARGE', `The body has more than ${bytesMax} bytes`, {
        cause: error,
      });
    throw routeError('SLU-GRAPH-BODY', 'The body could not be read', { cause: error });
  }
}
